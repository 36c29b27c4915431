//! The unit in which INT96 timestamps are read. They count nanoseconds of a day, so they reach all years; nanoseconds
//! in 64 bits end in 2262, and only TIMESTAMP(7) and finer ask for them.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema, TimeUnit};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::basic::Type as Physical;
use parquet::errors::ParquetError;
use parquet::schema::types::SchemaDescriptor;

use crate::types::{Field as Declared, Type};

/// The metadata with the declared unit for each INT96 column that is read, also inside of nested ones.
pub(super) fn with_declared_units(
    metadata: ArrowReaderMetadata,
    declared: &[Declared],
    roots: &[Option<usize>],
) -> Result<ArrowReaderMetadata, ParquetError> {
    let columns = metadata.parquet_schema();
    if !(0..columns.num_columns()).any(|leaf| columns.column(leaf).physical_type() == Physical::INT96) {
        return Ok(metadata);
    }
    let mut leaves = Leaves { columns, next: 0 };
    let fields = metadata.schema().fields().iter().enumerate().map(|(root, field)| {
        let place = roots.iter().position(|other| *other == Some(root));
        leaves.field(field, place.map(|place| &declared[place].data_type.kind))
    });
    let schema = Schema::new(fields.collect::<Fields>());
    let options = ArrowReaderOptions::new().with_schema(Arc::new(schema));
    ArrowReaderMetadata::try_new(metadata.metadata().clone(), options)
}

/// The columns of the file in order, taken one by one as the types are walked through.
struct Leaves<'a> {
    columns: &'a SchemaDescriptor,
    next: usize,
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
                let pair = match declared {
                    Some(Type::Map(key, value)) => [Some(&key.kind), Some(&value.kind)],
                    _ => [None, None],
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
                        DataType::Timestamp(TimeUnit::Nanosecond, None)
                    }
                    _ => other.clone(),
                }
            }
        }
    }
}
