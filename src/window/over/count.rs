//! COUNT(*) and COUNT(x) of OVER.

use std::any::Any;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array};

use super::function::{Function, move_groups, same};
use super::store::{Place, Store};
use super::value::is_valid;
use crate::error::Result;
use crate::snapshot::Archive;
use crate::state::index::Moved;

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
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        archive.cells(&mut self.counts)
    }
    fn take_over(&mut self, other: Box<dyn Function>, moved: &Moved) -> Result<()> {
        let mut other: Box<Count> = same(other)?;
        move_groups(&mut self.counts, &mut other.counts, moved);
        Ok(())
    }
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
