//! Rows that change groups one after the other, with the result after each.

use arrow::array::{Array, ArrayRef, BooleanArray, PrimitiveArray};
use arrow::datatypes::ArrowPrimitiveType;

use super::{Accumulator, selected};
use crate::error::{Error, Result};

/// Results that are put together at a time where an accumulator goes row by row.
const PIECES: usize = 1024;

/// What a row does to its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Add,
    /// Takes out a row that was added before.
    Remove,
    /// Takes out the last row of the group, which is as good as new afterwards.
    Clear,
    Skip,
}

/// Rows in their order.
pub struct Run<'a> {
    /// The group of each row.
    pub groups: &'a [u32],
    /// As for [`Accumulator::update`].
    pub args: &'a [ArrayRef],
    pub filter: Option<&'a BooleanArray>,
    /// One a row; none: all rows are added.
    pub steps: &'a [Step],
}

impl Run<'_> {
    /// Calls `row` with the number of each row, its group, and what it does there; a row whose value does not count
    /// does nothing.
    pub fn each<T>(&self, mut row: impl FnMut(usize, usize, Step) -> T) -> Vec<T> {
        let mask = selected(self.args, self.filter);
        let groups = self.groups.iter().map(|&group| group as usize).enumerate();
        if mask.is_none() && self.steps.is_empty() {
            return groups.map(|(i, group)| row(i, group, Step::Add)).collect();
        }
        let counts = |i: usize| mask.as_ref().is_none_or(|mask| mask.value(i));
        groups
            .map(|(i, group)| match self.steps.get(i).copied().unwrap_or(Step::Add) {
                Step::Clear => row(i, group, Step::Clear),
                step if counts(i) => row(i, group, step),
                _ => row(i, group, Step::Skip),
            })
            .collect()
    }
}

/// A column of results.
pub(super) fn column<T: ArrowPrimitiveType>(results: Vec<Option<T::Native>>) -> PrimitiveArray<T> {
    results.into_iter().collect()
}

/// For accumulators that know no faster way. They take no row out again.
pub(super) fn one_by_one(accumulator: &mut (impl Accumulator + ?Sized), run: &Run<'_>) -> Result<ArrayRef> {
    let mut columns: Vec<ArrayRef> = Vec::new();
    let mut pieces: Vec<ArrayRef> = Vec::new();
    for (row, group) in run.groups.chunks(1).enumerate() {
        match run.steps.get(row).copied().unwrap_or(Step::Add) {
            Step::Add => {
                let args: Vec<ArrayRef> = run.args.iter().map(|column| column.slice(row, 1)).collect();
                let filter = run.filter.map(|filter| filter.slice(row, 1));
                accumulator.update(group, &args, filter.as_ref())?;
            }
            Step::Remove => return Err(Error::internal("an aggregate that takes no row out again")),
            Step::Clear => accumulator.reset(group),
            Step::Skip => {}
        }
        pieces.push(accumulator.result(group)?);
        if pieces.len() == PIECES {
            columns.push(joined(&pieces)?);
            pieces.clear();
        }
    }
    match (columns.is_empty(), pieces.is_empty()) {
        (true, true) => accumulator.result(&[]),
        (_, true) => joined(&columns),
        _ => {
            columns.push(joined(&pieces)?);
            joined(&columns)
        }
    }
}

fn joined(columns: &[ArrayRef]) -> Result<ArrayRef> {
    let columns: Vec<&dyn Array> = columns.iter().map(AsRef::as_ref).collect();
    Ok(arrow::compute::concat(&columns)?)
}
