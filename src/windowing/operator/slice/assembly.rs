//! Windows put together from slices.
//!
//! Slices come in blocks as long as a window, so a window is the end of one block and the beginning of the next; where
//! they meet is its seam. For the end, every slice of the block has been merged with those behind it, once, from right
//! to left; for the beginning there is a running accumulator that takes one slice after the other. So a window takes one
//! merge a key, however many slices it has, and nothing is ever taken out of an accumulator. What is merged with what
//! follows from the numbers of the slices alone.

use super::column::Column;
use super::keys::Keys;
use super::shape::Shape;
use super::slices::Slices;
use crate::windowing::function::AggregateFunction;

/// No slice.
const NONE: i64 = i64::MIN;

/// Where window after window is put together.
pub(super) struct Assembly<A> {
    shape: Shape,
    /// Slices must be kept alone, for windows that fire again.
    keeps: bool,
    /// The seam of the window that was put together last.
    seam: i64,
    /// Slices from the seam up to here are in `running`.
    merged: i64,
    running: Column<A>,
    /// Slices from here to the seam are in front of it, and in windows to come.
    front: i64,
    /// By slot: the key's first slice from `front` to the seam.
    heads: Vec<i64>,
}

/// What an assembly works on.
pub(super) struct Parts<'a, K, F, A> {
    pub function: &'a F,
    pub keys: &'a mut Keys<K>,
    pub slices: &'a mut Slices<A>,
}

impl<A: Clone> Assembly<A> {
    pub fn new(shape: Shape, keeps: bool) -> Self {
        let (running, heads) = (Column::default(), Vec::new());
        Assembly { shape, keeps, seam: NONE, merged: NONE, running, front: NONE, heads }
    }

    /// Slices move into `running` for good.
    fn moves(&self) -> bool {
        self.shape.is_disjoint() && !self.keeps
    }

    pub fn accumulators(&self) -> usize {
        self.running.len()
    }
    pub fn bytes(&self) -> usize {
        self.running.bytes() + self.heads.capacity() * size_of::<i64>()
    }

    /// The accumulators from the seam on.
    pub fn running(&self) -> &Column<A> {
        &self.running
    }

    /// How far putting together has come: the seam, up to where slices are merged behind it, and from where they are in
    /// front of it.
    pub fn position(&self) -> [i64; 3] {
        [self.seam, self.merged, self.front]
    }

    /// Comes as far as `position`, at least. Where that is another seam, nothing of what was put together is needed any
    /// more: no slice that is here is in the window that was put together there, else it would have been here too.
    pub fn go_on<K: Eq + Clone, F>(&mut self, position: [i64; 3], parts: &mut Parts<'_, K, F, A>) {
        let [seam, merged, front] = position;
        if seam > self.seam {
            self.forget(parts);
            (self.seam, self.merged, self.front) = (seam, merged, front);
        } else if seam == self.seam {
            self.leave(front, parts.slices);
            self.merged = self.merged.max(merged);
        }
    }

    /// Puts back a key's accumulator from the seam on.
    pub fn put_back<K: Eq + Clone>(&mut self, slot: u32, accumulator: A, keys: &mut Keys<K>) {
        self.running.insert(slot, accumulator, keys.slots());
        if self.moves() {
            keys.hold(slot);
        }
    }

    /// Finds anew which slices each key has in front of the seam.
    pub fn link(&mut self, slots: usize, slices: &mut Slices<A>) {
        self.heads.clear();
        self.heads.resize(slots, NONE);
        for at in slices.range(self.front, self.seam).rev() {
            let slice = slices.at_mut(at);
            let (number, mut next) = (slice.number, Column::default());
            for slot in slice.sums(self.keeps).slots() {
                let head = std::mem::replace(&mut self.heads[slot as usize], number);
                if head != NONE {
                    next.insert(slot, head, slots);
                }
            }
            slice.next = next;
        }
    }

    /// A key's two parts of the window that was prepared last.
    #[inline]
    pub fn parts<'a>(&'a self, slices: &'a Slices<A>, slot: u32, seen: &mut usize) -> [Option<&'a A>; 2] {
        let head = self.heads.get(slot as usize).copied().unwrap_or(NONE);
        let mut front = None;
        if head != NONE {
            // Most keys have the same first slice.
            if slices.len() <= *seen || slices.at(*seen).number != head {
                *seen = slices.find(head).unwrap_or(*seen);
            }
            front = slices.at(*seen).sums(self.keeps).get(slot);
        }
        [front, self.running.get(slot)]
    }

    /// At most how many slots [`slots`](Self::slots) will look at.
    pub fn entries(&self, slices: &Slices<A>) -> usize {
        let front = slices.range(self.front, self.seam);
        self.running.len() + front.map(|at| slices.at(at).sums(self.keeps).len()).sum::<usize>()
    }
    /// The slots of the keys in the window that was prepared last.
    pub fn slots(&self, slices: &Slices<A>, slots: &mut Vec<u32>) {
        let head = |slot: u32| self.heads.get(slot as usize).copied().unwrap_or(NONE);
        for at in slices.range(self.front, self.seam) {
            let slice = slices.at(at);
            slots.extend(slice.sums(self.keeps).slots().filter(|&slot| head(slot) == slice.number));
        }
        slots.extend(self.running.slots().filter(|&slot| head(slot) == NONE));
    }

    /// Puts the window with this end together, or brings it up to date. Windows come in the order of their ends.
    pub fn prepare<K, T, F>(&mut self, end: i64, parts: &mut Parts<'_, K, F, A>)
    where
        K: Eq + Clone,
        F: AggregateFunction<T, Accumulator = A>,
    {
        let (start, seam) = (self.shape.start(end), self.shape.seam(end));
        if seam != self.seam {
            self.forget(parts);
            (self.seam, self.merged, self.front) = (seam, seam, start);
            self.sum_front(parts);
        } else {
            self.leave(start, parts.slices);
        }
        for at in parts.slices.range(self.merged, end) {
            self.merge(at, parts);
        }
        self.merged = self.merged.max(end);
    }

    /// Slices before `start` are in no window to come.
    fn leave(&mut self, start: i64, slices: &mut Slices<A>) {
        for at in slices.range(self.front, start.min(self.seam)) {
            let slice = slices.at_mut(at);
            let next = std::mem::take(&mut slice.next);
            for slot in slice.sums(self.keeps).slots() {
                if self.heads[slot as usize] == slice.number {
                    self.heads[slot as usize] = next.get(slot).copied().unwrap_or(NONE);
                }
            }
            slice.suffix = Column::default();
        }
        self.front = self.front.max(start);
    }

    /// The keys whose slices have moved into `running`, and the ends of the windows that have them.
    pub fn moved(&self) -> impl Iterator<Item = (u32, (i64, i64))> {
        let ends = self.shape.ends(self.seam).filter(|_| self.moves());
        ends.into_iter().flat_map(|ends| self.running.slots().map(move |slot| (slot, ends)))
    }

    /// The window with this end has fired: drops what no window to come needs.
    pub fn fired<K: Eq + Clone, F>(&mut self, end: i64, parts: &mut Parts<'_, K, F, A>) {
        if self.shape.is_disjoint() && self.shape.ends(self.seam).is_none_or(|(_, last)| last <= end) {
            return self.forget(parts);
        }
        self.leave(self.shape.start(end.saturating_add(self.shape.step())), parts.slices);
    }

    /// Drops what was put together.
    pub fn forget<K: Eq + Clone, F>(&mut self, parts: &mut Parts<'_, K, F, A>) {
        if self.moves() {
            self.running.slots().for_each(|slot| parts.keys.release(slot));
        } else {
            self.leave(self.seam, parts.slices);
        }
        self.running = Column::default();
        self.heads.clear();
        (self.seam, self.merged, self.front) = (NONE, NONE, NONE);
    }

    /// Merges the slices in front of the seam, from right to left.
    fn sum_front<K, T, F>(&mut self, parts: &mut Parts<'_, K, F, A>)
    where
        F: AggregateFunction<T, Accumulator = A>,
        K: Eq + Clone,
    {
        if self.front < self.seam {
            self.heads.resize(parts.keys.slots(), NONE);
        }
        for at in parts.slices.range(self.front, self.seam).rev() {
            let slice = parts.slices.at_mut(at);
            let number = slice.number;
            let mut sums = if self.keeps { slice.column.clone() } else { std::mem::take(&mut slice.column) };
            let (mut next, mut seen) = (Column::default(), at);
            for (slot, sum) in sums.iter_mut() {
                let head = std::mem::replace(&mut self.heads[slot as usize], number);
                if head == NONE {
                    continue;
                }
                if parts.slices.at(seen).number != head {
                    seen = parts.slices.find(head).unwrap_or(seen);
                }
                if let Some(rest) = parts.slices.at(seen).sums(self.keeps).get(slot) {
                    parts.function.merge(sum, rest);
                }
                next.insert(slot, head, parts.keys.slots());
            }
            let slice = parts.slices.at_mut(at);
            *slice.sums_mut(self.keeps) = sums;
            slice.next = next;
        }
    }

    /// Merges a slice behind the seam into `running`.
    fn merge<K, T, F>(&mut self, at: usize, parts: &mut Parts<'_, K, F, A>)
    where
        F: AggregateFunction<T, Accumulator = A>,
        K: Eq + Clone,
    {
        let (slots, slice) = (parts.keys.slots(), parts.slices.at_mut(at));
        if self.moves() {
            let column = std::mem::take(&mut slice.column);
            if self.running.is_empty() {
                self.running = column;
                return;
            }
            for (slot, value) in column.into_iter() {
                match self.running.get_mut(slot) {
                    Some(sum) => {
                        parts.function.merge(sum, &value);
                        parts.keys.release(slot);
                    }
                    None => self.running.insert(slot, value, slots),
                }
            }
            return;
        }
        for (slot, value) in slice.column.iter() {
            match self.running.get_mut(slot) {
                Some(sum) => parts.function.merge(sum, value),
                None => self.running.insert(slot, value.clone(), slots),
            }
        }
    }

    /// Adds an element to a slice of which windows have fired, and which others to come will have. `at`: its position.
    pub fn add_late<K, T, F>(&mut self, at: usize, slot: u32, element: &T, parts: &mut Parts<'_, K, F, A>)
    where
        F: AggregateFunction<T, Accumulator = A>,
        K: Eq + Clone,
    {
        let number = parts.slices.at(at).number;
        let in_front = (self.front..self.seam).contains(&number);
        let merged = (self.seam..self.merged).contains(&number);
        let not_alone = in_front && !self.keeps || merged && self.moves();
        if !not_alone {
            super::add(&mut parts.slices.at_mut(at).column, parts.function, parts.keys, slot, element, true);
        }
        if in_front {
            self.add_in_front(at, slot, element, parts);
        } else if merged {
            let holds = self.moves();
            super::add(&mut self.running, parts.function, parts.keys, slot, element, holds);
        }
    }

    /// Adds to the sums of the key's slices up to that at `at`.
    fn add_in_front<K, T, F>(&mut self, at: usize, slot: u32, element: &T, parts: &mut Parts<'_, K, F, A>)
    where
        F: AggregateFunction<T, Accumulator = A>,
        K: Eq + Clone,
    {
        let (number, keeps, slots) = (parts.slices.at(at).number, self.keeps, parts.keys.slots());
        if self.heads.len() < slots {
            self.heads.resize(slots, NONE);
        }
        let (mut before, mut head) = (None, self.heads[slot as usize]);
        while head != NONE && head <= number {
            let Ok(position) = parts.slices.find(head) else { return };
            let slice = parts.slices.at_mut(position);
            if let Some(sum) = slice.sums_mut(keeps).get_mut(slot) {
                parts.function.add(element, sum);
            }
            if head == number {
                return;
            }
            before = Some(position);
            head = slice.next.get(slot).copied().unwrap_or(NONE);
        }
        // The key is new in the slice: it goes into the chain of the key's slices.
        let mut sum = parts.function.create_accumulator();
        parts.function.add(element, &mut sum);
        if head != NONE {
            if let Some(rest) = parts.slices.find(head).ok().and_then(|at| parts.slices.at(at).sums(keeps).get(slot)) {
                parts.function.merge(&mut sum, rest);
            }
            parts.slices.at_mut(at).next.insert(slot, head, slots);
        }
        parts.slices.at_mut(at).sums_mut(keeps).insert(slot, sum, slots);
        if !keeps {
            parts.keys.hold(slot);
        }
        match before.map(|before| &mut parts.slices.at_mut(before).next) {
            None => self.heads[slot as usize] = number,
            Some(next) => match next.get_mut(slot) {
                Some(next) => *next = number,
                None => next.insert(slot, number, slots),
            },
        }
    }
}
