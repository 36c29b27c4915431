//! Values that are known before anything runs.

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::Schema;

use crate::error::{Error, Result};
use crate::expr::{EvalContext, Expr};

/// The value of an expression without columns, in a row of its own.
///
/// # Errors
/// Those of the computation.
pub(super) fn value_of(expr: &Expr) -> Result<ArrayRef> {
    let options = RecordBatchOptions::new().with_row_count(Some(1));
    let row = RecordBatch::try_new_with_options(Schema::empty().into(), Vec::new(), &options)
        .map_err(|error| Error::internal(format!("a row without columns: {error}")))?;
    expr.eval(&row, &EvalContext { time_zone: "UTC".to_string(), now_ms: 0 })
}
