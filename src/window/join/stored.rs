//! The rows of a side that a join keeps.

use arrow::array::{Array, ArrayRef, RecordBatch, new_null_array};
use arrow::compute::interleave;

use super::pairs::NONE;
use crate::error::{Error, Result};
use crate::snapshot::Archive;

/// Unused rows below this are not worth a copy of the others.
const UNUSED_MIN: usize = 1 << 14;
/// Batches below this are not worth putting together.
const BATCHES_MIN: usize = 64;

/// Rows by number, in the order in which they came.
#[derive(Default)]
pub(super) struct Stored {
    batches: Vec<RecordBatch>,
    /// The number of the first row of each batch.
    firsts: Vec<u32>,
    rows: u32,
    bytes: usize,
}

impl Stored {
    /// Adds rows; the number of the first, the others follow it.
    ///
    /// # Errors
    /// Data if there are too many to be numbered.
    pub(super) fn push(&mut self, rows: RecordBatch) -> Result<u32> {
        let first = self.rows;
        let Some(end) = first.checked_add(rows.num_rows() as u32).filter(|&end| end < NONE) else {
            return Err(Error::data("a join keeps more than four thousand million rows of a side")
                .help("join windows of the two sides, or bound the time of one by that of the other from both ends"));
        };
        if rows.num_rows() > 0 {
            self.bytes += rows.get_array_memory_size();
            self.batches.push(rows);
            self.firsts.push(first);
            self.rows = end;
        }
        Ok(first)
    }

    /// Values of a column in rows, NULL for [`NONE`]. There is at least one row.
    pub(super) fn gather(&self, column: usize, wanted: &[u32]) -> Result<ArrayRef> {
        let mut columns: Vec<&dyn Array> = self.batches.iter().map(|batch| batch.column(column).as_ref()).collect();
        let Some(first) = columns.first() else { return Err(Error::internal("rows of a join that are not kept")) };
        let missing = new_null_array(first.data_type(), 1);
        let place = |&row: &u32| match row {
            NONE => (self.batches.len(), 0),
            row => {
                let batch = self.firsts.partition_point(|&first| first <= row) - 1;
                (batch, (row - self.firsts[batch]) as usize)
            }
        };
        columns.push(missing.as_ref());
        Ok(interleave(&columns, &wanted.iter().map(place).collect::<Vec<_>>())?)
    }

    pub(super) fn rows(&self) -> u32 {
        self.rows
    }
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether so much is kept in vain, with `used` rows in use, that [`Stored::compact`] pays.
    pub(super) fn is_sparse(&self, used: usize) -> bool {
        self.rows as usize > 4 * used + UNUSED_MIN || self.batches.len() > BATCHES_MIN + used / 32
    }

    /// Keeps some rows alone, ascending without repetition: the i-th of them becomes row i.
    pub(super) fn compact(&mut self, used: &[u32]) -> Result<()> {
        let kept = self.picked(used)?;
        *self = Stored::default();
        kept.map_or(Ok(()), |rows| self.push(rows).map(|_| ()))
    }

    fn picked(&self, rows: &[u32]) -> Result<Option<RecordBatch>> {
        let Some(schema) = self.batches.first().map(RecordBatch::schema).filter(|_| !rows.is_empty()) else {
            return Ok(None);
        };
        let columns = (0..schema.fields().len()).map(|column| self.gather(column, rows));
        Ok(Some(RecordBatch::try_new(schema, columns.collect::<Result<_>>()?)?))
    }

    /// Adds some rows of another, ascending: the i-th of them gets the number i behind the one that is given.
    pub(super) fn take_over(&mut self, other: &Stored, rows: &[u32]) -> Result<u32> {
        other.picked(rows)?.map_or(Ok(self.rows), |rows| self.push(rows))
    }

    pub(super) fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        let mut batches = std::mem::take(&mut self.batches);
        archive.rows(&mut batches)?;
        if archive.is_reading() {
            return batches.into_iter().try_for_each(|rows| self.push(rows).map(drop));
        }
        self.batches = batches;
        Ok(())
    }
}
