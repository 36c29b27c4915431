//! FIRST_VALUE and LAST_VALUE: by arrival, NULLs passed over (`038-agg-first-last`).

use std::any::Any;

use arrow::array::{ArrayRef, BooleanArray, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::DataType as ArrowType;

use super::values::Values;
use super::{Accumulator, same, selected, values};
use crate::arena::ArenaVec;
use crate::error::{Error, Result};
use crate::snapshot::Archive;

const NONE: u32 = u32::MAX;
/// Fewer values that no group has any more are not worth a copy of the others.
const GARBAGE_MIN: usize = 1024;

pub(super) struct Pick {
    last: bool,
    /// The value of each group, or [`NONE`].
    at: ArenaVec<u32>,
    values: Values,
}

impl Pick {
    pub(super) fn new(last: bool, input: ArrowType) -> Self {
        Pick { last, at: ArenaVec::new(), values: Values::new(input) }
    }

    /// Drops the values that no group has, once they are more than the groups.
    fn collect(&mut self) -> Result<()> {
        if self.values.len() < 2 * self.at.len() + GARBAGE_MIN {
            return Ok(());
        }
        let live: Vec<u32> = self.at.iter().copied().filter(|&at| at != NONE).collect();
        self.values = self.values.kept(&live)?;
        for (number, at) in self.at.iter_mut().filter(|at| **at != NONE).enumerate() {
            *at = number as u32;
        }
        Ok(())
    }
}

impl Accumulator for Pick {
    fn resize(&mut self, groups: usize) {
        self.at.resize(groups, NONE);
    }
    fn update(&mut self, groups: &[u32], args: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<()> {
        let array = values(args, groups)?;
        let mask = selected(args, filter);
        let mask = mask.as_ref();
        let counts = |row: &usize| mask.is_none_or(|mask| mask.value(*row));
        let base = self.values.len() as u32;
        let mut rows: Vec<u32> = Vec::new();
        if self.last {
            // From the end, the first value that a group has is its last.
            for row in (0..groups.len()).rev().filter(counts) {
                let at = &mut self.at[groups[row] as usize];
                if *at == NONE || *at < base {
                    *at = base + rows.len() as u32;
                    rows.push(row as u32);
                }
            }
        } else {
            for row in (0..groups.len()).filter(counts) {
                let at = &mut self.at[groups[row] as usize];
                if *at == NONE {
                    *at = base + rows.len() as u32;
                    rows.push(row as u32);
                }
            }
        }
        self.values.push_rows(array, &rows)?;
        self.collect()
    }
    fn merge(&mut self, other: &dyn Accumulator, from: &[u32], to: &[u32]) -> Result<()> {
        let other = same::<Pick>(other)?;
        let mut numbers = Vec::new();
        for (&from, &to) in from.iter().zip(to) {
            let (theirs, mine) = (other.at[from as usize], &mut self.at[to as usize]);
            if theirs != NONE && (self.last || *mine == NONE) {
                *mine = (self.values.len() + numbers.len()) as u32;
                numbers.push(theirs);
            }
        }
        self.values.push_from(&other.values, &numbers)?;
        self.collect()
    }
    fn reset(&mut self, groups: &[u32]) {
        self.at.touch(groups, |at| *at = NONE);
    }
    fn result(&self, groups: &[u32]) -> Result<ArrayRef> {
        let numbers = self.at.gather(groups, |at| at);
        let picked = self.values.take(&numbers.iter().copied().filter(|&at| at != NONE).collect::<Vec<_>>())?;
        if picked.len() == groups.len() {
            return Ok(picked);
        }
        let mut next = 0..;
        let spread: UInt32Array = numbers.iter().map(|&at| if at == NONE { None } else { next.next() }).collect();
        take(&picked, &spread, None).map_err(|error| Error::internal(format!("spreading values: {error}")))
    }
    fn bytes(&self) -> usize {
        self.at.bytes() + self.values.bytes()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        archive.cells(&mut self.at)?;
        self.values.archive(archive)
    }
}
