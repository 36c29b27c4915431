//! The watermark of one split, row by row.
//!
//! SQL's rule: the watermark starts at 0, takes the value of its expression after each row that
//! exceeds it, and never goes back. With an interval set it moves only when the expression has
//! advanced by more than the interval, which is the repeatable part of Flink's periodic rule
//! (the other part is a wall-clock timer).

use arrow::array::{Array, Int64Array};

use crate::time::Watermark;

/// When the watermark follows its expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatermarkRule {
    /// `pipeline.auto-watermark-interval` = 0: after every row.
    PerRow,
    /// After a row whose expression exceeds the watermark by more than this many milliseconds.
    Advance { interval_ms: i64 },
}

impl WatermarkRule {
    pub fn from_interval(interval_ms: i64) -> Self {
        if interval_ms == 0 { WatermarkRule::PerRow } else { WatermarkRule::Advance { interval_ms } }
    }

    /// True when the watermark after a block is the maximum of the one before and of something
    /// that the block alone decides, so that it can be published before the blocks ahead are known.
    pub fn is_prefix_maximum(self) -> bool {
        self == WatermarkRule::PerRow
    }

    #[inline]
    fn step(self, current: i64, value: i64) -> i64 {
        match self {
            WatermarkRule::PerRow => current.max(value),
            WatermarkRule::Advance { interval_ms } => {
                if value > current.saturating_add(interval_ms) {
                    value
                } else {
                    current
                }
            }
        }
    }

    /// The watermark after rows with these expression values (milliseconds; NULL moves nothing).
    pub fn after(self, start: Watermark, values: &Int64Array) -> Watermark {
        let mut current = start.0;
        if values.null_count() == 0 {
            for &value in values.values() {
                current = self.step(current, value);
            }
        } else {
            for value in values.iter().flatten() {
                current = self.step(current, value);
            }
        }
        Watermark(current)
    }

    /// The watermark before each row, and after the last.
    pub fn before_each(self, start: Watermark, values: &Int64Array) -> (Vec<i64>, Watermark) {
        let mut current = start.0;
        let mut before = Vec::with_capacity(values.len());
        for value in values.iter() {
            before.push(current);
            if let Some(value) = value {
                current = self.step(current, value);
            }
        }
        (before, Watermark(current))
    }
}

/// The two highest values of a split's watermark expression so far. Without the one row that has the first, the
/// watermark that follows every row would be the second: so it shows what a row from the future costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peaks {
    pub first: i64,
    /// Equal to the first where two rows have it.
    pub second: i64,
}

impl Peaks {
    /// Of no rows.
    pub const NONE: Peaks = Peaks { first: i64::MIN, second: i64::MIN };
    /// Before the first row of a split whose watermark starts there.
    pub const fn at(start: Watermark) -> Self {
        Peaks { first: start.0, second: start.0 }
    }

    pub fn of(values: &Int64Array) -> Self {
        if values.null_count() > 0 {
            return values.iter().flatten().fold(Peaks::NONE, Peaks::with);
        }
        let values = values.values();
        let first = values.iter().copied().max().unwrap_or(i64::MIN);
        // Two short loops instead of one that branches: this is done for every batch.
        let times = values.iter().filter(|&&value| value == first).count();
        let below = |&value: &i64| if value == first { i64::MIN } else { value };
        let second = if times > 1 { first } else { values.iter().map(below).max().unwrap_or(i64::MIN) };
        Peaks { first, second }
    }

    #[inline]
    fn with(self, value: i64) -> Self {
        self.and(Peaks { first: value, second: i64::MIN })
    }

    /// Those of both.
    #[inline]
    pub fn and(self, other: Peaks) -> Self {
        let second = self.first.min(other.first).max(self.second).max(other.second);
        Peaks { first: self.first.max(other.first), second }
    }

    /// The second peak before each row.
    pub fn second_before_each(mut self, values: &Int64Array) -> Vec<i64> {
        let mut before = Vec::with_capacity(values.len());
        for value in values.iter() {
            before.push(self.second);
            self = value.map_or(self, |value| self.with(value));
        }
        before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peaks_of_a_whole_are_those_of_its_parts() {
        let values = [3, 9, 9, -4, 12, 7, 12, 1, 20];
        let sorted = |part: &[i64]| {
            let mut part = part.to_vec();
            part.sort_unstable_by(|a, b| b.cmp(a));
            Peaks { first: part.first().copied().unwrap_or(i64::MIN), second: part.get(1).copied().unwrap_or(i64::MIN) }
        };
        for at in 0..=values.len() {
            let (left, right) = values.split_at(at);
            assert_eq!(Peaks::of(&left.to_vec().into()), sorted(left));
            assert_eq!(Peaks::of(&left.to_vec().into()).and(Peaks::of(&right.to_vec().into())), sorted(&values));
        }
        let with_nulls = Int64Array::from(vec![Some(5), None, Some(8)]);
        assert_eq!(Peaks::of(&with_nulls), Peaks { first: 8, second: 5 });
        assert_eq!(Peaks::at(Watermark::SQL_START).second_before_each(&with_nulls), [0, 0, 0]);
        assert_eq!(Peaks::at(Watermark::SQL_START).second_before_each(&vec![5, 8, 6, 1].into()), [0, 0, 5, 6]);
    }

    #[test]
    fn per_row_is_the_prefix_maximum_from_zero() {
        let values = Int64Array::from(vec![Some(-5), Some(10), None, Some(7), Some(12)]);
        let (before, after) = WatermarkRule::PerRow.before_each(Watermark::SQL_START, &values);
        assert_eq!(before, [0, 0, 10, 10, 10]);
        assert_eq!(after, Watermark(12));
        assert_eq!(WatermarkRule::PerRow.after(Watermark::SQL_START, &values), after);
    }

    #[test]
    fn with_an_interval_small_advances_wait() {
        let values = Int64Array::from(vec![10_900, 11_050, 11_101]);
        let rule = WatermarkRule::from_interval(200);
        let (before, after) = rule.before_each(Watermark::SQL_START, &values);
        assert_eq!(before, [0, 10_900, 10_900]);
        assert_eq!(after, Watermark(11_101));
    }
}
