//! Groups of keys with their accumulators: the state of one slice, of one running window, of all sessions.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BooleanArray};

use super::distinct::accumulators;
use super::index::{KeyIndex, Moved, Tag};
use super::key::{EncodedKeys, KeyEncoder};
use crate::aggregate::{Accumulator, AggregateCall};
use crate::arena::ArenaVec;
use crate::error::{Error, Result};
use crate::key::KeyHash;
use crate::snapshot::Archive;

/// What every table of an operator has in common.
#[derive(Debug, Clone)]
pub struct Shape {
    pub encoder: Arc<KeyEncoder>,
    pub calls: Arc<[AggregateCall]>,
}

/// The inputs of each aggregate, for the rows of one batch.
#[derive(Debug, Clone)]
pub struct Inputs {
    pub rows: usize,
    /// Per call: its arguments, its filter.
    pub columns: Vec<(Vec<ArrayRef>, Option<BooleanArray>)>,
}

impl Inputs {
    /// # Errors
    /// Internal if a call names a column that is not there, or a filter that is not BOOLEAN.
    pub fn of(calls: &[AggregateCall], columns: &[ArrayRef], rows: usize) -> Result<Self> {
        let missing = |i: usize| Error::internal(format!("an aggregate of column {i} of {}", columns.len()));
        let mut inputs = Vec::with_capacity(calls.len());
        for call in calls {
            let args = call.args.iter().map(|&i| columns.get(i).cloned().ok_or_else(|| missing(i)));
            let args = args.collect::<Result<Vec<_>>>()?;
            let filter = match call.filter {
                Some(i) => {
                    let column = columns.get(i).ok_or_else(|| missing(i))?;
                    let filter = column.as_boolean_opt().ok_or_else(|| Error::internal("a filter must be BOOLEAN"))?;
                    Some(filter.clone())
                }
                None => None,
            };
            inputs.push((args, filter));
        }
        Ok(Inputs { rows, columns: inputs })
    }
}

/// Keys, and for each key's group one accumulator per aggregate call.
pub struct Table {
    pub index: KeyIndex,
    pub accumulators: Vec<Box<dyn Accumulator>>,
}

impl Table {
    /// # Errors
    /// See [`accumulators`].
    pub fn new(shape: &Shape) -> Result<Self> {
        Ok(Table { index: KeyIndex::new(shape.encoder.clone()), accumulators: accumulators(&shape.calls)? })
    }

    /// # Errors
    /// Those of the archive.
    pub fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        self.index.archive(archive)?;
        self.accumulators.iter_mut().try_for_each(|accumulator| accumulator.archive(archive))
    }

    /// Takes over groups of another table, none of which is here: `wanted` says which, by tag and number. Gives their numbers
    /// there and here.
    pub fn take_over(&mut self, other: &Table, wanted: &dyn Fn(Tag, u32) -> bool) -> Result<Moved> {
        let moved = self.index.take_over(&other.index, wanted)?;
        self.resize();
        self.adopt(other, &moved.from, &moved.to)?;
        Ok(moved)
    }

    /// Groups that have nothing yet become what groups of another table are.
    pub fn adopt(&mut self, other: &Table, from: &[u32], to: &[u32]) -> Result<()> {
        for (mine, theirs) in self.accumulators.iter_mut().zip(&other.accumulators) {
            mine.take_over(&**theirs, from, to)?;
        }
        Ok(())
    }

    pub fn len(&self) -> usize {
        self.index.len()
    }
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }
    pub fn bytes(&self) -> usize {
        self.index.bytes() + self.accumulators.iter().map(|a| a.bytes()).sum::<usize>()
    }

    /// Adds rows. `groups` is scratch; it holds the rows' groups afterwards.
    pub fn update(
        &mut self,
        hashes: &[KeyHash],
        keys: &EncodedKeys,
        inputs: &Inputs,
        groups: &mut Vec<u32>,
    ) -> Result<()> {
        self.find_or_insert(hashes, keys, groups)?;
        self.add(groups, inputs)
    }

    /// Looks up the groups of rows, in place of what is in `groups`; new ones get empty accumulators.
    pub fn find_or_insert(&mut self, hashes: &[KeyHash], keys: &EncodedKeys, groups: &mut Vec<u32>) -> Result<()> {
        groups.clear();
        self.index.find_or_insert(hashes, keys, groups)?;
        self.resize();
        Ok(())
    }

    /// Adds rows to groups that are there.
    pub fn add(&mut self, groups: &[u32], inputs: &Inputs) -> Result<()> {
        for (accumulator, (args, filter)) in self.accumulators.iter_mut().zip(&inputs.columns) {
            accumulator.update(groups, args, filter.as_ref())?;
        }
        Ok(())
    }

    /// Gives every key an accumulator.
    pub fn resize(&mut self) {
        let len = self.index.len();
        self.accumulators.iter_mut().for_each(|accumulator| accumulator.resize(len));
    }

    /// Adds groups of another table: `entries` says which, with their tags. Appends this table's groups to `to`.
    pub fn absorb(&mut self, other: &Table, entries: &[(Tag, u32)], to: &mut Vec<u32>) -> Result<()> {
        let start = to.len();
        self.index.absorb(&other.index, entries, to)?;
        self.resize();
        let from: Vec<u32> = entries.iter().map(|&(_, group)| group).collect();
        self.merge(other, &from, &to[start..])
    }

    /// Adds groups of another table to groups of this one.
    pub fn merge(&mut self, other: &Table, from: &[u32], to: &[u32]) -> Result<()> {
        for (mine, theirs) in self.accumulators.iter_mut().zip(&other.accumulators) {
            mine.merge(&**theirs, from, to)?;
        }
        Ok(())
    }

    /// Takes an earlier merge back.
    pub fn retract(&mut self, other: &Table, from: &[u32], to: &[u32]) -> Result<()> {
        for (mine, theirs) in self.accumulators.iter_mut().zip(&other.accumulators) {
            mine.retract(&**theirs, from, to)?;
        }
        Ok(())
    }

    /// Key columns, then one column per aggregate, for the groups in their order.
    pub fn columns(&self, groups: &[u32]) -> Result<Vec<ArrayRef>> {
        let mut columns = self.index.decode(groups)?;
        for accumulator in &self.accumulators {
            columns.push(accumulator.result(groups)?);
        }
        Ok(columns)
    }
}

/// Group numbers `0..len`.
pub fn all_groups(len: usize) -> Vec<u32> {
    (0..len as u32).collect()
}

/// The column of each group's partner in another table.
pub type GroupMap = ArenaVec<u32>;
