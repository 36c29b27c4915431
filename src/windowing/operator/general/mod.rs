//! The operator for any assigner, trigger, evictor and function: a state per key and window, and timers.
//!
//! Its rules are those of Flink's `WindowOperator` and `EvictingWindowOperator`. One row after the other is given to
//! its windows, and to the trigger once for each; what the trigger asks for is done at once.

mod archive;
mod firing;
mod merging;
mod panes;
mod timers;

#[cfg(test)]
mod tests;

use std::hint::black_box;

use crate::error::Result;
use crate::snapshot::Archive;
use crate::time::{EventTime, Watermark};
use crate::windowing::assigner::{AssignerContext, MergeWindows, WindowAssigner};
use crate::windowing::batch::{KeyedBatch, StageTimes};
use crate::windowing::operator::contents::Contents;
use crate::windowing::operator::index::KeyIndex;
use crate::windowing::operator::late::Late;
use crate::windowing::operator::{KeyedWindowOperator, Lateness, MarkRule, OperatorCounts, Output};
use crate::windowing::output::Place;
use crate::windowing::trigger::{TimeDomain, TimerRequest, Trigger, TriggerContext};
use crate::windowing::window::Window;
use crate::windowing::{Data, Key, Taking};

use firing::Cause;
use panes::Panes;
use timers::{Timer, TimerQueue};

/// Rows, or timers, whose panes are read from memory at once.
const AHEAD: usize = 64;

/// Keys without windows are kept, for they often come back; beyond this number they are looked at when as many new keys
/// have come.
const IDLE_KEYS: usize = 4_096;

/// The window operator that takes everything.
pub struct GeneralOperator<K, T, A, R, C>
where
    A: WindowAssigner<T>,
    R: Trigger<T, A::Window>,
    C: Contents<K, T, A::Window>,
{
    assigner: A,
    merging: Option<MergeWindows<A::Window>>,
    trigger: R,
    contents: C,
    late: Late<T>,
    keys: KeyIndex<K>,
    /// Keys that are new since keys without windows were last looked for.
    new_keys: usize,
    panes: Panes<A::Window, C::State, R::State>,
    event_timers: TimerQueue<A::Window>,
    clock_timers: TimerQueue<A::Window>,
    watermark: Watermark,
    /// The processing time.
    clock: EventTime,
    /// The time that is on its way to its very end: see [`is_walked_to`](Self::is_walked_to).
    ending: Option<TimeDomain>,
    counts: OperatorCounts,
    /// Panes with contents.
    filled: u64,
    /// For reuse.
    slots: Vec<u32>,
    windows: Vec<A::Window>,
    requests: Vec<TimerRequest>,
}

/// A row of a batch; its key is that of the slot.
#[derive(Clone)]
struct Row<T> {
    slot: u32,
    value: T,
    timestamp: EventTime,
    place: Place,
}

impl<K, T, A, R, C> GeneralOperator<K, T, A, R, C>
where
    K: Key,
    T: Data,
    A: WindowAssigner<T>,
    R: Trigger<T, A::Window>,
    C: Contents<K, T, A::Window>,
{
    /// An operator without state. Its parts have been checked.
    pub fn new(assigner: A, trigger: R, contents: C, lateness: Lateness<T>) -> Self {
        GeneralOperator {
            merging: assigner.merging(),
            assigner,
            trigger,
            contents,
            late: Late::new(lateness),
            keys: KeyIndex::new(),
            new_keys: 0,
            panes: Panes::default(),
            event_timers: TimerQueue::default(),
            clock_timers: TimerQueue::default(),
            watermark: Watermark::MIN,
            clock: 0,
            ending: None,
            counts: OperatorCounts::default(),
            filled: 0,
            slots: Vec::new(),
            windows: Vec::new(),
            requests: Vec::new(),
        }
    }

    /// What drives the ends of the windows.
    fn domain(&self) -> TimeDomain {
        if self.assigner.is_event_time() { TimeDomain::EventTime } else { TimeDomain::ProcessingTime }
    }

    /// When a window with this maximum timestamp goes away; `i64::MAX`: never.
    fn cleanup_time(&self, end: EventTime) -> EventTime {
        match self.domain() {
            TimeDomain::EventTime => end.saturating_add(self.late.lateness.allowed_ms),
            TimeDomain::ProcessingTime => end,
        }
    }

    fn is_window_late(&self, window: &A::Window) -> bool {
        self.assigner.is_event_time() && self.cleanup_time(window.max_timestamp()) <= self.watermark.0
    }

    /// Finds the slots of the keys, all at once, so that their cache misses overlap.
    fn look_up(&mut self, keys: Vec<K>, hashes: &[u64]) {
        self.forget_idle_keys();
        self.slots.clear();
        self.keys.slots_of(hashes, &keys, &mut self.slots);
        for ((slot, key), &hash) in self.slots.iter_mut().zip(keys).zip(hashes) {
            if *slot == KeyIndex::<K>::NONE {
                let (found, new) = self.keys.slot_or_insert(hash, key);
                self.new_keys += usize::from(new);
                *slot = found;
            }
        }
        self.panes.resize(self.keys.slots());
    }

    /// Most keys come back, so that a key is not forgotten with its last window but only when many new ones have come.
    fn forget_idle_keys(&mut self) {
        let enough = IDLE_KEYS + self.keys.len() / 2;
        if self.new_keys < enough || self.keys.len() - self.panes.used_slots() < enough {
            return;
        }
        self.new_keys = 0;
        let idle: Vec<u32> =
            self.keys.iter().map(|(slot, ..)| slot).filter(|&slot| !self.panes.has_any(slot)).collect();
        for slot in idle {
            self.keys.remove(slot);
            self.panes.free(slot);
        }
    }

    fn take(&mut self, row: Row<T>, out: &mut Output<'_, C::Out>) -> Result<()> {
        let mut windows = std::mem::take(&mut self.windows);
        windows.clear();
        let context = AssignerContext { processing_time: self.clock };
        self.assigner.assign_windows(&row.value, row.timestamp, &context, &mut windows)?;
        match self.merging {
            Some(merging) => self.take_merging(row, merging, &mut windows, out)?,
            None => self.take_apart(row, &mut windows, out)?,
        }
        self.windows = windows;
        Ok(())
    }

    /// Gives an element to windows that do not merge.
    fn take_apart(&mut self, row: Row<T>, windows: &mut Vec<A::Window>, out: &mut Output<'_, C::Out>) -> Result<()> {
        windows.retain(|window| !self.is_window_late(window));
        let Some(last) = windows.pop() else {
            self.take_late(&row, out);
            return Ok(());
        };
        let mut near = usize::MAX;
        for window in windows.drain(..) {
            near = self.panes.find_or_insert(row.slot, window, near);
            self.add(row.clone(), near, out)?;
        }
        let at = self.panes.find_or_insert(row.slot, last, near);
        self.add(row, at, out)
    }

    /// An element that no window took. Windows of the clock are never too late.
    fn take_late(&mut self, row: &Row<T>, out: &mut Output<'_, C::Out>) {
        if self.assigner.is_event_time() {
            self.late.judge(&row.value, (row.timestamp, row.place), self.watermark, out);
        } else {
            self.late.pass();
        }
    }

    /// Puts an element into the pane at `at` of its key.
    fn add(&mut self, row: Row<T>, at: usize, out: &mut Output<'_, C::Out>) -> Result<()> {
        let Row { slot, value, timestamp, place } = row;
        let pane = self.panes.at(slot, at);
        let mut context = TriggerContext::new(self.watermark.0, self.clock, &mut self.requests);
        let answer = self.trigger.on_element(&value, timestamp, &pane.window, &mut pane.trigger, &mut context)?;
        if pane.contents.is_none() {
            self.filled += 1;
        }
        let contents = pane.contents.get_or_insert_with(|| self.contents.create());
        self.contents.add(contents, value, timestamp);
        pane.unseen = true;
        self.counts.buffered_elements += u64::from(C::BUFFERS);
        self.carry_out_requests(slot, at);
        self.carry_out(answer, slot, at, Cause::Element(place), out)?;
        self.register_cleanup(slot, at);
        Ok(())
    }

    fn register_cleanup(&mut self, slot: u32, at: usize) {
        let end = self.panes.at(slot, at).window.max_timestamp();
        let time = self.cleanup_time(end);
        if time < EventTime::MAX {
            self.register(self.domain(), time, slot, at);
        }
    }

    fn register(&mut self, domain: TimeDomain, time: EventTime, slot: u32, at: usize) {
        let pane = self.panes.at(slot, at);
        if pane.timers.insert(domain, time) {
            let timer = Timer { time, hash: self.keys.hash(slot), window: pane.window.clone(), slot };
            match domain {
                TimeDomain::EventTime => self.event_timers.push(timer),
                TimeDomain::ProcessingTime => self.clock_timers.push(timer),
            }
        }
    }
}

impl<K, T, A, R, C> KeyedWindowOperator<K, T, C::Out> for GeneralOperator<K, T, A, R, C>
where
    K: Key,
    T: Data,
    A: WindowAssigner<T>,
    R: Trigger<T, A::Window>,
    C: Contents<K, T, A::Window>,
{
    fn process(&mut self, batch: KeyedBatch<K, T>, times: &StageTimes, out: &mut Output<'_, C::Out>) -> Result<()> {
        let KeyedBatch { keys, hashes, values, timestamps, places, marks } = batch;
        self.look_up(keys, &hashes);
        let mut marks = marks.into_iter().peekable();
        for (row, (value, timestamp)) in values.into_iter().zip(timestamps).enumerate() {
            if row % AHEAD == 0 {
                let soon = self.slots[row..].iter().take(AHEAD);
                black_box(self.panes.touch(soon.copied()));
            }
            while let Some(mark) = marks.next_if(|mark| mark.row as usize <= row) {
                self.advance(mark.watermark, times, out)?;
            }
            let place = places.of(row, hashes[row]);
            self.take(Row { slot: self.slots[row], value, timestamp, place }, out)?;
        }
        Ok(())
    }

    fn advance(&mut self, watermark: Watermark, times: &StageTimes, out: &mut Output<'_, C::Out>) -> Result<()> {
        if watermark <= self.watermark {
            return Ok(());
        }
        let before = self.watermark;
        self.ending = (watermark == Watermark::MAX).then_some(TimeDomain::EventTime);
        self.fire_event_timers(before, watermark, times, out)?;
        self.watermark = watermark;
        self.ending = None;
        Ok(())
    }

    fn advance_clock(&mut self, time: EventTime, _: &StageTimes, out: &mut Output<'_, C::Out>) -> Result<()> {
        if time < self.clock {
            return Ok(());
        }
        let before = std::mem::replace(&mut self.clock, time);
        self.ending = (time == EventTime::MAX).then_some(TimeDomain::ProcessingTime);
        self.fire_clock_timers(before, out)?;
        self.ending = None;
        Ok(())
    }

    fn counts(&self) -> OperatorCounts {
        let timers = self.event_timers.bytes() + self.clock_timers.bytes();
        let buffered = self.counts.buffered_elements as usize * (size_of::<T>() + size_of::<EventTime>());
        // No timer fires behind the end of the input: what waits for one, or for more elements, waits in vain.
        let unfired = if self.watermark == Watermark::MAX {
            self.panes.iter().filter(|pane| pane.is_unseen()).count() as u64
        } else {
            0
        };
        OperatorCounts {
            open_windows: self.panes.len() as u64,
            accumulators: if C::BUFFERS { 0 } else { self.filled },
            unfired_at_cleanup: self.counts.unfired_at_cleanup + unfired,
            state_bytes: (self.keys.bytes() + self.panes.bytes() + timers + buffered) as u64,
            fired: self.counts.fired,
            buffered_elements: self.counts.buffered_elements,
            ..self.late.counts()
        }
    }

    fn mark_rule(&self) -> MarkRule {
        MarkRule::EveryMove
    }

    fn archive(&mut self, archive: &mut Archive<'_>, taking: &Taking<'_>) -> Result<()> {
        self.archive_all(archive, taking)
    }
}
