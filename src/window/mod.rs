//! Window operators: rows and watermarks in, result rows out.

use arrow::array::RecordBatch;

use crate::batch::EventBatch;
use crate::error::Result;
use crate::plan::WindowAggregateSpec;
use crate::time::Watermark;

/// Takes result rows; several calls a watermark are fine. Rows of one call belong to one window end,
/// calls come in ascending order of window end.
pub type Emit<'a> = &'a mut dyn FnMut(RecordBatch) -> Result<()>;

/// One shard's part of a window aggregate. Plain synchronous code without clock, file or lock.
pub trait WindowOperator {
    /// Takes rows in order. Before the row of a mark, the operator advances to the mark's watermark
    /// (and may fire). A row whose windows have all fired is dropped and counted as late.
    fn process(&mut self, batch: &EventBatch, emit: Emit<'_>) -> Result<()>;
    /// Fires all windows with `watermark.closes(end)`. A watermark that goes back is ignored.
    fn advance(&mut self, watermark: Watermark, emit: Emit<'_>) -> Result<()>;
    /// Rows dropped because all their windows had fired.
    fn late_rows(&self) -> u64;
    /// Windows with state now (for sessions: open sessions; for slices: windows not yet fired).
    fn open_windows(&self) -> u64;
    /// Windows (one key in one window) that have fired.
    fn fired_windows(&self) -> u64;
    /// Bytes of arenas in use.
    fn state_bytes(&self) -> u64;
}

/// The operator for a specification: slices for TUMBLE, HOP, CUMULATE and attached windows, sessions for SESSION.
pub fn operator(spec: &WindowAggregateSpec) -> Result<Box<dyn WindowOperator + Send>> {
    let _ = spec;
    Err(crate::error::Error::internal("window operators are not there yet"))
}
