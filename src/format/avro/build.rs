//! Columns under construction, of any type, also nested ones.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryBuilder, BooleanBuilder, Date32Builder, Decimal128Builder, Float32Builder, Float64Builder,
    Int8Builder, Int16Builder, Int32Builder, Int64Builder, ListArray, MapArray, NullBufferBuilder, StringBuilder,
    StructArray, Time32MillisecondBuilder, TimestampMicrosecondArray, TimestampMillisecondArray,
};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, FieldRef, Fields, TimeUnit};

use super::wire::Decoded;
use crate::error::{Error, Result};
use crate::types::Type;

/// Bytes of one text column in a batch; Arrow counts them in 31 bits.
const TEXT_BYTES_MAX: usize = 1 << 30;

/// Values of one type, appended one by one.
pub(super) enum Builder {
    Boolean(BooleanBuilder),
    TinyInt(Int8Builder),
    SmallInt(Int16Builder),
    Int(Int32Builder),
    BigInt(Int64Builder),
    Float(Float32Builder),
    Double(Float64Builder),
    Decimal {
        values: Decimal128Builder,
        precision: u8,
        scale: u8,
    },
    Text(StringBuilder),
    Bytes(BinaryBuilder),
    Date(Date32Builder),
    Time(Time32MillisecondBuilder),
    Timestamp(Box<Timestamps>),
    /// TIMESTAMP(7) to TIMESTAMP(9): nanoseconds.
    Nanos(Decimal128Builder),
    List(Box<List>),
    Map(Box<Entries>),
    Row(Box<Row>),
}

/// Timestamps of up to 6 digits, in the unit of their type.
pub(super) struct Timestamps {
    values: Vec<i64>,
    nulls: NullBufferBuilder,
    data_type: DataType,
    pub per_second: i64,
}

pub(super) struct List {
    pub items: Builder,
    ends: Ends,
    field: FieldRef,
}

pub(super) struct Entries {
    pub keys: Builder,
    pub values: Builder,
    ends: Ends,
    field: FieldRef,
}

pub(super) struct Row {
    pub columns: Vec<Builder>,
    nulls: NullBufferBuilder,
    fields: Fields,
}

/// Where each list ends, and which are NULL.
struct Ends {
    offsets: Vec<i32>,
    nulls: NullBufferBuilder,
}

const CAPACITY: usize = 1_024;

impl Builder {
    pub fn new(kind: &Type) -> Result<Self> {
        let nulls = || NullBufferBuilder::new(CAPACITY);
        Ok(match (kind, kind.to_arrow()) {
            (Type::Boolean, _) => Builder::Boolean(BooleanBuilder::new()),
            (Type::TinyInt, _) => Builder::TinyInt(Int8Builder::new()),
            (Type::SmallInt, _) => Builder::SmallInt(Int16Builder::new()),
            (Type::Int, _) => Builder::Int(Int32Builder::new()),
            (Type::BigInt, _) => Builder::BigInt(Int64Builder::new()),
            (Type::Float, _) => Builder::Float(Float32Builder::new()),
            (Type::Double, _) => Builder::Double(Float64Builder::new()),
            (Type::Decimal(precision, scale), data_type) => Builder::Decimal {
                values: Decimal128Builder::new().with_data_type(data_type),
                precision: *precision,
                scale: *scale,
            },
            (Type::Char(_) | Type::VarChar(_), _) => Builder::Text(StringBuilder::new()),
            (Type::Binary(_) | Type::VarBinary(_), _) => Builder::Bytes(BinaryBuilder::new()),
            (Type::Date, _) => Builder::Date(Date32Builder::new()),
            (Type::Time(_), _) => Builder::Time(Time32MillisecondBuilder::new()),
            (kind, data_type) if kind.is_wide_timestamp() => {
                Builder::Nanos(Decimal128Builder::new().with_data_type(data_type))
            }
            (Type::Timestamp(_) | Type::TimestampLtz(_), data_type) => {
                let millis = matches!(data_type, DataType::Timestamp(TimeUnit::Millisecond, _));
                let per_second = if millis { 1_000 } else { 1_000_000 };
                Builder::Timestamp(Box::new(Timestamps { values: Vec::new(), nulls: nulls(), data_type, per_second }))
            }
            (Type::Array(element), DataType::List(field)) => {
                Builder::List(Box::new(List { items: Builder::new(&element.kind)?, ends: Ends::new(), field }))
            }
            (Type::Map(..) | Type::Multiset(_), DataType::Map(field, _)) => {
                let (key, value) = kind.entries().unwrap_or((&Type::Null, &Type::Null));
                let (keys, values) = (Builder::new(key)?, Builder::new(value)?);
                Builder::Map(Box::new(Entries { keys, values, ends: Ends::new(), field }))
            }
            (Type::Row(row), DataType::Struct(fields)) => Builder::Row(Box::new(Row {
                columns: row.iter().map(|field| Builder::new(&field.data_type.kind)).collect::<Result<_>>()?,
                nulls: nulls(),
                fields,
            })),
            (kind, _) => return Err(Error::internal(format!("a column of type {kind} cannot be read"))),
        })
    }

    pub fn push_null(&mut self) {
        match self {
            Builder::Boolean(values) => values.append_null(),
            Builder::TinyInt(values) => values.append_null(),
            Builder::SmallInt(values) => values.append_null(),
            Builder::Int(values) => values.append_null(),
            Builder::BigInt(values) => values.append_null(),
            Builder::Float(values) => values.append_null(),
            Builder::Double(values) => values.append_null(),
            Builder::Decimal { values, .. } => values.append_null(),
            Builder::Text(values) => values.append_null(),
            Builder::Bytes(values) => values.append_null(),
            Builder::Date(values) => values.append_null(),
            Builder::Time(values) => values.append_null(),
            Builder::Timestamp(column) => {
                column.values.push(0);
                column.nulls.append_null();
            }
            Builder::Nanos(values) => values.append_null(),
            Builder::List(list) => list.ends.push_null(),
            Builder::Map(map) => map.ends.push_null(),
            Builder::Row(row) => {
                row.columns.iter_mut().for_each(Builder::push_null);
                row.nulls.append_null();
            }
        }
    }

    pub fn push_text(&mut self, bytes: &[u8]) -> Decoded<()> {
        match self {
            Builder::Text(values) => {
                let text = std::str::from_utf8(bytes).map_err(|_| "a string is not UTF-8".to_string())?;
                has_room(values.values_slice().len(), bytes.len())?;
                values.append_value(text);
            }
            Builder::Bytes(values) => {
                has_room(values.values_slice().len(), bytes.len())?;
                values.append_value(bytes);
            }
            _ => return Err(MISMATCH.to_string()),
        }
        Ok(())
    }

    /// The finished column; the builder is empty again.
    pub fn finish(&mut self) -> Result<ArrayRef> {
        Ok(match self {
            Builder::Boolean(values) => Arc::new(values.finish()),
            Builder::TinyInt(values) => Arc::new(values.finish()),
            Builder::SmallInt(values) => Arc::new(values.finish()),
            Builder::Int(values) => Arc::new(values.finish()),
            Builder::BigInt(values) => Arc::new(values.finish()),
            Builder::Float(values) => Arc::new(values.finish()),
            Builder::Double(values) => Arc::new(values.finish()),
            Builder::Decimal { values, .. } => Arc::new(values.finish()),
            Builder::Text(values) => Arc::new(values.finish()),
            Builder::Bytes(values) => Arc::new(values.finish()),
            Builder::Date(values) => Arc::new(values.finish()),
            Builder::Time(values) => Arc::new(values.finish()),
            Builder::Timestamp(column) => column.finish(),
            Builder::Nanos(values) => Arc::new(values.finish()),
            Builder::List(list) => {
                let (offsets, nulls) = list.ends.finish();
                Arc::new(ListArray::try_new(list.field.clone(), offsets, list.items.finish()?, nulls)?)
            }
            Builder::Map(map) => {
                let (offsets, nulls) = map.ends.finish();
                let DataType::Struct(fields) = map.field.data_type() else {
                    return Err(Error::internal("the entries of a map are no pairs"));
                };
                let columns = vec![map.keys.finish()?, map.values.finish()?];
                let entries = StructArray::try_new(fields.clone(), columns, None)?;
                Arc::new(MapArray::try_new(map.field.clone(), offsets, entries, nulls, false)?)
            }
            Builder::Row(row) => {
                let columns = row.columns.iter_mut().map(Builder::finish).collect::<Result<Vec<_>>>()?;
                let nulls = row.nulls.finish();
                if row.fields.is_empty() {
                    return Err(Error::internal("a ROW without fields"));
                }
                Arc::new(StructArray::try_new(row.fields.clone(), columns, nulls)?)
            }
        })
    }
}

/// The plan and the builder of a column are made from one type.
pub(super) const MISMATCH: &str = "the column is of another type";

fn has_room(length: usize, more: usize) -> Decoded<()> {
    if length + more > TEXT_BYTES_MAX {
        Err("the texts of one batch are longer than 1 GiB".to_string())
    } else {
        Ok(())
    }
}

impl Timestamps {
    pub fn push(&mut self, value: i64) {
        self.values.push(value);
        self.nulls.append_non_null();
    }

    fn finish(&mut self) -> ArrayRef {
        let (values, nulls) = (std::mem::take(&mut self.values), self.nulls.finish());
        match &self.data_type {
            DataType::Timestamp(TimeUnit::Millisecond, zone) => {
                Arc::new(TimestampMillisecondArray::new(values.into(), nulls).with_timezone_opt(zone.clone()))
            }
            data_type => {
                let zone = if let DataType::Timestamp(_, zone) = data_type { zone.clone() } else { None };
                Arc::new(TimestampMicrosecondArray::new(values.into(), nulls).with_timezone_opt(zone))
            }
        }
    }
}

impl List {
    /// Ends the list whose items were appended.
    pub fn end(&mut self, items: usize) -> Decoded<()> {
        self.ends.push(items)
    }
}

impl Entries {
    pub fn end(&mut self, entries: usize) -> Decoded<()> {
        self.ends.push(entries)
    }
}

impl Row {
    pub fn end(&mut self) {
        self.nulls.append_non_null();
    }
}

impl Ends {
    fn new() -> Self {
        Ends { offsets: vec![0], nulls: NullBufferBuilder::new(CAPACITY) }
    }

    fn last(&self) -> i32 {
        self.offsets.last().copied().unwrap_or(0)
    }

    fn push(&mut self, items: usize) -> Decoded<()> {
        let end = i32::try_from(items).ok().and_then(|items| self.last().checked_add(items));
        self.offsets.push(end.ok_or("the arrays of one batch have more than 2 billion items")?);
        self.nulls.append_non_null();
        Ok(())
    }

    fn push_null(&mut self) {
        self.offsets.push(self.last());
        self.nulls.append_null();
    }

    fn finish(&mut self) -> (OffsetBuffer<i32>, Option<arrow::buffer::NullBuffer>) {
        let offsets = std::mem::replace(&mut self.offsets, vec![0]);
        (OffsetBuffer::new(offsets.into()), self.nulls.finish())
    }
}
