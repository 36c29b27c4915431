//! The end of a chain before a keyed operator: rows are dealt out to the shards that own their keys.

use std::mem;

use super::context::{Context, Part};
use super::push::{Batch, Push};
use crate::batch::Mark;
use crate::error::Result;
use crate::time::Watermark;
use crate::windowing::batch::{KeyedBatch, StageTimes};
use crate::windowing::hash::key_hash;
use crate::windowing::operator::MarkRule;
use crate::windowing::output::{Place, Places};
use crate::windowing::{Data, Key};

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
    rows: Vec<u32>,
    places: Vec<Place>,
    last: Option<Watermark>,
}

impl<K, T> Default for Owned<K, T> {
    fn default() -> Self {
        Owned { batch: KeyedBatch::default(), rows: Vec::new(), places: Vec::new(), last: None }
    }
}

impl<K, T> Owned<K, T> {
    fn take(&mut self) -> Option<KeyedBatch<K, T>> {
        let Owned { mut batch, rows, places, .. } = mem::take(self);
        batch.places = if places.is_empty() { Places::Rows(rows) } else { Places::Each(places) };
        (!batch.is_empty()).then_some(batch)
    }
}

impl<K: Key, T: Data, F: Fn(&T) -> K> Route<K, T, F> {
    pub fn new(key_of: F, rule: MarkRule, stage: usize, port: usize, shards: usize) -> Self {
        Route { key_of, rule, stage, port, owners: (0..shards).map(|_| Owned::default()).collect() }
    }
}

/// The watermark before each row of a batch, for a stage.
fn watermark_before(times: &StageTimes, places: &Places, row: usize) -> Watermark {
    times.before(places.of(row, 0))
}

impl<K: Key, T: Data, F: Fn(&T) -> K + Send> Push<T> for Route<K, T, F> {
    fn push(&mut self, batch: Batch<T>, context: &mut Context<'_>) -> Result<()> {
        let times = context.times_of(self.stage);
        let Batch { values, timestamps, places } = batch;
        let expected = values.len() / self.owners.len() + values.len() / (4 * self.owners.len()) + 16;
        for owned in &mut self.owners {
            owned.batch.keys.reserve(expected);
            owned.batch.hashes.reserve(expected);
            owned.batch.values.reserve(expected);
            owned.batch.timestamps.reserve(expected);
        }
        for (row, (value, timestamp)) in values.into_iter().zip(timestamps).enumerate() {
            let key = (self.key_of)(&value);
            let hash = key_hash(&key);
            let owned = &mut self.owners[context.groups.owner_of(hash) as usize];
            let watermark = watermark_before(&times, &places, row);
            if self.rule.wants(timestamp, watermark, owned.last) {
                owned.batch.marks.push(Mark { row: owned.batch.len() as u32, watermark });
                owned.last = Some(watermark);
            }
            match &places {
                Places::From(first) => owned.rows.push(first + row as u32),
                Places::Rows(rows) => owned.rows.push(rows[row]),
                Places::Each(places) => owned.places.push(places[row]),
            }
            owned.batch.keys.push(key);
            owned.batch.hashes.push(hash);
            owned.batch.values.push(value);
            owned.batch.timestamps.push(timestamp);
        }
        Ok(())
    }

    fn end_block(&mut self, context: &mut Context<'_>) -> Result<()> {
        for (to, owned) in self.owners.iter_mut().enumerate() {
            let rows = owned.take().map(|batch| Box::new(batch) as _);
            context.leaving.send(self.port, to, Part { rows, block: context.block.clone() });
        }
        Ok(())
    }
}
