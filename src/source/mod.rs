//! Reading tables in blocks: each file is one split, cut into blocks that any shard may decode.

mod aside;
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
pub use aside::{Aside, Extent, Position, Reason, Rejected, original_row};

/// How the state of a block's entry maps to the state at its exit, for formats where a block cannot
/// be read without knowing what came before (a quote left open in CSV). State 0 is the start of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transition(pub [u8; 8]);

impl Transition {
    pub const IDENTITY: Transition = Transition([0, 1, 2, 3, 4, 5, 6, 7]);
}

/// Counts of one decoded block.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BlockStats {
    /// Rows handed out.
    pub rows: u64,
    /// Records skipped because they were malformed (`ignore-parse-errors`).
    pub malformed: u64,
    /// Bytes of the file that the block stands for.
    pub bytes: u64,
    /// Records that cannot be read, where the split sets such aside.
    pub aside: Aside,
}

/// One file of a table. Shared by all shards; reading needs no lock.
pub trait Split: Send + Sync {
    /// The file's path, for messages.
    fn name(&self) -> &str;
    fn block_count(&self) -> usize;
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
    /// The records of some of the rows that [`Split::decode`] hands out for a block, numbered from 0, ascending: where
    /// each stands and how it reads. Slow: decodes the block once more.
    ///
    /// # Errors
    /// As [`Split::decode`].
    fn records(&self, block: usize, entry: u8, rows: &[u64]) -> Result<Vec<(Position, String)>>;
    /// The text before a block; nothing for a format that is no text. Slow: reads it once more.
    fn extent_before(&self, _block: usize) -> Extent {
        Extent::default()
    }
}

/// Text files that stay open. More are opened for each of their blocks, or a folder of many files would exhaust what
/// the system allows a process (often 1024).
const FILES_KEPT_OPEN: usize = 64;

/// Opens every file of the table, in the order of their paths.
///
/// # Errors
/// No file there, unreadable, not of the format: with the path and the remedy.
pub fn open(scan: &ScanSpec, block_bytes: usize) -> Result<Vec<Arc<dyn Split>>> {
    open_with(scan, block_bytes, false)
}

/// As [`open`]. `set_aside`: records that cannot be read are no errors, but listed in [`BlockStats::aside`].
///
/// # Errors
/// As [`open`].
pub fn open_with(scan: &ScanSpec, block_bytes: usize, set_aside: bool) -> Result<Vec<Arc<dyn Split>>> {
    let mut splits: Vec<Arc<dyn Split>> = Vec::new();
    let SourceSpec::Files(files) = &scan.source;
    for path in files::find(files, &scan.table)? {
        splits.push(match files.format {
            FormatSpec::Parquet => Arc::new(parquet::ParquetSplit::open(scan, &path, set_aside)?),
            FormatSpec::Csv(_) | FormatSpec::Json(_) => {
                let keep = splits.len() < FILES_KEPT_OPEN;
                Arc::new(text::TextSplit::open(scan, files, &path, block_bytes, keep)?.setting_aside(set_aside))
            }
        });
    }
    Ok(splits)
}
