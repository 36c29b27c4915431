//! Links that make several rows of one: sets of groups, rows of VALUES, elements of a collection.

use arrow::array::{Array, ArrayRef, AsArray, Int32Array, RecordBatch, UInt32Array};
use arrow::compute::{interleave, take};
use arrow::datatypes::SchemaRef;

use super::chain::{Flow, batch_of};
use crate::error::{Error, Result};
use crate::expr::{EvalContext, Expr};

/// Each row once for every list of expressions. The copies of a row stand together, so that rows keep their order.
pub fn expand(copies: &[Vec<Expr>], schema: &SchemaRef, flow: Flow, context: &EvalContext) -> Result<Flow> {
    let rows = flow.rows.num_rows();
    let from: UInt32Array = (0..rows as u32).flat_map(|row| std::iter::repeat_n(row, copies.len())).collect();
    let mut columns = Vec::with_capacity(schema.fields().len());
    for column in 0..schema.fields().len() {
        columns.push(expanded(copies, column, &flow.rows, &from, context)?);
    }
    let batch = batch_of(schema, columns, from.len())?;
    flow.picked(batch, &from)
}

fn expanded(
    copies: &[Vec<Expr>],
    column: usize,
    rows: &RecordBatch,
    from: &UInt32Array,
    context: &EvalContext,
) -> Result<ArrayRef> {
    let mut different = copies.iter().map(|copy| &copy[column]);
    if let Some(first) = different.next()
        && different.all(|other| other == first)
    {
        return Ok(take(&first.eval(rows, context)?, from, None)?);
    }
    let values = copies.iter().map(|copy| copy[column].eval(rows, context)).collect::<Result<Vec<_>>>()?;
    let values: Vec<&dyn Array> = values.iter().map(AsRef::as_ref).collect();
    let places: Vec<(usize, usize)> =
        (0..rows.num_rows()).flat_map(|row| (0..copies.len()).map(move |copy| (copy, row))).collect();
    Ok(interleave(&values, &places)?)
}

/// What of an UNNEST does not depend on the batch.
#[derive(Debug, Clone)]
pub struct Elements {
    /// The column with the ARRAY or MAP.
    pub collection: usize,
    /// The columns of the input that stay.
    pub keep: Vec<usize>,
    /// A row whose collection is NULL or empty stays, without an element.
    pub outer: bool,
    /// The number of the element follows.
    pub ordinality: bool,
}

/// Each row once for every element of its collection.
pub fn unnest(elements: &Elements, schema: &SchemaRef, flow: Flow) -> Result<Flow> {
    let collection = flow.rows.column(elements.collection);
    let (offsets, values) = match collection.data_type() {
        arrow::datatypes::DataType::List(_) => {
            let list = collection.as_list::<i32>();
            (list.offsets(), vec![list.values().clone()])
        }
        arrow::datatypes::DataType::Map(..) => {
            let map = collection.as_map();
            (map.offsets(), vec![map.keys().clone(), map.values().clone()])
        }
        other => return Err(Error::internal(format!("{other} has no elements"))),
    };
    let (mut from, mut at, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
    for (row, bounds) in offsets.windows(2).enumerate() {
        let places = if collection.is_null(row) { bounds[0]..bounds[0] } else { bounds[0]..bounds[1] };
        if places.is_empty() && elements.outer {
            from.push(row as u32);
            at.push(None);
            numbers.push(None);
        }
        for (number, place) in (1..).zip(places) {
            from.push(row as u32);
            at.push(Some(place as u32));
            numbers.push(Some(number));
        }
    }
    let (from, at) = (UInt32Array::from(from), UInt32Array::from(at));
    let kept = elements.keep.iter().map(|&column| take(flow.rows.column(column), &from, None));
    let mut columns = kept.collect::<std::result::Result<Vec<_>, _>>()?;
    for values in &values {
        columns.push(take(values, &at, None)?);
    }
    if elements.ordinality {
        columns.push(std::sync::Arc::new(Int32Array::from(numbers)));
    }
    let batch = batch_of(schema, columns, from.len())?;
    flow.picked(batch, &from)
}
