//! Rows as JSON, for people to look at.

use arrow::array::{Array, RecordBatch};
use arrow::datatypes::DataType;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use serde_json::{Map, Value};

use super::text::record_text;
use crate::error::Result;

/// Appends those of the rows numbered `rows` (ascending) that are in the batch; `texts` has those before it. `first`:
/// the number of the batch's first row.
///
/// # Errors
/// Internal, for a type that cannot be shown.
pub fn rows_as_json(batch: &RecordBatch, first: u64, rows: &[u64], texts: &mut Vec<String>) -> Result<()> {
    let end = first + batch.num_rows() as u64;
    for row in rows.iter().skip(texts.len()).take_while(|row| **row < end) {
        texts.push(row_as_json(batch, (row - first) as usize)?);
    }
    Ok(())
}

/// One row of a batch: numbers and truth values plain, all else as text.
fn row_as_json(batch: &RecordBatch, row: usize) -> Result<String> {
    let options = FormatOptions::default().with_display_error(true);
    let mut object = Map::new();
    for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
        let value = if column.is_null(row) {
            Value::Null
        } else {
            let text = ArrayFormatter::try_new(column, &options)?.value(row).to_string();
            let plain = column.data_type().is_numeric() || *column.data_type() == DataType::Boolean;
            let number = plain.then(|| serde_json::from_str(&text).ok()).flatten();
            number.unwrap_or(Value::String(text))
        };
        object.insert(field.name().clone(), value);
    }
    Ok(record_text(Value::Object(object).to_string().as_bytes()))
}
