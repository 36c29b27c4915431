//! Window Top-N and deduplication: the first rows of each window and key, in an order.

use super::WindowSpec;
use crate::types::Schema;

/// Numbers the rows of each window and key in an order, from 1 on, and gives those within a range of numbers when the
/// window fires. Windows that end together are one.
///
/// Output columns: those of the input, then the number (BIGINT) if `numbered`.
#[derive(Debug, Clone)]
pub struct RankSpec {
    /// Where rows bring their windows: always [`WindowSpec::Attached`].
    pub window: WindowSpec,
    /// The zone on whose clock the windows were cut, where that makes a difference.
    pub zone: Option<String>,
    /// Input columns that rows are grouped by within a window; may be empty.
    pub keys: Vec<usize>,
    /// Input columns that decide which shard a row goes to: the keys, or without any the end of the window.
    pub dealt_by: Vec<usize>,
    pub order: Vec<SortKey>,
    /// First and last number that are given, from 1 on.
    pub first: u64,
    pub last: u64,
    /// Of rows that are equal in the order, the last to arrive comes first (Flink's deduplication that keeps the last
    /// row); else the first to arrive.
    pub last_wins: bool,
    pub numbered: bool,
    pub input: Schema,
    pub schema: Schema,
    /// See [`WindowAggregateSpec::ordered`](super::WindowAggregateSpec::ordered).
    pub ordered: bool,
}

/// A column to sort by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SortKey {
    pub column: usize,
    pub descending: bool,
    pub nulls_first: bool,
}
