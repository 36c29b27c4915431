//! Expressions as text against what Flink 2.3 answered.

mod cases;
mod nested;
mod recorded;
mod rules;
mod text;
mod twin;

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, RecordBatch, StringArray};
use arrow::datatypes::{DataType as ArrowType, Field as ArrowField, Schema as ArrowSchema};

use super::resolve::cast;
use super::{EvalContext, Expr};
use crate::error::Result;
use crate::types::{Schema, Type};

fn context(zone: &str) -> EvalContext {
    EvalContext { time_zone: zone.into(), now_ms: 1_700_000_000_123 }
}

/// A batch whose columns are cast from texts, `None` being NULL.
fn batch(schema: &Schema, rows: &[Vec<Option<String>>]) -> Result<RecordBatch> {
    let mut columns: Vec<ArrayRef> = Vec::new();
    for (index, field) in schema.fields.iter().enumerate() {
        let texts: StringArray = rows.iter().map(|row| row[index].clone()).collect();
        let one = one_column(Arc::new(texts));
        let read = cast(Expr::column(0, Type::string().nullable()), field.data_type.clone(), false)?;
        columns.push(read.eval(&one, &context("UTC"))?);
    }
    Ok(RecordBatch::try_new(schema.to_arrow(), columns)?)
}

fn one_column(array: ArrayRef) -> RecordBatch {
    let field = ArrowField::new("c", array.data_type().clone(), true);
    RecordBatch::try_new(Arc::new(ArrowSchema::new(vec![field])), vec![array]).expect("one column")
}

/// The values of an expression as CAST(… AS STRING) shows them.
fn shown(expr: &Expr, batch: &RecordBatch, zone: &str) -> Result<Vec<Option<String>>> {
    let array = expr.eval(batch, &context(zone))?;
    assert_eq!(array.len(), batch.num_rows());
    assert_eq!(*array.data_type(), expr.data_type().kind.to_arrow(), "{expr:?}");
    if *array.data_type() == ArrowType::Null {
        return Ok(vec![None; array.len()]);
    }
    let text = cast(Expr::column(0, expr.data_type().kind.clone().nullable()), Type::string().nullable(), false)?;
    let array = text.eval(&one_column(array), &context(zone))?;
    let texts = array.as_any().downcast_ref::<StringArray>().expect("texts");
    Ok(texts.iter().map(|text| text.map(str::to_owned)).collect())
}
