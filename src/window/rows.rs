//! The rows of a batch on their way into tables.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, UInt32Array};
use arrow::buffer::ScalarBuffer;
use arrow::datatypes::{DataType as ArrowType, Int32Type, TimeUnit, TimestampMillisecondType};

use super::zone::Scale;
use crate::aggregate::AggregateCall;
use crate::batch::EventBatch;
use crate::error::{Error, Result};
use crate::key::KeyHash;
use crate::plan::WindowAggregateSpec;
use crate::state::table::{Inputs, Shape};
use crate::state::{EncodedKeys, KeyEncoder, KeyIndex};
use crate::types::Schema;

/// Which columns of the input an operator reads, and what its tables look like.
pub(super) struct Reader {
    pub shape: Shape,
    keys: Vec<usize>,
    /// Columns that keys, arguments and filters are read from.
    used: Vec<usize>,
    /// See [`WindowAggregateSpec::set`].
    set: Option<usize>,
}

/// Rows with their keys and the inputs of the aggregates.
pub(super) struct Chunk<'a> {
    pub hashes: Cow<'a, [KeyHash]>,
    pub keys: EncodedKeys,
    pub inputs: Inputs,
}

impl Reader {
    /// # Errors
    /// Internal if the specification names a column that the input does not have; unsupported for nested keys.
    pub(super) fn new(spec: &WindowAggregateSpec) -> Result<Self> {
        Ok(Reader { set: spec.set, ..Self::of(&spec.keys, &spec.aggregates, &spec.input)? })
    }

    /// Of rows of the schema `input`.
    ///
    /// # Errors
    /// As [`Reader::new`].
    pub(super) fn of(keys: &[usize], calls: &[AggregateCall], input: &Schema) -> Result<Self> {
        let mut used: Vec<usize> = keys.to_vec();
        used.extend(calls.iter().flat_map(|call| call.args.iter().copied().chain(call.filter)));
        used.sort_unstable();
        used.dedup();
        if let Some(beyond) = used.iter().find(|&&column| column >= input.len()) {
            return Err(Error::internal(format!("an aggregate of column {beyond} of {}", input.len())));
        }
        let types: Vec<ArrowType> = keys.iter().map(|&key| input.fields[key].data_type.kind.to_arrow()).collect();
        let shape = Shape { encoder: Arc::new(KeyEncoder::new(&types)?), calls: calls.into() };
        Ok(Reader { shape, keys: keys.to_vec(), used, set: None })
    }

    /// An index for the keys.
    pub(super) fn index(&self) -> KeyIndex {
        KeyIndex::new(self.shape.encoder.clone())
    }

    /// The group of each row of a batch in an index of keys, which learns the new ones.
    ///
    /// # Errors
    /// As [`Reader::check`].
    pub(super) fn groups(&self, batch: &EventBatch, index: &mut KeyIndex) -> Result<Vec<u32>> {
        self.check(batch)?;
        let rows = batch.rows.num_rows();
        let chunk = self.range(batch, 0, rows)?;
        let mut groups = Vec::with_capacity(rows);
        index.find_or_insert(&chunk.hashes, &chunk.keys, &mut groups)?;
        Ok(groups)
    }

    /// The rows `[from, to)` of a batch.
    pub(super) fn range<'a>(&self, batch: &'a EventBatch, from: usize, to: usize) -> Result<Chunk<'a>> {
        let whole = from == 0 && to == batch.rows.num_rows();
        let rows = if whole { batch.rows.clone() } else { batch.rows.slice(from, to - from) };
        self.chunk(rows.columns(), batch.hashes.get(from..to).unwrap_or_default().into(), to - from)
    }

    /// The given rows of a batch, ascending.
    pub(super) fn rows<'a>(&self, batch: &'a EventBatch, rows: &[u32]) -> Result<Chunk<'a>> {
        if let [first, .., last] = rows
            && (last - first) as usize == rows.len() - 1
        {
            return self.range(batch, *first as usize, *last as usize + 1);
        }
        let indices = UInt32Array::from(rows.to_vec());
        let mut columns = batch.rows.columns().to_vec();
        for &column in &self.used {
            columns[column] = arrow::compute::take(&columns[column], &indices, None)
                .map_err(|error| Error::internal(format!("taking rows: {error}")))?;
        }
        let hashes: Vec<KeyHash> = if batch.hashes.is_empty() {
            Vec::new()
        } else {
            rows.iter().map(|&row| batch.hashes[row as usize]).collect()
        };
        self.chunk(&columns, hashes.into(), rows.len())
    }

    /// Those of the rows that count as rows of the input: of copies for several grouping sets, one does.
    pub(super) fn counted<'a>(
        &self,
        batch: &'a EventBatch,
        rows: impl Iterator<Item = usize> + 'a,
    ) -> impl Iterator<Item = usize> + 'a {
        let sets = self.set.map(|set| batch.rows.column(set).as_primitive::<Int32Type>());
        rows.filter(move |&row| sets.is_none_or(|sets| sets.value(row) == 0))
    }

    fn chunk<'a>(&self, columns: &[ArrayRef], hashes: Cow<'a, [KeyHash]>, rows: usize) -> Result<Chunk<'a>> {
        let keys: Vec<ArrayRef> = self.keys.iter().map(|&key| columns[key].clone()).collect();
        Ok(Chunk {
            hashes,
            keys: self.shape.encoder.encode(&keys, rows)?,
            inputs: Inputs::of(&self.shape.calls, columns, rows)?,
        })
    }

    /// # Errors
    /// Internal if a batch has too few columns or hashes.
    pub(super) fn check(&self, batch: &EventBatch) -> Result<()> {
        let (rows, columns) = (batch.rows.num_rows(), batch.rows.num_columns());
        if self.used.last().is_some_and(|&last| last >= columns) {
            return Err(Error::internal(format!("a batch of {columns} columns for a window aggregate")));
        }
        if !self.keys.is_empty() && batch.hashes.len() != rows {
            return Err(Error::internal(format!("{} key hashes for {rows} rows", batch.hashes.len())));
        }
        Ok(())
    }
}

/// A column of times in milliseconds.
///
/// # Errors
/// Internal if it is none, data if it has NULLs.
pub(super) fn times(batch: &RecordBatch, column: usize) -> Result<ScalarBuffer<i64>> {
    let wrong = || Error::internal(format!("column {column} must hold times in milliseconds"));
    let array = batch.columns().get(column).ok_or_else(wrong)?;
    if !matches!(array.data_type(), ArrowType::Timestamp(TimeUnit::Millisecond, _)) {
        return Err(wrong());
    }
    if array.null_count() > 0 {
        return Err(null_time());
    }
    Ok(array.as_primitive::<TimestampMillisecondType>().values().clone())
}

/// The error for a row whose event time is NULL, because a join has padded it.
pub fn null_time() -> Error {
    Error::data("the time column of a window is NULL").help("filter such rows out before the window")
}

/// A time column on the scale of the windows.
pub(super) fn local_times(batch: &RecordBatch, column: usize, scale: &mut Scale) -> Result<ScalarBuffer<i64>> {
    let times = times(batch, column)?;
    if scale.is_plain() {
        return Ok(times);
    }
    Ok(times.iter().map(|&time| scale.local(time)).collect::<Vec<_>>().into())
}

/// The first of these window ends that has not fired.
pub(super) fn next_end(ends: &[i64], horizon: i64) -> i64 {
    ends.iter().copied().filter(|&end| end > horizon).min().unwrap_or(i64::MAX)
}

/// Rows by what `of` says of them, in the order of the rows; rows of `None` are left out.
pub(super) fn split<K: Copy + Eq + Hash>(
    rows: std::ops::Range<usize>,
    of: impl Fn(usize) -> Option<K>,
) -> Vec<(K, Vec<u32>)> {
    let mut parts: Vec<(K, Vec<u32>)> = Vec::new();
    let mut places: HashMap<K, usize> = HashMap::new();
    let mut last = 0;
    for row in rows {
        let Some(key) = of(row) else { continue };
        // Neighbours mostly belong together.
        if parts.get(last).is_none_or(|(k, _)| *k != key) {
            last = *places.entry(key).or_insert(parts.len());
            if last == parts.len() {
                parts.push((key, Vec::new()));
            }
        }
        parts[last].1.push(row as u32);
    }
    parts
}
