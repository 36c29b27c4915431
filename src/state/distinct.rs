//! DISTINCT: an exact set of (group, value) before an accumulator.

use std::any::Any;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BooleanArray, UInt32Array};
use arrow::datatypes::DataType as ArrowType;

use super::index::{KeyIndex, NONE};
use super::key::{EncodedKeys, KeyEncoder};
use crate::aggregate::{
    Accumulator, AggregateCall, AggregateKind, Run, Step, accumulator, accumulator_of_changes, is_rewritten,
};
use crate::arena::ArenaVec;
use crate::error::{Error, Result};
use crate::types::DataType;

/// Empty accumulators for all calls of one operator.
///
/// # Errors
/// Unsupported for DISTINCT over types that cannot be compared; internal for types that `resolve` does not give.
pub fn accumulators(calls: &[AggregateCall]) -> Result<Vec<Box<dyn Accumulator>>> {
    around(calls, accumulator)
}

/// As [`accumulators`], for rows that are taken out again.
///
/// # Errors
/// As [`accumulators`].
pub fn accumulators_of_changes(calls: &[AggregateCall]) -> Result<Vec<Box<dyn Accumulator>>> {
    around(calls, accumulator_of_changes)
}

fn around(
    calls: &[AggregateCall],
    inner: fn(&AggregateCall, bool) -> Result<Box<dyn Accumulator>>,
) -> Result<Vec<Box<dyn Accumulator>>> {
    let rewritten = is_rewritten(calls);
    let one = |call: &AggregateCall| -> Result<Box<dyn Accumulator>> {
        let inner = inner(call, rewritten)?;
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
    /// How often the value of each entry is there, where values are taken out again.
    live: ArenaVec<u32>,
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
            live: ArenaVec::new(),
            dead: 0,
            inner,
        })
    }

    /// Adds values to the groups' sets; those that are new go on to the inner accumulator.
    fn insert(&mut self, groups: &[u32], values: &ArrayRef, filter: Option<&BooleanArray>) -> Result<()> {
        let passed =
            |row: usize| values.is_valid(row) && filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row));
        let rows: Vec<u32> = (0..groups.len()).filter(|&row| passed(row)).map(|row| row as u32).collect();
        let (values, found, fresh) = self.entries_of(groups, values, &rows)?;
        debug_assert_eq!(found.len(), rows.len());
        if fresh.is_empty() {
            return Ok(());
        }
        let groups: Vec<u32> = fresh.iter().map(|&i| groups[rows[i as usize] as usize]).collect();
        self.inner.update(&groups, Some(&take(&values, &fresh)?), None)
    }

    /// The values of the rows and their entries, and which of these rows are the first of a new entry.
    fn entries_of(
        &mut self,
        groups: &[u32],
        values: &ArrayRef,
        rows: &[u32],
    ) -> Result<(ArrayRef, Vec<u32>, Vec<u32>)> {
        let all = rows.len() == groups.len();
        let sets: Vec<u32> = rows.iter().map(|&row| self.sets[groups[row as usize] as usize]).collect();
        let picked = if all { values.clone() } else { take(values, rows)? };
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
        let [_, values] = columns;
        Ok((values, found, fresh))
    }

    /// What each row does to the inner accumulator: a value comes in with its first row and leaves with its last.
    fn inner_steps(&mut self, run: &Run<'_>, values: &ArrayRef) -> Result<Vec<Step>> {
        let step = |row: usize| run.steps.get(row).copied().unwrap_or(Step::Add);
        let selected = run.selected();
        let counts = |row: usize| selected.as_ref().is_none_or(|selected| selected.value(row));
        let rows: Vec<u32> =
            (0..run.groups.len()).filter(|&row| counts(row) && step(row) != Step::Skip).map(|row| row as u32).collect();
        let (_, found, _) = self.entries_of(run.groups, values, &rows)?;
        self.live.resize_zeroed(self.entries.len());
        let mut steps: Vec<Step> =
            (0..run.groups.len()).map(|row| if step(row) == Step::Clear { Step::Clear } else { Step::Skip }).collect();
        for (&row, &entry) in rows.iter().zip(&found) {
            let (row, live) = (row as usize, &mut self.live[entry as usize]);
            let before = *live;
            match step(row) {
                Step::Add => *live += 1,
                _ => *live = live.saturating_sub(1),
            }
            match (step(row), before) {
                (Step::Add, 0) => steps[row] = Step::Add,
                (Step::Remove, 1) => steps[row] = Step::Remove,
                _ => {}
            }
        }
        Ok(steps)
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
        let before = std::mem::replace(&mut self.live, ArenaVec::new());
        kept.iter().filter_map(|&entry| before.as_slice().get(entry as usize)).for_each(|&live| self.live.push(live));
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
    fn run(&mut self, run: &Run<'_>) -> Result<ArrayRef> {
        let values = run.values.ok_or_else(|| Error::internal("DISTINCT without an argument"))?;
        let steps = self.inner_steps(run, values)?;
        self.inner.run(&Run { groups: run.groups, values: run.values, filter: None, steps: &steps })
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
        let lists = self.next.bytes() + self.sets.bytes() + self.heads.bytes() + self.live.bytes();
        self.entries.bytes() + lists + self.inner.bytes()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}
