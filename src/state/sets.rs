//! Sets of values, one for each group. A value may be made of several columns.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BooleanArray, UInt32Array};
use arrow::datatypes::DataType as ArrowType;

use super::index::{KeyIndex, NONE};
use super::key::{EncodedKeys, KeyEncoder};
use crate::arena::ArenaVec;
use crate::error::{Error, Result};
use crate::snapshot::Archive;

/// The different values of each group, NULL among them if it is added.
pub(super) struct Sets {
    /// Keys (set, value …); an entry's number is its group in this index.
    entries: KeyIndex,
    /// The entries of a set form a list: the next one of each entry.
    next: ArenaVec<u32>,
    /// Set of each group; a group that was reset gets a new one.
    sets: ArenaVec<u32>,
    /// First entry of each set.
    heads: ArenaVec<u32>,
    /// Entries of sets that no group has any more.
    dead: usize,
}

impl Sets {
    /// # Errors
    /// Unsupported for types that cannot be compared.
    pub(super) fn new(values: &[ArrowType]) -> Result<Self> {
        let encoder = Arc::new(KeyEncoder::new(&[&[ArrowType::UInt32], values].concat())?);
        Ok(Sets {
            entries: KeyIndex::new(encoder),
            next: ArenaVec::new(),
            sets: ArenaVec::new(),
            heads: ArenaVec::new(),
            dead: 0,
        })
    }

    pub(super) fn resize(&mut self, groups: usize) {
        while self.sets.len() < groups {
            self.sets.push(self.heads.len() as u32);
            self.heads.push(NONE);
        }
    }

    /// The number of entries, which are numbered from 0.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Adds a value to the set of each group. Gives the entry of each; new ones are numbered in the order of their
    /// first rows.
    pub(super) fn insert(&mut self, groups: &[u32], values: &[ArrayRef]) -> Result<Vec<u32>> {
        let sets: Vec<u32> = groups.iter().map(|&group| self.sets[group as usize]).collect();
        self.find_or_insert(sets, values)
    }

    fn find_or_insert(&mut self, sets: Vec<u32>, values: &[ArrayRef]) -> Result<Vec<u32>> {
        let mut columns: Vec<ArrayRef> = vec![Arc::new(UInt32Array::from(sets.clone()))];
        columns.extend_from_slice(values);
        let keys: EncodedKeys = self.entries.encoder().clone().encode(&columns, sets.len())?;
        let mut hashes = Vec::with_capacity(sets.len());
        keys.hash_into(&mut hashes);
        let mut found = Vec::with_capacity(sets.len());
        self.entries.find_or_insert(&hashes, &keys, &mut found)?;
        for (set, &entry) in sets.into_iter().zip(&found) {
            if entry as usize == self.next.len() {
                self.next.push(self.heads[set as usize]);
                self.heads[set as usize] = entry;
            }
        }
        Ok(found)
    }

    pub(super) fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        self.entries.archive(archive)?;
        archive.cells(&mut self.next)?;
        archive.cells(&mut self.sets)?;
        archive.cells(&mut self.heads)?;
        archive.count(&mut self.dead)
    }

    /// The entries of a group's set, the newest first.
    pub(super) fn list(&self, group: u32) -> impl Iterator<Item = u32> {
        let mut entry = self.heads[self.sets[group as usize] as usize];
        std::iter::from_fn(move || {
            let this = (entry != NONE).then_some(entry)?;
            entry = self.next[this as usize];
            Some(this)
        })
    }

    /// Appends the entries of a group's set, the oldest first.
    pub(super) fn append_to(&self, group: u32, entries: &mut Vec<u32>) {
        let start = entries.len();
        entries.extend(self.list(group));
        entries[start..].reverse();
    }

    pub(super) fn values(&self, entries: &[u32]) -> Result<Vec<ArrayRef>> {
        Ok(self.entries.decode(entries)?.split_off(1))
    }

    /// Gives the groups empty sets.
    pub(super) fn reset(&mut self, groups: &[u32]) {
        for &group in groups {
            self.dead += self.list(group).count();
            self.sets[group as usize] = self.heads.len() as u32;
            self.heads.push(NONE);
        }
    }

    /// Rebuilds the index without the sets of groups that were reset, once they outweigh the others: then gives the
    /// old numbers of the entries, in the order of their new ones.
    pub(super) fn collect(&mut self) -> Result<Option<Vec<u32>>> {
        let few_dead = self.dead < 1024 || self.dead * 2 < self.entries.len();
        if few_dead && self.heads.len() < 4 * self.sets.len() + 4096 {
            return Ok(None);
        }
        let mut live = vec![NONE; self.heads.len()];
        for (group, set) in self.sets.iter_mut().enumerate() {
            live[*set as usize] = group as u32;
            *set = group as u32;
        }
        let numbers: Vec<u32> = (0..self.entries.len() as u32).collect();
        let columns = self.entries.decode(&numbers)?;
        let old = UInt32Array::from(columns[0].to_data());
        let set_of = |entry: u32| live[old.value(entry as usize) as usize];
        let kept: Vec<u32> = numbers.into_iter().filter(|&entry| set_of(entry) != NONE).collect();
        let values = columns[1..].iter().map(|column| take(column, &kept)).collect::<Result<Vec<_>>>()?;
        self.entries = KeyIndex::new(self.entries.encoder().clone());
        (self.next, self.heads, self.dead) = (ArenaVec::new(), ArenaVec::new(), 0);
        self.heads.resize(self.sets.len(), NONE);
        self.find_or_insert(kept.iter().map(|&entry| set_of(entry)).collect(), &values)?;
        Ok(Some(kept))
    }

    pub(super) fn bytes(&self) -> usize {
        self.entries.bytes() + self.next.bytes() + self.sets.bytes() + self.heads.bytes()
    }
}

pub(super) fn take(values: &ArrayRef, rows: &[u32]) -> Result<ArrayRef> {
    arrow::compute::take(values, &UInt32Array::from(rows.to_vec()), None)
        .map_err(|error| Error::internal(format!("taking rows: {error}")))
}

/// The groups of the rows that pass the filter, those with a NULL among them only if `nulls`; and their values.
pub(super) fn pass(
    groups: &[u32],
    values: &[ArrayRef],
    filter: Option<&BooleanArray>,
    nulls: bool,
) -> Result<(Vec<u32>, Vec<ArrayRef>)> {
    let valid = |row: usize| nulls || values.iter().all(|column| column.is_valid(row));
    let passed = |row: usize| valid(row) && filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row));
    let rows: Vec<u32> = (0..groups.len()).filter(|&row| passed(row)).map(|row| row as u32).collect();
    if rows.len() == groups.len() {
        return Ok((groups.to_vec(), values.to_vec()));
    }
    let picked = values.iter().map(|column| take(column, &rows)).collect::<Result<_>>()?;
    Ok((rows.into_iter().map(|row| groups[row as usize]).collect(), picked))
}
