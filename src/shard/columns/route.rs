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
    if flow.rows.num_rows() == 0 {
        return Ok(Vec::new());
    }
    let marks = match &flow.before {
        Some(before) => marks_of(&flow.rows, before, deadlines, other_splits)?,
        None => Vec::new(),
    };
    let mut hashes = Vec::new();
    if keys.is_empty() {
        return Ok(Dealt::all(EventBatch { rows: flow.rows, hashes, marks }));
    }
    hash_keys(&flow.rows, keys, &mut hashes)?;
    if groups.shards == 1 {
        return Ok(Dealt::all(EventBatch { rows: flow.rows, hashes, marks }));
    }
    deal_out(&flow.rows, &hashes, &marks, groups)
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

fn deal_out(rows: &RecordBatch, hashes: &[u64], marks: &[Mark], groups: KeyGroups) -> Result<Vec<Dealt>> {
    let shards = groups.shards as usize;
    let expected = rows.num_rows() / shards + rows.num_rows() / (4 * shards) + 16;
    let mut indices: Vec<Vec<u32>> = (0..shards).map(|_| Vec::with_capacity(expected)).collect();
    let mut owner_marks: Vec<Vec<Mark>> = vec![Vec::new(); shards];
    let mut next_mark = marks.iter().peekable();
    for (row, &hash) in hashes.iter().enumerate() {
        let owner = groups.owner_of(hash) as usize;
        if let Some(mark) = next_mark.next_if(|mark| mark.row as usize == row) {
            owner_marks[owner].push(Mark { row: indices[owner].len() as u32, watermark: mark.watermark });
        }
        indices[owner].push(row as u32);
    }
    let mut parts = Vec::new();
    for (owner, (indices, marks)) in indices.into_iter().zip(owner_marks).enumerate() {
        if indices.is_empty() {
            continue;
        }
        let hashes = indices.iter().map(|&row| hashes[row as usize]).collect();
        let indices = UInt32Array::from(indices);
        let rows = take_record_batch(rows, &indices)?;
        parts.push(Dealt { owner, batch: EventBatch { rows, hashes, marks }, rows: Some(indices) });
    }
    Ok(parts)
}
