//! Sources: where records come from.

mod collection;
mod mapped;

use std::sync::Arc;

use crate::error::Result;
use crate::source::{Extent, Wake};
use crate::time::EventTime;
use crate::windowing::Data;

pub use collection::{GeneratorSource, IteratorSource};
pub(super) use mapped::MappedSource;

/// What a source is told when it is opened.
#[derive(Debug, Clone)]
pub struct OpenOptions {
    /// Records per block, for sources that choose.
    pub block_rows: usize,
    /// Bytes per block, for sources that read bytes.
    pub block_bytes: usize,
    /// When a split that waits for records counts as idle, milliseconds.
    pub idleness_ms: Option<i64>,
}

/// The records of a block.
#[derive(Debug)]
pub struct SourceBlock<T> {
    pub values: Vec<T>,
    /// One a record, milliseconds; `None`: the source knows none.
    pub timestamps: Option<Vec<EventTime>>,
    /// No more is to be expected soon.
    pub idle: bool,
    /// The clock when the block came into being, milliseconds since 1970; 0 where processing time does not matter.
    pub clock: EventTime,
}

impl<T> SourceBlock<T> {
    pub fn of(values: Vec<T>) -> Self {
        SourceBlock { values, timestamps: None, idle: false, clock: 0 }
    }
}

/// A part of a source with an order of its own, cut into blocks. Shared by all shards.
pub trait RecordSplit<T>: Send + Sync {
    /// For messages.
    fn name(&self) -> String;
    /// The blocks that are there by now. Whether a split is complete once it has so many must follow from the records
    /// alone: the last block comes with the word that it is the last one.
    fn extent(&self) -> Extent;
    /// Makes one more block if that can be done now. Never waits for anybody.
    fn extend(&self) -> Extent {
        self.extent()
    }
    /// The job begins: from now on `wake` is called when there may be more.
    fn start(&self, _wake: &Wake) {}
    /// Bytes in all, for progress; 0: unknown.
    fn bytes(&self) -> u64 {
        0
    }
    /// The records of a block; asked for once.
    ///
    /// # Errors
    /// What the source fails with, with the place.
    fn read(&self, block: usize) -> Result<SourceBlock<T>>;
}

/// Where the records of a stream come from.
pub trait Source<T: Data>: Send + Sync + 'static {
    /// Opens the splits; once a job.
    ///
    /// # Errors
    /// What can't be opened, and the remedy.
    fn open(&self, options: &OpenOptions) -> Result<Vec<Arc<dyn RecordSplit<T>>>>;
    /// Ends by itself.
    fn is_bounded(&self) -> bool {
        true
    }
}
