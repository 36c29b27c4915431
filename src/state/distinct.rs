//! DISTINCT: an exact set of (group, value) before an accumulator.

use std::any::Any;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BooleanArray, UInt32Array};
use arrow::datatypes::DataType as ArrowType;

use super::index::{KeyIndex, NONE};
use super::key::{EncodedKeys, KeyEncoder};
use crate::aggregate::{Accumulator, AggregateCall, AggregateKind, accumulator, is_rewritten};
use crate::arena::ArenaVec;
use crate::error::{Error, Result};
use crate::types::DataType;

/// Empty accumulators for all calls of one operator.
///
/// # Errors
/// Unsupported for DISTINCT over types that cannot be compared; internal for types that `resolve` does not give.
pub fn accumulators(calls: &[AggregateCall]) -> Result<Vec<Box<dyn Accumulator>>> {
    let rewritten = is_rewritten(calls);
    let one = |call: &AggregateCall| -> Result<Box<dyn Accumulator>> {
        let inner = accumulator(call, rewritten)?;
        match &call.input {
            // The smallest and the largest of a set need no set.
            Some(input) if call.distinct && !matches!(call.kind, AggregateKind::Min | AggregateKind::Max) => {
                Ok(Box::new(Distinct::new(input, inner)?))
            }
            _ => Ok(inner),
        }
    };
    calls.iter().map(one).collect()
}

/// Lets each value through once per group.
struct Distinct {
    /// Keys (set, value); an entry's number is its group in this index.
    entries: KeyIndex,
    /// The entries of a set form a list: the next one of each entry.
    next: ArenaVec<u32>,
    /// Set of each group; a group that was reset gets a new one.
    sets: ArenaVec<u32>,
    /// First entry of each set.
    heads: ArenaVec<u32>,
    /// Entries of sets that no group has any more.
    dead: usize,
    inner: Box<dyn Accumulator>,
}

impl Distinct {
    fn new(input: &DataType, inner: Box<dyn Accumulator>) -> Result<Self> {
        let encoder = Arc::new(KeyEncoder::new(&[ArrowType::UInt32, input.kind.to_arrow()])?);
        Ok(Distinct {
            entries: KeyIndex::new(encoder),
            next: ArenaVec::new(),
            sets: ArenaVec::new(),
            heads: ArenaVec::new(),
            dead: 0,
            inner,
        })
    }

    /// Adds values to the groups' sets; those that are new go on to the inner accumulator.
    fn insert(&mut self, groups: &[u32], values: &ArrayRef, filter: Option<&BooleanArray>) -> Result<()> {
        let passed =
            |row: usize| values.is_valid(row) && filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row));
        let rows: Vec<u32> = (0..groups.len()).filter(|&row| passed(row)).map(|row| row as u32).collect();
        let all = rows.len() == groups.len();
        let sets: Vec<u32> = rows.iter().map(|&row| self.sets[groups[row as usize] as usize]).collect();
        let picked = if all { values.clone() } else { take(values, &rows)? };
        let columns: [ArrayRef; 2] = [Arc::new(UInt32Array::from(sets.clone())), picked];
        let keys: EncodedKeys = self.entries.encoder().clone().encode(&columns, rows.len())?;
        let mut hashes = Vec::with_capacity(rows.len());
        keys.hash_into(&mut hashes);
        let before = self.entries.len();
        let mut found = Vec::with_capacity(rows.len());
        self.entries.find_or_insert(&hashes, &keys, &mut found)?;
        // New entries are numbered in the order of their first rows.
        let mut fresh = Vec::new();
        for (i, &entry) in found.iter().enumerate() {
            if entry as usize == before + fresh.len() {
                fresh.push(i as u32);
                self.link(sets[i], entry);
            }
        }
        if fresh.is_empty() {
            return Ok(());
        }
        let groups: Vec<u32> = fresh.iter().map(|&i| groups[rows[i as usize] as usize]).collect();
        self.inner.update(&groups, Some(&take(&columns[1], &fresh)?), None)
    }

    fn link(&mut self, set: u32, entry: u32) {
        debug_assert_eq!(entry as usize, self.next.len());
        self.next.push(self.heads[set as usize]);
        self.heads[set as usize] = entry;
    }

    /// The entries of a group's set.
    fn list(&self, group: u32) -> impl Iterator<Item = u32> {
        let mut entry = self.heads[self.sets[group as usize] as usize];
        std::iter::from_fn(move || {
            let this = (entry != NONE).then_some(entry)?;
            entry = self.next[this as usize];
            Some(this)
        })
    }

    /// Rebuilds the index without the sets of groups that were reset.
    fn collect(&mut self) -> Result<()> {
        let few_dead = self.dead < 1024 || self.dead * 2 < self.entries.len();
        if few_dead && self.heads.len() < 4 * self.sets.len() + 4096 {
            return Ok(());
        }
        let mut live = vec![NONE; self.heads.len()];
        let groups = self.sets.len();
        for (group, set) in self.sets.iter_mut().enumerate() {
            live[*set as usize] = group as u32;
            *set = group as u32;
        }
        let numbers: Vec<u32> = (0..self.entries.len() as u32).collect();
        let columns = self.entries.decode(&numbers)?;
        let old = UInt32Array::from(columns[0].to_data());
        let kept: Vec<u32> =
            numbers.into_iter().filter(|&entry| live[old.value(entry as usize) as usize] != NONE).collect();
        let sets: Vec<u32> = kept.iter().map(|&entry| live[old.value(entry as usize) as usize]).collect();
        let columns: [ArrayRef; 2] = [Arc::new(UInt32Array::from(sets.clone())), take(&columns[1], &kept)?];
        let encoder = self.entries.encoder().clone();
        let keys = encoder.encode(&columns, kept.len())?;
        let mut hashes = Vec::new();
        keys.hash_into(&mut hashes);
        let mut found = Vec::new();
        self.entries = KeyIndex::new(encoder);
        self.entries.find_or_insert(&hashes, &keys, &mut found)?;
        (self.next, self.heads, self.dead) = (ArenaVec::new(), ArenaVec::new(), 0);
        self.heads.resize(groups, NONE);
        for (i, &entry) in found.iter().enumerate() {
            self.link(sets[i], entry);
        }
        Ok(())
    }
}

fn take(values: &ArrayRef, rows: &[u32]) -> Result<ArrayRef> {
    arrow::compute::take(values, &UInt32Array::from(rows.to_vec()), None)
        .map_err(|error| Error::internal(format!("taking rows: {error}")))
}

impl Accumulator for Distinct {
    fn resize(&mut self, groups: usize) {
        while self.sets.len() < groups {
            self.sets.push(self.heads.len() as u32);
            self.heads.push(NONE);
        }
        self.inner.resize(groups);
    }
    fn update(&mut self, groups: &[u32], values: Option<&ArrayRef>, filter: Option<&BooleanArray>) -> Result<()> {
        let values = values.ok_or_else(|| Error::internal("DISTINCT without an argument"))?;
        self.insert(groups, values, filter)
    }
    fn merge(&mut self, other: &dyn Accumulator, from: &[u32], to: &[u32]) -> Result<()> {
        let other: &Distinct =
            other.as_any().downcast_ref().ok_or_else(|| Error::internal("merging sets of different aggregates"))?;
        let (mut entries, mut groups) = (Vec::new(), Vec::new());
        for (&from, &to) in from.iter().zip(to) {
            entries.extend(other.list(from));
            groups.resize(entries.len(), to);
        }
        let values = other.entries.decode(&entries)?.swap_remove(1);
        self.insert(&groups, &values, None)
    }
    fn reset(&mut self, groups: &[u32]) {
        for &group in groups {
            self.dead += self.list(group).count();
            self.sets[group as usize] = self.heads.len() as u32;
            self.heads.push(NONE);
        }
        self.inner.reset(groups);
        // A rebuild only saves memory; it cannot fail for keys that were encoded before.
        let _ = self.collect();
    }
    fn result(&self, groups: &[u32]) -> Result<ArrayRef> {
        self.inner.result(groups)
    }
    fn bytes(&self) -> usize {
        let lists = self.next.bytes() + self.sets.bytes() + self.heads.bytes();
        self.entries.bytes() + lists + self.inner.bytes()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}
