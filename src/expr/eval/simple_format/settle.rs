//! Fields to an instant, as Java's lenient GregorianCalendar does: of contradicting fields those count that were set
//! last, and what is out of range carries over.

use jiff::tz::TimeZone;

use super::super::calendar::{self, DAY_MS};
use super::super::zone;

/// What a text may say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    /// 0 is BC, 1 AD.
    Era,
    Year,
    WeekYear,
    Month,
    Day,
    DayOfYear,
    WeekOfYear,
    WeekOfMonth,
    /// 1 is Monday.
    DayOfWeek,
    /// The how manieth of its weekday in the month.
    WeekdayInMonth,
    /// 0 is AM, 1 PM.
    Half,
    Hour,
    HourOfHalf,
    Minute,
    Second,
    Milli,
}

/// The fields of one text.
#[derive(Debug, Clone)]
pub(super) struct Parsed {
    /// Value, and when it was set: 0 for never.
    values: [(i64, u32); Field::Milli as usize + 1],
    sets: u32,
    pub(super) offset_ms: Option<i64>,
    /// Where the hundred years of two digits begin, in milliseconds since 1970.
    century: i64,
    near: bool,
}

impl Parsed {
    pub(super) fn new(century: i64) -> Self {
        let values = [(0, 0); Field::Milli as usize + 1];
        Parsed { values, sets: 0, offset_ms: None, century, near: false }
    }

    pub(super) fn set(&mut self, field: Field, value: i64) {
        self.sets += 1;
        self.values[field as usize] = (value, self.sets);
    }

    /// A year of two digits with its century.
    pub(super) fn near_year(&mut self, digits: i64) -> i64 {
        let (first, ..) = calendar::date_of(self.century.div_euclid(DAY_MS));
        self.near |= digits == first.rem_euclid(100);
        let century = first.div_euclid(100) * 100;
        digits + century + if digits < first.rem_euclid(100) { 100 } else { 0 }
    }

    fn stamp(&self, field: Field) -> u32 {
        self.values[field as usize].1
    }

    fn get(&self, field: Field) -> Option<i64> {
        let (value, stamp) = self.values[field as usize];
        (stamp > 0).then_some(value)
    }

    fn or(&self, field: Field, default: i64) -> i64 {
        self.get(field).unwrap_or(default)
    }

    /// When the later of two was set, 0 if one was not.
    fn both(&self, one: Field, other: Field) -> u32 {
        let (one, other) = (self.stamp(one), self.stamp(other));
        if one == 0 || other == 0 { 0 } else { one.max(other) }
    }
}

/// Days since 1970 of a date that is one of the Julian calendar before October 15th, 1582. Month and day carry.
pub(super) fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let gregorian = calendar::days_of(1582, 10, 15);
    let days = calendar::days_of(year, month, day);
    if year > 1582 || (year == 1582 && days >= gregorian) {
        return days;
    }
    let (year, month) = (year + (month - 1).div_euclid(12), (month - 1).rem_euclid(12) + 1);
    // Every fourth year is a leap year; day 0 of it is known from January 1st, year 1.
    let before: i64 = (1..month).map(|m| calendar::days_in_month(if year.rem_euclid(4) == 0 { 4 } else { 1 }, m)).sum();
    let first = (year - 1).saturating_mul(365).saturating_add((year - 1).div_euclid(4) - 719_164);
    first.saturating_add(before).saturating_add(day - 1)
}

/// Year (0 is 1 BC), month and day that Java's older classes show.
pub(super) fn date_of(days: i64) -> (i64, i64, i64) {
    if days >= calendar::days_of(1582, 10, 15) { calendar::date_of(days) } else { calendar::julian_parts(days) }
}

/// The year and number of a week: weeks begin on Sunday, the first one of a year holds January 1st. `year` is the
/// day's.
pub(super) fn week_of(days: i64, year: i64) -> (i64, i64) {
    let next = calendar::sunday_before(days_of(year + 1, 1, 1));
    if days >= next {
        return (year + 1, 1);
    }
    (year, (days - calendar::sunday_before(days_of(year, 1, 1))) / 7 + 1)
}

/// Milliseconds since 1970, by the clocks of the zone unless the text said an offset.
pub(super) fn instant(parsed: &Parsed, zone: &TimeZone) -> Option<i64> {
    let local = day(parsed).checked_mul(DAY_MS)?.checked_add(in_day(parsed))?;
    let at = |local: i64| match parsed.offset_ms {
        Some(offset) => local.saturating_sub(offset),
        None => zone::from_older_local(zone, local),
    };
    let millis = at(local);
    if parsed.near && millis < parsed.century {
        return Some(at(calendar::add_months_to_millis(local, 1200)));
    }
    Some(millis)
}

fn in_day(parsed: &Parsed) -> i64 {
    use Field::{Half, Hour, HourOfHalf, Milli, Minute, Second};
    let (of_day, of_half) = (parsed.stamp(Hour), parsed.both(HourOfHalf, Half));
    let by_half = if of_day == 0 && of_half == 0 { parsed.stamp(HourOfHalf).max(parsed.stamp(Half)) } else { of_half };
    let hour = if of_day >= by_half { parsed.or(Hour, 0) } else { parsed.or(HourOfHalf, 0) + parsed.or(Half, 0) * 12 };
    let seconds = (hour * 60 + parsed.or(Minute, 0)) * 60 + parsed.or(Second, 0);
    seconds * 1000 + parsed.or(Milli, 0)
}

/// Days since 1970.
fn day(parsed: &Parsed) -> i64 {
    use Field::{Day, DayOfWeek, DayOfYear, Era, Month, WeekOfMonth, WeekOfYear, WeekYear, WeekdayInMonth, Year};
    let weekday = parsed.or(DayOfWeek, 7);
    if parsed.stamp(WeekYear) > parsed.stamp(Year) {
        let sunday = calendar::sunday_before(days_of(parsed.or(WeekYear, 0), 1, 1));
        return sunday + (parsed.or(WeekOfYear, 1) - 1) * 7 + weekday.rem_euclid(7);
    }
    let year = parsed.or(Year, 1970);
    let year = if parsed.get(Era) == Some(0) { 1 - year } else { year };
    let mut stamps = [
        parsed.stamp(Day),
        parsed.both(WeekOfMonth, DayOfWeek),
        parsed.both(WeekdayInMonth, DayOfWeek),
        parsed.stamp(DayOfYear),
        parsed.both(WeekOfYear, DayOfWeek),
    ];
    if stamps == [0; 5] {
        let alone = parsed.stamp(WeekdayInMonth).max(parsed.stamp(DayOfWeek));
        stamps = [0, parsed.stamp(WeekOfMonth), alone, 0, parsed.stamp(WeekOfYear)];
    }
    let best = stamps.iter().copied().max().unwrap_or(0);
    let first_of_month = days_of(year, parsed.or(Month, 1), 1);
    match stamps.iter().position(|stamp| *stamp == best && best > 0) {
        None | Some(0) => days_of(year, parsed.or(Month, 1), parsed.or(Day, 1)),
        Some(1) => {
            calendar::sunday_before(first_of_month) + (parsed.or(WeekOfMonth, 1) - 1) * 7 + weekday.rem_euclid(7)
        }
        Some(2) => {
            let first = first_of_month + (weekday - calendar::iso_day_of_week(first_of_month)).rem_euclid(7);
            first + (parsed.or(WeekdayInMonth, 1) - 1) * 7
        }
        Some(3) => days_of(year, 1, 1).saturating_add(parsed.or(DayOfYear, 1) - 1),
        Some(_) => {
            let sunday = calendar::sunday_before(days_of(year, 1, 1));
            sunday + (parsed.or(WeekOfYear, 1) - 1) * 7 + weekday.rem_euclid(7)
        }
    }
}
