//! Chains: what is done with records on the shard that has them, a batch at a time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use super::context::Context;
use super::graph::Instantiate;
use super::lock;
use crate::error::Result;
use crate::time::EventTime;
use crate::windowing::Data;
use crate::windowing::output::{Places, Records};

/// The timestamp of a record that has none (Flink's marker).
pub const NO_TIMESTAMP: EventTime = EventTime::MIN;

/// Records of one block.
pub(super) struct Batch<T> {
    pub values: Vec<T>,
    /// Milliseconds.
    pub timestamps: Vec<EventTime>,
    pub places: Places,
}

impl<T> Batch<T> {
    pub fn of_results(records: Records<T>) -> Self {
        Batch { values: records.values, timestamps: records.timestamps, places: Places::Each(records.places) }
    }
}

/// Takes the records of a stream on one shard.
pub(super) trait Push<T>: Send {
    fn push(&mut self, batch: Batch<T>, context: &mut Context<'_>) -> Result<()>;
    /// The block is over.
    fn end_block(&mut self, context: &mut Context<'_>) -> Result<()>;
}

type MakePush<T> = Arc<dyn Fn(&mut Instantiate<'_>) -> Box<dyn Push<T>> + Send + Sync>;

struct Consumer<T> {
    make: MakePush<T>,
    /// Whether anything comes of the records that it takes.
    is_used: Arc<dyn Fn() -> bool + Send + Sync>,
}

impl<T> Clone for Consumer<T> {
    fn clone(&self) -> Self {
        Consumer { make: self.make.clone(), is_used: self.is_used.clone() }
    }
}

/// A stream in the graph: what takes its records, to be made anew for every shard.
pub(super) struct Node<T> {
    consumers: Mutex<Vec<Consumer<T>>>,
    /// Watermarks were assigned to its stream: the records go on from another node.
    moved: AtomicBool,
}

impl<T: Data> Node<T> {
    pub fn new() -> Arc<Self> {
        Arc::new(Node { consumers: Mutex::new(Vec::new()), moved: AtomicBool::new(false) })
    }
    fn consumers(&self) -> Vec<Consumer<T>> {
        lock(&self.consumers).clone()
    }
    fn add(&self, consumer: Consumer<T>) {
        lock(&self.consumers).push(consumer);
    }
    /// The records end there, in a sink or a window.
    pub fn attach(&self, make: impl Fn(&mut Instantiate<'_>) -> Box<dyn Push<T>> + Send + Sync + 'static) {
        self.add(Consumer { make: Arc::new(make), is_used: Arc::new(|| true) });
    }
    /// The records go on to `next`.
    pub fn attach_before<U: Data>(
        &self,
        next: &Arc<Node<U>>,
        make: impl Fn(&mut Instantiate<'_>) -> Box<dyn Push<T>> + Send + Sync + 'static,
    ) {
        let next = next.clone();
        self.add(Consumer { make: Arc::new(make), is_used: Arc::new(move || next.is_taken()) });
    }
    /// Watermarks were assigned to the stream.
    pub fn set_moved(&self) {
        self.moved.store(true, Ordering::Relaxed);
    }
    /// Whether anybody takes the records.
    pub fn is_used(&self) -> bool {
        self.consumers().iter().any(|consumer| (consumer.is_used)())
    }
    /// As [`is_used`](Self::is_used); what a function makes of records may also be left lying, but not if it goes on
    /// from elsewhere.
    fn is_taken(&self) -> bool {
        self.is_used() || (self.consumers().is_empty() && !self.moved.load(Ordering::Relaxed))
    }
    /// What takes the records, on one shard and from one producer.
    pub fn instantiate(&self, instantiate: &mut Instantiate<'_>) -> Box<dyn Push<T>> {
        let mut made: Vec<_> = self.consumers().iter().map(|consumer| (consumer.make)(instantiate)).collect();
        match made.len() {
            1 => made.remove(0),
            _ => Box::new(Fanout(made)),
        }
    }
}

/// Gives the records to several.
struct Fanout<T>(Vec<Box<dyn Push<T>>>);

impl<T: Data> Push<T> for Fanout<T> {
    fn push(&mut self, batch: Batch<T>, context: &mut Context<'_>) -> Result<()> {
        let Some((last, others)) = self.0.split_last_mut() else { return Ok(()) };
        for consumer in others {
            let Batch { values, timestamps, places } = &batch;
            let copy = Batch { values: values.clone(), timestamps: timestamps.clone(), places: places.clone() };
            consumer.push(copy, context)?;
        }
        last.push(batch, context)
    }
    fn end_block(&mut self, context: &mut Context<'_>) -> Result<()> {
        self.0.iter_mut().try_for_each(|consumer| consumer.end_block(context))
    }
}

/// One record out of each.
pub(super) struct Map<F, U> {
    pub function: F,
    pub next: Box<dyn Push<U>>,
}

impl<T, U, F> Push<T> for Map<F, U>
where
    F: Fn(T) -> U + Send,
{
    fn push(&mut self, batch: Batch<T>, context: &mut Context<'_>) -> Result<()> {
        let values = batch.values.into_iter().map(&self.function).collect();
        self.next.push(Batch { values, timestamps: batch.timestamps, places: batch.places }, context)
    }
    fn end_block(&mut self, context: &mut Context<'_>) -> Result<()> {
        self.next.end_block(context)
    }
}

/// Any number of records out of each: they have its timestamp.
pub(super) struct FlatMap<F, U> {
    pub function: F,
    pub next: Box<dyn Push<U>>,
}

impl<T, U, F> Push<T> for FlatMap<F, U>
where
    F: Fn(T, &mut Vec<U>) + Send,
{
    fn push(&mut self, batch: Batch<T>, context: &mut Context<'_>) -> Result<()> {
        let (mut values, mut timestamps, mut from) = (Vec::with_capacity(batch.values.len()), Vec::new(), Vec::new());
        for (row, value) in batch.values.into_iter().enumerate() {
            (self.function)(value, &mut values);
            timestamps.resize(values.len(), batch.timestamps[row]);
            from.resize(values.len(), row as u32);
        }
        self.next.push(Batch { values, timestamps, places: batch.places.select(&from) }, context)
    }
    fn end_block(&mut self, context: &mut Context<'_>) -> Result<()> {
        self.next.end_block(context)
    }
}

/// Only the records that satisfy a predicate.
pub(super) struct Filter<F, T> {
    pub predicate: F,
    pub next: Box<dyn Push<T>>,
}

impl<T, F> Push<T> for Filter<F, T>
where
    F: Fn(&T) -> bool + Send,
{
    fn push(&mut self, batch: Batch<T>, context: &mut Context<'_>) -> Result<()> {
        let before = batch.values.len();
        let mut kept = Vec::with_capacity(before);
        let mut row = 0;
        let mut values = batch.values;
        values.retain(|value| {
            let keep = (self.predicate)(value);
            if keep {
                kept.push(row);
            }
            row += 1;
            keep
        });
        if values.len() == before {
            return self.next.push(Batch { values, timestamps: batch.timestamps, places: batch.places }, context);
        }
        context.counts.rows_filtered += (before - values.len()) as u64;
        if values.is_empty() {
            return Ok(());
        }
        let timestamps = kept.iter().map(|&row| batch.timestamps[row as usize]).collect();
        self.next.push(Batch { values, timestamps, places: batch.places.select(&kept) }, context)
    }
    fn end_block(&mut self, context: &mut Context<'_>) -> Result<()> {
        self.next.end_block(context)
    }
}
