//! SESSION: per key a few intervals that grow, merge and end.
//!
//! Each row opens [t, t + gap) and merges with the key's sessions that it overlaps or touches. A row that merges with
//! none and whose own window has fired is late. Rows are placed one by one, in order; their accumulators are updated
//! in bulk, before anything looks at them: a merge, or sessions that fire.

use std::any::Any;

use arrow::array::ArrayRef;

use super::late::Late;
use super::merge_order::earlier_first;
use super::output::Output;
use super::rows::{Chunk, Reader, local_times};
use super::timers::{Ticket, Timers};
use super::zone::Scale;
use super::{Emit, Wanted, WindowOperator, downcast};
use crate::aggregate::Accumulator;
use crate::arena::ArenaVec;
use crate::batch::EventBatch;
use crate::error::{Error, Result};
use crate::plan::WindowAggregateSpec;
use crate::snapshot::Archive;
use crate::state::index::{NONE, Tag};
use crate::state::{KeyIndex, accumulators};
use crate::time::Watermark;

/// Keys without a session below this are not worth a rebuild of the index.
const DEAD_KEYS_MIN: usize = 4096;

pub(super) struct SessionOperator {
    reader: Reader,
    output: Output,
    gap: i64,
    time: usize,
    scale: Scale,
    ordered: bool,
    horizon: i64,
    keys: KeyIndex,
    /// Upper half of each key's hash.
    tags: ArenaVec<Tag>,
    /// First session of each key, or [`NONE`].
    heads: ArenaVec<u32>,
    live_keys: usize,
    sessions: Sessions,
    accumulators: Vec<Box<dyn Accumulator>>,
    /// One group each: what a session that merges into another passes through.
    transit: Vec<Box<dyn Accumulator>>,
    timers: Timers,
    late: Late,
    pending: Pending,
}

/// Sessions by slot.
#[derive(Default)]
struct Sessions {
    /// Start and end.
    bounds: ArenaVec<[i64; 2]>,
    keys: ArenaVec<u32>,
    /// The key's next session.
    next: ArenaVec<u32>,
    /// How often the slot was freed.
    uses: ArenaVec<u32>,
    free: Vec<u32>,
}

/// Rows placed, not yet in the accumulators.
#[derive(Default)]
struct Pending {
    rows: Vec<u32>,
    slots: Vec<u32>,
}

impl Sessions {
    fn open(&mut self, bounds: [i64; 2], key: u32, next: u32) -> u32 {
        if let Some(slot) = self.free.pop() {
            let at = slot as usize;
            (self.bounds[at], self.keys[at], self.next[at]) = (bounds, key, next);
            return slot;
        }
        self.bounds.push(bounds);
        self.keys.push(key);
        self.next.push(next);
        self.uses.push(0);
        (self.bounds.len() - 1) as u32
    }

    fn ticket(&self, slot: u32) -> Ticket {
        (slot, self.uses[slot as usize])
    }

    /// Takes a session out of its key's list.
    fn unlink(&mut self, heads: &mut ArenaVec<u32>, slot: u32) {
        let key = self.keys[slot as usize] as usize;
        let after = self.next[slot as usize];
        let mut at = heads[key];
        if at == slot {
            heads[key] = after;
        } else {
            while self.next[at as usize] != slot {
                at = self.next[at as usize];
            }
            self.next[at as usize] = after;
        }
        self.uses[slot as usize] = self.uses[slot as usize].wrapping_add(1);
        self.free.push(slot);
    }

    fn len(&self) -> usize {
        self.bounds.len() - self.free.len()
    }

    /// The sessions of a key from its first one on.
    fn list(&self, head: u32) -> impl Iterator<Item = u32> {
        std::iter::successors(Some(head).filter(|&head| head != NONE), |&slot| {
            Some(self.next[slot as usize]).filter(|&next| next != NONE)
        })
    }

    /// The slots of all sessions.
    fn open_slots(&self) -> Vec<u32> {
        let mut open = vec![true; self.bounds.len()];
        self.free.iter().for_each(|&slot| open[slot as usize] = false);
        (0..self.bounds.len() as u32).filter(|&slot| open[slot as usize]).collect()
    }

    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        archive.cells(&mut self.bounds)?;
        archive.cells(&mut self.keys)?;
        archive.cells(&mut self.next)?;
        archive.cells(&mut self.uses)?;
        archive.cells(&mut self.free)
    }

    fn bytes(&self) -> usize {
        self.bounds.bytes() + self.keys.bytes() + self.next.bytes() + self.uses.bytes() + self.free.capacity() * 4
    }
}

impl SessionOperator {
    pub(super) fn new(spec: &WindowAggregateSpec, gap: i64) -> Result<Self> {
        if gap < 1 {
            return Err(Error::internal(format!("a session gap of {gap} ms")));
        }
        let scale = Scale::new(spec.zone.as_deref())?;
        let reader = Reader::new(spec)?;
        let mut transit = accumulators(&reader.shape.calls)?;
        transit.iter_mut().for_each(|accumulator| accumulator.resize(1));
        Ok(SessionOperator {
            output: Output::new(spec, &scale)?,
            gap,
            time: spec.time,
            scale,
            ordered: spec.ordered,
            horizon: i64::MIN,
            keys: KeyIndex::new(reader.shape.encoder.clone()),
            tags: ArenaVec::new(),
            heads: ArenaVec::new(),
            live_keys: 0,
            sessions: Sessions::default(),
            accumulators: accumulators(&reader.shape.calls)?,
            transit,
            timers: Timers::new(gap),
            late: Late::default(),
            pending: Pending::default(),
            reader,
        })
    }

    /// Finds the row's session, or opens one, or counts the row as late.
    #[inline]
    fn place(&mut self, row: u32, key: u32, time: i64, batch: &EventBatch, chunk: &Chunk<'_>) -> Result<()> {
        let end = time.saturating_add(self.gap);
        let head = self.heads[key as usize];
        if head != NONE && self.sessions.next[head as usize] == NONE {
            let [from, to] = &mut self.sessions.bounds[head as usize];
            if *from <= end && time <= *to {
                (*from, *to) = ((*from).min(time), (*to).max(end));
                self.pending.rows.push(row);
                self.pending.slots.push(head);
                return Ok(());
            }
        }
        let slot = match self.touched(head, time, end) {
            [None, _] if end <= self.horizon => {
                self.late.drop_rows(std::iter::once(row as usize));
                return Ok(());
            }
            [None, _] => self.open(key, time, end),
            [Some(slot), None] => slot,
            // There are no more: each is as long as the gap, and none touches another.
            [Some(first), Some(second)] => self.unite([first, second], batch, chunk)?,
        };
        let [from, to] = &mut self.sessions.bounds[slot as usize];
        (*from, *to) = ((*from).min(time), (*to).max(end));
        self.pending.rows.push(row);
        self.pending.slots.push(slot);
        Ok(())
    }

    /// The first two of a key's sessions that `[time, end]` touches.
    fn touched(&self, head: u32, time: i64, end: i64) -> [Option<u32>; 2] {
        let mut found = [None; 2];
        let mut slot = head;
        while slot != NONE {
            let [from, to] = self.sessions.bounds[slot as usize];
            if from <= end && time <= to {
                if found[0].is_some() {
                    found[1] = Some(slot);
                    return found;
                }
                found[0] = Some(slot);
            }
            slot = self.sessions.next[slot as usize];
        }
        found
    }

    fn open(&mut self, key: u32, time: i64, end: i64) -> u32 {
        let head = self.heads[key as usize];
        self.live_keys += usize::from(head == NONE);
        let slot = self.sessions.open([time, end], key, head);
        self.heads[key as usize] = slot;
        let len = self.sessions.bounds.len();
        self.accumulators.iter_mut().for_each(|accumulator| accumulator.resize(len));
        self.timers.add(end, self.sessions.ticket(slot));
        slot
    }

    /// Merges two sessions, each as the rows so far have made it.
    fn unite(&mut self, two: [u32; 2], batch: &EventBatch, chunk: &Chunk<'_>) -> Result<u32> {
        self.flush(batch, chunk)?;
        let [a, b] = two;
        let bounds = |slot: u32| self.sessions.bounds[slot as usize];
        let (earlier, later) = if bounds(a)[0] <= bounds(b)[0] { (a, b) } else { (b, a) };
        let (slot, into) =
            if earlier_first(bounds(earlier), bounds(later)) { (later, earlier) } else { (earlier, later) };
        self.merge(slot, into)?;
        Ok(into)
    }

    fn merge(&mut self, slot: u32, into: u32) -> Result<()> {
        for (accumulator, transit) in self.accumulators.iter_mut().zip(&mut self.transit) {
            transit.reset(&[0]);
            transit.merge(&**accumulator, &[slot], &[0])?;
            accumulator.merge(&**transit, &[0], &[into])?;
            accumulator.reset(&[slot]);
        }
        let [from, to] = self.sessions.bounds[slot as usize];
        let [start, end] = &mut self.sessions.bounds[into as usize];
        (*start, *end) = ((*start).min(from), (*end).max(to));
        self.sessions.unlink(&mut self.heads, slot);
        Ok(())
    }

    /// Brings the rows placed so far into the accumulators.
    fn flush(&mut self, batch: &EventBatch, chunk: &Chunk<'_>) -> Result<()> {
        let Pending { rows, slots } = &mut self.pending;
        if rows.is_empty() {
            return Ok(());
        }
        let own;
        let inputs = if rows.len() == chunk.inputs.rows {
            &chunk.inputs
        } else {
            own = self.reader.rows(batch, rows)?.inputs;
            &own
        };
        for (accumulator, (args, filter)) in self.accumulators.iter_mut().zip(&inputs.columns) {
            accumulator.update(slots, args, filter.as_ref())?;
        }
        rows.clear();
        slots.clear();
        Ok(())
    }

    /// Gives out the sessions that end at or before the horizon. Nothing is pending.
    fn fire(&mut self, emit: Emit<'_>) -> Result<()> {
        let sessions = &self.sessions;
        let mut due = self.timers.due(self.horizon, |(slot, uses)| {
            (sessions.uses[slot as usize] == uses).then(|| sessions.bounds[slot as usize][1])
        });
        if due.is_empty() {
            return Ok(());
        }
        let start = |slot: u32| sessions.bounds[slot as usize][0];
        let key = |slot: u32| sessions.keys[slot as usize];
        if self.ordered {
            let (tags, keys) = (&self.tags, &self.keys);
            due.sort_unstable_by(|&(a_end, (a, _)), &(b_end, (b, _))| {
                let tag = |slot: u32| tags[key(slot) as usize];
                let by_tag = (a_end, tag(a)).cmp(&(b_end, tag(b)));
                by_tag.then_with(|| keys.compare(key(a), key(b))).then_with(|| start(a).cmp(&start(b)))
            });
        } else {
            due.sort_unstable();
        }
        let slots: Vec<u32> = due.iter().map(|&(_, (slot, _))| slot).collect();
        let bounds: Vec<(i64, i64)> = due.iter().map(|&(end, (slot, _))| (start(slot), end)).collect();
        let columns = |chunk: &[usize]| -> Result<Vec<ArrayRef>> {
            let slots: Vec<u32> = chunk.iter().map(|&i| slots[i]).collect();
            let groups: Vec<u32> = slots.iter().map(|&slot| key(slot)).collect();
            let mut columns = self.keys.decode(&groups)?;
            for accumulator in &self.accumulators {
                columns.push(accumulator.result(&slots)?);
            }
            Ok(columns)
        };
        self.output.sessions(columns, &bounds, emit)?;
        self.accumulators.iter_mut().for_each(|accumulator| accumulator.reset(&slots));
        for slot in slots {
            let key = self.sessions.keys[slot as usize];
            self.sessions.unlink(&mut self.heads, slot);
            self.live_keys -= usize::from(self.heads[key as usize] == NONE);
        }
        Ok(())
    }

    /// Rebuilds the index without the keys that have no session, once they outnumber the others.
    fn forget_keys(&mut self) -> Result<()> {
        if self.keys.len() - self.live_keys < DEAD_KEYS_MIN.max(self.live_keys) {
            return Ok(());
        }
        let mut entries = self.keys.entries();
        entries.retain(|&(_, key)| self.heads[key as usize] != NONE);
        let mut keys = KeyIndex::new(self.keys.encoder().clone());
        let mut renamed = Vec::new();
        keys.absorb(&self.keys, &entries, &mut renamed)?;
        let (mut heads, mut tags) = (ArenaVec::new(), ArenaVec::new());
        heads.resize(keys.len(), NONE);
        tags.resize(keys.len(), 0);
        for (&(tag, old), &new) in entries.iter().zip(&renamed) {
            let mut slot = self.heads[old as usize];
            (heads[new as usize], tags[new as usize]) = (slot, tag);
            while slot != NONE {
                self.sessions.keys[slot as usize] = new;
                slot = self.sessions.next[slot as usize];
            }
        }
        (self.keys, self.heads, self.tags) = (keys, heads, tags);
        Ok(())
    }

    /// The key of each row.
    fn find_keys(&mut self, chunk: &Chunk<'_>) -> Result<Vec<u32>> {
        let mut found = Vec::with_capacity(chunk.inputs.rows);
        let known = self.keys.len();
        self.keys.find_or_insert(&chunk.hashes, &chunk.keys, &mut found)?;
        self.heads.resize(self.keys.len(), NONE);
        if self.keys.len() > known {
            for (row, &key) in found.iter().enumerate() {
                // New keys are numbered in the order of their first rows.
                if key as usize == self.tags.len() {
                    self.tags.push(chunk.hashes.get(row).map_or(0, |hash| (hash >> 32) as Tag));
                }
            }
        }
        Ok(found)
    }
}

impl WindowOperator for SessionOperator {
    fn process(&mut self, _side: usize, batch: &EventBatch, emit: Emit<'_>) -> Result<()> {
        self.reader.check(batch)?;
        self.forget_keys()?;
        let times = local_times(&batch.rows, self.time, &mut self.scale)?;
        let rows = times.len();
        let chunk = self.reader.range(batch, 0, rows)?;
        let keys = self.find_keys(&chunk)?;
        let mut from = 0;
        for mark in &batch.marks {
            let horizon = self.scale.horizon(mark.watermark);
            if horizon <= self.horizon {
                continue;
            }
            let to = (mark.row as usize).clamp(from, rows);
            for row in from..to {
                self.place(row as u32, keys[row], times[row], batch, &chunk)?;
            }
            from = to;
            self.horizon = horizon;
            if self.timers.earliest() <= horizon {
                self.flush(batch, &chunk)?;
                self.fire(emit)?;
            }
        }
        for row in from..rows {
            self.place(row as u32, keys[row], times[row], batch, &chunk)?;
        }
        self.flush(batch, &chunk)
    }

    fn advance(&mut self, watermark: Watermark, emit: Emit<'_>) -> Result<()> {
        self.horizon = self.horizon.max(self.scale.horizon(watermark));
        if self.timers.earliest() <= self.horizon {
            self.fire(emit)?;
        }
        Ok(())
    }
    fn late_rows(&self) -> u64 {
        self.late.dropped()
    }
    fn late(&mut self) -> Option<&mut Late> {
        Some(&mut self.late)
    }
    fn open_windows(&self) -> u64 {
        self.sessions.len() as u64
    }
    fn fired_windows(&self) -> u64 {
        self.output.rows
    }
    fn state_bytes(&self) -> u64 {
        let columns: usize = self.accumulators.iter().map(|accumulator| accumulator.bytes()).sum();
        let keys = self.keys.bytes() + self.tags.bytes() + self.heads.bytes();
        (columns + keys + self.sessions.bytes() + self.timers.bytes()) as u64
    }

    /// Timers are set again for the sessions that are open.
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        archive.numbers([&mut self.horizon])?;
        archive.numbers([&mut self.output.rows])?;
        self.late.archive(archive)?;
        self.keys.archive(archive)?;
        archive.cells(&mut self.tags)?;
        archive.cells(&mut self.heads)?;
        archive.count(&mut self.live_keys)?;
        self.sessions.archive(archive)?;
        self.accumulators.iter_mut().try_for_each(|accumulator| accumulator.archive(archive))?;
        if archive.is_reading() {
            for slot in self.sessions.open_slots() {
                self.timers.add(self.sessions.bounds[slot as usize][1], self.sessions.ticket(slot));
            }
        }
        Ok(())
    }

    fn take_over(&mut self, other: Box<dyn WindowOperator + Send>, wanted: Wanted<'_>, counts: bool) -> Result<()> {
        let other: Box<SessionOperator> = downcast(other)?;
        self.horizon = self.horizon.max(other.horizon);
        if counts {
            self.output.rows += other.output.rows;
            self.late.take_over(&other.late);
        }
        let moved = self.keys.take_over(&other.keys, &|tag, _| wanted(tag))?;
        self.heads.resize(self.keys.len(), NONE);
        self.tags.resize(self.keys.len(), 0);
        let (mut from, mut to) = (Vec::new(), Vec::new());
        for (theirs, mine) in moved.from.into_iter().zip(moved.to) {
            self.tags[mine as usize] = other.tags[theirs as usize];
            let before = from.len();
            from.extend(other.sessions.list(other.heads[theirs as usize]));
            for &slot in from[before..].iter().rev() {
                let [start, end] = other.sessions.bounds[slot as usize];
                to.push(self.open(mine, start, end));
            }
            to[before..].reverse();
        }
        for (mine, theirs) in self.accumulators.iter_mut().zip(&other.accumulators) {
            mine.take_over(&**theirs, &from, &to)?;
        }
        Ok(())
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
