//! The keys of one tumbling window with their accumulators.

use std::collections::HashMap;

use crate::error::{Error, Result};
use crate::key::KeyHash;
use crate::snapshot::{Archive, fits};
use crate::windowing::function::AggregateFunction;
use crate::windowing::operator::cells::Cells;
use crate::windowing::state::{keys, values};
use crate::windowing::{Key, StateData, Taking};

/// Rows that are added at a time: few enough to stay in the nearest cache.
pub(super) const BLOCK: usize = 256;

/// One key of the window.
pub(super) struct Entry<K, A> {
    pub hash: KeyHash,
    pub key: K,
    pub accumulator: A,
}

/// Keys in the order of their arrival. A new one goes behind the last; what there is of a key lies in one place.
pub(super) struct Table<K, A> {
    cells: Cells,
    entries: Vec<Entry<K, A>>,
}

impl<K: Eq + Clone, A> Table<K, A> {
    /// For about that many keys.
    pub fn with_capacity(keys: usize) -> Self {
        Table { cells: Cells::with_capacity(keys), entries: Vec::with_capacity(keys) }
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }
    /// What the table allocates.
    pub fn bytes(&self) -> usize {
        self.cells.bytes() + self.entries.capacity() * size_of::<Entry<K, A>>()
    }
    pub fn entries(&self) -> &[Entry<K, A>] {
        &self.entries
    }

    /// Adds up to [`BLOCK`] rows. Step by step for all of them, so that their waits for memory overlap and the processor
    /// guesses right: most rows either meet a key that is there, or bring a new one.
    pub fn add<T, F: AggregateFunction<T, Accumulator = A>>(
        &mut self,
        function: &F,
        (hashes, keys, values): (&[KeyHash], &[K], &[T]),
    ) {
        let (mut places, mut missed) = ([0_u32; BLOCK], [0_u16; BLOCK]);
        let places = &mut places[..hashes.len()];
        for (place, &hash) in places.iter_mut().zip(hashes) {
            *place = self.cells.guess(hash);
        }
        let mut misses = 0;
        for (row, ((&place, &hash), key)) in places.iter().zip(hashes).zip(keys).enumerate() {
            missed[misses] = row as u16;
            let same = self.entries.get(place as usize).is_some_and(|entry| entry.hash == hash && entry.key == *key);
            misses += usize::from(!same);
        }
        for &row in &missed[..misses] {
            let row = usize::from(row);
            places[row] = self.place(function, hashes[row], &keys[row]).0;
        }
        for (&place, value) in places.iter().zip(values) {
            function.add(value, &mut self.entries[place as usize].accumulator);
        }
    }

    /// The entry of a key, a new one if need be (then `true`).
    ///
    /// # Panics
    /// Beyond 2^31 keys.
    #[inline]
    fn place<T, F: AggregateFunction<T, Accumulator = A>>(
        &mut self,
        function: &F,
        hash: KeyHash,
        key: &K,
    ) -> (u32, bool) {
        let entries = &mut self.entries;
        let same = |place: u32| {
            let entry = &entries[place as usize];
            entry.hash == hash && entry.key == *key
        };
        match self.cells.search(hash, same) {
            Ok(place) => (place, false),
            Err(at) => {
                let place = entries.len() as u32;
                assert!(place < 1 << 31, "more than 2^31 keys in a window on one shard");
                entries.push(Entry { hash, key: key.clone(), accumulator: function.create_accumulator() });
                self.cells.put(at, hash, place, entries.len());
                (place, true)
            }
        }
    }

    /// Adds one element; the place of its key, and whether it is new.
    pub fn add_one<T, F: AggregateFunction<T, Accumulator = A>>(
        &mut self,
        function: &F,
        (hash, key): (KeyHash, &K),
        element: &T,
    ) -> (u32, bool) {
        let (place, new) = self.place(function, hash, key);
        function.add(element, &mut self.entries[place as usize].accumulator);
        (place, new)
    }

    /// Keys with their accumulators, and how often each has fired where a late element made it: `refired`, by place.
    ///
    /// # Errors
    /// As [`KeyedWindowOperator::archive`](crate::windowing::operator::KeyedWindowOperator::archive).
    pub fn archive(
        &mut self,
        refired: &mut HashMap<u32, u32>,
        archive: &mut Archive<'_>,
        taking: &Taking<'_>,
    ) -> Result<()>
    where
        K: Key,
        A: StateData,
    {
        let keys = keys(archive, self.entries.iter().map(|entry| (entry.hash, &entry.key)))?;
        let accumulators: Vec<A> = values(archive, self.entries.iter().map(|entry| &entry.accumulator))?;
        let mut fired: Vec<[u32; 2]> = Vec::new();
        if !archive.is_reading() {
            fired.extend(refired.iter().map(|(&place, &times)| [place, times]));
        }
        archive.cells(&mut fired)?;
        if !archive.is_reading() {
            return Ok(());
        }
        fits(keys.len() == accumulators.len())?;
        let mut places = vec![None; keys.len()];
        for (place, ((hash, key), accumulator)) in places.iter_mut().zip(keys.into_iter().zip(accumulators)) {
            if (taking.wanted)(hash) {
                *place = Some(self.insert((hash, key), accumulator)?);
            }
        }
        for [place, times] in fired {
            fits((place as usize) < places.len())?;
            refired.extend(places[place as usize].map(|place| (place, times)));
        }
        Ok(())
    }

    /// A key that is not there yet; its place.
    fn insert(&mut self, (hash, key): (KeyHash, K), accumulator: A) -> Result<u32> {
        let entries = &self.entries;
        let Err(at) = self.cells.search(hash, |place| entries[place as usize].key == key) else {
            return Err(Error::internal("state that has a key of a window twice"));
        };
        let place = self.entries.len() as u32;
        self.entries.push(Entry { hash, key, accumulator });
        self.cells.put(at, hash, place, self.entries.len());
        Ok(place)
    }

    /// The places of all keys by hash, the order of firing.
    pub fn in_order(&self) -> Vec<(KeyHash, u32)> {
        let mut order: Vec<(KeyHash, u32)> =
            (0..).zip(&self.entries).map(|(place, entry)| (entry.hash, place)).collect();
        super::order::sort(&mut order);
        order
    }
}
