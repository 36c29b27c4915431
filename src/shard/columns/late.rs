//! Late rows and where they come from, for jobs that keep them.
//!
//! On their way to the first operators rows carry two more columns behind their own: the number of the row in its block
//! and its event time. They are taken off again before the operator sees the rows. Which of them are late the operator
//! alone knows; where they stand is found out at the end, by the number of the row.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Int64Type, Schema, SchemaRef};

use super::chain::{self, Flow};
use super::program::Program;
use crate::batch::EventBatch;
use crate::error::Result;
use crate::exchange::sequence::Step;
use crate::plan::{self, ScanSpec};
use crate::shard::layout::Layout;
use crate::time::Watermark;
use crate::window::{Emit, LateRow, Missed, Misses, WindowOperator};

/// Columns that the origin of rows takes.
const COLUMNS: usize = 2;
/// The number of a row that no block has.
const NOWHERE: i64 = -1;

/// Takes the late rows of a shard.
pub trait LateOutput: Send {
    /// A block was read. It must be released when its late rows have been looked at.
    ///
    /// # Errors
    /// Nobody takes it any more.
    fn block(&mut self, block: LateBlock) -> Result<()>;
    /// Late rows of the block at this place in the order.
    ///
    /// # Errors
    /// Nobody takes them any more.
    fn rows(&mut self, seq: u64, rows: Vec<Late>) -> Result<()>;
}

/// A block that may have late rows.
#[derive(Debug, Clone)]
pub struct LateBlock {
    /// Its place in the order.
    pub seq: u64,
    pub split: usize,
    pub block: usize,
    /// The state in which it begins.
    pub state: u8,
    /// Rows taken out of it because they have no event time, ascending: late rows are numbered without them.
    pub null_times: Vec<u64>,
}

impl LateBlock {
    pub(super) fn of(step: &Step, null_times: Vec<u64>) -> Self {
        let Step { seq, split, block, state, .. } = *step;
        LateBlock { seq, split, block, state, null_times }
    }
}

/// A late row.
#[derive(Debug, Clone)]
pub struct Late {
    /// Its number in its block, from 0.
    pub row: u64,
    /// The operator for which it is late.
    pub stage: usize,
    /// Its event time in milliseconds.
    pub time: i64,
    /// The watermark of the operator when the row came.
    pub watermark: Watermark,
    pub missed: Missed,
    /// It counts nowhere; else in some of its windows.
    pub dropped: bool,
}

/// Where the rows of a batch come from: the number of each in its block, and its event time.
#[derive(Debug, Clone)]
pub struct Origins {
    rows: Int64Array,
    times: Int64Array,
}

impl Origins {
    /// `first`: rows of the block before the batch.
    pub(super) fn of(batch: &RecordBatch, scan: &ScanSpec, first: i64) -> Self {
        let rows = (first..first + batch.num_rows() as i64).collect();
        let times = match &scan.watermark {
            Some(watermark) => chain::times_of(batch.column(watermark.time)).to_vec().into(),
            None => Int64Array::from(vec![0; batch.num_rows()]),
        };
        Origins { rows, times }
    }

    fn nowhere(rows: usize) -> Self {
        Origins { rows: vec![NOWHERE; rows].into(), times: vec![0; rows].into() }
    }

    pub(super) fn picked(&self, pick: impl Fn(&Int64Array) -> Result<Int64Array>) -> Result<Self> {
        Ok(Origins { rows: pick(&self.rows)?, times: pick(&self.times)? })
    }
}

/// What a shard needs to know of late rows.
pub(super) struct Lateness {
    output: Box<dyn LateOutput>,
    /// By port: whether its rows carry their origin.
    traced: Vec<bool>,
    /// By stage and side; none where rows do not carry their origin.
    misses: Vec<Vec<Option<Misses>>>,
    /// By stage: its operator is told the places of rows.
    places: Vec<bool>,
}

impl Lateness {
    /// # Errors
    /// As [`Misses::new`].
    pub fn new(program: &Program, layout: &Layout, output: Box<dyn LateOutput>) -> Result<Self> {
        let sides = program.sides.iter().max().map_or(0, |last| last + 1);
        let mut misses: Vec<Vec<Option<Misses>>> = Vec::new();
        for (number, stage) in program.stages.iter().enumerate() {
            misses.push((0..sides).map(|_| None).collect());
            for side in program.sides_of(number).filter(|_| layout.is_first(number)) {
                let lateness = stage.spec.lateness(side);
                if !matches!(lateness, plan::Lateness::EveryWatermark | plan::Lateness::Never) {
                    // The moment of a row is no window to speak of.
                    let windows = if stage.spec.window().is_some() { lateness } else { plan::Lateness::Never };
                    misses[number][side] = Some(Misses::new(windows)?);
                }
            }
        }
        let ports = program.ports.iter().zip(&program.sides);
        let traced = ports.map(|(port, &side)| misses[port.stage][side].is_some()).collect();
        let places = program.stages.iter().map(|stage| stage.spec.wants_places()).collect();
        Ok(Lateness { output, traced, misses, places })
    }

    /// Has the operators write down their late rows.
    pub fn begin(&self, operators: &mut [Box<dyn WindowOperator + Send>]) {
        operators.iter_mut().filter_map(|operator| operator.late()).for_each(crate::window::Late::write_down);
    }

    pub fn block(&mut self, block: LateBlock) -> Result<()> {
        self.output.block(block)
    }

    /// The rows with their origins behind them, on their way to a port that wants these.
    pub fn attach(&self, port: usize, mut flow: Flow) -> Result<Flow> {
        let origins = flow.origins.take();
        if !self.traced[port] {
            return Ok(flow);
        }
        let rows = flow.rows.num_rows();
        let Origins { rows: numbers, times } = origins.unwrap_or_else(|| Origins::nowhere(rows));
        let mut columns = flow.rows.columns().to_vec();
        columns.push(Arc::new(numbers) as ArrayRef);
        columns.push(Arc::new(times));
        flow.rows = chain::batch_of(&with_origins(&flow.rows.schema()), columns, rows)?;
        Ok(flow)
    }

    /// Gives the rows of a batch to an operator, and the late ones among them to whoever takes those.
    pub fn process(
        &mut self,
        (stage, side): (usize, usize),
        seq: u64,
        operator: &mut dyn WindowOperator,
        batch: EventBatch,
        emit: Emit<'_>,
    ) -> Result<()> {
        let Some(misses) = &mut self.misses[stage][side] else { return operator.process(side, &batch, emit) };
        let (batch, origins) = take_off(batch, self.places[stage])?;
        operator.process(side, &batch, emit)?;
        let rows = operator.late().map(crate::window::Late::take).unwrap_or_default();
        let rows: Vec<LateRow> = rows.into_iter().filter(|late| origins.rows.value(late.row as usize) >= 0).collect();
        if rows.is_empty() {
            return Ok(());
        }
        let late = rows.into_iter().map(|LateRow { row, dropped }| {
            let mark = batch.marks.binary_search_by_key(&row, |mark| mark.row);
            let watermark = mark.map_or(Watermark::MIN, |at| batch.marks[at].watermark);
            let (row, missed) = (row as usize, misses.of(&batch.rows, row as usize, watermark)?);
            let (row, time) = (origins.rows.value(row) as u64, origins.times.value(row));
            Ok(Late { row, stage, time, watermark, missed, dropped })
        });
        self.output.rows(seq, late.collect::<Result<_>>()?)
    }
}

fn with_origins(schema: &SchemaRef) -> SchemaRef {
    let mut fields = schema.fields().to_vec();
    fields.extend(["$row", "$time"].map(|name| Arc::new(Field::new(name, DataType::Int64, false))));
    Arc::new(Schema::new(fields))
}

/// The batch without the origins of its rows, and these. `places`: behind them is the column of places.
fn take_off(batch: EventBatch, places: bool) -> Result<(EventBatch, Origins)> {
    let own = batch.rows.num_columns() - COLUMNS - usize::from(places);
    let column = |at: usize| batch.rows.column(at).as_primitive::<Int64Type>().clone();
    let origins = Origins { rows: column(own), times: column(own + 1) };
    let mut fields = batch.rows.schema().fields().to_vec();
    let mut columns = batch.rows.columns().to_vec();
    fields.drain(own..own + COLUMNS);
    columns.drain(own..own + COLUMNS);
    let rows = chain::batch_of(&Arc::new(Schema::new(fields)), columns, batch.rows.num_rows())?;
    Ok((EventBatch { rows, ..batch }, origins))
}
