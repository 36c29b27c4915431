//! Whole rows that are kept for a while, in the batches that they came in.

use arrow::array::{RecordBatch, UInt32Array};
use arrow::compute::{interleave_record_batch, take_record_batch};

use crate::error::Result;
use crate::snapshot::{Archive, fits};

/// Where a row is: its batch, and its row there.
pub(super) type Place = (u32, u32);

/// Batches below this are not worth putting together.
const BATCHES_MIN: usize = 64;
/// Rows that nobody wants any more are let be below this.
const STORED_MIN: usize = 1024;

/// Rows of one schema. Whoever keeps them knows which are still wanted.
#[derive(Default)]
pub(super) struct KeptRows {
    batches: Vec<RecordBatch>,
    stored: usize,
    bytes: usize,
    /// Rows that were wanted when the batches were put together last.
    settled: usize,
}

impl KeptRows {
    /// Keeps some rows of a batch, ascending. The `i`-th of them is at the place `(batch, i)` of the result.
    pub(super) fn add(&mut self, batch: &RecordBatch, rows: &[u32]) -> Result<u32> {
        Ok(self.push(picked(batch, rows)?))
    }

    fn push(&mut self, rows: RecordBatch) -> u32 {
        self.stored += rows.num_rows();
        self.bytes += rows.get_array_memory_size();
        self.batches.push(rows);
        self.batches.len() as u32 - 1
    }

    /// Keeps rows that others have kept so far. The `i`-th of them is at the place `(batch, i)` of the result.
    pub(super) fn take_over(&mut self, other: &KeptRows, places: &[Place]) -> Result<u32> {
        Ok(if places.is_empty() { 0 } else { self.push(gather(&other.batches, places)?) })
    }

    /// Names the rows, `wanted` of them, which have been put together: the `i`-th is at the place `(0, i)`.
    pub(super) fn archive(&mut self, archive: &mut Archive<'_>, wanted: usize) -> Result<()> {
        archive.rows(&mut self.batches)?;
        if archive.is_reading() {
            let batches = std::mem::take(&mut self.batches);
            for rows in batches {
                self.push(rows);
            }
            self.settled = self.stored;
        }
        fits(self.stored == wanted && self.batches.len() <= 1)
    }

    /// Whether so much is kept in vain, with `wanted` rows wanted, that it pays to [`settle`](Self::settle).
    pub(super) fn is_loose(&self, wanted: usize) -> bool {
        self.stored > STORED_MIN + 4 * wanted || self.batches.len() > BATCHES_MIN + self.settled / 32
    }

    /// Puts the wanted rows into one batch: the `i`-th is then at the place `(0, i)`.
    pub(super) fn settle(&mut self, wanted: &[Place]) -> Result<()> {
        let before = std::mem::take(self);
        self.settled = wanted.len();
        self.take_over(&before, wanted).map(drop)
    }

    pub(super) fn batches(&self) -> &[RecordBatch] {
        &self.batches
    }
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}

/// Some rows of a batch, ascending. They share its memory only if they are all of it.
pub(super) fn picked(batch: &RecordBatch, rows: &[u32]) -> Result<RecordBatch> {
    if rows.len() == batch.num_rows() {
        return Ok(batch.clone());
    }
    Ok(take_record_batch(batch, &UInt32Array::from(rows.to_vec()))?)
}

/// The rows at these places, in this order; there is at least one.
pub(super) fn gather(batches: &[RecordBatch], places: &[Place]) -> Result<RecordBatch> {
    let batches: Vec<&RecordBatch> = batches.iter().collect();
    let places: Vec<(usize, usize)> = places.iter().map(|&(batch, row)| (batch as usize, row as usize)).collect();
    Ok(interleave_record_batch(&batches, &places)?)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{AsArray, Int64Array};
    use arrow::datatypes::{DataType, Field, Int64Type, Schema};

    use super::*;

    fn batch(values: &[i64]) -> RecordBatch {
        let schema = Arc::new(Schema::new(vec![Field::new("v", DataType::Int64, true)]));
        RecordBatch::try_new(schema, vec![Arc::new(Int64Array::from(values.to_vec()))]).unwrap()
    }
    fn values(rows: &RecordBatch) -> Vec<i64> {
        rows.column(0).as_primitive::<Int64Type>().values().to_vec()
    }

    #[test]
    fn wanted_rows_survive_the_others() {
        let mut kept = KeptRows::default();
        assert_eq!(kept.add(&batch(&[1, 2, 3]), &[0, 2]).unwrap(), 0);
        assert_eq!(kept.add(&batch(&[4, 5]), &[0, 1]).unwrap(), 1);
        assert_eq!(values(&gather(kept.batches(), &[(1, 1), (0, 1), (0, 0)]).unwrap()), [5, 3, 1]);
        kept.settle(&[(1, 0), (0, 1)]).unwrap();
        assert_eq!(values(&kept.batches()[0]), [4, 3]);
        assert!(!kept.is_loose(2));
        kept.settle(&[]).unwrap();
        assert_eq!(kept.add(&batch(&[6]), &[0]).unwrap(), 0);
    }

    #[test]
    fn many_small_batches_are_loose() {
        let mut kept = KeptRows::default();
        for value in 0..100 {
            kept.add(&batch(&[value]), &[0]).unwrap();
        }
        assert!(kept.is_loose(100));
        let all: Vec<Place> = (0..100).map(|batch| (batch, 0)).collect();
        kept.settle(&all).unwrap();
        assert_eq!((kept.batches().len(), kept.is_loose(100)), (1, false));
    }
}
