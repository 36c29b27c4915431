//! Timers: which of them a window has, and which is due first.
//!
//! A window's own set is the truth. The queue may hold more: a timer that was deleted, or whose window is gone, stays
//! in it until its time has come and is then passed over.

use std::collections::{BTreeMap, BTreeSet};

use crate::key::KeyHash;
use crate::time::EventTime;
use crate::windowing::trigger::TimeDomain;

/// Timers that a window has without memory of their own: those of its end and of its cleanup.
const NEAR: usize = 2;

/// The timers of one window of one key.
#[derive(Debug, Clone)]
pub(super) struct TimerSet {
    times: [EventTime; NEAR],
    domains: [TimeDomain; NEAR],
    /// How many of those are in use.
    len: u8,
    /// The others. Some triggers register one for every element.
    #[expect(clippy::box_collection, reason = "a pane has a pointer of it, and hardly ever more")]
    more: Option<Box<BTreeSet<(TimeDomain, EventTime)>>>,
}

impl Default for TimerSet {
    fn default() -> Self {
        TimerSet { times: [0; NEAR], domains: [TimeDomain::EventTime; NEAR], len: 0, more: None }
    }
}

impl TimerSet {
    #[inline]
    fn near(&self, domain: TimeDomain, time: EventTime) -> Option<usize> {
        (0..usize::from(self.len)).find(|&at| self.times[at] == time && self.domains[at] == domain)
    }

    fn holds(&self, domain: TimeDomain, time: EventTime) -> bool {
        self.near(domain, time).is_some() || self.more.as_ref().is_some_and(|more| more.contains(&(domain, time)))
    }

    /// False if the timer was there already.
    #[inline]
    pub fn insert(&mut self, domain: TimeDomain, time: EventTime) -> bool {
        let is_new = !self.holds(domain, time);
        if is_new {
            self.push(domain, time);
        }
        is_new
    }

    /// Those of one kind of time, in no order.
    pub fn of(&self, domain: TimeDomain) -> impl Iterator<Item = EventTime> + '_ {
        let near = (0..usize::from(self.len)).filter(move |&at| self.domains[at] == domain).map(|at| self.times[at]);
        let more = self.more.iter().flat_map(|more| more.iter());
        near.chain(more.filter(move |(of, _)| *of == domain).map(|(_, time)| *time))
    }

    fn push(&mut self, domain: TimeDomain, time: EventTime) {
        let at = usize::from(self.len);
        if at < NEAR {
            (self.times[at], self.domains[at]) = (time, domain);
            self.len += 1;
        } else {
            self.more.get_or_insert_default().insert((domain, time));
        }
    }

    /// False if there was no such timer.
    pub fn remove(&mut self, domain: TimeDomain, time: EventTime) -> bool {
        let Some(at) = self.near(domain, time) else {
            return self.more.as_mut().is_some_and(|more| more.remove(&(domain, time)));
        };
        self.len -= 1;
        let last = usize::from(self.len);
        (self.times[at], self.domains[at]) = (self.times[last], self.domains[last]);
        true
    }
}

/// A timer of a window, in the order of firing: by time, then by the key's hash, then by window.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Timer<W> {
    pub time: EventTime,
    pub hash: KeyHash,
    pub window: W,
    /// Of the key.
    pub slot: u32,
}

/// All timers of one time domain. Many of them are for the same time, that at which the windows of a grid end: those
/// lie together and are put in order only when their time has come.
#[derive(Debug)]
pub(super) struct TimerQueue<W> {
    later: BTreeMap<EventTime, Vec<Timer<W>>>,
    /// The first time in `later`; the greatest where there is none.
    next: EventTime,
    /// Timers that are firing, the first one last.
    due: Vec<Timer<W>>,
    len: usize,
}

impl<W: Ord> Default for TimerQueue<W> {
    fn default() -> Self {
        TimerQueue { later: BTreeMap::new(), next: EventTime::MAX, due: Vec::new(), len: 0 }
    }
}

impl<W: Ord> TimerQueue<W> {
    pub fn push(&mut self, timer: Timer<W>) {
        self.len += 1;
        if self.due.first().is_some_and(|last| timer.time <= last.time) {
            // A trigger that is just asked wants to be asked again among those that are firing.
            let at = self.due.partition_point(|due| *due > timer);
            self.due.insert(at, timer);
        } else {
            self.next = self.next.min(timer.time);
            self.later.entry(timer.time).or_default().push(timer);
        }
    }

    /// Takes out the first timer if it is for `time` or earlier.
    #[inline]
    pub fn pop_until(&mut self, time: EventTime) -> Option<Timer<W>> {
        if self.due.is_empty() && (self.next > time || !self.take_next()) {
            return None;
        }
        let timer = self.due.pop_if(|timer| timer.time <= time)?;
        self.len -= 1;
        Some(timer)
    }

    /// Makes the timers of the first time those that are firing.
    fn take_next(&mut self) -> bool {
        let Some((_, timers)) = self.later.pop_first() else {
            return false;
        };
        self.due = timers;
        self.due.sort_unstable_by(|a, b| b.cmp(a));
        self.next = self.later.first_key_value().map_or(EventTime::MAX, |(time, _)| *time);
        true
    }

    /// Timers that fire soon.
    pub fn soon(&self, count: usize) -> &[Timer<W>] {
        &self.due[self.due.len().saturating_sub(count)..]
    }

    pub fn count(&self) -> usize {
        self.len
    }
    pub fn bytes(&self) -> usize {
        self.len * size_of::<Timer<W>>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_each_timer_once() {
        let (mut set, event, clock) = (TimerSet::default(), TimeDomain::EventTime, TimeDomain::ProcessingTime);
        for time in 0..5 {
            assert!(set.insert(event, time) && !set.insert(event, time) && set.insert(clock, time));
        }
        for time in [3, 0, 4, 1, 2] {
            assert!(set.remove(event, time) && !set.remove(event, time));
            assert!(set.insert(event, time) && set.remove(event, time) && set.remove(clock, time));
        }
        assert!((0..5).all(|time| !set.holds(event, time) && !set.holds(clock, time)));
    }

    fn timer(time: EventTime, hash: KeyHash, window: i32) -> Timer<i32> {
        Timer { time, hash, window, slot: 0 }
    }

    #[test]
    fn timers_come_by_time_then_hash_then_window() {
        let mut queue = TimerQueue::default();
        for (time, hash, window) in [(5, 1, 1), (3, 9, 2), (3, 9, 1), (3, 4, 7), (8, 0, 0)] {
            queue.push(timer(time, hash, window));
        }
        let due: Vec<_> = std::iter::from_fn(|| queue.pop_until(5)).map(|t| (t.time, t.hash, t.window)).collect();
        assert_eq!(due, [(3, 4, 7), (3, 9, 1), (3, 9, 2), (5, 1, 1)]);
    }

    #[test]
    fn a_timer_that_is_registered_while_others_fire_takes_its_place_among_them() {
        let mut queue = TimerQueue::default();
        [timer(3, 1, 1), timer(3, 5, 1), timer(EventTime::MAX, 1, 1)].into_iter().for_each(|timer| queue.push(timer));
        assert_eq!(queue.pop_until(9), Some(timer(3, 1, 1)));
        [timer(3, 2, 1), timer(2, 7, 1), timer(4, 0, 1)].into_iter().for_each(|timer| queue.push(timer));
        let due: Vec<_> = std::iter::from_fn(|| queue.pop_until(9)).map(|t| (t.time, t.hash)).collect();
        assert_eq!((due, queue.len), (vec![(2, 7), (3, 2), (3, 5), (4, 0)], 1));
        assert_eq!(queue.pop_until(EventTime::MAX), Some(timer(EventTime::MAX, 1, 1)));
        assert_eq!(queue.pop_until(EventTime::MAX), None);
    }
}
