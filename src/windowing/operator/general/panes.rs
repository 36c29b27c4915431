//! The windows that have state, by key.

use std::cmp::Ordering;
use std::collections::VecDeque;

use super::timers::TimerSet;

/// One window of one key.
#[derive(Debug, Clone)]
pub(super) struct Pane<W, S, R> {
    pub window: W,
    /// `None` before the first element, after a purge, and after an evictor has left nothing.
    pub contents: Option<S>,
    /// The trigger's own state.
    pub trigger: R,
    pub timers: TimerSet,
    /// How often it has fired.
    pub fired: u32,
    /// An element has come since.
    pub unseen: bool,
}

impl<W, S, R: Default> Pane<W, S, R> {
    pub fn new(window: W) -> Self {
        let timers = TimerSet::default();
        Pane { window, contents: None, trigger: R::default(), timers, fired: 0, unseen: false }
    }
    /// It holds elements that no firing has seen.
    pub fn is_unseen(&self) -> bool {
        self.unseen && self.contents.is_some()
    }
}

/// The panes of one key, ascending by window. Most keys have one, for which there is room without an allocation.
#[derive(Debug)]
struct OfKey<W, S, R> {
    first: Option<Pane<W, S, R>>,
    rest: VecDeque<Pane<W, S, R>>,
}

impl<W, S, R> Default for OfKey<W, S, R> {
    fn default() -> Self {
        OfKey { first: None, rest: VecDeque::new() }
    }
}

impl<W, S, R> OfKey<W, S, R> {
    fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.rest.len()
    }
    fn iter(&self) -> impl Iterator<Item = &Pane<W, S, R>> {
        self.first.iter().chain(&self.rest)
    }
}

/// The panes of all keys, by the keys' slots.
#[derive(Debug)]
pub(super) struct Panes<W, S, R> {
    by_slot: Vec<OfKey<W, S, R>>,
    len: usize,
    /// Slots that have any.
    used_slots: usize,
    /// Panes for which there is memory beside the first of each slot.
    room: usize,
}

impl<W, S, R> Default for Panes<W, S, R> {
    fn default() -> Self {
        Panes { by_slot: Vec::new(), len: 0, used_slots: 0, room: 0 }
    }
}

impl<W: Ord, S, R: Default> Panes<W, S, R> {
    pub fn len(&self) -> usize {
        self.len
    }
    pub fn used_slots(&self) -> usize {
        self.used_slots
    }
    pub fn bytes(&self) -> usize {
        self.by_slot.capacity() * size_of::<OfKey<W, S, R>>() + self.room * size_of::<Pane<W, S, R>>()
    }

    /// There are slots up to this number from now on.
    pub fn resize(&mut self, slots: usize) {
        if slots > self.by_slot.len() {
            self.by_slot.resize_with(slots, OfKey::default);
        }
    }

    pub fn has_any(&self, slot: u32) -> bool {
        self.by_slot[slot as usize].first.is_some()
    }
    /// Reads from memory what will soon be needed, all at once, so that the waits overlap. Returns how many panes these
    /// slots have, lest the reading is left out.
    #[inline]
    pub fn touch(&self, slots: impl Iterator<Item = u32>) -> usize {
        slots.map(|slot| self.by_slot[slot as usize].len()).sum()
    }
    /// Of one key.
    pub fn of(&self, slot: u32) -> impl Iterator<Item = &Pane<W, S, R>> {
        self.by_slot[slot as usize].iter()
    }
    /// Of all keys.
    pub fn iter(&self) -> impl Iterator<Item = &Pane<W, S, R>> {
        self.by_slot.iter().flat_map(OfKey::iter)
    }
    /// The pane at a place that was found.
    #[inline]
    pub fn at(&mut self, slot: u32, at: usize) -> &mut Pane<W, S, R> {
        let panes = &mut self.by_slot[slot as usize];
        match (&mut panes.first, at) {
            (Some(first), 0) => first,
            _ => &mut panes.rest[at - 1],
        }
    }

    /// Where the pane of a window is, or belongs. It is first looked for in front of `near`.
    #[inline]
    pub fn find(&self, slot: u32, window: &W, near: usize) -> Result<usize, usize> {
        let panes = &self.by_slot[slot as usize];
        let Some(first) = &panes.first else {
            return Err(0);
        };
        match window.cmp(&first.window) {
            Ordering::Less => Err(0),
            Ordering::Equal => Ok(0),
            Ordering::Greater => {
                let guess = near.min(panes.len()).wrapping_sub(2);
                if panes.rest.get(guess).is_some_and(|pane| pane.window == *window) {
                    return Ok(guess + 1);
                }
                let found = panes.rest.binary_search_by(|pane| pane.window.cmp(window));
                found.map(|at| at + 1).map_err(|at| at + 1)
            }
        }
    }

    #[inline]
    pub fn find_or_insert(&mut self, slot: u32, window: W, near: usize) -> usize {
        match self.find(slot, &window, near) {
            Ok(at) => at,
            Err(at) => {
                self.insert(slot, at, Pane::new(window));
                at
            }
        }
    }

    pub fn insert(&mut self, slot: u32, at: usize, pane: Pane<W, S, R>) {
        let panes = &mut self.by_slot[slot as usize];
        let room = panes.rest.capacity();
        self.len += 1;
        if at > 0 {
            panes.rest.insert(at - 1, pane);
        } else if let Some(second) = panes.first.replace(pane) {
            panes.rest.push_front(second);
        } else {
            self.used_slots += 1;
        }
        self.room += panes.rest.capacity() - room;
    }

    pub fn remove(&mut self, slot: u32, at: usize) -> Option<Pane<W, S, R>> {
        let panes = &mut self.by_slot[slot as usize];
        let pane = if at > 0 {
            panes.rest.remove(at - 1)?
        } else {
            let second = panes.rest.pop_front();
            std::mem::replace(&mut panes.first, second)?
        };
        self.len -= 1;
        self.used_slots -= usize::from(panes.first.is_none());
        Some(pane)
    }

    /// The slot's key goes away; it has no panes.
    pub fn free(&mut self, slot: u32) {
        let panes = std::mem::take(&mut self.by_slot[slot as usize]);
        debug_assert!(panes.first.is_none());
        self.room -= panes.rest.capacity();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panes_are_found_by_window_from_any_guess() {
        let mut panes: Panes<i32, (), ()> = Panes::default();
        panes.resize(2);
        for window in [30, 10, 20, 10] {
            panes.find_or_insert(1, window, usize::MAX);
        }
        assert_eq!((panes.len(), panes.used_slots(), panes.of(1).count()), (3, 1, 3));
        for near in 0..5 {
            assert_eq!([10, 20, 30].map(|window| panes.find(1, &window, near)), [Ok(0), Ok(1), Ok(2)]);
            assert_eq!([5, 15, 35].map(|window| panes.find(1, &window, near)), [Err(0), Err(1), Err(3)]);
        }
        let taken: Vec<i32> = std::iter::from_fn(|| panes.remove(1, 0)).map(|pane| pane.window).collect();
        assert_eq!((taken, panes.len(), panes.used_slots()), (vec![10, 20, 30], 0, 0));
        panes.free(1);
        assert_eq!(panes.room, 0);
    }
}
