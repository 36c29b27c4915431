//! Fields that were read to a moment: the rules of Java's "smart" resolver, and then Flink's defaults for what is
//! missing.

use super::super::calendar::{self, DAY_MS, Moment};
use super::{Period, Reading};

/// What a text may say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    /// 0 is BC, 1 AD.
    Era,
    YearOfEra,
    Year,
    WeekYear,
    Month,
    Quarter,
    Day,
    DayOfYear,
    WeekOfYear,
    WeekOfMonth,
    /// 1 is Monday.
    DayOfWeek,
    /// 1 is Sunday.
    AmericanDayOfWeek,
    /// In the weeks that begin on the first day of the month.
    DayOfOwnWeek,
    JulianDay,
    /// 0 is AM, 1 PM.
    Half,
    Hour,
    /// 1..=24.
    ClockHour,
    /// 0..=11.
    HourOfHalf,
    /// 1..=12.
    ClockHourOfHalf,
    Minute,
    Second,
    Nano,
    MilliOfDay,
    NanoOfDay,
}

/// The fields of one text.
#[derive(Debug, Clone, Default)]
pub(super) struct Fields {
    values: [Option<i64>; Field::NanoOfDay as usize + 1],
    pub(super) period: Option<Period>,
}

impl Fields {
    /// False if the field is there with another value.
    pub(super) fn set(&mut self, field: Field, value: i64) -> bool {
        let old = self.values[field as usize].replace(value);
        old.is_none_or(|old| old == value)
    }

    fn get(&self, field: Field) -> Option<i64> {
        self.values[field as usize]
    }

    fn take(&mut self, field: Field) -> Option<i64> {
        self.values[field as usize].take()
    }

    fn in_range(&self, field: Field, least: i64, most: i64) -> bool {
        self.get(field).is_none_or(|value| (least..=most).contains(&value))
    }
}

/// The hour, minute, second and nanosecond, and days that 24:00 adds.
struct Clock {
    hour: i64,
    minute: i64,
    second: i64,
    nano: i64,
    days: i64,
}

pub(super) fn moment(mut fields: Fields) -> Reading {
    let Some((days, clock)) = settle(&mut fields) else {
        return Reading::Other;
    };
    let (year, month, day) = match days {
        Some(days) => calendar::date_of(days + clock.as_ref().map_or(0, |clock| clock.days)),
        None => {
            let or = |field, default| fields.get(field).unwrap_or(default);
            (or(Field::Year, 1970), or(Field::Month, 1), or(Field::Day, 1))
        }
    };
    let or = |field| fields.get(field).unwrap_or(0);
    let clock = clock.unwrap_or_else(|| Clock {
        hour: or(Field::Hour),
        minute: or(Field::Minute),
        second: or(Field::Second),
        nano: or(Field::Nano),
        days: 0,
    });
    let exists = (1..=12).contains(&month)
        && (1..=calendar::days_in_month(year, month)).contains(&day)
        && year.abs() <= YEARS
        && (0..=23).contains(&clock.hour);
    if !exists {
        return Reading::Impossible;
    }
    let seconds = (clock.hour * 60 + clock.minute) * 60 + clock.second;
    let millis = calendar::days_of(year, month, day) * DAY_MS + seconds * 1000 + clock.nano / 1_000_000;
    Reading::Moment(Moment { millis, nanos: (clock.nano % 1_000_000) as i32 })
}

/// The day and the time as far as the fields say them; `None` where they contradict each other.
fn settle(fields: &mut Fields) -> Option<(Option<i64>, Option<Clock>)> {
    let days = date(fields)?;
    let clock = time(fields)?;
    if let Some(days) = days
        && !agrees_with_date(fields, days)
    {
        return None;
    }
    if let Some(clock) = &clock
        && !agrees_with_time(fields, clock)
    {
        return None;
    }
    Some((days, clock))
}

/// Java's years end here.
const YEARS: i64 = 999_999_999;

/// `Some(None)`: the fields do not make up a day.
fn date(fields: &mut Fields) -> Option<Option<i64>> {
    let years = [Field::YearOfEra, Field::Year, Field::WeekYear];
    if years.iter().any(|field| !fields.in_range(*field, -YEARS, YEARS)) {
        return None;
    }
    if let Some(day) = fields.take(Field::JulianDay).filter(|day| day.abs() < YEARS * 366) {
        return Some(Some(day - calendar::MODIFIED_JULIAN_1970));
    }
    if let Some(of_era) = fields.take(Field::YearOfEra) {
        let era = fields.take(Field::Era);
        let before = match era {
            Some(era) => era == 0,
            None => fields.get(Field::Year).is_some_and(|year| year <= 0),
        };
        let year = if before { 1 - of_era } else { of_era };
        if of_era < 1 || !fields.set(Field::Year, year) {
            return None;
        }
    }
    if let Some(day) = fields.take(Field::AmericanDayOfWeek) {
        let iso = (day + 5) % 7 + 1;
        if !(1..=7).contains(&day) || !fields.set(Field::DayOfWeek, iso) {
            return None;
        }
    }
    let Some(year) = fields.get(Field::Year) else {
        return Some(week_date(fields));
    };
    if let (Some(month), Some(day)) = (fields.get(Field::Month), fields.get(Field::Day)) {
        if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
            return None;
        }
        fields.take(Field::Month);
        fields.take(Field::Day);
        return Some(Some(calendar::days_of(year, month, day.min(calendar::days_in_month(year, month)))));
    }
    if let Some(day) = fields.take(Field::DayOfYear) {
        let first = calendar::days_of(year, 1, 1);
        let days = calendar::days_of(year + 1, 1, 1) - first;
        return (1..=days).contains(&day).then_some(Some(first + day - 1));
    }
    let week = (fields.get(Field::Month), fields.get(Field::WeekOfMonth), fields.get(Field::DayOfWeek));
    if let (Some(month), Some(week), Some(weekday)) = week {
        if !(1..=12).contains(&month) || !(0..=6).contains(&week) {
            return None;
        }
        fields.take(Field::Month);
        let sunday = calendar::sunday_before(calendar::days_of(year, month, 1));
        return Some(Some(sunday + (week - 1) * 7 + weekday % 7));
    }
    Some(None)
}

/// The day of a year's week, as Americans count: weeks begin on Sunday, the first one holds January 1st.
fn week_date(fields: &Fields) -> Option<i64> {
    let (year, week) = fields.get(Field::WeekYear).zip(fields.get(Field::WeekOfYear))?;
    let weekday = fields.get(Field::DayOfWeek)?;
    let sunday = calendar::sunday_before(calendar::days_of(year, 1, 1));
    Some(sunday + (week - 1) * 7 + weekday % 7)
}

/// `Some(None)`: the fields do not make up a time.
fn time(fields: &mut Fields) -> Option<Option<Clock>> {
    if let Some(hour) = fields.take(Field::ClockHour) {
        let fits = (0..=24).contains(&hour) && fields.set(Field::Hour, hour % 24);
        fits.then_some(())?;
    }
    if let Some(hour) = fields.take(Field::ClockHourOfHalf) {
        let fits = (0..=12).contains(&hour) && fields.set(Field::HourOfHalf, hour % 12);
        fits.then_some(())?;
    }
    if !fields.in_range(Field::HourOfHalf, 0, 11) {
        return None;
    }
    if let (Some(half), Some(hour)) = (fields.get(Field::Half), fields.get(Field::HourOfHalf)) {
        fields.take(Field::Half);
        fields.take(Field::HourOfHalf);
        fields.set(Field::Hour, half * 12 + hour).then_some(())?;
    }
    of_day(fields)?;
    if let (Some(period), Some(hour)) = (fields.period, fields.get(Field::HourOfHalf)) {
        let minute = fields.get(Field::Minute).unwrap_or(0).rem_euclid(60);
        let later = if period.holds((hour + 12) * 60 + minute) { 12 } else { 0 };
        (fields.period, _) = (None, fields.take(Field::HourOfHalf));
        fields.set(Field::Hour, hour + later).then_some(())?;
    }
    let (minute, second, nano) = (fields.get(Field::Minute), fields.get(Field::Second), fields.get(Field::Nano));
    let clock = |hour, minute, days| Clock { hour, minute, second: 0, nano: 0, days };
    if fields.get(Field::Hour).is_none() && minute.is_none() && second.is_none() && nano.is_none() {
        // Half of the day, or a part of it, and nothing else: its middle.
        if let Some(half) = fields.take(Field::Half) {
            return Some(Some(clock(half * 12 + 6, 0, 0)));
        }
        if let Some(period) = fields.period.take() {
            return Some(Some(clock(period.middle() / 60, period.middle() % 60, 0)));
        }
    }
    let fits = fields.in_range(Field::Minute, 0, 59)
        && fields.in_range(Field::Second, 0, 59)
        && fields.in_range(Field::Nano, 0, 999_999_999);
    let Some(hour) = fields.get(Field::Hour).filter(|_| fits) else {
        return fits.then_some(None);
    };
    if (minute.is_none() && (second.is_some() || nano.is_some())) || (second.is_none() && nano.is_some()) {
        return (0..=23).contains(&hour).then_some(None);
    }
    let (minute, second, nano) = (minute.unwrap_or(0), second.unwrap_or(0), nano.unwrap_or(0));
    if hour == 24 && minute == 0 && second == 0 && nano == 0 {
        return Some(Some(clock(0, 0, 1)));
    }
    (0..=23).contains(&hour).then_some(Some(Clock { hour, minute, second, nano, days: 0 }))
}

/// Splits the milliseconds or nanoseconds of a day.
fn of_day(fields: &mut Fields) -> Option<()> {
    let nanos = match (fields.take(Field::NanoOfDay), fields.take(Field::MilliOfDay)) {
        (Some(nanos), _) => nanos,
        (None, Some(millis)) => millis.checked_mul(1_000_000)?,
        (None, None) => return Some(()),
    };
    let parts = [
        (Field::Hour, nanos / 3_600_000_000_000),
        (Field::Minute, nanos / 60_000_000_000 % 60),
        (Field::Second, nanos / 1_000_000_000 % 60),
        (Field::Nano, nanos % 1_000_000_000),
    ];
    let fits =
        (0..DAY_MS * 1_000_000).contains(&nanos) && parts.iter().all(|(field, value)| fields.set(*field, *value));
    fits.then_some(())
}

/// Whether the fields that were not used agree with the day.
fn agrees_with_date(fields: &Fields, days: i64) -> bool {
    let (year, month, day) = calendar::date_of(days);
    let (week_year, week) = calendar::american_week(days);
    [
        (Field::Year, year),
        (Field::Month, month),
        (Field::Day, day),
        (Field::Quarter, (month + 2) / 3),
        (Field::DayOfYear, calendar::day_of_year(days)),
        (Field::DayOfWeek, calendar::iso_day_of_week(days)),
        (Field::WeekYear, week_year),
        (Field::WeekOfYear, week),
        (Field::WeekOfMonth, calendar::american_week_of_month(days)),
        (Field::DayOfOwnWeek, (day - 1) % 7 + 1),
    ]
    .into_iter()
    .all(|(field, value)| fields.get(field).is_none_or(|said| said == value))
}

fn agrees_with_time(fields: &Fields, clock: &Clock) -> bool {
    fields.get(Field::Half).is_none_or(|half| half == clock.hour / 12)
        && fields.get(Field::HourOfHalf).is_none_or(|hour| hour == clock.hour % 12)
        && fields.period.is_none_or(|period| period.holds(clock.hour * 60 + clock.minute))
}
