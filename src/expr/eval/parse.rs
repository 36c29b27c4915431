//! Text to values, as Flink's CAST reads it.

use super::calendar::{DAY_MS, Moment, days_in_month, days_of};
use super::decimal;

/// Why a text is no value of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bad {
    Form,
    Overflow,
}

/// An integer between `min` and `max`; a fraction is allowed and cut.
pub(super) fn integer(text: &str, min: i64, max: i64) -> Result<i64, Bad> {
    let text = text.trim_matches(' ');
    let (negative, digits) = match text.as_bytes() {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    let mut parts = digits.splitn(2, |byte| *byte == b'.');
    let whole = parts.next().unwrap_or_default();
    let fraction = parts.next();
    let all_digits = |bytes: &[u8]| bytes.iter().all(u8::is_ascii_digit);
    if (whole.is_empty() && fraction.is_none()) || !all_digits(whole) || !all_digits(fraction.unwrap_or_default()) {
        return Err(Bad::Form);
    }
    let mut value: i64 = 0;
    for digit in whole {
        // Negative numbers reach one further, so that is the side to count on.
        value =
            value.checked_mul(10).and_then(|value| value.checked_sub(i64::from(digit - b'0'))).ok_or(Bad::Overflow)?;
    }
    let value = if negative { value } else { value.checked_neg().ok_or(Bad::Overflow)? };
    if (min..=max).contains(&value) { Ok(value) } else { Err(Bad::Overflow) }
}

/// A DOUBLE as Java's Double.parseDouble reads it, without the hexadecimal form.
pub(super) fn double(text: &str) -> Result<f64, Bad> {
    float_text(text)?.parse().map_err(|_| Bad::Form)
}

/// A FLOAT as Java's Float.parseFloat reads it.
pub(super) fn float(text: &str) -> Result<f32, Bad> {
    float_text(text)?.parse().map_err(|_| Bad::Form)
}

/// The text that Rust reads as Java does: Java allows a type letter at the end and spells NaN and
/// Infinity one way only.
fn float_text(text: &str) -> Result<&str, Bad> {
    let text = text.trim_matches(|c: char| c <= ' ');
    let number = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(number, "NaN" | "Infinity") {
        return Ok(text);
    }
    let plain = number.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'));
    if plain {
        return Ok(text);
    }
    let cut = text.strip_suffix(['d', 'D', 'f', 'F']).ok_or(Bad::Form)?;
    if cut.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-')) {
        Ok(cut)
    } else {
        Err(Bad::Form)
    }
}

/// A BOOLEAN; spaces are not trimmed.
pub(super) fn boolean(text: &str) -> Result<bool, Bad> {
    match text.to_ascii_lowercase().as_str() {
        "t" | "true" | "y" | "yes" | "1" => Ok(true),
        "f" | "false" | "n" | "no" | "0" => Ok(false),
        _ => Err(Bad::Form),
    }
}

/// A DECIMAL, rounded half up to `scale`; `Ok(None)`: more than `precision` digits.
pub(super) fn decimal_text(text: &str, precision: u8, scale: u8) -> Result<Option<i128>, Bad> {
    let text = text.trim_matches(' ');
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => {
            let exponent = &text[at + 1..];
            let exponent = exponent.strip_prefix('+').unwrap_or(exponent);
            (&text[..at], exponent.parse::<i32>().map_err(|_| Bad::Form)?)
        }
        None => (text, 0),
    };
    let negative = mantissa.starts_with('-');
    let mantissa = mantissa.strip_prefix(['+', '-']).unwrap_or(mantissa);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return Err(Bad::Form);
    }
    // The number is 0.<digits> * 10^point; what is kept ends at 10^-scale.
    let digits = whole.bytes().chain(fraction.bytes());
    if !digits.clone().all(|byte| byte.is_ascii_digit()) {
        return Err(Bad::Form);
    }
    let leading = digits.clone().take_while(|byte| *byte == b'0').count();
    let point = (whole.len() as i64) - leading as i64 + i64::from(exponent);
    let count = (whole.len() + fraction.len() - leading) as i64;
    if count == 0 {
        return Ok(Some(0));
    }
    let kept = point + i64::from(scale);
    if kept > i64::from(precision) {
        return Ok(None);
    }
    let mut value: i128 = 0;
    let mut round_up = false;
    let mut digits = digits.skip(leading);
    for at in 0..kept.max(0) {
        let digit = if at < count { digits.next().unwrap_or(b'0') } else { b'0' };
        value = value * 10 + i128::from(digit - b'0');
    }
    if kept >= 0 && kept < count {
        round_up = digits.next().is_some_and(|digit| digit >= b'5');
    }
    let value = value + i128::from(round_up);
    Ok(decimal::within(if negative { -value } else { value }, precision))
}

/// Digits only, short enough to be a part of a date or time.
fn part(text: &str) -> Option<i64> {
    let text = text.trim();
    if text.is_empty() || text.len() > 9 || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

/// A DATE in days since 1970: `2024-02-29`, `2024-2`, `2024`; a time after a space is ignored.
pub(crate) fn parse_date(text: &str) -> Option<i32> {
    let text = text.trim();
    let text = text.split_once(' ').map_or(text, |(date, _)| date);
    let mut parts = text.splitn(3, '-');
    let year = part(parts.next()?)?;
    let month = parts.next().map_or(Some(1), part)?;
    let day = parts.next().map_or(Some(1), part)?;
    if year > 9999 || !(1..=12).contains(&month) || !(1..=days_in_month(year, month)).contains(&day) {
        return None;
    }
    i32::try_from(days_of(year, month, day)).ok()
}

/// A TIME in milliseconds: `12:34:56.789`, `12:34`, `12`.
pub(crate) fn parse_time(text: &str) -> Option<i32> {
    let mut parts = text.splitn(3, ':');
    let hour = part(parts.next()?)?;
    let minute = parts.next().map_or(Some(0), part)?;
    let (second, millis) = match parts.next() {
        None => (0, 0),
        Some(rest) => match rest.split_once('.') {
            None => (part(rest)?, 0),
            Some((second, fraction)) => (part(second)?, fraction_digits(fraction.trim(), 3)?),
        },
    };
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    i32::try_from(((hour * 60 + minute) * 60 + second) * 1000 + millis).ok()
}

/// The first `digits` digits of a fraction, filled up with zeros.
fn fraction_digits(text: &str, digits: usize) -> Option<i64> {
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some((0..digits).fold(0, |value, at| value * 10 + i64::from(text.as_bytes().get(at).map_or(0, |b| b - b'0'))))
}

/// A TIMESTAMP: `2024-02-29`, `2024-2-9 1:2:3.123456789`. February 30th is the month's last day,
/// 24:00:00 the next midnight.
pub(crate) fn parse_timestamp(text: &str) -> Option<Moment> {
    let (date, time) = match text.split_once(' ') {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let short = |text: &str| matches!(text.len(), 1 | 2).then(|| part_exact(text)).flatten();
    let mut parts = date.splitn(3, '-');
    let year_text = parts.next()?;
    let year = match year_text.strip_prefix('+') {
        Some(long) if long.len() > 4 => part_exact(long)?,
        None if year_text.len() == 4 => part_exact(year_text)?,
        _ => return None,
    };
    let month = short(parts.next()?)?;
    let day = short(parts.next()?)?;
    if year == 0 || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let days = days_of(year, month, day.min(days_in_month(year, month)));
    let Some(time) = time else {
        return Some(Moment::from_millis(days * DAY_MS));
    };
    let mut parts = time.splitn(3, ':');
    let (hour, minute) = (short(parts.next()?)?, short(parts.next()?)?);
    let rest = parts.next()?;
    let (second, fraction) = rest.split_once('.').unwrap_or((rest, ""));
    let second = short(second)?;
    if fraction.len() > 9 {
        return None;
    }
    let nanos = fraction_digits(fraction, 9)?;
    let midnight = hour == 24 && minute == 0 && second == 0 && nanos == 0;
    if minute > 59 || second > 59 || (hour > 23 && !midnight) {
        return None;
    }
    let millis = days * DAY_MS + ((hour * 60 + minute) * 60 + second) * 1000 + nanos / 1_000_000;
    Some(Moment { millis, nanos: (nanos % 1_000_000) as i32 })
}

fn part_exact(text: &str) -> Option<i64> {
    if text.starts_with(char::is_whitespace) || text.ends_with(char::is_whitespace) { None } else { part(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_may_have_a_fraction_and_spaces() {
        let int = |text| integer(text, i32::MIN.into(), i32::MAX.into());
        assert_eq!(int(" 12.7 "), Ok(12));
        assert_eq!(int(".5"), Ok(0));
        assert_eq!(int("-2147483648"), Ok(-2147483648));
        assert_eq!(int("2147483648"), Err(Bad::Overflow));
        for bad in ["", "-", "1_000", "0x10", "1e3", "12x", "1.5x"] {
            assert_eq!(int(bad), Err(Bad::Form), "{bad}");
        }
        assert_eq!(integer("9223372036854775808", i64::MIN, i64::MAX), Err(Bad::Overflow));
    }

    #[test]
    fn doubles_are_read_as_java_reads_them() {
        assert_eq!(double("1.5d"), Ok(1.5));
        assert_eq!(double("1e400"), Ok(f64::INFINITY));
        assert_eq!(double("-Infinity"), Ok(f64::NEG_INFINITY));
        assert!(double("nan").is_err() && double("inf").is_err() && double("").is_err() && double("infinity").is_err());
    }

    #[test]
    fn decimals_round_half_up_and_overflow_to_nothing() {
        assert_eq!(decimal_text("1.005", 5, 2), Ok(Some(101)));
        assert_eq!(decimal_text("-1e-3", 10, 5), Ok(Some(-100)));
        assert_eq!(decimal_text("1e3", 5, 1), Ok(Some(10_000)));
        assert_eq!(decimal_text("99999", 5, 2), Ok(None));
        assert_eq!(decimal_text("999.995", 5, 2), Ok(None));
        assert_eq!(decimal_text("0.0000000000000000000000000000000000000000000000004", 5, 2), Ok(Some(0)));
        assert!(
            decimal_text("x", 5, 2).is_err() && decimal_text("", 5, 2).is_err() && decimal_text(".", 5, 2).is_err()
        );
    }

    #[test]
    fn timestamps_forgive_february_30th_where_dates_do_not() {
        let leap_day = days_of(2024, 2, 29) * DAY_MS;
        assert_eq!(parse_timestamp("2024-02-30"), Some(Moment::from_millis(leap_day)));
        assert_eq!(parse_date("2024-02-30"), None);
        assert_eq!(parse_timestamp("2024-02-29 24:00:00"), Some(Moment::from_millis(leap_day + DAY_MS)));
        for bad in ["2024-02-29T12:34:56", "2024-02-29 12:34", "24-02-09 01:02:03", " 2024-02-09", "0000-01-01"] {
            assert_eq!(parse_timestamp(bad), None, "{bad}");
        }
    }
}
