//! Runs the links of a chain over a batch.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, AsArray, Int64Array, RecordBatch, RecordBatchOptions, TimestampMillisecondArray, UInt32Array,
};
use arrow::compute::{filter as filter_array, filter_record_batch, take};
use arrow::datatypes::{SchemaRef, TimestampMillisecondType};

use super::late::Origins;
use super::program::Link;
use super::{START, copies};
use crate::error::Result;
use crate::expr::{EvalContext, Expr};
use crate::plan::WindowSpec;
use crate::time::Watermark;
use crate::window::{assigner, null_time};

/// Rows under way.
#[derive(Debug, Clone)]
pub struct Flow {
    pub rows: RecordBatch,
    /// The watermark before each row, where a later stage may need it. NULL: it is lower than the row's time.
    pub before: Option<Int64Array>,
    /// The same of all rows of the batch, also of those that have been removed since.
    pub passed: Option<Int64Array>,
    /// What that would be without the one row that it comes from.
    pub second: Option<Int64Array>,
    /// The time of each result row, where their order counts and the batch has several.
    pub times: Option<Int64Array>,
    /// Where each row comes from, where late rows are kept.
    pub origins: Option<Origins>,
}

impl Flow {
    fn with(self, rows: RecordBatch, pick: impl Fn(&Int64Array) -> Result<Int64Array>) -> Result<Self> {
        let before = self.before.as_ref().map(&pick).transpose()?;
        let second = self.second.as_ref().map(&pick).transpose()?;
        let times = self.times.as_ref().map(&pick).transpose()?;
        let origins = self.origins.as_ref().map(|origins| origins.picked(&pick)).transpose()?;
        Ok(Flow { rows, before, passed: self.passed, second, times, origins })
    }

    /// `rows` in place of its own; which of those each comes from.
    pub fn picked(self, rows: RecordBatch, from: &UInt32Array) -> Result<Self> {
        self.with(rows, |column| Ok(take(column, from, None)?.as_primitive().clone()))
    }
}

/// Runs the chain; adds to `filtered` the rows that its filters removed, and those without elements.
pub fn run(chain: &[Link], mut flow: Flow, context: &EvalContext, filtered: &mut u64) -> Result<Flow> {
    let mut copies = false;
    for link in chain {
        if flow.rows.num_rows() == 0 {
            let (before, second, times, origins) = (None, None, None, None);
            return Ok(Flow { rows: empty_of(chain), before, second, times, origins, ..flow });
        }
        flow = match link {
            Link::Calc { filter, exprs, schema } => {
                // Rows may be copies, one a window, set of groups or element: the row itself was used.
                let counter = if copies { &mut 0 } else { &mut *filtered };
                let flow = apply_filter(filter.as_ref(), flow, context, counter)?;
                Flow { rows: project(exprs, schema, &flow.rows, context)?, ..flow }
            }
            Link::Assign { window, time, schema } => {
                copies = true;
                assign(window, *time, schema, flow)?
            }
            Link::Expand { copies: lists, schema } => {
                copies = true;
                copies::expand(lists, schema, flow, context)?
            }
            Link::Unnest { elements, schema } => {
                let counter = if copies { &mut 0 } else { &mut *filtered };
                copies = true;
                copies::unnest(elements, schema, flow, context, counter)?
            }
        };
    }
    Ok(flow)
}

fn empty_of(chain: &[Link]) -> RecordBatch {
    RecordBatch::new_empty(chain.last().expect("called within a link").schema().clone())
}

fn apply_filter(filter: Option<&Expr>, flow: Flow, context: &EvalContext, filtered: &mut u64) -> Result<Flow> {
    let Some(filter) = filter else { return Ok(flow) };
    let keep = filter.eval_filter(&flow.rows, context)?;
    let removed = flow.rows.num_rows() - keep.true_count();
    if removed == 0 {
        return Ok(flow);
    }
    *filtered += removed as u64;
    let rows = filter_record_batch(&flow.rows, &keep)?;
    flow.with(rows, |column| Ok(filter_array(column, &keep)?.as_primitive().clone()))
}

/// Evaluates one expression a column.
pub fn project(exprs: &[Expr], schema: &SchemaRef, rows: &RecordBatch, context: &EvalContext) -> Result<RecordBatch> {
    let columns = exprs.iter().map(|expr| expr.eval(rows, context)).collect::<Result<Vec<_>>>()?;
    batch_of(schema, columns, rows.num_rows())
}

/// A batch that knows its number of rows even without columns.
pub fn batch_of(schema: &SchemaRef, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    Ok(RecordBatch::try_new_with_options(schema.clone(), columns, &options)?)
}

/// The event times of a time column.
pub fn times_of(column: &ArrayRef) -> &[i64] {
    column.as_primitive::<TimestampMillisecondType>().values()
}

/// The rows with the watermark before each in one of their columns: NULL as long as operators hear of none.
pub fn with_watermarks(rows: &RecordBatch, column: usize, before: Vec<i64>) -> Result<RecordBatch> {
    let known = |before| Some(START.emitted(Watermark(before))).filter(|known| *known != Watermark::MIN);
    let values: TimestampMillisecondArray =
        before.into_iter().map(|before| known(before).map(|known| known.0)).collect();
    let mut columns = rows.columns().to_vec();
    columns[column] = Arc::new(values.with_data_type(rows.column(column).data_type().clone()));
    batch_of(&rows.schema(), columns, rows.num_rows())
}

fn assign(window: &WindowSpec, time: usize, schema: &SchemaRef, flow: Flow) -> Result<Flow> {
    let time_column = flow.rows.column(time);
    if time_column.null_count() > 0 {
        return Err(null_time());
    }
    let (mut from, mut starts, mut ends) = (Vec::new(), Vec::new(), Vec::new());
    for (row, &time) in times_of(time_column).iter().enumerate() {
        assigner::for_each_window(window, time, &mut |start, end| {
            from.push(row as u32);
            starts.push(start);
            ends.push(end);
        });
    }
    let window_times: Vec<i64> = ends.iter().map(|end| end.saturating_sub(1)).collect();
    let from = UInt32Array::from(from);
    let mut columns = Vec::with_capacity(schema.fields().len());
    for column in flow.rows.columns() {
        columns.push(take(column, &from, None)?);
    }
    for (values, field) in [starts, ends, window_times].into_iter().zip(&schema.fields()[columns.len()..]) {
        columns.push(timestamps(values, field.data_type()));
    }
    let rows = batch_of(schema, columns, from.len())?;
    flow.picked(rows, &from)
}

fn timestamps(values: Vec<i64>, data_type: &arrow::datatypes::DataType) -> ArrayRef {
    let array = TimestampMillisecondArray::from(values);
    Arc::new(array.with_data_type(data_type.clone()))
}
