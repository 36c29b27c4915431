//! When sessions end.
//!
//! A session's end moves with nearly every row, so its timer does not: each open session has one entry, at an end
//! that it had once. When that time comes the entry is looked at, and filed again if the session has grown since.
//! Entries lie in buckets of time; only those of the bucket at hand are in order.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// A session's slot, and how often the slot has been used before: a freed session's entry is void.
pub(super) type Ticket = (u32, u32);

pub(super) struct Timers {
    /// Milliseconds of a bucket.
    width: i64,
    buckets: BTreeMap<i64, Vec<Ticket>>,
    /// Entries of buckets that have begun.
    near: BinaryHeap<Reverse<(i64, Ticket)>>,
}

impl Timers {
    /// For sessions that grow by about `gap` milliseconds.
    pub(super) fn new(gap: i64) -> Self {
        Timers { width: (gap / 16).max(1), buckets: BTreeMap::new(), near: BinaryHeap::new() }
    }

    pub(super) fn add(&mut self, end: i64, ticket: Ticket) {
        self.buckets.entry(end.div_euclid(self.width)).or_default().push(ticket);
    }

    /// No session ends before this.
    pub(super) fn earliest(&self) -> i64 {
        let bucket = self.buckets.keys().next().map_or(i64::MAX, |bucket| bucket.saturating_mul(self.width));
        self.near.peek().map_or(bucket, |Reverse((end, _))| bucket.min(*end))
    }

    /// Takes out all sessions that end at or before `horizon`; `end_of` gives the end of an open session.
    pub(super) fn due(&mut self, horizon: i64, end_of: impl Fn(Ticket) -> Option<i64>) -> Vec<(i64, Ticket)> {
        let mut due = Vec::new();
        while let Some(bucket) = self.buckets.first_entry() {
            let number = *bucket.key();
            if number.saturating_mul(self.width) > horizon {
                break;
            }
            for ticket in bucket.remove() {
                let Some(end) = end_of(ticket) else { continue };
                if end <= horizon {
                    due.push((end, ticket));
                } else if end.div_euclid(self.width) > number {
                    self.add(end, ticket);
                } else {
                    self.near.push(Reverse((end, ticket)));
                }
            }
        }
        while let Some(&Reverse((at, ticket))) = self.near.peek()
            && at <= horizon
        {
            self.near.pop();
            match end_of(ticket) {
                Some(end) if end <= horizon => due.push((end, ticket)),
                Some(end) => self.add(end, ticket),
                None => {}
            }
        }
        due
    }

    pub(super) fn bytes(&self) -> usize {
        let filed: usize = self.buckets.values().map(Vec::capacity).sum();
        filed * size_of::<Ticket>() + self.near.len() * size_of::<(i64, Ticket)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_come_due_at_their_last_end() {
        let mut ends = [100, 130, 95, 5000];
        let mut timers = Timers::new(160);
        for (slot, end) in ends.into_iter().enumerate() {
            timers.add(end, (slot as u32, 0));
        }
        ends[0] = 200;
        let due = |timers: &mut Timers, horizon: i64| {
            let mut slots: Vec<u32> = timers
                .due(horizon, |(slot, _)| (slot != 1).then(|| ends[slot as usize]))
                .into_iter()
                .map(|(_, (slot, _))| slot)
                .collect();
            slots.sort_unstable();
            slots
        };
        assert!(due(&mut timers, 94).is_empty());
        assert_eq!(due(&mut timers, 95), [2]);
        assert!(due(&mut timers, 199).is_empty());
        assert_eq!(due(&mut timers, 200), [0]);
        assert!(timers.earliest() > 200 && timers.earliest() <= 5000);
        assert_eq!(due(&mut timers, i64::MAX), [3]);
        assert_eq!(timers.earliest(), i64::MAX);
    }

    #[test]
    fn ends_at_the_limits_of_time_do_not_overflow() {
        let mut timers = Timers::new(i64::MAX);
        timers.add(i64::MAX, (0, 0));
        timers.add(i64::MIN, (1, 0));
        assert_eq!(timers.due(i64::MIN, |(slot, _)| Some([i64::MAX, i64::MIN][slot as usize])).len(), 1);
        assert_eq!(timers.due(i64::MAX, |_| Some(i64::MAX)).len(), 1);
    }
}
