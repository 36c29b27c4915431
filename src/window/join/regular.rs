//! The join of rows without windows: pairs as they come about.

use std::mem::take;

use arrow::array::RecordBatch;
use arrow::compute::concat_batches;

use super::super::{Emit, Emitted, WindowOperator};
use super::keys::Keys;
use super::pairs::{CANDIDATES_MAX, Candidates, Pairs};
use super::stored::Stored;
use crate::batch::EventBatch;
use crate::error::{Error, Result};
use crate::key::KeyHash;
use crate::plan::{JoinKind, JoinSpec};
use crate::state::KeyIndex;
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
}
