//! Aggregate functions: their types, and their accumulators as columns.

use crate::error::{Error, Result};
use crate::types::DataType;

/// Which aggregate function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AggregateKind {
    /// COUNT(*) without arguments, COUNT(x) counts the rows where x is not NULL.
    Count,
    Sum,
    Avg,
    Min,
    Max,
    StddevPop,
    StddevSamp,
    VarPop,
    VarSamp,
}

/// One aggregate of a window operator, its inputs named by column of the operator's input.
#[derive(Debug, Clone, PartialEq)]
pub struct AggregateCall {
    pub kind: AggregateKind,
    pub distinct: bool,
    /// At most one for the functions so far; the column has the type that [`resolve`] asked for.
    pub args: Vec<usize>,
    /// A BOOLEAN column; rows where it is not true are left out.
    pub filter: Option<usize>,
    /// Type of the argument column (None for COUNT(*)).
    pub input: Option<DataType>,
    /// Flink's type of the result.
    pub output: DataType,
}

/// The function of that SQL name (any case) for arguments of these types: the kind and Flink's result type.
///
/// # Errors
/// Kind Script for an unknown name (nearest offered) or wrong argument types; Unsupported for what Flink has.
pub fn resolve(name: &str, args: &[DataType], distinct: bool) -> Result<(AggregateKind, DataType)> {
    let _ = (args, distinct);
    Err(Error::script(format!("unknown aggregate function {name}")))
}

/// True if `name` (any case) is an aggregate function of Flink, supported or not.
pub fn is_aggregate(name: &str) -> bool {
    matches!(name.to_ascii_uppercase().as_str(), "COUNT" | "SUM" | "AVG" | "MIN" | "MAX")
}
