//! COUNT(*) and COUNT(x) of OVER.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array};

use super::function::Function;
use super::store::{Place, Store};
use super::value::is_valid;
use crate::error::Result;

pub(super) struct Count {
    argument: Option<usize>,
    counts: Vec<i64>,
    results: Vec<i64>,
}

impl Count {
    pub fn new(argument: Option<usize>) -> Self {
        Count { argument, counts: Vec::new(), results: Vec::new() }
    }

    fn counts(&self, store: &Store, place: Place) -> bool {
        self.argument.is_none_or(|column| is_valid(store.cell(place, column)))
    }
}

impl Function for Count {
    fn resize(&mut self, groups: usize) {
        self.counts.resize(groups, 0);
    }
    fn add(&mut self, group: u32, store: &Store, place: Place) {
        self.counts[group as usize] += i64::from(self.counts(store, place));
    }
    fn retract(&mut self, group: u32, store: &Store, place: Place) {
        self.counts[group as usize] -= i64::from(self.counts(store, place));
    }
    fn reset(&mut self, group: u32) {
        self.counts[group as usize] = 0;
    }
    fn push(&mut self, group: u32) {
        self.results.push(self.counts[group as usize]);
    }
    fn finish(&mut self, _store: &Store) -> Result<ArrayRef> {
        Ok(Arc::new(Int64Array::from(std::mem::take(&mut self.results))))
    }
    fn bytes(&self) -> usize {
        self.counts.capacity() * size_of::<i64>()
    }
}
