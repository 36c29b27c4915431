//! Writing tables: each shard writes parts of its own; nothing has its final name before the job commits.

use std::sync::Arc;

use arrow::array::RecordBatch;

use crate::error::{Error, Result};
use crate::plan::SinkSpec;

/// A sink of one job. Made before the job starts; shared by all shards.
pub trait Sink: Send + Sync {
    /// The writer of one shard.
    fn writer(&self, shard: usize) -> Result<Box<dyn SinkWriter>>;
    /// Makes everything visible that the finished writers wrote, in shard order. Called once, after all have finished.
    fn commit(&self) -> Result<()>;
    /// Removes what was written. Called instead of `commit` when the job fails or is cancelled.
    fn abort(&self);
}

/// One shard's writer.
pub trait SinkWriter: Send {
    fn write(&mut self, batch: &RecordBatch) -> Result<()>;
    /// Flushes; after this the part is complete, though not visible.
    fn finish(self: Box<Self>) -> Result<()>;
}

/// Opens a filesystem or blackhole sink; checks that its path can be written. `parallelism`: number of writers.
/// The print and collect connectors are the job's own (they need the caller).
pub fn open(spec: &SinkSpec, parallelism: usize) -> Result<Arc<dyn Sink>> {
    let _ = (spec, parallelism);
    Err(Error::internal("sinks are not there yet"))
}
