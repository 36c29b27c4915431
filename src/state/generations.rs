//! A table that is written down while it grows.
//!
//! Sealing a table begins a young generation: rows go to it, and the sealed one is not written to any more. So a checkpoint
//! can have its memory without a copy, and the next one need not write it again. A key that comes again moves: its
//! accumulators are taken over into the young generation, once, and go on there. A key is in one generation only, which
//! is why this holds for every aggregate, whether it can be merged or not.
//!
//! Generations of which little is left are emptied step by step, a few keys with each batch, so that there are never
//! many to look into.

use super::index::{NONE, Tag};
use super::key::EncodedKeys;
use super::table::{Inputs, Shape, Table};
use crate::arena::ArenaVec;
use crate::error::Result;
use crate::key::KeyHash;
use crate::snapshot::{Archive, Spill, fits};

/// From so many sealed generations on, the one with the fewest keys is emptied.
const FEW: usize = 4;
/// So many are not kept: then all become one at once.
const MANY: usize = 12;
/// Keys that move to the young generation with a batch of rows, at least.
const STEP_KEYS: usize = 1_024;

/// Groups of keys with their accumulators, in generations.
pub struct Generations {
    shape: Shape,
    young: Table,
    /// The oldest first.
    sealed: Vec<Sealed>,
}

/// A table that is not written to.
struct Sealed {
    table: Table,
    /// A bit for each group: it has moved.
    moved: ArenaVec<u64>,
    /// Groups that are still here.
    left: u64,
    /// Groups before it have moved.
    cursor: usize,
}

/// A part of the groups: those of one generation.
#[derive(Clone, Copy)]
pub struct Part<'a> {
    pub table: &'a Table,
    moved: &'a [u64],
}

impl Part<'_> {
    /// The group is in this generation.
    #[inline]
    pub fn has(&self, group: u32) -> bool {
        !is_set(self.moved, group)
    }
    /// All groups of the table are in this generation.
    pub fn is_whole(&self) -> bool {
        self.moved.is_empty()
    }
}

#[inline]
fn is_set(bits: &[u64], group: u32) -> bool {
    bits.get(group as usize / 64).is_some_and(|word| word >> (group % 64) & 1 == 1)
}

impl Sealed {
    fn new(table: Table) -> Self {
        let left = table.len() as u64;
        Sealed { table, moved: ArenaVec::new(), left, cursor: 0 }
    }

    fn part(&self) -> Part<'_> {
        Part { table: &self.table, moved: &self.moved }
    }

    fn take(&mut self, groups: &[u32]) {
        // Nothing is kept of moves before there are any.
        self.moved.resize_zeroed(self.table.len().div_ceil(64));
        let moved = self.moved.as_mut_slice();
        groups.iter().for_each(|&group| moved[group as usize / 64] |= 1 << (group % 64));
        self.left -= groups.len() as u64;
    }

    /// The next groups that are still here, at most so many.
    fn next(&mut self, limit: usize) -> Vec<u32> {
        let (part, count) = (self.part(), self.table.len());
        let groups: Vec<u32> =
            (self.cursor as u32..count as u32).filter(|&group| part.has(group)).take(limit).collect();
        self.cursor = groups.last().map_or(count, |&last| last as usize + 1);
        groups
    }

    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        self.table.archive(archive)?;
        archive.cells(&mut self.moved)?;
        if archive.is_reading() {
            let moved: u64 = self.moved.iter().map(|word| u64::from(word.count_ones())).sum();
            let groups = self.table.len() as u64;
            fits(moved <= groups && [0, groups.div_ceil(64)].contains(&(self.moved.len() as u64)))?;
            self.left = groups - moved;
        }
        Ok(())
    }
}

impl Generations {
    /// # Errors
    /// See [`Table::new`].
    pub fn new(shape: &Shape) -> Result<Self> {
        Ok(Generations { shape: shape.clone(), young: Table::new(shape)?, sealed: Vec::new() })
    }

    pub fn len(&self) -> usize {
        self.young.len() + self.sealed.iter().map(|sealed| sealed.left as usize).sum::<usize>()
    }
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Bytes of memory held.
    pub fn bytes(&self) -> usize {
        self.young.bytes() + self.sealed.iter().map(|sealed| sealed.table.bytes() + sealed.moved.bytes()).sum::<usize>()
    }

    /// Makes room for that many keys.
    pub fn reserve(&mut self, keys: usize) {
        self.young.index.reserve(keys);
    }

    /// Adds rows. `groups` is scratch.
    ///
    /// # Errors
    /// As [`Table::update`].
    pub fn update(
        &mut self,
        hashes: &[KeyHash],
        keys: &EncodedKeys,
        inputs: &Inputs,
        groups: &mut Vec<u32>,
    ) -> Result<()> {
        if self.sealed.is_empty() {
            return self.young.update(hashes, keys, inputs, groups);
        }
        let known = self.young.len();
        self.young.find_or_insert(hashes, keys, groups)?;
        self.fetch(known, hashes, groups)?;
        self.young.add(groups, inputs)?;
        self.tidy(inputs.rows)
    }

    /// Takes over what older generations have of the groups from `known` on, which are new in the young one.
    fn fetch(&mut self, known: usize, hashes: &[KeyHash], groups: &[u32]) -> Result<()> {
        let mut wanted: Vec<(Tag, u32)> = Vec::with_capacity(self.young.len() - known);
        for (row, &group) in groups.iter().enumerate() {
            // New groups come in the order of their first rows.
            if group as usize == known + wanted.len() {
                wanted.push((hashes.get(row).map_or(0, |hash| (hash >> 32) as Tag), group));
            }
        }
        for sealed in self.sealed.iter_mut().rev() {
            if wanted.is_empty() {
                break;
            }
            let mut found = sealed.table.index.find(&self.young.index, &wanted)?;
            found.iter_mut().filter(|group| is_set(&sealed.moved, **group)).for_each(|group| *group = NONE);
            let (mut from, mut to) = (Vec::new(), Vec::new());
            let mut found = found.into_iter();
            wanted.retain(|&(_, group)| match found.next() {
                Some(there) if there != NONE => {
                    from.push(there);
                    to.push(group);
                    false
                }
                _ => true,
            });
            self.young.adopt(&sealed.table, &from, &to)?;
            sealed.take(&from);
        }
        Ok(())
    }

    /// Drops generations that have nothing left, and moves some keys of the smallest if there are several.
    fn tidy(&mut self, rows: usize) -> Result<()> {
        self.sealed.retain(|sealed| sealed.left > 0);
        if self.sealed.len() < FEW {
            return Ok(());
        }
        let smallest = self.sealed.iter_mut().min_by_key(|sealed| sealed.left);
        let Some(sealed) = smallest else { return Ok(()) };
        let from = sealed.next(rows.max(STEP_KEYS));
        if from.is_empty() {
            return Ok(());
        }
        let columns = sealed.table.index.decode(&from)?;
        let keys = self.shape.encoder.encode(&columns, from.len())?;
        let (mut hashes, mut to) = (Vec::new(), Vec::new());
        keys.hash_into(&mut hashes);
        self.young.find_or_insert(&hashes, &keys, &mut to)?;
        self.young.adopt(&sealed.table, &from, &to)?;
        sealed.take(&from);
        Ok(())
    }

    /// Begins a young generation. The others are not written to from here on.
    ///
    /// # Errors
    /// See [`Table::new`].
    pub fn seal(&mut self) -> Result<()> {
        if self.sealed.len() >= MANY {
            self.melt()?;
        }
        if !self.young.is_empty() {
            let young = std::mem::replace(&mut self.young, Table::new(&self.shape)?);
            self.sealed.push(Sealed::new(young));
        }
        Ok(())
    }

    /// Makes one table of all generations, whose groups have the same numbers as long as nothing else is done to it than
    /// sealing and this.
    ///
    /// # Errors
    /// As [`Table::absorb`].
    pub fn melt(&mut self) -> Result<&mut Table> {
        if self.young.is_empty()
            && let [only] = &self.sealed[..]
            && only.moved.is_empty()
            && let Some(only) = self.sealed.pop()
        {
            self.young = only.table;
        }
        for sealed in std::mem::take(&mut self.sealed) {
            self.young.take_over(&sealed.table, &|_, group| sealed.part().has(group))?;
        }
        Ok(&mut self.young)
    }

    /// One table of all generations, if that is how it lies.
    pub fn whole(&self) -> Option<&Table> {
        match &self.sealed[..] {
            [] => Some(&self.young),
            [only] if self.young.is_empty() && only.moved.is_empty() => Some(&only.table),
            _ => None,
        }
    }

    /// As [`Generations::melt`], for good.
    ///
    /// # Errors
    /// As [`Generations::melt`].
    pub fn into_table(mut self) -> Result<Table> {
        self.melt()?;
        Ok(self.young)
    }

    /// All groups.
    pub fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        let young = Part { table: &self.young, moved: &[] };
        self.sealed.iter().map(Sealed::part).chain(std::iter::once(young))
    }

    /// Takes over groups of another table, none of which is here: `wanted` says which, by their tags.
    ///
    /// # Errors
    /// As [`Table::absorb`].
    pub fn take_over(&mut self, other: &Generations, wanted: &dyn Fn(Tag) -> bool) -> Result<()> {
        for part in other.parts() {
            self.young.take_over(part.table, &|tag, group| wanted(tag) && part.has(group))?;
        }
        Ok(())
    }

    /// Seals the table and moves it out of memory.
    ///
    /// # Errors
    /// Those of the file.
    pub fn spill(&mut self, spill: &mut Spill) -> Result<()> {
        self.seal()?;
        self.sealed.iter_mut().try_for_each(|sealed| sealed.table.archive(&mut spill.archive()))
    }

    /// # Errors
    /// Those of the archive.
    pub fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        if archive.version() == 1 {
            return self.young.archive(archive);
        }
        if self.young.bytes() >= archive.seal_bytes() {
            self.seal()?;
        }
        let mut count = self.sealed.len();
        archive.count(&mut count)?;
        for number in 0..count {
            if archive.is_reading() {
                self.sealed.push(Sealed::new(Table::new(&self.shape)?));
            }
            self.sealed[number].archive(archive)?;
        }
        self.young.archive(archive)
    }
}

#[cfg(test)]
mod tests;
