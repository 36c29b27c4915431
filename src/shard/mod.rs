//! A shard: one thread's whole part of a job, as a synchronous state machine.
//!
//! [`Shard::step`] does one unit of work and says whether there was any. It waits for nothing, knows
//! no clock and no thread, so the same code runs on pinned executors ([`crate::job`]) and under a
//! seeded scheduler in tests. This is the only place that holds two stages at once.
//!
//! For each block of the order, in that order: the reader's shard routes the block's rows to their
//! owners; each owner gives them to the first window operators and moves their watermark to what it
//! is after the block; results go on to the next stage in the same way, or to the sink.

mod chain;
pub mod findings;
mod merge;
pub mod program;
pub mod reader;
mod route;
#[cfg(test)]
mod sim;

use std::collections::VecDeque;
use std::sync::Arc;

use arrow::array::{Int64Array, RecordBatch};
use arrow::datatypes::SchemaRef;

use crate::error::Result;
use crate::exchange::mesh::Endpoint;
use crate::exchange::progress::Progress;
use crate::exchange::sequence::{Sequencer, Step};
use crate::exchange::{Message, Part};
use crate::metrics::ShardMetrics;
use crate::plan::WindowSpec;
use crate::time::Watermark;
use crate::watermark::Peaks;
use crate::window::{Deadlines, WindowOperator, operator};
use chain::Flow;
use findings::Findings;
use program::{Producer, Program, Target};
use reader::{AsideOutput, Block, Reader, ScanContext, SplitEntry};

/// What a step came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    Done,
    /// Nothing to do until another shard does something.
    Waiting,
    /// All input is processed and all output handed over.
    Finished,
}

/// Takes a pipeline's rows on one shard.
pub trait Output: Send {
    /// `seq` and `order` place the batch among those of other shards: by block, then window end.
    fn write(&mut self, seq: u64, order: i64, batch: &RecordBatch) -> Result<()>;
    fn finish(self: Box<Self>) -> Result<()>;
}

/// A step of the order that this shard has yet to process.
struct Due {
    step: Step,
    /// After the block, for each stage.
    watermarks: Vec<Watermark>,
}

/// See the module.
pub struct Shard {
    id: usize,
    program: Arc<Program>,
    scan_schemas: Vec<SchemaRef>,
    progress: Arc<Progress>,
    splits: Arc<Vec<SplitEntry>>,
    sequencer: Sequencer,
    reader: Reader,
    endpoint: Endpoint,
    /// By port, then by sending shard; each in the order of `seq`.
    inbox: Vec<Vec<VecDeque<Message>>>,
    due: VecDeque<Due>,
    /// The next stage that takes the first due step.
    stage: usize,
    operators: Vec<Box<dyn WindowOperator + Send>>,
    /// By stage: which of the rows on their way there need a mark.
    deadlines: Vec<Deadlines>,
    outputs: Vec<Option<Box<dyn Output>>>,
    aside: Option<Box<dyn AsideOutput>>,
    findings: Findings,
    metrics: Arc<ShardMetrics>,
}

/// What a job gives to each of its shards.
pub struct ShardParts {
    pub program: Arc<Program>,
    pub progress: Arc<Progress>,
    pub splits: Arc<Vec<SplitEntry>>,
    pub endpoint: Endpoint,
    /// One a sink of the program.
    pub outputs: Vec<Box<dyn Output>>,
    /// Takes the records that are set aside; none: the first of them is an error. The splits must be opened alike.
    pub aside: Option<Box<dyn AsideOutput>>,
    pub metrics: Arc<ShardMetrics>,
}

impl Shard {
    pub fn new(parts: ShardParts) -> Result<Self> {
        let ShardParts { program, progress, splits, endpoint, outputs, aside, metrics } = parts;
        let shards = endpoint.shards();
        let inbox = program.ports.iter().map(|_| (0..shards).map(|_| VecDeque::new()).collect()).collect();
        Ok(Shard {
            id: endpoint.shard(),
            scan_schemas: program.branches.iter().map(|branch| branch.scan.schema.to_arrow()).collect(),
            sequencer: Sequencer::new(&progress),
            reader: Reader::new(progress.clone(), splits.clone(), aside.is_some()),
            operators: program.stages.iter().map(|stage| operator(&stage.spec)).collect::<Result<_>>()?,
            deadlines: program.stages.iter().map(|stage| Deadlines::new(&stage.spec)).collect::<Result<_>>()?,
            outputs: outputs.into_iter().map(Some).collect(),
            due: VecDeque::new(),
            findings: Findings::new(program.branches.len()),
            stage: 0,
            program,
            progress,
            splits,
            endpoint,
            inbox,
            aside,
            metrics,
        })
    }

    /// Where the shard's thread sleeps while it waits; once.
    pub fn take_parker(&mut self) -> Option<crossbeam::sync::Parker> {
        self.endpoint.take_parker()
    }

    /// True while messages are kept because a queue is full: nobody wakes the shard when there is room.
    pub fn is_kept_back(&self) -> bool {
        self.endpoint.kept() > 0
    }

    /// Does one unit of work: the one nearest to the output that can be done.
    pub fn step(&mut self) -> Result<Work> {
        self.endpoint.flush();
        let inbox = &mut self.inbox;
        let arrived = self.endpoint.drain(|from, message| inbox[message.port][from].push_back(message));
        if self.take_turns()? | self.process_stage()? {
            return Ok(Work::Done);
        }
        // What could not be sent yet must go before more is made.
        if self.endpoint.kept() == 0 && (self.decode()? || self.reader.claim(&self.sequencer)) {
            self.endpoint.wake_all();
            return Ok(Work::Done);
        }
        if self.sequencer.current().is_none() && self.due.is_empty() && self.endpoint.kept() == 0 {
            self.finish()?;
            return Ok(Work::Finished);
        }
        Ok(if arrived { Work::Done } else { Work::Waiting })
    }

    fn decode(&mut self) -> Result<bool> {
        let (program, schemas) = (&self.program, &self.scan_schemas);
        let scan_of = |branch: usize| ScanContext {
            spec: &program.branches[branch].scan,
            schema: &schemas[branch],
            context: &program.context,
        };
        self.reader.decode(&scan_of, program.batch_rows, program.rule)
    }

    /// Follows the order as far as it is known, and routes this shard's blocks when their turn comes.
    fn take_turns(&mut self) -> Result<bool> {
        let mut any = false;
        while let Some(step) = self.sequencer.current() {
            if let Some(block) = self.reader.take_turn(step.split, step.block, step.start, self.program.rule)? {
                self.route_block(step, block)?;
                self.endpoint.wake_all();
                any = true;
            }
            if self.sequencer.advance(&self.progress).is_none() {
                break;
            }
            self.reader.pass(step.split, step.block);
            let watermarks = self.program.stages.iter().map(|stage| self.watermark_of(&stage.branches, None)).collect();
            self.due.push_back(Due { step, watermarks });
            any = true;
        }
        Ok(any)
    }

    /// The watermark of a stage's inputs, without split `except`.
    fn watermark_of(&self, branches: &[usize], except: Option<usize>) -> Watermark {
        let feeds = |split: usize| Some(split) != except && branches.contains(&self.splits[split].branch);
        self.sequencer.watermark_of(feeds)
    }

    fn route_block(&mut self, step: Step, mut block: Block) -> Result<()> {
        let program = self.program.clone();
        let branch = &program.branches[self.splits[step.split].branch];
        self.count(&block);
        if let Some(output) = &mut self.aside {
            output.take(step.seq, step.split, std::mem::take(&mut block.stats.aside))?;
        }
        let stage = match branch.to {
            Target::Port(port) => Some(program.ports[port].stage),
            Target::Sink(_) => None,
        };
        let branches = stage.map_or(&[][..], |stage| &program.stages[stage].branches);
        let others = self.watermark_of(branches, Some(step.split));
        let mut parts: Vec<Vec<Part>> = (0..self.endpoint.shards()).map(|_| Vec::new()).collect();
        let (mut watermark, mut filtered) = (step.start, 0);
        let mut peaks = Peaks { first: step.start.0, second: step.second.0 };
        let inner = block.batches.iter().fold(Peaks::NONE, |peaks, batch| peaks.and(batch.peaks));
        for batch in block.batches {
            let (mut before, mut second) = (None, None);
            if let (Some(index), Some(values)) = (stage, &batch.watermarks) {
                let after = program.rule.after(watermark, values);
                let time = branch.scan.watermark.as_ref().map_or(0, |watermark| watermark.time);
                let lowest = chain::times_of(batch.rows.column(time)).iter().copied().min().unwrap_or(i64::MAX);
                if self.deadlines[index].may_be_behind(lowest, after.emitted().min(others)) {
                    before = Some(program.rule.before_each(watermark, values).0.into());
                    // Elsewhere the watermark does not follow from the peaks.
                    second = program.rule.is_prefix_maximum().then(|| peaks.second_before_each(values).into());
                }
                watermark = after;
                peaks = peaks.and(batch.peaks);
                self.findings.see_time(self.splits[step.split].branch, lowest);
            }
            let flow = chain::run(
                &branch.chain,
                Flow { rows: batch.rows, before, second, ends: None },
                &program.context,
                &mut filtered,
            )?;
            match branch.to {
                Target::Sink(sink) => self.write(sink, step.seq, 0, &flow.rows)?,
                Target::Port(port) => {
                    let stage = program.ports[port].stage;
                    let (spec, deadlines) = (&program.stages[stage].spec, &mut self.deadlines[stage]);
                    self.findings.see_late(step.split, &flow, deadlines, others)?;
                    for dealt in route::route(flow, spec, deadlines, program.groups, others)? {
                        parts[dealt.owner].push(Part { order: 0, ends: Vec::new(), batch: dealt.batch });
                    }
                }
            }
        }
        self.metrics.rows_filtered.add(filtered);
        self.findings.end_block(step, watermark, Watermark(inner.second));
        if let Target::Port(port) = branch.to {
            for (to, parts) in parts.into_iter().enumerate() {
                self.endpoint.send(to, Message { port, seq: step.seq, parts });
            }
        }
        Ok(())
    }

    fn count(&self, block: &Block) {
        self.metrics.rows_decoded.add(block.stats.rows);
        self.metrics.rows_malformed.add(block.stats.malformed);
        self.metrics.rows_without_time.add(block.null_times);
        self.metrics.rows_unreadable.add(block.stats.aside.rejected.len() as u64 - block.null_times);
        self.metrics.bytes_read.add(block.stats.bytes);
    }

    /// Gives the first due step to the next stage, if all of the stage's input for it is there.
    fn process_stage(&mut self) -> Result<bool> {
        let Some(due) = self.due.front() else { return Ok(false) };
        if self.endpoint.kept() > self.endpoint.shards() * crate::limits::BLOCKS_IN_FLIGHT_PER_SHARD {
            return Ok(false);
        }
        let (seq, split) = (due.step.seq, due.step.split);
        if self.stage < self.program.stages.len() {
            let watermark = due.watermarks[self.stage];
            let Some(parts) = self.input_of(self.stage, seq, split) else { return Ok(false) };
            self.run_stage(self.stage, seq, watermark, parts)?;
            self.stage += 1;
        }
        if self.stage == self.program.stages.len() {
            self.due.pop_front();
            self.stage = 0;
            self.progress.complete(self.id, seq + 1);
            self.update_metrics();
            // Others may wait for leave to read ahead.
            self.endpoint.wake_all();
        }
        Ok(true)
    }

    /// All parts of a stage's input for one block, by sender; None while a message is missing.
    fn input_of(&mut self, stage: usize, seq: u64, split: usize) -> Option<Vec<Part>> {
        let branch = self.splits[split].branch;
        let has = |queue: &VecDeque<Message>| queue.front().is_some_and(|message| message.seq == seq);
        let ports = &self.program.stages[stage].ports;
        for &port in ports {
            let complete = match self.program.ports[port].from {
                Producer::Branch(from) => from != branch || self.inbox[port].iter().any(has),
                Producer::Stage(_) => self.inbox[port].iter().all(has),
            };
            if !complete {
                return None;
            }
        }
        let mut parts = Vec::new();
        for &port in ports {
            for queue in &mut self.inbox[port] {
                if has(queue) {
                    parts.extend(queue.pop_front().into_iter().flat_map(|message| message.parts));
                }
            }
        }
        Some(parts)
    }

    fn run_stage(&mut self, index: usize, seq: u64, watermark: Watermark, parts: Vec<Part>) -> Result<()> {
        let mut fired: Vec<RecordBatch> = Vec::new();
        let mut emit = |batch: RecordBatch| {
            if batch.num_rows() > 0 {
                fired.push(batch);
            }
            Ok(())
        };
        let others = self.operators.iter().enumerate().filter(|(other, _)| *other != index);
        let mut state_bytes: u64 = others.map(|(_, operator)| operator.state_bytes()).sum();
        let operator = &mut self.operators[index];
        for batch in merge::in_order(parts)? {
            operator.process(&batch, &mut emit)?;
        }
        // Before windows fire: the most that there will be at this block.
        state_bytes += operator.state_bytes();
        operator.advance(watermark, &mut emit)?;
        self.metrics.set_watermark(watermark.0);
        self.metrics.set_state_bytes(state_bytes);
        self.hand_on(index, seq, fired)
    }

    fn hand_on(&mut self, index: usize, seq: u64, fired: Vec<RecordBatch>) -> Result<()> {
        let program = self.program.clone();
        let stage = &program.stages[index];
        let window_end = stage.spec.keys.len() + stage.spec.aggregates.len() + 1;
        let mut parts: Vec<Vec<Part>> = (0..self.endpoint.shards()).map(|_| Vec::new()).collect();
        for rows in fired {
            let ends = chain::times_of(rows.column(window_end));
            let order = ends[0];
            // A batch of sessions has many window ends: its rows find their places one by one.
            let several = stage.spec.ordered && ends.iter().any(|&end| end != order);
            let ends = several.then(|| Int64Array::from(ends.to_vec()));
            // Rows that HAVING removes were used: they count in their window.
            let flow =
                chain::run(&stage.chain, Flow { rows, before: None, second: None, ends }, &program.context, &mut 0)?;
            match stage.to {
                Target::Sink(sink) => self.write_in_order(sink, seq, order, flow)?,
                Target::Port(port) => self.route_results(port, order, flow, &mut parts)?,
            }
        }
        if let Target::Port(port) = stage.to {
            for (to, parts) in parts.into_iter().enumerate() {
                self.endpoint.send(to, Message { port, seq, parts });
            }
        }
        Ok(())
    }

    fn route_results(&mut self, port: usize, order: i64, mut flow: Flow, parts: &mut [Vec<Part>]) -> Result<()> {
        let stage = self.program.ports[port].stage;
        let (spec, deadlines) = (&self.program.stages[stage].spec, &mut self.deadlines[stage]);
        let ends = flow.ends.take();
        for dealt in route::route(flow, spec, deadlines, self.program.groups, Watermark::MAX)? {
            let ends = ends.as_ref().map_or_else(Vec::new, |ends| dealt.pick(ends.values()));
            parts[dealt.owner].push(Part { order: ends.first().copied().unwrap_or(order), ends, batch: dealt.batch });
        }
        Ok(())
    }

    fn write_in_order(&mut self, sink: usize, seq: u64, order: i64, flow: Flow) -> Result<()> {
        let Some(ends) = flow.ends else { return self.write(sink, seq, order, &flow.rows) };
        let mut from = 0;
        for run in ends.values().chunk_by(|a, b| a == b) {
            self.write(sink, seq, run[0], &flow.rows.slice(from, run.len()))?;
            from += run.len();
        }
        Ok(())
    }

    fn write(&mut self, sink: usize, seq: u64, order: i64, rows: &RecordBatch) -> Result<()> {
        if rows.num_rows() == 0 {
            return Ok(());
        }
        self.metrics.rows_written[sink].add(rows.num_rows() as u64);
        match &mut self.outputs[sink] {
            Some(output) => output.write(seq, order, rows),
            None => Ok(()),
        }
    }

    fn update_metrics(&mut self) {
        let is_first = |index: &usize| {
            let ports = &self.program.stages[*index].ports;
            ports.iter().any(|&port| matches!(self.program.ports[port].from, Producer::Branch(_)))
        };
        let late_of = |copies: bool| -> u64 {
            let counts = |index: &usize| {
                matches!(self.program.stages[*index].spec.window, WindowSpec::Attached { .. }) == copies
            };
            let first = (0..self.operators.len()).filter(is_first).filter(counts);
            first.map(|index| self.operators[index].late_rows()).sum()
        };
        let sessions = |index: &usize| matches!(self.program.stages[*index].spec.window, WindowSpec::Session { .. });
        let open = |index: usize| self.operators[index].open_windows();
        let all = 0..self.operators.len();
        self.metrics.rows_late.set(late_of(false));
        self.metrics.copies_late.set(late_of(true));
        self.metrics.sessions_open.set(all.clone().filter(sessions).map(open).sum());
        self.metrics.windows_open.set(all.filter(|index| !sessions(index)).map(open).sum());
        self.metrics.windows_fired.set(self.operators.iter().map(|operator| operator.fired_windows()).sum());
    }

    /// What the shard came upon, for warnings; once, at the end.
    pub fn take_findings(&mut self) -> Findings {
        self.findings.see_peaks(self.sequencer.peaks());
        std::mem::take(&mut self.findings)
    }

    fn finish(&mut self) -> Result<()> {
        self.outputs.iter_mut().filter_map(Option::take).try_for_each(|output| output.finish())
    }
}
