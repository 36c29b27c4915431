//! CAST and TRY_CAST.

use std::borrow::Cow;

use arrow::array::{Array, ArrayRef, new_null_array};
use arrow::compute::cast as arrow_cast;
use arrow::datatypes::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    Time32MillisecondType, TimestampMicrosecondType, TimestampMillisecondType,
};
use jiff::tz::TimeZone;

use super::calendar::{DAY_MS, Moment};
use super::parse::Bad;
use super::value::{Read, Value, build, build_flags, build_texts, flags, numbers, retype, texts};
use super::{EvalContext, decimal, nested_cast, parse, print, zone};
use crate::error::{Error, Result};
use crate::types::{MAX_LENGTH, Type};

/// Casts a value. `safe`: bad text gives NULL instead of an error.
pub(super) fn cast(value: &Value, from: &Type, to: &Type, safe: bool, context: &EvalContext) -> Result<Value> {
    if from == to {
        return Ok(value.clone());
    }
    let count = value.len();
    if *from == Type::Null {
        return Ok(value.with(new_null_array(&to.to_arrow(), count)));
    }
    let array = match (from, to) {
        (_, Type::Array(_) | Type::Map(..) | Type::Multiset(_) | Type::Row(_)) => {
            nested_cast::nested(value.array(), from, to, safe, context)?
        }
        (_, Type::Binary(_) | Type::VarBinary(_)) => nested_cast::to_bytes(value, from, to)?,
        (Type::Char(_) | Type::VarChar(_), Type::Char(_) | Type::VarChar(_)) => to_length(value, from, to)?,
        (Type::Char(_) | Type::VarChar(_), _) => from_text(value, to, safe, context)?,
        (_, Type::Char(_) | Type::VarChar(_)) => {
            let text = value.with(to_text(value, from, context)?);
            to_length(&text, &Type::string(), to)?
        }
        (_, Type::Boolean) => number_to_boolean(value, from)?,
        (Type::Boolean, _) => boolean_to_number(value, to)?,
        (a, b) if a.is_numeric() && b.is_numeric() => number(value, from, to)?,
        _ => time(value, from, to, context)?,
    };
    debug_assert_eq!(array.len(), count);
    Ok(value.with(array))
}

/// CHAR(n) pads and cuts, VARCHAR(n) cuts; lengths count code points.
fn to_length(value: &Value, from: &Type, to: &Type) -> Result<ArrayRef> {
    let (length, pads) = match to {
        Type::Char(length) => (*length, true),
        Type::VarChar(length) => (*length, false),
        _ => return Err(Error::internal("a length of no string")),
    };
    let known = match from {
        Type::Char(length) | Type::VarChar(length) => *length,
        _ => MAX_LENGTH,
    };
    if !pads && known <= length {
        return Ok(value.array().clone());
    }
    let length = length as usize;
    let values = texts(value)?;
    build_texts(value.len(), |row| {
        Ok(values.read(row).map(|text| {
            if text.len() <= length && !pads {
                return Cow::Borrowed(text);
            }
            if let Some((end, _)) = text.char_indices().nth(length) {
                return Cow::Borrowed(&text[..end]);
            }
            let missing = length - text.chars().count();
            if pads && missing > 0 { Cow::Owned(format!("{text}{}", " ".repeat(missing))) } else { Cow::Borrowed(text) }
        }))
    })
}

/// What is wrong with a text, in words.
fn bad_text(text: &str, to: &Type, bad: Bad) -> Error {
    let shown: String = text.chars().take(80).collect();
    let dots = if shown.len() < text.len() { "…" } else { "" };
    let why = match bad {
        Bad::Form => "it is not a value of that type",
        Bad::Overflow => "it is out of range",
    };
    Error::data(format!("cannot cast '{shown}{dots}' to {to}: {why}")).help("TRY_CAST gives NULL instead")
}

fn from_text(value: &Value, to: &Type, safe: bool, context: &EvalContext) -> Result<ArrayRef> {
    let count = value.len();
    let values = texts(value)?;
    let settle = |text: &str, bad: Bad| if safe { Ok(None) } else { Err(bad_text(text, to, bad)) };
    let int = |text: &str, min: i64, max: i64| parse::integer(text, min, max);
    macro_rules! column {
        ($arrow:ty, $parse:expr) => {
            build::<$arrow>(count, |row| match values.read(row) {
                None => Ok(None),
                Some(text) => match $parse(text) {
                    Ok(parsed) => Ok(Some(parsed)),
                    Err(bad) => settle(text, bad).map(|_: Option<()>| None),
                },
            })?
        };
    }
    let array = match to {
        Type::Boolean => build_flags(count, |row| match values.read(row) {
            None => Ok(None),
            Some(text) => match parse::boolean(text) {
                Ok(flag) => Ok(Some(flag)),
                Err(bad) => settle(text, bad).map(|_: Option<()>| None),
            },
        })?,
        Type::TinyInt => column!(Int8Type, |text| int(text, i8::MIN.into(), i8::MAX.into()).map(|n| n as i8)),
        Type::SmallInt => column!(Int16Type, |text| int(text, i16::MIN.into(), i16::MAX.into()).map(|n| n as i16)),
        Type::Int => column!(Int32Type, |text| int(text, i32::MIN.into(), i32::MAX.into()).map(|n| n as i32)),
        Type::BigInt => column!(Int64Type, |text| int(text, i64::MIN, i64::MAX)),
        Type::Float => column!(Float32Type, parse::float),
        Type::Double => column!(Float64Type, parse::double),
        Type::Decimal(precision, scale) => {
            let parse = |text: &str| parse::decimal_text(text, *precision, *scale)?.ok_or(Bad::Overflow);
            retype(column!(Decimal128Type, parse), to)?
        }
        Type::Date => column!(Date32Type, |text| parse::parse_date(text).ok_or(Bad::Form)),
        Type::Time(precision) => {
            let unit = time_unit(*precision);
            let parse = |text: &str| parse::parse_time(text).map(|ms| ms - ms % unit).ok_or(Bad::Form);
            column!(Time32MillisecondType, parse)
        }
        Type::Timestamp(precision) | Type::TimestampLtz(precision) => {
            let zone = zone_for(matches!(to, Type::TimestampLtz(_)), context)?;
            let parse = |text: &str| {
                let moment = parse::parse_timestamp(text).ok_or(Bad::Form)?;
                let moment = zone.as_ref().map_or(moment, |zone| to_instant(zone, moment));
                if fits(moment, *precision) { Ok(moment) } else { Err(Bad::Overflow) }
            };
            stored(count, to, |row| match values.read(row) {
                None => Ok(None),
                Some(text) => match parse(text) {
                    Ok(parsed) => Ok(Some(parsed)),
                    Err(bad) => settle(text, bad).map(|_: Option<()>| None),
                },
            })?
        }
        _ => return Err(Error::internal(format!("a cast of text to {to}"))),
    };
    Ok(array)
}

/// Whether a TIMESTAMP of that precision reaches the moment.
fn fits(moment: Moment, precision: u8) -> bool {
    !matches!(precision, 4..=6) || moment.to_micros(precision).is_some()
}

/// A column of timestamps of the type `to`, digits beyond its precision cut.
pub(super) fn stored(
    count: usize,
    to: &Type,
    mut each: impl FnMut(usize) -> Result<Option<Moment>>,
) -> Result<ArrayRef> {
    let (Type::Timestamp(precision) | Type::TimestampLtz(precision)) = to else {
        return Err(Error::internal(format!("timestamps of type {to}")));
    };
    let array = match precision {
        0..=3 => {
            build::<TimestampMillisecondType>(count, |row| Ok(each(row)?.map(|moment| moment.to_millis(*precision))))?
        }
        4..=6 => build::<TimestampMicrosecondType>(count, |row| match each(row)? {
            None => Ok(None),
            Some(moment) => match moment.to_micros(*precision) {
                Some(micros) => Ok(Some(micros)),
                None => Err(Error::data(format!("{} is out of range of {to}", print::timestamp(moment, 3)))),
            },
        })?,
        _ => build::<Decimal128Type>(count, |row| Ok(each(row)?.map(|moment| moment.to_nanos(*precision))))?,
    };
    retype(array, to)
}

/// Reads the moments of a TIMESTAMP or TIMESTAMP_LTZ column.
pub(super) fn moments<'a>(value: &'a Value, kind: &Type) -> Result<Box<dyn Fn(usize) -> Option<Moment> + 'a>> {
    Ok(match kind {
        Type::Timestamp(0..=3) | Type::TimestampLtz(0..=3) => {
            let values = numbers::<TimestampMillisecondType>(value)?;
            Box::new(move |row| values.read(row).map(Moment::from_millis))
        }
        Type::Timestamp(4..=6) | Type::TimestampLtz(4..=6) => {
            let values = numbers::<TimestampMicrosecondType>(value)?;
            Box::new(move |row| values.read(row).map(Moment::from_micros))
        }
        Type::Timestamp(_) | Type::TimestampLtz(_) => {
            let values = numbers::<Decimal128Type>(value)?;
            Box::new(move |row| values.read(row).map(Moment::from_nanos))
        }
        Type::Date => {
            let values = numbers::<Date32Type>(value)?;
            Box::new(move |row| values.read(row).map(|x| Moment::from_millis(i64::from(x) * DAY_MS)))
        }
        Type::Time(_) => {
            let values = numbers::<Time32MillisecondType>(value)?;
            Box::new(move |row| values.read(row).map(|x| Moment::from_millis(i64::from(x))))
        }
        _ => return Err(Error::internal(format!("moments of type {kind}"))),
    })
}

fn time_unit(precision: u8) -> i32 {
    10i32.pow(3 - u32::from(precision.min(3)))
}

fn zone_for(needed: bool, context: &EvalContext) -> Result<Option<TimeZone>> {
    if needed { zone::zone(&context.time_zone).map(Some) } else { Ok(None) }
}

fn to_instant(zone: &TimeZone, local: Moment) -> Moment {
    Moment { millis: zone::from_local(zone, local.millis), ..local }
}

fn to_local(zone: &TimeZone, instant: Moment) -> Moment {
    Moment { millis: zone::to_local(zone, instant.millis), ..instant }
}

fn to_text(value: &Value, from: &Type, context: &EvalContext) -> Result<ArrayRef> {
    let count = value.len();
    macro_rules! column {
        ($arrow:ty, $print:expr) => {{
            let values = numbers::<$arrow>(value)?;
            build_texts(count, |row| Ok(values.read(row).map($print)))
        }};
    }
    fn plain<T: itoa::Integer>(number: T) -> String {
        itoa::Buffer::new().format(number).to_owned()
    }
    match from {
        Type::Boolean => {
            let values = flags(value)?;
            build_texts(count, |row| Ok(values.read(row).map(|flag| if flag { "TRUE" } else { "FALSE" })))
        }
        Type::TinyInt => column!(Int8Type, plain),
        Type::SmallInt => column!(Int16Type, plain),
        Type::Int => column!(Int32Type, plain),
        Type::BigInt => column!(Int64Type, plain),
        Type::Float => column!(Float32Type, print::float),
        Type::Double => column!(Float64Type, print::double),
        Type::Decimal(_, scale) => column!(Decimal128Type, |x| print::decimal(x, *scale)),
        Type::Date => column!(Date32Type, |x| print::date(x.into())),
        Type::Time(precision) => column!(Time32MillisecondType, |x| print::time(x.into(), *precision)),
        Type::IntervalYearMonth => column!(Int32Type, print::interval_year_month),
        Type::IntervalDaySecond => column!(Int64Type, print::interval_day_second),
        Type::Timestamp(precision) | Type::TimestampLtz(precision) => {
            let zone = zone_for(matches!(from, Type::TimestampLtz(_)), context)?;
            let values = moments(value, from)?;
            build_texts(count, |row| {
                Ok(values(row).map(|moment| {
                    let moment = zone.as_ref().map_or(moment, |zone| to_local(zone, moment));
                    print::timestamp(moment, *precision)
                }))
            })
        }
        Type::Binary(_) | Type::VarBinary(_) => nested_cast::bytes_to_text(value),
        _ => nested_cast::to_text(value, from, context),
    }
}

fn number_to_boolean(value: &Value, from: &Type) -> Result<ArrayRef> {
    let count = value.len();
    macro_rules! column {
        ($arrow:ty, $zero:expr) => {{
            let values = numbers::<$arrow>(value)?;
            build_flags(count, |row| Ok(values.read(row).map(|x| x != $zero)))
        }};
    }
    match from {
        Type::TinyInt => column!(Int8Type, 0),
        Type::SmallInt => column!(Int16Type, 0),
        Type::Int => column!(Int32Type, 0),
        Type::BigInt => column!(Int64Type, 0),
        Type::Float => column!(Float32Type, 0.0),
        Type::Double => column!(Float64Type, 0.0),
        Type::Decimal(..) => column!(Decimal128Type, 0),
        _ => Err(Error::internal(format!("a cast of {from} to BOOLEAN"))),
    }
}

fn boolean_to_number(value: &Value, to: &Type) -> Result<ArrayRef> {
    let values = flags(value)?;
    let ints = build::<Int32Type>(value.len(), |row| Ok(values.read(row).map(i32::from)))?;
    number(&value.with(ints), &Type::Int, to)
}

/// Between numbers: integers wrap, floating point saturates at INT or BIGINT first, DECIMAL overflow is NULL.
fn number(value: &Value, from: &Type, to: &Type) -> Result<ArrayRef> {
    let count = value.len();
    match (from, to) {
        (a, Type::BigInt) if a.is_integer() => Ok(arrow_cast(value.array(), &to.to_arrow())?),
        (a, Type::Float | Type::Double) if a.is_integer() => Ok(arrow_cast(value.array(), &to.to_arrow())?),
        (Type::Float, Type::Double) => Ok(arrow_cast(value.array(), &to.to_arrow())?),
        (Type::Double, Type::Float) => {
            let values = numbers::<Float64Type>(value)?;
            build::<Float32Type>(count, |row| Ok(values.read(row).map(|x| x as f32)))
        }
        (Type::Decimal(_, s1), Type::Decimal(precision, scale)) => {
            let values = numbers::<Decimal128Type>(value)?;
            let array = build::<Decimal128Type>(count, |row| {
                Ok(values.read(row).and_then(|x| decimal::rescale(x, *s1, *scale, *precision)))
            })?;
            retype(array, to)
        }
        (Type::Decimal(_, scale), Type::Float | Type::Double) => {
            let values = numbers::<Decimal128Type>(value)?;
            let double = |row| values.read(row).map(|x| decimal::to_double(x, *scale));
            if *to == Type::Double {
                build::<Float64Type>(count, |row| Ok(double(row)))
            } else {
                build::<Float32Type>(count, |row| Ok(double(row).map(|x| x as f32)))
            }
        }
        (Type::Float | Type::Double, Type::Decimal(precision, scale)) => {
            let doubles = value.with(number_or_same(value, from, &Type::Double)?);
            let values = numbers::<Float64Type>(&doubles)?;
            let array = build::<Decimal128Type>(count, |row| match values.read(row) {
                None => Ok(None),
                Some(x) if x.is_finite() => Ok(decimal::from_double(x, *precision, *scale)),
                Some(x) => Err(bad_text(&print::double(x), to, Bad::Form)),
            })?;
            retype(array, to)
        }
        (_, Type::Decimal(precision, scale)) => {
            let longs = value.with(number_or_same(value, from, &Type::BigInt)?);
            let values = numbers::<Int64Type>(&longs)?;
            let array = build::<Decimal128Type>(count, |row| {
                Ok(values.read(row).and_then(|x| decimal::rescale(x.into(), 0, *scale, *precision)))
            })?;
            retype(array, to)
        }
        _ => {
            let longs = to_longs(value, from, to)?;
            let values = numbers::<Int64Type>(&longs)?;
            match to {
                Type::TinyInt => build::<Int8Type>(count, |row| Ok(values.read(row).map(|x| x as i8))),
                Type::SmallInt => build::<Int16Type>(count, |row| Ok(values.read(row).map(|x| x as i16))),
                Type::Int => build::<Int32Type>(count, |row| Ok(values.read(row).map(|x| x as i32))),
                Type::BigInt => Ok(longs.array().clone()),
                _ => Err(Error::internal(format!("a cast of {from} to {to}"))),
            }
        }
    }
}

fn number_or_same(value: &Value, from: &Type, to: &Type) -> Result<ArrayRef> {
    if from == to { Ok(value.array().clone()) } else { number(value, from, to) }
}

/// A number as BIGINT on its way to a narrower integer.
fn to_longs(value: &Value, from: &Type, to: &Type) -> Result<Value> {
    let count = value.len();
    let array = match from {
        Type::Float | Type::Double => {
            let doubles = value.with(number_or_same(value, from, &Type::Double)?);
            let values = numbers::<Float64Type>(&doubles)?;
            // Java goes to INT first for all but BIGINT, saturating there.
            let narrow = *to != Type::BigInt;
            build::<Int64Type>(count, |row| {
                Ok(values.read(row).map(|x| if narrow { i64::from(x as i32) } else { x as i64 }))
            })?
        }
        Type::Decimal(_, scale) => {
            let values = numbers::<Decimal128Type>(value)?;
            build::<Int64Type>(count, |row| Ok(values.read(row).map(|x| decimal::truncate(x, *scale) as i64)))?
        }
        _ => number_or_same(value, from, &Type::BigInt)?,
    };
    Ok(value.with(array))
}

/// Between dates, times, timestamps and intervals.
fn time(value: &Value, from: &Type, to: &Type, context: &EvalContext) -> Result<ArrayRef> {
    let count = value.len();
    match (from, to) {
        (Type::Time(_), Type::Time(precision)) => {
            let unit = time_unit(*precision);
            let values = numbers::<Time32MillisecondType>(value)?;
            return build::<Time32MillisecondType>(count, |row| Ok(values.read(row).map(|x| x - x % unit)));
        }
        (Type::IntervalDaySecond, Type::IntervalDaySecond) | (Type::IntervalYearMonth, Type::IntervalYearMonth) => {
            return Ok(value.array().clone());
        }
        _ => {}
    }
    let (zoned_from, zoned_to) = (matches!(from, Type::TimestampLtz(_)), matches!(to, Type::TimestampLtz(_)));
    let zone = zone_for(zoned_from != zoned_to, context)?;
    let values = moments(value, from)?;
    let moved = |row| {
        values(row).map(|moment| match &zone {
            None => moment,
            Some(zone) if zoned_to => to_instant(zone, moment),
            Some(zone) => to_local(zone, moment),
        })
    };
    match to {
        // Before 1970 the division cuts toward zero, as in Flink.
        Type::Date => build::<Date32Type>(count, |row| {
            Ok(moved(row).map(|moment| {
                let days = if zoned_from { moment.millis.div_euclid(DAY_MS) } else { moment.millis / DAY_MS };
                days as i32
            }))
        }),
        Type::Time(precision) => {
            let unit = i64::from(time_unit(*precision));
            build::<Time32MillisecondType>(count, |row| {
                Ok(moved(row).map(|moment| {
                    let in_day = if zoned_from { moment.millis.rem_euclid(DAY_MS) } else { moment.millis % DAY_MS };
                    (in_day - in_day % unit) as i32
                }))
            })
        }
        Type::Timestamp(_) | Type::TimestampLtz(_) => stored(count, to, |row| Ok(moved(row))),
        _ => Err(Error::internal(format!("a cast of {from} to {to}"))),
    }
}
