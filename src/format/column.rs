//! Columns under construction: values are appended one by one and leave as Arrow arrays.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, Decimal128Array, PrimitiveArray, StringArray, TimestampMicrosecondArray,
    TimestampMillisecondArray,
};
use arrow::buffer::{BooleanBuffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{
    ArrowPrimitiveType, Date32Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    Time32MillisecondType,
};

use super::fast;
use super::nested::Nested;
use crate::error::{Error, Result};
use crate::types::Type;

/// The values of a column with what a decoder must know to make them.
#[derive(Debug)]
pub(crate) enum Values {
    Boolean(Vec<bool>),
    Int8(Vec<i8>),
    Int16(Vec<i16>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Float32(Vec<f32>),
    Float64(Vec<f64>),
    Decimal {
        values: Vec<i128>,
        precision: u8,
        scale: u8,
    },
    Text(Text),
    Date(Vec<i32>),
    /// Milliseconds of the day.
    Time {
        values: Vec<i32>,
        digits: u8,
    },
    Timestamp {
        values: Vec<i64>,
        per_second: i64,
        zoned: bool,
    },
    /// Nanoseconds since 1970: TIMESTAMP and TIMESTAMP_LTZ of 7 to 9 digits.
    WideTimestamp {
        values: Vec<i128>,
        zoned: bool,
    },
    Bytes(Text),
    Nested(Box<Nested>),
}

/// Strings, end to end.
#[derive(Debug)]
pub(crate) struct Text {
    pub bytes: Vec<u8>,
    /// Where each string ends, after a leading 0.
    offsets: Vec<i32>,
}

/// A column under construction.
#[derive(Debug)]
pub(crate) struct Column {
    pub kind: Type,
    pub values: Values,
    /// Rows that are NULL, ascending. Most columns have none.
    null_rows: Vec<usize>,
}

/// Strings of one batch may not pass this; Arrow counts their bytes in 31 bits.
pub(crate) const TEXT_BYTES_MAX: usize = 1 << 30;

impl Text {
    fn new() -> Self {
        Text { bytes: Vec::new(), offsets: vec![0] }
    }
    fn len(&self) -> usize {
        self.offsets.len() - 1
    }
    fn truncate(&mut self, rows: usize) {
        self.offsets.truncate(rows + 1);
        let end = self.offsets.last().map_or(0, |end| *end as usize);
        self.bytes.truncate(end);
    }
    /// Hands over offsets and bytes, and starts anew.
    fn take(&mut self, rows: usize) -> (OffsetBuffer<i32>, Vec<u8>) {
        let used = self.bytes.len();
        let bytes = std::mem::replace(&mut self.bytes, Vec::with_capacity(used + used / 8 + 16));
        (take_offsets(&mut self.offsets, rows), bytes)
    }
    /// The bytes of the string at `row`.
    pub fn get(&self, row: usize) -> &[u8] {
        let offset = |at: usize| self.offsets.get(at).map_or(0, |offset| *offset as usize);
        self.bytes.get(offset(row)..offset(row + 1)).unwrap_or_default()
    }
    /// Ends the string whose bytes were appended to `bytes`.
    #[inline]
    pub fn end_value(&mut self) {
        self.offsets.push(self.bytes.len() as i32);
    }
    #[inline]
    pub fn push(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
        self.end_value();
    }
    /// Appends `length` bytes of `source` that start at `at`.
    #[inline]
    pub fn push_range(&mut self, source: &[u8], at: usize, length: usize) {
        fast::append(&mut self.bytes, source, at, length);
        self.end_value();
    }
}

impl Column {
    /// `None` for types that no text format decodes, alone or within another.
    pub fn new(kind: &Type) -> Option<Self> {
        let values = match kind {
            Type::Boolean => Values::Boolean(Vec::new()),
            Type::TinyInt => Values::Int8(Vec::new()),
            Type::SmallInt => Values::Int16(Vec::new()),
            Type::Int => Values::Int32(Vec::new()),
            Type::BigInt => Values::Int64(Vec::new()),
            Type::Float => Values::Float32(Vec::new()),
            Type::Double => Values::Float64(Vec::new()),
            Type::Decimal(precision, scale) => {
                Values::Decimal { values: Vec::new(), precision: *precision, scale: *scale }
            }
            Type::Char(_) | Type::VarChar(_) => Values::Text(Text::new()),
            Type::Date => Values::Date(Vec::new()),
            Type::Time(digits) => Values::Time { values: Vec::new(), digits: *digits },
            Type::Timestamp(digits @ 0..=6) | Type::TimestampLtz(digits @ 0..=6) => Values::Timestamp {
                values: Vec::new(),
                per_second: if *digits <= 3 { 1_000 } else { 1_000_000 },
                zoned: matches!(kind, Type::TimestampLtz(_)),
            },
            Type::Timestamp(_) | Type::TimestampLtz(_) => {
                Values::WideTimestamp { values: Vec::new(), zoned: matches!(kind, Type::TimestampLtz(_)) }
            }
            Type::Binary(_) | Type::VarBinary(_) => Values::Bytes(Text::new()),
            _ => Values::Nested(Box::new(Nested::new(kind)?)),
        };
        Some(Column { kind: kind.clone(), values, null_rows: Vec::new() })
    }

    pub fn len(&self) -> usize {
        match &self.values {
            Values::Boolean(values) => values.len(),
            Values::Int8(values) => values.len(),
            Values::Int16(values) => values.len(),
            Values::Int32(values) | Values::Date(values) | Values::Time { values, .. } => values.len(),
            Values::Int64(values) | Values::Timestamp { values, .. } => values.len(),
            Values::Float32(values) => values.len(),
            Values::Float64(values) => values.len(),
            Values::Decimal { values, .. } | Values::WideTimestamp { values, .. } => values.len(),
            Values::Text(text) | Values::Bytes(text) => text.len(),
            Values::Nested(nested) => nested.len(),
        }
    }

    /// Takes back all rows from `rows` on: a record turned out to be broken or incomplete.
    pub fn truncate(&mut self, rows: usize) {
        match &mut self.values {
            Values::Boolean(values) => values.truncate(rows),
            Values::Int8(values) => values.truncate(rows),
            Values::Int16(values) => values.truncate(rows),
            Values::Int32(values) | Values::Date(values) | Values::Time { values, .. } => values.truncate(rows),
            Values::Int64(values) | Values::Timestamp { values, .. } => values.truncate(rows),
            Values::Float32(values) => values.truncate(rows),
            Values::Float64(values) => values.truncate(rows),
            Values::Decimal { values, .. } | Values::WideTimestamp { values, .. } => values.truncate(rows),
            Values::Text(text) | Values::Bytes(text) => text.truncate(rows),
            Values::Nested(nested) => nested.truncate(rows),
        }
        while self.null_rows.last().is_some_and(|row| *row >= rows) {
            self.null_rows.pop();
        }
    }

    #[cold]
    pub fn push_null(&mut self) {
        self.null_rows.push(self.len());
        match &mut self.values {
            Values::Boolean(values) => values.push(false),
            Values::Int8(values) => values.push(0),
            Values::Int16(values) => values.push(0),
            Values::Int32(values) | Values::Date(values) | Values::Time { values, .. } => values.push(0),
            Values::Int64(values) | Values::Timestamp { values, .. } => values.push(0),
            Values::Float32(values) => values.push(0.0),
            Values::Float64(values) => values.push(0.0),
            Values::Decimal { values, .. } | Values::WideTimestamp { values, .. } => values.push(0),
            Values::Text(text) | Values::Bytes(text) => text.end_value(),
            Values::Nested(nested) => nested.push_null(),
        }
    }

    /// How many bytes its strings have, to bound a batch.
    pub fn text_bytes(&self) -> usize {
        match &self.values {
            Values::Text(text) | Values::Bytes(text) => text.bytes.len(),
            Values::Nested(nested) => nested.text_bytes(),
            _ => 0,
        }
    }

    /// Hands over what was gathered and starts anew with room for `rows`.
    pub fn take(&mut self, rows: usize) -> Result<ArrayRef> {
        let length = self.len();
        let nulls = take_nulls(&mut self.null_rows, length);
        Ok(match &mut self.values {
            Values::Boolean(values) => {
                let bits = BooleanBuffer::collect_bool(values.len(), |i| values[i]);
                values.clear();
                Arc::new(BooleanArray::new(bits, nulls))
            }
            Values::Int8(values) => primitive::<Int8Type>(values, nulls, rows),
            Values::Int16(values) => primitive::<Int16Type>(values, nulls, rows),
            Values::Int32(values) => primitive::<Int32Type>(values, nulls, rows),
            Values::Int64(values) => primitive::<Int64Type>(values, nulls, rows),
            Values::Float32(values) => primitive::<Float32Type>(values, nulls, rows),
            Values::Float64(values) => primitive::<Float64Type>(values, nulls, rows),
            Values::Date(values) => primitive::<Date32Type>(values, nulls, rows),
            Values::Time { values, .. } => primitive::<Time32MillisecondType>(values, nulls, rows),
            Values::Decimal { values, precision, scale } => {
                let array = Decimal128Array::new(replace(values, rows), nulls);
                Arc::new(array.with_precision_and_scale(*precision, *scale as i8).map_err(inner)?)
            }
            Values::Text(text) => {
                let (offsets, bytes) = text.take(rows);
                Arc::new(StringArray::try_new(offsets, bytes.into(), nulls).map_err(inner)?)
            }
            Values::Bytes(text) => {
                let (offsets, bytes) = text.take(rows);
                Arc::new(BinaryArray::try_new(offsets, bytes.into(), nulls).map_err(inner)?)
            }
            Values::Nested(nested) => nested.take(nulls, rows)?,
            Values::Timestamp { values, per_second, zoned } => {
                let values = replace(values, rows);
                let zone = zoned.then(|| Arc::<str>::from("UTC"));
                match per_second {
                    1_000 => Arc::new(TimestampMillisecondArray::new(values, nulls).with_timezone_opt(zone)),
                    _ => Arc::new(TimestampMicrosecondArray::new(values, nulls).with_timezone_opt(zone)),
                }
            }
            Values::WideTimestamp { values, .. } => {
                let array = Decimal128Array::new(replace(values, rows), nulls);
                Arc::new(array.with_precision_and_scale(38, 9).map_err(inner)?)
            }
        })
    }
}

/// Hands over offsets, and starts anew.
pub(crate) fn take_offsets(offsets: &mut Vec<i32>, rows: usize) -> OffsetBuffer<i32> {
    let mut fresh = Vec::with_capacity(rows + 1);
    fresh.push(0);
    OffsetBuffer::new(ScalarBuffer::from(std::mem::replace(offsets, fresh)))
}

fn replace<T: arrow::datatypes::ArrowNativeType>(values: &mut Vec<T>, rows: usize) -> ScalarBuffer<T> {
    ScalarBuffer::from(std::mem::replace(values, Vec::with_capacity(rows)))
}

fn primitive<T: ArrowPrimitiveType>(values: &mut Vec<T::Native>, nulls: Option<NullBuffer>, rows: usize) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::new(replace(values, rows), nulls))
}

fn take_nulls(null_rows: &mut Vec<usize>, length: usize) -> Option<NullBuffer> {
    if null_rows.is_empty() {
        return None;
    }
    let mut valid = vec![true; length];
    for row in null_rows.drain(..) {
        valid[row] = false;
    }
    Some(NullBuffer::from(valid))
}

pub(crate) fn inner(error: arrow::error::ArrowError) -> Error {
    Error::internal(format!("cannot build a column: {error}"))
}
