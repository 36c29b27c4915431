//! The functions of OVER: state by group that a row enters and leaves.

use std::any::Any;

use arrow::array::ArrayRef;

use super::choice::{Choice, Kind};
use super::count::Count;
use super::distinct::Distinct;
use super::store::{Place, Store};
use super::sum;
use crate::error::{Error, Result};
use crate::plan::{Frame, OverCall, OverFunction};
use crate::snapshot::Archive;
use crate::state::index::Moved;

/// One call of OVER. A fresh group has an empty frame.
pub(super) trait Function: Send {
    /// Sets the number of groups; never fewer than before.
    fn resize(&mut self, groups: usize);
    /// A row enters the group's frame.
    fn add(&mut self, group: u32, store: &Store, place: Place);
    /// The oldest row of the group's frame leaves it.
    fn retract(&mut self, group: u32, store: &Store, place: Place);
    /// Empties the group's frame.
    fn reset(&mut self, group: u32);
    /// Appends the group's result to the column of results.
    fn push(&mut self, group: u32);
    /// The column of results, which is empty afterwards.
    ///
    /// # Errors
    /// Data if the strings of one column exceed 2 GiB.
    fn finish(&mut self, store: &Store) -> Result<ArrayRef>;
    /// Shows the places that the function needs, to be changed where rows have moved.
    fn places(&mut self, _see: &mut dyn FnMut(&mut Place)) {}
    /// Bytes of memory held, about.
    fn bytes(&self) -> usize;

    /// Names the state of all groups. The column of results is empty.
    ///
    /// # Errors
    /// Those of the archive.
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()>;
    /// Takes over groups of another such function. Places are those of this one's rows.
    ///
    /// # Errors
    /// Internal if the other is of another kind.
    fn take_over(&mut self, other: Box<dyn Function>, moved: &Moved) -> Result<()>;
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

/// The function's other half, of the same type.
pub(super) fn same<T: 'static>(other: Box<dyn Function>) -> Result<Box<T>> {
    other.into_any().downcast().map_err(|_| Error::internal("state of another function of OVER"))
}

/// Moves what is kept of groups.
pub(super) fn move_groups<T: Default>(mine: &mut [T], theirs: &mut [T], moved: &Moved) {
    moved.pairs().for_each(|(from, to)| mine[to as usize] = std::mem::take(&mut theirs[from as usize]));
}

/// The state of a call.
///
/// # Errors
/// Internal for types that no front end writes.
pub(super) fn function(call: &OverCall, frame: Frame) -> Result<Box<dyn Function>> {
    let argument = || call.args.first().copied().ok_or_else(|| Error::internal("a function of OVER without argument"));
    let slides = matches!(frame, Frame::Range(Some(_)) | Frame::Rows(Some(_)));
    let choice = |kind: Kind| -> Result<Box<dyn Function>> {
        argument()?;
        Ok(Box::new(Choice::new(kind, call.args.clone(), slides)))
    };
    let plain: Box<dyn Function> = match call.function {
        OverFunction::Count => Box::new(Count::new(call.args.first().copied())),
        OverFunction::Sum => sum::sum(&call.output.kind, argument()?)?,
        OverFunction::Min => return choice(Kind::Min),
        OverFunction::Max => return choice(Kind::Max),
        OverFunction::FirstValue => return choice(Kind::First),
        OverFunction::LastValue => return choice(Kind::Last),
        OverFunction::Lag(offset) => return choice(Kind::Lag(offset)),
    };
    if call.distinct { Ok(Box::new(Distinct::new(plain, argument()?))) } else { Ok(plain) }
}
