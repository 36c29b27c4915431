//! A list of entries for each group.

use crate::arena::ArenaVec;
use crate::error::{Error, Result};
use crate::snapshot::Archive;

const NONE: u32 = u32::MAX;
/// Fewer entries of groups that were reset are not worth a copy of the others.
const DEAD_MIN: usize = 1024;

/// The entries of each group, in the order in which they were added.
///
/// An entry is a number, counted up from 0. What it stands for lies in columns of whoever keeps the chains.
#[derive(Default)]
pub(super) struct Chains {
    /// The entry after each entry, in its group.
    next: ArenaVec<u32>,
    /// First and last entry of each group.
    ends: ArenaVec<[u32; 2]>,
    /// Entries that belong to no group any more.
    dead: usize,
}

impl Chains {
    pub(super) fn resize(&mut self, groups: usize) {
        self.ends.resize(groups, [NONE, NONE]);
    }

    /// Adds an entry to a group, with the next number.
    ///
    /// # Errors
    /// Data if there are no numbers left.
    pub(super) fn push(&mut self, group: u32) -> Result<()> {
        let entry = u32::try_from(self.next.len()).ok().filter(|&entry| entry != NONE);
        let entry = entry.ok_or_else(|| {
            Error::data("an aggregate function that keeps its values has more than 4294967294 of them")
                .help("filter the rows, take smaller windows, or run with more shards")
        })?;
        self.next.push(NONE);
        let [first, last] = &mut self.ends[group as usize];
        if *first == NONE {
            *first = entry;
        } else {
            self.next[*last as usize] = entry;
        }
        *last = entry;
        Ok(())
    }

    pub(super) fn list(&self, group: u32) -> impl Iterator<Item = u32> {
        let [mut entry, _] = self.ends[group as usize];
        std::iter::from_fn(move || {
            let this = (entry != NONE).then_some(entry)?;
            entry = self.next[this as usize];
            Some(this)
        })
    }

    pub(super) fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        archive.cells(&mut self.next)?;
        archive.cells(&mut self.ends)?;
        archive.count(&mut self.dead)
    }

    pub(super) fn is_empty(&self, group: u32) -> bool {
        self.ends[group as usize][0] == NONE
    }

    pub(super) fn reset(&mut self, groups: &[u32]) {
        for &group in groups {
            self.dead += self.list(group).count();
            self.ends[group as usize] = [NONE, NONE];
        }
    }

    /// Once most entries belong to no group: the others. The columns then keep those, in that order, and
    /// [`Chains::renumber`] follows.
    pub(super) fn remains(&self) -> Option<Vec<u32>> {
        if self.dead < DEAD_MIN || self.dead * 2 < self.next.len() {
            return None;
        }
        Some((0..self.ends.len() as u32).flat_map(|group| self.list(group)).collect())
    }

    /// Gives the entries that [`Chains::remains`] named the numbers of their places there.
    pub(super) fn renumber(&mut self) {
        let mut next = ArenaVec::new();
        for group in 0..self.ends.len() as u32 {
            let length = self.list(group).count() as u32;
            let first = next.len() as u32;
            for entry in first..first + length {
                next.push(if entry + 1 < first + length { entry + 1 } else { NONE });
            }
            if length > 0 {
                self.ends[group as usize] = [first, first + length - 1];
            }
        }
        (self.next, self.dead) = (next, 0);
    }

    pub(super) fn bytes(&self) -> usize {
        self.next.bytes() + self.ends.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_remains_keeps_its_order_under_new_numbers() {
        let mut chains = Chains::default();
        chains.resize(3);
        for entry in 0..3000 {
            chains.push([0, 1, 0, 2, 0][entry % 5]).unwrap();
        }
        assert!(chains.remains().is_none());
        chains.reset(&[0]);
        let before: Vec<u32> = chains.remains().unwrap();
        assert_eq!(before.len(), 1200);
        chains.renumber();
        assert!(chains.is_empty(0) && chains.list(0).next().is_none());
        let now: Vec<u32> = chains.list(1).chain(chains.list(2)).map(|entry| before[entry as usize]).collect();
        assert_eq!(now, before);
        assert_eq!(chains.list(2).map(|entry| before[entry as usize]).take(2).collect::<Vec<_>>(), [3, 8]);
        chains.push(0).unwrap();
        assert_eq!(chains.list(0).collect::<Vec<_>>(), [1200]);
    }
}
