//! The slices that there are, in order.

use std::collections::VecDeque;

use super::column::Column;

/// The elements of some keys in one slice of time.
pub(super) struct Slice<A> {
    pub number: i64,
    /// The ends of the first and the last window that have it.
    pub ends: (i64, i64),
    pub column: Column<A>,
    /// For a slice in front of the seam of a window (see [`Assembly`](super::assembly::Assembly)): each key's
    /// accumulator merged with those of its later slices up to the seam. Where no firing needs the slice alone any more,
    /// `column` itself becomes that, and this stays empty.
    pub suffix: Column<A>,
    /// For the same slices: the key's next slice before the seam.
    pub next: Column<i64>,
}

impl<A> Slice<A> {
    pub fn new(number: i64, ends: (i64, i64)) -> Self {
        let (column, suffix, next) = (Column::default(), Column::default(), Column::default());
        Slice { number, ends, column, suffix, next }
    }
    /// The accumulators up to the seam. `keeps`: slices are kept alone too.
    pub fn sums(&self, keeps: bool) -> &Column<A> {
        if keeps { &self.suffix } else { &self.column }
    }
    pub fn sums_mut(&mut self, keeps: bool) -> &mut Column<A> {
        if keeps { &mut self.suffix } else { &mut self.column }
    }
    fn bytes(&self) -> usize {
        self.column.bytes() + self.suffix.bytes() + self.next.bytes()
    }
}

/// Slices by number, ascending.
pub(super) struct Slices<A>(VecDeque<Slice<A>>);

impl<A> Slices<A> {
    pub fn new() -> Self {
        Slices(VecDeque::new())
    }
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    pub fn len(&self) -> usize {
        self.0.len()
    }
    pub fn iter(&self) -> impl Iterator<Item = &Slice<A>> {
        self.0.iter()
    }
    pub fn accumulators(&self) -> usize {
        self.0.iter().map(|slice| slice.column.len()).sum()
    }
    pub fn bytes(&self) -> usize {
        let columns: usize = self.0.iter().map(Slice::bytes).sum();
        columns + self.0.capacity() * size_of::<Slice<A>>()
    }

    pub fn at(&self, position: usize) -> &Slice<A> {
        &self.0[position]
    }
    pub fn at_mut(&mut self, position: usize) -> &mut Slice<A> {
        &mut self.0[position]
    }
    /// Where slice `number` is, or where it belongs.
    pub fn find(&self, number: i64) -> Result<usize, usize> {
        // Most are the newest or near it.
        match self.0.back() {
            Some(last) if last.number == number => Ok(self.0.len() - 1),
            Some(last) if last.number < number => Err(self.0.len()),
            _ => self.0.binary_search_by_key(&number, |slice| slice.number),
        }
    }
    pub fn insert(&mut self, position: usize, slice: Slice<A>) {
        self.0.insert(position, slice);
    }
    /// Positions of the slices from number `from` up to `to`, without `to`.
    pub fn range(&self, from: i64, to: i64) -> std::ops::Range<usize> {
        let position = |number| self.0.partition_point(|slice| slice.number < number);
        position(from)..position(to).max(position(from))
    }
    /// The first slice with a window that ends behind `end`.
    pub fn first_behind(&self, end: i64) -> Option<&Slice<A>> {
        self.0.get(self.0.partition_point(|slice| slice.ends.1 <= end))
    }
    /// Takes out the first slice, if all its windows end at `end` or before.
    pub fn pop_until(&mut self, end: i64) -> Option<Slice<A>> {
        if self.0.front()?.ends.1 > end {
            return None;
        }
        let slice = self.0.pop_front();
        if self.0.len() * 4 < self.0.capacity() {
            self.0.shrink_to(self.0.len() * 2);
        }
        slice
    }
}
