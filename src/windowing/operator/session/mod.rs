//! The operator for sessions of event time with the default trigger and an aggregate.
//!
//! Each key has a short list of sessions. A session has one entry in a queue of times, which need not be right: when the
//! watermark reaches it, the session is looked at and, if it has grown meanwhile, put off. So an element that makes its
//! session longer touches the session alone.

mod archive;
mod sessions;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::marker::PhantomData;
use std::ops::Range;

use crate::error::{Error, Result};
use crate::key::KeyHash;
use crate::snapshot::Archive;
use crate::time::{EventTime, Watermark};
use crate::windowing::assigner::{AssignerContext, WindowAssigner};
use crate::windowing::batch::{KeyedBatch, StageTimes};
use crate::windowing::function::{AggregateFunction, PaneInfo, PaneTiming, ProcessWindowFunction};
use crate::windowing::operator::fire::{Firing, Moment};
use crate::windowing::operator::index::KeyIndex;
use crate::windowing::operator::late::Late;
use crate::windowing::operator::{KeyedWindowOperator, Lateness, MarkRule, OperatorCounts, Output};
use crate::windowing::window::{TimeWindow, Window};
use crate::windowing::{Data, Key, Taking};

use sessions::{Session, Sessions};

/// Rows whose slots are looked up at a time.
const BLOCK: usize = 1_024;

/// The window operator for sessions.
pub struct SessionOperator<K, T, A, F, P, Out>
where
    A: WindowAssigner<T>,
    F: AggregateFunction<T>,
{
    assigner: A,
    /// Milliseconds; `None`: the assigner says it for each element.
    gap: Option<i64>,
    firing: Firing<F, P>,
    late: Late<T>,
    watermark: Watermark,
    keys: KeyIndex<K>,
    /// By slot.
    sessions: Vec<Sessions<F::Accumulator>>,
    open: u64,
    queue: BinaryHeap<Reverse<(EventTime, u32)>>,
    /// For reuse: slots of rows, windows of an element.
    slots: Vec<u32>,
    windows: Vec<A::Window>,
    of: PhantomData<fn() -> Out>,
}

/// A session that fires: its maximum timestamp, its key's hash, its start, and the key's slot.
type Due = (EventTime, KeyHash, EventTime, u32);

impl<K, T, A, F, P, Out> SessionOperator<K, T, A, F, P, Out>
where
    K: Key,
    T: Data,
    A: WindowAssigner<T>,
    F: AggregateFunction<T>,
    P: ProcessWindowFunction<F::Output, K, A::Window, Out>,
    Out: Data,
{
    /// An operator without state. The assigner is one of event-time sessions, and has been checked; the trigger is its
    /// default.
    pub fn new(assigner: A, lateness: Lateness<T>, function: F, process: P) -> Self {
        SessionOperator {
            gap: assigner.session_gap(),
            assigner,
            firing: Firing::new(function, process),
            late: Late::new(lateness),
            watermark: Watermark::MIN,
            keys: KeyIndex::new(),
            sessions: Vec::new(),
            open: 0,
            queue: BinaryHeap::new(),
            slots: Vec::new(),
            windows: Vec::new(),
            of: PhantomData,
        }
    }

    /// The window of one element. It may end before it starts: at the end of time.
    #[inline]
    fn window(&mut self, element: &T, timestamp: EventTime) -> Result<TimeWindow> {
        if let Some(gap) = self.gap {
            return Ok(TimeWindow::new(timestamp, timestamp.wrapping_add(gap)));
        }
        self.windows.clear();
        let context = AssignerContext { processing_time: self.firing.clock() };
        self.assigner.assign_windows(element, timestamp, &context, &mut self.windows)?;
        let window = self.windows.first().and_then(Window::as_time_window);
        window.ok_or_else(|| Error::internal("a session that is no time window"))
    }

    /// When something is due for a session with this maximum timestamp: that, or behind that the end of the allowed lateness.
    #[inline]
    fn due(&self, end: EventTime) -> EventTime {
        if end > self.watermark.0 { end } else { end.saturating_add(self.late.lateness.allowed_ms) }
    }

    /// Rows at the watermark reached.
    fn take(
        &mut self,
        batch: &KeyedBatch<K, T>,
        rows: Range<usize>,
        times: &StageTimes,
        out: &mut Output<'_, Out>,
    ) -> Result<()> {
        for first in rows.clone().step_by(BLOCK) {
            let rows = first..rows.end.min(first + BLOCK);
            let mut slots = std::mem::take(&mut self.slots);
            slots.clear();
            self.keys.slots_of(&batch.hashes[rows.clone()], &batch.keys[rows.clone()], &mut slots);
            for (row, &slot) in rows.zip(&slots) {
                let (value, timestamp) = (&batch.values[row], batch.timestamps[row]);
                let window = self.window(value, timestamp)?;
                if let Some(sessions) = self.sessions.get_mut(slot as usize)
                    && let Some(session) = sessions.joined_last(window)
                    && session.window.max_timestamp() > self.watermark.0
                {
                    // It has not fired, and what was due stays due.
                    session.window = session.window.cover(&window);
                    self.firing.function.add(value, &mut session.accumulator);
                    continue;
                }
                self.take_one(batch, row, window, times, out)?;
            }
            self.slots = slots;
        }
        Ok(())
    }

    /// A row that makes a session, joins several, or one that has fired; or that is too late.
    fn take_one(
        &mut self,
        batch: &KeyedBatch<K, T>,
        row: usize,
        window: TimeWindow,
        times: &StageTimes,
        out: &mut Output<'_, Out>,
    ) -> Result<()> {
        let (value, timestamp, place) = (&batch.values[row], batch.timestamps[row], batch.place(row));
        let known = self.keys.slot_of(batch.hashes[row], &batch.keys[row]);
        let joined = match known {
            Some(slot) if window.end > window.start && self.watermark < Watermark::MAX => {
                self.sessions[slot as usize].take_joined(window)
            }
            _ => Vec::new(),
        };
        let lateness = self.late.lateness.allowed_ms;
        // Sessions that are there are not past their lateness, so one that joins them is not late.
        let is_late = window.max_timestamp().saturating_add(lateness) <= self.watermark.0;
        if joined.is_empty() && (is_late || window.end <= window.start) {
            self.late.judge(value, (timestamp, place), times.before(place), out);
            return Ok(());
        }
        let slot = match known {
            Some(slot) => slot,
            None => {
                let (slot, _) = self.keys.slot_or_insert(batch.hashes[row], batch.keys[row].clone());
                if self.sessions.len() <= slot as usize {
                    self.sessions.resize_with(slot as usize + 1, Sessions::default);
                }
                slot
            }
        };
        let mut session = self.merge(joined, window);
        self.firing.function.add(value, &mut session.accumulator);
        let due = self.due(session.window.max_timestamp());
        if due < session.timer {
            session.timer = due;
            self.queue.push(Reverse((due, slot)));
        }
        let result = if session.window.max_timestamp() <= self.watermark.0 {
            let pane = PaneInfo { timing: PaneTiming::Late, index: session.fired };
            session.fired += 1;
            let moment = Moment::new(session.window, pane, times.before(place), place)?;
            let key = &batch.keys[row];
            self.firing.fire::<K, T, A::Window, Out>(key, &session.accumulator, &moment, place.hash, out)
        } else {
            Ok(())
        };
        self.sessions[slot as usize].insert(session);
        result
    }

    /// One session of those that an element's window joins, without the element; none of them: an empty one. The
    /// accumulators merge in the order of the sessions' starts.
    fn merge(&mut self, joined: Vec<Session<F::Accumulator>>, window: TimeWindow) -> Session<F::Accumulator> {
        self.open = self.open + 1 - joined.len() as u64;
        let mut joined = joined.into_iter();
        let Some(mut session) = joined.next() else {
            let accumulator = self.firing.function.create_accumulator();
            return Session { window, accumulator, timer: EventTime::MAX, fired: 0 };
        };
        session.window = session.window.cover(&window);
        for other in joined {
            session.window = session.window.cover(&other.window);
            session.timer = session.timer.min(other.timer);
            session.fired = session.fired.max(other.fired);
            self.firing.function.merge(&mut session.accumulator, &other.accumulator);
        }
        session
    }

    /// Looks at the sessions whose time in the queue has come: removes those past the allowed lateness, and collects
    /// those that fire. `before`: the watermark before this move.
    fn reach(&mut self, before: Watermark) -> Vec<Due> {
        let mut due = Vec::new();
        while let Some(&Reverse((time, slot))) = self.queue.peek()
            && time <= self.watermark.0
        {
            self.queue.pop();
            // Sessions that merged leave entries behind that are nobody's.
            let Some(session) = self.sessions[slot as usize].with_timer(time) else { continue };
            session.timer = EventTime::MAX;
            let end = session.window.max_timestamp();
            if end > before.0 && end <= self.watermark.0 {
                due.push((end, self.keys.hash(slot), session.window.start, slot));
            } else {
                self.put_off(slot, end);
            }
        }
        due.sort_unstable();
        due
    }

    /// Puts a session into the queue for what is due next, or removes it.
    fn put_off(&mut self, slot: u32, end: EventTime) {
        let time = self.due(end);
        let sessions = &mut self.sessions[slot as usize];
        let Some(session) = sessions.with_end(end) else { return };
        // One whose lateness ends with time itself stays without an entry, as in Flink.
        if time == EventTime::MAX {
            return;
        }
        if time > self.watermark.0 {
            session.timer = time;
            self.queue.push(Reverse((time, slot)));
            return;
        }
        sessions.remove(end);
        self.open -= 1;
        if sessions.is_empty() {
            self.keys.remove(slot);
        }
    }

    fn fire(&mut self, due: &[Due], times: &StageTimes, out: &mut Output<'_, Out>) -> Result<()> {
        for &(end, hash, _, slot) in due {
            let Some(session) = self.sessions[slot as usize].with_end(end) else { continue };
            let Some(key) = self.keys.key(slot) else { continue };
            let pane = PaneInfo { timing: PaneTiming::OnTime, index: session.fired };
            session.fired += 1;
            let moment = Moment::on_time(session.window, pane, (times, self.watermark), hash)?;
            self.firing.fire::<K, T, A::Window, Out>(key, &session.accumulator, &moment, hash, out)?;
            self.put_off(slot, end);
        }
        Ok(())
    }
}

impl<K, T, A, F, P, Out> KeyedWindowOperator<K, T, Out> for SessionOperator<K, T, A, F, P, Out>
where
    K: Key,
    T: Data,
    A: WindowAssigner<T>,
    F: AggregateFunction<T>,
    P: ProcessWindowFunction<F::Output, K, A::Window, Out>,
    Out: Data,
{
    fn process(&mut self, batch: KeyedBatch<K, T>, times: &StageTimes, out: &mut Output<'_, Out>) -> Result<()> {
        let mut from = 0;
        for mark in &batch.marks {
            let to = (mark.row as usize).clamp(from, batch.len());
            self.take(&batch, from..to, times, out)?;
            self.advance(mark.watermark, times, out)?;
            from = to;
        }
        self.take(&batch, from..batch.len(), times, out)
    }

    fn advance(&mut self, watermark: Watermark, times: &StageTimes, out: &mut Output<'_, Out>) -> Result<()> {
        if watermark <= self.watermark {
            return Ok(());
        }
        let before = std::mem::replace(&mut self.watermark, watermark);
        let due = self.reach(before);
        self.fire(&due, times, out)
    }

    fn advance_clock(&mut self, time: EventTime, _: &StageTimes, _: &mut Output<'_, Out>) -> Result<()> {
        self.firing.advance_clock(time);
        Ok(())
    }

    fn counts(&self) -> OperatorCounts {
        let lists: usize = self.sessions.iter().map(Sessions::bytes).sum();
        let own = self.sessions.capacity() * size_of::<Sessions<F::Accumulator>>();
        let queue = self.queue.capacity() * size_of::<(EventTime, u32)>();
        OperatorCounts {
            open_windows: self.open,
            fired: self.firing.fired,
            accumulators: self.open,
            state_bytes: (self.keys.bytes() + lists + own + queue) as u64,
            ..self.late.counts()
        }
    }

    fn mark_rule(&self) -> MarkRule {
        MarkRule::OwnTime
    }

    fn archive(&mut self, archive: &mut Archive<'_>, taking: &Taking<'_>) -> Result<()> {
        self.archive_all(archive, taking)
    }
}
