//! Deals the rows of a batch out to the shards that own their keys.

use arrow::array::{Int64Array, RecordBatch, UInt32Array};
use arrow::compute::take_record_batch;

use super::START;
use super::chain::Flow;
use crate::batch::{EventBatch, Mark};
use crate::error::Result;
use crate::key::KeyGroups;
use crate::state::key::hash_keys;
use crate::time::Watermark;
use crate::window::Deadlines;

/// The rows of a batch that one shard owns.
pub struct Dealt {
    pub owner: usize,
    pub batch: EventBatch,
    /// Which rows of the whole batch these are; None: all.
    rows: Option<UInt32Array>,
}

impl Dealt {
    fn all(batch: EventBatch) -> Vec<Self> {
        vec![Dealt { owner: 0, batch, rows: None }]
    }

    /// The values that belong to these rows, out of one a row of the whole batch.
    pub fn pick(&self, values: &[i64]) -> Vec<i64> {
        match &self.rows {
            Some(rows) => rows.values().iter().map(|&row| values[row as usize]).collect(),
            None => values.to_vec(),
        }
    }
}

/// The part of `flow` for each shard that gets any rows. `keys`: the columns that decide. `other_splits`: the lowest watermark of
/// the other inputs of the stage; the stage's own is the lower of it and the row's.
pub fn route(
    flow: Flow,
    keys: &[usize],
    deadlines: &mut Deadlines,
    groups: KeyGroups,
    other_splits: Watermark,
) -> Result<Vec<Dealt>> {
    let marks = match (&flow.before, &flow.passed) {
        (before, Some(passed)) if deadlines.wants_watermarks() => all_marks(before.as_ref(), passed, other_splits),
        // Of rows from a stage each shard knows its own alone.
        _ if deadlines.wants_watermarks() => Vec::new(),
        (Some(before), _) => marks_of(&flow.rows, before, deadlines, other_splits)?,
        (None, _) => Vec::new(),
    };
    if flow.rows.num_rows() == 0 && marks.is_empty() {
        return Ok(Vec::new());
    }
    let mut hashes = Vec::new();
    if keys.is_empty() {
        return Ok(Dealt::all(EventBatch { rows: flow.rows, hashes, marks }));
    }
    hash_keys(&flow.rows, keys, &mut hashes)?;
    if groups.shards == 1 {
        return Ok(Dealt::all(EventBatch { rows: flow.rows, hashes, marks }));
    }
    deal_out(&flow.rows, &hashes, (&marks, deadlines.wants_watermarks()), groups)
}

fn marks_of(
    rows: &RecordBatch,
    before: &Int64Array,
    deadlines: &mut Deadlines,
    other_splits: Watermark,
) -> Result<Vec<Mark>> {
    let mut ends = Vec::with_capacity(rows.num_rows());
    deadlines.of(rows, &mut ends)?;
    let mut marks = Vec::new();
    for (row, (&end, before)) in ends.iter().zip(before).enumerate() {
        let Some(before) = before else { continue };
        let watermark = START.emitted(Watermark(before)).min(other_splits);
        if end <= deadlines.horizon(watermark) {
            marks.push(Mark { row: row as u32, watermark });
        }
    }
    Ok(marks)
}

/// Every watermark, before the first row that comes under it. `passed`: of all rows that there were, ascending.
fn all_marks(before: Option<&Int64Array>, passed: &Int64Array, other_splits: Watermark) -> Vec<Mark> {
    let mut marks: Vec<Mark> = Vec::new();
    let mut row = 0;
    for value in passed.iter().flatten() {
        let watermark = START.emitted(Watermark(value)).min(other_splits);
        if marks.last().map_or(watermark == Watermark::MIN, |last| last.watermark == watermark) {
            continue;
        }
        while before.is_some_and(|before| row < before.len() && before.value(row) < value) {
            row += 1;
        }
        marks.push(Mark { row: row as u32, watermark });
    }
    marks
}

/// Each owner gets its rows; a mark goes to the owner of its row, or to all where every watermark is marked.
fn deal_out(
    rows: &RecordBatch,
    hashes: &[u64],
    (marks, to_all): (&[Mark], bool),
    groups: KeyGroups,
) -> Result<Vec<Dealt>> {
    let shards = groups.shards as usize;
    let expected = rows.num_rows() / shards + rows.num_rows() / (4 * shards) + 16;
    let mut indices: Vec<Vec<u32>> = (0..shards).map(|_| Vec::with_capacity(expected)).collect();
    let mut owner_marks: Vec<Vec<Mark>> = vec![Vec::new(); shards];
    let mut next_mark = marks.iter().peekable();
    for (row, &hash) in hashes.iter().enumerate() {
        let owner = groups.owner_of(hash) as usize;
        while let Some(mark) = next_mark.next_if(|mark| mark.row as usize == row) {
            mark_for(*mark, (!to_all).then_some(owner), &indices, &mut owner_marks);
        }
        indices[owner].push(row as u32);
    }
    next_mark.for_each(|mark| mark_for(*mark, None, &indices, &mut owner_marks));
    let mut parts = Vec::new();
    for (owner, (indices, marks)) in indices.into_iter().zip(owner_marks).enumerate() {
        if indices.is_empty() && marks.is_empty() {
            continue;
        }
        let hashes = indices.iter().map(|&row| hashes[row as usize]).collect();
        let indices = UInt32Array::from(indices);
        let rows = take_record_batch(rows, &indices)?;
        parts.push(Dealt { owner, batch: EventBatch { rows, hashes, marks }, rows: Some(indices) });
    }
    Ok(parts)
}

/// Hands a mark to an owner, `None`: to all of them, before what comes behind the rows that they have.
fn mark_for(mark: Mark, owner: Option<usize>, indices: &[Vec<u32>], marks: &mut [Vec<Mark>]) {
    let owners = owner.map_or(0..marks.len(), |owner| owner..owner + 1);
    for owner in owners {
        marks[owner].push(Mark { row: indices[owner].len() as u32, watermark: mark.watermark });
    }
}
