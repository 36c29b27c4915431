//! What there is for some keys, by their slots: the accumulators of a slice.

/// Below this many entries a column is sparse.
const DENSE_MIN: usize = 32;
/// A column becomes dense when one in so many keys has an entry.
const DENSE_SHARE: usize = 4;

/// Values by slot. Many: in a vector by slot. Few among many: one after the other, found by a small hash table.
#[derive(Debug, Clone)]
pub(super) enum Column<A> {
    Sparse(Sparse<A>),
    Dense { values: Vec<Option<A>>, len: usize },
}

#[derive(Debug, Clone)]
pub(super) struct Sparse<A> {
    /// Position in `slots` plus one; 0 is free. A power of two of them.
    cells: Vec<u32>,
    slots: Vec<u32>,
    values: Vec<A>,
}

impl<A> Default for Column<A> {
    fn default() -> Self {
        Column::Sparse(Sparse { cells: Vec::new(), slots: Vec::new(), values: Vec::new() })
    }
}

impl<A> Sparse<A> {
    /// The position of a slot, or the free cell where it belongs. There are cells.
    #[inline]
    fn find(&self, slot: u32) -> Result<usize, usize> {
        let mask = self.cells.len() - 1;
        let bits = self.cells.len().trailing_zeros();
        let mut at = (slot.wrapping_mul(0x9e37_79b1) >> (32 - bits)) as usize;
        loop {
            match self.cells[at] {
                0 => return Err(at),
                position if self.slots[position as usize - 1] == slot => return Ok(position as usize - 1),
                _ => at = (at + 1) & mask,
            }
        }
    }

    fn position(&self, slot: u32) -> Option<usize> {
        if self.cells.is_empty() { None } else { self.find(slot).ok() }
    }
    #[inline]
    pub fn get_mut(&mut self, slot: u32) -> Option<&mut A> {
        self.position(slot).map(|position| &mut self.values[position])
    }

    fn insert(&mut self, slot: u32, value: A) {
        if (self.slots.len() + 1) * 8 > self.cells.len() * 5 {
            self.cells = vec![0; (self.cells.len() * 2).max(8)];
            for position in 0..self.slots.len() {
                if let Err(at) = self.find(self.slots[position]) {
                    self.cells[at] = position as u32 + 1;
                }
            }
        }
        if let Err(at) = self.find(slot) {
            self.slots.push(slot);
            self.values.push(value);
            self.cells[at] = self.slots.len() as u32;
        }
    }
}

impl<A> Column<A> {
    pub fn len(&self) -> usize {
        match self {
            Column::Sparse(sparse) => sparse.slots.len(),
            Column::Dense { len, .. } => *len,
        }
    }
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    pub fn bytes(&self) -> usize {
        match self {
            Column::Sparse(sparse) => {
                (sparse.cells.capacity() + sparse.slots.capacity()) * size_of::<u32>()
                    + sparse.values.capacity() * size_of::<A>()
            }
            Column::Dense { values, .. } => values.capacity() * size_of::<Option<A>>(),
        }
    }

    /// Reads what there is for slots, all at once: the waits for memory overlap, and who wants it next finds it near.
    #[inline]
    pub fn touch(&self, slots: &[u32]) {
        if let Column::Dense { values, .. } = self {
            let there = |&&slot: &&u32| values.get(slot as usize).is_some_and(Option::is_some);
            std::hint::black_box(slots.iter().filter(there).count());
        }
    }

    #[inline]
    pub fn get(&self, slot: u32) -> Option<&A> {
        match self {
            Column::Sparse(sparse) => sparse.position(slot).map(|position| &sparse.values[position]),
            Column::Dense { values, .. } => values.get(slot as usize)?.as_ref(),
        }
    }
    #[inline]
    pub fn get_mut(&mut self, slot: u32) -> Option<&mut A> {
        match self {
            Column::Sparse(sparse) => sparse.get_mut(slot),
            Column::Dense { values, .. } => values.get_mut(slot as usize)?.as_mut(),
        }
    }
    /// Gives a slot, which has none, a value. `slots`: how many keys there are.
    pub fn insert(&mut self, slot: u32, value: A, slots: usize) {
        if let Column::Sparse(sparse) = self {
            if sparse.slots.len() < DENSE_MIN || sparse.slots.len() * DENSE_SHARE < slots {
                return sparse.insert(slot, value);
            }
            self.make_dense(slots);
        }
        if let Column::Dense { values, len } = self {
            if values.len() <= slot as usize {
                values.resize_with((slot as usize + 1).max(slots), || None);
            }
            *len += usize::from(values[slot as usize].is_none());
            values[slot as usize] = Some(value);
        }
    }

    #[cold]
    fn make_dense(&mut self, slots: usize) {
        if let Column::Sparse(sparse) = self {
            let mut values = Vec::new();
            values.resize_with(slots, || None);
            let len = sparse.slots.len();
            for (&slot, value) in sparse.slots.iter().zip(sparse.values.drain(..)) {
                if values.len() <= slot as usize {
                    values.resize_with(slot as usize + 1, || None);
                }
                values[slot as usize] = Some(value);
            }
            *self = Column::Dense { values, len };
        }
    }

    /// All slots that have a value.
    pub fn slots(&self) -> impl Iterator<Item = u32> + '_ {
        let (sparse, dense): (&[u32], &[Option<A>]) = match self {
            Column::Sparse(sparse) => (&sparse.slots, &[]),
            Column::Dense { values, .. } => (&[], values),
        };
        let dense = (0..).zip(dense).filter(|(_, value)| value.is_some()).map(|(slot, _)| slot);
        sparse.iter().copied().chain(dense)
    }
    /// All slots with their values.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &A)> + '_ {
        let (sparse, dense): (Option<&Sparse<A>>, &[Option<A>]) = match self {
            Column::Sparse(sparse) => (Some(sparse), &[]),
            Column::Dense { values, .. } => (None, values),
        };
        let sparse = sparse.into_iter().flat_map(|sparse| sparse.slots.iter().copied().zip(&sparse.values));
        sparse.chain((0..).zip(dense).filter_map(|(slot, value)| Some((slot, value.as_ref()?))))
    }
    /// All slots with their values.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (u32, &mut A)> + '_ {
        let (sparse, dense): (Option<&mut Sparse<A>>, &mut [Option<A>]) = match self {
            Column::Sparse(sparse) => (Some(sparse), &mut []),
            Column::Dense { values, .. } => (None, values),
        };
        let sparse = sparse.into_iter().flat_map(|sparse| sparse.slots.iter().copied().zip(&mut sparse.values));
        sparse.chain((0..).zip(dense).filter_map(|(slot, value)| Some((slot, value.as_mut()?))))
    }
    /// Takes all values out, with their slots.
    pub fn into_iter(self) -> impl Iterator<Item = (u32, A)> {
        let (slots, values, dense) = match self {
            Column::Sparse(sparse) => (sparse.slots, sparse.values, Vec::new()),
            Column::Dense { values, .. } => (Vec::new(), Vec::new(), values),
        };
        let dense = (0..).zip(dense).filter_map(|(slot, value)| Some((slot, value?)));
        slots.into_iter().zip(values).chain(dense)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::random::Random;

    #[test]
    fn it_does_what_a_map_does_sparse_and_dense() {
        for (keys, entries) in [(10, 10), (1000, 40), (1000, 900), (100_000, 300)] {
            let (mut column, mut twin, mut random) = (Column::default(), BTreeMap::new(), Random::new(keys));
            for value in 0..entries {
                let slot = random.below(keys) as u32;
                match column.get_mut(slot) {
                    Some(old) => *old = value,
                    None => column.insert(slot, value, keys as usize),
                }
                twin.insert(slot, value);
                assert_eq!(column.len(), twin.len());
            }
            assert_eq!(matches!(column, Column::Dense { .. }), entries == 900, "{keys} {entries}");
            for slot in 0..keys as u32 {
                assert_eq!(column.get(slot), twin.get(&slot));
            }
            let mut slots: Vec<u32> = column.slots().collect();
            slots.sort_unstable();
            assert!(slots.iter().eq(twin.keys()));
            assert_eq!(column.iter().map(|(slot, &value)| (slot, value)).collect::<BTreeMap<_, _>>(), twin);
            assert_eq!(column.into_iter().collect::<BTreeMap<_, _>>(), twin);
        }
    }
}
