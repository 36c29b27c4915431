//! Text to values, with the rules of the Java classes that Flink uses for each type.
//!
//! `None` always means "Flink would throw here".

use crate::calendar::{days_in_month, days_of, is_leap};

/// How a timestamp is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TimestampStyle {
    /// `2024-05-01 12:00:00.123`
    #[default]
    Sql,
    /// `2024-05-01T12:00:00.123`
    Iso,
}

/// `String.trim`: everything up to the space counts as blank.
pub(crate) fn trim(mut text: &[u8]) -> &[u8] {
    while let [b, rest @ ..] = text
        && *b <= b' '
    {
        text = rest;
    }
    while let [rest @ .., b] = text
        && *b <= b' '
    {
        text = rest;
    }
    text
}

/// `Long.parseLong` and its narrower kin.
pub(crate) fn integer(text: &[u8], min: i64, max: i64) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    if digits.is_empty() {
        return None;
    }
    let mut value: i64 = 0;
    for &b in digits {
        let digit = i64::from(b.wrapping_sub(b'0'));
        if digit > 9 {
            return None;
        }
        // Counted downwards, because the smallest number has no positive twin.
        value = value.checked_mul(10)?.checked_sub(digit)?;
    }
    let value = if negative { value } else { value.checked_neg()? };
    (min..=max).contains(&value).then_some(value)
}

/// `Boolean.parseBoolean` after a trim: whatever is not "true" is false.
pub(crate) fn boolean(text: &[u8]) -> bool {
    trim(text).eq_ignore_ascii_case(b"true")
}

/// A floating-point text that passed Java's grammar.
enum FloatText<'a> {
    Special(f64),
    Decimal(&'a str),
    Hex { negative: bool, mantissa: u64, exponent: i32 },
}

/// `Double.parseDouble`.
pub(crate) fn double(text: &[u8]) -> Option<f64> {
    match float_text(trim(text))? {
        FloatText::Special(value) => Some(value),
        FloatText::Decimal(digits) => digits.parse().ok(),
        FloatText::Hex { negative, mantissa, exponent } => {
            let value = scale(mantissa as f64, exponent);
            Some(if negative { -value } else { value })
        }
    }
}

/// `Float.parseFloat`; not by way of a double, which would round twice.
pub(crate) fn float(text: &[u8]) -> Option<f32> {
    match float_text(trim(text))? {
        FloatText::Special(value) => Some(value as f32),
        FloatText::Decimal(digits) => digits.parse().ok(),
        FloatText::Hex { negative, mantissa, exponent } => {
            let value = scale(f64::from(mantissa as f32), exponent) as f32;
            Some(if negative { -value } else { value })
        }
    }
}

/// `value * 2^exponent` in steps that neither overflow nor vanish before their time.
fn scale(mut value: f64, exponent: i32) -> f64 {
    let mut left = exponent.clamp(-2_400, 2_400);
    while left != 0 {
        let step = left.clamp(-500, 500);
        value *= 2f64.powi(step);
        left -= step;
    }
    value
}

fn float_text(text: &[u8]) -> Option<FloatText<'_>> {
    let (negative, unsigned) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    match unsigned {
        b"NaN" => return Some(FloatText::Special(f64::NAN)),
        b"Infinity" => return Some(FloatText::Special(if negative { f64::NEG_INFINITY } else { f64::INFINITY })),
        [b'0', b'x' | b'X', rest @ ..] => return hex_text(negative, rest),
        _ => {}
    }
    let digits = |from: usize| unsigned[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let whole = digits(0);
    let mut at = whole;
    let mut fraction = 0;
    if unsigned.get(at) == Some(&b'.') {
        fraction = digits(at + 1);
        at += 1 + fraction;
    }
    if whole + fraction == 0 {
        return None;
    }
    if let Some(b'e' | b'E') = unsigned.get(at) {
        at += 1 + usize::from(matches!(unsigned.get(at + 1), Some(b'+' | b'-')));
        let exponent = digits(at);
        if exponent == 0 {
            return None;
        }
        at += exponent;
    }
    let rest = &unsigned[at..];
    if !(rest.is_empty() || matches!(rest, [b'f' | b'F' | b'd' | b'D'])) {
        return None;
    }
    let end = text.len() - rest.len();
    Some(FloatText::Decimal(std::str::from_utf8(&text[..end]).ok()?))
}

fn hex_text(negative: bool, text: &[u8]) -> Option<FloatText<'static>> {
    let (mut mantissa, mut exponent, mut digits) = (0u64, 0i32, 0usize);
    let mut at = 0;
    let mut after_point = false;
    while let Some(&b) = text.get(at) {
        if b == b'.' && !after_point {
            after_point = true;
        } else if let Some(digit) = (b as char).to_digit(16) {
            digits += 1;
            if mantissa >> 59 == 0 {
                mantissa = mantissa << 4 | u64::from(digit);
                exponent = exponent.checked_sub(if after_point { 4 } else { 0 })?;
            } else {
                // Too long to keep: remember only that something was there, for the rounding.
                mantissa |= u64::from(digit != 0);
                exponent = exponent.checked_add(if after_point { 0 } else { 4 })?;
            }
        } else {
            break;
        }
        at += 1;
    }
    let [b'p' | b'P', rest @ ..] = &text[at..] else { return None };
    let rest = match rest {
        [rest @ .., b'f' | b'F' | b'd' | b'D'] => rest,
        _ => rest,
    };
    if digits == 0 {
        return None;
    }
    let binary = integer(rest, i64::MIN, i64::MAX)?.clamp(-1_000_000, 1_000_000) as i32;
    Some(FloatText::Hex { negative, mantissa, exponent: exponent.checked_add(binary)? })
}

/// `new BigDecimal(text)`, then `DecimalData.fromBigDecimal`: rounded half up to `scale`;
/// `Some(None)` where it has more than `precision` digits, which Flink reads as NULL.
pub(crate) fn decimal(text: &[u8], precision: u8, scale: u8) -> Option<Option<i128>> {
    let (negative, unsigned) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let mantissa = unsigned.iter().take_while(|b| b.is_ascii_digit() || **b == b'.').count();
    let (number, rest) = unsigned.split_at(mantissa);
    let exponent = match rest {
        [] => 0,
        [b'e' | b'E', exponent @ ..] => integer(exponent, i64::from(i32::MIN) + 1, i64::from(i32::MAX))?,
        _ => return None,
    };
    let point = number.iter().position(|b| *b == b'.');
    let fraction = point.map_or(0, |point| number.len() - point - 1);
    let digit_count = number.len() - usize::from(point.is_some());
    if digit_count == 0 || point.is_some_and(|point| number[point + 1..].contains(&b'.')) {
        return None;
    }
    // value = digits * 10^shift, in units of the last place
    let shift = exponent - fraction as i64 + i64::from(scale);
    let mut digits = number.iter().filter(|b| **b != b'.').map(|b| b - b'0').skip_while(|d| *d == 0).peekable();
    if digits.peek().is_none() {
        return Some(Some(0));
    }
    let significant = digits.clone().count() as i64;
    let kept = significant + shift.min(0);
    if significant + shift > 39 || kept > 39 {
        return Some(None);
    }
    if kept < 0 {
        return Some(Some(0));
    }
    let mut value: i128 = 0;
    for digit in digits.by_ref().take(kept as usize) {
        match value.checked_mul(10).and_then(|v| v.checked_add(i128::from(digit))) {
            Some(v) => value = v,
            None => return Some(None),
        }
    }
    value += i128::from(digits.next().is_some_and(|d| d >= 5));
    for _ in 0..shift.max(0) {
        match value.checked_mul(10) {
            Some(v) => value = v,
            None => return Some(None),
        }
    }
    let fits = value < 10i128.pow(u32::from(precision).min(38));
    Some(fits.then_some(if negative { -value } else { value }))
}

/// `java.sql.Date.valueOf(text).toLocalDate()` as days since 1970: months and days may have one digit,
/// days up to 31 roll over, and before October 1582 the Julian calendar rules.
pub(crate) fn csv_date(text: &[u8]) -> Option<i64> {
    let mut parts = text.split(|b| *b == b'-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || year.len() != 4 || !(1..=2).contains(&month.len()) || !(1..=2).contains(&day.len()) {
        return None;
    }
    let year = integer(year, 0, 9999)?;
    let month = integer(month, 1, 12)? as u32;
    let day = integer(day, 1, 31)? as u32;
    if (year, month, day) >= (1582, 10, 15) {
        return Some(days_of(year, month, 1) + i64::from(day) - 1);
    }
    if year == 1582 && month == 10 && day >= 5 {
        // The ten days that were dropped.
        return Some(days_of(year, month, day) + 10);
    }
    let length = if month == 2 { 28 + u32::from(year % 4 == 0) } else { days_in_month(year, month) };
    let (month, day) = if day > length { (month + 1, day - length) } else { (month, day) };
    // Year 0 is 1 BC, whose number within its era is 1.
    let year = year.max(1);
    if month == 2 && day == 29 && !is_leap(year) {
        return None;
    }
    Some(days_of(year, month, day))
}

/// `ISO_LOCAL_DATE` as days since 1970.
pub(crate) fn iso_date(text: &[u8]) -> Option<i64> {
    let mut cursor = Cursor(text);
    let days = cursor.date(true)?;
    cursor.0.is_empty().then_some(days)
}

/// `LocalTime.parse`: seconds may be missing; as milliseconds of the day, cut to `digits` fractional digits.
pub(crate) fn csv_time(text: &[u8], digits: u8) -> Option<i32> {
    let mut cursor = Cursor(text);
    let time = cursor.time(true)?;
    if !cursor.0.is_empty() || time.second_of_day >= 86_400 {
        return None;
    }
    let step = 10i32.pow(3 - u32::from(digits.min(3)));
    let millis = (time.second_of_day * 1_000) as i32 + (time.nanos / 1_000_000) as i32;
    Some(millis / step * step)
}

/// Flink's `SQL_TIME_FORMAT`, as milliseconds of the day.
pub(crate) fn json_time(text: &[u8]) -> Option<i32> {
    let mut cursor = Cursor(text);
    let time = cursor.time(false)?;
    let millis = (time.second_of_day % 86_400 * 1_000) as i32 + (time.nanos / 1_000_000) as i32;
    cursor.0.is_empty().then_some(millis)
}

/// A moment in seconds since 1970 and nanoseconds.
pub(crate) type Moment = (i64, u32);

/// A timestamp in one of Flink's formats; with `zoned` a `Z` follows.
pub(crate) fn timestamp(text: &[u8], style: TimestampStyle, zoned: bool) -> Option<Moment> {
    let iso = style == TimestampStyle::Iso;
    // ISO_LOCAL_DATE_TIME resolves strictly and ignores case, Flink's own formatters do neither.
    let strict = iso && !zoned;
    let mut cursor = Cursor(text);
    let days = cursor.date(strict)?;
    match (cursor.byte()?, iso) {
        (b' ', false) | (b'T', true) => {}
        (b't', true) if strict => {}
        _ => return None,
    }
    let time = cursor.time(iso)?;
    if zoned && cursor.byte()? != b'Z' {
        return None;
    }
    if !cursor.0.is_empty() || (strict && time.second_of_day >= 86_400) {
        return None;
    }
    Some((days * 86_400 + time.second_of_day, time.nanos))
}

/// Counts a moment in the unit of Arrow's column: 1_000 or 1_000_000 a second. `None` beyond 64 bits.
#[inline]
pub(crate) fn in_units(moment: Moment, per_second: i64) -> Option<i64> {
    // Divisions by constants, which cost no division.
    let fraction = match per_second {
        1_000 => moment.1 / 1_000_000,
        _ => moment.1 / 1_000,
    };
    moment.0.checked_mul(per_second)?.checked_add(i64::from(fraction))
}

/// A moment in nanoseconds since 1970.
#[inline]
pub(crate) fn in_nanoseconds(moment: Moment) -> i128 {
    i128::from(moment.0) * 1_000_000_000 + i128::from(moment.1)
}

struct Cursor<'a>(&'a [u8]);

struct TimeOfDay {
    second_of_day: i64,
    nanos: u32,
}

impl Cursor<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }
    fn take(&mut self, expected: u8) -> Option<()> {
        (self.byte()? == expected).then_some(())
    }
    fn two_digits(&mut self) -> Option<u32> {
        let (tens, ones) = (self.byte()?.wrapping_sub(b'0'), self.byte()?.wrapping_sub(b'0'));
        (tens <= 9 && ones <= 9).then_some(u32::from(tens) * 10 + u32::from(ones))
    }
    /// `yyyy-MM-dd` with four digits of the year, or more behind a sign. Not strict: a day that the
    /// month does not have becomes its last one.
    fn date(&mut self, strict: bool) -> Option<i64> {
        let sign = self.0.first().copied().filter(|b| matches!(b, b'-' | b'+'));
        if sign.is_some() {
            self.0 = &self.0[1..];
        }
        let digits = self.0.iter().take(10).take_while(|b| b.is_ascii_digit()).count();
        let year = integer(&self.0[..digits], 0, 999_999_999)?;
        self.0 = &self.0[digits..];
        let year = match sign {
            None if digits == 4 => year,
            Some(b'+') if digits > 4 => year,
            Some(b'-') if digits >= 4 && year > 0 => -year,
            _ => return None,
        };
        self.take(b'-')?;
        let month = self.two_digits()?;
        self.take(b'-')?;
        let day = self.two_digits()?;
        if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
            return None;
        }
        let length = days_in_month(year, month);
        if strict && day > length {
            return None;
        }
        Some(days_of(year, month, day.min(length)))
    }
    /// `HH:mm:ss` with up to nine fractional digits; 24:00:00 counts as the next day's start.
    fn time(&mut self, seconds_optional: bool) -> Option<TimeOfDay> {
        let hour = self.two_digits()?;
        self.take(b':')?;
        let minute = self.two_digits()?;
        let (mut second, mut nanos) = (0, 0);
        if self.0.first() == Some(&b':') || !seconds_optional {
            self.take(b':')?;
            second = self.two_digits()?;
            if self.0.first() == Some(&b'.') {
                self.0 = &self.0[1..];
                let digits = self.0.iter().take(9).take_while(|b| b.is_ascii_digit()).count();
                nanos = self.0[..digits].iter().fold(0, |n, b| n * 10 + u32::from(b - b'0'));
                nanos *= 10u32.pow(9 - digits as u32);
                self.0 = &self.0[digits..];
            }
        }
        let end_of_day = hour == 24 && minute == 0 && second == 0 && nanos == 0;
        if (hour > 23 && !end_of_day) || minute > 59 || second > 59 {
            return None;
        }
        Some(TimeOfDay { second_of_day: i64::from(hour * 3_600 + minute * 60 + second), nanos })
    }
}
