//! A program's dataflow on one shard.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::branch::{AnyBlock, AnySplit};
use super::clock::Clock;
use super::context::{ChainCounts, Context, Leaving, Part};
use super::graph::Instance;
use super::stage::StageCounts;
use crate::error::{Error, ErrorKind, Result};
use crate::exchange::Stamp;
use crate::exchange::sequence::Step;
use crate::job::drive::Teller;
use crate::key::KeyGroups;
use crate::shard::columns::Restored;
use crate::shard::{Cut, Dataflow, InputWatermark, Outgoing};
use crate::snapshot::{Counts, StateWriter};
use crate::source::{Extent, Transition};
use crate::time::Watermark;
use crate::watermark::Peaks;
use crate::windowing::Taking;
use crate::windowing::batch::BlockTimes;

/// On its way to the thread that executes the program.
pub(super) enum Told {
    /// Records for a sink.
    Records { sink: usize, seq: u64, shard: usize, records: Box<dyn Any + Send> },
    /// What a shard has at a cut.
    Saved(Box<Saved>),
}

/// What a shard has at a cut.
pub(super) struct Saved {
    pub shard: usize,
    pub cut: Cut,
    /// How many blocks of the order are before the cut, since this run began.
    pub blocks: u64,
    pub state: StateWriter,
    /// How long the shard did nothing else.
    pub pause: Duration,
    pub counts: Counts,
}

/// What a shard came to.
#[derive(Debug, Clone, Default)]
pub(super) struct Outcome {
    pub rows_read: u64,
    pub malformed: u64,
    pub counts: ChainCounts,
    /// By stage.
    pub stages: Vec<StageCounts>,
}

impl Outcome {
    /// What a job goes on counting from; stages have their counts in their state.
    pub fn totals(&self) -> [u64; 3] {
        [self.rows_read, self.malformed, self.counts.rows_filtered]
    }
}

/// Calls functions of the program where nobody else catches their panics.
pub(super) fn guarded<R>(work: impl FnOnce() -> Result<R>) -> Result<R> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_string());
        Err(a_panic(&text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()))
    })
}

fn a_panic(text: &str) -> Error {
    Error::new(ErrorKind::Data, format!("the program panicked while its job was running: {text}"))
        .help("the message of the panic on standard error says where; functions that may fail can return an Error")
}

/// What all shards have read so far.
#[derive(Debug, Default)]
pub(super) struct Read {
    pub records: AtomicU64,
    pub bytes: AtomicU64,
    /// That there are.
    pub bytes_total: AtomicU64,
}

pub(super) type Tell = Teller<Told, Outcome>;

/// See the module.
pub(super) struct Flow {
    pub shard: usize,
    pub groups: KeyGroups,
    /// Branch and split.
    pub splits: Arc<Vec<(usize, Arc<dyn AnySplit>)>>,
    pub instance: Instance,
    pub clock: Clock,
    pub teller: Tell,
    pub read: Arc<Read>,
    pub outcome: Outcome,
    /// Somebody takes what there is at cuts.
    pub saves: bool,
    /// Blocks of the order that all stages have done.
    pub blocks: u64,
}

/// A block between being read and its turn.
pub(super) struct Block {
    split: usize,
    block: AnyBlock,
    times: Option<BlockTimes>,
}

/// What leaves this shard in a step.
struct Leave<'a> {
    out: &'a mut Outgoing<Part>,
    teller: &'a Tell,
    seq: u64,
    shard: usize,
}

impl Leaving for Leave<'_> {
    fn send(&mut self, port: usize, to: usize, part: Part) {
        self.out.push(port, to, part);
    }
    fn give(&mut self, sink: usize, records: Box<dyn Any + Send>) -> Result<()> {
        self.teller.tell(Told::Records { sink, seq: self.seq, shard: self.shard, records })
    }
}

impl Flow {
    /// Takes over state before it begins.
    ///
    /// # Errors
    /// As [`Instance::restore`].
    pub fn take_over(mut self, restored: Option<Restored>) -> Result<Self> {
        if let Some(Restored { files, counts, .. }) = restored {
            let (groups, shard) = (self.groups, self.shard);
            let wanted = |hash| groups.owner_of(hash) as usize == shard;
            self.instance.restore(files, &Taking { wanted: &wanted, counts })?;
        }
        Ok(self)
    }

    fn context<'a>(
        counts: &'a mut ChainCounts,
        groups: KeyGroups,
        block: Arc<BlockTimes>,
        inputs: &'a [InputWatermark],
        leaving: &'a mut Leave<'_>,
    ) -> Context<'a> {
        Context { block, inputs, groups, counts, leaving }
    }
}

impl Dataflow for Flow {
    type Block = Block;
    type Part = Part;
    type Outcome = Outcome;

    fn extend(&self, split: usize) -> Extent {
        self.splits[split].1.extend()
    }

    fn stamp(&self, split: usize, block: usize) -> Stamp {
        self.splits[split].1.stamp(block)
    }

    fn probe(&self, split: usize, block: usize) -> Result<Transition> {
        self.splits[split].1.probe(block)
    }

    fn read(&mut self, split: usize, block: usize, entry: u8) -> Result<Block> {
        let block = self.splits[split].1.read(block, entry)?;
        self.read.records.fetch_add(block.rows as u64, Ordering::Relaxed);
        self.read.bytes.fetch_add(block.bytes, Ordering::Relaxed);
        Ok(Block { split, block, times: None })
    }

    fn peaks(&self, block: &Block) -> Option<Peaks> {
        block.block.highest.map(|first| Peaks { first, second: i64::MIN })
    }

    fn after(&mut self, block: &mut Block, start: Watermark) -> Watermark {
        let times = self.splits[block.split].1.times(&block.block, start.0);
        let after = Watermark(times.after);
        block.times = Some(times);
        after
    }

    fn route(&mut self, step: &Step, block: Block, inputs: &[InputWatermark], out: &mut Outgoing<Part>) -> Result<()> {
        let Block { split, block, times } = block;
        self.outcome.rows_read += block.rows as u64;
        self.outcome.malformed += block.malformed;
        let (branch, split) = &self.splits[split];
        let mut times = times.unwrap_or_else(|| split.times(&block, step.start.0));
        // Where nothing depends on it, blocks have no time of their own: what functions are told is the time of day.
        times.processing_time = if step.stamp == Stamp::NONE { self.clock.now() } else { step.stamp.clock_ms };
        let mut leaving = Leave { out, teller: &self.teller, seq: step.seq, shard: self.shard };
        let counts = &mut self.outcome.counts;
        let mut context = Self::context(counts, self.groups, Arc::new(times), inputs, &mut leaving);
        self.instance.chains[*branch].route(block, &mut context)
    }

    fn run_stage(
        &mut self,
        stage: usize,
        step: &Step,
        (inputs, watermark): (&[InputWatermark], Watermark),
        parts: Vec<Part>,
        out: &mut Outgoing<Part>,
    ) -> Result<()> {
        // The block does not reach the stage.
        let Some(first) = parts.first() else { return Ok(()) };
        let block = first.block.clone();
        let mut leaving = Leave { out, teller: &self.teller, seq: step.seq, shard: self.shard };
        let mut context = Self::context(&mut self.outcome.counts, self.groups, block, inputs, &mut leaving);
        self.instance.stages[stage].run(parts, stage, watermark, &mut context)
    }

    fn completed(&mut self, step: &Step) {
        self.blocks = step.seq + 1;
    }

    fn cut(&mut self, cut: &Cut) -> Result<()> {
        if !self.saves {
            return Ok(());
        }
        let started = Instant::now();
        let state = self.instance.save()?;
        let pause = started.elapsed();
        let counts = Counts { totals: self.outcome.totals().to_vec(), written: Vec::new() };
        let saved = Saved { shard: self.shard, cut: cut.clone(), blocks: self.blocks, state, pause, counts };
        self.teller.tell(Told::Saved(Box::new(saved)))
    }

    fn panicked(text: &str) -> Error {
        a_panic(text)
    }

    fn finish(mut self, _peaks: &[Peaks]) -> Result<Outcome> {
        for (stage, outcome) in self.instance.stages.iter().zip(&mut self.outcome.stages) {
            *outcome = stage.counts();
        }
        Ok(self.outcome)
    }
}
