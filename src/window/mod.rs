//! Window operators: rows and watermarks in, result rows out.
//!
//! All operators share one contract. TUMBLE, HOP and CUMULATE cut time into slices (`slicing`): a row updates one
//! slice, whatever the windows are, and a window is put together from its slices when it fires. Attached windows
//! (`attached`) come with the rows. SESSION (`session`) keeps a few intervals per key. Others keep whole rows (`kept`): the
//! best of a window (`rank`), those of a session (`session_rows`), the first of a key (`keep_first`).
//!
//! # Why the answer is that of one row at a time
//! A window [s, e) fires when the watermark reaches e - 1; a row counts in those of its windows that have not fired.
//! Both depend on the watermark only through the horizon ([`zone::Scale`]): all windows that end at or before it have
//! fired. So nothing changes between two watermarks with no window end between them, and rows may be taken in bulk up
//! to the next mark that moves the horizon past a window end. That is where this operator stops, fires, and goes on:
//! rows keep their order of arrival, windows fire exactly where they would. Rows without a mark are taken at the
//! horizon of the last mark instead of their own, which may be higher; as all their windows are open at their own
//! horizon (that is what lacking a mark means) they are open at the lower one too, and a window that fires later than
//! it could have has not missed or gained a row: the rows that it could have gained are late for it, hence marked.
//! [`Deadlines`] says which rows need a mark. For sessions these are the rows at or behind the watermark: a session
//! [s, t) touches a row of time t and may have fired, while one that fired before the watermark reached t - 1 ends
//! before t and never would have merged with it.
//!
//! The sums of floats, which depend on the order of additions, are those of the rows in order, slice by slice.

pub mod assigner;
mod attached;
mod deadlines;
mod emitting;
mod grids;
mod group;
mod hop;
mod join;
mod keep_first;
mod kept;
mod late;
mod merge_order;
mod order;
mod output;
mod over;
mod rank;
mod rows;
mod session;
mod session_rows;
mod slicing;
mod tables;
#[cfg(test)]
mod tests;
mod timers;
mod zone;

use std::any::Any;

use arrow::array::RecordBatch;

use crate::batch::EventBatch;
use crate::error::{Error, Result};
use crate::expr::EvalContext;
use crate::plan::{StageSpec, WindowAggregateSpec, WindowSpec};
use crate::snapshot::{Archive, Spill};
use crate::state::index::Tag;
use crate::time::Watermark;
pub use deadlines::Deadlines;
pub use late::{Late, LateRow, Missed, Misses};
pub use rows::null_time;
pub use zone::Scale;

/// Result rows.
#[derive(Debug)]
pub struct Emitted {
    pub rows: RecordBatch,
    /// Their time: of a window its end, in milliseconds; of several the first.
    pub time: i64,
    /// The time of each row where they differ, ascending; else empty.
    pub times: Vec<i64>,
    /// The watermark before each row that comes too late for its own event time; empty if there are no such rows.
    pub before: Vec<Option<i64>>,
}

impl Emitted {
    /// Rows that all have this time.
    pub fn at(rows: RecordBatch, time: i64) -> Self {
        Emitted { rows, time, times: Vec::new(), before: Vec::new() }
    }

    /// Rows of these times, ascending.
    pub fn of(rows: RecordBatch, times: Vec<i64>) -> Self {
        let time = times.first().copied().unwrap_or(i64::MIN);
        let times = if times.last() == Some(&time) { Vec::new() } else { times };
        Emitted { times, ..Emitted::at(rows, time) }
    }
}

/// Takes result rows; several calls a watermark are fine. Calls come in ascending order of time. Rows of one call mostly
/// have one time, but for sessions: their ends hardly ever coincide.
pub type Emit<'a> = &'a mut dyn FnMut(Emitted) -> Result<()>;

/// One shard's part of a stateful operator. Plain synchronous code without clock, file or lock.
pub trait WindowOperator {
    /// Takes rows of one of the operator's inputs (`side`, from 0) in order. Before the row of a mark, the operator
    /// advances to the mark's watermark (and may fire). A row whose windows have all fired is dropped and counted as
    /// late.
    fn process(&mut self, side: usize, batch: &EventBatch, emit: Emit<'_>) -> Result<()>;
    /// Fires all windows with `watermark.closes(end)`. A watermark that goes back is ignored. Called behind the rows of
    /// each block, also with the same watermark again.
    fn advance(&mut self, watermark: Watermark, emit: Emit<'_>) -> Result<()>;
    /// Rows dropped because all their windows had fired.
    fn late_rows(&self) -> u64;
    /// Its late rows, where it can have any.
    fn late(&mut self) -> Option<&mut Late> {
        None
    }
    /// Windows with state now (for sessions: open sessions; for slices: windows not yet fired).
    fn open_windows(&self) -> u64;
    /// Windows (one key in one window) that have fired.
    fn fired_windows(&self) -> u64;
    /// Bytes of arenas in use.
    fn state_bytes(&self) -> u64;

    /// Names its state, all that an operator of the same specification must know to go on in its place. Between two
    /// blocks: what is kept for the length of a block is empty. State is put back into an operator that was just made.
    ///
    /// # Errors
    /// Those of the archive; internal for state of another specification.
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()>;

    /// Takes over what another operator of the same specification has of the keys whose tags are `wanted`, none of which
    /// are here, and its watermark. `counts`: also what it counted so far.
    ///
    /// # Errors
    /// Internal if `other` is another kind of operator.
    fn take_over(&mut self, other: Box<dyn WindowOperator + Send>, wanted: Wanted<'_>, counts: bool) -> Result<()>;

    /// Moves state out of memory, what rows hardly go to any more first; `open`: also what they go to. Operators whose
    /// state cannot move do nothing.
    ///
    /// # Errors
    /// Those of the file.
    fn spill(&mut self, _spill: &mut Spill, _open: bool) -> Result<()> {
        Ok(())
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

/// Which keys, by the upper half of their hash.
pub type Wanted<'a> = &'a dyn Fn(Tag) -> bool;

/// The operator behind the contract, for one that takes over from it.
fn downcast<T: 'static>(other: Box<dyn WindowOperator + Send>) -> Result<Box<T>> {
    other.into_any().downcast().map_err(|_| Error::internal("state of another kind of operator"))
}

/// The operator for a specification: slices for TUMBLE, HOP and CUMULATE, sessions for SESSION, and one for attached
/// windows.
///
/// # Errors
/// Script for an unknown zone, unsupported for keys that are nested, internal for a specification that no front end
/// writes (columns that are not there, sizes below 1).
pub fn operator(spec: &StageSpec, context: &EvalContext) -> Result<Box<dyn WindowOperator + Send>> {
    match spec {
        StageSpec::Aggregate(spec) => aggregate(spec),
        StageSpec::Emitting(spec) => Ok(Box::new(emitting::EmittingOperator::new(spec)?)),
        StageSpec::Over(spec) => Ok(Box::new(over::OverOperator::new(spec)?)),
        StageSpec::Rank(spec) => Ok(Box::new(rank::RankOperator::new(spec)?)),
        StageSpec::SessionRows(spec) => Ok(Box::new(session_rows::SessionRowsOperator::new(spec)?)),
        StageSpec::KeepFirst(spec) => Ok(Box::new(keep_first::KeepFirstOperator::new(spec)?)),
        StageSpec::Group(spec) => Ok(Box::new(group::GroupOperator::new(spec)?)),
        StageSpec::Join(spec) => join::operator(spec, context),
    }
}

fn aggregate(spec: &WindowAggregateSpec) -> Result<Box<dyn WindowOperator + Send>> {
    Ok(match &spec.window {
        WindowSpec::Attached { start, end } => Box::new(attached::AttachedOperator::new(spec, *start, *end)?),
        WindowSpec::Session { gap_ms } => Box::new(session::SessionOperator::new(spec, *gap_ms)?),
        WindowSpec::Tumble { .. } | WindowSpec::Hop { .. } | WindowSpec::Cumulate { .. } => {
            Box::new(slicing::SliceOperator::new(spec)?)
        }
    })
}
