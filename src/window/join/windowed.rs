//! The join of rows that carry windows, window by window.

use std::any::Any;
use std::collections::BTreeMap;

use arrow::array::{RecordBatch, UInt32Array};
use arrow::buffer::NullBuffer;
use arrow::compute::{concat_batches, take, take_record_batch};

use super::super::kept::picked;
use super::super::late::Late;
use super::super::rows::{split, times};
use super::super::zone::Scale;
use super::super::{Emit, Emitted, Wanted, WindowOperator, downcast};
use super::keys::Keys;
use super::pairs::{Candidates, NONE, Pairs};
use crate::batch::EventBatch;
use crate::error::Result;
use crate::key::KeyHash;
use crate::plan::{JoinKind, JoinSpec};
use crate::snapshot::{Archive, fits};
use crate::state::KeyIndex;
use crate::state::index::Tag;
use crate::time::Watermark;

/// Keeps the rows of open windows and pairs them when their window ends.
///
/// A row has a mark exactly if its window had ended before it came, so it can be told from the row alone whether it is
/// late, and windows need not end before the rows of a block are all there.
pub(super) struct WindowJoin {
    kind: JoinKind,
    keys: Keys,
    pairs: Pairs,
    ordered: bool,
    /// By side the columns with start and end of the window.
    bounds: [(usize, usize); 2],
    scale: Scale,
    horizon: i64,
    /// By end, then start.
    windows: BTreeMap<[i64; 2], [Kept; 2]>,
    bytes: usize,
    late: Late,
    fired: u64,
}

/// Rows of one side in one window, in the order in which they came.
#[derive(Default)]
struct Kept {
    batches: Vec<RecordBatch>,
    hashes: Vec<KeyHash>,
}

impl Kept {
    fn bytes(&self) -> usize {
        let rows: usize = self.batches.iter().map(RecordBatch::get_array_memory_size).sum();
        rows + size_of_val(self.hashes.as_slice())
    }

    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        if !archive.is_reading() {
            self.batches = whole(self)?.into_iter().collect();
        }
        archive.rows(&mut self.batches)?;
        archive.cells(&mut self.hashes)?;
        let rows: usize = self.batches.iter().map(RecordBatch::num_rows).sum();
        fits(self.hashes.is_empty() || self.hashes.len() == rows)
    }

    /// Takes over the rows of the keys that are wanted.
    fn take_over(&mut self, other: &Kept, wanted: Wanted<'_>) -> Result<()> {
        let mut first = 0;
        for batch in &other.batches {
            let hash = |row: u32| other.hashes.get(first + row as usize).copied();
            let tag = |row: u32| hash(row).map_or(0, |hash| (hash >> 32) as Tag);
            let rows: Vec<u32> = (0..batch.num_rows() as u32).filter(|&row| wanted(tag(row))).collect();
            if !rows.is_empty() {
                self.hashes.extend(rows.iter().filter_map(|&row| hash(row)));
                self.batches.push(picked(batch, &rows)?);
            }
            first += batch.num_rows();
        }
        Ok(())
    }
}

/// The rows of one side by group.
struct Grouped {
    /// Of group g: `rows[starts[g]..starts[g + 1]]`.
    starts: Vec<u32>,
    rows: Vec<u32>,
    /// Rows that may have a partner; `None`: all.
    valid: Option<NullBuffer>,
}

impl Grouped {
    fn new(groups: &[u32], count: usize, valid: Option<NullBuffer>) -> Self {
        let mut starts = vec![0; count + 1];
        groups.iter().for_each(|&group| starts[group as usize + 1] += 1);
        for group in 0..count {
            starts[group + 1] += starts[group];
        }
        let (mut next, mut rows) = (starts.clone(), vec![0; groups.len()]);
        for (row, &group) in groups.iter().enumerate() {
            rows[next[group as usize] as usize] = row as u32;
            next[group as usize] += 1;
        }
        Grouped { starts, rows, valid }
    }

    fn of(&self, group: u32) -> &[u32] {
        &self.rows[self.starts[group as usize] as usize..self.starts[group as usize + 1] as usize]
    }

    fn may_meet(&self, group: u32) -> bool {
        self.of(group).first().is_some_and(|&row| self.valid.as_ref().is_none_or(|valid| valid.is_valid(row as usize)))
    }
}

impl WindowJoin {
    pub(super) fn new(spec: &JoinSpec, bounds: [(usize, usize); 2], keys: Keys, pairs: Pairs) -> Result<Self> {
        Ok(WindowJoin {
            kind: spec.kind,
            keys,
            pairs,
            ordered: spec.ordered,
            bounds,
            scale: Scale::new(spec.zone.as_deref())?,
            horizon: i64::MIN,
            windows: BTreeMap::new(),
            bytes: 0,
            late: Late::default(),
            fired: 0,
        })
    }

    /// Which rows came after their window had ended.
    fn are_late(&mut self, batch: &EventBatch, ends: &[i64]) -> Vec<bool> {
        let mut late: Vec<bool> = ends.iter().map(|&end| end <= self.horizon).collect();
        for mark in &batch.marks {
            let row = mark.row as usize;
            late[row] |= ends[row] <= self.scale.horizon(mark.watermark);
        }
        late
    }

    fn keep(&mut self, window: [i64; 2], side: usize, rows: RecordBatch, hashes: &[KeyHash]) {
        self.bytes += rows.get_array_memory_size() + size_of_val(hashes);
        let kept = &mut self.windows.entry(window).or_default()[side];
        kept.batches.push(rows);
        kept.hashes.extend_from_slice(hashes);
    }

    fn fire(&mut self, end: i64, sides: [Kept; 2], emit: Emit<'_>) -> Result<()> {
        self.bytes -= sides.iter().map(Kept::bytes).sum::<usize>();
        let rows = [whole(&sides[0])?, whole(&sides[1])?];
        let mut index = self.keys.index();
        let (mut groups, mut valid) = ([Vec::new(), Vec::new()], [None, None]);
        for side in 0..2 {
            if let Some(rows) = &rows[side] {
                let out = (&mut index, &mut groups[side]);
                valid[side] = self.keys.groups(side, rows, &sides[side].hashes, out)?;
            }
        }
        self.fired += index.len() as u64;
        let mut met = [0, 1].map(|side| vec![false; groups[side].len()]);
        let [left_valid, right_valid] = valid;
        let left = Grouped::new(&groups[0], index.len(), left_valid);
        let right = Grouped::new(&groups[1], index.len(), right_valid);
        let mut candidates = Candidates::default();
        for group in self.order(&index) {
            let meet = left.may_meet(group) && right.may_meet(group);
            let pairs = meet && (self.kind.has_pairs() || self.pairs.has_condition());
            for &row in left.of(group) {
                if pairs {
                    for &partner in right.of(group) {
                        candidates.push(row, partner);
                        if candidates.is_full() {
                            self.emit(&mut candidates, (&rows, &mut met), end, emit)?;
                        }
                    }
                } else {
                    met[0][row as usize] = meet;
                }
                if self.kind.keeps(0) || !self.kind.has_pairs() {
                    candidates.push(row, NONE);
                }
            }
            if self.kind.keeps(1) {
                right.of(group).iter().for_each(|&row| candidates.push(NONE, row));
            }
            if candidates.is_full() {
                self.emit(&mut candidates, (&rows, &mut met), end, emit)?;
            }
        }
        self.emit(&mut candidates, (&rows, &mut met), end, emit)
    }

    /// The groups in the order in which their rows are given.
    fn order(&self, index: &KeyIndex) -> Vec<u32> {
        if !self.ordered {
            return (0..index.len() as u32).collect();
        }
        index.in_order(|_| true).into_iter().map(|(_, group)| group).collect()
    }

    fn emit(
        &self,
        candidates: &mut Candidates,
        (rows, met): (&[Option<RecordBatch>; 2], &mut [Vec<bool>; 2]),
        end: i64,
        emit: Emit<'_>,
    ) -> Result<()> {
        let gather = |side: usize, column: usize, wanted: &[u32]| match &rows[side] {
            Some(rows) => Ok(take(rows.column(column), &indices(wanted), None)?),
            None => self.pairs.nulls(side, column, wanted.len()),
        };
        let kept = candidates.pick(&self.pairs.sift(candidates, met, &gather)?);
        candidates.clear();
        if kept.len() == 0 {
            return Ok(());
        }
        emit(Emitted::at(self.pairs.rows(&kept, &gather)?, end))
    }
}

fn indices(rows: &[u32]) -> UInt32Array {
    rows.iter().map(|&row| (row != NONE).then_some(row)).collect()
}

/// The rows of a side in one batch; `None`: it has none.
fn whole(kept: &Kept) -> Result<Option<RecordBatch>> {
    match kept.batches.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(one.clone())),
        [first, ..] => Ok(Some(concat_batches(first.schema_ref(), &kept.batches)?)),
    }
}

impl WindowOperator for WindowJoin {
    fn process(&mut self, side: usize, batch: &EventBatch, _emit: Emit<'_>) -> Result<()> {
        let (start, end) = self.bounds[side];
        let (starts, ends) = (times(&batch.rows, start)?, times(&batch.rows, end)?);
        let late = self.are_late(batch, &ends);
        self.late.drop_rows((0..late.len()).filter(|&row| late[row]));
        let windows = split(0..ends.len(), |row| (!late[row]).then(|| [ends[row], starts[row]]));
        for (window, rows) in windows {
            if rows.len() == ends.len() {
                self.keep(window, side, batch.rows.clone(), &batch.hashes);
                continue;
            }
            let hashes: Vec<KeyHash> = rows.iter().filter_map(|&row| batch.hashes.get(row as usize)).copied().collect();
            let rows = take_record_batch(&batch.rows, &UInt32Array::from(rows))?;
            self.keep(window, side, rows, &hashes);
        }
        Ok(())
    }

    fn advance(&mut self, watermark: Watermark, emit: Emit<'_>) -> Result<()> {
        self.horizon = self.horizon.max(self.scale.horizon(watermark));
        while let Some(window) = self.windows.first_entry() {
            let [end, _] = *window.key();
            if end > self.horizon {
                break;
            }
            let sides = window.remove();
            self.fire(end, sides, emit)?;
        }
        Ok(())
    }
    fn late_rows(&self) -> u64 {
        self.late.dropped()
    }
    fn late(&mut self) -> Option<&mut Late> {
        Some(&mut self.late)
    }
    fn open_windows(&self) -> u64 {
        self.windows.len() as u64
    }
    fn fired_windows(&self) -> u64 {
        self.fired
    }
    fn state_bytes(&self) -> u64 {
        self.bytes as u64
    }
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        archive.numbers([&mut self.horizon])?;
        archive.numbers([&mut self.fired])?;
        self.late.archive(archive)?;
        let each = |archive: &mut Archive<'_>, sides: &mut [Kept; 2]| {
            sides.iter_mut().try_for_each(|kept| kept.archive(archive))
        };
        archive.map(&mut self.windows, || Ok(Default::default()), each)?;
        self.bytes = self.windows.values().flatten().map(Kept::bytes).sum();
        Ok(())
    }

    fn take_over(&mut self, other: Box<dyn WindowOperator + Send>, wanted: Wanted<'_>, counts: bool) -> Result<()> {
        let other: Box<WindowJoin> = downcast(other)?;
        self.horizon = self.horizon.max(other.horizon);
        if counts {
            self.fired += other.fired;
            self.late.take_over(&other.late);
        }
        for (window, theirs) in &other.windows {
            let mut mine = self.windows.remove(window).unwrap_or_default();
            for (mine, theirs) in mine.iter_mut().zip(theirs) {
                mine.take_over(theirs, wanted)?;
            }
            if mine.iter().any(|kept| !kept.batches.is_empty()) {
                self.windows.insert(*window, mine);
            }
        }
        self.bytes = self.windows.values().flatten().map(Kept::bytes).sum();
        Ok(())
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
