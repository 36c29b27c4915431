//! What travels between stages: rows in columns, with the watermarks that matter to them.

use arrow::array::RecordBatch;

use crate::key::KeyHash;
use crate::time::Watermark;

/// Before row `row` of the batch is looked at, the operator's watermark is `watermark`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    pub row: u32,
    pub watermark: Watermark,
}

/// Rows on their way to the shard that owns their keys.
///
/// Rows are in arrival order. A row has a mark exactly where a window that would take it may have
/// fired before it arrived; all other rows are early enough for every window of theirs whatever
/// the watermark within the batch was, so the operator may take them in bulk.
#[derive(Debug, Clone)]
pub struct EventBatch {
    /// The columns that the operator's specification names by index.
    pub rows: RecordBatch,
    /// One hash a row, of its key columns; empty for an operator without keys.
    pub hashes: Vec<KeyHash>,
    /// Ascending by row; watermarks ascend too. For an operator that asks for every watermark, those too that moved on
    /// with rows that are not here: a row may have several marks then, and the last of them stand behind the last row.
    pub marks: Vec<Mark>,
}
