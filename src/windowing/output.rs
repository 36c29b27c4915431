//! What an operator hands on: results in the order of their causes, and side outputs.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::marker::PhantomData;

use crate::key::KeyHash;
use crate::time::EventTime;
use crate::windowing::Data;
use crate::windowing::hash::key_hash;

/// What caused a record, as a place in the order of a machine that handles one row after the other. Ascending places,
/// stable among equals, are that order: the same on any number of shards and in batches of any size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Twice the row's number in its block, and 1: the row itself. Even: the time that moved before that row.
    pub cause: u64,
    /// The time of the timer; 0 for a row.
    pub time: EventTime,
    pub hash: KeyHash,
}

impl Place {
    /// Of what row `row` of a block causes itself.
    pub fn of_row(row: u32, hash: KeyHash) -> Self {
        Place { cause: 2 * u64::from(row) + 1, time: 0, hash }
    }
    /// Of a timer that became due before row `row` of a block (its length: behind all rows).
    pub fn of_timer(row: u32, time: EventTime, hash: KeyHash) -> Self {
        Place { cause: 2 * u64::from(row), time, hash }
    }
}

/// The places of the rows of a batch.
#[derive(Debug, Clone)]
pub enum Places {
    /// Rows of a block one after the other, from this one.
    From(u32),
    /// These rows of a block.
    Rows(Vec<u32>),
    /// Records with causes of their own.
    Each(Vec<Place>),
}

impl Places {
    /// Of row `index` of the batch, whose key hashes to `hash`.
    #[inline]
    pub fn of(&self, index: usize, hash: KeyHash) -> Place {
        match self {
            Places::From(first) => Place::of_row(first + index as u32, hash),
            Places::Rows(rows) => Place::of_row(rows[index], hash),
            Places::Each(places) => Place { hash, ..places[index] },
        }
    }

    /// As [`of`](Self::of), but where records have causes of their own, with the hash of these.
    pub fn own(&self, index: usize, hash: KeyHash) -> Place {
        match self {
            Places::Each(places) => places[index],
            _ => self.of(index, hash),
        }
    }
    /// Those of some of the rows; a row may be named several times.
    pub fn select(&self, rows: &[u32]) -> Places {
        match self {
            Places::From(first) => Places::Rows(rows.iter().map(|row| first + row).collect()),
            Places::Rows(all) => Places::Rows(rows.iter().map(|&row| all[row as usize]).collect()),
            Places::Each(all) => Places::Each(rows.iter().map(|&row| all[row as usize]).collect()),
        }
    }
}

impl Default for Places {
    fn default() -> Self {
        Places::Rows(Vec::new())
    }
}

/// Records in columns: values, timestamps, and the places of their causes.
#[derive(Debug, Clone)]
pub struct Records<T> {
    pub values: Vec<T>,
    /// Milliseconds.
    pub timestamps: Vec<EventTime>,
    pub places: Vec<Place>,
}

impl<T> Default for Records<T> {
    fn default() -> Self {
        Records { values: Vec::new(), timestamps: Vec::new(), places: Vec::new() }
    }
}

impl<T> Records<T> {
    pub fn len(&self) -> usize {
        self.values.len()
    }
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
    #[inline]
    pub fn push(&mut self, value: T, timestamp: EventTime, place: Place) {
        self.values.push(value);
        self.timestamps.push(timestamp);
        self.places.push(place);
    }
}

/// Takes the results of a window function; each gets the window's maximum timestamp.
pub struct Collector<'a, T> {
    records: &'a mut Records<T>,
    timestamp: EventTime,
    place: Place,
}

impl<'a, T> Collector<'a, T> {
    pub fn new(records: &'a mut Records<T>, timestamp: EventTime, place: Place) -> Self {
        Collector { records, timestamp, place }
    }
    pub fn collect(&mut self, value: T) {
        self.records.push(value, self.timestamp, self.place);
    }
}

/// Names a side output and the type of its records. As in Flink, tags of one name (and type) are the same output.
#[derive(Debug)]
pub struct OutputTag<T> {
    id: u64,
    name: String,
    of: PhantomData<fn() -> T>,
}

impl<T> Clone for OutputTag<T> {
    fn clone(&self) -> Self {
        OutputTag { id: self.id, name: self.name.clone(), of: PhantomData }
    }
}

impl<T: Data> OutputTag<T> {
    pub fn new(name: impl Into<String>) -> Self {
        let name = name.into();
        OutputTag { id: key_hash(&(TypeId::of::<T>(), &name)), name, of: PhantomData }
    }
    pub fn id(&self) -> u64 {
        self.id
    }
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// Records for side outputs, by the id of the tag: a [`Records`] each.
#[derive(Default)]
pub struct SideOutputs {
    by_tag: BTreeMap<u64, Box<dyn Any + Send>>,
    timestamp: EventTime,
    place: Place,
}

impl SideOutputs {
    /// What goes with the records that are output from now on.
    #[inline]
    pub fn at(&mut self, timestamp: EventTime, place: Place) {
        (self.timestamp, self.place) = (timestamp, place);
    }
    pub fn output<T: Data>(&mut self, tag: &OutputTag<T>, value: T) {
        let records = self.by_tag.entry(tag.id).or_insert_with(|| Box::new(Records::<T>::default()));
        // The type is part of a tag's id.
        if let Some(records) = records.downcast_mut::<Records<T>>() {
            records.push(value, self.timestamp, self.place);
        }
    }
    /// Takes the records of a tag.
    pub fn take<T: Data>(&mut self, tag: &OutputTag<T>) -> Records<T> {
        self.by_tag.remove(&tag.id).and_then(|records| records.downcast().ok()).map_or_else(Records::default, |r| *r)
    }
}
