//! From the types in a Parquet file to those that the table declares.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, Decimal128Array, ListArray, MapArray, StructArray, TimestampMicrosecondArray,
    TimestampMillisecondArray, TimestampNanosecondArray, new_null_array,
};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{
    DataType, FieldRef, TimeUnit, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType,
};
use arrow::error::ArrowError;

use crate::types::{Field, MAX_LENGTH, Type};

/// The type that a table must declare for a file's type, as Flink calls it; `None` where no type fits.
pub(crate) fn flink_type(found: &DataType) -> Option<Type> {
    Some(match found {
        DataType::Dictionary(_, values) => return flink_type(values),
        DataType::Boolean => Type::Boolean,
        DataType::Int8 => Type::TinyInt,
        DataType::Int16 | DataType::UInt8 => Type::SmallInt,
        DataType::Int32 | DataType::UInt16 => Type::Int,
        DataType::Int64 | DataType::UInt32 => Type::BigInt,
        DataType::UInt64 => Type::Decimal(20, 0),
        DataType::Float16 | DataType::Float32 => Type::Float,
        DataType::Float64 => Type::Double,
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale)
            if *precision <= 38 =>
        {
            Type::Decimal(*precision, u8::try_from(*scale).ok()?)
        }
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Type::string(),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => Type::VarBinary(MAX_LENGTH),
        DataType::FixedSizeBinary(length) => Type::Binary(u32::try_from(*length).ok()?),
        DataType::Date32 => Type::Date,
        DataType::Time32(_) | DataType::Time64(_) => Type::Time(3),
        DataType::Timestamp(unit, zone) => {
            let digits = match unit {
                TimeUnit::Second | TimeUnit::Millisecond => 3,
                TimeUnit::Microsecond => 6,
                TimeUnit::Nanosecond => 9,
            };
            if zone.is_some() { Type::TimestampLtz(digits) } else { Type::Timestamp(digits) }
        }
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            Type::Array(Box::new(flink_type(item.data_type())?.nullable()))
        }
        DataType::Map(entries, _) => {
            let DataType::Struct(pair) = entries.data_type() else { return None };
            let [key, value] = pair.as_ref() else { return None };
            let (key, value) = (flink_type(key.data_type())?, flink_type(value.data_type())?);
            Type::Map(Box::new(key.not_null()), Box::new(value.nullable()))
        }
        DataType::Struct(fields) if !fields.is_empty() => {
            let field = |field: &FieldRef| Some(Field::new(field.name(), flink_type(field.data_type())?.nullable()));
            Type::Row(fields.iter().map(field).collect::<Option<_>>()?)
        }
        _ => return None,
    })
}

/// Whether values of a file's type may be read as a declared one at all.
pub(crate) fn fits(from: &DataType, kind: &Type) -> bool {
    match (from, kind) {
        (DataType::Dictionary(_, values), _) => fits(values, kind),
        (DataType::Timestamp(..), _) => kind.is_timestamp(),
        (DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _), Type::Array(element)) => {
            fits(item.data_type(), &element.kind)
        }
        (DataType::Map(entries, _), kind) => match (entries.data_type(), kind.entries()) {
            (DataType::Struct(pair), Some((key, value))) if pair.len() == 2 => {
                fits(pair[0].data_type(), key) && fits(pair[1].data_type(), value)
            }
            _ => false,
        },
        // Fields are found by name; those that the file lacks are NULL, as whole columns are.
        (DataType::Struct(fields), Type::Row(row)) => row.iter().all(|own| match fields.find(&own.name) {
            Some((_, field)) => fits(field.data_type(), &own.data_type.kind),
            None => own.data_type.nullable,
        }),
        _ => !kind.is_timestamp() && converts(from, &kind.to_arrow()),
    }
}

fn converts(from: &DataType, to: &DataType) -> bool {
    use DataType::{
        Binary, BinaryView, Boolean, Date32, Decimal32, Decimal64, Decimal128, Decimal256, FixedSizeBinary, Float16,
        Float32, Float64, LargeBinary, LargeUtf8, Time32, Time64, Utf8, Utf8View,
    };
    match (from, to) {
        (Boolean, Boolean) | (Date32, Date32) => true,
        (Time32(_) | Time64(_), Time32(_)) => true,
        (Utf8 | LargeUtf8 | Utf8View | Binary | LargeBinary | BinaryView, Utf8) => true,
        (Utf8 | LargeUtf8 | Utf8View | Binary | LargeBinary | BinaryView | FixedSizeBinary(_), Binary) => true,
        (Float16 | Float32 | Float64, Float32 | Float64) => true,
        // A smaller scale would drop digits.
        (Decimal32(_, from) | Decimal64(_, from) | Decimal128(_, from) | Decimal256(_, from), Decimal128(_, to)) => {
            from <= to
        }
        (from, Decimal128(..)) if from.is_integer() => true,
        (from, to) => from.is_integer() && to.is_integer(),
    }
}

/// A column with the declared type. Values that do not fit are errors, never changed.
pub(crate) fn cast(array: &ArrayRef, kind: &Type) -> Result<ArrayRef, ArrowError> {
    let to = kind.to_arrow();
    if *array.data_type() == to {
        return Ok(array.clone());
    }
    match (array.data_type(), kind, &to) {
        (DataType::Dictionary(_, values), _, _) => cast(&cast_strictly(array, values)?, kind),
        (DataType::Timestamp(from, _), _, DataType::Timestamp(unit, zone)) => {
            timestamps(array, *from, *unit, zone.clone())
        }
        (DataType::Timestamp(from, _), _, DataType::Decimal128(..)) => wide_timestamps(array, *from),
        (DataType::LargeList(item) | DataType::FixedSizeList(item, _), Type::Array(_), _) => {
            cast(&cast_strictly(array, &DataType::List(item.clone()))?, kind)
        }
        (DataType::List(_), Type::Array(element), DataType::List(field)) => {
            let list = array.as_list::<i32>();
            let values = cast(list.values(), &element.kind)?;
            Ok(Arc::new(ListArray::try_new(field.clone(), list.offsets().clone(), values, list.nulls().cloned())?))
        }
        (DataType::Map(..), kind, DataType::Map(field, _)) => {
            let map = array.as_map();
            let (DataType::Struct(pair), Some((key, value))) = (field.data_type(), kind.entries()) else {
                return cast_strictly(array, &to);
            };
            let columns = vec![cast(map.keys(), key)?, cast(map.values(), value)?];
            let entries = StructArray::try_new(pair.clone(), columns, None)?;
            let nulls = map.nulls().cloned();
            Ok(Arc::new(MapArray::try_new(field.clone(), map.offsets().clone(), entries, nulls, false)?))
        }
        (DataType::Struct(_), Type::Row(row), DataType::Struct(fields)) => {
            let found = array.as_struct();
            let columns = row.iter().map(|own| match found.column_by_name(&own.name) {
                Some(column) => cast(column, &own.data_type.kind),
                None => Ok(new_null_array(&own.data_type.kind.to_arrow(), array.len())),
            });
            let columns = columns.collect::<Result<Vec<_>, _>>()?;
            Ok(Arc::new(StructArray::try_new(fields.clone(), columns, found.nulls().cloned())?))
        }
        _ => cast_strictly(array, &to),
    }
}

fn cast_strictly(array: &ArrayRef, to: &DataType) -> Result<ArrayRef, ArrowError> {
    cast_with_options(array, to, &CastOptions { safe: false, ..CastOptions::default() })
}

pub(super) fn per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}

fn counts(array: &ArrayRef, unit: TimeUnit) -> &[i64] {
    match unit {
        TimeUnit::Second => array.as_primitive::<TimestampSecondType>().values(),
        TimeUnit::Millisecond => array.as_primitive::<TimestampMillisecondType>().values(),
        TimeUnit::Microsecond => array.as_primitive::<TimestampMicrosecondType>().values(),
        TimeUnit::Nanosecond => array.as_primitive::<TimestampNanosecondType>().values(),
    }
}

/// Timestamps as TIMESTAMP(7) to TIMESTAMP(9) lie in memory.
fn wide_timestamps(array: &ArrayRef, from: TimeUnit) -> Result<ArrayRef, ArrowError> {
    let factor = i128::from(1_000_000_000 / per_second(from));
    let values = counts(array, from).iter().map(|value| i128::from(*value) * factor).collect();
    Ok(Arc::new(Decimal128Array::new(values, array.nulls().cloned()).with_precision_and_scale(38, 9)?))
}

/// Timestamps in another unit: finer digits are cut off towards the past, also before 1970.
pub(super) fn timestamps(
    array: &ArrayRef,
    from: TimeUnit,
    to: TimeUnit,
    zone: Option<Arc<str>>,
) -> Result<ArrayRef, ArrowError> {
    let values = counts(array, from);
    let (source, target) = (per_second(from), per_second(to));
    let nulls = array.nulls().cloned();
    let values: Vec<i64> = if source > target {
        let divisor = source / target;
        values.iter().map(|value| value.div_euclid(divisor)).collect()
    } else {
        let factor = target / source;
        let scaled = values.iter().enumerate().map(|(row, value)| match value.checked_mul(factor) {
            Some(value) => Ok(value),
            // What lies under a NULL does not count.
            None if nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) => Ok(0),
            None => Err(ArrowError::CastError(format!("the timestamp {value} is out of range"))),
        });
        scaled.collect::<Result<_, _>>()?
    };
    let values = values.into();
    Ok(match to {
        TimeUnit::Millisecond => Arc::new(TimestampMillisecondArray::new(values, nulls).with_timezone_opt(zone)),
        TimeUnit::Microsecond => Arc::new(TimestampMicrosecondArray::new(values, nulls).with_timezone_opt(zone)),
        TimeUnit::Nanosecond => Arc::new(TimestampNanosecondArray::new(values, nulls).with_timezone_opt(zone)),
        TimeUnit::Second => return Err(ArrowError::CastError("no column counts seconds".to_string())),
    })
}
