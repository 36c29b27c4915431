//! The join of rows without windows: pairs as they come about.

use std::any::Any;
use std::mem::take;

use arrow::array::RecordBatch;
use arrow::compute::concat_batches;

use super::super::{Emit, Emitted, Wanted, WindowOperator, downcast};
use super::keys::Keys;
use super::pairs::{CANDIDATES_MAX, Candidates, Pairs};
use super::stored::Stored;
use crate::batch::EventBatch;
use crate::error::{Error, Result};
use crate::key::KeyHash;
use crate::plan::{JoinKind, JoinSpec};
use crate::snapshot::{Archive, fits};
use crate::state::KeyIndex;
use crate::state::index::NONE;
use crate::time::Watermark;

/// Keeps all rows of both sides. Pairs are given behind the rows of a block, so that their order does not depend on how
/// the block is cut into batches.
pub(super) struct RegularJoin {
    kind: JoinKind,
    keys: Keys,
    pairs: Pairs,
    ordered: bool,
    index: KeyIndex,
    sides: [Side; 2],
    /// Rows that have come since the last pairs were given, with their sides.
    fresh: [(Vec<RecordBatch>, Vec<KeyHash>); 2],
}

/// All rows of a side.
#[derive(Default)]
struct Side {
    stored: Stored,
    /// By group, those that may have a partner.
    of_group: Vec<Vec<u32>>,
    /// By row, of the left side of a semi join: it was given.
    given: Vec<bool>,
}

impl Side {
    fn bytes(&self) -> usize {
        self.stored.bytes() + self.stored.rows() as usize * size_of::<u32>()
    }

    fn of(&self, group: u32) -> &[u32] {
        self.of_group.get(group as usize).map_or(&[], Vec::as_slice)
    }

    /// The group of each row, or [`NONE`] for one that can have no partner.
    fn groups(&self) -> Vec<u32> {
        let mut groups = vec![NONE; self.stored.rows() as usize];
        for (group, rows) in self.of_group.iter().enumerate() {
            rows.iter().for_each(|&row| groups[row as usize] = group as u32);
        }
        groups
    }

    /// `count`: of the groups of both sides.
    fn archive(&mut self, archive: &mut Archive<'_>, count: usize) -> Result<()> {
        let mut groups = self.groups();
        archive.cells(&mut groups)?;
        archive.list(&mut self.given, |&given| [u8::from(given)], |[given]| given != 0)?;
        self.stored.archive(archive)?;
        if !archive.is_reading() {
            return Ok(());
        }
        fits(groups.len() == self.stored.rows() as usize && [0, groups.len()].contains(&self.given.len()))?;
        self.of_group.resize_with(count, Vec::new);
        for (row, group) in groups.into_iter().enumerate().filter(|&(_, group)| group != NONE) {
            fits((group as usize) < count)?;
            self.of_group[group as usize].push(row as u32);
        }
        Ok(())
    }

    /// Takes over rows whose groups have a new number, in `numbers`, of `count`.
    fn take_over(&mut self, other: &Side, numbers: &[u32], count: usize) -> Result<()> {
        let groups = other.groups();
        let number = |row: u32| numbers.get(groups[row as usize] as usize).copied().unwrap_or(NONE);
        self.of_group.resize_with(count, Vec::new);
        let rows: Vec<u32> = (0..other.stored.rows()).filter(|&row| number(row) != NONE).collect();
        let first = self.stored.take_over(&other.stored, &rows)?;
        for (mine, row) in (first..).zip(rows) {
            self.of_group[number(row) as usize].push(mine);
            self.given.extend(other.given.get(row as usize));
        }
        Ok(())
    }
}

impl RegularJoin {
    pub(super) fn new(spec: &JoinSpec, keys: Keys, pairs: Pairs) -> Result<Self> {
        if !matches!(spec.kind, JoinKind::Inner | JoinKind::Semi) {
            return Err(Error::internal(format!("a regular {} join", spec.kind.name())));
        }
        let index = keys.index();
        let (sides, fresh) = Default::default();
        Ok(RegularJoin { kind: spec.kind, keys, pairs, ordered: spec.ordered, index, sides, fresh })
    }

    /// Takes in the fresh rows of a side and gives what they make of the other side's.
    fn take_in(&mut self, side: usize, emit: Emit<'_>) -> Result<()> {
        let (batches, hashes) = take(&mut self.fresh[side]);
        let Some(first) = batches.first() else { return Ok(()) };
        let rows = concat_batches(first.schema_ref(), &batches)?;
        let mut groups = Vec::new();
        let valid = self.keys.groups(side, &rows, &hashes, (&mut self.index, &mut groups))?;
        let mine = &mut self.sides[side];
        let start = mine.stored.push(rows)?;
        if side == 0 && self.kind == JoinKind::Semi {
            mine.given.resize(mine.stored.rows() as usize, false);
        }
        mine.of_group.resize_with(self.index.len().max(mine.of_group.len()), Vec::new);
        let may_meet = |row: usize| valid.as_ref().is_none_or(|valid| valid.is_valid(row));
        let mut fresh: Vec<(u32, u32)> = Vec::with_capacity(groups.len());
        let order = self.order(&groups, &hashes);
        for (row, group) in order.into_iter().map(|row| (row, groups[row])).filter(|(row, _)| may_meet(*row)) {
            fresh.push((group, start + row as u32));
        }
        for (row, &group) in groups.iter().enumerate().filter(|(row, _)| may_meet(*row)) {
            self.sides[side].of_group[group as usize].push(start + row as u32);
        }
        self.meet(side, &fresh, emit)
    }

    /// The fresh rows in the order in which their pairs are given.
    fn order(&self, groups: &[u32], hashes: &[KeyHash]) -> Vec<usize> {
        let mut rows: Vec<usize> = (0..groups.len()).collect();
        if self.ordered && !hashes.is_empty() {
            let compare = |&a: &usize, &b: &usize| {
                hashes[a].cmp(&hashes[b]).then_with(|| self.index.compare(groups[a], groups[b]))
            };
            rows.sort_by(compare);
        }
        rows
    }

    fn meet(&mut self, side: usize, fresh: &[(u32, u32)], emit: Emit<'_>) -> Result<()> {
        let mut candidates = Candidates::default();
        for &(group, row) in fresh {
            for at in 0..self.sides[1 - side].of(group).len() {
                let partner = self.sides[1 - side].of(group)[at];
                match side {
                    0 => candidates.push(row, partner),
                    _ => candidates.push(partner, row),
                }
                if candidates.len() >= CANDIDATES_MAX {
                    self.give(side, &mut candidates, emit)?;
                }
            }
        }
        self.give(side, &mut candidates, emit)
    }

    fn give(&mut self, side: usize, candidates: &mut Candidates, emit: Emit<'_>) -> Result<()> {
        if candidates.len() == 0 {
            return Ok(());
        }
        let sides = &mut self.sides;
        let Candidates { left, right } = take(candidates);
        let hold = self.pairs.hold(&left, &right, &|side, column, rows| sides[side].stored.gather(column, rows))?;
        let mut kept = Candidates::default();
        for (at, (&left, &right)) in left.iter().zip(&right).enumerate() {
            if !hold.as_ref().is_none_or(|hold| hold.value(at)) {
                continue;
            }
            match sides[0].given.get_mut(left as usize) {
                Some(true) => continue,
                Some(given) => *given = true,
                None => {}
            }
            kept.push(left, right);
        }
        if kept.len() == 0 {
            return Ok(());
        }
        let rows = self.pairs.rows(&kept, &|side, column, rows| sides[side].stored.gather(column, rows))?;
        emit(Emitted::at(rows, side as i64))
    }
}

impl WindowOperator for RegularJoin {
    fn process(&mut self, side: usize, batch: &EventBatch, _emit: Emit<'_>) -> Result<()> {
        let (batches, hashes) = &mut self.fresh[side];
        batches.push(batch.rows.clone());
        hashes.extend_from_slice(&batch.hashes);
        Ok(())
    }

    fn advance(&mut self, _watermark: Watermark, emit: Emit<'_>) -> Result<()> {
        self.take_in(0, emit)?;
        self.take_in(1, emit)
    }
    fn late_rows(&self) -> u64 {
        0
    }
    fn open_windows(&self) -> u64 {
        0
    }
    fn fired_windows(&self) -> u64 {
        0
    }
    fn state_bytes(&self) -> u64 {
        (self.index.bytes() + self.sides.iter().map(Side::bytes).sum::<usize>()) as u64
    }
    /// No rows are fresh: they are taken in when their block ends.
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        self.index.archive(archive)?;
        let count = self.index.len();
        self.sides.iter_mut().try_for_each(|side| side.archive(archive, count))
    }

    fn take_over(&mut self, other: Box<dyn WindowOperator + Send>, wanted: Wanted<'_>, _counts: bool) -> Result<()> {
        let other: Box<RegularJoin> = downcast(other)?;
        let numbers = self.index.take_over(&other.index, &|tag, _| wanted(tag))?.by_origin(other.index.len());
        let count = self.index.len();
        let mut sides = self.sides.iter_mut().zip(&other.sides);
        sides.try_for_each(|(mine, theirs)| mine.take_over(theirs, &numbers, count))
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
