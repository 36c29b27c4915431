//! The columns of a batch, unpacked once, so that rows can be written cell by cell.

use arrow::array::{Array, AsArray, BinaryArray, BooleanArray, RecordBatch, StringArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{
    DataType, Date32Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, Time32MillisecondType,
    TimeUnit, TimestampMicrosecondType, TimestampMillisecondType,
};

use crate::error::{Error, Result};
use crate::types::{Schema, Type};

/// One column's values.
pub(crate) enum Cells<'a> {
    Null,
    Boolean(&'a BooleanArray),
    Int8(&'a [i8]),
    Int16(&'a [i16]),
    Int32(&'a [i32]),
    Int64(&'a [i64]),
    Float32(&'a [f32]),
    Float64(&'a [f64]),
    Decimal {
        values: &'a [i128],
        scale: u8,
    },
    Text(&'a StringArray),
    Date(&'a [i32]),
    Time(&'a [i32]),
    Timestamp {
        values: &'a [i64],
        per_second: i64,
        zoned: bool,
    },
    /// Nanoseconds since 1970.
    WideTimestamp {
        values: &'a [i128],
        zoned: bool,
    },
    Bytes(&'a BinaryArray),
    Row(Vec<CellColumn<'a>>),
    /// Where each array ends, after the start of the first.
    Array {
        offsets: &'a [i32],
        elements: Box<CellColumn<'a>>,
    },
    Map {
        offsets: &'a [i32],
        keys: Box<CellColumn<'a>>,
        values: Box<CellColumn<'a>>,
    },
}

/// A column's values and which of them are NULL.
pub(crate) struct CellColumn<'a> {
    pub cells: Cells<'a>,
    nulls: Option<&'a NullBuffer>,
}

impl CellColumn<'_> {
    #[inline]
    pub fn is_null(&self, row: usize) -> bool {
        matches!(self.cells, Cells::Null) || self.nulls.is_some_and(|nulls| nulls.is_null(row))
    }
}

/// Unpacks the columns of a batch of the schema `schema`.
pub(crate) fn cells<'a>(batch: &'a RecordBatch, schema: &Schema) -> Result<Vec<CellColumn<'a>>> {
    batch.columns().iter().zip(&schema.fields).map(|(array, field)| column(array, &field.data_type.kind)).collect()
}

fn column<'a>(array: &'a dyn Array, kind: &Type) -> Result<CellColumn<'a>> {
    Ok(CellColumn { cells: unpack(array, kind)?, nulls: array.nulls() })
}

fn unpack<'a>(array: &'a dyn Array, kind: &Type) -> Result<Cells<'a>> {
    fn values<T: arrow::datatypes::ArrowPrimitiveType>(array: &dyn Array) -> &[T::Native] {
        array.as_primitive::<T>().values()
    }
    Ok(match array.data_type() {
        DataType::Null => Cells::Null,
        DataType::Boolean => Cells::Boolean(array.as_boolean()),
        DataType::Int8 => Cells::Int8(values::<Int8Type>(array)),
        DataType::Int16 => Cells::Int16(values::<Int16Type>(array)),
        DataType::Int32 => Cells::Int32(values::<Int32Type>(array)),
        DataType::Int64 => Cells::Int64(values::<Int64Type>(array)),
        DataType::Float32 => Cells::Float32(values::<Float32Type>(array)),
        DataType::Float64 => Cells::Float64(values::<Float64Type>(array)),
        DataType::Decimal128(..) if kind.is_wide_timestamp() => Cells::WideTimestamp {
            values: values::<arrow::datatypes::Decimal128Type>(array),
            zoned: matches!(kind, Type::TimestampLtz(_)),
        },
        DataType::Decimal128(_, scale) => Cells::Decimal {
            values: values::<arrow::datatypes::Decimal128Type>(array),
            scale: u8::try_from(*scale).unwrap_or(0),
        },
        DataType::Utf8 => Cells::Text(array.as_string()),
        DataType::Binary => Cells::Bytes(array.as_binary()),
        DataType::Struct(_) => {
            let Type::Row(fields) = kind else { return Err(unexpected(array.data_type())) };
            let columns = array.as_struct().columns().iter().zip(fields);
            Cells::Row(columns.map(|(child, field)| column(child, &field.data_type.kind)).collect::<Result<_>>()?)
        }
        DataType::List(_) => {
            let Type::Array(element) = kind else { return Err(unexpected(array.data_type())) };
            let list = array.as_list::<i32>();
            Cells::Array { offsets: list.value_offsets(), elements: Box::new(column(list.values(), &element.kind)?) }
        }
        DataType::Map(..) => {
            let Some((key, value)) = kind.entries() else { return Err(unexpected(array.data_type())) };
            let map = array.as_map();
            let keys = Box::new(column(map.keys(), key)?);
            Cells::Map { offsets: map.value_offsets(), keys, values: Box::new(column(map.values(), value)?) }
        }
        DataType::Date32 => Cells::Date(values::<Date32Type>(array)),
        DataType::Time32(TimeUnit::Millisecond) => Cells::Time(values::<Time32MillisecondType>(array)),
        DataType::Timestamp(unit, zone) => {
            let (values, per_second) = match unit {
                TimeUnit::Millisecond => (values::<TimestampMillisecondType>(array), 1_000),
                TimeUnit::Microsecond => (values::<TimestampMicrosecondType>(array), 1_000_000),
                TimeUnit::Second | TimeUnit::Nanosecond => return Err(unexpected(array.data_type())),
            };
            Cells::Timestamp { values, per_second, zoned: zone.is_some() }
        }
        other => return Err(unexpected(other)),
    })
}

/// Which elements of an array or entries of a map belong to a row.
pub(crate) fn range(offsets: &[i32], row: usize) -> std::ops::Range<usize> {
    let offset = |at: usize| offsets.get(at).map_or(0, |offset| *offset as usize);
    offset(row)..offset(row + 1)
}

fn unexpected(kind: &DataType) -> Error {
    Error::internal(format!("a column of type {kind} reached a text encoder"))
}
