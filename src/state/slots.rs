//! The table of an index of keys: open addressing over cells of 8 bytes.

use super::index::{NONE, Tag};
use crate::arena::ArenaVec;

/// Rows looked up at a time: their cells are read first, all at once, so that their cache misses overlap.
pub(super) const BLOCK: usize = 256;

/// Where the groups of keys are, by the upper halves of their hashes.
pub(super) struct Slots {
    /// `tag << 32 | group + 1`; 0 is free.
    pub cells: ArenaVec<u64>,
    pub bits: u32,
}

/// Spreads tags over the table: the keys of one shard share their top bits.
#[inline]
pub(super) fn spread(tag: Tag) -> u32 {
    tag.wrapping_mul(0x9e37_79b1)
}

impl Slots {
    pub fn new() -> Self {
        Slots { cells: ArenaVec::new(), bits: 0 }
    }

    /// Cells for `entries` entries at a load of at most 5/8.
    pub fn bits_for(entries: usize) -> u32 {
        (entries * 8).div_ceil(5).next_power_of_two().trailing_zeros().clamp(3, 31)
    }

    /// Makes room for one more of `used` entries.
    #[inline]
    pub fn reserve_one(&mut self, used: u32) {
        if (used as usize + 1) * 8 > self.cells.len() * 5 {
            self.grow(if self.bits == 0 { 3 } else { self.bits + 1 });
        }
    }

    #[cold]
    pub fn grow(&mut self, bits: u32) {
        let mut cells = ArenaVec::new();
        cells.resize_zeroed(1 << bits);
        let mask = (1 << bits) - 1;
        for &cell in self.cells.iter().filter(|&&cell| cell != 0) {
            let mut at = (spread((cell >> 32) as u32) >> (32 - bits)) as usize;
            while cells[at] != 0 {
                at = (at + 1) & mask;
            }
            cells[at] = cell;
        }
        *self = Slots { cells, bits };
    }

    /// The group of a key, or `next` in a new cell. There is a free cell.
    #[inline]
    pub fn find_or_insert(&mut self, tag: Tag, next: u32, same: impl Fn(u32) -> bool) -> u32 {
        let mask = self.cells.len() - 1;
        let cells = self.cells.as_mut_slice();
        let at = (spread(tag) >> (32 - self.bits)) as usize;
        let near = [cells[at & mask], cells[(at + 1) & mask], cells[(at + 2) & mask]];
        let like = near.iter().any(|cell| (cell >> 32) as u32 == tag);
        // Most keys that come here are new and have a free cell near by: found without a guess of the processor.
        let (second, third) = (near[0] != 0, (near[0] != 0) & (near[1] != 0));
        let free = (at + usize::from(second) + usize::from(third)) & mask;
        if !like && cells[free] == 0 {
            cells[free] = u64::from(tag) << 32 | u64::from(next + 1);
            return next;
        }
        Self::search(cells, at, tag, next, same)
    }

    /// The groups of keys that may be here, or [`NONE`]: `same` compares one of these with one of those. There is a cell.
    pub fn find(&self, from: &[(Tag, u32)], same: impl Fn(u32, u32) -> bool) -> Vec<u32> {
        let mut found = vec![NONE; from.len()];
        let (cells, mask) = (self.cells.as_slice(), self.cells.len() - 1);
        let mut first = [0; BLOCK];
        for (from, found) in from.chunks(BLOCK).zip(found.chunks_mut(BLOCK)) {
            // The first cells are read all at once, so that their cache misses overlap.
            for (&(tag, _), first) in from.iter().zip(&mut first) {
                *first = cells[(spread(tag) >> (32 - self.bits)) as usize];
            }
            for (&(tag, there), (found, &first)) in from.iter().zip(found.iter_mut().zip(&first)) {
                let (mut at, mut cell) = ((spread(tag) >> (32 - self.bits)) as usize, first);
                while cell != 0 {
                    let group = cell as u32 - 1;
                    if (cell >> 32) as u32 == tag && same(group, there) {
                        *found = group;
                        break;
                    }
                    at = (at + 1) & mask;
                    cell = cells[at];
                }
            }
        }
        found
    }

    fn search(cells: &mut [u64], mut at: usize, tag: Tag, next: u32, same: impl Fn(u32) -> bool) -> u32 {
        let mask = cells.len() - 1;
        loop {
            let cell = cells[at & mask];
            if cell == 0 {
                cells[at & mask] = u64::from(tag) << 32 | u64::from(next + 1);
                return next;
            }
            let group = cell as u32 - 1;
            if (cell >> 32) as u32 == tag && same(group) {
                return group;
            }
            at += 1;
        }
    }
}
