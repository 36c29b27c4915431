//! Moments as Flink holds them, and its arithmetic of dates, whose months and days carry.

use super::function::Unit;
use crate::calendar;

pub(super) const DAY_MS: i64 = 86_400_000;

/// A moment: milliseconds since 1970 and the nanoseconds within the millisecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment {
    pub(crate) millis: i64,
    /// 0..=999_999.
    pub(crate) nanos: i32,
}

impl Moment {
    pub(crate) fn from_millis(millis: i64) -> Self {
        Moment { millis, nanos: 0 }
    }

    /// From the microseconds of a TIMESTAMP(4) to TIMESTAMP(6).
    pub(crate) fn from_micros(micros: i64) -> Self {
        Moment { millis: micros.div_euclid(1000), nanos: (micros.rem_euclid(1000) * 1000) as i32 }
    }

    /// From the nanoseconds of a TIMESTAMP(7) to TIMESTAMP(9).
    pub(crate) fn from_nanos(nanos: i128) -> Self {
        Moment { millis: nanos.div_euclid(1_000_000) as i64, nanos: nanos.rem_euclid(1_000_000) as i32 }
    }

    /// The milliseconds of a TIMESTAMP(0) to TIMESTAMP(3), digits beyond the precision cut as Flink
    /// does, toward zero.
    pub(crate) fn to_millis(self, precision: u8) -> i64 {
        self.millis - self.millis % 10i64.pow(3 - u32::from(precision.min(3)))
    }

    /// The microseconds of a TIMESTAMP(4) to TIMESTAMP(6); `None` where 64 bits end, some 292,000 years away.
    pub(crate) fn to_micros(self, precision: u8) -> Option<i64> {
        let unit = 10i64.pow(6 - u32::from(precision.min(6)));
        self.millis.checked_mul(1000)?.checked_add(i64::from(self.nanos) / 1000 / unit * unit)
    }

    /// The nanoseconds of a TIMESTAMP(7) to TIMESTAMP(9).
    pub(crate) fn to_nanos(self, precision: u8) -> i128 {
        let unit = 10i32.pow(9 - u32::from(precision.min(9)));
        i128::from(self.millis) * 1_000_000 + i128::from(self.nanos / unit * unit)
    }

    /// Nanoseconds within the second.
    pub(crate) fn nano_of_second(self) -> i64 {
        self.millis.rem_euclid(1000) * 1_000_000 + i64::from(self.nanos)
    }

    /// Moved by milliseconds, wrapping.
    pub(crate) fn plus_millis(self, millis: i64) -> Self {
        Moment { millis: self.millis.wrapping_add(millis), ..self }
    }
}

/// Days since 1970 of a date. Month and day may be out of range: they carry. Years end at 250 million,
/// so that the milliseconds of a date fit into 64 bits.
pub(crate) fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let year = year.saturating_add((month - 1).div_euclid(12)).clamp(-250_000_000, 250_000_000);
    let month = (month - 1).rem_euclid(12) as u32 + 1;
    calendar::days_of(year, month, 1).saturating_add(day - 1)
}

/// Year, month and day of a number of days since 1970, cut to what the calendar can count.
pub(crate) fn date_of(days: i64) -> (i64, i64, i64) {
    let (year, month, day) = calendar::date_of(days.clamp(-90_000_000_000, 90_000_000_000));
    (year, month.into(), day.into())
}

/// Of a month in 1..=12.
pub(crate) fn days_in_month(year: i64, month: i64) -> i64 {
    calendar::days_in_month(year, month as u32).into()
}

/// Monday is 1, Sunday 7.
pub(crate) fn iso_day_of_week(days: i64) -> i64 {
    (days + 3).rem_euclid(7) + 1
}

/// The ISO year and week: weeks start on Monday, week 1 holds January 4th.
pub(crate) fn iso_week(days: i64) -> (i64, i64) {
    // The Thursday of the week decides its year.
    let thursday = days - (iso_day_of_week(days) - 4);
    let (year, _, _) = date_of(thursday);
    (year, (thursday - days_of(year, 1, 1)) / 7 + 1)
}

pub(crate) fn day_of_year(days: i64) -> i64 {
    days - days_of(date_of(days).0, 1, 1) + 1
}

/// Adds months to a date; the day is cut to the month's last.
pub(crate) fn add_months(days: i64, months: i64) -> i64 {
    let (year, month, day) = date_of(days);
    let total = (month - 1).saturating_add(months);
    let year = year.saturating_add(total.div_euclid(12));
    let month = total.rem_euclid(12) + 1;
    days_of(year, month, day.min(days_in_month(year, month)))
}

/// Adds months to milliseconds since 1970.
pub(crate) fn add_months_to_millis(millis: i64, months: i64) -> i64 {
    let in_day = millis.rem_euclid(DAY_MS);
    add_months(millis.div_euclid(DAY_MS), months).wrapping_mul(DAY_MS).wrapping_add(in_day)
}

/// Whole months from `from` to `to`, in days since 1970.
fn months_between_days(from: i64, to: i64) -> i64 {
    if to < from {
        return -months_between_days(to, from);
    }
    let ((y0, m0, _), (y1, m1, _)) = (date_of(from), date_of(to));
    let mut months = (y1 - y0) * 12 + (m1 - m0);
    if months > 0 && add_months(from, months) > to {
        months -= 1;
    }
    months
}

/// Whole months between two times in milliseconds, as Flink's TIMESTAMPDIFF counts them.
pub(crate) fn months_between(from: i64, to: i64) -> i64 {
    let (from_day, from_ms) = (from.div_euclid(DAY_MS), from.rem_euclid(DAY_MS));
    let (to_day, to_ms) = (to.div_euclid(DAY_MS), to.rem_euclid(DAY_MS));
    let months = months_between_days(from_day, to_day);
    if add_months(from_day, months) == to_day && to_ms < from_ms { months - 1 } else { months }
}

/// The modified Julian day of 1970-01-01.
pub(crate) const MODIFIED_JULIAN_1970: i64 = 40_587;

/// The Sunday of a day's week, which begins on it.
pub(crate) fn sunday_before(days: i64) -> i64 {
    days - iso_day_of_week(days) % 7
}

/// Year and number of a week as Americans count them: weeks begin on Sunday, the first one holds January 1st.
pub(crate) fn american_week(days: i64) -> (i64, i64) {
    let (year, ..) = date_of(days);
    let start = |year: i64| sunday_before(days_of(year, 1, 1));
    if days >= start(year + 1) {
        return (year + 1, 1);
    }
    (year, (days - start(year)) / 7 + 1)
}

/// The week of the month, from Sunday.
pub(crate) fn american_week_of_month(days: i64) -> i64 {
    let (_, _, day) = date_of(days);
    (days - sunday_before(days - day + 1)) / 7 + 1
}

/// Year (0 is 1 BC), month and day, in the Julian calendar before October 15th, 1582.
pub(crate) fn julian_parts(days: i64) -> (i64, i64, i64) {
    let julian = days + 2_440_588;
    let (b, c) = if julian > 2_299_160 {
        let a = julian + 32_044;
        let b = (4 * a + 3) / 146_097;
        (b, a - b * 146_097 / 4)
    } else {
        (0, julian + 32_082)
    };
    let d = (4 * c + 3) / 1461;
    let e = c - (1461 * d) / 4;
    let m = (5 * e + 2) / 153;
    let day = e - (153 * m + 2) / 5 + 1;
    let month = m + 3 - 12 * (m / 10);
    (b * 100 + d - 4800 + m / 10, month, day)
}

/// FLOOR or CEIL of a date to a unit of days and more, with Flink's quirks: before 1582 the Julian
/// calendar reads the date and the Gregorian one writes it; CEIL to a quarter moves on from every
/// day that is not January 1st.
pub(crate) fn round_days(days: i64, unit: Unit, up: bool) -> i64 {
    let (year, month, day) = julian_parts(days);
    let later = month > 1 || day > 1;
    let up_if = |condition: bool| i64::from(up && condition);
    match unit {
        Unit::Millennium | Unit::Century => {
            let length = if unit == Unit::Century { 100 } else { 1000 };
            let last = length * ((year + length - 1) / length);
            days_of(if up { last + 1 } else { last - length + 1 }, 1, 1)
        }
        Unit::Decade => days_of(10 * (year / 10 + i64::from(up)), 1, 1),
        Unit::Year => days_of(year + up_if(later), 1, 1),
        Unit::Quarter => days_of(year, ((month + 2) / 3 + up_if(later)) * 3 - 2, 1),
        Unit::Month => days_of(year, month + up_if(day > 1), 1),
        Unit::Week => {
            let mut offset = (days + 4).rem_euclid(7);
            if up && offset > 0 {
                offset -= 7;
            }
            days_of(year, month, day) - offset
        }
        // Flink takes the next day, although a date has no time.
        Unit::Day => days_of(year, month, day) + i64::from(up),
        _ => days,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn months_are_added_to_the_last_day_of_a_shorter_month() {
        let leap = days_of(2024, 2, 29);
        assert_eq!(date_of(add_months(leap, 12)), (2025, 2, 28));
        assert_eq!(date_of(add_months(days_of(2024, 3, 31), -1)), (2024, 2, 29));
    }

    #[test]
    fn rounding_reads_old_dates_in_the_julian_calendar() {
        let first = days_of(1, 1, 1);
        assert_eq!(date_of(round_days(first, Unit::Week, true)), (1, 1, 9));
        assert_eq!(date_of(round_days(first, Unit::Quarter, true)), (1, 4, 1));
        assert_eq!(date_of(round_days(first, Unit::Month, false)), (1, 1, 1));
    }

    #[test]
    fn iso_weeks_belong_to_the_year_of_their_thursday() {
        assert_eq!(iso_week(days_of(2023, 1, 1)), (2022, 52));
        assert_eq!(iso_week(days_of(2024, 12, 30)), (2025, 1));
    }

    #[test]
    fn whole_months_count_the_time_of_day() {
        let at = |y, m, d, ms| days_of(y, m, d) * DAY_MS + ms;
        assert_eq!(months_between(at(2024, 2, 29, 1), at(2024, 1, 31, 0)), -1);
        assert_eq!(months_between(at(2024, 1, 15, 5), at(2024, 2, 15, 4)), 0);
    }

    proptest! {
        #[test]
        fn a_date_and_its_days_are_each_others_inverse(days in -800_000i64..3_000_000) {
            let (year, month, day) = date_of(days);
            prop_assert_eq!(days_of(year, month, day), days);
            prop_assert!((1..=12).contains(&month) && (1..=days_in_month(year, month)).contains(&day));
        }
    }
}
