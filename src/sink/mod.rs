//! Writing tables: each shard writes parts of its own; nothing has its final name before the job commits.

mod filesystem;
mod part;
mod partitioned;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::RecordBatch;

use crate::error::{Error, Result};
use crate::plan::{SinkConnector, SinkSpec};

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
    /// Lets go of the file and of all buffers until the next batch; false, if that cannot be done.
    fn rest(&mut self) -> Result<bool> {
        Ok(false)
    }
    /// Flushes; after this the part is complete, though not visible.
    fn finish(self: Box<Self>) -> Result<()>;
}

/// Takes everything and keeps nothing.
struct Blackhole;

impl Sink for Blackhole {
    fn writer(&self, _shard: usize) -> Result<Box<dyn SinkWriter>> {
        Ok(Box::new(Blackhole))
    }
    fn commit(&self) -> Result<()> {
        Ok(())
    }
    fn abort(&self) {}
}

impl SinkWriter for Blackhole {
    fn write(&mut self, _batch: &RecordBatch) -> Result<()> {
        Ok(())
    }
    fn finish(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

/// The file that a sink replaces at commit; `None` if it adds files to a folder, or writes none.
pub fn replaced_file(spec: &SinkSpec) -> Option<PathBuf> {
    match &spec.connector {
        SinkConnector::Filesystem { path, partitions: None, .. } => filesystem::replaced_file(path),
        _ => None,
    }
}

/// Opens a filesystem or blackhole sink; checks that its path can be written. `parallelism`: number of writers.
/// Print, stdout and the rows of a SELECT are the job's own (they need the caller).
///
/// # Errors
/// Io, naming the path that cannot be written.
pub fn open(spec: &SinkSpec, parallelism: usize) -> Result<Arc<dyn Sink>> {
    match &spec.connector {
        SinkConnector::Filesystem { path, format, partitions: Some(partitions) } => {
            Ok(Arc::new(partitioned::Partitioned::open(path, format, spec, partitions)?))
        }
        SinkConnector::Filesystem { path, format, partitions: None } => {
            Ok(Arc::new(filesystem::Filesystem::open(path, format, &spec.schema, parallelism)?))
        }
        SinkConnector::Blackhole => Ok(Arc::new(Blackhole)),
        SinkConnector::Print { .. } | SinkConnector::Stdout { .. } | SinkConnector::Collect => {
            Err(Error::internal(format!("the sink of table `{}` is the job's own", spec.table)))
        }
    }
}
