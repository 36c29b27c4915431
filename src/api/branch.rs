//! A source in the graph: its splits, the times of its records, and what takes them.

use std::any::Any;
use std::panic::Location;
use std::sync::{Arc, Mutex};

use super::context::Context;
use super::explain::SourceCard;
use super::graph::Instantiate;
use super::lock;
use super::push::{Batch, NO_TIMESTAMP, Node, Push};
use super::source::{OpenOptions, RecordSplit, Source, SourceBlock};
use super::watermarks::{Alignment, Kind, WatermarkGenerator, WatermarkOutput, WatermarkStrategy};
use crate::error::{Error, Result};
use crate::exchange::Stamp;
use crate::limits::BATCH_ROWS_DEFAULT;
use crate::source::{Extent, Transition, Wake};
use crate::time::EventTime;
use crate::windowing::Data;
use crate::windowing::batch::BlockTimes;
use crate::windowing::output::Places;

/// A source of records of some type.
pub(super) trait AnyBranch: Send + Sync {
    fn name(&self) -> &str;
    fn is_bounded(&self) -> bool;
    /// Whether anything takes the records.
    fn is_used(&self) -> bool;
    /// When its splits count as idle, milliseconds without a record.
    fn idleness_ms(&self) -> Option<i64>;
    fn alignment(&self) -> Option<&Alignment>;
    fn has_watermarks(&self) -> bool;
    fn card(&self) -> SourceCard;
    /// Sources with the same number are one, and can be read once.
    fn origin(&self) -> usize;
    fn open(&self, options: &OpenOptions) -> Result<Vec<Arc<dyn AnySplit>>>;
    fn instantiate(&self, instantiate: &mut Instantiate<'_>) -> Box<dyn AnyChain>;
}

/// A split of such a source.
pub(super) trait AnySplit: Send + Sync {
    fn extent(&self) -> Extent;
    fn extend(&self) -> Extent;
    /// What a block tells that has just come into being.
    fn stamp(&self, _block: usize) -> Stamp {
        Stamp::NONE
    }
    fn start(&self, wake: &Wake, alone: bool);
    fn bytes(&self) -> u64;
    fn notices(&self) -> Vec<String>;
    /// What a checkpoint knows it by.
    fn name(&self) -> &str;
    /// As [`RecordSplit::why_not_replayed`].
    fn why_not_replayed(&self) -> Option<String>;
    /// As [`RecordSplit::pass_over`].
    fn pass_over(&self, blocks: usize) -> Result<()>;
    fn probe(&self, block: usize) -> Result<Transition>;
    fn read(&self, block: usize, entry: u8) -> Result<AnyBlock>;
    /// A block without records.
    fn empty(&self) -> AnyBlock;
    /// The watermarks through a block, of a split that had the watermark `start` before it. Blocks come in order. The
    /// clock is for others to say.
    fn times(&self, block: &AnyBlock, start: EventTime) -> BlockTimes;
}

/// A block that was read.
pub(super) struct AnyBlock {
    records: Box<dyn Any + Send>,
    pub rows: usize,
    /// What the split's watermark is at least behind the block; `None`: that follows when its turn comes.
    pub highest: Option<EventTime>,
    pub bytes: u64,
    pub malformed: u64,
}

/// What takes a source's records, on one shard.
pub(super) trait AnyChain: Send {
    fn route(&mut self, block: AnyBlock, context: &mut Context<'_>) -> Result<()>;
}

pub(super) struct Branch<T> {
    pub name: String,
    pub origin: usize,
    pub source: Arc<dyn Source<T>>,
    pub strategy: WatermarkStrategy<T>,
    pub node: Arc<Node<T>>,
    pub location: &'static Location<'static>,
}

impl<T: Data> AnyBranch for Branch<T> {
    fn name(&self) -> &str {
        &self.name
    }
    fn is_bounded(&self) -> bool {
        self.source.is_bounded()
    }
    fn is_used(&self) -> bool {
        self.node.is_used()
    }
    fn has_watermarks(&self) -> bool {
        !self.strategy.is_none()
    }
    fn idleness_ms(&self) -> Option<i64> {
        self.strategy.idleness_ms
    }
    fn alignment(&self) -> Option<&Alignment> {
        self.strategy.alignment.as_ref()
    }
    fn card(&self) -> SourceCard {
        self.strategy.card(&self.name, self.location)
    }
    fn origin(&self) -> usize {
        self.origin
    }
    fn open(&self, options: &OpenOptions) -> Result<Vec<Arc<dyn AnySplit>>> {
        let timed = |(number, split): (usize, Arc<dyn RecordSplit<T>>)| -> Arc<dyn AnySplit> {
            let generator = match &self.strategy.kind {
                Kind::Generator(make) => Some(Mutex::new(make())),
                _ => None,
            };
            let name = match split.name() {
                "" => format!("split {} of {}", number + 1, self.name),
                name => name.to_string(),
            };
            Arc::new(TimedSplit { split, name, strategy: self.strategy.clone(), generator })
        };
        Ok(self.source.open(options)?.into_iter().enumerate().map(timed).collect())
    }
    fn instantiate(&self, instantiate: &mut Instantiate<'_>) -> Box<dyn AnyChain> {
        Box::new(Chain { next: self.node.instantiate(instantiate) })
    }
}

struct TimedSplit<T> {
    split: Arc<dyn RecordSplit<T>>,
    name: String,
    strategy: WatermarkStrategy<T>,
    generator: Option<Mutex<Box<dyn WatermarkGenerator<T>>>>,
}

/// A block's records with their times.
struct Timed<T> {
    values: Vec<T>,
    timestamps: Vec<EventTime>,
    /// Of the source, where it gives any.
    watermarks: Option<Vec<EventTime>>,
}

impl<T: Data> TimedSplit<T> {
    fn timestamps(&self, block: &mut SourceBlock<T>) -> Vec<EventTime> {
        let given = block.timestamps.take();
        match &self.strategy.timestamp_of {
            None => given.unwrap_or_else(|| vec![NO_TIMESTAMP; block.values.len()]),
            Some(of) => match given {
                None => block.values.iter().map(|value| of(value, NO_TIMESTAMP)).collect(),
                Some(given) => block.values.iter().zip(given).map(|(value, given)| of(value, given)).collect(),
            },
        }
    }

    fn block(&self, timed: Timed<T>) -> AnyBlock {
        let (rows, highest) = (timed.values.len(), self.highest(&timed));
        AnyBlock { records: Box::new(timed), rows, highest, bytes: 0, malformed: 0 }
    }

    /// The highest watermark that the records of a block ask for; `None` where it depends on those before them.
    fn highest(&self, timed: &Timed<T>) -> Option<EventTime> {
        match &self.strategy.kind {
            Kind::None => Some(EventTime::MIN),
            Kind::Source => Some(timed.watermarks.iter().flatten().copied().max().unwrap_or(EventTime::MIN)),
            Kind::Bounded(delay) => {
                Some(timed.timestamps.iter().map(|&time| behind(time, *delay)).max().unwrap_or(EventTime::MIN))
            }
            Kind::Punctuated(of) => {
                let watermarks =
                    timed.values.iter().zip(&timed.timestamps).filter_map(|(value, &time)| of(value, time));
                Some(watermarks.max().unwrap_or(EventTime::MIN))
            }
            Kind::Generator(_) => None,
        }
    }
}

/// The watermark of bounded out-of-orderness.
#[inline]
fn behind(time: EventTime, delay: i64) -> EventTime {
    time.saturating_sub(delay).saturating_sub(1)
}

/// Moves `current` by the watermark of each row, and notes what it was before.
#[inline]
fn follow(watermarks: impl Iterator<Item = EventTime>, current: &mut EventTime, before: &mut Vec<EventTime>) {
    before.extend(watermarks.map(|watermark| {
        let at = *current;
        *current = at.max(watermark);
        at
    }));
}

impl<T: Data> AnySplit for TimedSplit<T> {
    fn extent(&self) -> Extent {
        self.split.extent()
    }
    fn extend(&self) -> Extent {
        self.split.extend()
    }
    fn start(&self, wake: &Wake, alone: bool) {
        self.split.start(wake, alone);
    }
    fn bytes(&self) -> u64 {
        self.split.bytes()
    }

    fn notices(&self) -> Vec<String> {
        self.split.notices()
    }
    fn name(&self) -> &str {
        &self.name
    }
    fn why_not_replayed(&self) -> Option<String> {
        match self.strategy.kind {
            Kind::Generator(_) => Some(String::from("has a WatermarkGenerator, whose state is its own")),
            _ => self.split.why_not_replayed(),
        }
    }
    fn pass_over(&self, blocks: usize) -> Result<()> {
        self.split.pass_over(blocks)
    }
    fn probe(&self, block: usize) -> Result<Transition> {
        self.split.probe(block)
    }

    fn read(&self, block: usize, entry: u8) -> Result<AnyBlock> {
        let mut block = self.split.read_from(block, entry)?;
        check_lengths(&block)?;
        let timestamps = self.timestamps(&mut block);
        let timed = Timed { values: block.values, timestamps, watermarks: block.watermarks };
        Ok(AnyBlock { bytes: block.bytes, malformed: block.malformed, ..self.block(timed) })
    }
    fn empty(&self) -> AnyBlock {
        self.block(Timed { values: Vec::new(), timestamps: Vec::new(), watermarks: None })
    }

    fn times(&self, block: &AnyBlock, start: EventTime) -> BlockTimes {
        let mut before = Vec::with_capacity(block.rows);
        let mut current = start;
        // Made by this very split: it is of its type.
        if let Some(timed) = block.records.downcast_ref::<Timed<T>>() {
            let rows = timed.values.iter().zip(&timed.timestamps);
            match &self.strategy.kind {
                Kind::None => before.resize(block.rows, start),
                Kind::Source => match &timed.watermarks {
                    None => before.resize(block.rows, start),
                    Some(watermarks) => follow(watermarks.iter().copied(), &mut current, &mut before),
                },
                Kind::Bounded(delay) => {
                    follow(timed.timestamps.iter().map(|&time| behind(time, *delay)), &mut current, &mut before);
                }
                Kind::Punctuated(of) => {
                    let watermarks = rows.map(|(value, &time)| of(value, time).unwrap_or(EventTime::MIN));
                    follow(watermarks, &mut current, &mut before);
                }
                Kind::Generator(_) => {
                    let mut output = WatermarkOutput { highest: start };
                    if let Some(generator) = &self.generator {
                        let mut generator = lock(generator);
                        for (value, &time) in rows {
                            before.push(output.highest);
                            generator.on_event(value, time, &mut output);
                            generator.on_periodic_emit(&mut output);
                        }
                    }
                    current = output.highest;
                }
            }
        }
        BlockTimes { before, after: current, processing_time: EventTime::MIN }
    }
}

/// One timestamp and one watermark a record, where there are any.
fn check_lengths<T>(block: &SourceBlock<T>) -> Result<()> {
    let records = block.values.len();
    for (what, given) in [("timestamps", &block.timestamps), ("watermarks", &block.watermarks)] {
        if let Some(given) = given.as_ref().filter(|given| given.len() != records) {
            let message = format!("a source gave a block of {records} records with {} {what}", given.len());
            return Err(Error::usage(message).help("give one for each record of the block, or None for all of them"));
        }
    }
    Ok(())
}

struct Chain<T> {
    next: Box<dyn Push<T>>,
}

impl<T: Data> AnyChain for Chain<T> {
    fn route(&mut self, block: AnyBlock, context: &mut Context<'_>) -> Result<()> {
        let timed: Box<Timed<T>> =
            block.records.downcast().map_err(|_| Error::internal("a block of another source's records"))?;
        let Timed { values, timestamps, .. } = *timed;
        let rows = values.len();
        let mut push = |values: Vec<T>, timestamps: Vec<EventTime>, first: usize| {
            self.next.push(Batch { values, timestamps, places: Places::From(first as u32) }, context)
        };
        if rows > BATCH_ROWS_DEFAULT {
            // A block of a file may have very many rows: in pieces they stay near the core through the chain.
            let (mut values, mut timestamps) = (values.into_iter(), timestamps.into_iter());
            for first in (0..rows).step_by(BATCH_ROWS_DEFAULT) {
                let values = values.by_ref().take(BATCH_ROWS_DEFAULT).collect();
                push(values, timestamps.by_ref().take(BATCH_ROWS_DEFAULT).collect(), first)?;
            }
        } else if rows > 0 {
            push(values, timestamps, 0)?;
        }
        self.next.end_block(context)
    }
}
