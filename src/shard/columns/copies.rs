//! Links that make several rows of one: sets of groups, rows of VALUES, elements of a collection.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Int32Array, RecordBatch, UInt32Array};
use arrow::compute::{interleave, take};
use arrow::datatypes::{DataType as ArrowType, SchemaRef};

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
    /// A row without elements that count stays, without an element.
    pub outer: bool,
    /// The number of the element follows.
    pub ordinality: bool,
    /// Which elements count, over the columns that come out.
    pub condition: Option<Expr>,
}

/// Each row once for every element of its collection; adds to `left_out` the rows that are not among those.
pub fn unnest(
    elements: &Elements,
    schema: &SchemaRef,
    flow: Flow,
    context: &EvalContext,
    left_out: &mut u64,
) -> Result<Flow> {
    let collection = flow.rows.column(elements.collection);
    let (offsets, values) = match collection.data_type() {
        ArrowType::List(_) => {
            let list = collection.as_list::<i32>();
            (list.offsets(), vec![list.values().clone()])
        }
        ArrowType::Map(..) => {
            let map = collection.as_map();
            (map.offsets(), vec![map.keys().clone(), map.values().clone()])
        }
        other => return Err(Error::internal(format!("{other} has no elements"))),
    };
    let mut copies = Copies::of(collection, offsets);
    if let Some(condition) = &elements.condition {
        let keep = condition.eval_filter(&copies.batch(elements, &values, schema, &flow.rows)?, context)?;
        copies.keep(&keep);
    }
    let rows_before = flow.rows.num_rows();
    if elements.outer {
        copies = copies.with_rows_left_out(rows_before);
    }
    *left_out += (rows_before - copies.rows.chunk_by(|a, b| a == b).count()) as u64;
    let batch = copies.batch(elements, &values, schema, &flow.rows)?;
    flow.picked(batch, &UInt32Array::from(copies.rows))
}

/// For each copy its row, the place of its element among all of the batch, and the element's number in its collection.
#[derive(Default)]
struct Copies {
    rows: Vec<u32>,
    places: Vec<Option<u32>>,
    numbers: Vec<Option<i32>>,
}

impl Copies {
    fn of(collection: &ArrayRef, offsets: &[i32]) -> Self {
        let mut copies = Copies::default();
        for (row, bounds) in offsets.windows(2).enumerate().filter(|(row, _)| collection.is_valid(*row)) {
            for (number, place) in (1..).zip(bounds[0]..bounds[1]) {
                copies.push(row as u32, Some(place as u32), Some(number));
            }
        }
        copies
    }

    fn push(&mut self, row: u32, place: Option<u32>, number: Option<i32>) {
        self.rows.push(row);
        self.places.push(place);
        self.numbers.push(number);
    }

    fn keep(&mut self, keep: &BooleanArray) {
        let mut kept = Copies::default();
        for at in keep.values().set_indices() {
            kept.push(self.rows[at], self.places[at], self.numbers[at]);
        }
        *self = kept;
    }

    /// With the rows that have no copy, once each, in their places.
    fn with_rows_left_out(self, rows: usize) -> Self {
        let mut all = Copies::default();
        let mut at = 0;
        for row in 0..rows as u32 {
            if self.rows.get(at) != Some(&row) {
                all.push(row, None, None);
            }
            while self.rows.get(at) == Some(&row) {
                all.push(row, self.places[at], self.numbers[at]);
                at += 1;
            }
        }
        all
    }

    fn batch(
        &self,
        elements: &Elements,
        values: &[ArrayRef],
        schema: &SchemaRef,
        rows: &RecordBatch,
    ) -> Result<RecordBatch> {
        let from = UInt32Array::from(self.rows.clone());
        let places = UInt32Array::from(self.places.clone());
        let mut columns = Vec::with_capacity(schema.fields().len());
        for &column in &elements.keep {
            columns.push(take(rows.column(column), &from, None)?);
        }
        for values in values {
            columns.push(take(values, &places, None)?);
        }
        if elements.ordinality {
            columns.push(Arc::new(Int32Array::from(self.numbers.clone())));
        }
        batch_of(schema, columns, from.len())
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{Int32Builder, Int64Array, ListBuilder, StringArray};
    use arrow::datatypes::{Field, Schema};

    use super::*;
    use crate::expr::{Scalar, resolve};
    use crate::types::Type;

    fn flow() -> Flow {
        let mut lists = ListBuilder::new(Int32Builder::new()).with_field(Field::new("element", ArrowType::Int32, true));
        lists.append_value([Some(1), None, Some(3)]);
        lists.append_null();
        lists.append_value([]);
        lists.append_value([Some(4)]);
        let columns: Vec<ArrayRef> =
            vec![Arc::new(StringArray::from(vec!["a", "b", "c", "d"])), Arc::new(lists.finish())];
        let rows = RecordBatch::try_from_iter(["k", "xs"].into_iter().zip(columns)).expect("a batch");
        let before = Some(Int64Array::from(vec![10, 20, 30, 40]));
        Flow { rows, before, passed: None, second: None, times: None, origins: None }
    }

    fn schema(kinds: &[ArrowType]) -> SchemaRef {
        let fields = kinds.iter().enumerate().map(|(i, kind)| Field::new(format!("c{i}"), kind.clone(), true));
        Arc::new(Schema::new(fields.collect::<Vec<_>>()))
    }

    fn context() -> EvalContext {
        EvalContext { time_zone: "UTC".to_string(), now_ms: 0 }
    }

    /// Key, element, number, and the watermark before.
    type Found = (String, Option<i32>, Option<i32>, i64);

    /// The copies, and how many rows are left out.
    fn unnested(outer: bool, condition: Option<Expr>) -> (Vec<Found>, u64) {
        let elements = Elements { collection: 1, keep: vec![0], outer, ordinality: true, condition };
        let schema = schema(&[ArrowType::Utf8, ArrowType::Int32, ArrowType::Int32]);
        let mut left_out = 0;
        let flow = unnest(&elements, &schema, flow(), &context(), &mut left_out).expect("copies");
        let keys = flow.rows.column(0).as_string::<i32>();
        let numbers = |column: usize| flow.rows.column(column).as_primitive::<arrow::datatypes::Int32Type>();
        let value = |column: usize, row| numbers(column).is_valid(row).then(|| numbers(column).value(row));
        let before = flow.before.as_ref().expect("kept");
        let rows = 0..flow.rows.num_rows();
        let copies = rows.map(|row| (keys.value(row).to_string(), value(1, row), value(2, row), before.value(row)));
        (copies.collect(), left_out)
    }

    #[test]
    fn elements_come_in_order_with_the_watermark_of_their_row() {
        let copy = |key: &str, value, number, before| (key.to_string(), value, number, before);
        let inner = [
            copy("a", Some(1), Some(1), 10),
            copy("a", None, Some(2), 10),
            copy("a", Some(3), Some(3), 10),
            copy("d", Some(4), Some(1), 40),
        ];
        assert_eq!(unnested(false, None), (inner.to_vec(), 2));
        let more_than_3 = resolve::binary(
            ">",
            Expr::column(1, Type::Int.nullable()),
            Expr::literal(Scalar::Int(3), Type::Int.not_null()),
        );
        let outer = [
            copy("a", None, None, 10),
            copy("b", None, None, 20),
            copy("c", None, None, 30),
            copy("d", Some(4), Some(1), 40),
        ];
        assert_eq!(unnested(true, Some(more_than_3.expect("a condition"))), (outer.to_vec(), 0));
    }

    #[test]
    fn the_copies_of_a_row_stand_together() {
        let key = Expr::column(0, Type::string().nullable());
        let null = Expr::literal(Scalar::Null, Type::string().nullable());
        let set = |number: i64| Expr::literal(Scalar::Int(number), Type::Int.not_null());
        let copies = vec![vec![key.clone(), key.clone(), set(0)], vec![null, key, set(1)]];
        let schema = schema(&[ArrowType::Utf8, ArrowType::Utf8, ArrowType::Int32]);
        let flow = expand(&copies, &schema, flow(), &context()).expect("copies");
        let keys = flow.rows.column(0).as_string::<i32>();
        assert_eq!(keys.iter().take(4).collect::<Vec<_>>(), [Some("a"), None, Some("b"), None]);
        let kept = flow.rows.column(1).as_string::<i32>();
        assert_eq!(kept.iter().take(4).collect::<Vec<_>>(), [Some("a"), Some("a"), Some("b"), Some("b")]);
        assert_eq!(flow.before.expect("kept").values().to_vec(), [10, 10, 20, 20, 30, 30, 40, 40]);
    }
}
