//! Values to text, as Flink's CAST writes it.

use std::fmt::Write;

use super::calendar::{DAY_MS, Moment, date_of};
use crate::numbers;

fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8(out).expect("numbers are ASCII")
}

/// Plain digits, the scale kept: `1.500`.
pub(super) fn decimal(value: i128, scale: u8) -> String {
    text(|out| numbers::plain_decimal(out, value, scale))
}

/// Java 17's Double.toString.
pub(super) fn double(value: f64) -> String {
    text(|out| {
        if (9_007_199_254_740_992.0..TWO_TO_63).contains(&value.abs()) {
            whole_number(out, value, 53);
        } else {
            numbers::double(out, value);
        }
    })
}

/// Java 17's Float.toString.
pub(super) fn float(value: f32) -> String {
    let wide = f64::from(value);
    text(|out| {
        if (16_777_216.0..TWO_TO_63).contains(&wide.abs()) {
            whole_number(out, wide, 24);
        } else {
            numbers::float(out, value);
        }
    })
}

const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;

/// A whole number below 2^63 that is wider than the mantissa of `bits` bits. Java 17 does not look for
/// the shortest digits there: it writes all of them, save those that the lost bits cannot tell apart.
fn whole_number(out: &mut Vec<u8>, value: f64, bits: u32) {
    let number = value.abs() as u64;
    let lost_bits = (63 - number.leading_zeros()).saturating_sub(bits + 1);
    // As many digits as 2^lost_bits has beyond its first.
    let insignificant = (1u64 << lost_bits).ilog10();
    let unit = 10u64.pow(insignificant);
    let (kept, rest) = (number / unit, number % unit);
    let rounded = (kept + u64::from(rest >= unit.div_ceil(2) && unit > 1)) * unit;
    let sign = if value < 0.0 { "-" } else { "" };
    numbers::scientific(out, &format!("{sign}{rounded}"));
}

/// `2024-02-29`; of a year beyond 9999 the last four digits, and of one before 0 what Flink makes of negative digits.
pub(super) fn date(days: i64) -> String {
    let (year, month, day) = date_of(days);
    let digit = |unit: i64| char::from((i64::from(b'0') + year / unit % 10) as u8);
    format!("{}{}{}{}-{month:02}-{day:02}", digit(1000), digit(100), digit(10), digit(1))
}

/// `12:34:56`, with a fraction for TIME(1) and finer, trailing zeros dropped down to one digit.
pub(super) fn time(millis: i64, precision: u8) -> String {
    let millis = millis.rem_euclid(DAY_MS);
    let mut text = clock(millis);
    if precision > 0 {
        let digits = format!("{:03}", millis % 1000);
        let digits = &digits[..usize::from(precision.min(3))];
        let kept = digits.trim_end_matches('0');
        let _ = write!(text, ".{}", if kept.is_empty() { "0" } else { kept });
    }
    text
}

fn clock(millis: i64) -> String {
    format!("{:02}:{:02}:{:02}", millis / 3_600_000, millis / 60_000 % 60, millis / 1000 % 60)
}

/// `2024-02-29 12:34:56.789` with `precision` fractional digits.
pub(super) fn timestamp(moment: Moment, precision: u8) -> String {
    let mut text = date(moment.millis.div_euclid(DAY_MS));
    text.push(' ');
    text.push_str(&clock(moment.millis.rem_euclid(DAY_MS)));
    if precision > 0 {
        let fraction = format!("{:09}", moment.nano_of_second());
        text.push('.');
        text.push_str(&fraction[..usize::from(precision.min(9))]);
    }
    text
}

/// `2024-02-29T12:34:56.789`, as `java.time.LocalDateTime` prints: no seconds where they are 0.
pub(super) fn timestamp_iso(moment: Moment) -> String {
    let (year, month, day) = date_of(moment.millis.div_euclid(DAY_MS));
    let year = match year {
        0..=9999 => format!("{year:04}"),
        ..0 => format!("-{:04}", -year),
        _ => format!("+{year}"),
    };
    let in_day = moment.millis.rem_euclid(DAY_MS);
    let mut text = format!("{year}-{month:02}-{day:02}T{}", &clock(in_day)[..5]);
    let nanos = moment.nano_of_second();
    if in_day / 1000 % 60 > 0 || nanos > 0 {
        let _ = write!(text, ":{:02}", in_day / 1000 % 60);
    }
    match nanos {
        0 => {}
        _ if nanos % 1_000_000 == 0 => drop(write!(text, ".{:03}", nanos / 1_000_000)),
        _ if nanos % 1000 == 0 => drop(write!(text, ".{:06}", nanos / 1000)),
        _ => drop(write!(text, ".{nanos:09}")),
    }
    text
}

/// `+1-02`.
pub(super) fn interval_year_month(months: i32) -> String {
    let sign = if months < 0 { '-' } else { '+' };
    let months = months.unsigned_abs();
    format!("{sign}{}-{:02}", months / 12, months % 12)
}

/// `+59 12:34:56.789`.
pub(super) fn interval_day_second(millis: i64) -> String {
    let sign = if millis < 0 { '-' } else { '+' };
    let millis = millis.unsigned_abs();
    let (days, rest) = (millis / DAY_MS as u64, (millis % DAY_MS as u64) as i64);
    format!("{sign}{days} {}.{:03}", clock(rest), rest % 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_print_as_in_java() {
        for (value, text) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (0.001, "0.001"),
            (0.0001, "1.0E-4"),
            (9_999_999.0, "9999999.0"),
            (1e7, "1.0E7"),
            (123_456_789.125, "1.23456789125E8"),
            (1.7e308, "1.7E308"),
            (f64::from_bits(1), "4.9E-324"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            assert_eq!(double(value), text);
        }
        assert_eq!(float(1e7), "1.0E7");
        assert_eq!(float(0.1), "0.1");
    }

    #[test]
    fn decimals_keep_their_scale() {
        assert_eq!(decimal(1500, 3), "1.500");
        assert_eq!(decimal(-5, 2), "-0.05");
        assert_eq!(decimal(0, 2), "0.00");
        assert_eq!(decimal(i128::MIN, 0), "-170141183460469231731687303715884105728");
    }

    #[test]
    fn timestamps_print_at_their_precision_and_lose_a_fifth_digit_of_the_year() {
        let end = Moment::from_millis(253_402_300_800_000);
        assert_eq!(timestamp(end, 3), "0000-01-01 00:00:00.000");
        assert_eq!(timestamp(Moment { millis: -1, nanos: 999_999 }, 6), "1969-12-31 23:59:59.999999");
        assert_eq!(timestamp(Moment::from_millis(0), 0), "1970-01-01 00:00:00");
    }

    #[test]
    fn iso_timestamps_leave_out_what_is_zero() {
        let shown = |millis, nanos| timestamp_iso(Moment { millis, nanos });
        assert_eq!(shown(0, 0), "1970-01-01T00:00");
        assert_eq!(shown(1_000, 0), "1970-01-01T00:00:01");
        assert_eq!(shown(120, 0), "1970-01-01T00:00:00.120");
        assert_eq!(shown(0, 1_000), "1970-01-01T00:00:00.000001");
        assert_eq!(shown(-1, 999_999), "1969-12-31T23:59:59.999999999");
    }

    #[test]
    fn intervals_print_with_a_sign() {
        assert_eq!(interval_year_month(14), "+1-02");
        assert_eq!(interval_day_second(-1), "-0 00:00:00.001");
        assert_eq!(interval_day_second(i64::MIN), "-106751991167 07:12:55.808");
    }
}
