//! Which groups have seen a value.

use crate::arena::ArenaVec;
use crate::error::Result;
use crate::snapshot::Archive;

/// Groups that have seen a value. Costs nothing as long as every group's first row had one, which is the rule where
/// there are neither NULLs nor filters: then no column is kept.
#[derive(Default)]
pub(super) struct Seen {
    len: usize,
    /// Without a column: groups below have seen a value, those from here on have not (yet).
    all_below: usize,
    /// 0: none seen. In a merge target that tracks, the number of merged groups that had seen one.
    column: Option<ArenaVec<u32>>,
}

impl Seen {
    pub(super) fn resize(&mut self, len: usize) {
        self.len = len;
        if let Some(column) = &mut self.column {
            column.resize_zeroed(len);
        }
    }

    /// Keeps the column from now on.
    pub(super) fn column(&mut self) -> &mut ArenaVec<u32> {
        self.column.get_or_insert_with(|| {
            let mut column = ArenaVec::new();
            column.resize(self.all_below, 1);
            column.resize_zeroed(self.len);
            column
        })
    }

    /// Every row of a batch had a value.
    pub(super) fn mark_all(&mut self, groups: &[u32]) {
        if self.column.is_none() && self.all_below < self.len {
            // New groups come in order of their first row: one pass sees whether all of them occur.
            let mut next = self.all_below as u32;
            for &group in groups {
                next += u32::from(group == next);
            }
            if next as usize == self.len {
                self.all_below = self.len;
            } else {
                self.column();
            }
        }
        if let Some(column) = &mut self.column {
            column.touch(groups, |cell| *cell = (*cell).max(1));
        }
    }

    /// The rows that `mask` leaves had a value.
    pub(super) fn mark(&mut self, groups: &[u32], rows: impl Iterator<Item = usize>) {
        let column = self.column().as_mut_slice();
        for row in rows {
            let cell = &mut column[groups[row] as usize];
            *cell = (*cell).max(1);
        }
    }

    pub(super) fn get(&self, group: u32) -> bool {
        match &self.column {
            Some(column) => column[group as usize] != 0,
            None => (group as usize) < self.all_below,
        }
    }

    pub(super) fn all(&self) -> bool {
        self.column.is_none() && self.all_below == self.len
    }

    /// Tracking columns count, others only learn.
    pub(super) fn merge(&mut self, other: &Seen, from: &[u32], to: &[u32], tracking: bool) {
        if !tracking && other.all() {
            return self.mark_all(to);
        }
        let column = self.column();
        for (&from, &to) in from.iter().zip(to) {
            let cell = &mut column[to as usize];
            let one = u32::from(other.get(from));
            *cell = if tracking { *cell + one } else { (*cell).max(one) };
        }
    }

    /// Groups become what groups of another are.
    pub(super) fn take_over(&mut self, other: &Seen, from: &[u32], to: &[u32]) {
        if other.all() && other.column.is_none() {
            return self.mark_all(to);
        }
        let column = self.column();
        for (&from, &to) in from.iter().zip(to) {
            let cells = other.column.as_ref().map(|column| column[from as usize]);
            column[to as usize] = cells.unwrap_or_else(|| u32::from(other.get(from)));
        }
    }

    /// Takes a tracked merge back.
    pub(super) fn retract(&mut self, other: &Seen, from: &[u32], to: &[u32]) {
        let column = self.column();
        for (&from, &to) in from.iter().zip(to) {
            let cell = &mut column[to as usize];
            *cell = cell.saturating_sub(u32::from(other.get(from)));
        }
    }

    pub(super) fn reset(&mut self, groups: &[u32]) {
        self.column().touch(groups, |cell| *cell = 0);
    }

    /// One bit a group; `None` if all have seen a value.
    pub(super) fn nulls(&self, groups: &[u32]) -> Option<arrow::buffer::NullBuffer> {
        if self.all() {
            return None;
        }
        let nulls: arrow::buffer::NullBuffer = groups.iter().map(|&group| self.get(group)).collect();
        (nulls.null_count() > 0).then_some(nulls)
    }

    pub(super) fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        archive.count(&mut self.len)?;
        archive.count(&mut self.all_below)?;
        archive.option(&mut self.column)
    }

    pub(super) fn bytes(&self) -> usize {
        self.column.as_ref().map_or(0, ArenaVec::bytes)
    }
}
