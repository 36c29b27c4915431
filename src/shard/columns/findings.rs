//! What a shard comes upon that is no error, but may well be a surprise.

use std::collections::BTreeMap;

use arrow::array::AsArray;
use arrow::datatypes::Int32Type;

use super::START;
use super::chain::Flow;
use super::scan::{NullTimes, ScanContext, SplitEntry};
use crate::error::Result;
use crate::exchange::sequence::{Origin, Step};
use crate::source::original_row;
use crate::time::Watermark;
use crate::watermark::Peaks;
use crate::window::Deadlines;

/// A row that moved the watermark: its split, and the watermark that it gave. No other row gave the same.
pub type Mover = (usize, i64);

/// Rows that a row made late, that row, and the block in which it is.
pub type Costly = (u64, Mover, Origin);

/// See the module. All of it is a function of the data, whatever the shards, once it is put together.
#[derive(Debug, Default)]
pub struct Findings {
    /// By branch: the lowest event time.
    lowest_times: Vec<i64>,
    /// Rows that are late because of one row alone, by that row. Of rows that neither a block began nor ended with,
    /// no other block can know anything, so only the costliest is kept of them.
    costs: BTreeMap<Mover, (u64, Origin)>,
    /// Those of the block at hand.
    block: BTreeMap<Mover, u64>,
    costliest: Option<Costly>,
    /// Late rows by split.
    late: BTreeMap<usize, u64>,
    /// By split.
    peaks: Vec<Peaks>,
}

impl Findings {
    pub fn new(branches: usize) -> Self {
        Findings { lowest_times: vec![i64::MAX; branches], ..Findings::default() }
    }

    pub(super) fn see_time(&mut self, branch: usize, lowest: i64) {
        let known = &mut self.lowest_times[branch];
        *known = lowest.min(*known);
    }

    /// Counts the rows that would not be late if the one row were not there that their split's watermark comes from.
    /// `others`: the lowest watermark of the other splits. `set`: the column with the number of the grouping set, of
    /// which 0 counts.
    pub(super) fn see_late(
        &mut self,
        split: usize,
        (flow, set): (&Flow, Option<usize>),
        deadlines: &mut Deadlines,
        others: Watermark,
    ) -> Result<()> {
        let (Some(before), Some(second)) = (&flow.before, &flow.second) else { return Ok(()) };
        let ends = deadlines.last_ends(&flow.rows)?;
        let sets = set.map(|set| flow.rows.column(set).as_primitive::<Int32Type>());
        for (row, ((&end, &first), &second)) in ends.iter().zip(before.values()).zip(second.values()).enumerate() {
            if sets.is_some_and(|sets| sets.value(row) != 0) {
                continue;
            }
            let watermark = START.emitted(Watermark(first)).min(others);
            let without = START.emitted(Watermark(second)).min(others);
            if end > deadlines.horizon(watermark) {
                continue;
            }
            *self.late.entry(split).or_default() += 1;
            if without < watermark && end > deadlines.horizon(without) {
                *self.block.entry((split, first)).or_default() += 1;
            }
        }
        Ok(())
    }

    /// `after`, `second`: the split's watermark after the block, and the second highest value of its expression in it.
    pub(super) fn end_block(&mut self, step: Step, after: Watermark, second: Watermark) {
        let Step { split, block, state, start, origin, .. } = step;
        let here = Origin { block, state, before: start, second };
        for (mover, cost) in std::mem::take(&mut self.block) {
            if mover.1 == start.0 {
                self.add(mover, cost, origin);
            } else if mover == (split, after.0) {
                self.add(mover, cost, here);
            } else {
                self.costliest = costlier(self.costliest, (cost, mover, here));
            }
        }
    }

    fn add(&mut self, mover: Mover, cost: u64, origin: Origin) {
        self.costs.entry(mover).or_insert((0, origin)).0 += cost;
    }

    /// What is known at the end of the highest watermarks of the splits.
    pub(super) fn see_peaks(&mut self, peaks: &[Peaks]) {
        self.peaks = peaks.to_vec();
    }

    /// The highest values of a split's watermark expression.
    pub fn peaks(&self, split: usize) -> Peaks {
        self.peaks.get(split).copied().unwrap_or(Peaks::at(START.watermark()))
    }

    /// What two shards found.
    pub fn and(mut self, other: Findings) -> Findings {
        for (known, lowest) in self.lowest_times.iter_mut().zip(other.lowest_times) {
            *known = lowest.min(*known);
        }
        for (mover, (cost, origin)) in other.costs {
            self.add(mover, cost, origin);
        }
        // Every shard follows all splits.
        if self.peaks.is_empty() {
            self.peaks = other.peaks;
        }
        for (split, late) in other.late {
            *self.late.entry(split).or_default() += late;
        }
        self.costliest = other.costliest.into_iter().fold(self.costliest, costlier);
        self
    }

    /// The lowest event time of a branch; None if it has no rows, or its windows need none.
    pub fn lowest_time(&self, branch: usize) -> Option<i64> {
        self.lowest_times.get(branch).copied().filter(|&time| time != i64::MAX)
    }

    /// The row that made the most others late, and how many. `file`: the first split that reads the same file, for a
    /// file may be read several times.
    pub fn costliest(&self, file: &dyn Fn(usize) -> usize) -> Option<Costly> {
        let mut sums: BTreeMap<Mover, (u64, Origin)> = BTreeMap::new();
        for (&(split, value), &(cost, origin)) in &self.costs {
            sums.entry((file(split), value)).or_insert((0, origin)).0 += cost;
        }
        let costliest = self.costliest.map(|(cost, (split, value), origin)| (cost, (file(split), value), origin));
        sums.into_iter().map(|(mover, (cost, origin))| (cost, mover, origin)).fold(costliest, costlier)
    }

    /// Late rows of the splits for which `of` holds; of sessions, rows that are late unless they join one.
    pub fn late(&self, of: &dyn Fn(usize) -> bool) -> u64 {
        self.late.iter().filter(|(split, _)| of(**split)).map(|(_, late)| late).sum()
    }
}

/// Of equal ones the first in the order of files.
fn costlier(known: Option<Costly>, new: Costly) -> Option<Costly> {
    let rank = |(cost, mover, _): Costly| (cost, std::cmp::Reverse(mover));
    Some(known.map_or(new, |known| if rank(new) > rank(known) { new } else { known }))
}

/// A row that moved its split's watermark, found again in its block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Move {
    /// Line and column; for a format that is no text the number of the row alone.
    pub place: (u64, Option<u64>),
    /// The watermark before it.
    pub from: i64,
}

/// Reads a block once more for the first row whose watermark expression is `value`.
///
/// # Errors
/// As the split's.
pub fn find_move(
    entry: &SplitEntry,
    scan: &ScanContext<'_>,
    &Origin { block, state, before, .. }: &Origin,
    value: i64,
) -> Result<Option<Move>> {
    let split = entry.split.as_ref();
    let mut from = before.0;
    let mut null_times = NullTimes::new(true);
    let (mut rows, mut found) = (0u64, None);
    split.decode(block, state, crate::limits::BATCH_ROWS_DEFAULT, &mut |batch| {
        let batch = scan.evaluate_all(&batch, &mut null_times)?;
        let Some(values) = batch.watermarks.filter(|_| found.is_none()) else { return Ok(()) };
        let at = values.iter().position(|row| row == Some(value));
        let before = values.slice(0, at.unwrap_or(values.len()));
        from = from.max(Peaks::of(&before).first);
        found = at.map(|at| rows + at as u64);
        rows += values.len() as u64;
        Ok(())
    })?;
    let Some(row) = found else { return Ok(None) };
    let records = split.records(block, state, &[original_row(row, null_times.rows())])?;
    let Some((position, _)) = records.first() else { return Ok(None) };
    Ok(Some(Move { place: super::scan::place_of(split, block, *position), from }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::Stamp;

    #[test]
    fn costs_are_added_up_over_blocks_and_shards() {
        let block = |costs: &[(i64, u64)], from: i64, to: i64| {
            let mut findings = Findings::new(1);
            findings.block = costs.iter().map(|&(value, cost)| ((0, value), cost)).collect();
            let origin = Origin::default();
            let (start, second, state) = (Watermark(from), Watermark(0), 0);
            let step = Step { seq: 0, split: 0, block: 1, start, second, origin, state, stamp: Stamp::NONE };
            findings.end_block(step, Watermark(to), second);
            findings
        };
        let same = |split: usize| split;
        let first = block(&[(10, 1), (20, 4), (90, 2)], 10, 90);
        let costliest = |findings: &Findings| findings.costliest(&same).map(|(cost, mover, _)| (cost, mover));
        assert_eq!(costliest(&first), Some((4, (0, 20))));
        let both = first.and(block(&[(90, 3)], 90, 90));
        assert_eq!(costliest(&both), Some((5, (0, 90))));
        assert_eq!(both.lowest_time(0), None);
    }
}
