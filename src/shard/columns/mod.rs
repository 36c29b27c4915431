//! The dataflow of SQL: Arrow batches from tables through window operators to sinks.

mod chain;
mod copies;
mod cut;
pub mod findings;
pub mod late;
mod memory;
mod merge;
pub mod program;
mod route;
pub mod scan;
mod share;
#[cfg(test)]
mod sim;

use std::sync::Arc;
use std::time::Instant;

use arrow::array::{Array, ArrayRef, Int64Array, RecordBatch};
use arrow::datatypes::SchemaRef;

use super::dataflow::{Cut, Dataflow, InputWatermark, Outgoing};
use super::layout::Layout;
use crate::batch::EventBatch;
use crate::error::{Error, Result};
use crate::exchange::sequence::Step;
use crate::metrics::{Counter, ShardMetrics, Totals};
use crate::plan::{SinkConnector, SinkSpec, WindowSpec};
use crate::snapshot::Closed;
use crate::source::{Aside, Extent, Transition};
use crate::time::{Watermark, WatermarkStart};
use crate::types::Field;
use crate::watermark::Peaks;
use crate::window::{Deadlines, Emitted};
use chain::Flow;
use cut::Operators;
pub use cut::{CutOutput, Restored, Saved};
use findings::Findings;
use late::{LateBlock, LateOutput, Lateness, Origins};
pub use memory::Memory;
use program::{Branch, Program, Target};
use scan::{Block, ScanBatch, ScanContext, SplitEntry};

/// Where SQL's watermarks start.
pub const START: WatermarkStart = WatermarkStart::Sql;

/// Rows on their way to a window operator.
#[derive(Debug)]
pub struct Part {
    /// Which of the stage's inputs.
    pub side: usize,
    /// The place of the batch within its step among the batches of all senders: 0 for rows from a reader, or the place
    /// of the first where the stage wants places; the (first) time for rows from a stage.
    pub order: i64,
    /// The time of each row where they differ, ascending; else empty.
    pub times: Vec<i64>,
    pub batch: EventBatch,
}

/// Takes a pipeline's rows on one shard.
pub trait Output: Send {
    /// `seq` and `order` place the batch among those of other shards: by block, then window end.
    ///
    /// # Errors
    /// The rows cannot be written.
    fn write(&mut self, seq: u64, order: i64, batch: &RecordBatch) -> Result<()>;
    /// Completes what was written up to a cut.
    ///
    /// # Errors
    /// It cannot be written.
    fn close(&mut self) -> Result<Closed> {
        Ok(Closed::default())
    }
    /// All rows were written.
    ///
    /// # Errors
    /// What is left of them cannot be written.
    fn finish(self: Box<Self>) -> Result<()>;
}

/// Takes what the blocks of a shard set aside.
pub trait AsideOutput: Send {
    /// `seq`: the place of the block in the order.
    ///
    /// # Errors
    /// Nobody takes it any more.
    fn take(&mut self, seq: u64, split: usize, aside: Aside) -> Result<()>;
}

/// What a job of SQL gives to each of its shards.
pub struct ColumnsParts {
    pub program: Arc<Program>,
    pub layout: Arc<Layout>,
    pub splits: Arc<Vec<SplitEntry>>,
    /// One a sink of the program.
    pub outputs: Vec<Box<dyn Output>>,
    /// Takes the records that are set aside; none: the first of them is an error. The splits must be opened alike.
    pub aside: Option<Box<dyn AsideOutput>>,
    /// Takes the late rows, and with them the duty to release blocks; none: nobody asks for late rows.
    pub late: Option<Box<dyn LateOutput>>,
    /// Takes what there is at each cut; none: nobody asks for cuts.
    pub cuts: Option<Box<dyn CutOutput>>,
    pub restored: Option<Restored>,
    /// None: state takes what it takes.
    pub memory: Option<Memory>,
    /// The number of the shard.
    pub shard: usize,
    pub metrics: Arc<ShardMetrics>,
}

/// See the module.
pub struct Columns {
    program: Arc<Program>,
    layout: Arc<Layout>,
    scan_schemas: Vec<SchemaRef>,
    splits: Arc<Vec<SplitEntry>>,
    operators: Operators,
    /// By port: which of the rows on their way there need a mark.
    deadlines: Vec<Deadlines>,
    outputs: Vec<Box<dyn Output>>,
    aside: Option<Box<dyn AsideOutput>>,
    late: Option<Lateness>,
    cuts: Option<Box<dyn CutOutput>>,
    memory: Option<Memory>,
    findings: Findings,
    metrics: Arc<ShardMetrics>,
}

impl Dataflow for Columns {
    type Block = Block;
    type Part = Part;
    /// What the shard came upon, for warnings.
    type Outcome = Findings;

    fn extend(&self, split: usize) -> Extent {
        self.splits[split].split.extend()
    }

    fn probe(&self, split: usize, block: usize) -> Result<Transition> {
        self.splits[split].split.probe(block)
    }

    fn read(&mut self, split: usize, block: usize, entry: u8) -> Result<Block> {
        let SplitEntry { branch, split } = &self.splits[split];
        let scan = ScanContext {
            spec: &self.program.branches[*branch].scan,
            schema: &self.scan_schemas[*branch],
            context: &self.program.context,
        };
        let read = Block::read(split.as_ref(), &scan, (block, entry), self.program.batch_rows, self.aside.is_some());
        if self.late.is_none() {
            split.release(block);
        }
        read
    }

    fn peaks(&self, block: &Block) -> Option<Peaks> {
        self.program.rule.is_prefix_maximum().then(|| block.peaks())
    }

    fn after(&mut self, block: &mut Block, start: Watermark) -> Watermark {
        let watermarks = block.batches.iter().filter_map(|batch| batch.watermarks.as_ref());
        watermarks.fold(start, |current, values| self.program.rule.after(current, values))
    }

    fn route(
        &mut self,
        step: &Step,
        mut block: Block,
        inputs: &[InputWatermark],
        out: &mut Outgoing<Part>,
    ) -> Result<()> {
        self.count(&block);
        if let Some(output) = &mut self.aside {
            output.take(step.seq, step.split, std::mem::take(&mut block.stats.aside))?;
        }
        if let Some(late) = &mut self.late {
            late.block(LateBlock::of(step, std::mem::take(&mut block.null_times)))?;
        }
        self.route_block(step, block, inputs, out)
    }

    fn run_stage(
        &mut self,
        stage: usize,
        step: &Step,
        (inputs, watermark): (&[InputWatermark], Watermark),
        parts: Vec<Part>,
        out: &mut Outgoing<Part>,
    ) -> Result<()> {
        // The results of a window are handed on as they come about: there may be more of them than of its state.
        let mut operators = std::mem::take(&mut self.operators);
        let ran = self.run_operator(&mut operators, (stage, step), (inputs, watermark), parts, out);
        self.operators = operators;
        let state_bytes = ran?;
        self.metrics.set_watermark(watermark.0);
        self.metrics.set_state_bytes(state_bytes);
        match &self.memory {
            Some(memory) if memory.is_exceeded(state_bytes) => memory.relieve(&mut self.operators, &self.metrics),
            _ => Ok(()),
        }
    }

    fn completed(&mut self, _step: &Step) {
        let late_of = |copies: bool| -> u64 {
            let counts = |index: &usize| self.program.takes_copies(*index) == copies;
            let first = (0..self.operators.len()).filter(|&index| self.layout.is_first(index)).filter(counts);
            first.map(|index| self.operators[index].late_rows()).sum()
        };
        let window = |index: usize| self.program.stages[index].spec.window();
        let sessions = |index: &usize| matches!(window(*index), Some(WindowSpec::Session { .. }));
        let open = |index: usize| self.operators[index].open_windows();
        let all = 0..self.operators.len();
        self.metrics.rows_late.set(late_of(false));
        self.metrics.copies_late.set(late_of(true));
        self.metrics.sessions_open.set(all.clone().filter(sessions).map(open).sum());
        self.metrics.windows_open.set(all.filter(|index| !sessions(index)).map(open).sum());
        self.metrics.windows_fired.set(self.operators.iter().map(|operator| operator.fired_windows()).sum());
    }

    fn cut(&mut self, cut: &Cut) -> Result<()> {
        let Some(cuts) = &mut self.cuts else { return Ok(()) };
        let started = Instant::now();
        let (state, closed) = (
            cut::save(&mut self.operators)?,
            self.outputs.iter_mut().map(|output| output.close()).collect::<Result<_>>()?,
        );
        let saved = Saved {
            state,
            closed,
            pause: started.elapsed(),
            metrics: Totals::of([&*self.metrics]),
            written: self.metrics.rows_written.iter().map(Counter::get).collect(),
        };
        cuts.take(cut, saved)
    }

    fn finish(mut self, peaks: &[Peaks]) -> Result<Findings> {
        self.outputs.into_iter().try_for_each(|output| output.finish())?;
        self.findings.see_peaks(peaks);
        Ok(self.findings)
    }
}

/// The rows of a block while they are routed.
struct Routing<'a> {
    step: &'a Step,
    branch: &'a Branch,
    /// By stage.
    inputs: &'a [InputWatermark],
    /// The split's watermark before the batch at hand.
    watermark: Watermark,
    /// Rows of the block that went to stages before.
    routed: i64,
    /// Rows of the block before the batch at hand.
    rows: i64,
    peaks: Peaks,
}

impl Columns {
    /// # Errors
    /// As [`crate::window::operator`]; internal for state that does not fit.
    pub fn new(parts: ColumnsParts) -> Result<Self> {
        let ColumnsParts { program, layout, splits, outputs, aside, late, cuts, restored, memory, shard, metrics } =
            parts;
        let mut operators = cut::operators(&program)?;
        if let Some(restored) = restored {
            cut::restore(&mut operators, restored, &program, shard)?;
        }
        let mut columns = Columns {
            scan_schemas: program.branches.iter().map(|branch| branch.scan.schema.to_arrow()).collect(),
            operators,
            deadlines: program.deadlines()?,
            findings: Findings::new(program.branches.len()),
            program,
            layout,
            splits,
            outputs,
            aside,
            late: None,
            cuts,
            memory,
            metrics,
        };
        if let Some(output) = late {
            let late = Lateness::new(&columns.program, &columns.layout, output)?;
            late.begin(&mut columns.operators);
            columns.late = Some(late);
        }
        Ok(columns)
    }

    fn count(&self, block: &Block) {
        self.metrics.rows_decoded.add(block.stats.rows);
        self.metrics.rows_malformed.add(block.stats.malformed);
        let null_times = block.null_times.len() as u64;
        self.metrics.rows_without_time.add(null_times);
        self.metrics.rows_unreadable.add(block.stats.aside.rejected.len() as u64 - null_times);
        self.metrics.bytes_read.add(block.stats.bytes);
    }

    fn route_block(
        &mut self,
        step: &Step,
        block: Block,
        inputs: &[InputWatermark],
        out: &mut Outgoing<Part>,
    ) -> Result<()> {
        let program = self.program.clone();
        let branch = &program.branches[self.splits[step.split].branch];
        let inner = block.peaks();
        let peaks = Peaks { first: step.start.0, second: step.second.0 };
        let mut routing = Routing { step, branch, inputs, watermark: step.start, routed: 0, rows: 0, peaks };
        let mut filtered = 0;
        for batch in block.batches {
            let flow = self.with_watermarks(batch, &mut routing)?;
            self.metrics.rows_repeated.add((branch.ways.len() as u64 - 1) * flow.rows.num_rows() as u64);
            for way in &branch.ways {
                let flow = chain::run(&way.chain, flow.clone(), &program.context, &mut filtered)?;
                match way.to {
                    Target::Sink(sink) => self.write(sink, step.seq, 0, &flow.rows)?,
                    Target::Port(port) => self.route_rows(port, flow, &mut routing, out)?,
                }
            }
        }
        self.metrics.rows_filtered.add(filtered);
        self.findings.end_block(*step, routing.watermark, Watermark(inner.second));
        Ok(())
    }

    /// The rows of a batch, with the watermark before each where any may be behind it.
    fn with_watermarks(&mut self, mut batch: ScanBatch, routing: &mut Routing<'_>) -> Result<Flow> {
        let (mut before, mut second): (Option<Int64Array>, _) = (None, None);
        let current = routing.branch.scan.watermark.as_ref().and_then(|watermark| watermark.current);
        if let (Some(column), Some(values)) = (current, &batch.watermarks) {
            let (watermarks, after) = self.program.rule.before_each(routing.watermark, values);
            batch.rows = chain::with_watermarks(&batch.rows, column, watermarks)?;
            if routing.branch.ports().next().is_none() {
                routing.watermark = after;
            }
        }
        let mut ports = routing.branch.ports().peekable();
        if let (Some(_), Some(values)) = (ports.peek(), &batch.watermarks) {
            let rule = self.program.rule;
            let after = rule.after(routing.watermark, values);
            let time = routing.branch.scan.watermark.as_ref().map_or(0, |watermark| watermark.time);
            let lowest = chain::times_of(batch.rows.column(time)).iter().copied().min().unwrap_or(i64::MAX);
            let others = |port: usize| self.program.others(port, routing.inputs);
            if ports.any(|port| self.deadlines[port].may_be_behind(lowest, START.emitted(after).min(others(port)))) {
                before = Some(rule.before_each(routing.watermark, values).0.into());
                // Elsewhere the watermark does not follow from the peaks.
                second = rule.is_prefix_maximum().then(|| routing.peaks.second_before_each(values).into());
            }
            routing.watermark = after;
            routing.peaks = routing.peaks.and(batch.peaks);
            self.findings.see_time(self.splits[routing.step.split].branch, lowest);
        }
        let origins = self.late.is_some().then(|| Origins::of(&batch.rows, &routing.branch.scan, routing.rows));
        routing.rows += batch.rows.num_rows() as i64;
        Ok(Flow { rows: batch.rows, passed: before.clone(), before, second, times: None, origins })
    }

    fn route_rows(
        &mut self,
        port: usize,
        mut flow: Flow,
        routing: &mut Routing<'_>,
        out: &mut Outgoing<Part>,
    ) -> Result<()> {
        let (side, keys) = self.program.side(port);
        let others = self.program.others(port, routing.inputs);
        let deadlines = &mut self.deadlines[port];
        let spec = &self.program.stages[self.program.ports[port].stage].spec;
        self.findings.see_late(routing.step.split, (&flow, spec.set()), deadlines, others)?;
        let first = routing.routed;
        routing.routed += flow.rows.num_rows() as i64;
        let wants_places = spec.wants_places();
        let places: Vec<i64> = if wants_places { (first..routing.routed).collect() } else { Vec::new() };
        if let Some(late) = &self.late {
            flow = late.attach(port, flow)?;
        }
        for dealt in route::route(flow, keys, deadlines, self.program.groups, others)? {
            let times = if wants_places { dealt.pick(&places) } else { Vec::new() };
            let order = times.first().copied().unwrap_or(0);
            out.push(port, dealt.owner, Part { side, order, times, batch: dealt.batch });
        }
        Ok(())
    }

    /// Gives an operator its rows and its watermark. How much state there was before windows fired: the most that there
    /// is at this step.
    fn run_operator(
        &mut self,
        operators: &mut Operators,
        (stage, step): (usize, &Step),
        (inputs, watermark): (&[InputWatermark], Watermark),
        parts: Vec<Part>,
        out: &mut Outgoing<Part>,
    ) -> Result<u64> {
        let wants_places = self.program.stages[stage].spec.wants_places();
        for (side, batch) in merge::in_order(parts, wants_places)? {
            let operator = &mut *operators[stage];
            match self.late.take() {
                None => {
                    operator.process(side, &batch, &mut |fired| self.hand_on(stage, step.seq, fired, inputs, out))?
                }
                Some(mut late) => {
                    // Rows that fire here may be late where they go: they need the ledger too.
                    let mut fired = Vec::new();
                    let mut emit = |emitted| {
                        fired.push(emitted);
                        Ok(())
                    };
                    late.process((stage, side), step.seq, operator, batch, &mut emit)?;
                    self.late = Some(late);
                    fired.into_iter().try_for_each(|fired| self.hand_on(stage, step.seq, fired, inputs, out))?;
                }
            }
        }
        let state_bytes = memory::state_bytes(operators);
        operators[stage].advance(watermark, &mut |fired| self.hand_on(stage, step.seq, fired, inputs, out))?;
        Ok(state_bytes)
    }

    fn hand_on(
        &mut self,
        stage: usize,
        seq: u64,
        fired: Emitted,
        inputs: &[InputWatermark],
        out: &mut Outgoing<Part>,
    ) -> Result<()> {
        let Emitted { rows, time, times, before } = fired;
        if rows.num_rows() == 0 {
            return Ok(());
        }
        let program = self.program.clone();
        let stage = &program.stages[stage];
        // A batch of sessions has many times: its rows find their places one by one.
        let several = stage.spec.is_ordered() && !times.is_empty();
        let times = several.then(|| Int64Array::from(times));
        let before = (!before.is_empty()).then(|| Int64Array::from(before));
        // Rows that HAVING removes were used: they count in their window.
        let flow = chain::run(
            &stage.chain,
            Flow { rows, before, passed: None, second: None, times, origins: None },
            &program.context,
            &mut 0,
        )?;
        match stage.to {
            Target::Sink(sink) => self.write_in_order(sink, seq, time, flow),
            Target::Port(port) => {
                let others = program.others(port, inputs);
                self.route_results(port, (time, others), flow, out)
            }
        }
    }

    /// `order`: the (first) time of the rows. `others`: as for rows of a block.
    fn route_results(
        &mut self,
        port: usize,
        (order, others): (i64, Watermark),
        mut flow: Flow,
        out: &mut Outgoing<Part>,
    ) -> Result<()> {
        let (side, keys) = self.program.side(port);
        let times = flow.times.take();
        if let Some(late) = &self.late {
            flow = late.attach(port, flow)?;
        }
        for dealt in route::route(flow, keys, &mut self.deadlines[port], self.program.groups, others)? {
            let times = times.as_ref().map_or_else(Vec::new, |times| dealt.pick(times.values()));
            let order = times.first().copied().unwrap_or(order);
            out.push(port, dealt.owner, Part { side, order, times, batch: dealt.batch });
        }
        Ok(())
    }

    fn write_in_order(&mut self, sink: usize, seq: u64, order: i64, flow: Flow) -> Result<()> {
        let Some(times) = flow.times else { return self.write(sink, seq, order, &flow.rows) };
        let mut from = 0;
        for run in times.values().chunk_by(|a, b| a == b) {
            self.write(sink, seq, run[0], &flow.rows.slice(from, run.len()))?;
            from += run.len();
        }
        Ok(())
    }

    fn write(&mut self, sink: usize, seq: u64, order: i64, rows: &RecordBatch) -> Result<()> {
        if rows.num_rows() == 0 {
            return Ok(());
        }
        check_nulls(&self.program.sinks[sink], rows)?;
        self.metrics.rows_written[sink].add(rows.num_rows() as u64);
        self.outputs[sink].write(seq, order, rows)
    }
}

/// What a table says of its columns holds of the rows that are written into it. What a SELECT says of its own was worked out.
fn check_nulls(spec: &SinkSpec, rows: &RecordBatch) -> Result<()> {
    if matches!(spec.connector, SinkConnector::Collect) {
        return Ok(());
    }
    let broken = |(field, column): &(&Field, &ArrayRef)| !field.data_type.nullable && column.null_count() > 0;
    let Some((field, _)) = spec.schema.fields.iter().zip(rows.columns()).find(broken) else { return Ok(()) };
    Err(Error::data(format!(
        "column '{}' of table `{}` is NOT NULL, and a row has NULL for it",
        field.name, spec.table
    ))
    .help("leave such rows out with WHERE, give them a value with COALESCE, or declare the column without NOT NULL"))
}
