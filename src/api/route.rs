//! The end of a chain before a keyed operator: rows are dealt out to the shards that own their keys.

use std::mem;

use super::context::{Context, Part};
use super::push::{Batch, Push};
use crate::batch::Mark;
use crate::error::Result;
use crate::key::KeyGroups;
use crate::time::{EventTime, Watermark};
use crate::windowing::batch::{KeyedBatch, StageTimes};
use crate::windowing::hash::key_hash;
use crate::windowing::operator::MarkRule;
use crate::windowing::output::{Place, Places};
use crate::windowing::{Data, Key};

/// Rows for an owner that are kept before they are sent.
const ROWS_KEPT: usize = 4_096;

pub(super) struct Route<K, T, F> {
    key_of: F,
    rule: MarkRule,
    stage: usize,
    port: usize,
    /// By owner: its rows of the block so far.
    owners: Vec<Owned<K, T>>,
}

struct Owned<K, T> {
    batch: KeyedBatch<K, T>,
    places: Kept,
    last: Option<Watermark>,
}

/// The places of an owner's rows so far.
enum Kept {
    Rows(Vec<u32>),
    /// Of records that are results; a producer has all of one kind.
    Each(Vec<Place>),
}

impl<K, T> Default for Owned<K, T> {
    fn default() -> Self {
        Owned { batch: KeyedBatch::default(), places: Kept::Rows(Vec::new()), last: None }
    }
}

impl<K, T> Owned<K, T> {
    fn take(&mut self) -> Option<KeyedBatch<K, T>> {
        let Owned { mut batch, places, .. } = mem::take(self);
        let sorted = match places {
            Kept::Rows(rows) => {
                batch.places = Places::Rows(rows);
                true
            }
            Kept::Each(places) => {
                let sorted = places.is_sorted();
                batch.places = Places::Each(places);
                sorted
            }
        };
        if !sorted {
            // An operator may be asked for results of timers behind those of elements that come later.
            batch = KeyedBatch::merge(vec![batch], Places::own);
        }
        (!batch.is_empty()).then_some(batch)
    }
    fn reserve(&mut self, rows: usize) {
        self.batch.keys.reserve(rows);
        self.batch.hashes.reserve(rows);
        self.batch.values.reserve(rows);
        self.batch.timestamps.reserve(rows);
    }
    #[inline]
    fn mark(&mut self, rule: MarkRule, timestamp: EventTime, watermark: Watermark) {
        if rule.wants(timestamp, watermark, self.last) {
            self.batch.marks.push(Mark { row: self.batch.len() as u32, watermark });
            self.last = Some(watermark);
        }
    }
}

impl<K: Key, T: Data, F: Fn(&T) -> K> Route<K, T, F> {
    pub fn new(key_of: F, rule: MarkRule, stage: usize, port: usize, shards: usize) -> Self {
        Route { key_of, rule, stage, port, owners: (0..shards).map(|_| Owned::default()).collect() }
    }

    fn send(&mut self, to: usize, context: &mut Context<'_>) {
        let rows = self.owners[to].take().map(|batch| Box::new(batch) as _);
        context.leaving.send(self.port, to, Part { rows, block: context.block.clone() });
    }

    /// Deals out rows of the block: `row_of` gives the number in the block of one of the values.
    fn deal_rows(
        &mut self,
        (values, timestamps): (Vec<T>, Vec<EventTime>),
        groups: KeyGroups,
        times: &StageTimes,
        row_of: impl Fn(usize) -> u32,
    ) {
        for (at, (value, timestamp)) in values.into_iter().zip(timestamps).enumerate() {
            let key = (self.key_of)(&value);
            let (hash, row) = (key_hash(&key), row_of(at));
            let owned = &mut self.owners[groups.owner_of(hash) as usize];
            owned.mark(self.rule, timestamp, times.before_row(row));
            if let Kept::Rows(rows) = &mut owned.places {
                rows.push(row);
            }
            owned.batch.push((key, hash), value, timestamp);
        }
    }

    /// Deals out records that are results.
    fn deal_results(
        &mut self,
        (values, timestamps): (Vec<T>, Vec<EventTime>),
        groups: KeyGroups,
        times: &StageTimes,
        places: Vec<Place>,
    ) {
        for ((value, timestamp), place) in values.into_iter().zip(timestamps).zip(places) {
            let key = (self.key_of)(&value);
            let hash = key_hash(&key);
            let owned = &mut self.owners[groups.owner_of(hash) as usize];
            owned.mark(self.rule, timestamp, times.before(place));
            match &mut owned.places {
                Kept::Each(places) => places.push(place),
                kept => *kept = Kept::Each(vec![place]),
            }
            owned.batch.push((key, hash), value, timestamp);
        }
    }
}

impl<K: Key, T: Data, F: Fn(&T) -> K + Send> Push<T> for Route<K, T, F> {
    fn push(&mut self, batch: Batch<T>, context: &mut Context<'_>) -> Result<()> {
        let (times, groups) = (context.times_of(self.stage), context.groups);
        let Batch { values, timestamps, places } = batch;
        let expected = values.len() / self.owners.len() + values.len() / (4 * self.owners.len()) + 16;
        self.owners.iter_mut().for_each(|owned| owned.reserve(expected));
        let columns = (values, timestamps);
        match places {
            Places::From(first) => self.deal_rows(columns, groups, &times, |at| first + at as u32),
            Places::Rows(rows) => self.deal_rows(columns, groups, &times, |at| rows[at]),
            Places::Each(places) => self.deal_results(columns, groups, &times, places),
        }
        // While they are near. Results are put in order with those of other shards anyway.
        for to in 0..self.owners.len() {
            if self.owners[to].batch.len() >= ROWS_KEPT && matches!(self.owners[to].places, Kept::Rows(_)) {
                self.send(to, context);
            }
        }
        Ok(())
    }

    fn end_block(&mut self, context: &mut Context<'_>) -> Result<()> {
        (0..self.owners.len()).for_each(|to| self.send(to, context));
        Ok(())
    }
}
