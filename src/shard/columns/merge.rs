//! Puts the parts of a stage's input in an order that does not depend on the number of shards.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, UInt32Array};
use arrow::compute::{concat_batches, take_record_batch};
use arrow::datatypes::{DataType, Field, Schema};

use super::Part;
use super::chain::batch_of;
use crate::batch::{EventBatch, Mark};
use crate::error::Result;
use crate::time::Watermark;

/// The rows of each side by their times, side by side; equal times by sender, whose key ranges ascend. Parts come by
/// sender. `places`: the times follow the columns of the rows.
pub fn in_order(mut parts: Vec<Part>, places: bool) -> Result<Vec<(usize, EventBatch)>> {
    parts.sort_by_key(|part| (part.side, part.order));
    let mut merged = Vec::with_capacity(parts.len());
    while let Some(side) = parts.first().map(|part| part.side) {
        let rest = parts.split_off(parts.partition_point(|part| part.side == side));
        if !follow_each_other(&parts) {
            parts = vec![row_by_row(&parts)?];
        }
        for part in parts {
            merged.push((side, if places { with_places(part)? } else { part.batch }));
        }
        parts = rest;
    }
    Ok(merged)
}

/// Whether no row of a part comes before one of an earlier part.
fn follow_each_other(parts: &[Part]) -> bool {
    parts.windows(2).all(|two| two[0].times.last().is_none_or(|last| *last <= two[1].order))
}

/// The batch with a column of the times of its rows.
fn with_places(part: Part) -> Result<EventBatch> {
    let Part { order, times, mut batch, .. } = part;
    let rows = batch.rows.num_rows();
    let places = if times.is_empty() { vec![order; rows] } else { times };
    let mut fields = batch.rows.schema().fields().to_vec();
    fields.push(Arc::new(Field::new("$place", DataType::Int64, false)));
    let columns =
        batch.rows.columns().iter().cloned().chain([Arc::new(Int64Array::from(places)) as ArrayRef]).collect();
    batch.rows = batch_of(&Arc::new(Schema::new(fields)), columns, rows)?;
    Ok(batch)
}

/// For results of sessions, whose ends hardly ever coincide, and for rows with times of their own.
fn row_by_row(parts: &[Part]) -> Result<Part> {
    let schema = parts[0].batch.rows.schema();
    let all = concat_batches(&schema, parts.iter().map(|part| &part.batch.rows))?;
    let hashes: Vec<u64> = parts.iter().flat_map(|part| part.batch.hashes.iter().copied()).collect();
    let mut times = Vec::with_capacity(all.num_rows());
    let mut marks: BTreeMap<u32, Watermark> = BTreeMap::new();
    for part in parts {
        let first = times.len() as u32;
        marks.extend(part.batch.marks.iter().map(|mark| (first + mark.row, mark.watermark)));
        match part.times.is_empty() {
            true => times.resize(times.len() + part.batch.rows.num_rows(), part.order),
            false => times.extend_from_slice(&part.times),
        }
    }
    let mut order: Vec<u32> = (0..all.num_rows() as u32).collect();
    order.sort_by_key(|&row| times[row as usize]);
    let hashes = if hashes.is_empty() { hashes } else { order.iter().map(|&row| hashes[row as usize]).collect() };
    let marked = order.iter().enumerate().filter_map(|(row, from)| Some((row as u32, *marks.get(from)?)));
    let marks = marked.map(|(row, watermark)| Mark { row, watermark }).collect();
    times.sort_unstable();
    let rows = take_record_batch(&all, &UInt32Array::from(order))?;
    let (side, order) = (parts[0].side, times.first().copied().unwrap_or(parts[0].order));
    Ok(Part { side, order, times, batch: EventBatch { rows, hashes, marks } })
}

#[cfg(test)]
mod tests {
    use arrow::array::{AsArray, RecordBatch};
    use arrow::datatypes::Int64Type;

    use super::*;

    fn part(order: i64, times: &[i64], values: &[i64]) -> Part {
        let schema = Arc::new(Schema::new(vec![Field::new("v", DataType::Int64, true)]));
        let rows = RecordBatch::try_new(schema, vec![Arc::new(Int64Array::from(values.to_vec()))]).unwrap();
        let hashes = values.iter().map(|&value| value as u64).collect();
        Part { side: 0, order, times: times.to_vec(), batch: EventBatch { rows, hashes, marks: Vec::new() } }
    }

    #[test]
    fn rows_of_many_window_ends_are_merged_one_by_one() {
        let merged =
            in_order(vec![part(1, &[1, 4], &[10, 40]), part(2, &[], &[20]), part(1, &[1, 3], &[11, 30])], true)
                .unwrap();
        let places = merged[0].1.rows.column(1).as_primitive::<Int64Type>().values().to_vec();
        assert_eq!(places, [1, 1, 2, 3, 4]);
        let values = merged[0].1.rows.column(0).as_primitive::<Int64Type>().values().to_vec();
        assert_eq!(values, [10, 11, 20, 30, 40]);
        assert_eq!(merged[0].1.hashes, [10, 11, 20, 30, 40]);
    }

    #[test]
    fn whole_parts_are_ordered_by_their_window_end() {
        let merged = in_order(vec![part(2, &[], &[20]), part(1, &[], &[10]), part(2, &[], &[21])], false).unwrap();
        let values: Vec<i64> =
            merged.iter().map(|(_, b)| b.rows.column(0).as_primitive::<Int64Type>().value(0)).collect();
        assert_eq!(values, [10, 20, 21]);
    }
}
