//! ORDER BY: rows to bytes that compare as Flink compares the rows.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, RecordBatch};
use arrow::compute::SortOptions;
use arrow::datatypes::{DataType as ArrowType, Float32Type, Float64Type};
use arrow::row::{RowConverter, Rows, SortField};

use crate::error::{Error, Result};
use crate::plan::SortKey;
use crate::types::Schema;

/// Encodes some columns of a batch in the order that is asked for.
pub(super) struct OrderEncoder {
    columns: Vec<usize>,
    converter: RowConverter,
}

impl OrderEncoder {
    /// # Errors
    /// Internal for a column that the input does not have, or one of a type without an order.
    pub(super) fn new(keys: &[SortKey], input: &Schema) -> Result<Self> {
        let mut fields = Vec::with_capacity(keys.len());
        for key in keys {
            let field = input.fields.get(key.column);
            let field = field.ok_or_else(|| Error::internal(format!("an order by column {}", key.column)))?;
            let options = SortOptions { descending: key.descending, nulls_first: key.nulls_first };
            fields.push(SortField::new_with_options(field.data_type.kind.to_arrow(), options));
        }
        Ok(OrderEncoder { columns: keys.iter().map(|key| key.column).collect(), converter: RowConverter::new(fields)? })
    }

    /// One key a row.
    pub(super) fn encode(&self, rows: &RecordBatch) -> Result<Rows> {
        let columns: Vec<ArrayRef> = self.columns.iter().map(|&column| plain(rows.column(column))).collect();
        Ok(self.converter.convert_columns(&columns)?)
    }
}

/// The numbers with one zero and one NaN, as -0.0 and 0.0 are equal to an order.
fn plain(array: &ArrayRef) -> ArrayRef {
    match array.data_type() {
        ArrowType::Float32 => {
            let numbers = array.as_primitive::<Float32Type>();
            Arc::new(numbers.unary::<_, Float32Type>(|x| if x.is_nan() { f32::NAN } else { x + 0.0 }))
        }
        ArrowType::Float64 => {
            let numbers = array.as_primitive::<Float64Type>();
            Arc::new(numbers.unary::<_, Float64Type>(|x| if x.is_nan() { f64::NAN } else { x + 0.0 }))
        }
        _ => array.clone(),
    }
}
