//! Window Top-N and deduplication: the best rows of each window and key.
//!
//! Each row finds its window, which came with it, and its key's group there. Windows go by their ends alone, as in Flink:
//! sessions of several keys that end together are ranked together. A group holds the best rows so far and
//! some that may be among them: at twice as many as are wanted it is sorted and cut. Once it has as many as are wanted,
//! the worst of them is a bar that most rows do not pass, so that they are neither copied nor sorted.
//!
//! Of equal rows those that arrived first are the better ones, as in Flink; in the deduplication that keeps the last
//! row, those that arrived last.

mod state;

use std::any::Any;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use arrow::datatypes::SchemaRef;
use arrow::row::Rows;

use super::kept::{KeptRows, Place, gather};
use super::late::Late;
use super::order::OrderEncoder;
use super::rows::{Reader, next_end, split, times};
use super::zone::Scale;
use super::{Emit, Emitted, Wanted, WindowOperator, downcast};
use crate::batch::EventBatch;
use crate::error::{Error, Result};
use crate::key::KeyHash;
use crate::plan::{RankSpec, WindowSpec};
use crate::snapshot::Archive;
use crate::state::KeyIndex;
use crate::time::Watermark;

/// Rows of one result batch at most.
const ROWS_MAX: usize = 16_384;

pub(super) struct RankOperator {
    reader: Reader,
    /// Column with the ends of the windows.
    end: usize,
    order: OrderEncoder,
    range: Range,
    numbered: bool,
    ordered: bool,
    schema: SchemaRef,
    scale: Scale,
    horizon: i64,
    /// By end.
    windows: BTreeMap<i64, Ranking>,
    /// Rows that have arrived.
    arrived: u64,
    late: Late,
    fired: u64,
}

/// Which rows of a group are wanted.
#[derive(Debug, Clone, Copy)]
struct Range {
    /// How many of the best are left out.
    skip: usize,
    /// How many of the best there are with those left out.
    last: usize,
    last_wins: bool,
}

/// The rows of one window.
struct Ranking {
    index: KeyIndex,
    groups: Vec<Group>,
    rows: KeptRows,
    /// Rows in all groups.
    wanted: usize,
}

/// The rows of one window and key.
struct Group {
    hash: KeyHash,
    entries: Vec<Entry>,
    /// The first `range.last` entries are the best of all up to now, in order.
    full: bool,
}

struct Entry {
    key: Box<[u8]>,
    arrival: u64,
    place: Place,
}

/// The rows of a batch with what is computed of them once.
struct Arrivals<'a> {
    batch: &'a EventBatch,
    order: Rows,
    /// The number of the first row among all that have arrived.
    first: u64,
}

impl Range {
    fn sort(self, entries: &mut [Entry]) {
        if self.last_wins {
            entries.sort_unstable_by(|a, b| (&a.key, Reverse(a.arrival)).cmp(&(&b.key, Reverse(b.arrival))));
        } else {
            entries.sort_unstable_by(|a, b| (&a.key, a.arrival).cmp(&(&b.key, b.arrival)));
        }
    }
}

impl Group {
    /// Whether a row that arrives now may be among the best.
    fn admits(&self, key: &[u8], range: Range) -> bool {
        if !self.full {
            return true;
        }
        let bar = &*self.entries[range.last - 1].key;
        if range.last_wins { key <= bar } else { key < bar }
    }

    /// Takes a row; returns how many more rows the group holds than before.
    fn push(&mut self, entry: Entry, range: Range) -> isize {
        let before = self.entries.len() as isize;
        self.entries.push(entry);
        let len = self.entries.len();
        if len == range.last || len >= range.last.saturating_mul(2) {
            range.sort(&mut self.entries);
            self.entries.truncate(range.last);
            self.full = true;
        }
        self.entries.len() as isize - before
    }
}

impl RankOperator {
    /// # Errors
    /// Script for an unknown zone, unsupported for keys that are none, internal for a specification that no front end
    /// writes.
    pub(super) fn new(spec: &RankSpec) -> Result<Self> {
        let WindowSpec::Attached { end, .. } = spec.window else {
            return Err(Error::internal("a Top-N over rows without windows"));
        };
        if spec.first < 1 || spec.last < 1 {
            return Err(Error::internal(format!("a Top-N {spec:?}")));
        }
        let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        Ok(RankOperator {
            reader: Reader::of(&spec.keys, &[], &spec.input)?,
            end,
            order: OrderEncoder::new(&spec.order, &spec.input)?,
            range: Range { skip: count(spec.first - 1), last: count(spec.last), last_wins: spec.last_wins },
            numbered: spec.numbered,
            ordered: spec.ordered,
            schema: spec.schema.to_arrow(),
            scale: Scale::new(spec.zone.as_deref())?,
            horizon: i64::MIN,
            windows: BTreeMap::new(),
            arrived: 0,
            late: Late::default(),
            fired: 0,
        })
    }

    /// Takes the rows `[from, to)` of a batch, which no mark parts.
    fn take(&mut self, arrivals: &Arrivals<'_>, ends: &[i64], from: usize, to: usize) -> Result<()> {
        for (end, rows) in split(from..to, |row| Some(ends[row])) {
            if end <= self.horizon {
                self.late.drop_rows(rows.iter().map(|&row| row as usize));
                continue;
            }
            let reader = &self.reader;
            let ranking = self.windows.entry(end).or_insert_with(|| Ranking::new(reader));
            ranking.add(arrivals, &rows, reader, self.range)?;
        }
        Ok(())
    }

    fn fire(&mut self, horizon: i64, emit: Emit<'_>) -> Result<()> {
        self.horizon = self.horizon.max(horizon);
        while let Some(window) = self.windows.first_entry() {
            let end = *window.key();
            if end > self.horizon {
                break;
            }
            let ranking = window.remove();
            self.fired += ranking.groups.len() as u64;
            self.give(ranking, end, emit)?;
        }
        Ok(())
    }

    fn give(&self, mut ranking: Ranking, end: i64, emit: Emit<'_>) -> Result<()> {
        if self.ordered {
            // By their first rows where hashes are the same.
            ranking.groups.sort_by_key(|group| group.hash);
        }
        let batches = ranking.rows.batches();
        let (mut places, mut numbers): (Vec<Place>, Vec<i64>) = (Vec::new(), Vec::new());
        for group in &mut ranking.groups {
            self.range.sort(&mut group.entries);
            for (at, entry) in group.entries.iter().enumerate().take(self.range.last).skip(self.range.skip) {
                places.push(entry.place);
                numbers.push(at as i64 + 1);
            }
            if places.len() >= ROWS_MAX {
                self.emit(batches, &std::mem::take(&mut places), std::mem::take(&mut numbers), end, emit)?;
            }
        }
        self.emit(batches, &places, numbers, end, emit)
    }

    fn emit(
        &self,
        batches: &[RecordBatch],
        places: &[Place],
        numbers: Vec<i64>,
        end: i64,
        emit: Emit<'_>,
    ) -> Result<()> {
        if places.is_empty() {
            return Ok(());
        }
        let mut columns: Vec<ArrayRef> = gather(batches, places)?.columns().to_vec();
        if self.numbered {
            columns.push(Arc::new(Int64Array::from(numbers)));
        }
        let rows = RecordBatch::try_new(self.schema.clone(), columns)
            .map_err(|error| Error::internal(format!("the rows of a Top-N: {error}")))?;
        emit(Emitted::at(rows, end))
    }
}

impl Ranking {
    fn new(reader: &Reader) -> Self {
        Ranking { index: reader.index(), groups: Vec::new(), rows: KeptRows::default(), wanted: 0 }
    }

    /// Takes these rows, ascending.
    fn add(&mut self, arrivals: &Arrivals<'_>, rows: &[u32], reader: &Reader, range: Range) -> Result<()> {
        let found = self.find_groups(arrivals.batch, rows, reader)?;
        let key_of = |row: u32| arrivals.order.row(row as usize);
        let mut admitted: Vec<u32> = Vec::new();
        let mut groups: Vec<u32> = Vec::new();
        for (&row, &group) in rows.iter().zip(&found) {
            if self.groups[group as usize].admits(key_of(row).as_ref(), range) {
                admitted.push(row);
                groups.push(group);
            }
        }
        if admitted.is_empty() {
            return Ok(());
        }
        let batch = self.rows.add(&arrivals.batch.rows, &admitted)?;
        for (at, (&row, &group)) in admitted.iter().zip(&groups).enumerate() {
            let (key, group) = (key_of(row), &mut self.groups[group as usize]);
            // The bar may have risen since.
            if !group.admits(key.as_ref(), range) {
                continue;
            }
            let arrival = arrivals.first + u64::from(row);
            let entry = Entry { key: key.as_ref().into(), arrival, place: (batch, at as u32) };
            self.wanted = self.wanted.saturating_add_signed(group.push(entry, range));
        }
        if self.rows.is_loose(self.wanted) {
            self.settle()?;
        }
        Ok(())
    }

    /// The group of each of these rows.
    fn find_groups(&mut self, batch: &EventBatch, rows: &[u32], reader: &Reader) -> Result<Vec<u32>> {
        let chunk = reader.rows(batch, rows)?;
        let mut found = Vec::with_capacity(rows.len());
        self.index.find_or_insert(&chunk.hashes, &chunk.keys, &mut found)?;
        for (row, &group) in found.iter().enumerate() {
            // New groups are numbered in the order of their first rows.
            if group as usize == self.groups.len() {
                // Without keys rows are dealt out by the ends of their windows: one hash for all of them.
                let hash = chunk.hashes.get(row).copied().unwrap_or(0);
                self.groups.push(Group { hash, entries: Vec::new(), full: false });
            }
        }
        Ok(found)
    }

    /// Lets go of rows that no group wants.
    fn settle(&mut self) -> Result<()> {
        let entries = || self.groups.iter().flat_map(|group| &group.entries);
        let places: Vec<Place> = entries().map(|entry| entry.place).collect();
        self.rows.settle(&places)?;
        let entries = self.groups.iter_mut().flat_map(|group| &mut group.entries);
        for (at, entry) in entries.enumerate() {
            entry.place = (0, at as u32);
        }
        Ok(())
    }

    fn bytes(&self) -> usize {
        let groups = self.groups.len() * size_of::<Group>() + self.wanted * size_of::<Entry>();
        self.index.bytes() + groups + self.rows.bytes()
    }
}

impl WindowOperator for RankOperator {
    fn process(&mut self, _side: usize, batch: &EventBatch, emit: Emit<'_>) -> Result<()> {
        self.reader.check(batch)?;
        let ends = times(&batch.rows, self.end)?;
        let arrivals = Arrivals { batch, order: self.order.encode(&batch.rows)?, first: self.arrived };
        self.arrived += ends.len() as u64;
        let mut from = 0;
        let mut next = next_end(&ends, self.horizon);
        for mark in &batch.marks {
            let horizon = self.scale.horizon(mark.watermark);
            let row = (mark.row as usize).clamp(from, ends.len());
            if next <= horizon || self.windows.first_key_value().is_some_and(|(&end, _)| end <= horizon) {
                self.take(&arrivals, &ends, from, row)?;
                self.fire(horizon, emit)?;
                from = row;
                next = next_end(&ends[from..], self.horizon);
            }
        }
        self.take(&arrivals, &ends, from, ends.len())
    }

    fn advance(&mut self, watermark: Watermark, emit: Emit<'_>) -> Result<()> {
        let horizon = self.scale.horizon(watermark);
        self.fire(horizon, emit)
    }
    fn late_rows(&self) -> u64 {
        self.late.dropped()
    }
    fn late(&mut self) -> Option<&mut Late> {
        Some(&mut self.late)
    }
    fn open_windows(&self) -> u64 {
        self.windows.len() as u64
    }
    fn fired_windows(&self) -> u64 {
        self.fired
    }
    fn state_bytes(&self) -> u64 {
        self.windows.values().map(Ranking::bytes).sum::<usize>() as u64
    }
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        archive.numbers([&mut self.horizon])?;
        archive.numbers([&mut self.fired, &mut self.arrived])?;
        self.late.archive(archive)?;
        let (reader, range) = (&self.reader, self.range);
        archive.map(&mut self.windows, || Ok(Ranking::new(reader)), |archive, ranking| ranking.archive(archive, range))
    }

    fn take_over(&mut self, other: Box<dyn WindowOperator + Send>, wanted: Wanted<'_>, counts: bool) -> Result<()> {
        let other: Box<RankOperator> = downcast(other)?;
        self.horizon = self.horizon.max(other.horizon);
        // Rows that are still to come stand behind all that are here.
        self.arrived = self.arrived.max(other.arrived);
        if counts {
            self.fired += other.fired;
            self.late.take_over(&other.late);
        }
        for (end, theirs) in other.windows {
            let mut mine = self.windows.remove(&end).unwrap_or_else(|| Ranking::new(&self.reader));
            mine.take_over(theirs, wanted)?;
            if !mine.groups.is_empty() {
                self.windows.insert(end, mine);
            }
        }
        Ok(())
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
