//! The keys of an operator that keeps slices: slots that several slices refer to, and an order of firing.

use std::collections::VecDeque;

use crate::error::{Error, Result};
use crate::key::KeyHash;
use crate::windowing::operator::index::KeyIndex;

use super::order;

/// How many sweeps a key without a slice outlives: to take it out and in again costs more than several rows.
const SWEEPS_KEPT: usize = 2;

/// Keys by slot. A key is known as long as a slice has it, and a little longer: most keys come back in the next slice.
pub(super) struct Keys<K> {
    index: KeyIndex<K>,
    of: Vec<Slot>,
    /// Slots that lost their last slice, a list a sweep; the latest last.
    idle: VecDeque<Vec<u32>>,
    /// Those that lost it since the last sweep.
    released: Vec<u32>,
    sweeps: u32,
    /// Known slots in the order of their hashes, but for those in `unordered`; some may be free by now.
    order: Vec<(KeyHash, u32)>,
    unordered: Vec<u32>,
    removed: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    /// Slices that have the key.
    holders: u32,
    /// `sweeps` when it lost its last slice.
    idle_since: u32,
    /// In `unordered`.
    unordered: bool,
}

impl<K: Eq + Clone> Keys<K> {
    pub fn new() -> Self {
        Keys {
            index: KeyIndex::new(),
            of: Vec::new(),
            idle: VecDeque::new(),
            released: Vec::new(),
            sweeps: 0,
            order: Vec::new(),
            unordered: Vec::new(),
            removed: false,
        }
    }

    /// All slots are below this.
    #[inline]
    pub fn slots(&self) -> usize {
        self.of.len()
    }
    pub fn bytes(&self) -> usize {
        let lists = [&self.released, &self.unordered].into_iter().chain(&self.idle);
        let lists: usize = lists.map(|list| list.capacity() * size_of::<u32>()).sum();
        let lists = lists + self.order.capacity() * size_of::<(KeyHash, u32)>();
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

    /// Those that a slice has, with their slots and hashes.
    pub fn held(&self) -> impl Iterator<Item = (u32, KeyHash, &K)> {
        self.index.iter().filter(|(slot, ..)| self.of[*slot as usize].holders > 0)
    }

    /// A key that was put back goes as others do if no slice has it.
    pub fn settle(&mut self, slot: u32) {
        if self.of[slot as usize].holders == 0 {
            self.hold(slot);
            self.release(slot);
        }
    }

    /// One more slice has the key.
    #[inline]
    pub fn hold(&mut self, slot: u32) {
        self.of[slot as usize].holders += 1;
    }
    /// One slice less has the key.
    pub fn release(&mut self, slot: u32) {
        let of = &mut self.of[slot as usize];
        of.holders -= 1;
        if of.holders == 0 {
            of.idle_since = self.sweeps;
            self.released.push(slot);
        }
    }

    /// Forgets the keys that have been without a slice for [`SWEEPS_KEPT`] sweeps.
    pub fn sweep(&mut self) {
        self.idle.push_back(std::mem::take(&mut self.released));
        if self.idle.len() > SWEEPS_KEPT {
            let mut old = self.idle.pop_front().unwrap_or_default();
            let then = self.sweeps.wrapping_sub(SWEEPS_KEPT as u32);
            for slot in old.drain(..) {
                // One that was held again in the meantime is also in a later list.
                let of = self.of[slot as usize];
                if of.holders == 0 && of.idle_since == then {
                    self.removed |= self.index.remove(slot).is_some();
                }
            }
            self.released = old;
        }
        self.sweeps = self.sweeps.wrapping_add(1);
    }

    /// Forgets everything; no slice is left.
    pub fn clear(&mut self) {
        *self = Keys::new();
    }

    /// All slots in the order of firing; some are without a slice.
    pub fn ordered(&mut self) -> impl Iterator<Item = u32> + '_ {
        if self.removed || !self.unordered.is_empty() {
            self.bring_into_order();
        }
        self.order.iter().map(|&(_, slot)| slot)
    }

    fn bring_into_order(&mut self) {
        let mut fresh = std::mem::take(&mut self.unordered);
        let (index, of) = (&self.index, &mut self.of);
        self.order.retain(|&(_, slot)| !of[slot as usize].unordered && index.key(slot).is_some());
        fresh.iter().for_each(|&slot| of[slot as usize].unordered = false);
        fresh.retain(|&slot| index.key(slot).is_some());
        let mut fresh: Vec<_> = fresh.into_iter().map(|slot| (index.hash(slot), slot)).collect();
        // Two sorted runs, which a stable sort merges.
        fresh.sort_unstable();
        self.order.append(&mut fresh);
        self.order.sort();
        self.removed = false;
    }

    /// Sorts slots into the order of firing: by hash.
    pub fn sort(&self, slots: &mut Vec<u32>) {
        let mut sorted: Vec<(KeyHash, u32)> = slots.iter().map(|&slot| (self.index.hash(slot), slot)).collect();
        order::sort(&mut sorted);
        slots.clear();
        slots.extend(sorted.iter().map(|&(_, slot)| slot));
    }
}
