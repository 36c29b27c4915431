//! Literals.

use std::cmp::Ordering;

use super::super::eval::{decimal_order, parse_date, parse_time, parse_timestamp};
use super::{Expr, kind_of};
use crate::error::{Error, Result};
use crate::expr::Scalar;
use crate::types::Type;

/// A number as written, without sign: `1` is INT or BIGINT, `1.5` DECIMAL(2, 1), `1e0` DOUBLE.
///
/// # Errors
/// A number that no type holds.
pub fn literal_number(text: &str) -> Result<Expr> {
    let out_of_range = || Error::script(format!("the number {text} is out of range"));
    if text.contains(['e', 'E']) {
        let number: f64 = text.parse().map_err(|_| Error::script(format!("{text} is no number")))?;
        if number.is_infinite() {
            return Err(out_of_range().help("a DOUBLE goes up to 1.797E308"));
        }
        return Ok(Expr::literal(Scalar::Double(number), Type::Double.not_null()));
    }
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = [whole, fraction].concat();
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Error::script(format!("{text} is no number")));
    }
    if fraction.is_empty() {
        let number: i64 = whole.parse().map_err(|_| out_of_range().help("a BIGINT goes up to 9223372036854775807"))?;
        let kind = if i32::try_from(number).is_ok() { Type::Int } else { Type::BigInt };
        return Ok(Expr::literal(Scalar::Int(number), kind.not_null()));
    }
    // The digits as written make the precision, leading zeros too.
    if digits.len() > 38 {
        return Err(out_of_range());
    }
    // Flink takes no more than 64 bits.
    let value: i64 = digits.parse().map_err(|_| out_of_range().help("CAST a text: CAST('…' AS DECIMAL(38, 2))"))?;
    let kind = Type::Decimal(digits.len() as u8, fraction.len() as u8);
    Ok(Expr::literal(Scalar::Decimal(value.into()), kind.not_null()))
}

/// A number after a minus sign, where the sign belongs to it: the lowest BIGINT has no positive twin.
pub fn literal_negative(text: &str) -> Option<Expr> {
    let number: i64 = format!("-{text}").parse().ok()?;
    (number == i64::MIN).then(|| Expr::literal(Scalar::Int(number), Type::BigInt.not_null()))
}

/// CHAR(n) NOT NULL, n counted in UTF-16 units as Flink does.
pub fn literal_string(text: &str) -> Expr {
    let length = u32::try_from(text.encode_utf16().count()).unwrap_or(u32::MAX);
    Expr::literal(Scalar::String(text.to_owned()), Type::Char(length).not_null())
}

/// `X'4A6F'`: BINARY(n) NOT NULL.
///
/// # Errors
/// A text that is not made of pairs of hexadecimal digits.
pub fn literal_binary(text: &str) -> Result<Expr> {
    let bad = |what: &str| Error::script(format!("X'{text}': {what}")).help("write two of 0-9, A-F for each byte");
    if !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(bad("not all of it is hexadecimal"));
    }
    if !text.len().is_multiple_of(2) {
        return Err(bad("the number of digits is odd"));
    }
    let digits: Vec<u8> = text.chars().filter_map(|digit| digit.to_digit(16)).map(|digit| digit as u8).collect();
    let bytes: Vec<u8> = digits.chunks(2).map(|pair| pair[0] * 16 + pair[1]).collect();
    let kind = Type::Binary(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
    Ok(Expr::literal(Scalar::Binary(bytes), kind.not_null()))
}

/// BOOLEAN NOT NULL.
pub fn literal_bool(value: bool) -> Expr {
    Expr::literal(Scalar::Boolean(value), Type::Boolean.not_null())
}

/// NULL without a type of its own.
pub fn literal_null() -> Expr {
    Expr::literal(Scalar::Null, Type::Null.nullable())
}

/// `TIMESTAMP 'text'`: TIMESTAMP(p) NOT NULL, p the number of fractional digits.
///
/// # Errors
/// A text that is no timestamp.
pub fn literal_timestamp(text: &str) -> Result<Expr> {
    let bad = || Error::script(format!("'{text}' is no TIMESTAMP")).help("write TIMESTAMP '2024-05-01 12:00:00.000'");
    let digits = text.split_once('.').map_or(0, |(_, fraction)| fraction.trim_end().len());
    let precision = u8::try_from(digits).ok().filter(|digits| *digits <= 9).ok_or_else(bad)?;
    let moment = parse_timestamp(text.trim()).ok_or_else(bad)?;
    let stored = match precision {
        0..=3 => Scalar::Int(moment.to_millis(precision)),
        4..=6 => Scalar::Int(moment.to_micros(precision).ok_or_else(bad)?),
        _ => Scalar::Decimal(moment.to_nanos(precision)),
    };
    Ok(Expr::literal(stored, Type::Timestamp(precision).not_null()))
}

/// `DATE 'text'`.
///
/// # Errors
/// A text that is no date.
pub fn literal_date(text: &str) -> Result<Expr> {
    let days = parse_date(text)
        .ok_or_else(|| Error::script(format!("'{text}' is no DATE")).help("write DATE '2024-05-01'"))?;
    Ok(Expr::literal(Scalar::Int(days.into()), Type::Date.not_null()))
}

/// `TIME 'text'`.
///
/// # Errors
/// A text that is no time of day.
pub fn literal_time(text: &str) -> Result<Expr> {
    let millis =
        parse_time(text).ok_or_else(|| Error::script(format!("'{text}' is no TIME")).help("write TIME '12:00:00'"))?;
    let digits = text.split_once('.').map_or(0, |(_, fraction)| fraction.trim_end().len()).min(9) as u8;
    Ok(Expr::literal(Scalar::Int(millis.into()), Type::Time(digits).not_null()))
}

/// An INTERVAL of days to seconds, in milliseconds.
pub fn literal_interval_day_second(milliseconds: i64) -> Expr {
    Expr::literal(Scalar::Int(milliseconds), Type::IntervalDaySecond.not_null())
}

/// An INTERVAL of years and months, in months.
pub fn literal_interval_year_month(months: i32) -> Expr {
    Expr::literal(Scalar::Int(months.into()), Type::IntervalYearMonth.not_null())
}

/// A number literal in another number type, where no digit is lost. Spares a cast a batch.
pub(super) fn fold_number(expr: &Expr, kind: &Type) -> Option<Expr> {
    let Expr::Literal { value: Scalar::Int(number), .. } = expr else {
        return None;
    };
    if !kind_of(expr).is_integer() {
        return None;
    }
    let number = *number;
    let value = match kind {
        Type::TinyInt => Scalar::Int(i8::try_from(number).ok()?.into()),
        Type::SmallInt => Scalar::Int(i16::try_from(number).ok()?.into()),
        Type::Int => Scalar::Int(i32::try_from(number).ok()?.into()),
        Type::BigInt => Scalar::Int(number),
        Type::Double => Scalar::Double(number as f64),
        Type::Float => Scalar::Float(number as f32),
        Type::Decimal(precision, 0) => {
            let fits = number.unsigned_abs() < 10u64.checked_pow(u32::from(*precision)).unwrap_or(u64::MAX);
            if !fits {
                return None;
            }
            Scalar::Decimal(number.into())
        }
        _ => return None,
    };
    Some(Expr::literal(value, kind.clone().not_null()))
}

/// The order of two number literals of which one stands under a CAST to FLOAT or DOUBLE. Flink's planner folds such a
/// comparison, with all of the digits as they are written.
pub(super) fn exact_order(left: &Expr, right: &Expr) -> Option<Ordering> {
    let (left, right) = (exact(left)?, exact(right)?);
    (left.2 || right.2).then(|| decimal_order((left.0, left.1), (right.0, right.1)))
}

/// A number literal's digits and scale, and whether it is cast to FLOAT or DOUBLE.
fn exact(expr: &Expr) -> Option<(i128, u8, bool)> {
    match expr {
        Expr::Literal { value: Scalar::Int(number), data_type } if data_type.kind.is_integer() => {
            Some(((*number).into(), 0, false))
        }
        Expr::Literal { value: Scalar::Decimal(number), data_type } => match data_type.kind {
            Type::Decimal(_, scale) => Some((*number, scale, false)),
            _ => None,
        },
        Expr::Cast { input, data_type, .. } if matches!(data_type.kind, Type::Float | Type::Double) => {
            exact(input).map(|(number, scale, _)| (number, scale, true))
        }
        _ => None,
    }
}

/// The text of a string literal.
pub(super) fn text_of(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Literal { value: Scalar::String(text), .. } => Some(text),
        _ => None,
    }
}

/// The value of an integer literal, `-1` included.
pub(super) fn integer_of(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::Literal { value: Scalar::Int(number), data_type } if data_type.kind.is_integer() => Some(*number),
        _ => None,
    }
}
