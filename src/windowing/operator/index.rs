//! From key to dense slot number: what an operator knows of a key lies in vectors by slot.

use super::cells::Cells;
use crate::key::KeyHash;

/// Keys and their slots. A removed key's slot is given to the next new key, so slots stay dense.
#[derive(Debug, Clone)]
pub struct KeyIndex<K> {
    cells: Cells,
    entries: Vec<Entry<K>>,
    free: Vec<u32>,
}

#[derive(Debug, Clone)]
struct Entry<K> {
    hash: KeyHash,
    /// `None`: the slot is free.
    key: Option<K>,
}

/// Keys whose cells are read at once.
const BLOCK: usize = 256;

impl<K> Default for KeyIndex<K> {
    fn default() -> Self {
        KeyIndex { cells: Cells::with_capacity(0), entries: Vec::new(), free: Vec::new() }
    }
}

impl<K> KeyIndex<K> {
    /// No slot.
    pub const NONE: u32 = u32::MAX;
}

impl<K: Eq> KeyIndex<K> {
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// All slots are below this: the length that vectors by slot need.
    pub fn slots(&self) -> usize {
        self.entries.len()
    }
    /// Bytes that the index allocates; not what keys point to.
    pub fn bytes(&self) -> usize {
        self.cells.bytes() + self.entries.capacity() * size_of::<Entry<K>>() + self.free.capacity() * size_of::<u32>()
    }

    /// The key of a slot; `None` for a free one.
    #[inline]
    pub fn key(&self, slot: u32) -> Option<&K> {
        self.entries.get(slot as usize)?.key.as_ref()
    }
    /// The hash of a slot's key; of a free slot that of its last key.
    ///
    /// # Panics
    /// If there has never been such a slot.
    #[inline]
    pub fn hash(&self, slot: u32) -> KeyHash {
        self.entries[slot as usize].hash
    }
    /// Keys with their slots and hashes, in the order of slots.
    pub fn iter(&self) -> impl Iterator<Item = (u32, KeyHash, &K)> {
        let entries = (0..).zip(&self.entries);
        entries.filter_map(|(slot, entry)| Some((slot, entry.hash, entry.key.as_ref()?)))
    }

    /// The slot of a key, which has this hash.
    #[inline]
    pub fn slot_of(&self, hash: KeyHash, key: &K) -> Option<u32> {
        self.search(hash, key).ok()
    }

    /// Appends the slot of each key, [`Self::NONE`] for keys that are not there. Faster than one after the other: the
    /// cells of many keys are read at once, so that the waits for memory overlap.
    pub fn slots_of(&self, hashes: &[KeyHash], keys: &[K], slots: &mut Vec<u32>) {
        slots.reserve(keys.len());
        for (hashes, keys) in hashes.chunks(BLOCK).zip(keys.chunks(BLOCK)) {
            let first = slots.len();
            slots.extend(hashes.iter().map(|&hash| self.cells.guess(hash)));
            for ((slot, &hash), key) in slots[first..].iter_mut().zip(hashes).zip(keys) {
                if self.key(*slot) != Some(key) {
                    *slot = self.search(hash, key).unwrap_or(Self::NONE);
                }
            }
        }
    }

    /// The slot of a key, which has this hash; a new one if need be (then `true`).
    ///
    /// # Panics
    /// Beyond 2^31 keys.
    #[inline]
    pub fn slot_or_insert(&mut self, hash: KeyHash, key: K) -> (u32, bool) {
        match self.search(hash, &key) {
            Ok(slot) => (slot, false),
            Err(at) => (self.insert(at, hash, key), true),
        }
    }

    /// Takes a key out; its slot is free from now on.
    pub fn remove(&mut self, slot: u32) -> Option<K> {
        let entry = self.entries.get_mut(slot as usize)?;
        let key = entry.key.take()?;
        self.cells.remove(entry.hash, slot);
        self.free.push(slot);
        Some(key)
    }

    /// The slot of a key, or the free cell where it belongs.
    #[inline]
    fn search(&self, hash: KeyHash, key: &K) -> Result<u32, usize> {
        self.cells.search(hash, |slot| self.key(slot) == Some(key))
    }

    fn insert(&mut self, at: usize, hash: KeyHash, key: K) -> u32 {
        let entry = Entry { hash, key: Some(key) };
        let slot = match self.free.pop() {
            Some(slot) => {
                self.entries[slot as usize] = entry;
                slot
            }
            None => {
                assert!(self.entries.len() < 1 << 31, "more than 2^31 keys on one shard");
                self.entries.push(entry);
                self.entries.len() as u32 - 1
            }
        };
        self.cells.put(at, hash, slot, self.len());
        slot
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::windowing::hash::key_hash;

    #[test]
    fn a_key_keeps_its_slot_and_slots_are_dense() {
        let mut index = KeyIndex::new();
        for key in 0..10_000u64 {
            assert_eq!(index.slot_or_insert(key_hash(&key), key), (key as u32, true));
        }
        for key in 0..10_000u64 {
            assert_eq!(index.slot_or_insert(key_hash(&key), key), (key as u32, false));
            assert_eq!(index.slot_of(key_hash(&key), &key), Some(key as u32));
            assert_eq!((index.key(key as u32), index.hash(key as u32)), (Some(&key), key_hash(&key)));
        }
        assert_eq!(index.slot_of(key_hash(&10_000u64), &10_000), None);
        assert_eq!((index.len(), index.slots()), (10_000, 10_000));
    }

    #[test]
    fn a_removed_key_leaves_its_slot_to_the_next() {
        let mut index = KeyIndex::new();
        for key in ["a", "b", "c"] {
            index.slot_or_insert(key_hash(key), key);
        }
        assert_eq!((index.remove(1), index.remove(1), index.remove(7)), (Some("b"), None, None));
        assert_eq!((index.slot_of(key_hash("b"), &"b"), index.key(1)), (None, None));
        assert_eq!(index.slot_or_insert(key_hash("d"), "d"), (1, true));
        let keys: Vec<_> = index.iter().map(|(slot, _, key)| (slot, *key)).collect();
        assert_eq!(keys, [(0, "a"), (1, "d"), (2, "c")]);
    }

    #[test]
    fn it_does_what_a_map_does_with_good_and_with_poor_hashes() {
        for hash in [|key: u32| key_hash(&key), |key: u32| u64::from(key % 7), |key: u32| u64::from(key) << 32] {
            let (mut index, mut twin) = (KeyIndex::new(), HashMap::new());
            let mut random = crate::random::Random::new(7);
            for _ in 0..20_000 {
                let key = random.below(300) as u32;
                if random.below(3) == 0 {
                    if let Some(slot) = twin.remove(&key) {
                        assert_eq!(index.remove(slot), Some(key));
                    }
                } else {
                    let (slot, new) = index.slot_or_insert(hash(key), key);
                    assert_eq!(twin.insert(key, slot), (!new).then_some(slot));
                }
                let other = random.below(300) as u32;
                assert_eq!(index.slot_of(hash(other), &other), twin.get(&other).copied());
                assert_eq!(index.len(), twin.len());
            }
            let keys: Vec<u32> = (0..600).collect();
            let hashes: Vec<KeyHash> = keys.iter().map(|&key| hash(key)).collect();
            let mut slots = Vec::new();
            index.slots_of(&hashes, &keys, &mut slots);
            let expected = keys.iter().map(|key| twin.get(key).copied().unwrap_or(KeyIndex::<u32>::NONE));
            assert!(slots.iter().copied().eq(expected));
            assert!(index.slots() <= 300);
        }
    }
}
