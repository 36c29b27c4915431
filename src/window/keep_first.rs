//! Deduplication without a window that keeps the first row of each key by event time.
//!
//! A row is given when the watermark reaches its time: no earlier row of its key can come then that is not late. From
//! then on the key is done with, and its further rows are let go.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use arrow::datatypes::SchemaRef;

use super::kept::{KeptRows, Place, gather};
use super::late::Late;
use super::rows::{Reader, times};
use super::zone::Scale;
use super::{Emit, Emitted, Wanted, WindowOperator, downcast};
use crate::batch::EventBatch;
use crate::error::{Error, Result};
use crate::key::KeyHash;
use crate::plan::KeepFirstSpec;
use crate::snapshot::{Archive, fits};
use crate::state::KeyIndex;
use crate::state::index::NONE;
use crate::time::Watermark;

pub(super) struct KeepFirstOperator {
    reader: Reader,
    time: usize,
    numbered: bool,
    ordered: bool,
    schema: SchemaRef,
    scale: Scale,
    /// Times below it have been reached.
    horizon: i64,
    index: KeyIndex,
    /// By key.
    firsts: Vec<First>,
    rows: KeptRows,
    /// Keys by the time of a row that was their first once, in the order of arrival.
    waiting: BTreeMap<i64, Vec<u32>>,
    open: usize,
    late: Late,
    given: u64,
}

/// What a key has.
#[derive(Debug, Clone, Copy)]
enum First {
    /// Only rows that were late.
    None,
    Waiting {
        time: i64,
        place: Place,
        hash: KeyHash,
    },
    Given,
}

/// A key and the row that is its first so far.
struct Waiting {
    key: u32,
    time: i64,
    hash: KeyHash,
    place: Place,
}

impl KeepFirstOperator {
    /// # Errors
    /// Unsupported for keys that are none, internal for a specification that no front end writes.
    pub(super) fn new(spec: &KeepFirstSpec) -> Result<Self> {
        if spec.time >= spec.input.len() {
            return Err(Error::internal(format!("a deduplication {spec:?}")));
        }
        let reader = Reader::of(&spec.keys, &[], &spec.input)?;
        Ok(KeepFirstOperator {
            time: spec.time,
            numbered: spec.numbered,
            ordered: spec.ordered,
            schema: spec.schema.to_arrow(),
            scale: Scale::new(None)?,
            horizon: i64::MIN,
            index: reader.index(),
            reader,
            firsts: Vec::new(),
            rows: KeptRows::default(),
            waiting: BTreeMap::new(),
            open: 0,
            late: Late::default(),
            given: 0,
        })
    }

    /// Takes the rows `[from, to)` of a batch, which no mark parts.
    fn take(&mut self, batch: &EventBatch, (keys, times): (&[u32], &[i64]), from: usize, to: usize) -> Result<()> {
        let number = self.rows.batches().len() as u32;
        let mut kept: Vec<u32> = Vec::new();
        for row in from..to {
            let (key, time) = (keys[row], times[row]);
            match self.firsts[key as usize] {
                First::Given => continue,
                First::Waiting { time: first, .. } if first <= time => continue,
                // A row at the watermark itself is in time.
                _ if time < self.horizon.saturating_sub(1) => {
                    self.late.drop_rows(std::iter::once(row));
                    continue;
                }
                First::Waiting { .. } => {}
                First::None => self.open += 1,
            }
            let hash = batch.hashes.get(row).copied().unwrap_or(0);
            self.wait(Waiting { key, time, hash, place: (number, kept.len() as u32) });
            kept.push(row as u32);
        }
        if !kept.is_empty() {
            self.rows.add(&batch.rows, &kept)?;
        }
        if self.rows.is_loose(self.open) {
            self.settle()?;
        }
        Ok(())
    }

    /// The keys whose rows wait: in the order of time, those of one time in that of their arrival.
    fn in_order(&self) -> Vec<Waiting> {
        let mut found = Vec::with_capacity(self.open);
        for (&at, keys) in &self.waiting {
            for &key in keys {
                // A row of a lower time may have taken the place since.
                match self.firsts[key as usize] {
                    First::Waiting { time, place, hash } if time == at => {
                        found.push(Waiting { key, time, hash, place });
                    }
                    _ => {}
                }
            }
        }
        found
    }

    /// The key of a row that has just been kept waits, as its first.
    fn wait(&mut self, Waiting { key, time, hash, place }: Waiting) {
        self.firsts[key as usize] = First::Waiting { time, place, hash };
        self.waiting.entry(time).or_default().push(key);
    }

    fn settle(&mut self) -> Result<()> {
        let waiting = self.in_order();
        self.rows.settle(&waiting.iter().map(|row| row.place).collect::<Vec<_>>())?;
        self.waiting.clear();
        for (at, row) in waiting.into_iter().enumerate() {
            self.wait(Waiting { place: (0, at as u32), ..row });
        }
        Ok(())
    }

    fn fire(&mut self, horizon: i64, emit: Emit<'_>) -> Result<()> {
        self.horizon = self.horizon.max(horizon);
        let (mut places, mut reached): (Vec<Place>, Vec<i64>) = (Vec::new(), Vec::new());
        while let Some(entry) = self.waiting.first_entry() {
            let at = *entry.key();
            if at >= self.horizon {
                break;
            }
            let mut due: Vec<(KeyHash, Place)> = Vec::new();
            for key in entry.remove() {
                // A row of a lower time may have taken the place since.
                let First::Waiting { time, place, hash } = self.firsts[key as usize] else { continue };
                if time == at {
                    self.firsts[key as usize] = First::Given;
                    due.push((hash, place));
                }
            }
            if self.ordered {
                due.sort_by_key(|&(hash, _)| hash);
            }
            reached.resize(reached.len() + due.len(), at);
            places.extend(due.into_iter().map(|(_, place)| place));
        }
        self.open -= places.len();
        self.given += places.len() as u64;
        self.emit(&places, reached, emit)
    }

    fn emit(&self, places: &[Place], times: Vec<i64>, emit: Emit<'_>) -> Result<()> {
        if places.is_empty() {
            return Ok(());
        }
        let mut columns: Vec<ArrayRef> = gather(self.rows.batches(), places)?.columns().to_vec();
        if self.numbered {
            columns.push(Arc::new(Int64Array::from(vec![1; places.len()])));
        }
        let rows = RecordBatch::try_new(self.schema.clone(), columns)
            .map_err(|error| Error::internal(format!("the rows of a deduplication: {error}")))?;
        emit(Emitted::of(rows, times))
    }
}

impl WindowOperator for KeepFirstOperator {
    fn process(&mut self, _side: usize, batch: &EventBatch, emit: Emit<'_>) -> Result<()> {
        let times = times(&batch.rows, self.time)?;
        let keys = self.reader.groups(batch, &mut self.index)?;
        self.firsts.resize(self.index.len(), First::None);
        let mut from = 0;
        for mark in &batch.marks {
            let horizon = self.scale.horizon(mark.watermark);
            if horizon <= self.horizon {
                continue;
            }
            let row = (mark.row as usize).clamp(from, times.len());
            self.take(batch, (&keys, &times), from, row)?;
            self.fire(horizon, emit)?;
            from = row;
        }
        self.take(batch, (&keys, &times), from, times.len())
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
        self.open as u64
    }
    fn fired_windows(&self) -> u64 {
        self.given
    }
    fn state_bytes(&self) -> u64 {
        let waiting = self.open * size_of::<(i64, u32)>();
        (self.index.bytes() + self.firsts.capacity() * size_of::<First>() + self.rows.bytes() + waiting) as u64
    }
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        if !archive.is_reading() {
            self.settle()?;
        }
        archive.numbers([&mut self.horizon])?;
        archive.numbers([&mut self.given])?;
        self.late.archive(archive)?;
        self.index.archive(archive)?;
        let mut given: Vec<u8> = self.firsts.iter().map(|first| u8::from(matches!(first, First::Given))).collect();
        archive.cells(&mut given)?;
        let mut waiting = self.in_order();
        archive.list(
            &mut waiting,
            |row| [row.key.into(), row.time as u64, row.hash],
            |[key, time, hash]| Waiting { key: key as u32, time: time as i64, hash, place: (0, 0) },
        )?;
        self.rows.archive(archive, waiting.len())?;
        fits(given.len() == self.index.len() && waiting.iter().all(|row| (row.key as usize) < given.len()))?;
        if archive.is_reading() {
            self.firsts = given.iter().map(|&given| if given == 0 { First::None } else { First::Given }).collect();
            self.open = waiting.len();
            for (at, row) in waiting.into_iter().enumerate() {
                self.wait(Waiting { place: (0, at as u32), ..row });
            }
        }
        Ok(())
    }

    fn take_over(&mut self, other: Box<dyn WindowOperator + Send>, wanted: Wanted<'_>, counts: bool) -> Result<()> {
        let other: Box<KeepFirstOperator> = downcast(other)?;
        self.horizon = self.horizon.max(other.horizon);
        if counts {
            self.given += other.given;
            self.late.take_over(&other.late);
        }
        let moved = self.index.take_over(&other.index, &|tag, _| wanted(tag))?;
        self.firsts.resize(self.index.len(), First::None);
        for (theirs, mine) in moved.pairs() {
            if let First::Given = other.firsts[theirs as usize] {
                self.firsts[mine as usize] = First::Given;
            }
        }
        let keys = moved.by_origin(other.index.len());
        let mut waiting = other.in_order();
        waiting.retain(|row| keys[row.key as usize] != NONE);
        let places: Vec<Place> = waiting.iter().map(|row| row.place).collect();
        let batch = self.rows.take_over(&other.rows, &places)?;
        self.open += waiting.len();
        for (at, row) in waiting.into_iter().enumerate() {
            self.wait(Waiting { key: keys[row.key as usize], place: (batch, at as u32), ..row });
        }
        Ok(())
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
