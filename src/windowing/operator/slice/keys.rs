//! The keys of an operator that keeps slices: slots that several slices refer to, and an order of firing.

use crate::error::{Error, Result};
use crate::key::KeyHash;
use crate::windowing::operator::index::KeyIndex;

/// Keys by slot. A key is known as long as a slice has it, and a little longer: most keys come back in the next slice.
pub(super) struct Keys<K> {
    index: KeyIndex<K>,
    of: Vec<Slot>,
    /// Counts the keys that came, or came back.
    arrivals: u64,
    /// Slots that lost their last slice before and since the last sweep.
    idle: [Vec<u32>; 2],
    sweeps: u32,
    /// Known slots in the order of their hashes, but for those in `unordered`; some may be free by now.
    order: Vec<u32>,
    unordered: Vec<u32>,
    removed: bool,
    /// Two keys in `order` have one hash.
    ties: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    /// Slices that have the key.
    holders: u32,
    /// `sweeps` when it lost its last slice.
    idle_since: u32,
    /// In `unordered`.
    unordered: bool,
    /// `arrivals` when its first holder came: puts keys with one hash into an order that follows from the data alone.
    since: u64,
}

impl<K: Eq + Clone> Keys<K> {
    pub fn new() -> Self {
        Keys {
            index: KeyIndex::new(),
            of: Vec::new(),
            arrivals: 0,
            idle: [Vec::new(), Vec::new()],
            sweeps: 0,
            order: Vec::new(),
            unordered: Vec::new(),
            removed: false,
            ties: false,
        }
    }

    /// All slots are below this.
    #[inline]
    pub fn slots(&self) -> usize {
        self.of.len()
    }
    pub fn bytes(&self) -> usize {
        let lists = [&self.idle[0], &self.idle[1], &self.order, &self.unordered];
        let lists: usize = lists.iter().map(|list| list.capacity() * size_of::<u32>()).sum();
        self.index.bytes() + self.of.capacity() * size_of::<Slot>() + lists
    }
    #[inline]
    pub fn hash(&self, slot: u32) -> KeyHash {
        self.index.hash(slot)
    }
    /// # Errors
    /// Internal if the slot is free.
    #[inline]
    pub fn key(&self, slot: u32) -> Result<&K> {
        self.index.key(slot).ok_or_else(|| Error::internal("a slot without a key"))
    }

    /// Appends the slots of keys; [`KeyIndex::NONE`] for those that are not known.
    #[inline]
    pub fn find_all(&self, hashes: &[KeyHash], keys: &[K], slots: &mut Vec<u32>) {
        self.index.slots_of(hashes, keys, slots);
    }

    /// The slot of a key, a new one if need be.
    pub fn find_or_insert(&mut self, hash: KeyHash, key: &K) -> u32 {
        if let Some(slot) = self.index.slot_of(hash, key) {
            return slot;
        }
        let (slot, _) = self.index.slot_or_insert(hash, key.clone());
        if self.of.len() <= slot as usize {
            self.of.resize(slot as usize + 1, Slot::default());
        }
        let of = &mut self.of[slot as usize];
        if !std::mem::replace(&mut of.unordered, true) {
            self.unordered.push(slot);
        }
        slot
    }

    /// One more slice has the key.
    #[inline]
    pub fn hold(&mut self, slot: u32) {
        let of = &mut self.of[slot as usize];
        if of.holders == 0 {
            of.since = self.arrivals;
            self.arrivals += 1;
        }
        of.holders += 1;
    }
    /// One slice less has the key.
    pub fn release(&mut self, slot: u32) {
        let of = &mut self.of[slot as usize];
        of.holders -= 1;
        if of.holders == 0 {
            of.idle_since = self.sweeps;
            self.idle[1].push(slot);
        }
    }

    /// Forgets the keys that have been without a slice since the last sweep.
    pub fn sweep(&mut self) {
        let [mut old, new] = std::mem::take(&mut self.idle);
        for slot in old.drain(..) {
            // One that was held again in the meantime is also among the new ones.
            let of = self.of[slot as usize];
            if of.holders == 0 && of.idle_since != self.sweeps {
                self.removed |= self.index.remove(slot).is_some();
            }
        }
        self.idle = [new, old];
        self.sweeps = self.sweeps.wrapping_add(1);
    }

    /// Forgets everything; no slice is left.
    pub fn clear(&mut self) {
        *self = Keys { arrivals: self.arrivals, ..Keys::new() };
    }

    /// All slots in the order of firing; some are without a slice. `None` where keys with one hash make that order
    /// depend on more: sort the slots at hand then.
    pub fn ordered(&mut self) -> Option<&[u32]> {
        if self.removed || !self.unordered.is_empty() {
            self.bring_into_order();
        }
        (!self.ties).then_some(&self.order)
    }

    fn bring_into_order(&mut self) {
        let mut fresh = std::mem::take(&mut self.unordered);
        let (index, of) = (&self.index, &mut self.of);
        self.order.retain(|&slot| !of[slot as usize].unordered && index.key(slot).is_some());
        fresh.iter().for_each(|&slot| of[slot as usize].unordered = false);
        fresh.retain(|&slot| index.key(slot).is_some());
        self.sort(&mut fresh);
        let old = std::mem::take(&mut self.order);
        self.order = Vec::with_capacity(old.len() + fresh.len());
        let (mut old, mut fresh) = (old.into_iter().peekable(), fresh.into_iter().peekable());
        let mut last = None;
        (self.ties, self.removed) = (false, false);
        loop {
            let hashes = [old.peek(), fresh.peek()].map(|slot| slot.map(|&slot| self.index.hash(slot)));
            let next = match hashes {
                [Some(a), Some(b)] if b < a => fresh.next(),
                [Some(_), _] => old.next(),
                [None, _] => fresh.next(),
            };
            let Some(slot) = next else { break };
            let hash = Some(self.index.hash(slot));
            self.ties |= last == hash;
            last = hash;
            self.order.push(slot);
        }
    }

    /// Sorts slots with a slice into the order of firing.
    pub fn sort(&self, slots: &mut Vec<u32>) {
        let mut sorted: Vec<(KeyHash, u64, u32)> = Vec::with_capacity(slots.len());
        sorted.extend(slots.iter().map(|&slot| (self.index.hash(slot), self.of[slot as usize].since, slot)));
        sorted.sort_unstable();
        slots.clear();
        slots.extend(sorted.iter().map(|&(_, _, slot)| slot));
    }
}
