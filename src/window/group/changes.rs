//! From results before and after each row to the rows of the changelog.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BooleanArray, Int8Array, UInt32Array, make_comparator};
use arrow::compute::kernels::cmp::distinct;
use arrow::compute::{SortOptions, take};

use super::traces::Traces;
use crate::error::Result;
use crate::types::RowKind;

/// What is to be told of a row of the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::window) enum Outcome {
    Nothing,
    /// The group is new.
    Insert,
    Update,
    /// The group is gone.
    Delete,
}

/// What each row does where rows are only added. `known`: groups that were there before.
pub(in crate::window) fn of_added(groups: &[u32], known: usize, traces: &Traces) -> Vec<Outcome> {
    let is_new = |(row, &group): (usize, &u32)| group as usize >= known && traces.is_first(row);
    groups.iter().enumerate().map(|row| if is_new(row) { Outcome::Insert } else { Outcome::Update }).collect()
}

/// Takes out the updates that change no result. `before`: where in the results that before each row is; those after the
/// rows stand from `first` on.
pub(in crate::window) fn drop_equal(
    results: &[ArrayRef],
    before: &[u32],
    first: u32,
    outcomes: &mut [Outcome],
) -> Result<()> {
    let mut changed = vec![false; outcomes.len()];
    let before = UInt32Array::from(before.to_vec());
    for result in results {
        let after = result.slice(first as usize, outcomes.len());
        let differs = differs(&take(result, &before, None)?, &after)?;
        changed.iter_mut().zip(differs.values()).for_each(|(changed, differs)| *changed |= differs);
    }
    for (outcome, _) in
        outcomes.iter_mut().zip(changed).filter(|(outcome, changed)| **outcome == Outcome::Update && !changed)
    {
        *outcome = Outcome::Nothing;
    }
    Ok(())
}

/// Row by row, with NULL as a value like any other.
fn differs(a: &ArrayRef, b: &ArrayRef) -> Result<BooleanArray> {
    if !a.data_type().is_nested() {
        return Ok(distinct(a, b)?);
    }
    let compare = make_comparator(a, b, SortOptions::default())?;
    Ok((0..a.len()).map(|row| Some(compare(row, row).is_ne())).collect())
}

/// The rows that are given out.
pub(in crate::window) struct Changes {
    /// The row of the input that each comes from.
    pub rows: UInt32Array,
    /// Where its results are.
    results: UInt32Array,
    pub kinds: Int8Array,
}

impl Changes {
    pub(in crate::window) fn of(outcomes: &[Outcome], before: &[u32], first: u32) -> Self {
        let (mut rows, mut results, mut kinds) = (Vec::new(), Vec::new(), Vec::new());
        let mut give = |row: usize, result: u32, kind: RowKind| {
            rows.push(row as u32);
            results.push(result);
            kinds.push(kind.code());
        };
        for (row, (outcome, &before)) in outcomes.iter().zip(before).enumerate() {
            let after = first + row as u32;
            match outcome {
                Outcome::Nothing => {}
                Outcome::Insert => give(row, after, RowKind::Insert),
                Outcome::Update => {
                    give(row, before, RowKind::UpdateBefore);
                    give(row, after, RowKind::UpdateAfter);
                }
                Outcome::Delete => give(row, before, RowKind::Delete),
            }
        }
        Changes { rows: rows.into(), results: results.into(), kinds: kinds.into() }
    }

    /// The same changes, of rows that are among others: `rows` says where each is.
    pub(in crate::window) fn within(self, rows: &[u32]) -> Self {
        let origins: Vec<u32> = self.rows.values().iter().map(|&row| rows[row as usize]).collect();
        Changes { rows: origins.into(), ..self }
    }

    /// Keys, results and kinds.
    pub(in crate::window) fn columns(&self, keys: &[ArrayRef], results: &[ArrayRef]) -> Result<Vec<ArrayRef>> {
        let mut columns = Vec::with_capacity(keys.len() + results.len() + 1);
        for key in keys {
            columns.push(take(key, &self.rows, None)?);
        }
        for result in results {
            columns.push(take(result, &self.results, None)?);
        }
        columns.push(Arc::new(self.kinds.clone()));
        Ok(columns)
    }
}
