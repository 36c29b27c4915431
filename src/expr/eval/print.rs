//! Values to text, as Flink's CAST writes it.

use std::fmt::Write;

use super::calendar::{DAY_MS, Moment, date_of};

/// Plain digits, the scale kept: `1.500`.
pub(super) fn decimal(value: i128, scale: u8) -> String {
    let scale = usize::from(scale);
    let mut digits = value.unsigned_abs().to_string();
    if scale > 0 {
        if digits.len() <= scale {
            digits.insert_str(0, &"0".repeat(scale + 1 - digits.len()));
        }
        digits.insert(digits.len() - scale, '.');
    }
    if value < 0 {
        digits.insert(0, '-');
    }
    digits
}

/// Java's Double.toString.
pub(super) fn double(value: f64) -> String {
    if !value.is_finite() {
        return not_finite(value);
    }
    if value.abs() >= 9_007_199_254_740_992.0 && value.abs() < TWO_TO_63 {
        return whole_number(value, 53);
    }
    java_float(ryu::Buffer::new().format_finite(value))
}

/// Java's Float.toString.
pub(super) fn float(value: f32) -> String {
    if !value.is_finite() {
        return not_finite(value.into());
    }
    if value.abs() >= 16_777_216.0 && f64::from(value.abs()) < TWO_TO_63 {
        return whole_number(value.into(), 24);
    }
    java_float(ryu::Buffer::new().format_finite(value))
}

const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;

/// A whole number below 2^63 that is wider than the mantissa of `bits` bits. Java 17 does not look for
/// the shortest digits there: it writes all of them, save those that the lost bits cannot tell apart.
fn whole_number(value: f64, bits: u32) -> String {
    let number = value.abs() as u64;
    let lost_bits = (63 - number.leading_zeros()).saturating_sub(bits + 1);
    // As many digits as 2^lost_bits has beyond its first.
    let insignificant = (1u64 << lost_bits).ilog10();
    let unit = 10u64.pow(insignificant);
    let (kept, rest) = (number / unit, number % unit);
    let rounded = (kept + u64::from(rest >= unit.div_ceil(2) && unit > 1)) * unit;
    let sign = if value < 0.0 { "-" } else { "" };
    java_float(&format!("{sign}{rounded}.0"))
}

fn not_finite(value: f64) -> String {
    if value.is_nan() {
        "NaN"
    } else if value > 0.0 {
        "Infinity"
    } else {
        "-Infinity"
    }
    .to_string()
}

/// The shortest digits in Java's form: plain from 10^-3 up to 10^7, else `d.dddE±n`.
fn java_float(shortest: &str) -> String {
    let (sign, text) = match shortest.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", shortest),
    };
    let (mantissa, exponent) = text.split_once('e').map_or((text, 0), |(m, e)| (m, e.parse::<i32>().unwrap_or(0)));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: String = [whole, fraction].concat();
    let leading = digits.bytes().take_while(|byte| *byte == b'0').count();
    let significant = digits[leading..].trim_end_matches('0');
    if significant.is_empty() {
        return format!("{sign}0.0");
    }
    // The value is 0.<significant> * 10^point.
    let point = whole.len() as i32 - leading as i32 + exponent;
    if (-2..=7).contains(&point) {
        if point <= 0 {
            return format!("{sign}0.{}{significant}", "0".repeat(point.unsigned_abs() as usize));
        }
        let point = point as usize;
        let mut padded = significant.to_string();
        while padded.len() < point {
            padded.push('0');
        }
        let (whole, fraction) = padded.split_at(point);
        let fraction = if fraction.is_empty() { "0" } else { fraction };
        return format!("{sign}{whole}.{fraction}");
    }
    let (first, rest) = significant.split_at(1);
    let rest = if rest.is_empty() { "0" } else { rest };
    format!("{sign}{first}.{rest}E{}", point - 1)
}

/// `2024-02-29`; of a year beyond 9999 the last four digits, as in Flink.
pub(super) fn date(days: i64) -> String {
    let (year, month, day) = date_of(days);
    format!("{:04}-{month:02}-{day:02}", year.rem_euclid(10_000))
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

/// `2024-02-29 12:34:56.789` with at least `precision` fractional digits.
pub(super) fn timestamp(moment: Moment, precision: u8) -> String {
    let mut text = date(moment.millis.div_euclid(DAY_MS));
    text.push(' ');
    text.push_str(&clock(moment.millis.rem_euclid(DAY_MS)));
    let mut fraction = format!("{:09}", moment.nano_of_second());
    while fraction.len() > usize::from(precision) && fraction.ends_with('0') {
        fraction.pop();
    }
    if !fraction.is_empty() {
        text.push('.');
        text.push_str(&fraction);
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
        assert_eq!(timestamp(Moment { millis: -1, nanos: 999_999 }, 6), "1969-12-31 23:59:59.999999999");
        assert_eq!(timestamp(Moment::from_millis(0), 0), "1970-01-01 00:00:00");
    }

    #[test]
    fn intervals_print_with_a_sign() {
        assert_eq!(interval_year_month(14), "+1-02");
        assert_eq!(interval_day_second(-1), "-0 00:00:00.001");
        assert_eq!(interval_day_second(i64::MIN), "-106751991167 07:12:55.808");
    }
}
