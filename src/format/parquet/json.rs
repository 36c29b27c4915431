//! A row as JSON, for people to look at.

use arrow::array::{Array, RecordBatch};
use arrow::datatypes::DataType;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use serde_json::{Map, Value};

use crate::error::Result;
use crate::format::record_text;

/// One row of a batch, its columns as they are in the file: numbers and truth values plain, all else as text.
pub(super) fn row(batch: &RecordBatch, row: usize) -> Result<String> {
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
