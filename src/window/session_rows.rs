//! SESSION without an aggregation: the rows of each session, with its bounds, when it ends.
//!
//! Each row opens [t, t + gap) and merges with the key's sessions that it overlaps or touches. A row that merges with
//! none and whose own window has fired is late. The rows of a session come in the order of their arrival.

use std::any::Any;
use std::sync::Arc;

use arrow::array::{ArrayRef, PrimitiveArray, RecordBatch};
use arrow::datatypes::{SchemaRef, TimestampMillisecondType};

use super::kept::{KeptRows, Place, gather};
use super::late::Late;
use super::rows::{Reader, local_times};
use super::timers::{Ticket, Timers};
use super::zone::Scale;
use super::{Emit, Emitted, Wanted, WindowOperator, downcast};
use crate::batch::EventBatch;
use crate::error::{Error, Result};
use crate::key::KeyHash;
use crate::plan::{SessionRowsSpec, WindowSpec};
use crate::snapshot::{Archive, Lists, fits};
use crate::state::KeyIndex;
use crate::time::Watermark;

/// Rows of one result batch, about.
const ROWS_MAX: usize = 16_384;
/// Keys without a session below this are not worth a rebuild of the index.
const DEAD_KEYS_MIN: usize = 4096;

pub(super) struct SessionRowsOperator {
    reader: Reader,
    time: usize,
    gap: i64,
    ordered: bool,
    schema: SchemaRef,
    scale: Scale,
    horizon: i64,
    index: KeyIndex,
    /// By key: the slots of its sessions, by start.
    of_keys: Vec<Vec<u32>>,
    live_keys: usize,
    sessions: Vec<Session>,
    free: Vec<u32>,
    rows: KeptRows,
    /// Rows in all sessions.
    wanted: usize,
    /// Rows that have arrived.
    arrived: u64,
    timers: Timers,
    late: Late,
    fired: u64,
}

#[derive(Default)]
struct Session {
    start: i64,
    end: i64,
    key: u32,
    hash: KeyHash,
    /// By arrival.
    rows: Vec<(u64, Place)>,
    /// How often the slot was freed.
    uses: u32,
}

impl SessionRowsOperator {
    /// # Errors
    /// Script for an unknown zone, unsupported for keys that are none, internal for a specification that no front end
    /// writes.
    pub(super) fn new(spec: &SessionRowsSpec) -> Result<Self> {
        let wrong = || Error::internal(format!("the rows of sessions {spec:?}"));
        let WindowSpec::Session { gap_ms: gap @ 1.. } = spec.window else { return Err(wrong()) };
        if spec.time >= spec.input.len() {
            return Err(wrong());
        }
        let reader = Reader::of(&spec.keys, &[], &spec.input)?;
        Ok(SessionRowsOperator {
            time: spec.time,
            gap,
            ordered: spec.ordered,
            schema: spec.schema.to_arrow(),
            scale: Scale::new(spec.zone.as_deref())?,
            horizon: i64::MIN,
            index: reader.index(),
            reader,
            of_keys: Vec::new(),
            live_keys: 0,
            sessions: Vec::new(),
            free: Vec::new(),
            rows: KeptRows::default(),
            wanted: 0,
            arrived: 0,
            timers: Timers::new(gap),
            late: Late::default(),
            fired: 0,
        })
    }

    /// Takes the rows `[from, to)` of a batch, which no mark parts.
    fn take(&mut self, batch: &EventBatch, (keys, times): (&[u32], &[i64]), from: usize, to: usize) -> Result<()> {
        let number = self.rows.batches().len() as u32;
        let mut kept: Vec<u32> = Vec::new();
        for row in from..to {
            let hash = batch.hashes.get(row).copied().unwrap_or(0);
            let Some(slot) = self.session_of(keys[row], times[row], hash) else {
                self.late.drop_rows(std::iter::once(row));
                continue;
            };
            let arrival = self.arrived + kept.len() as u64;
            self.sessions[slot as usize].rows.push((arrival, (number, kept.len() as u32)));
            kept.push(row as u32);
        }
        if !kept.is_empty() {
            self.rows.add(&batch.rows, &kept)?;
            self.wanted += kept.len();
            self.arrived += kept.len() as u64;
        }
        if self.rows.is_loose(self.wanted) {
            self.settle()?;
        }
        Ok(())
    }

    /// The session that a row joins or opens; `None`: the row is late.
    fn session_of(&mut self, key: u32, time: i64, hash: KeyHash) -> Option<u32> {
        let end = time.saturating_add(self.gap);
        let (sessions, slots) = (&mut self.sessions, &mut self.of_keys[key as usize]);
        let touches = |session: &Session| session.start <= end && time <= session.end;
        let Some(first) = slots.iter().position(|&slot| touches(&sessions[slot as usize])) else {
            return (end > self.horizon).then(|| self.open(key, (time, end), hash));
        };
        let into = slots[first];
        let more = slots[first + 1..].iter().take_while(|&&slot| touches(&sessions[slot as usize])).count();
        for slot in slots.drain(first + 1..=first + more) {
            let other = &mut sessions[slot as usize];
            let (rows, bounds) = (std::mem::take(&mut other.rows), (other.start, other.end));
            other.uses = other.uses.wrapping_add(1);
            self.free.push(slot);
            let session = &mut sessions[into as usize];
            session.rows.extend(rows);
            session.rows.sort_unstable();
            (session.start, session.end) = (session.start.min(bounds.0), session.end.max(bounds.1));
        }
        let session = &mut sessions[into as usize];
        (session.start, session.end) = (session.start.min(time), session.end.max(end));
        Some(into)
    }

    fn open(&mut self, key: u32, (start, end): (i64, i64), hash: KeyHash) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.sessions.push(Session::default());
            self.sessions.len() as u32 - 1
        });
        let session = &mut self.sessions[slot as usize];
        (session.start, session.end, session.key, session.hash) = (start, end, key, hash);
        self.link(slot);
        slot
    }

    /// Adds a session to those of its key, and sets its timer.
    fn link(&mut self, slot: u32) {
        let Session { start, end, key, uses, .. } = self.sessions[slot as usize];
        self.timers.add(end, (slot, uses));
        let (sessions, slots) = (&self.sessions, &mut self.of_keys[key as usize]);
        self.live_keys += usize::from(slots.is_empty());
        let at = slots.partition_point(|&other| sessions[other as usize].start < start);
        slots.insert(at, slot);
    }

    /// Gives the sessions that were read their rows, and links them.
    fn restore(&mut self, arrivals: &Lists<u64>) -> Result<()> {
        fits(arrivals.len() == self.sessions.len() && self.free.len() <= self.sessions.len())?;
        self.wanted = arrivals.items();
        self.of_keys.resize(self.index.len(), Vec::new());
        let mut at = 0..;
        for (session, arrivals) in self.sessions.iter_mut().zip(arrivals.iter()) {
            session.rows = arrivals.iter().zip(&mut at).map(|(&arrival, at)| (arrival, (0, at))).collect();
        }
        let mut open = vec![true; self.sessions.len()];
        for &slot in &self.free {
            fits((slot as usize) < open.len())?;
            open[slot as usize] = false;
        }
        for slot in (0..open.len() as u32).filter(|&slot| open[slot as usize]) {
            fits((self.sessions[slot as usize].key as usize) < self.of_keys.len())?;
            self.link(slot);
        }
        Ok(())
    }

    fn settle(&mut self) -> Result<()> {
        let places: Vec<Place> =
            self.sessions.iter().flat_map(|session| session.rows.iter().map(|&(_, place)| place)).collect();
        self.rows.settle(&places)?;
        let places = self.sessions.iter_mut().flat_map(|session| &mut session.rows);
        for (at, (_, place)) in places.enumerate() {
            *place = (0, at as u32);
        }
        Ok(())
    }

    /// Gives out the sessions that end at or before the horizon.
    fn fire(&mut self, emit: Emit<'_>) -> Result<()> {
        let sessions = &self.sessions;
        let end_of = |(slot, uses): Ticket| {
            let session = &sessions[slot as usize];
            (session.uses == uses).then_some(session.end)
        };
        let mut due = self.timers.due(self.horizon, end_of);
        if self.ordered {
            let index = &self.index;
            due.sort_unstable_by(|&(a_end, (a, _)), &(b_end, (b, _))| {
                let (a, b) = (&sessions[a as usize], &sessions[b as usize]);
                let by_hash = (a_end, a.hash).cmp(&(b_end, b.hash));
                by_hash.then_with(|| index.compare(a.key, b.key)).then_with(|| a.start.cmp(&b.start))
            });
        } else {
            due.sort_unstable();
        }
        let mut from = 0;
        while from < due.len() {
            let (mut to, mut rows) = (from, 0);
            while to < due.len() && rows < ROWS_MAX {
                let (_, (slot, _)) = due[to];
                rows += self.sessions[slot as usize].rows.len();
                to += 1;
            }
            self.give(&due[from..to], emit)?;
            from = to;
        }
        for (_, (slot, _)) in due {
            self.close(slot);
        }
        Ok(())
    }

    fn give(&self, due: &[(i64, Ticket)], emit: Emit<'_>) -> Result<()> {
        let mut places: Vec<Place> = Vec::new();
        let (mut starts, mut ends, mut last) = (Vec::new(), Vec::new(), Vec::new());
        for &(end, (slot, _)) in due {
            let session = &self.sessions[slot as usize];
            places.extend(session.rows.iter().map(|&(_, place)| place));
            starts.resize(places.len(), session.start);
            ends.resize(places.len(), end);
            last.resize(places.len(), self.scale.instant(end.saturating_sub(1)));
        }
        let mut columns: Vec<ArrayRef> = gather(self.rows.batches(), &places)?.columns().to_vec();
        for values in [starts, ends.clone(), last] {
            let field = self.schema.fields().get(columns.len());
            let field = field.ok_or_else(|| Error::internal("sessions without columns for their bounds"))?;
            let array = PrimitiveArray::<TimestampMillisecondType>::new(values.into(), None);
            columns.push(Arc::new(array.with_data_type(field.data_type().clone())));
        }
        let rows = RecordBatch::try_new(self.schema.clone(), columns)
            .map_err(|error| Error::internal(format!("the rows of a session: {error}")))?;
        emit(Emitted::of(rows, ends))
    }

    fn close(&mut self, slot: u32) {
        let session = &mut self.sessions[slot as usize];
        self.wanted -= session.rows.len();
        self.fired += 1;
        session.rows = Vec::new();
        session.uses = session.uses.wrapping_add(1);
        let slots = &mut self.of_keys[session.key as usize];
        slots.retain(|&other| other != slot);
        self.live_keys -= usize::from(slots.is_empty());
        self.free.push(slot);
    }

    /// Rebuilds the index without the keys that have no session, once they outnumber the others.
    fn forget_keys(&mut self) -> Result<()> {
        if self.index.len() - self.live_keys < DEAD_KEYS_MIN.max(self.live_keys) {
            return Ok(());
        }
        let mut entries = self.index.entries();
        entries.retain(|&(_, key)| !self.of_keys[key as usize].is_empty());
        let mut index = KeyIndex::new(self.index.encoder().clone());
        let mut renamed = Vec::new();
        index.absorb(&self.index, &entries, &mut renamed)?;
        let mut of_keys = vec![Vec::new(); index.len()];
        for (&(_, old), &new) in entries.iter().zip(&renamed) {
            let slots = std::mem::take(&mut self.of_keys[old as usize]);
            slots.iter().for_each(|&slot| self.sessions[slot as usize].key = new);
            of_keys[new as usize] = slots;
        }
        (self.index, self.of_keys) = (index, of_keys);
        Ok(())
    }
}

impl WindowOperator for SessionRowsOperator {
    fn process(&mut self, _side: usize, batch: &EventBatch, emit: Emit<'_>) -> Result<()> {
        self.forget_keys()?;
        let times = local_times(&batch.rows, self.time, &mut self.scale)?;
        let keys = self.reader.groups(batch, &mut self.index)?;
        self.of_keys.resize(self.index.len(), Vec::new());
        let mut from = 0;
        for mark in &batch.marks {
            let horizon = self.scale.horizon(mark.watermark);
            if horizon <= self.horizon {
                continue;
            }
            let row = (mark.row as usize).clamp(from, times.len());
            self.take(batch, (&keys, &times), from, row)?;
            from = row;
            self.horizon = horizon;
            self.fire(emit)?;
        }
        self.take(batch, (&keys, &times), from, times.len())
    }

    fn advance(&mut self, watermark: Watermark, emit: Emit<'_>) -> Result<()> {
        self.horizon = self.horizon.max(self.scale.horizon(watermark));
        self.fire(emit)
    }
    fn late_rows(&self) -> u64 {
        self.late.dropped()
    }
    fn late(&mut self) -> Option<&mut Late> {
        Some(&mut self.late)
    }
    fn open_windows(&self) -> u64 {
        (self.sessions.len() - self.free.len()) as u64
    }
    fn fired_windows(&self) -> u64 {
        self.fired
    }
    fn state_bytes(&self) -> u64 {
        let sessions = self.sessions.capacity() * size_of::<Session>() + self.wanted * size_of::<(u64, Place)>();
        let keys = self.index.bytes() + self.of_keys.capacity() * size_of::<Vec<u32>>();
        (sessions + keys + self.rows.bytes() + self.timers.bytes()) as u64
    }
    /// How often slots were freed is forgotten: only timers ask, and they are set again.
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        if !archive.is_reading() {
            self.settle()?;
        }
        archive.numbers([&mut self.horizon])?;
        archive.numbers([&mut self.fired, &mut self.arrived])?;
        self.late.archive(archive)?;
        self.index.archive(archive)?;
        let mut arrivals = Lists::of(self.sessions.iter().map(|session| session.rows.iter().map(|&(at, _)| at)));
        archive.list(
            &mut self.sessions,
            |session| [session.start as u64, session.end as u64, session.key.into(), session.hash],
            |[start, end, key, hash]| Session {
                start: start as i64,
                end: end as i64,
                key: key as u32,
                hash,
                ..Session::default()
            },
        )?;
        archive.cells(&mut self.free)?;
        arrivals.archive(archive)?;
        self.rows.archive(archive, arrivals.items())?;
        if archive.is_reading() { self.restore(&arrivals) } else { Ok(()) }
    }

    fn take_over(&mut self, other: Box<dyn WindowOperator + Send>, wanted: Wanted<'_>, counts: bool) -> Result<()> {
        let other: Box<SessionRowsOperator> = downcast(other)?;
        self.horizon = self.horizon.max(other.horizon);
        // Rows that are still to come stand behind all that are here.
        self.arrived = self.arrived.max(other.arrived);
        if counts {
            self.fired += other.fired;
            self.late.take_over(&other.late);
        }
        let moved = self.index.take_over(&other.index, &|tag, _| wanted(tag))?;
        self.of_keys.resize(self.index.len(), Vec::new());
        let mut sessions: Vec<(&Session, u32)> = Vec::new();
        for (theirs, mine) in moved.pairs() {
            let slots = &other.of_keys[theirs as usize];
            sessions.extend(slots.iter().map(|&slot| (&other.sessions[slot as usize], mine)));
        }
        let places: Vec<Place> = sessions.iter().flat_map(|(session, _)| &session.rows).map(|&(_, at)| at).collect();
        let batch = self.rows.take_over(&other.rows, &places)?;
        self.wanted += places.len();
        let mut at = 0..;
        for (session, key) in sessions {
            let slot = self.open(key, (session.start, session.end), session.hash);
            let rows = session.rows.iter().zip(&mut at).map(|(&(arrival, _), at)| (arrival, (batch, at)));
            self.sessions[slot as usize].rows = rows.collect();
        }
        Ok(())
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
