//! How columns lie in a file that is written: as in memory, but for timestamps, which Parquet counts in 64 bits.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, ListArray, MapArray, StructArray, TimestampMicrosecondArray, TimestampMillisecondArray,
    TimestampNanosecondArray,
};
use arrow::datatypes::{
    DataType as ArrowType, Decimal128Type, Field as ArrowField, FieldRef, Schema as ArrowSchema, SchemaRef, TimeUnit,
};

use super::cast;
use crate::error::{Error, Result};
use crate::format::print;
use crate::types::{Field, Schema, Type};

/// The file's columns. `unit`: of all timestamps; `None`: as their digits need.
pub(super) fn file_schema(schema: &Schema, unit: Option<TimeUnit>) -> SchemaRef {
    let field = |field: &Field| ArrowField::new(&field.name, file_type(&field.data_type.kind, unit), true);
    Arc::new(ArrowSchema::new(schema.fields.iter().map(field).collect::<Vec<_>>()))
}

fn file_type(kind: &Type, unit: Option<TimeUnit>) -> ArrowType {
    let inner = |field: &FieldRef, kind: &Type| Arc::new(field.as_ref().clone().with_data_type(file_type(kind, unit)));
    match (kind, kind.to_arrow()) {
        (Type::Timestamp(digits) | Type::TimestampLtz(digits), _) => {
            let needed = match digits {
                0..=3 => TimeUnit::Millisecond,
                4..=6 => TimeUnit::Microsecond,
                _ => TimeUnit::Nanosecond,
            };
            let zone = matches!(kind, Type::TimestampLtz(_)).then(|| "UTC".into());
            ArrowType::Timestamp(unit.unwrap_or(needed), zone)
        }
        (Type::Array(element), ArrowType::List(field)) => ArrowType::List(inner(&field, &element.kind)),
        (kind, ArrowType::Map(entries, sorted)) => match (entries.data_type(), kind.entries()) {
            (ArrowType::Struct(pair), Some((key, value))) if pair.len() == 2 => {
                let pair = [inner(&pair[0], key), inner(&pair[1], value)];
                let pair = ArrowType::Struct(pair.into_iter().collect());
                ArrowType::Map(Arc::new(entries.as_ref().clone().with_data_type(pair)), sorted)
            }
            _ => ArrowType::Map(entries, sorted),
        },
        (Type::Row(row), ArrowType::Struct(fields)) => {
            ArrowType::Struct(fields.iter().zip(row).map(|(field, own)| inner(field, &own.data_type.kind)).collect())
        }
        (_, data_type) => data_type,
    }
}

/// A column as the file has it.
pub(super) fn to_file(name: &str, array: &ArrayRef, to: &ArrowType) -> Result<ArrayRef> {
    if array.data_type() == to {
        return Ok(array.clone());
    }
    let nulls = array.nulls().cloned();
    Ok(match (array.data_type(), to) {
        (ArrowType::Timestamp(from, _), ArrowType::Timestamp(unit, zone)) => {
            cast::timestamps(array, *from, *unit, zone.clone())
                .map_err(|_| Error::data(format!("column `{name}`: {BEYOND}")).help(REMEDY))?
        }
        (ArrowType::Decimal128(..), ArrowType::Timestamp(unit, zone)) => wide(name, array, *unit, zone.clone())?,
        (ArrowType::List(_), ArrowType::List(field)) => {
            let list = array.as_list::<i32>();
            let values = to_file(name, list.values(), field.data_type())?;
            Arc::new(ListArray::try_new(field.clone(), list.offsets().clone(), values, nulls)?)
        }
        (ArrowType::Struct(_), ArrowType::Struct(fields)) => {
            let columns = array.as_struct().columns().iter().zip(fields);
            let columns = columns.map(|(column, field)| to_file(name, column, field.data_type()));
            let columns = columns.collect::<Result<Vec<_>>>()?;
            Arc::new(StructArray::try_new(fields.clone(), columns, nulls)?)
        }
        (ArrowType::Map(..), ArrowType::Map(field, sorted)) => {
            let map = array.as_map();
            let entries: ArrayRef = Arc::new(map.entries().clone());
            let entries = to_file(name, &entries, field.data_type())?.as_struct().clone();
            Arc::new(MapArray::try_new(field.clone(), map.offsets().clone(), entries, nulls, *sorted)?)
        }
        (from, to) => return Err(Error::internal(format!("column `{name}` is {from}, and {to} in its file"))),
    })
}

const BEYOND: &str = "a timestamp does not fit into Parquet, whose nanoseconds reach from 1677-09-21 to 2262-04-11";
const REMEDY: &str = "declare the sink's column with 6 fractional digits or fewer, which reach all years";

/// TIMESTAMP(7) to TIMESTAMP(9), of which a coarser unit cuts digits off towards the past.
fn wide(name: &str, array: &ArrayRef, unit: TimeUnit, zone: Option<Arc<str>>) -> Result<ArrayRef> {
    let nanos = array.as_primitive::<Decimal128Type>();
    let divisor = i128::from(1_000_000_000 / cast::per_second(unit));
    let mut values = Vec::with_capacity(nanos.len());
    for (row, value) in nanos.values().iter().enumerate() {
        values.push(match i64::try_from(value.div_euclid(divisor)) {
            Ok(value) => value,
            // What lies under a NULL does not count.
            Err(_) if nanos.is_null(row) => 0,
            Err(_) => {
                let mut text = Vec::new();
                print::wide_timestamp(&mut text, *value, b' ', &mut print::DayText::default());
                let text = String::from_utf8_lossy(&text);
                let beyond = BEYOND.trim_start_matches("a timestamp");
                return Err(Error::data(format!("column `{name}`: {text}{beyond}")).help(REMEDY));
            }
        });
    }
    let (values, nulls) = (values.into(), nanos.nulls().cloned());
    Ok(match unit {
        TimeUnit::Nanosecond => Arc::new(TimestampNanosecondArray::new(values, nulls).with_timezone_opt(zone)),
        TimeUnit::Microsecond => Arc::new(TimestampMicrosecondArray::new(values, nulls).with_timezone_opt(zone)),
        _ => Arc::new(TimestampMillisecondArray::new(values, nulls).with_timezone_opt(zone)),
    })
}
