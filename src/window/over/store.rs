//! The rows that OVER keeps: those that wait for their time, and those that frames still need.

use arrow::array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, new_null_array};
use arrow::compute::interleave;
use arrow::datatypes::SchemaRef;

use crate::error::{Error, Result};
use crate::snapshot::{Archive, fits};

/// Where a row lies: the number of its batch, then its row. Later rows have higher places.
pub(super) type Place = u64;

/// Unused rows below this are not worth a copy of the others.
const UNUSED_MIN: usize = 1 << 14;

/// Batches as they came. Once few of their rows are needed, those move together into one batch.
pub(super) struct Store {
    batches: Vec<RecordBatch>,
    rows: usize,
    bytes: usize,
}

impl Store {
    pub fn new() -> Self {
        Store { batches: Vec::new(), rows: 0, bytes: 0 }
    }

    /// Adds rows; the place of the first, the others follow it.
    pub fn push(&mut self, rows: RecordBatch) -> Place {
        self.rows += rows.num_rows();
        self.bytes += rows.get_array_memory_size();
        self.batches.push(rows);
        (self.batches.len() as u64 - 1) << 32
    }

    fn split(place: Place) -> (usize, usize) {
        ((place >> 32) as usize, place as u32 as usize)
    }

    /// A column of the batch that holds the row, and the row's number there.
    #[inline]
    pub fn cell(&self, place: Place, column: usize) -> (&ArrayRef, usize) {
        let (batch, row) = Self::split(place);
        (self.batches[batch].column(column), row)
    }

    /// The columns `0..width` of rows.
    pub fn columns(&self, places: &[Place], width: usize) -> Result<Vec<ArrayRef>> {
        let rows: Vec<(usize, usize)> = places.iter().map(|&place| Self::split(place)).collect();
        (0..width)
            .map(|column| {
                let arrays: Vec<&dyn Array> = self.batches.iter().map(|batch| batch.column(column).as_ref()).collect();
                Ok(interleave(&arrays, &rows)?)
            })
            .collect()
    }

    /// Values of rows, each of a column of its own; NULL where there is none. All columns have the type of the first.
    pub fn values(&self, picks: &[Option<(usize, Place)>], columns: &[usize]) -> Result<ArrayRef> {
        let Some(batch) = self.batches.first() else {
            return Err(Error::internal("values of rows that are not kept"));
        };
        let missing = new_null_array(batch.column(columns[0]).data_type(), 1);
        let mut arrays: Vec<&dyn Array> = vec![missing.as_ref()];
        for &column in columns {
            arrays.extend(self.batches.iter().map(|batch| batch.column(column).as_ref()));
        }
        let source = |pick: &Option<(usize, Place)>| match pick {
            None => (0, 0),
            Some((column, place)) => {
                let (batch, row) = Self::split(*place);
                let nth = columns.iter().position(|known| known == column).unwrap_or(0);
                (1 + nth * self.batches.len() + batch, row)
            }
        };
        let rows: Vec<(usize, usize)> = picks.iter().map(source).collect();
        Ok(interleave(&arrays, &rows)?)
    }

    /// Whether so many rows are unused that [`Store::compact`] pays, if `used` are in use.
    pub fn is_sparse(&self, used: usize) -> bool {
        self.rows > 4 * used + UNUSED_MIN
    }

    /// Keeps the rows at `places` alone, which are ascending without repetition. The new place of each is its number
    /// among them.
    pub fn compact(&mut self, places: &[Place], schema: &SchemaRef) -> Result<()> {
        let before = std::mem::replace(self, Store::new());
        if !places.is_empty() {
            let options = RecordBatchOptions::new().with_row_count(Some(places.len()));
            let columns = before.columns(places, schema.fields().len())?;
            self.push(RecordBatch::try_new_with_options(schema.clone(), columns, &options)?);
        }
        Ok(())
    }

    /// Adds the rows of another, which has been made compact; the place of the first.
    pub fn take_over(&mut self, other: Store) -> Place {
        let first = (self.batches.len() as u64) << 32;
        for rows in other.batches {
            self.push(rows);
        }
        first
    }

    /// Names its rows, which have been made compact: the place of each is its number.
    pub fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        archive.rows(&mut self.batches)?;
        if archive.is_reading() {
            let batches = std::mem::take(&mut self.batches);
            for rows in batches {
                self.push(rows);
            }
        }
        fits(self.batches.len() <= 1)
    }

    pub fn rows(&self) -> usize {
        self.rows
    }
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}
