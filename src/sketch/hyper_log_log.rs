//! How many different values there are, from their hashes: HyperLogLog (Flajolet, Fusy, Gandouet and Meunier, 2007).
//!
//! The estimate is Ertl's improved one ("New cardinality estimation algorithms for HyperLogLog sketches", 2017), which
//! needs no tables against bias. Small sketches are kept sparse, as in HyperLogLog++ (Heule, Nunkesser and Hall, 2013).

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Bits of a hash that pick the register of a sparse entry. The other six bits of an entry hold its rank.
const SPARSE_BITS: u32 = 26;
const RANK_BITS: u32 = 6;
/// Entries are kept sorted: more of them would take longer to move than a register takes to set.
const SPARSE_ENTRIES_MAX: usize = 8_192;

/// A register holds the highest rank (leading zeros of a hash, and one) that it has seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum Registers {
    /// Ascending entries of a sketch with 2^26 registers, one for each that is not 0: its number, then its rank.
    Sparse(Vec<u32>),
    Dense(Box<[u8]>),
}

/// Estimates the number of different values. Add their hashes, 64 bits that are well mixed.
///
/// The standard error is 1.04 / √(2^precision), 0.8 % with the default of 14; up to some thousand different values the
/// answer is as good as exact. Merging is exact: parts give what the whole gives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HyperLogLog {
    precision: u32,
    registers: Registers,
}

impl Default for HyperLogLog {
    fn default() -> Self {
        HyperLogLog { precision: Self::PRECISION_DEFAULT, registers: Registers::Sparse(Vec::new()) }
    }
}

impl HyperLogLog {
    /// 16 KiB when dense, 0.8 % standard error.
    pub const PRECISION_DEFAULT: u32 = 14;
    pub const PRECISION_MIN: u32 = 4;
    pub const PRECISION_MAX: u32 = 18;

    /// A sketch of 2^`precision` registers, a byte each.
    ///
    /// # Errors
    /// Kind Usage for a precision outside 4 to 18.
    pub fn new(precision: u32) -> Result<Self> {
        if !(Self::PRECISION_MIN..=Self::PRECISION_MAX).contains(&precision) {
            let (min, max) = (Self::PRECISION_MIN, Self::PRECISION_MAX);
            return Err(Error::usage(format!(
                "expected a HyperLogLog precision from {min} to {max}, found {precision}"
            ))
            .help("14 takes 16 KiB and has a standard error of 0.8 %; each step doubles the one"));
        }
        Ok(HyperLogLog { precision, registers: Registers::Sparse(Vec::new()) })
    }

    pub fn precision(&self) -> u32 {
        self.precision
    }

    /// The standard error of [`estimate`](Self::estimate), as a share of the true number.
    pub fn standard_error(&self) -> f64 {
        1.04 / f64::from(1u32 << self.precision).sqrt()
    }

    /// Adds a value by its hash.
    #[inline]
    pub fn add(&mut self, hash: u64) {
        match &mut self.registers {
            Registers::Dense(registers) => {
                let rank = (hash << self.precision).leading_zeros().min(64 - self.precision) + 1;
                raise(registers, (hash >> (64 - self.precision)) as usize, rank);
            }
            Registers::Sparse(entries) => {
                let rank = (hash << SPARSE_BITS).leading_zeros().min(64 - SPARSE_BITS) + 1;
                insert(entries, ((hash >> (64 - SPARSE_BITS)) as u32) << RANK_BITS | rank);
                self.densify_if_full();
            }
        }
    }

    /// Adds all values that `other` has seen. Of different precisions the lower one is left.
    pub fn merge(&mut self, other: &Self) {
        if other.precision < self.precision {
            self.lower_precision(other.precision);
        }
        match (&mut self.registers, &other.registers) {
            (Registers::Sparse(mine), Registers::Sparse(theirs)) => *mine = union(mine, theirs),
            (Registers::Sparse(mine), Registers::Dense(_)) => {
                let mut registers = empty(self.precision);
                raise_from_sparse(&mut registers, mine, self.precision);
                raise_from(&mut registers, other, self.precision);
                self.registers = Registers::Dense(registers);
            }
            (Registers::Dense(mine), _) => raise_from(mine, other, self.precision),
        }
        self.densify_if_full();
    }

    /// Appends all that it knows, as numbers.
    pub(crate) fn append_to(&self, words: &mut Vec<u32>) {
        match &self.registers {
            Registers::Sparse(entries) => {
                words.extend([self.precision, 0, entries.len() as u32]);
                words.extend(entries);
            }
            Registers::Dense(registers) => {
                words.extend([self.precision, 1, registers.len() as u32]);
                words.extend(registers.iter().map(|&register| u32::from(register)));
            }
        }
    }

    /// A sketch from what [`append_to`](Self::append_to) wrote, which is taken from the front; `None` if it is no such thing.
    pub(crate) fn read_from(words: &mut &[u32]) -> Option<Self> {
        let (&[precision, dense, length], rest) = words.split_first_chunk()?;
        let mut sketch = HyperLogLog::new(precision).ok()?;
        let (registers, rest) = rest.split_at_checked(length as usize)?;
        if dense == 0 {
            sketch.registers = Registers::Sparse(registers.to_vec());
        } else {
            let registers = registers.iter().map(|&register| register as u8).collect();
            sketch.registers = Registers::Dense(registers);
            if length != 1 << precision {
                return None;
            }
        }
        *words = rest;
        Some(sketch)
    }

    /// The number of different values, about.
    pub fn estimate(&self) -> f64 {
        match &self.registers {
            Registers::Sparse(entries) => linear_count(entries.len()),
            Registers::Dense(registers) => improved_estimate(registers, self.precision),
        }
    }

    /// [`estimate`](Self::estimate), rounded.
    pub fn count(&self) -> u64 {
        self.estimate().round() as u64
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> usize {
        let registers = match &self.registers {
            Registers::Sparse(entries) => entries.capacity() * size_of::<u32>(),
            Registers::Dense(registers) => registers.len(),
        };
        size_of::<Self>() + registers
    }

    fn densify_if_full(&mut self) {
        if let Registers::Sparse(entries) = &self.registers
            && entries.len() > ((1usize << self.precision) / 4).min(SPARSE_ENTRIES_MAX)
        {
            let mut registers = empty(self.precision);
            raise_from_sparse(&mut registers, entries, self.precision);
            self.registers = Registers::Dense(registers);
        }
    }

    fn lower_precision(&mut self, precision: u32) {
        if matches!(self.registers, Registers::Dense(_)) {
            let mut registers = empty(precision);
            raise_from(&mut registers, self, precision);
            self.registers = Registers::Dense(registers);
        }
        self.precision = precision;
        self.densify_if_full();
    }
}

fn empty(precision: u32) -> Box<[u8]> {
    vec![0; 1 << precision].into_boxed_slice()
}

#[inline]
fn raise(registers: &mut [u8], index: usize, rank: u32) {
    if let Some(register) = registers.get_mut(index) {
        *register = (*register).max(rank as u8);
    }
}

/// Raises registers to those of `other`, whose precision is not lower.
fn raise_from(registers: &mut [u8], other: &HyperLogLog, precision: u32) {
    match &other.registers {
        Registers::Sparse(entries) => raise_from_sparse(registers, entries, precision),
        Registers::Dense(theirs) if other.precision == precision => {
            for (mine, theirs) in registers.iter_mut().zip(theirs) {
                *mine = (*mine).max(*theirs);
            }
        }
        Registers::Dense(theirs) => {
            for (index, &rank) in theirs.iter().enumerate().filter(|(_, rank)| **rank > 0) {
                let (index, rank) = coarsen(index as u32, u32::from(rank), other.precision - precision);
                raise(registers, index as usize, rank);
            }
        }
    }
}

fn raise_from_sparse(registers: &mut [u8], entries: &[u32], precision: u32) {
    for entry in entries {
        let rank = entry & ((1 << RANK_BITS) - 1);
        let (index, rank) = coarsen(entry >> RANK_BITS, rank, SPARSE_BITS - precision);
        raise(registers, index as usize, rank);
    }
}

/// Register and rank in a sketch whose precision is `bits` lower: these bits of the hash now count for the rank.
fn coarsen(index: u32, rank: u32, bits: u32) -> (u32, u32) {
    let low = index & ((1 << bits) - 1);
    let rank = if low == 0 { bits + rank } else { bits - low.ilog2() };
    (index >> bits, rank)
}

fn insert(entries: &mut Vec<u32>, entry: u32) {
    let place = entries.partition_point(|e| e >> RANK_BITS < entry >> RANK_BITS);
    match entries.get_mut(place) {
        Some(there) if *there >> RANK_BITS == entry >> RANK_BITS => *there = (*there).max(entry),
        _ => entries.insert(place, entry),
    }
}

/// All entries of two ascending lists, of the same register the one with the higher rank.
fn union(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut all: Vec<u32> = Vec::with_capacity(a.len() + b.len());
    let (mut a, mut b) = (a.iter().copied().peekable(), b.iter().copied().peekable());
    while let Some(entry) = match (a.peek(), b.peek()) {
        (Some(x), Some(y)) if x <= y => a.next(),
        (Some(_), None) => a.next(),
        _ => b.next(),
    } {
        match all.last_mut() {
            Some(last) if *last >> RANK_BITS == entry >> RANK_BITS => *last = entry,
            _ => all.push(entry),
        }
    }
    all.shrink_to_fit();
    all
}

/// How many values filled `used` of 2^26 registers (Whang, Vander-Zanden and Taylor, 1990).
fn linear_count(used: usize) -> f64 {
    let registers = f64::from(1u32 << SPARSE_BITS);
    -registers * (-(used as f64) / registers).ln_1p()
}

/// Algorithm 6 of Ertl's paper.
fn improved_estimate(registers: &[u8], precision: u32) -> f64 {
    let m = registers.len() as f64;
    let highest = (64 - precision + 1) as usize;
    let mut counts = [0u32; 64];
    for &rank in registers {
        counts[usize::from(rank).min(highest)] += 1;
    }
    let mut z = m * tau(1.0 - f64::from(counts[highest]) / m);
    for &count in counts[1..highest].iter().rev() {
        z = 0.5 * (z + f64::from(count));
    }
    z += m * sigma(f64::from(counts[0]) / m);
    m * m / (2.0 * std::f64::consts::LN_2 * z)
}

/// x + Σ x^(2^k) 2^(k−1), the share of empty registers. Ends where another term changes nothing.
fn sigma(x: f64) -> f64 {
    if x >= 1.0 {
        return f64::INFINITY;
    }
    let (mut x, mut y, mut z) = (x, 1.0, x);
    loop {
        x *= x;
        let before = z;
        z += x * y;
        y += y;
        if z == before {
            return z;
        }
    }
}

/// (1 − x − Σ (1 − x^(2^−k))² 2^−k) / 3, the share of registers that are as high as they can be.
fn tau(x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return 0.0;
    }
    let (mut x, mut y, mut z) = (x, 1.0, 1.0 - x);
    loop {
        x = x.sqrt();
        let before = z;
        y *= 0.5;
        z -= (1.0 - x) * (1.0 - x) * y;
        if z == before {
            return z / 3.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn of(precision: u32, hashes: impl IntoIterator<Item = u64>) -> HyperLogLog {
        let mut sketch = HyperLogLog::new(precision).expect("a good precision");
        hashes.into_iter().for_each(|hash| sketch.add(hash));
        sketch
    }

    fn hashes(seed: u64, count: usize) -> Vec<u64> {
        let mut random = Random::new(seed);
        (0..count).map(|_| random.next()).collect()
    }

    #[test]
    fn estimates_stay_near_the_truth_at_every_precision_and_size() {
        for precision in HyperLogLog::PRECISION_MIN..=HyperLogLog::PRECISION_MAX {
            for count in [0, 1, 2, 10, 100, 1_000, 10_000, 40_000] {
                let runs = 6;
                let mut bias = 0.0;
                for seed in 0..runs {
                    let sketch = of(precision, hashes(seed + 1, count));
                    let error = (sketch.estimate() - count as f64) / (count as f64).max(1.0);
                    assert!(error.abs() < 5.0 * sketch.standard_error(), "{precision} {count} {seed}: {error}");
                    bias += error / runs as f64;
                }
                let bound = 4.0 * 1.04 / f64::from(1u32 << precision).sqrt() / (runs as f64).sqrt();
                assert!(bias.abs() < bound, "{precision} {count}: bias {bias}");
            }
        }
    }

    #[test]
    fn few_values_are_counted_exactly_and_take_few_bytes() {
        for count in [0, 1, 5, 50, 500] {
            let sketch = of(14, hashes(7, count).repeat(3));
            assert_eq!(sketch.count(), count as u64);
            assert!(sketch.bytes() <= size_of::<HyperLogLog>() + 8 * count.max(4), "{count}: {}", sketch.bytes());
        }
        assert!(of(14, hashes(7, 50_000)).bytes() < 17_000);
    }

    #[test]
    fn parts_merged_in_any_grouping_are_the_whole() {
        for precision in [4, 9, 14, 18] {
            for sizes in [[0, 3, 2], [10, 900, 4], [3_000, 2_000, 20_000], [30_000, 5, 1]] {
                let parts: Vec<Vec<u64>> = sizes.iter().zip(1..).map(|(&size, seed)| hashes(seed, size)).collect();
                let whole = of(precision, parts.concat());
                let [a, b, c] = [0, 1, 2].map(|part| of(precision, parts[part].iter().copied()));
                let (mut left, mut right, mut last) = (a.clone(), b.clone(), c.clone());
                left.merge(&b);
                left.merge(&c);
                right.merge(&c);
                let mut first = a.clone();
                first.merge(&right);
                last.merge(&a);
                last.merge(&b);
                assert_eq!([&left, &first, &last], [&whole; 3], "{precision} {sizes:?}");
            }
        }
    }

    #[test]
    fn of_different_precisions_the_lower_one_is_left() {
        for size in [20, 50_000] {
            let (some, others) = (hashes(1, size), hashes(2, size));
            let whole = of(10, [some.clone(), others.clone()].concat());
            let mut fine = of(14, some.clone());
            fine.merge(&of(10, others.clone()));
            let mut coarse = of(10, some);
            coarse.merge(&of(14, others));
            assert_eq!([&fine, &coarse], [&whole; 2]);
        }
    }

    #[test]
    fn a_precision_out_of_range_is_refused() {
        for precision in [0, 3, 19, 64] {
            let error = HyperLogLog::new(precision).expect_err("out of range");
            assert_eq!(error.message(), format!("expected a HyperLogLog precision from 4 to 18, found {precision}"));
        }
    }
}
