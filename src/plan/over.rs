//! OVER: for every row, aggregates of the rows of its key up to it.

use crate::types::{DataType, Schema};

/// Computes aggregates for each row, over a frame of rows with the same key that ends at the row.
///
/// Output columns: those of the input, then one column per call. Rows come in the order of their times.
#[derive(Debug, Clone)]
pub struct OverSpec {
    /// Input columns of PARTITION BY; may be empty (then one shard does the work).
    pub keys: Vec<usize>,
    /// Input column with the event time that rows are ordered by; never NULL.
    pub time: usize,
    pub frame: Frame,
    pub calls: Vec<OverCall>,
    pub input: Schema,
    pub schema: Schema,
}

/// Which rows before the row itself count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frame {
    /// Rows of at most so many milliseconds before it, and all rows of its own time; `None`: of any time before it.
    Range(Option<i64>),
    /// So many rows before it, those of its own time in the order of arrival; `None`: all of them.
    Rows(Option<u64>),
}

/// A function over the rows of a frame.
#[derive(Debug, Clone, PartialEq)]
pub struct OverCall {
    pub function: OverFunction,
    /// Input columns.
    pub args: Vec<usize>,
    /// Equal values count once.
    pub distinct: bool,
    pub output: DataType,
}

/// What a call computes. AVG, STDDEV and VAR are computed from these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverFunction {
    /// COUNT(*) without arguments, COUNT(x) counts the rows where x is not NULL.
    Count,
    Sum,
    Min,
    Max,
    /// The first value of the frame that is not NULL.
    FirstValue,
    /// The last value of the frame that is not NULL.
    LastValue,
    /// The value so many rows before the last of the frame, NULL or not; where there is no such row, the value of the
    /// second argument in the last row.
    Lag(u64),
}

impl OverFunction {
    /// Its name in SQL.
    pub fn name(self) -> &'static str {
        match self {
            OverFunction::Count => "COUNT",
            OverFunction::Sum => "SUM",
            OverFunction::Min => "MIN",
            OverFunction::Max => "MAX",
            OverFunction::FirstValue => "FIRST_VALUE",
            OverFunction::LastValue => "LAST_VALUE",
            OverFunction::Lag(_) => "LAG",
        }
    }
}
