//! DISTINCT of OVER: a value enters with its first row and leaves with its last.

use std::collections::HashMap;

use arrow::array::ArrayRef;

use super::function::Function;
use super::store::{Place, Store};
use super::value::bytes_of;
use crate::error::Result;

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
}
