//! The hash table beneath indexes of keys: from a key's hash to the number under which its owner keeps the key.
//!
//! Open addressing with linear probing over cells of 8 bytes: the lower half of the key's hash (its tag) and the number
//! plus one. The upper half has the key group, which the keys of a shard share. A cell's place follows from its tag, so
//! that growing and closing up the gap of a removed key need no keys.

use crate::key::KeyHash;

/// The lower half of a key hash.
type Tag = u32;

/// The least number of cells is 2 to the power of this.
const BITS_MIN: u32 = 3;

/// Numbers by hash; several keys may have the same hash.
#[derive(Debug, Clone)]
pub(super) struct Cells {
    /// `tag << 32 | number + 1`; 0 is free. A power of two of them, at least one of them free.
    cells: Vec<u64>,
    bits: u32,
}

/// Spreads tags over the table, also those of poor hashes.
#[inline]
fn home(tag: Tag, bits: u32) -> usize {
    (tag.wrapping_mul(0x9e37_79b1) >> (32 - bits)) as usize
}

#[inline]
fn cell_of(hash: KeyHash, number: u32) -> u64 {
    hash << 32 | u64::from(number + 1)
}

impl Cells {
    /// Cells that take that many entries before they grow.
    pub fn with_capacity(entries: usize) -> Self {
        let bits = (entries * 8).div_ceil(5).next_power_of_two().trailing_zeros().clamp(BITS_MIN, 31);
        Cells { cells: vec![0; 1 << bits], bits }
    }

    pub fn bytes(&self) -> usize {
        self.cells.capacity() * size_of::<u64>()
    }

    /// The number whose tag fits, of the three cells where most entries lie; without a guess of the processor. Of two
    /// that fit it is some mixture, which is no key's or another's; none: `u32::MAX`.
    #[inline]
    pub fn guess(&self, hash: KeyHash) -> u32 {
        let (mask, at) = (self.cells.len() - 1, home(hash as Tag, self.bits));
        let pick = |at: usize| {
            let cell = self.cells[at & mask];
            let fits = u64::from((cell >> 32) as Tag ^ hash as Tag).wrapping_sub(1) >> 32;
            cell as u32 & fits as u32
        };
        (pick(at) | pick(at + 1) | pick(at + 2)).wrapping_sub(1)
    }

    /// The number that has this hash and is the `same` key, or the free cell where it belongs.
    #[inline]
    pub fn search(&self, hash: KeyHash, same: impl Fn(u32) -> bool) -> Result<u32, usize> {
        let mask = self.cells.len() - 1;
        let mut at = home(hash as Tag, self.bits);
        loop {
            let cell = self.cells[at & mask];
            if cell == 0 {
                return Err(at & mask);
            }
            let number = cell as u32 - 1;
            if (cell >> 32) as Tag == hash as Tag && same(number) {
                return Ok(number);
            }
            at += 1;
        }
    }

    /// Fills the free cell `at` that a search found. `entries`: how many there are now.
    #[inline]
    pub fn put(&mut self, at: usize, hash: KeyHash, number: u32, entries: usize) {
        self.cells[at] = cell_of(hash, number);
        if entries * 8 > self.cells.len() * 5 {
            self.grow();
        }
    }

    /// Takes out an entry, which is there.
    pub fn remove(&mut self, hash: KeyHash, number: u32) {
        let (mask, cell) = (self.cells.len() - 1, cell_of(hash, number));
        let mut gap = home(hash as Tag, self.bits);
        while self.cells[gap] != cell {
            gap = (gap + 1) & mask;
        }
        // Cells behind the gap that would not be found beyond it move up.
        let mut at = gap;
        loop {
            at = (at + 1) & mask;
            let cell = self.cells[at];
            if cell == 0 {
                break;
            }
            let distance = at.wrapping_sub(home((cell >> 32) as Tag, self.bits)) & mask;
            if distance >= at.wrapping_sub(gap) & mask {
                self.cells[gap] = cell;
                gap = at;
            }
        }
        self.cells[gap] = 0;
    }

    #[cold]
    fn grow(&mut self) {
        let bits = self.bits + 1;
        let mut cells = vec![0; 1 << bits];
        let mask = cells.len() - 1;
        for &cell in self.cells.iter().filter(|&&cell| cell != 0) {
            let mut at = home((cell >> 32) as Tag, bits);
            while cells[at] != 0 {
                at = (at + 1) & mask;
            }
            cells[at] = cell;
        }
        *self = Cells { cells, bits };
    }
}
