//! Sources: where records come from.

mod blocks;
mod channel;
mod collection;
mod mapped;
#[cfg(feature = "sql")]
mod table;
#[cfg(test)]
pub(super) mod tests;

use std::sync::Arc;

use crate::error::Result;
use crate::source::{Extent, Transition, Wake};
use crate::time::EventTime;
use crate::windowing::Data;

pub(super) use blocks::Blocks;
pub use channel::{ChannelSource, StreamSender, channel};
pub use collection::{GeneratorSource, IteratorSource};
pub(super) use mapped::MappedSource;
#[cfg(feature = "sql")]
pub use table::{Columns, Decimal, FromColumn, Row, TableSource};

/// What a source is told when it is opened.
#[derive(Debug, Clone)]
pub struct OpenOptions {
    /// Records per block, for sources that choose.
    pub block_rows: usize,
    /// Bytes per block, for sources that read bytes.
    pub block_bytes: usize,
}

/// The records of a block.
#[derive(Debug)]
pub struct SourceBlock<T> {
    pub values: Vec<T>,
    /// One a record, milliseconds; `None`: the source knows none.
    pub timestamps: Option<Vec<EventTime>>,
    /// One a record: the watermark that it makes the source's, milliseconds, [`EventTime::MIN`] for none. Heard with
    /// [`WatermarkStrategy::from_source`](crate::api::WatermarkStrategy::from_source) alone.
    pub watermarks: Option<Vec<EventTime>>,
    /// What the block takes of [`RecordSplit::bytes`].
    pub bytes: u64,
    /// Records that were left out because they could not be read.
    pub malformed: u64,
}

impl<T> SourceBlock<T> {
    pub fn of(values: Vec<T>) -> Self {
        SourceBlock { values, timestamps: None, watermarks: None, bytes: 0, malformed: 0 }
    }
}

/// A part of a source with an order of its own, cut into blocks. Shared by all shards.
pub trait RecordSplit<T>: Send + Sync {
    /// The blocks that are there by now. Whether a split is complete once it has so many must follow from the records
    /// alone: the last block comes with the word that it is the last one.
    fn extent(&self) -> Extent;
    /// Makes one more block if that can be done now. Never waits for anybody.
    fn extend(&self) -> Extent {
        self.extent()
    }
    /// The job begins: from now on `wake` is called when there may be more. `alone`: the job's answer does not depend on
    /// where blocks end, so that a split that waits for its records may make short ones.
    fn start(&self, _wake: &Wake, _alone: bool) {}
    /// Bytes in all, for progress; 0: unknown.
    fn bytes(&self) -> u64 {
        0
    }
    /// The records of a block; asked for once.
    ///
    /// # Errors
    /// What the source fails with, with the place.
    fn read(&self, block: usize) -> Result<SourceBlock<T>>;
    /// As [`Split::probe`](crate::source::Split::probe), for records that cannot be told apart without what came before.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    fn probe(&self, _block: usize) -> Result<Transition> {
        Ok(Transition::IDENTITY)
    }
    /// As [`read`](Self::read), for splits that probe: told the state in which the block begins.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    fn read_from(&self, block: usize, _entry: u8) -> Result<SourceBlock<T>> {
        self.read(block)
    }
    /// What a checkpoint knows the split by, among those of its source: of a file its path. Empty: its number.
    fn name(&self) -> &str {
        ""
    }
    /// Why a job with this split can't go on from a checkpoint; `None` if the split has the same blocks whenever it is
    /// opened with the same options.
    fn why_not_replayed(&self) -> Option<String> {
        Some(String::from("does not say that it has the same blocks when it is opened again"))
    }
    /// The job goes on behind the first `blocks` blocks, which are not read again. Called once, before
    /// [`start`](Self::start), of splits that are replayed.
    ///
    /// # Errors
    /// They can't be passed over.
    fn pass_over(&self, _blocks: usize) -> Result<()> {
        Ok(())
    }
    /// What the user should know before the job begins, one sentence each.
    fn notices(&self) -> Vec<String> {
        Vec::new()
    }
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
    /// Its records come with watermarks.
    fn has_watermarks(&self) -> bool {
        false
    }
}
