//! A shard: one thread's whole part of a job, as a synchronous state machine.
//!
//! [`Shard::step`] does one unit of work and says whether there was any. It waits for nothing, knows
//! no clock and no thread, so the same code runs on pinned executors ([`crate::job`]) and under a
//! seeded scheduler in tests. This is the only place that holds two stages at once.
//!
//! For each block of the order, in that order: the reader's shard routes the block's rows to their
//! owners; each owner gives them to the first stages and moves their watermark to what it
//! is after the block; results go on to the next stage in the same way, or to the sink.
//!
//! The machine does not know what rows are: that is a [`Dataflow`]'s. [`columns`] has the one of SQL.

pub mod columns;
mod dataflow;
mod layout;
mod reader;
#[cfg(test)]
mod sim;

use std::collections::VecDeque;
use std::sync::Arc;

use crate::error::Result;
use crate::exchange::Message;
use crate::exchange::mesh::Endpoint;
use crate::exchange::progress::Progress;
use crate::exchange::sequence::{Sequencer, Step};
use crate::time::{Watermark, WatermarkStart};
pub use dataflow::{Cut, Dataflow, InputWatermark, Outgoing, Place};
pub use layout::{Layout, Port, Producer};
use reader::Reader;

/// What a step came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    Done,
    /// Nothing to do until another shard does something.
    Waiting,
    /// All input is processed: [`Shard::finish`] is next.
    Finished,
}

/// A step of the order that this shard has yet to process.
struct Due {
    step: Step,
    /// Through the block, for each stage.
    inputs: Vec<InputWatermark>,
    /// After the block, for each stage.
    watermarks: Vec<Watermark>,
    /// Comes behind the block.
    cut: Option<Box<Cut>>,
}

/// See the module.
pub struct Shard<F: Dataflow> {
    id: usize,
    flow: F,
    layout: Arc<Layout>,
    progress: Arc<Progress>,
    start: WatermarkStart,
    sequencer: Sequencer,
    reader: Reader<F::Block>,
    endpoint: Endpoint<F::Part>,
    /// By port, then by sending shard; each in the order of `seq`.
    inbox: Vec<Vec<VecDeque<Message<F::Part>>>>,
    /// By stage: its watermark after the blocks that have had their turn.
    reached: Vec<Watermark>,
    due: VecDeque<Due>,
    /// The next stage that takes the first due step.
    stage: usize,
}

/// What all shards of a job share, and each one's end of the queues.
pub struct ShardParts<P> {
    pub layout: Arc<Layout>,
    pub progress: Arc<Progress>,
    pub start: WatermarkStart,
    /// Where the job goes on; none: it begins.
    pub place: Option<Arc<Place>>,
    pub endpoint: Endpoint<P>,
}

impl<F: Dataflow> Shard<F> {
    pub fn new(parts: ShardParts<F::Part>, flow: F) -> Self {
        let ShardParts { layout, progress, start, place, endpoint } = parts;
        let shards = endpoint.shards();
        let sequencer = match &place {
            Some(place) => Sequencer::resume(&progress, start, &place.position),
            None => Sequencer::new(&progress, start),
        };
        let reached = place.map_or_else(|| vec![Watermark::MIN; layout.stages()], |place| place.watermarks.clone());
        Shard {
            id: endpoint.shard(),
            flow,
            start,
            reader: Reader::new(progress.clone(), &sequencer),
            sequencer: sequencer.with_delays(layout.delay_max()),
            inbox: (0..layout.ports()).map(|_| (0..shards).map(|_| VecDeque::new()).collect()).collect(),
            reached,
            due: VecDeque::new(),
            stage: 0,
            layout,
            progress,
            endpoint,
        }
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
    ///
    /// # Errors
    /// The dataflow's.
    pub fn step(&mut self) -> Result<Work> {
        self.endpoint.flush();
        let inbox = &mut self.inbox;
        let arrived = self.endpoint.drain(|from, message| inbox[message.port][from].push_back(message));
        if self.take_turns()? | self.process_stage()? {
            return Ok(Work::Done);
        }
        // What could not be sent yet must go before more is made.
        if self.endpoint.kept() == 0
            && (self.reader.read(&mut self.flow) || self.reader.claim(&self.sequencer, &self.flow))
        {
            self.endpoint.wake_all();
            return Ok(Work::Done);
        }
        if self.sequencer.is_over() && self.due.is_empty() && self.endpoint.kept() == 0 {
            return Ok(Work::Finished);
        }
        Ok(if arrived { Work::Done } else { Work::Waiting })
    }

    /// Ends the dataflow when a step has said that all input is processed.
    ///
    /// # Errors
    /// The dataflow's.
    pub fn finish(self) -> Result<F::Outcome> {
        self.flow.finish(self.sequencer.peaks())
    }

    /// Follows the order as far as it is known, and routes this shard's blocks when their turn comes.
    fn take_turns(&mut self) -> Result<bool> {
        let mut any = false;
        // Rows of blocks behind a cut stay where they are until it has been done: some would reach a sink at once.
        while self.due.back().is_none_or(|due| due.cut.is_none())
            && let Some(step) = self.sequencer.current(&self.progress)
        {
            let inputs = self.inputs_of(&step);
            if let Some(block) = self.reader.take_turn(&step, &mut self.flow)? {
                self.route(&step, block, &inputs)?;
                self.endpoint.wake_all();
                any = true;
            }
            if self.sequencer.advance(&self.progress).is_none() {
                break;
            }
            self.reader.pass(step.split, step.block);
            for stage in (0..self.layout.stages()).filter(|&stage| self.layout.reaches(step.split, stage)) {
                let feeds = |split| self.layout.delay(split, stage);
                self.reached[stage] = self.sequencer.watermark_after(self.reached[stage], feeds);
            }
            let cut = self.sequencer.take_cut(&self.progress, &step).map(|number| {
                let place = Place { position: self.sequencer.position(), watermarks: self.reached.clone() };
                Box::new(Cut { number, place })
            });
            self.due.push_back(Due { step, inputs, watermarks: self.reached.clone(), cut });
            any = true;
        }
        Ok(any)
    }

    /// By stage, while the rows of a block are on their way.
    fn inputs_of(&self, step: &Step) -> Vec<InputWatermark> {
        let input = |stage: usize| {
            let (reached, start) = (self.reached[stage], self.start.emitted(step.start));
            let other = |split| self.layout.delay(split, stage).filter(|_| split != step.split);
            InputWatermark { others: self.sequencer.lowest(reached, other), reached, start }
        };
        (0..self.layout.stages()).map(input).collect()
    }

    fn route(&mut self, step: &Step, block: F::Block, inputs: &[InputWatermark]) -> Result<()> {
        let ports = self.layout.fed_by(Producer::Branch(self.layout.branch_of(step.split)));
        let mut out = Outgoing::new(ports, self.endpoint.shards());
        self.flow.route(step, block, inputs, &mut out)?;
        self.send(step.seq, out);
        Ok(())
    }

    fn send(&mut self, seq: u64, out: Outgoing<F::Part>) {
        for (port, to, parts) in out.into_messages() {
            self.endpoint.send(to, Message { port, seq, parts });
        }
    }

    /// Gives the first due step to the next stage, if all of the stage's input for it is there.
    fn process_stage(&mut self) -> Result<bool> {
        let Some(due) = self.due.front() else { return Ok(false) };
        if self.endpoint.kept() > self.endpoint.shards() * crate::limits::BLOCKS_IN_FLIGHT_PER_SHARD {
            return Ok(false);
        }
        let step = due.step;
        if self.stage < self.layout.stages() {
            let Some(parts) = self.input_of(self.stage, &step) else { return Ok(false) };
            let ports = self.layout.fed_by(Producer::Stage(self.stage));
            let mut out = Outgoing::new(ports, self.endpoint.shards());
            let Some(due) = self.due.front() else { return Ok(false) };
            self.flow.run_stage(self.stage, &step, (&due.inputs, due.watermarks[self.stage]), parts, &mut out)?;
            self.send(step.seq, out);
            self.stage += 1;
        }
        if self.stage == self.layout.stages() {
            let cut = self.due.pop_front().and_then(|due| due.cut);
            self.stage = 0;
            self.progress.complete(self.id, step.seq + 1);
            self.flow.completed(&step);
            if let Some(cut) = cut {
                self.flow.cut(&cut)?;
            }
            // Others may wait for leave to read ahead.
            self.endpoint.wake_all();
        }
        Ok(true)
    }

    /// All parts of a stage's input for one step, by port and sender; None while a message is missing.
    fn input_of(&mut self, stage: usize, step: &Step) -> Option<Vec<F::Part>> {
        let branch = self.layout.branch_of(step.split);
        let has = |queue: &VecDeque<Message<F::Part>>| queue.front().is_some_and(|message| message.seq == step.seq);
        let ports = self.layout.ports_of(stage);
        for &port in ports {
            let complete = match self.layout.port(port).from {
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
}
