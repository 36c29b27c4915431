//! Rows as JSON, for people to look at.

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Fields};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use serde_json::Value;

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

/// One row of a batch: numbers and truth values plain, nested values as they nest, all else as text.
fn row_as_json(batch: &RecordBatch, row: usize) -> Result<String> {
    let schema = batch.schema();
    let value = object(schema.fields(), batch.columns(), row)?;
    Ok(record_text(value.to_string().as_bytes()))
}

fn object(fields: &Fields, columns: &[ArrayRef], row: usize) -> Result<Value> {
    let fields = fields.iter().zip(columns);
    let entries = fields.map(|(field, column)| Ok((field.name().clone(), json(column, row)?)));
    Ok(Value::Object(entries.collect::<Result<_>>()?))
}

fn json(column: &dyn Array, row: usize) -> Result<Value> {
    if column.is_null(row) {
        return Ok(Value::Null);
    }
    if let Some(rows) = column.as_struct_opt() {
        return object(rows.fields(), rows.columns(), row);
    }
    if let Some(lists) = column.as_list_opt::<i32>() {
        let items = lists.value(row);
        return Ok(Value::Array((0..items.len()).map(|item| json(&items, item)).collect::<Result<_>>()?));
    }
    if let Some(maps) = column.as_map_opt() {
        let entries = maps.value(row);
        let (keys, values) = (entries.column(0), entries.column(1));
        let entries = (0..entries.len()).map(|entry| Ok((shown(keys, entry)?, json(values, entry)?)));
        return Ok(Value::Object(entries.collect::<Result<_>>()?));
    }
    let text = shown(column, row)?;
    let plain = column.data_type().is_numeric() || *column.data_type() == DataType::Boolean;
    let number = plain.then(|| serde_json::from_str(&text).ok()).flatten();
    Ok(number.unwrap_or(Value::String(text)))
}

fn shown(column: &dyn Array, row: usize) -> Result<String> {
    let options = FormatOptions::default().with_display_error(true);
    Ok(ArrayFormatter::try_new(column, &options)?.value(row).to_string())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::builder::{Int32Builder, MapBuilder, StringBuilder};
    use arrow::array::{Int32Array, ListArray, StringArray, StructArray};
    use arrow::datatypes::{Field, Int32Type};

    use super::*;

    #[test]
    fn nested_values_stay_nested() {
        let numbers = ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1), None]), None]);
        let mut maps = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
        maps.keys().append_value("é");
        maps.values().append_value(5);
        maps.append(true).and_then(|()| maps.append(true)).expect("even");
        let inner: Vec<(Arc<Field>, ArrayRef)> = vec![
            (Arc::new(Field::new("x", DataType::Int32, true)), Arc::new(Int32Array::from(vec![Some(7), None]))),
            (Arc::new(Field::new("y", DataType::Utf8, true)), Arc::new(StringArray::from(vec!["a\"", "b"]))),
        ];
        let columns: [(&str, ArrayRef); 3] =
            [("l", Arc::new(numbers)), ("m", Arc::new(maps.finish())), ("r", Arc::new(StructArray::from(inner)))];
        let batch = RecordBatch::try_from_iter(columns).expect("a batch");
        let mut texts = Vec::new();
        rows_as_json(&batch, 10, &[10, 11], &mut texts).expect("shown");
        assert_eq!(texts[0], r#"{"l":[1,null],"m":{"é":5},"r":{"x":7,"y":"a\""}}"#);
        assert_eq!(texts[1], r#"{"l":null,"m":{},"r":{"x":null,"y":"b"}}"#);
    }
}
