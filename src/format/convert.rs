//! One field's text into its column, by the rules of the format it came in.

use super::base64;
use super::column::{Column, Text, Values};
use super::fast::{self, DayCache};
use super::parse::{self, TimestampStyle};

/// Why a text does not fit its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Misfit {
    /// Not a value of the type.
    Text,
    /// A timestamp in a year that the type does not reach.
    Range,
}

/// What a JSON value is, as far as conversion cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JsonKind {
    Text,
    Integer,
    /// A number with a point or an exponent.
    Fraction,
    /// `true`, `false`, `{`, `[` and what else a column may meet: goes by its text.
    Other,
}

/// Appends a CSV field.
pub(crate) fn push_csv(column: &mut Column, text: &[u8]) -> Result<(), Misfit> {
    match &mut column.values {
        Values::Boolean(values) => values.push(parse::boolean(text)),
        Values::Int8(values) => values.push(narrow(text, i8::MIN, i8::MAX)?),
        Values::Int16(values) => values.push(narrow(text, i16::MIN, i16::MAX)?),
        Values::Int32(values) => values.push(narrow(text, i32::MIN, i32::MAX)?),
        Values::Int64(values) => values.push(narrow(text, i64::MIN, i64::MAX)?),
        Values::Float32(values) => values.push(parse::float(text).ok_or(Misfit::Text)?),
        Values::Float64(values) => values.push(parse::double(text).ok_or(Misfit::Text)?),
        Values::Decimal { .. } => return push_decimal(column, text),
        Values::Text(values) => values.push(text),
        Values::Date(values) => values.push(days(parse::csv_date(text))?),
        Values::Time { values, digits } => values.push(parse::csv_time(text, *digits).ok_or(Misfit::Text)?),
        Values::Timestamp { values, per_second, zoned } => {
            let moment = parse::timestamp(parse::trim(text), TimestampStyle::Sql, *zoned).ok_or(Misfit::Text)?;
            values.push(parse::in_units(moment, *per_second).ok_or(Misfit::Range)?);
        }
        Values::WideTimestamp { values, zoned } => {
            let moment = parse::timestamp(parse::trim(text), TimestampStyle::Sql, *zoned).ok_or(Misfit::Text)?;
            values.push(parse::in_nanoseconds(moment));
        }
        Values::Bytes(values) => push_base64(values, text)?,
        Values::Nested(_) => return Err(Misfit::Text),
    }
    Ok(())
}

/// Appends a JSON value that is not null, given as its (unescaped) text.
pub(crate) fn push_json(column: &mut Column, kind: JsonKind, text: &[u8], style: TimestampStyle) -> Result<(), Misfit> {
    match &mut column.values {
        Values::Boolean(values) => values.push(parse::boolean(text)),
        Values::Int8(values) => values.push(narrow(text, i8::MIN, i8::MAX)?),
        Values::Int16(values) => values.push(narrow(text, i16::MIN, i16::MAX)?),
        Values::Int32(values) if kind == JsonKind::Fraction => {
            let number = parse::double(text).ok_or(Misfit::Text)?;
            // Jackson goes through a double here and looks at its range first.
            if !(f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&number) {
                return Err(Misfit::Text);
            }
            values.push(number as i32);
        }
        Values::Int32(values) => values.push(narrow(text, i32::MIN, i32::MAX)?),
        Values::Int64(values) if kind == JsonKind::Fraction => {
            let number = parse::double(text).ok_or(Misfit::Text)?;
            if !(i64::MIN as f64..=i64::MAX as f64).contains(&number) {
                return Err(Misfit::Text);
            }
            values.push(number as i64);
        }
        Values::Int64(values) => values.push(narrow(text, i64::MIN, i64::MAX)?),
        Values::Float32(values) => values.push(parse::float(text).ok_or(Misfit::Text)?),
        Values::Float64(values) => values.push(parse::double(text).ok_or(Misfit::Text)?),
        Values::Decimal { .. } => match kind {
            JsonKind::Other => return Err(Misfit::Text),
            _ => return push_decimal(column, parse::trim(text)),
        },
        Values::Text(values) => values.push(text),
        Values::Date(values) => values.push(days(parse::iso_date(text))?),
        Values::Time { values, .. } => values.push(parse::json_time(text).ok_or(Misfit::Text)?),
        Values::Timestamp { values, per_second, zoned } => {
            let moment = parse::timestamp(text, style, *zoned).ok_or(Misfit::Text)?;
            values.push(parse::in_units(moment, *per_second).ok_or(Misfit::Range)?);
        }
        Values::WideTimestamp { values, zoned } => {
            let moment = parse::timestamp(text, style, *zoned).ok_or(Misfit::Text)?;
            values.push(parse::in_nanoseconds(moment));
        }
        Values::Bytes(values) if kind == JsonKind::Text => push_base64(values, text)?,
        Values::Bytes(_) | Values::Nested(_) => return Err(Misfit::Text),
    }
    Ok(())
}

fn push_base64(values: &mut Text, text: &[u8]) -> Result<(), Misfit> {
    let start = values.bytes.len();
    if base64::decode(text, &mut values.bytes) {
        values.end_value();
        return Ok(());
    }
    values.bytes.truncate(start);
    Err(Misfit::Text)
}

fn narrow<T: TryFrom<i64>>(text: &[u8], min: T, max: T) -> Result<T, Misfit>
where
    i64: From<T>,
{
    let value = parse::integer(parse::trim(text), i64::from(min), i64::from(max)).ok_or(Misfit::Text)?;
    T::try_from(value).map_err(|_| Misfit::Text)
}

fn days(days: Option<i64>) -> Result<i32, Misfit> {
    days.and_then(|days| i32::try_from(days).ok()).ok_or(Misfit::Text)
}

fn push_decimal(column: &mut Column, text: &[u8]) -> Result<(), Misfit> {
    let Values::Decimal { values, precision, scale } = &mut column.values else { return Err(Misfit::Text) };
    match parse::decimal(text, *precision, *scale).ok_or(Misfit::Text)? {
        Some(value) => values.push(value),
        None => column.push_null(),
    }
    Ok(())
}

/// Appends the number or timestamp that starts at `at` if it is of the plainest form; where it ended, or
/// [`fast::NOWHERE`]. The caller looks at what stands there, and takes the value back if that does not end a field.
#[inline(always)]
pub(crate) fn push_plain(column: &mut Column, bytes: &[u8], at: usize, between: u8, day: &mut DayCache) -> usize {
    match &mut column.values {
        Values::Timestamp { values, per_second: 1_000, zoned: false } => {
            let (value, end) = fast::milliseconds(bytes, at, between, day);
            values.push(value);
            end
        }
        Values::Int64(values) => {
            let (value, end) = fast::plain_integer(bytes, at);
            values.push(value);
            end
        }
        Values::Int32(values) => {
            let (value, end) = fast::plain_integer(bytes, at);
            values.push(value as i32);
            if i64::from(value as i32) == value { end } else { fast::NOWHERE }
        }
        other => push_less_plain(other, bytes, at, between, day).unwrap_or(fast::NOWHERE),
    }
}

#[inline(never)]
fn push_less_plain(values: &mut Values, bytes: &[u8], at: usize, between: u8, day: &mut DayCache) -> Option<usize> {
    Some(match values {
        Values::Timestamp { values, per_second, zoned: false } => {
            let (moment, end) = fast::timestamp(bytes, at, between, day)?;
            values.push(parse::in_units(moment, *per_second)?);
            end
        }
        Values::WideTimestamp { values, zoned: false } => {
            let (moment, end) = fast::timestamp(bytes, at, between, day)?;
            values.push(parse::in_nanoseconds(moment));
            end
        }
        Values::Float64(values) => {
            let (value, end) = fast::double(bytes, at)?;
            values.push(value);
            end
        }
        Values::Int16(values) => {
            let (value, end) = fast::integer(bytes, at)?;
            values.push(i16::try_from(value).ok()?);
            end
        }
        Values::Int8(values) => {
            let (value, end) = fast::integer(bytes, at)?;
            values.push(i8::try_from(value).ok()?);
            end
        }
        _ => return None,
    })
}
