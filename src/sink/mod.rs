//! Writing tables: each shard writes parts of its own; nothing has its final name before the job, or a checkpoint that
//! covers it, commits.

mod filesystem;
mod part;
mod partitioned;
mod parts;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::RecordBatch;

use crate::error::{Error, Result};
use crate::io::files::{Disk, disk};
use crate::plan::{SinkConnector, SinkSpec};
use crate::snapshot::{Closed, SinkState};
pub use parts::sync_parts;

/// A sink of one job. Made before the job starts; shared by all shards.
pub trait Sink: Send + Sync {
    /// The writer of one shard.
    fn writer(&self, shard: usize) -> Result<Box<dyn SinkWriter>>;
    /// Makes everything visible that the finished writers wrote, in shard order. Called once, after all have finished.
    fn commit(&self) -> Result<()>;
    /// Removes what was written behind the last cut, of which nothing counts. Called before `commit` where a job ends there.
    fn cut_off(&self) {}
    /// Removes what was written and is in no checkpoint. Called instead of `commit` when the job fails or is cancelled.
    fn abort(&self);
    /// The folder in which hidden files of this run may be left, and how their names begin.
    fn hidden_files(&self) -> Option<(PathBuf, String)> {
        None
    }
    /// All sinks have committed and no checkpoint is left: removes what was kept only to go back to one.
    fn settle(&self) {}
    /// What a checkpoint has to know of it. `closed`: what the writer of each shard said at the cut.
    fn state(&self, _closed: &[Closed]) -> SinkState {
        SinkState::default()
    }
    /// A checkpoint with this state is complete: what it has of the output counts from now on.
    ///
    /// # Errors
    /// Io, with the file.
    fn publish(&self, _state: &SinkState) -> Result<()> {
        Ok(())
    }
    /// Goes on from the state of a checkpoint, before any writer is made.
    ///
    /// # Errors
    /// Io, with the file; Data, if a file is not there that the checkpoint needs.
    fn restore(&self, _state: &SinkState) -> Result<()> {
        Ok(())
    }
}

/// One shard's writer.
pub trait SinkWriter: Send {
    fn write(&mut self, batch: &RecordBatch) -> Result<()>;
    /// Completes the files that were begun; rows that follow go into others.
    ///
    /// # Errors
    /// Io, with the file.
    fn close(&mut self) -> Result<Closed>;
    /// Completes all files; they are not visible yet.
    ///
    /// # Errors
    /// As [`SinkWriter::close`].
    fn finish(mut self: Box<Self>) -> Result<()> {
        self.close().map(drop)
    }
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
    fn close(&mut self) -> Result<Closed> {
        Ok(Closed::default())
    }
}

/// The file that a sink replaces at commit; `None` if it adds files to a folder, or writes none.
pub fn replaced_file(spec: &SinkSpec) -> Option<PathBuf> {
    match &spec.connector {
        SinkConnector::Filesystem { path, partitions: None, .. } => filesystem::replaced_file(path),
        _ => None,
    }
}

/// As [`open_on`], on this machine's files.
///
/// # Errors
/// As [`open_on`].
pub fn open(spec: &SinkSpec) -> Result<Arc<dyn Sink>> {
    open_on(&disk(), spec)
}

/// Opens a filesystem or blackhole sink; checks that its path can be written.
/// Print, stdout and the rows of a SELECT are the job's own (they need the caller).
///
/// # Errors
/// Io, naming the path that cannot be written.
pub fn open_on(disk: &Disk, spec: &SinkSpec) -> Result<Arc<dyn Sink>> {
    match &spec.connector {
        SinkConnector::Filesystem { path, format, partitions: Some(partitions) } => {
            Ok(Arc::new(partitioned::Partitioned::open((path, disk), format, spec, partitions)?))
        }
        SinkConnector::Filesystem { path, format, partitions: None } => {
            Ok(Arc::new(filesystem::Filesystem::open((path, disk), format, &spec.schema)?))
        }
        SinkConnector::Blackhole => Ok(Arc::new(Blackhole)),
        SinkConnector::Print { .. } | SinkConnector::Stdout { .. } | SinkConnector::Collect => {
            Err(Error::internal(format!("the sink of table `{}` is the job's own", spec.table)))
        }
    }
}
