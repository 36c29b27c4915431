//! INT96 timestamps. They count nanoseconds of a day, so they reach all years, but the parquet crate gives them in 64
//! bits: in the declared unit, which is exact, or in nanoseconds, which wrap around outside of the years 1677 to 2262.
//! For TIMESTAMP(7) to TIMESTAMP(9) they are read twice, and the microseconds tell how often the nanoseconds did.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Decimal128Array, ListArray, MapArray, StructArray};
use arrow::datatypes::{
    DataType, Field, FieldRef, Fields, Schema, TimeUnit, TimestampMicrosecondType, TimestampNanosecondType,
};
use arrow::error::ArrowError;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::basic::Type as Physical;
use parquet::errors::ParquetError;
use parquet::schema::types::SchemaDescriptor;

use crate::types::{Field as Declared, Type};

/// Metadata with a unit for each INT96 column that is read.
pub(super) struct Units {
    pub metadata: ArrowReaderMetadata,
    /// Roots with columns of TIMESTAMP(7) to TIMESTAMP(9).
    pub wide: Vec<usize>,
}

/// Asks for the declared unit of each INT96 column that is read, also inside of nested ones; of TIMESTAMP(7) to
/// TIMESTAMP(9) for the unit `wide`.
pub(super) fn with_declared_units(
    metadata: &ArrowReaderMetadata,
    declared: &[Declared],
    roots: &[Option<usize>],
    wide: TimeUnit,
) -> Result<Units, ParquetError> {
    let columns = metadata.parquet_schema();
    if !(0..columns.num_columns()).any(|leaf| columns.column(leaf).physical_type() == Physical::INT96) {
        return Ok(Units { metadata: metadata.clone(), wide: Vec::new() });
    }
    let mut leaves = Leaves { columns, next: 0, wide, wide_found: false };
    let mut wide = Vec::new();
    let fields = metadata.schema().fields().iter().enumerate().map(|(root, field)| {
        let place = roots.iter().position(|other| *other == Some(root));
        let field = leaves.field(field, place.map(|place| &declared[place].data_type.kind));
        if std::mem::take(&mut leaves.wide_found) {
            wide.push(root);
        }
        field
    });
    let schema = Schema::new(fields.collect::<Fields>());
    let options = ArrowReaderOptions::new().with_schema(Arc::new(schema));
    Ok(Units { metadata: ArrowReaderMetadata::try_new(metadata.metadata().clone(), options)?, wide })
}

/// A column that was read in nanoseconds and in microseconds, with its timestamps as TIMESTAMP(7) to TIMESTAMP(9) lie
/// in memory.
pub(super) fn exact(nanos: &ArrayRef, micros: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let nulls = nanos.nulls().cloned();
    Ok(match (nanos.data_type(), micros.data_type()) {
        (DataType::Timestamp(TimeUnit::Nanosecond, _), DataType::Timestamp(TimeUnit::Microsecond, _)) => {
            let nanos = nanos.as_primitive::<TimestampNanosecondType>().values();
            let micros = micros.as_primitive::<TimestampMicrosecondType>().values();
            let values = nanos.iter().zip(micros).map(|(nanos, micros)| {
                // Less than a microsecond, whatever has wrapped.
                let rest = nanos.wrapping_sub(micros.wrapping_mul(1_000));
                i128::from(*micros) * 1_000 + i128::from(rest)
            });
            Arc::new(Decimal128Array::new(values.collect(), nulls).with_precision_and_scale(38, 9)?)
        }
        (DataType::Struct(fields), DataType::Struct(_)) => {
            let columns = nanos.as_struct().columns().iter().zip(micros.as_struct().columns());
            let columns = columns.map(|(nanos, micros)| exact(nanos, micros)).collect::<Result<Vec<_>, _>>()?;
            let fields = fields.iter().zip(&columns).map(|(field, column)| typed(field, column)).collect();
            Arc::new(StructArray::try_new(fields, columns, nulls)?)
        }
        (DataType::List(field), DataType::List(_)) => {
            let list = nanos.as_list::<i32>();
            let values = exact(list.values(), micros.as_list::<i32>().values())?;
            Arc::new(ListArray::try_new(typed(field, &values), list.offsets().clone(), values, nulls)?)
        }
        (DataType::Map(field, sorted), DataType::Map(..)) => {
            let map = nanos.as_map();
            let entries = [map, micros.as_map()].map(|map| Arc::new(map.entries().clone()) as ArrayRef);
            let entries = exact(&entries[0], &entries[1])?;
            let field = typed(field, &entries);
            Arc::new(MapArray::try_new(field, map.offsets().clone(), entries.as_struct().clone(), nulls, *sorted)?)
        }
        _ => nanos.clone(),
    })
}

fn typed(field: &FieldRef, column: &ArrayRef) -> FieldRef {
    Arc::new(field.as_ref().clone().with_data_type(column.data_type().clone()))
}

/// The columns of the file in order, taken one by one as the types are walked through.
struct Leaves<'a> {
    columns: &'a SchemaDescriptor,
    next: usize,
    wide: TimeUnit,
    wide_found: bool,
}

impl Leaves<'_> {
    fn field(&mut self, field: &FieldRef, declared: Option<&Type>) -> FieldRef {
        let data_type = self.data_type(field, declared);
        Arc::new(field.as_ref().clone().with_data_type(data_type))
    }

    fn data_type(&mut self, field: &Field, declared: Option<&Type>) -> DataType {
        match field.data_type() {
            DataType::Struct(fields) => {
                let row = if let Some(Type::Row(row)) = declared { row.as_slice() } else { &[] };
                let own = |name: &str| row.iter().find(|own| own.name == name).map(|own| &own.data_type.kind);
                DataType::Struct(fields.iter().map(|field| self.field(field, own(field.name()))).collect())
            }
            DataType::List(item) => {
                let element = if let Some(Type::Array(element)) = declared { Some(&element.kind) } else { None };
                DataType::List(self.field(item, element))
            }
            DataType::Map(entries, sorted) => {
                let pair = match declared.and_then(Type::entries) {
                    Some((key, value)) => [Some(key), Some(value)],
                    None => [None, None],
                };
                let DataType::Struct(fields) = entries.data_type() else { return field.data_type().clone() };
                let fields = fields.iter().zip(pair).map(|(field, kind)| self.field(field, kind)).collect();
                let entries = entries.as_ref().clone().with_data_type(DataType::Struct(fields));
                DataType::Map(Arc::new(entries), *sorted)
            }
            other => {
                let leaf = self.next;
                self.next += 1;
                let physical = (leaf < self.columns.num_columns()).then(|| self.columns.column(leaf).physical_type());
                match declared.map(Type::to_arrow) {
                    Some(DataType::Timestamp(unit, _)) if physical == Some(Physical::INT96) => {
                        DataType::Timestamp(unit, None)
                    }
                    Some(DataType::Decimal128(..)) if physical == Some(Physical::INT96) => {
                        self.wide_found = true;
                        DataType::Timestamp(self.wide, None)
                    }
                    _ => other.clone(),
                }
            }
        }
    }
}
