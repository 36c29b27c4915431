//! Reading tables in blocks: each file is one split, cut into blocks that any shard may decode.

mod files;
mod parquet;
#[cfg(test)]
mod tests;
mod text;

use std::sync::Arc;

use arrow::array::RecordBatch;

use crate::error::Result;
use crate::format::FormatSpec;
use crate::plan::{ScanSpec, SourceSpec};

/// How the state of a block's entry maps to the state at its exit, for formats where a block cannot
/// be read without knowing what came before (a quote left open in CSV). State 0 is the start of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transition(pub [u8; 8]);

impl Transition {
    pub const IDENTITY: Transition = Transition([0, 1, 2, 3, 4, 5, 6, 7]);
}

/// How many blocks of a split are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    pub blocks: usize,
    /// There will be no more.
    pub complete: bool,
}

impl Extent {
    /// A split whose blocks are all there.
    pub const fn whole(blocks: usize) -> Self {
        Extent { blocks, complete: true }
    }
    /// A block comes after the first `blocks`, now or later.
    pub fn has_after(self, blocks: usize) -> bool {
        blocks < self.blocks || !self.complete
    }
}

/// Called when a split may have grown.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// Counts of one decoded block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BlockStats {
    /// Rows handed out.
    pub rows: u64,
    /// Records skipped because they were malformed (`ignore-parse-errors`).
    pub malformed: u64,
    /// Bytes of the file that the block stands for.
    pub bytes: u64,
}

/// One file of a table. Shared by all shards; reading needs no lock.
pub trait Split: Send + Sync {
    /// The file's path, for messages.
    fn name(&self) -> &str;
    /// The blocks that are there by now. A split that is not complete has at least one block more, and whether it is
    /// complete once it has so many is a function of the data alone: the last block comes with the word that it is
    /// the last one.
    fn extent(&self) -> Extent;
    /// Makes one more block if that can be done now, and says what is there then. Never waits for anybody; may take as
    /// long as decoding a block.
    fn extend(&self) -> Extent {
        self.extent()
    }
    /// The job begins: from now on `wake` is called when there may be more blocks than there were.
    fn start(&self, _wake: &Wake) {}
    /// Size in bytes, for progress.
    fn bytes(&self) -> u64;
    /// Looks through a block for what later blocks must know. Cheap against decoding it.
    fn probe(&self, block: usize) -> Result<Transition>;
    /// Decodes a block into batches of at most `batch_rows` rows with the scan's projected physical
    /// columns, in file order, and hands each to `out`. `entry`: the state in which the block begins.
    ///
    /// # Errors
    /// Kind Data with file, line (record for Parquet: row), column and the offending text.
    fn decode(
        &self,
        block: usize,
        entry: u8,
        batch_rows: usize,
        out: &mut dyn FnMut(RecordBatch) -> Result<()>,
    ) -> Result<BlockStats>;
}

/// Text files that stay open. More are opened for each of their blocks, or a folder of many files would exhaust what
/// the system allows a process (often 1024).
const FILES_KEPT_OPEN: usize = 64;

/// Opens every file of the table, in the order of their paths.
///
/// # Errors
/// No file there, unreadable, not of the format: with the path and the remedy.
pub fn open(scan: &ScanSpec, block_bytes: usize) -> Result<Vec<Arc<dyn Split>>> {
    let mut splits: Vec<Arc<dyn Split>> = Vec::new();
    let SourceSpec::Files(files) = &scan.source;
    for path in files::find(files, &scan.table)? {
        splits.push(match files.format {
            FormatSpec::Parquet => Arc::new(parquet::ParquetSplit::open(scan, &path)?),
            FormatSpec::Csv(_) | FormatSpec::Json(_) => {
                let keep = splits.len() < FILES_KEPT_OPEN;
                Arc::new(text::TextSplit::open(scan, files, &path, block_bytes, keep)?)
            }
        });
    }
    Ok(splits)
}
