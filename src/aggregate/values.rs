//! Values of any type, by number.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, RecordBatch, UInt32Array, new_empty_array};
use arrow::compute::{concat, interleave, take};
use arrow::datatypes::{DataType as ArrowType, Field, Schema};

use crate::error::{Error, Result};
use crate::snapshot::Archive;

/// Chunks beyond either are left as they are.
const CHUNK_ROWS_MAX: usize = 65_536;
const CHUNK_BYTES_MAX: usize = 64 << 20;

/// A column that grows at its end, in chunks. A chunk is put together with the one before it while that one is less
/// than twice as long, so there are few of them and each value is copied a few times at most.
pub(super) struct Values {
    data_type: ArrowType,
    chunks: Vec<ArrayRef>,
    /// Number of the first value of each chunk.
    starts: Vec<usize>,
    len: usize,
    bytes: usize,
}

impl Values {
    pub(super) fn new(data_type: ArrowType) -> Self {
        Values { data_type, chunks: Vec::new(), starts: Vec::new(), len: 0, bytes: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Appends the rows of a column that are named.
    ///
    /// # Errors
    /// Internal if the column has another type.
    pub(super) fn push_rows(&mut self, array: &ArrayRef, rows: &[u32]) -> Result<()> {
        if *array.data_type() != self.data_type {
            return Err(Error::internal(format!("values of {} among those of {}", array.data_type(), self.data_type)));
        }
        self.push(take(array, &UInt32Array::from(rows.to_vec()), None).map_err(failed)?)
    }

    /// Appends values of another column; they may be too many for one array.
    pub(super) fn push_from(&mut self, other: &Values, numbers: &[u32]) -> Result<()> {
        for numbers in numbers.chunks(CHUNK_ROWS_MAX) {
            match other.take(numbers) {
                Ok(array) => self.push(array)?,
                Err(error) if numbers.len() == 1 => return Err(error),
                Err(_) => {
                    let (left, right) = numbers.split_at(numbers.len() / 2);
                    self.push_from(other, left)?;
                    self.push_from(other, right)?;
                }
            }
        }
        Ok(())
    }

    fn push(&mut self, array: ArrayRef) -> Result<()> {
        if array.is_empty() {
            return Ok(());
        }
        self.starts.push(self.len);
        self.len += array.len();
        self.bytes += array.get_array_memory_size();
        self.chunks.push(array);
        while let [.., before, last] = self.chunks.as_slice() {
            let small =
                |array: &ArrayRef| array.len() < CHUNK_ROWS_MAX && array.get_array_memory_size() < CHUNK_BYTES_MAX;
            if before.len() >= 2 * last.len() || !small(before) || !small(last) {
                break;
            }
            let both = concat(&[before, last]).map_err(failed)?;
            self.bytes += both.get_array_memory_size();
            self.bytes -= before.get_array_memory_size() + last.get_array_memory_size();
            self.chunks.truncate(self.chunks.len() - 2);
            self.chunks.push(both);
            self.starts.pop();
        }
        Ok(())
    }

    /// The chunk of a value, and its place there.
    pub(super) fn locate(&self, number: u32) -> (usize, usize) {
        let number = number as usize;
        let chunk = self.starts.partition_point(|&start| start <= number) - 1;
        (chunk, number - self.starts[chunk])
    }

    pub(super) fn chunks(&self) -> &[ArrayRef] {
        &self.chunks
    }

    /// The values with these numbers.
    ///
    /// # Errors
    /// Data if they are too large for one column.
    pub(super) fn take(&self, numbers: &[u32]) -> Result<ArrayRef> {
        if numbers.is_empty() {
            return Ok(new_empty_array(&self.data_type));
        }
        let places: Vec<(usize, usize)> = numbers.iter().map(|&number| self.locate(number)).collect();
        let chunks: Vec<&dyn Array> = self.chunks.iter().map(AsRef::as_ref).collect();
        interleave(&chunks, &places).map_err(|error| {
            Error::data(format!("the values of one result column are too large: {error}"))
                .help("filter the rows, or take smaller windows")
        })
    }

    pub(super) fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        let field = Arc::new(Field::new("value", self.data_type.clone(), true));
        let schema = Arc::new(Schema::new(vec![field]));
        let batch = |chunk: &ArrayRef| RecordBatch::try_new(schema.clone(), vec![chunk.clone()]);
        let mut batches = self.chunks.iter().map(batch).collect::<std::result::Result<_, _>>()?;
        archive.rows(&mut batches)?;
        if archive.is_reading() {
            batches.iter().try_for_each(|batch| self.push(batch.column(0).clone()))?;
        }
        Ok(())
    }

    /// The column of only these values, in this order.
    pub(super) fn kept(&self, numbers: &[u32]) -> Result<Values> {
        let mut kept = Values::new(self.data_type.clone());
        kept.push_from(self, numbers)?;
        Ok(kept)
    }
}

fn failed(error: arrow::error::ArrowError) -> Error {
    Error::internal(format!("putting values together: {error}"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{AsArray, StringArray};

    use super::*;

    #[test]
    fn values_keep_their_numbers_while_chunks_grow_together() {
        let mut values = Values::new(ArrowType::Utf8);
        for number in 0..500 {
            let array: ArrayRef = Arc::new(StringArray::from(vec!["-".to_string(), format!("v{number}")]));
            values.push_rows(&array, &[1]).unwrap();
        }
        assert!(values.len() == 500 && values.chunks().len() < 12);
        let taken = values.take(&[499, 0, 7, 7]).unwrap();
        assert_eq!(taken.as_string::<i32>().iter().flatten().collect::<Vec<_>>(), ["v499", "v0", "v7", "v7"]);
        let kept = values.kept(&[3, 1]).unwrap();
        assert_eq!(kept.take(&[0, 1]).unwrap().as_string::<i32>().value(0), "v3");
        assert!(values.take(&[]).unwrap().is_empty());
        let other: ArrayRef = Arc::new(UInt32Array::from(vec![1]));
        assert!(values.push_rows(&other, &[0]).is_err());
    }
}
