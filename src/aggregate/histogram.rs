//! HISTOGRAM: ours, counts of values by bins of equal width.

use std::any::Any;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Int64Array, ListArray};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType as ArrowType, Field};

use super::variance::doubles;
use super::{Accumulator, Setting, same, selected, values};
use crate::arena::ArenaVec;
use crate::error::{Error, Result};
use crate::snapshot::Archive;

pub(super) struct Histogram {
    low: f64,
    high: f64,
    bins: usize,
    /// For each group: what lies below the bins, each bin, what lies above.
    counts: ArenaVec<i64>,
}

impl Histogram {
    pub(super) fn new(setting: &Setting) -> Result<Self> {
        match *setting {
            Setting::Bins { low, high, count } if count > 0 && low < high => {
                Ok(Histogram { low, high, bins: count as usize, counts: ArenaVec::new() })
            }
            _ => Err(Error::internal("a histogram without bins")),
        }
    }

    fn width(&self) -> usize {
        self.bins + 2
    }

    /// The place of a value among the counts of its group; NaN has none.
    fn bin(&self, value: f64) -> Option<usize> {
        if value.is_nan() {
            return None;
        }
        if value < self.low {
            return Some(0);
        }
        if value >= self.high {
            return Some(self.bins + 1);
        }
        // Half of each, so that the difference of two large numbers stays finite.
        let part = (value / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0);
        Some(((part * self.bins as f64) as usize).min(self.bins - 1) + 1)
    }

    /// Adds the counts of groups of another, `sign` times.
    fn combine(&mut self, other: &dyn Accumulator, from: &[u32], to: &[u32], sign: i64) -> Result<()> {
        let (other, width) = (same::<Histogram>(other)?, self.width());
        for (&from, &to) in from.iter().zip(to) {
            let theirs = &other.counts[from as usize * width..][..width];
            let mine = &mut self.counts[to as usize * width..][..width];
            mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += sign * theirs);
        }
        Ok(())
    }
}

impl Accumulator for Histogram {
    fn resize(&mut self, groups: usize) {
        self.counts.resize_zeroed(groups * self.width());
    }
    fn update(&mut self, groups: &[u32], args: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<()> {
        let numbers = doubles(values(args, groups)?)?;
        let (mask, width) = (selected(args, filter), self.width());
        for (row, &group) in groups.iter().enumerate() {
            if mask.as_ref().is_some_and(|mask| !mask.value(row)) {
                continue;
            }
            if let Some(bin) = self.bin(numbers[row]) {
                self.counts[group as usize * width + bin] += 1;
            }
        }
        Ok(())
    }
    fn merge(&mut self, other: &dyn Accumulator, from: &[u32], to: &[u32]) -> Result<()> {
        self.combine(other, from, to, 1)
    }
    fn invertible(&self) -> bool {
        true
    }
    fn retract(&mut self, other: &dyn Accumulator, from: &[u32], to: &[u32]) -> Result<()> {
        self.combine(other, from, to, -1)
    }
    fn reset(&mut self, groups: &[u32]) {
        let width = self.width();
        for &group in groups {
            self.counts[group as usize * width..][..width].fill(0);
        }
    }
    fn result(&self, groups: &[u32]) -> Result<ArrayRef> {
        let width = self.width();
        if i32::try_from(groups.len() * width).is_err() {
            return Err(Error::data("the arrays of one result column have more than 2^31 elements"));
        }
        let mut counts = Vec::with_capacity(groups.len() * width);
        for &group in groups {
            counts.extend_from_slice(&self.counts[group as usize * width..][..width]);
        }
        let field = Arc::new(Field::new("element", ArrowType::Int64, true));
        let offsets = OffsetBuffer::from_repeated_length(width, groups.len());
        Ok(Arc::new(ListArray::new(field, offsets, Arc::new(Int64Array::from(counts)), None)))
    }
    fn bytes(&self) -> usize {
        self.counts.bytes()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        archive.cells(&mut self.counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_has_one_bin() {
        let histogram = Histogram::new(&Setting::Bins { low: -10.0, high: 10.0, count: 4 }).unwrap();
        let bin = |value: f64| histogram.bin(value);
        assert_eq!((bin(-10.1), bin(-10.0), bin(-5.0), bin(9.99)), (Some(0), Some(1), Some(2), Some(4)));
        assert_eq!((bin(10.0), bin(f64::INFINITY), bin(f64::NAN)), (Some(5), Some(5), None));
        let wide = Histogram::new(&Setting::Bins { low: f64::MIN, high: f64::MAX, count: 2 }).unwrap();
        assert_eq!((wide.bin(-1e300), wide.bin(1e300)), (Some(1), Some(2)));
        assert!(Histogram::new(&Setting::None).is_err());
    }
}
