//! What OVER keeps between two blocks: made compact, named, taken over.

use std::cmp::Reverse;

use super::group::{self, Group};
use super::store::{Place, Store};
use super::{OverOperator, Waiting};
use crate::error::Result;
use crate::snapshot::{Archive, fits};
use crate::state::index::NONE;
use crate::window::Wanted;

impl OverOperator {
    /// Drops rows that nobody needs any more, once they are many. Nothing is waiting to be given out.
    pub(super) fn compact(&mut self) -> Result<()> {
        if self.store.is_sparse(self.waiting.len() + self.framed) { self.drop_unused() } else { Ok(()) }
    }

    /// Drops rows that nobody needs any more: the place of each of the others is its number among them.
    fn drop_unused(&mut self) -> Result<()> {
        let mut places: Vec<Place> = Vec::new();
        self.for_each_place(&mut |place| places.push(*place));
        places.sort_unstable();
        places.dedup();
        self.store.compact(&places, &self.input)?;
        self.for_each_place(&mut |place| *place = places.binary_search(place).unwrap_or_default() as Place);
        Ok(())
    }

    /// Shows all places that are in use, to be changed where rows have moved.
    fn for_each_place(&mut self, see: &mut dyn FnMut(&mut Place)) {
        let mut waiting = std::mem::take(&mut self.waiting).into_vec();
        waiting.iter_mut().for_each(|row| see(&mut row.0.place));
        self.waiting = waiting.into();
        self.groups.iter_mut().flat_map(|group| &mut group.frame).for_each(|(_, place)| see(place));
        self.functions.iter_mut().for_each(|function| function.places(see));
    }

    /// All rows taken have been given out.
    pub(super) fn archive_all(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        if !archive.is_reading() {
            self.drop_unused()?;
        }
        archive.numbers([&mut self.watermark])?;
        self.late.archive(archive)?;
        self.index.archive(archive)?;
        group::archive(&mut self.groups, archive)?;
        let mut waiting: Vec<Waiting> = self.waiting.iter().map(|row| row.0).collect();
        archive.list(
            &mut waiting,
            |row| [row.due as u64, row.hash, row.group.into(), row.time as u64, row.place],
            |[due, hash, group, time, place]| Waiting {
                due: due as i64,
                hash,
                group: group as u32,
                time: time as i64,
                place,
            },
        )?;
        self.functions.iter_mut().try_for_each(|function| function.archive(archive))?;
        self.store.archive(archive)?;
        if archive.is_reading() { self.restore(waiting) } else { Ok(()) }
    }

    /// Puts back what follows from what was read, and looks whether that fits together.
    fn restore(&mut self, waiting: Vec<Waiting>) -> Result<()> {
        let count = self.groups.len();
        fits(count == self.index.len() && waiting.iter().all(|row| (row.group as usize) < count))?;
        self.functions.iter_mut().for_each(|function| function.resize(count));
        self.framed = self.groups.iter().map(|group| group.frame.len()).sum();
        self.waiting = waiting.into_iter().map(Reverse).collect();
        let (rows, mut within) = (self.store.rows() as Place, true);
        self.for_each_place(&mut |place| within &= *place < rows);
        fits(within)
    }

    /// Takes over the wanted keys of another, with their rows.
    pub(super) fn take_keys_over(&mut self, mut other: OverOperator, wanted: Wanted<'_>) -> Result<()> {
        let moved = self.index.take_over(&other.index, &|tag, _| wanted(tag))?;
        self.groups.resize_with(self.index.len(), Group::default);
        self.functions.iter_mut().for_each(|function| function.resize(self.groups.len()));
        let numbers = moved.by_origin(other.groups.len());
        other.forget(|group| numbers[group as usize] == NONE);
        other.drop_unused()?;
        let first = self.store.take_over(std::mem::replace(&mut other.store, Store::new()));
        other.for_each_place(&mut |place| *place += first);
        for (theirs, mine) in moved.pairs() {
            let group = std::mem::take(&mut other.groups[theirs as usize]);
            self.framed += group.frame.len();
            self.groups[mine as usize] = group;
        }
        let rows = other.waiting.into_iter().map(|row| row.0);
        self.waiting.extend(rows.map(|row| Reverse(Waiting { group: numbers[row.group as usize], ..row })));
        let mut functions = self.functions.iter_mut().zip(other.functions);
        functions.try_for_each(|(mine, theirs)| mine.take_over(theirs, &moved))
    }

    /// Empties groups.
    fn forget(&mut self, is_left: impl Fn(u32) -> bool) {
        self.waiting.retain(|row| !is_left(row.0.group));
        for group in (0..self.groups.len() as u32).filter(|&group| is_left(group)) {
            self.groups[group as usize].frame.clear();
            self.functions.iter_mut().for_each(|function| function.reset(group));
        }
    }
}
