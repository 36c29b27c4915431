//! Values of columns into Avro's binary encoding.

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, BooleanArray, ListArray, MapArray, PrimitiveArray, StringArray,
};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{
    DataType as ArrowType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time32MillisecondType, TimeUnit, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType,
};

use super::wire::{put_bytes, put_long};
use crate::error::{Error, Result};
use crate::types::{DataType, Type};

/// A column of one batch.
pub(super) struct Column<'a> {
    name: &'a str,
    nullable: bool,
    nulls: Option<&'a NullBuffer>,
    values: Values<'a>,
}

enum Values<'a> {
    Boolean(&'a BooleanArray),
    Int8(&'a PrimitiveArray<Int8Type>),
    Int16(&'a PrimitiveArray<Int16Type>),
    Int32(&'a [i32]),
    Int64(&'a [i64]),
    Float(&'a PrimitiveArray<Float32Type>),
    Double(&'a PrimitiveArray<Float64Type>),
    Decimal(&'a [i128]),
    /// Nanoseconds since 1970.
    Nanos(&'a [i128]),
    Text(&'a StringArray),
    Bytes(&'a BinaryArray),
    Array(&'a ListArray, Box<Column<'a>>),
    Map(&'a MapArray, &'a StringArray, Box<Column<'a>>),
    Row(Vec<Column<'a>>),
}

/// How often an element of a MULTISET is there.
static COUNT: DataType = DataType { kind: Type::Int, nullable: false };

impl<'a> Column<'a> {
    pub fn new(name: &'a str, data_type: &'a DataType, array: &'a ArrayRef) -> Result<Self> {
        let inner = |data_type: &'a DataType, array: &'a ArrayRef| Column::new(name, data_type, array).map(Box::new);
        let values = match (&data_type.kind, array.data_type()) {
            (Type::Boolean, _) => Values::Boolean(array.as_boolean()),
            (_, ArrowType::Int8) => Values::Int8(array.as_primitive()),
            (_, ArrowType::Int16) => Values::Int16(array.as_primitive()),
            (_, ArrowType::Int32) => Values::Int32(array.as_primitive::<Int32Type>().values()),
            (_, ArrowType::Date32) => Values::Int32(array.as_primitive::<Date32Type>().values()),
            (_, ArrowType::Time32(_)) => Values::Int32(array.as_primitive::<Time32MillisecondType>().values()),
            (_, ArrowType::Int64) => Values::Int64(array.as_primitive::<Int64Type>().values()),
            (_, ArrowType::Timestamp(unit, _)) => Values::Int64(match unit {
                TimeUnit::Nanosecond => array.as_primitive::<TimestampNanosecondType>().values(),
                TimeUnit::Microsecond => array.as_primitive::<TimestampMicrosecondType>().values(),
                _ => array.as_primitive::<TimestampMillisecondType>().values(),
            }),
            (_, ArrowType::Float32) => Values::Float(array.as_primitive()),
            (_, ArrowType::Float64) => Values::Double(array.as_primitive()),
            (Type::Timestamp(_) | Type::TimestampLtz(_), ArrowType::Decimal128(..)) => {
                Values::Nanos(array.as_primitive::<Decimal128Type>().values())
            }
            (_, ArrowType::Decimal128(..)) => Values::Decimal(array.as_primitive::<Decimal128Type>().values()),
            (_, ArrowType::Utf8) => Values::Text(array.as_string()),
            (_, ArrowType::Binary) => Values::Bytes(array.as_binary()),
            (Type::Array(element), ArrowType::List(_)) => {
                let list = array.as_list();
                Values::Array(list, inner(element, list.values())?)
            }
            (Type::Map(..) | Type::Multiset(_), ArrowType::Map(..)) => {
                let map = array.as_map();
                let Some(keys) = map.keys().as_string_opt::<i32>() else { return Err(unfit(name, data_type)) };
                let value = if let Type::Map(_, value) = &data_type.kind { value } else { &COUNT };
                Values::Map(map, keys, inner(value, map.values())?)
            }
            (Type::Row(fields), ArrowType::Struct(_)) => {
                let columns = fields.iter().zip(array.as_struct().columns());
                let columns = columns.map(|(field, array)| Column::new(&field.name, &field.data_type, array));
                Values::Row(columns.collect::<Result<_>>()?)
            }
            _ => return Err(unfit(name, data_type)),
        };
        Ok(Column { name, nullable: data_type.nullable, nulls: array.nulls(), values })
    }

    pub fn encode(&self, row: usize, out: &mut Vec<u8>) -> Result<()> {
        let null = self.nulls.is_some_and(|nulls| nulls.is_null(row));
        match (self.nullable, null) {
            // The branches of the union are null and the type.
            (true, true) => {
                put_long(out, 0);
                return Ok(());
            }
            (true, false) => put_long(out, 1),
            (false, true) => {
                return Err(Error::data(format!("column `{}` is NOT NULL, but a row holds NULL", self.name))
                    .help("declare the column of the table that is written without NOT NULL"));
            }
            (false, false) => {}
        }
        match &self.values {
            Values::Boolean(values) => out.push(u8::from(values.value(row))),
            Values::Int8(values) => put_long(out, i64::from(values.value(row))),
            Values::Int16(values) => put_long(out, i64::from(values.value(row))),
            Values::Int32(values) => put_long(out, i64::from(values[row])),
            Values::Int64(values) => put_long(out, values[row]),
            Values::Float(values) => out.extend_from_slice(&values.value(row).to_le_bytes()),
            Values::Double(values) => out.extend_from_slice(&values.value(row).to_le_bytes()),
            Values::Decimal(values) => put_bytes(out, shortest(&values[row].to_be_bytes())),
            Values::Nanos(values) => {
                let nanos = i64::try_from(values[row]).map_err(|_| self.out_of_range())?;
                put_long(out, nanos);
            }
            Values::Text(values) => put_bytes(out, values.value(row).as_bytes()),
            Values::Bytes(values) => put_bytes(out, values.value(row)),
            Values::Array(list, items) => {
                let offsets = list.value_offsets();
                run(offsets[row] as usize, offsets[row + 1] as usize, out, |item, out| items.encode(item, out))?;
            }
            Values::Map(map, keys, values) => {
                let offsets = map.value_offsets();
                run(offsets[row] as usize, offsets[row + 1] as usize, out, |entry, out| {
                    put_bytes(out, keys.value(entry).as_bytes());
                    values.encode(entry, out)
                })?;
            }
            Values::Row(columns) => columns.iter().try_for_each(|column| column.encode(row, out))?,
        }
        Ok(())
    }

    fn out_of_range(&self) -> Error {
        Error::data(format!(
            "column `{}`: a timestamp lies outside of the years 1677 to 2262, which nanoseconds in 64 bits can count",
            self.name
        ))
        .help("declare the column of the table that is written as TIMESTAMP(6)")
    }
}

/// Items behind their number; a zero ends them.
fn run(
    start: usize,
    end: usize,
    out: &mut Vec<u8>,
    mut item: impl FnMut(usize, &mut Vec<u8>) -> Result<()>,
) -> Result<()> {
    if end > start {
        put_long(out, (end - start) as i64);
        for index in start..end {
            item(index, out)?;
        }
    }
    put_long(out, 0);
    Ok(())
}

/// Two's complement without the bytes that only repeat the sign, as Java writes it.
fn shortest(bytes: &[u8; 16]) -> &[u8] {
    let sign = if bytes[0] & 0x80 != 0 { 0xFF } else { 0 };
    let spare = bytes.windows(2).take_while(|pair| pair[0] == sign && (pair[0] ^ pair[1]) & 0x80 == 0).count();
    &bytes[spare..]
}

fn unfit(name: &str, data_type: &DataType) -> Error {
    Error::internal(format!("column `{name}` of type {data_type} cannot be written as Avro"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_as_short_as_javas() {
        let cases: [(i128, &[u8]); 6] =
            [(0, &[0]), (127, &[127]), (128, &[0, 128]), (-1, &[255]), (-128, &[128]), (-129, &[255, 127])];
        for (value, expected) in cases {
            assert_eq!(shortest(&value.to_be_bytes()), expected, "{value}");
        }
    }
}
