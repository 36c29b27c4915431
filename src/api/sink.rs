//! Sinks: where records leave the job.

use std::any::Any;
use std::sync::{Arc, Mutex};

use super::context::Context;
use super::lock;
use super::push::{Batch, Push};
use crate::error::{Error, Result};
use crate::job::output::OpenSink;
use crate::snapshot::{Closed, SinkState};
use crate::time::EventTime;
use crate::windowing::Data;
use crate::windowing::output::Place;

/// A sink of some type. It gets the batches of all shards in the order of one machine.
///
/// First of all `begin`; at the end either `finish` and `commit`, or `abort`.
pub(super) trait AnySink: Send {
    /// `state`: of the checkpoint from which the job goes on.
    fn begin(&mut self, _state: Option<&SinkState>) -> Result<()> {
        Ok(())
    }
    /// The files that it writes, once it has begun; what others were given, nobody takes back.
    fn files(&self) -> OpenSink {
        OpenSink::Caller
    }
    /// All that decides on what it writes, in words.
    fn describe(&self) -> String {
        String::new()
    }
    /// Completes what was taken up to a cut.
    fn close(&mut self) -> Result<Closed> {
        Ok(Closed::default())
    }
    /// The batches of one block, by shard: they are merged by their places.
    fn take(&mut self, batches: Vec<Box<dyn Any + Send>>) -> Result<()>;
    /// The input has ended, and all records were taken.
    fn finish(&mut self) -> Result<()> {
        Ok(())
    }
    /// All sinks have finished: what this one has becomes visible.
    fn commit(&mut self) -> Result<()> {
        Ok(())
    }
    /// The job has failed.
    fn abort(&mut self) {}
}

/// Gives a stream's records to a sink.
pub(super) struct Give {
    pub sink: usize,
}

impl<T: Data> Push<T> for Give {
    fn push(&mut self, batch: Batch<T>, context: &mut Context<'_>) -> Result<()> {
        context.leaving.give(self.sink, Box::new(batch))
    }
    fn end_block(&mut self, _context: &mut Context<'_>) -> Result<()> {
        Ok(())
    }
}

/// The records of all batches in the order of their places.
pub(super) fn in_order<T: Data>(batches: Vec<Box<dyn Any + Send>>) -> Result<Vec<(T, EventTime)>> {
    let mut rows: Vec<(Place, T, EventTime)> = Vec::new();
    for batch in batches {
        let batch: Box<Batch<T>> = batch.downcast().map_err(|_| Error::internal("records of another sink's type"))?;
        let Batch { values, timestamps, places } = *batch;
        let timed = values.into_iter().zip(timestamps).enumerate();
        rows.extend(timed.map(|(row, (value, timestamp))| (places.own(row, 0), value, timestamp)));
    }
    rows.sort_by_key(|row| row.0);
    Ok(rows.into_iter().map(|(_, value, timestamp)| (value, timestamp)).collect())
}

/// A sink that gives its records one by one, with their timestamps, to a function, on the thread that executes the program.
pub(super) fn each<T: Data>(each: impl FnMut(T, EventTime) -> Result<()> + Send + 'static) -> Box<dyn AnySink> {
    Box::new(Typed { each: Box::new(each) })
}

struct Typed<T> {
    each: Box<dyn FnMut(T, EventTime) -> Result<()> + Send>,
}

impl<T: Data> AnySink for Typed<T> {
    fn take(&mut self, batches: Vec<Box<dyn Any + Send>>) -> Result<()> {
        in_order(batches)?.into_iter().try_for_each(|(value, timestamp)| (self.each)(value, timestamp))
    }
}

/// The records of a stream, once the program was executed.
#[derive(Debug)]
pub struct Collected<T> {
    pub(super) records: Arc<Mutex<Vec<(T, EventTime)>>>,
}

impl<T> Clone for Collected<T> {
    fn clone(&self) -> Self {
        Collected { records: self.records.clone() }
    }
}

/// Stands for a sink that takes its records on the shards.
pub(super) struct Elsewhere;

impl AnySink for Elsewhere {
    fn take(&mut self, _batches: Vec<Box<dyn Any + Send>>) -> Result<()> {
        Ok(())
    }
}

/// Gives records to a function of this shard, which is made with the first of them.
pub(super) struct Hand<M, F> {
    pub make: M,
    pub each: Option<F>,
}

impl<T, M, F> Push<T> for Hand<M, F>
where
    T: Data,
    M: Fn() -> F + Send,
    F: FnMut(T, EventTime) -> Result<()> + Send,
{
    fn push(&mut self, batch: Batch<T>, _context: &mut Context<'_>) -> Result<()> {
        let each = self.each.get_or_insert_with(&self.make);
        let mut timed = batch.values.into_iter().zip(batch.timestamps);
        timed.try_for_each(|(value, timestamp)| each(value, timestamp))
    }
    fn end_block(&mut self, _context: &mut Context<'_>) -> Result<()> {
        Ok(())
    }
}

impl<T> Collected<T> {
    pub(super) fn new() -> Self {
        Collected { records: Arc::new(Mutex::new(Vec::new())) }
    }
    /// The records so far, in the order of one machine that takes one row after the other; later calls give those that
    /// came since.
    pub fn take(&self) -> Vec<T> {
        self.take_timed().into_iter().map(|(value, _)| value).collect()
    }
    /// With their timestamps, in milliseconds.
    pub fn take_timed(&self) -> Vec<(T, EventTime)> {
        std::mem::take(&mut *lock(&self.records))
    }
}
