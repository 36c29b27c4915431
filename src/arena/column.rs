//! A growable column of fixed-width cells.

use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use super::SharedBytes;
use super::mapping::Stored;
use super::region::{ALIGN, Region};

mod sealed {
    pub trait Sealed {}
}

/// A cell type: plain bits, every pattern valid, all zeros a value.
pub trait Pod: Copy + Send + Sync + 'static + sealed::Sealed {}

macro_rules! pod {
    ($($type:ty),*) => { $(impl sealed::Sealed for $type {} impl Pod for $type {})* };
}
pod!(u8, u16, u32, u64, i8, i16, i32, i64, i128, u128, f32, f64, [u32; 2], [u64; 2], [i64; 2]);

/// A growable column of `T` in a region of its own; reads like a slice.
///
/// Growing doubles; [`ArenaVec::clear`] keeps the memory, dropping gives it back (large ones to the thread's pool).
pub struct ArenaVec<T: Pod> {
    region: Region,
    len: usize,
    cells: PhantomData<T>,
}

impl<T: Pod> Default for ArenaVec<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Pod> ArenaVec<T> {
    const WIDTH: usize = size_of::<T>();

    pub const fn new() -> Self {
        const { assert!(align_of::<T>() <= ALIGN && size_of::<T>() > 0) };
        ArenaVec { region: Region::empty(), len: 0, cells: PhantomData }
    }

    pub fn len(&self) -> usize {
        self.len
    }
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// Bytes of memory that the column holds.
    pub fn bytes(&self) -> usize {
        self.region.held()
    }

    /// The cells as they are now, for others to read: the memory is not copied before it is written to. None for a column
    /// that is cheap to copy.
    pub fn share(&mut self) -> Option<SharedBytes> {
        self.region.share().map(|frozen| SharedBytes { frozen, len: self.len * Self::WIDTH })
    }

    /// Moves the cells into a file at `offset`, a multiple of the size of a page: how many bytes these were, 0 where they
    /// are in a file or few. They read and write as before, and count as memory no more. What is written to them later
    /// does not go to the file.
    ///
    /// # Errors
    /// Those of the system; then nothing has changed.
    pub fn spill(&mut self, file: &File, offset: u64) -> io::Result<usize> {
        let used = self.len * Self::WIDTH;
        self.region.spill(used, file, offset).map(|spilled| if spilled { used } else { 0 })
    }

    pub fn as_slice(&self) -> &[T] {
        // SAFETY: cells [0, len) were written or are zeroed memory, every bit pattern is a T, the region is aligned
        // and lives as long as self.
        unsafe { std::slice::from_raw_parts(self.region.pointer().as_ptr().cast::<T>(), self.len) }
    }
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        self.own();
        // SAFETY: as above, and `&mut self` makes the access exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.region.pointer().as_ptr().cast::<T>(), self.len) }
    }

    /// Takes over the cells that these bytes are, which are a whole number of them.
    pub(super) fn take(&mut self, bytes: Stored) {
        let len = bytes.len() / Self::WIDTH;
        match Region::stored(bytes) {
            Ok(region) => *self = ArenaVec { region, len, cells: PhantomData },
            Err(bytes) => {
                let mut region = Region::of(bytes.len());
                region.fill(bytes.bytes());
                *self = ArenaVec { region, len, cells: PhantomData };
            }
        }
    }

    /// Before cells are written: the memory is shared with nobody.
    #[inline]
    fn own(&mut self) {
        self.region.own(self.len * Self::WIDTH);
    }

    fn reserve(&mut self, len: usize) {
        self.own();
        let bytes = len.saturating_mul(Self::WIDTH);
        if bytes > self.region.capacity() {
            let old = std::mem::replace(&mut self.region, Region::empty());
            self.region = old.grown(bytes, self.len * Self::WIDTH);
        }
        self.region.soil(bytes);
    }

    #[inline]
    pub fn push(&mut self, value: T) {
        let len = self.len + 1;
        if len * Self::WIDTH > self.region.dirty() {
            // Soil ahead, so that most pushes see neither branch.
            self.reserve((len + 64).min((self.region.capacity() / Self::WIDTH).max(len)));
        }
        // SAFETY: `reserve` made room for cell `len - 1`.
        unsafe { self.region.pointer().as_ptr().cast::<T>().add(self.len).write(value) };
        self.len = len;
    }

    pub fn extend_from_slice(&mut self, values: &[T]) {
        let len = self.len + values.len();
        self.reserve(len);
        let old = std::mem::replace(&mut self.len, len);
        self.as_mut_slice()[old..].copy_from_slice(values);
    }

    /// Sets the length; new cells hold `value`.
    pub fn resize(&mut self, len: usize, value: T) {
        let old = self.len;
        if len > old {
            self.reserve(len);
        }
        self.len = len;
        if len > old {
            self.as_mut_slice()[old..].fill(value);
        }
    }

    /// Sets the length; new cells are zero. Fresh memory is not touched.
    pub fn resize_zeroed(&mut self, len: usize) {
        let old = self.len;
        if len <= old {
            self.len = len;
            return;
        }
        self.own();
        if len * Self::WIDTH > self.region.capacity() {
            let region = std::mem::replace(&mut self.region, Region::empty());
            self.region = region.grown(len * Self::WIDTH, old * Self::WIDTH);
        }
        let soiled = self.region.dirty().min(len * Self::WIDTH);
        let from = old * Self::WIDTH;
        if soiled > from {
            // SAFETY: bytes [from, soiled) lie within the capacity; all zeros is a valid T.
            unsafe { self.region.pointer().as_ptr().add(from).write_bytes(0, soiled - from) };
        }
        self.region.soil(len * Self::WIDTH);
        self.len = len;
    }

    /// Empties the column and keeps its memory.
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// `f(cell, value)` for the cell of each row's group. One bounds check for all rows, none in the loop.
    ///
    /// # Panics
    /// If a group is out of range or there are fewer values than groups.
    #[inline]
    pub fn scatter<V: Copy>(&mut self, groups: &[u32], values: &[V], mut f: impl FnMut(&mut T, V)) {
        self.check(groups);
        assert!(values.len() >= groups.len(), "{} values for {} rows", values.len(), groups.len());
        self.own();
        let cells = self.region.pointer().as_ptr().cast::<T>();
        for (&group, &value) in groups.iter().zip(values) {
            // SAFETY: `check` saw that all groups are below `len`.
            f(unsafe { &mut *cells.add(group as usize) }, value);
        }
    }

    /// `f(cell)` for the cell of each row's group.
    ///
    /// # Panics
    /// If a group is out of range.
    #[inline]
    pub fn touch(&mut self, groups: &[u32], mut f: impl FnMut(&mut T)) {
        self.check(groups);
        self.own();
        let cells = self.region.pointer().as_ptr().cast::<T>();
        for &group in groups {
            // SAFETY: `check` saw that all groups are below `len`.
            f(unsafe { &mut *cells.add(group as usize) });
        }
    }

    /// `f(cell, cell of other)` for each pair of groups.
    ///
    /// # Panics
    /// If a group is out of range or the lists differ in length.
    #[inline]
    pub fn combine(&mut self, to: &[u32], other: &ArenaVec<T>, from: &[u32], mut f: impl FnMut(&mut T, T)) {
        self.check(to);
        other.check(from);
        assert!(to.len() == from.len(), "pairs of groups");
        self.own();
        let (cells, others) = (self.region.pointer().as_ptr().cast::<T>(), other.as_slice().as_ptr());
        for (&to, &from) in to.iter().zip(from) {
            // SAFETY: both lists were checked against their columns, which are different: one is borrowed mutably.
            unsafe { f(&mut *cells.add(to as usize), *others.add(from as usize)) };
        }
    }

    /// The cells of the groups, in their order.
    ///
    /// # Panics
    /// If a group is out of range.
    #[inline]
    pub fn gather<V>(&self, groups: &[u32], mut f: impl FnMut(T) -> V) -> Vec<V> {
        self.check(groups);
        let cells = self.as_slice().as_ptr();
        // SAFETY: `check` saw that all groups are below `len`.
        groups.iter().map(|&group| f(unsafe { *cells.add(group as usize) })).collect()
    }

    /// `out[i] = f(tags[i], [cell, next, next but one])`, for the cell at the top bits of `spread(tags[i])`; the
    /// column is a ring of 2^bits cells. The first look into a hash table, for many keys at once.
    ///
    /// # Panics
    /// If the column does not have 2^bits cells, `bits` is not in 1..=31, or the slices differ in length.
    #[inline]
    pub fn probe(
        &self,
        bits: u32,
        tags: &[u32],
        out: &mut [u32],
        spread: impl Fn(u32) -> u32,
        f: impl Fn(u32, [T; 3]) -> u32,
    ) {
        assert!((1..=31).contains(&bits) && self.len == 1 << bits, "a table of 2^{bits} cells");
        assert!(tags.len() == out.len(), "{} tags for {} rows", tags.len(), out.len());
        let (cells, mask) = (self.as_slice().as_ptr(), (1_usize << bits) - 1);
        for (&tag, out) in tags.iter().zip(out) {
            let at = (spread(tag) >> (32 - bits)) as usize;
            // SAFETY: all three places are masked to below 2^bits = len.
            let near = unsafe { [*cells.add(at & mask), *cells.add((at + 1) & mask), *cells.add((at + 2) & mask)] };
            *out = f(tag, near);
        }
    }

    /// Writes the rows whose group is out of range or whose group's cell is not the expected value to the front of
    /// `out`, in order, and says how many there are. Without a branch that depends on the data.
    ///
    /// # Panics
    /// If the three slices differ in length, or are longer than 65536.
    #[inline]
    pub fn mismatches(&self, groups: &[u32], expected: &[T], out: &mut [u16]) -> usize
    where
        T: PartialEq,
    {
        let rows = groups.len();
        assert!(rows == expected.len() && rows <= out.len() && rows <= 1 << 16, "rows of one block");
        let Some(last) = self.len.checked_sub(1) else {
            out[..rows].iter_mut().enumerate().for_each(|(row, out)| *out = row as u16);
            return rows;
        };
        let cells = self.as_slice().as_ptr();
        let mut missed = 0;
        for (row, (&group, value)) in groups.iter().zip(expected).enumerate() {
            let group = group as usize;
            // SAFETY: the group is clamped to the last cell, and `missed` <= row < rows <= out.len().
            unsafe {
                *out.get_unchecked_mut(missed) = row as u16;
                missed += usize::from((group > last) | (*cells.add(group.min(last)) != *value));
            }
        }
        missed
    }

    #[inline]
    fn check(&self, groups: &[u32]) {
        let max = groups.iter().fold(0, |max, &group| max.max(group)) as usize;
        assert!(groups.is_empty() || max < self.len, "group {max} of {}", self.len);
    }
}

impl<T: Pod> Deref for ArenaVec<T> {
    type Target = [T];
    #[inline]
    fn deref(&self) -> &[T] {
        self.as_slice()
    }
}

impl<T: Pod> DerefMut for ArenaVec<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        self.as_mut_slice()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_survive_growth_from_the_allocator_into_mappings() {
        let mut column = ArenaVec::<u64>::new();
        for i in 0..100_000 {
            column.push(i);
        }
        assert!(column.iter().copied().eq(0..100_000));
        assert!(column.bytes() >= 800_000 && column.bytes() < 1 << 20);
    }

    #[test]
    fn recycled_memory_is_zero_where_zeros_were_asked_for() {
        for _ in 0..3 {
            let mut column = ArenaVec::<u64>::new();
            column.resize(50_000, u64::MAX);
            drop(column);
            let mut column = ArenaVec::<u32>::new();
            column.resize_zeroed(10);
            column.resize_zeroed(70_000);
            assert!(column.iter().all(|&cell| cell == 0));
            column.resize(80_000, 7);
            column.resize_zeroed(75_000);
            column.resize_zeroed(90_000);
            assert!(column[70_000..75_000].iter().all(|&cell| cell == 7));
            assert!(column[75_000..].iter().all(|&cell| cell == 0));
        }
    }

    #[test]
    fn shared_cells_stay_as_they_were() {
        type Change = fn(&mut ArenaVec<u64>);
        let changes: [Change; 8] = [
            |column| column[5] = 0,
            |column| column.push(1),
            |column| column.extend_from_slice(&[1]),
            |column| column.resize(100_010, 1),
            |column| column.resize_zeroed(100_010),
            |column| column.scatter(&[3], &[1], |cell, value| *cell = value),
            |column| column.touch(&[99_999], |cell| *cell = 0),
            |column| {
                column.clear();
                column.resize(70_000, 4);
            },
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let (mut column, mut twin) = (ArenaVec::<u64>::new(), ArenaVec::<u64>::new());
            for column in [&mut column, &mut twin] {
                (0..100_000).for_each(|i| column.push(i));
            }
            let shared = column.share().unwrap();
            assert_eq!(column.share().unwrap().id(), shared.id());
            assert!(column.bytes() >= 800_000 && column.len() == 100_000);
            let before = shared.bytes().to_vec();
            [&mut column, &mut twin].into_iter().for_each(change);
            assert!(column.as_slice() == twin.as_slice() && shared.bytes() == before, "change {number}");
            assert_ne!(column.share().unwrap().id(), shared.id());
        }
    }

    #[test]
    fn spilt_cells_read_and_write_as_before() {
        let file = tempfile::tempfile().unwrap();
        let (mut column, mut few) = (ArenaVec::<u64>::new(), ArenaVec::<u64>::new());
        (0..100_000).for_each(|i| column.push(i));
        few.push(1);
        let before = column.share().unwrap();
        assert_eq!(column.spill(&file, 4_096).unwrap(), 800_000);
        assert_eq!((column.bytes(), column.share().unwrap().id()), (0, before.id()));
        assert_eq!((column.spill(&file, 0).unwrap(), few.spill(&file, 0).unwrap()), (0, 0));
        drop(before);
        assert!(column.iter().copied().eq(0..100_000));
        column[99_999] = 3;
        column.push(4);
        assert_eq!((column[99_998], column[99_999], column[100_000]), (99_998, 3, 4));
        assert_eq!(column.spill(&file, 1 << 20).unwrap(), 800_008);
        column.resize(70_000, 0);
        column.resize_zeroed(100_001);
        assert_eq!((column[69_999], column[70_000], column[100_000]), (69_999, 0, 0));
    }

    #[test]
    fn nothing_is_copied_when_nobody_reads_any_more() {
        let mut column = ArenaVec::<u64>::new();
        column.resize(100_000, 7);
        let address = column.as_slice().as_ptr();
        drop(column.share());
        column[3] = 1;
        column.push(2);
        assert_eq!(column.as_slice().as_ptr(), address);
        assert_eq!((column[2], column[3], column[100_000]), (7, 1, 2));
        assert!(ArenaVec::<u64>::new().share().is_none());
    }

    #[test]
    fn a_few_cells_cost_a_few_bytes() {
        let mut column = ArenaVec::<i64>::new();
        column.extend_from_slice(&[1, 2, 3]);
        assert!(column.bytes() <= 64, "{}", column.bytes());
        column.clear();
        assert!(column.is_empty());
    }

    #[test]
    #[should_panic(expected = "group 3 of 3")]
    fn a_group_beyond_the_column_is_caught() {
        let mut column = ArenaVec::<i64>::new();
        column.resize_zeroed(3);
        column.touch(&[0, 3], |cell| *cell += 1);
    }

    #[test]
    fn kernels_agree_with_plain_loops() {
        let mut sums = ArenaVec::<i64>::new();
        sums.resize_zeroed(3);
        sums.scatter(&[0, 2, 0], &[5, 7, 1], |cell, value| *cell += value);
        assert_eq!(sums.as_slice(), [6, 0, 7]);
        let mut other = ArenaVec::<i64>::new();
        other.extend_from_slice(&[100]);
        other.combine(&[0, 0], &sums, &[2, 0], |cell, value| *cell += value);
        assert_eq!(other.gather(&[0, 0], |v| v + 1), [114, 114]);
    }
}
