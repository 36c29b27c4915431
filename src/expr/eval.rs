//! Evaluation of expressions over record batches.

use arrow::array::{ArrayRef, RecordBatch};

use super::Expr;
use crate::error::{Error, Result};

/// A kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    Add,
}

/// What evaluation may depend on besides the row.
#[derive(Debug, Clone)]
pub struct EvalContext {
    /// `table.local-time-zone`.
    pub time_zone: String,
    /// Milliseconds since 1970, fixed when the job starts: CURRENT_TIMESTAMP and its kin.
    pub now_ms: i64,
}

impl Expr {
    /// One value a row of `batch`, of Arrow type `self.data_type().kind.to_arrow()`.
    ///
    /// # Errors
    /// A computation that Flink fails the job for (CAST of bad text, division by zero): kind Data.
    pub fn eval(&self, batch: &RecordBatch, context: &EvalContext) -> Result<ArrayRef> {
        let _ = (batch, context);
        Err(Error::internal("expressions are not there yet"))
    }
}

impl Expr {
    /// Which rows of `batch` pass: NULL counts as false. For BOOLEAN expressions.
    ///
    /// # Errors
    /// As [`Expr::eval`].
    pub fn eval_filter(&self, batch: &RecordBatch, context: &EvalContext) -> Result<arrow::array::BooleanArray> {
        let _ = (batch, context);
        Err(Error::internal("expressions are not there yet"))
    }
}
