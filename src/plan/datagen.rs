//! The connector `datagen`: rows made up from random values and sequences, with Flink's options.

use std::str::FromStr;

use super::Options;
use crate::error::{Error, Result};
use crate::options::duration_ms;
use crate::types::{DataType, MAX_LENGTH, Schema, Type};

/// Rows of a table that nobody wrote down.
#[derive(Debug, Clone, PartialEq)]
pub struct DatagenSpec {
    /// For each physical column of the table.
    pub columns: Vec<Generated>,
    /// Rows of the table; `None`: without end.
    pub rows: Option<u64>,
    pub rows_per_second: u64,
    /// The same seed gives the same rows.
    pub seed: u64,
}

/// A column or a part of one.
#[derive(Debug, Clone, PartialEq)]
pub struct Generated {
    pub kind: Type,
    pub values: Values,
    /// How many of the values are NULL, from 0 to 1.
    pub null_rate: f32,
}

/// What the values of a column are drawn from.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// `start`, the next number and so on, in the column's type.
    Sequence {
        start: i64,
    },
    Boolean,
    /// Both bounds included.
    Integer {
        min: i64,
        max: i64,
    },
    /// From `min` to `max`: FLOAT, DOUBLE and DECIMAL.
    Real {
        min: f64,
        max: f64,
    },
    /// Hexadecimal digits or bytes; `varies`: of any length from 1 up to it.
    Text {
        length: u32,
        varies: bool,
    },
    /// The time at which the row is due, minus at most so much.
    Past {
        max_ms: i64,
    },
    /// So many elements.
    Array {
        element: Box<Generated>,
        length: u32,
    },
    /// At most so many entries, for keys may be drawn twice.
    Map {
        key: Box<Generated>,
        value: Box<Generated>,
        length: u32,
    },
    Row(Vec<Generated>),
}

/// Flink's length of a text without one.
const TEXT_LENGTH: u32 = 100;
/// Flink's number of elements of ARRAY and MAP.
const ELEMENTS: u32 = 3;
/// Flink's rows in a second.
const ROWS_PER_SECOND: u64 = 10_000;
/// The largest number of digits that a power of ten in a `u64` bears.
const DIGITS_MAX: u8 = 18;

impl DatagenSpec {
    /// Reads the options of a table with these physical columns.
    ///
    /// # Errors
    /// Kind Script, at the option that is wrong.
    pub fn from_options(options: &mut Options, schema: &Schema) -> Result<DatagenSpec> {
        let rows_per_second = take_number(options, "rows-per-second", "a number from 1 on")?.unwrap_or(ROWS_PER_SECOND);
        if rows_per_second == 0 {
            return Err(options.invalid("rows-per-second", "a number from 1 on"));
        }
        let mut rows: Option<u64> = take_number(options, "number-of-rows", "a whole number")?;
        let seed = take_number(options, "seed", "a whole number")?.unwrap_or(0);
        let mut columns = Vec::with_capacity(schema.len());
        for field in &schema.fields {
            let path = format!("fields.{}", field.name);
            let column = match options.take(&format!("{path}.kind")).as_deref() {
                None | Some("random") => random(options, &path, &field.data_type)?,
                Some("sequence") => {
                    let (column, length) = sequence(options, &path, &field.data_type)?;
                    rows = Some(rows.map_or(length, |rows| rows.min(length)));
                    column
                }
                Some(_) => return Err(options.invalid(&format!("{path}.kind"), "random or sequence")),
            };
            columns.push(column);
        }
        Ok(DatagenSpec { columns, rows, rows_per_second, seed })
    }
}

fn take_number<T: FromStr>(options: &mut Options, key: &str, expected: &str) -> Result<Option<T>> {
    let Some(text) = options.take(key) else { return Ok(None) };
    text.trim().parse().map(Some).map_err(|_| options.invalid(key, expected))
}

/// A column that counts, and how many rows it lasts.
fn sequence(options: &mut Options, path: &str, data_type: &DataType) -> Result<(Generated, u64)> {
    let kind = data_type.kind.clone();
    if !(kind.is_numeric() || kind.is_string()) {
        return Err(options.invalid(&format!("{path}.kind"), &format!("random, for {kind} has no sequences")));
    }
    let mut bound = |name: &str| -> Result<i64> {
        let key = format!("{path}.{name}");
        options.require(&key)?;
        Ok(take_number(options, &key, "a whole number")?.unwrap_or_default())
    };
    let (start, end) = (bound("start")?, bound("end")?);
    let (least, most) = integer_range(&kind);
    for (name, value) in [("start", start), ("end", end)] {
        if !(least..=most).contains(&value) {
            return Err(options.invalid(&format!("{path}.{name}"), &format!("a number that {kind} holds")));
        }
    }
    let length = i128::from(end) - i128::from(start) + 1;
    if length < 1 {
        return Err(options.invalid(&format!("{path}.end"), &format!("{start}, its start, or more")));
    }
    let length = u64::try_from(length).unwrap_or(u64::MAX);
    Ok((Generated { kind, values: Values::Sequence { start }, null_rate: 0.0 }, length))
}

/// The whole numbers that a type holds.
fn integer_range(kind: &Type) -> (i64, i64) {
    match kind {
        Type::TinyInt => (i8::MIN.into(), i8::MAX.into()),
        Type::SmallInt => (i16::MIN.into(), i16::MAX.into()),
        Type::Int => (i32::MIN.into(), i32::MAX.into()),
        Type::Decimal(precision, scale) => {
            let most = 10_i64.pow(u32::from((precision - scale).min(DIGITS_MAX))) - 1;
            (-most, most)
        }
        _ => (i64::MIN, i64::MAX),
    }
}

fn random(options: &mut Options, path: &str, data_type: &DataType) -> Result<Generated> {
    let kind = data_type.kind.clone();
    let values = match &kind {
        Type::Boolean => Values::Boolean,
        Type::TinyInt | Type::SmallInt | Type::Int | Type::BigInt => {
            let range = integer_range(&kind);
            let (min, max) = take_range(options, path, range, "a whole number that the type holds")?;
            if min < range.0 || max > range.1 {
                let wrong = if min < range.0 { "min" } else { "max" };
                return Err(options.invalid(&format!("{path}.{wrong}"), &format!("a number that {kind} holds")));
            }
            Values::Integer { min, max }
        }
        // Flink's least values are the smallest positive ones.
        Type::Float => {
            let range = (f64::from(f32::MIN_POSITIVE), f64::from(f32::MAX));
            let (min, max) = take_range(options, path, range, "a number")?;
            Values::Real { min, max }
        }
        Type::Double => {
            let (min, max) = take_range(options, path, (f64::MIN_POSITIVE, f64::MAX), "a number")?;
            Values::Real { min, max }
        }
        Type::Decimal(precision, scale) => {
            let most = 10_f64.powi(i32::from(*precision) - i32::from(*scale));
            let (min, max) = take_range(options, path, (0.0, most), "a number")?;
            Values::Real { min: min.clamp(-most, most), max: max.clamp(-most, most) }
        }
        Type::Char(length) | Type::Binary(length) => {
            for name in ["length", "var-len"] {
                if options.take(&format!("{path}.{name}")).is_some() {
                    return Err(
                        options.invalid(&format!("{path}.{name}"), &format!("no such option: {kind} has one length"))
                    );
                }
            }
            Values::Text { length: *length, varies: false }
        }
        Type::VarChar(most) | Type::VarBinary(most) => {
            let default = if *most == MAX_LENGTH { TEXT_LENGTH } else { *most };
            let length = take_length(options, path, default, *most)?;
            Values::Text { length, varies: options.take_bool(&format!("{path}.var-len"), false)? }
        }
        Type::Date | Type::Time(_) => Values::Past { max_ms: 0 },
        Type::Timestamp(_) | Type::TimestampLtz(_) => Values::Past { max_ms: take_past(options, path)? },
        Type::Array(element) => {
            let element = Box::new(random(options, &format!("{path}.element"), element)?);
            Values::Array { element, length: take_length(options, path, ELEMENTS, MAX_LENGTH)? }
        }
        Type::Map(key, value) => {
            let key = Box::new(random(options, &format!("{path}.key"), &key.kind.clone().not_null())?);
            let value = Box::new(random(options, &format!("{path}.value"), value)?);
            Values::Map { key, value, length: take_length(options, path, ELEMENTS, MAX_LENGTH)? }
        }
        Type::Row(fields) => {
            let part =
                |field: &crate::types::Field| random(options, &format!("{path}.{}", field.name), &field.data_type);
            Values::Row(fields.iter().map(part).collect::<Result<_>>()?)
        }
        Type::Null | Type::IntervalYearMonth | Type::IntervalDaySecond | Type::Multiset(_) => {
            return Err(Error::script(format!("datagen has no values of type {kind}")).at_place(options.place.clone()));
        }
    };
    let key = format!("{path}.null-rate");
    let null_rate = take_number(options, &key, "a number from 0 to 1")?.unwrap_or(0.0_f32);
    if !(0.0..=1.0).contains(&null_rate) {
        return Err(options.invalid(&key, "a number from 0 to 1"));
    }
    if null_rate > 0.0 && !data_type.nullable {
        return Err(options.invalid(&key, "0, for it is NOT NULL"));
    }
    Ok(Generated { kind, values, null_rate })
}

fn take_range<T: FromStr + PartialOrd + Copy>(
    options: &mut Options,
    path: &str,
    default: (T, T),
    expected: &str,
) -> Result<(T, T)> {
    let (min_key, max_key) = (format!("{path}.min"), format!("{path}.max"));
    let min = take_number(options, &min_key, expected)?.unwrap_or(default.0);
    let max = take_number(options, &max_key, expected)?.unwrap_or(default.1);
    if min <= max {
        return Ok((min, max));
    }
    let wrong = if options.take(&max_key).is_some() { max_key } else { min_key };
    Err(options.invalid(&wrong, "bounds of which 'min' is not above 'max'"))
}

/// How far a time lies back at most.
fn take_past(options: &mut Options, path: &str) -> Result<i64> {
    let key = format!("{path}.max-past");
    match options.take(&key) {
        None => Ok(0),
        Some(text) => duration_ms(&text).ok_or_else(|| options.invalid(&key, "a duration such as '10 s' or '1 h'")),
    }
}

fn take_length(options: &mut Options, path: &str, default: u32, most: u32) -> Result<u32> {
    let key = format!("{path}.length");
    let expected = format!("a length from 1 to {most}");
    let length = take_number(options, &key, &expected)?.unwrap_or(default);
    if (1..=most).contains(&length) { Ok(length) } else { Err(options.invalid(&key, &expected)) }
}
