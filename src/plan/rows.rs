//! Operators that hand on whole rows: those of sessions, and the first of each key.

use super::WindowSpec;
use crate::types::Schema;

/// SESSION without an aggregation: gives the rows of each session when it ends.
///
/// Output columns: those of the input, then window_start, window_end (TIMESTAMP(3)) and window_time (the type of the
/// time column).
#[derive(Debug, Clone)]
pub struct SessionRowsSpec {
    /// Always [`WindowSpec::Session`].
    pub window: WindowSpec,
    /// Input columns of PARTITION BY; may be empty (then one shard does the work).
    pub keys: Vec<usize>,
    /// Input column with the event time, never NULL.
    pub time: usize,
    /// See [`WindowAggregateSpec::zone`](super::WindowAggregateSpec::zone).
    pub zone: Option<String>,
    pub input: Schema,
    pub schema: Schema,
    /// See [`WindowAggregateSpec::ordered`](super::WindowAggregateSpec::ordered).
    pub ordered: bool,
}

/// Deduplication without a window that keeps the first row: of each key the row with the lowest event time, given when
/// the watermark reaches that time. Of equal times the first to arrive counts. A row behind the watermark is late.
///
/// Output columns: those of the input, then the number 1 (BIGINT) if `numbered`.
#[derive(Debug, Clone)]
pub struct KeepFirstSpec {
    /// Input columns; may be empty (then one shard does the work).
    pub keys: Vec<usize>,
    /// Input column with the event time, never NULL.
    pub time: usize,
    pub numbered: bool,
    pub input: Schema,
    pub schema: Schema,
    /// See [`WindowAggregateSpec::ordered`](super::WindowAggregateSpec::ordered).
    pub ordered: bool,
}

impl KeepFirstSpec {
    /// What it takes for a row to be late, in terms of windows: its time may have been reached where the first of
    /// these has fired, and it is late where both have, as the watermark is beyond its time then.
    pub const INSTANT: WindowSpec = WindowSpec::Hop { size_ms: 2, slide_ms: 1, offset_ms: 0 };
}
