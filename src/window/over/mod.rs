//! OVER: every row with aggregates of the rows of its key before it.
//!
//! Rows wait for the watermark to reach their time. Then they are taken in the order of time, those of one time in the
//! order of arrival: they enter the frame of their key, others leave it, and the row goes out with the results.
//!
//! A row whose time the watermark has reached before it came is late for a frame that begins with the first row. For
//! other frames it is late only if its key has come to that time, as Flink decides (`742-over-late-range` and
//! `743-over-late-rows`); else it goes out with the next watermark, behind the time. Rows are due accordingly, and their
//! order is that of being due: the watermark plus 1 where a row came too late for its own time.

mod choice;
mod count;
mod distinct;
mod function;
mod group;
mod output;
mod state;
mod store;
mod sum;
mod value;

use std::any::Any;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use arrow::datatypes::SchemaRef;

use super::late::Late;
use super::rows::{Reader, times};
use super::{Emit, Wanted, WindowOperator, downcast};
use crate::batch::EventBatch;
use crate::error::{Error, Result};
use crate::key::KeyHash;
use crate::plan::{Frame, OverSpec};
use crate::snapshot::Archive;
use crate::state::KeyIndex;
use crate::time::Watermark;
use function::{Function, function};
use group::{Group, Timer};
use output::Output;
use store::{Place, Store};

pub(super) struct OverOperator {
    reader: Reader,
    time: usize,
    frame: Frame,
    input: SchemaRef,
    index: KeyIndex,
    groups: Vec<Group>,
    functions: Vec<Box<dyn Function>>,
    store: Store,
    waiting: BinaryHeap<Reverse<Waiting>>,
    /// Rows in frames.
    framed: usize,
    watermark: i64,
    late: Late,
    /// Rows of one time and key, while they are taken.
    peers: Vec<Place>,
    output: Output,
}

/// A row that is not due yet. Rows of one key and time stand next to each other, in the order of arrival; the order of
/// keys does not depend on the number of shards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Waiting {
    due: i64,
    hash: KeyHash,
    group: u32,
    time: i64,
    place: Place,
}

impl OverOperator {
    /// # Errors
    /// Internal if the specification names a column that the input does not have; unsupported for nested keys.
    pub(super) fn new(spec: &OverSpec) -> Result<Self> {
        let mut args = spec.calls.iter().flat_map(|call| call.args.iter());
        if let Some(beyond) = args.find(|&&column| column >= spec.input.len()) {
            return Err(Error::internal(format!("OVER with column {beyond} of {}", spec.input.len())));
        }
        let reader = Reader::of(&spec.keys, &[], &spec.input)?;
        Ok(OverOperator {
            time: spec.time,
            frame: spec.frame,
            input: spec.input.to_arrow(),
            index: reader.index(),
            reader,
            groups: Vec::new(),
            functions: spec.calls.iter().map(|call| function(call, spec.frame)).collect::<Result<_>>()?,
            store: Store::new(),
            waiting: BinaryHeap::new(),
            framed: 0,
            watermark: i64::MIN,
            late: Late::default(),
            peers: Vec::new(),
            output: Output::new(spec)?,
        })
    }

    /// The group of each row.
    fn find_groups(&mut self, batch: &EventBatch) -> Result<Vec<u32>> {
        let found = self.reader.groups(batch, &mut self.index)?;
        self.groups.resize_with(self.index.len(), Group::default);
        self.functions.iter_mut().for_each(|function| function.resize(self.groups.len()));
        Ok(found)
    }

    /// When the row is due; `None`: it is late. `marked`: the operator has been brought to the watermark before the row;
    /// else that is lower than the row's time.
    fn due(&mut self, group: u32, time: i64, marked: bool) -> Option<i64> {
        if matches!(self.frame, Frame::Range(None) | Frame::Rows(None)) {
            return (time > self.watermark).then_some(time);
        }
        let known = &mut self.groups[group as usize];
        let before = if marked { self.watermark } else { time.saturating_sub(1) };
        if let Frame::Range(Some(length)) = self.frame {
            known.settle(before);
            if marked {
                // All rows that are due have been taken, so whatever is settled has taken place.
                self.pass(group, Timer { due: before.saturating_add(1), at: i64::MIN });
            }
            let known = &mut self.groups[group as usize];
            if time <= known.reached {
                return None;
            }
            known.arrive(time, length, before);
        } else if time <= known.reached {
            return None;
        }
        Some(time.max(before.saturating_add(1)))
    }

    /// Goes through the timers of a key before `timer`.
    fn pass(&mut self, group: u32, timer: Timer) {
        let known = &mut self.groups[group as usize];
        let framed = known.frame.len();
        if known.pass(timer) {
            self.framed -= framed;
            self.functions.iter_mut().for_each(|function| function.reset(group));
        }
    }

    /// Brings the operator to a watermark: takes the rows that are due.
    fn advance_to(&mut self, watermark: Watermark, emit: Emit<'_>) -> Result<()> {
        self.watermark = self.watermark.max(watermark.0);
        while let Some(&Reverse(first)) = self.waiting.peek()
            && first.due <= self.watermark
        {
            let peer = |row: &Waiting| (row.due, row.group, row.time) == (first.due, first.group, first.time);
            self.peers.clear();
            while let Some(&Reverse(next)) = self.waiting.peek()
                && peer(&next)
            {
                self.waiting.pop();
                self.peers.push(next.place);
            }
            match self.frame {
                Frame::Rows(preceding) => self.take_rows(first, preceding),
                Frame::Range(length) => self.take_range(first, length),
            }
            self.output.flush_if_full(&mut self.functions, &self.store, emit)?;
        }
        Ok(())
    }

    /// Takes rows of one time one after the other.
    fn take_rows(&mut self, first: Waiting, preceding: Option<u64>) {
        for i in 0..self.peers.len() {
            let place = self.peers[i];
            let known = &mut self.groups[first.group as usize];
            if let Some(preceding) = preceding {
                if known.frame.len() as u64 > preceding
                    && let Some((_, oldest)) = known.frame.pop_front()
                {
                    self.framed -= 1;
                    retract(&mut self.functions, first.group, &self.store, oldest);
                }
                known.frame.push_back((first.time, place));
                self.framed += 1;
            }
            add(&mut self.functions, first.group, &self.store, place);
            self.output.push(&mut self.functions, first.group, place, (first.due, first.time));
        }
        self.groups[first.group as usize].reached = first.time;
    }

    /// Takes all rows of one time at once.
    fn take_range(&mut self, first: Waiting, length: Option<i64>) {
        let group = first.group;
        if let Some(length) = length {
            self.pass(group, Timer { due: first.due, at: first.time });
            let known = &mut self.groups[group as usize];
            let start = first.time.saturating_sub(length);
            while let Some(&(time, oldest)) = known.frame.front()
                && time < start
            {
                known.frame.pop_front();
                self.framed -= 1;
                retract(&mut self.functions, group, &self.store, oldest);
            }
            known.frame.extend(self.peers.iter().map(|&place| (first.time, place)));
            self.framed += self.peers.len();
        }
        for &place in &self.peers {
            add(&mut self.functions, group, &self.store, place);
        }
        for &place in &self.peers {
            self.output.push(&mut self.functions, group, place, (first.due, first.time));
        }
        self.groups[group as usize].reached = first.time;
    }
}

fn add(functions: &mut [Box<dyn Function>], group: u32, store: &Store, place: Place) {
    functions.iter_mut().for_each(|function| function.add(group, store, place));
}

fn retract(functions: &mut [Box<dyn Function>], group: u32, store: &Store, place: Place) {
    functions.iter_mut().for_each(|function| function.retract(group, store, place));
}

impl WindowOperator for OverOperator {
    fn process(&mut self, _side: usize, batch: &EventBatch, emit: Emit<'_>) -> Result<()> {
        let times = times(&batch.rows, self.time)?;
        let groups = self.find_groups(batch)?;
        let first = self.store.push(batch.rows.clone());
        let mut marks = batch.marks.iter().peekable();
        for (row, (&group, &time)) in groups.iter().zip(times.iter()).enumerate() {
            let mark = marks.next_if(|mark| mark.row as usize == row);
            if let Some(mark) = mark {
                self.advance_to(mark.watermark, emit)?;
            }
            match self.due(group, time, mark.is_some()) {
                None => self.late.drop_rows(std::iter::once(row)),
                Some(due) => {
                    let hash = batch.hashes.get(row).copied().unwrap_or_default();
                    let place = first + row as Place;
                    self.waiting.push(Reverse(Waiting { due, hash, group, time, place }));
                }
            }
        }
        Ok(())
    }

    fn advance(&mut self, watermark: Watermark, emit: Emit<'_>) -> Result<()> {
        self.advance_to(watermark, emit)?;
        self.output.flush(&mut self.functions, &self.store, emit)?;
        self.compact()
    }
    fn late_rows(&self) -> u64 {
        self.late.dropped()
    }
    fn late(&mut self) -> Option<&mut Late> {
        Some(&mut self.late)
    }
    /// Rows have frames of their own, which are no windows.
    fn open_windows(&self) -> u64 {
        0
    }
    fn fired_windows(&self) -> u64 {
        0
    }
    fn state_bytes(&self) -> u64 {
        let functions: usize = self.functions.iter().map(|function| function.bytes()).sum();
        let waiting = self.waiting.capacity() * size_of::<Waiting>();
        let groups = self.groups.capacity() * size_of::<Group>() + self.framed * size_of::<(i64, Place)>();
        (self.store.bytes() + self.index.bytes() + functions + waiting + groups) as u64
    }
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        self.archive_all(archive)
    }

    fn take_over(&mut self, other: Box<dyn WindowOperator + Send>, wanted: Wanted<'_>, counts: bool) -> Result<()> {
        let other: Box<OverOperator> = downcast(other)?;
        self.watermark = self.watermark.max(other.watermark);
        if counts {
            self.late.take_over(&other.late);
        }
        self.take_keys_over(*other, wanted)
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
