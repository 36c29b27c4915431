//! DISTINCT of OVER: a value enters with its first row and leaves with its last.

use std::any::Any;
use std::collections::HashMap;

use arrow::array::ArrayRef;

use super::function::{Function, move_groups, same};
use super::store::{Place, Store};
use super::value::bytes_of;
use crate::error::Result;
use crate::snapshot::{Archive, ByteLists, Lists, fits};
use crate::state::index::Moved;

pub(super) struct Distinct {
    inner: Box<dyn Function>,
    argument: usize,
    /// By group: how many rows of the frame have a value.
    groups: Vec<HashMap<Vec<u8>, u64>>,
    /// Of all groups.
    values: usize,
}

impl Distinct {
    pub fn new(inner: Box<dyn Function>, argument: usize) -> Self {
        Distinct { inner, argument, groups: Vec::new(), values: 0 }
    }
}

impl Function for Distinct {
    fn resize(&mut self, groups: usize) {
        self.groups.resize_with(groups, HashMap::new);
        self.inner.resize(groups);
    }
    fn add(&mut self, group: u32, store: &Store, place: Place) {
        let Some(value) = bytes_of(store.cell(place, self.argument)) else { return };
        let rows = self.groups[group as usize].entry(value).or_default();
        *rows += 1;
        if *rows == 1 {
            self.values += 1;
            self.inner.add(group, store, place);
        }
    }
    fn retract(&mut self, group: u32, store: &Store, place: Place) {
        let Some(value) = bytes_of(store.cell(place, self.argument)) else { return };
        let values = &mut self.groups[group as usize];
        let Some(rows) = values.get_mut(&value) else { return };
        *rows -= 1;
        if *rows == 0 {
            values.remove(&value);
            self.values -= 1;
            self.inner.retract(group, store, place);
        }
    }
    fn reset(&mut self, group: u32) {
        self.values -= self.groups[group as usize].len();
        self.groups[group as usize].clear();
        self.inner.reset(group);
    }
    fn push(&mut self, group: u32) {
        self.inner.push(group);
    }
    fn finish(&mut self, store: &Store) -> Result<ArrayRef> {
        self.inner.finish(store)
    }
    fn bytes(&self) -> usize {
        self.values * size_of::<(Vec<u8>, u64)>() + self.inner.bytes()
    }
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        let values = self.groups.iter().flat_map(HashMap::keys);
        let mut values = ByteLists::of(values.map(|value| value.iter().copied()));
        let mut rows = Lists::of(self.groups.iter().map(|values| values.values().copied()));
        values.archive(archive)?;
        rows.archive(archive)?;
        fits(values.len() == rows.items())?;
        if archive.is_reading() {
            let mut values = values.iter().map(<[u8]>::to_vec);
            let group = |rows: &[u64]| values.by_ref().take(rows.len()).zip(rows.iter().copied()).collect();
            self.groups = rows.iter().map(group).collect();
            self.values = rows.items();
        }
        self.inner.archive(archive)
    }
    fn take_over(&mut self, other: Box<dyn Function>, moved: &Moved) -> Result<()> {
        let mut other: Box<Distinct> = same(other)?;
        move_groups(&mut self.groups, &mut other.groups, moved);
        self.values = self.groups.iter().map(HashMap::len).sum();
        self.inner.take_over(other.inner, moved)
    }
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
