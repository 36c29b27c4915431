//! Functions of OVER whose result is a value of one of the rows: MIN, MAX, FIRST_VALUE, LAST_VALUE and LAG.

use std::any::Any;
use std::cmp::Ordering;
use std::collections::VecDeque;

use arrow::array::ArrayRef;

use super::function::{Function, move_groups, same};
use super::store::{Place, Store};
use super::value::{is_valid, java_order, total_order};
use crate::error::Result;
use crate::snapshot::{Archive, Lists};
use crate::state::index::Moved;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Min,
    Max,
    First,
    Last,
    /// So many rows before the last.
    Lag(u64),
}

pub(super) struct Choice {
    kind: Kind,
    /// Columns: the argument, and the value where LAG finds no row.
    args: Vec<usize>,
    /// Rows leave the frame.
    slides: bool,
    /// By group, in the order of the frame, rows that are the result or will be, once those before them have left.
    groups: Vec<VecDeque<Place>>,
    results: Vec<Option<(usize, Place)>>,
}

impl Choice {
    pub fn new(kind: Kind, args: Vec<usize>, slides: bool) -> Self {
        Choice { kind, args, slides, groups: Vec::new(), results: Vec::new() }
    }

    /// MIN and MAX: a row that comes later and is no worse makes the rows before it useless.
    fn add_extreme(&mut self, group: u32, store: &Store, place: Place) {
        let column = self.args[0];
        let new = store.cell(place, column);
        let rows = &mut self.groups[group as usize];
        let wanted = if self.kind == Kind::Max { Ordering::Greater } else { Ordering::Less };
        if self.slides {
            while rows.back().is_some_and(|&last| {
                let order = total_order(new, store.cell(last, column));
                order == wanted || order == Ordering::Equal
            }) {
                rows.pop_back();
            }
            rows.push_back(place);
            return;
        }
        match rows.front_mut() {
            None => rows.push_back(place),
            Some(best) => {
                if java_order(new, store.cell(*best, column)) == Some(wanted) {
                    *best = place;
                }
            }
        }
    }

    fn add_lag(&mut self, group: u32, offset: u64, place: Place) {
        let rows = &mut self.groups[group as usize];
        rows.push_back(place);
        if rows.len() as u64 > offset.saturating_add(1) {
            rows.pop_front();
        }
    }

    fn result(&self, group: u32) -> Option<(usize, Place)> {
        let rows = &self.groups[group as usize];
        let first = || rows.front().map(|&place| (self.args[0], place));
        match self.kind {
            Kind::Lag(offset) if rows.len() as u64 <= offset => self.args.get(1).copied().zip(rows.back().copied()),
            _ => first(),
        }
    }
}

impl Function for Choice {
    fn resize(&mut self, groups: usize) {
        self.groups.resize_with(groups, VecDeque::new);
    }
    fn add(&mut self, group: u32, store: &Store, place: Place) {
        if let Kind::Lag(offset) = self.kind {
            return self.add_lag(group, offset, place);
        }
        if !is_valid(store.cell(place, self.args[0])) {
            return;
        }
        let rows = &mut self.groups[group as usize];
        match self.kind {
            Kind::First if self.slides || rows.is_empty() => rows.push_back(place),
            Kind::First | Kind::Lag(_) => {}
            Kind::Last => {
                rows.clear();
                rows.push_back(place);
            }
            Kind::Min | Kind::Max => self.add_extreme(group, store, place),
        }
    }
    fn retract(&mut self, group: u32, _store: &Store, place: Place) {
        let rows = &mut self.groups[group as usize];
        if rows.front() == Some(&place) {
            rows.pop_front();
        }
    }
    fn reset(&mut self, group: u32) {
        self.groups[group as usize].clear();
    }
    fn push(&mut self, group: u32) {
        self.results.push(self.result(group));
    }
    fn finish(&mut self, store: &Store) -> Result<ArrayRef> {
        store.values(&std::mem::take(&mut self.results), &self.args)
    }
    fn places(&mut self, see: &mut dyn FnMut(&mut Place)) {
        self.groups.iter_mut().flatten().for_each(see);
    }
    fn bytes(&self) -> usize {
        // A queue that has held anything has room for four rows.
        self.groups.capacity() * (size_of::<VecDeque<Place>>() + 4 * size_of::<Place>())
    }
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        let mut rows = Lists::of(self.groups.iter().map(|rows| rows.iter().copied()));
        rows.archive(archive)?;
        if archive.is_reading() {
            self.groups = rows.iter().map(|rows| rows.iter().copied().collect()).collect();
        }
        Ok(())
    }
    fn take_over(&mut self, other: Box<dyn Function>, moved: &Moved) -> Result<()> {
        let mut other: Box<Choice> = same(other)?;
        move_groups(&mut self.groups, &mut other.groups, moved);
        Ok(())
    }
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
