//! Changes on their way out: in the order of the rows that caused them, where that is asked for.

use arrow::array::{ArrayRef, AsArray, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow::compute::{concat_batches, take_record_batch};
use arrow::datatypes::{Int64Type, SchemaRef};

use super::changes::Changes;
use crate::error::{Error, Result};
use crate::key::KeyHash;
use crate::types::RowKind;
use crate::window::{Emit, Emitted};

/// Ends of windows beyond are one as far as their order goes; no calendar reaches so far.
const END_MAX: i64 = 1 << 60;

/// Holds the changes of a block back until all of its rows have come, where their order counts.
pub(in crate::window) struct Pending {
    schema: SchemaRef,
    ordered: bool,
    batches: Vec<RecordBatch>,
    rows: Vec<Row>,
}

/// What decides where a row stands among those of all shards.
#[derive(Clone, Copy)]
struct Row {
    /// Of the row that caused it, in the block.
    place: i64,
    /// Of its key.
    hash: KeyHash,
    kind: RowKind,
}

impl Pending {
    pub(in crate::window) fn new(schema: SchemaRef, ordered: bool) -> Self {
        Pending { schema, ordered, batches: Vec::new(), rows: Vec::new() }
    }

    /// `places` and `hashes` are those of the rows of the input.
    pub(in crate::window) fn push(
        &mut self,
        columns: Vec<ArrayRef>,
        changes: &Changes,
        places: Option<&ArrayRef>,
        hashes: &[KeyHash],
        emit: Emit<'_>,
    ) -> Result<()> {
        let options = RecordBatchOptions::new().with_row_count(Some(changes.rows.len()));
        let rows = RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?;
        if rows.num_rows() == 0 {
            return Ok(());
        }
        if !self.ordered {
            return emit(Emitted::at(rows, 0));
        }
        let wrong = || Error::internal("the places of rows are no numbers");
        let places = places.map(|places| places.as_primitive_opt::<Int64Type>().ok_or_else(wrong)).transpose()?;
        for (&row, &kind) in changes.rows.values().iter().zip(changes.kinds.values()) {
            let place = places.map_or(0, |places| places.value(row as usize));
            let hash = hashes.get(row as usize).copied().unwrap_or(0);
            self.rows.push(Row { place, hash, kind: RowKind::of_code(kind) });
        }
        self.batches.push(rows);
        Ok(())
    }

    /// Rows of the window that ends at `end`, all of them new, which come before all changes of the block. `hashes` are
    /// those of their keys.
    pub(in crate::window) fn push_window(
        &mut self,
        rows: RecordBatch,
        end: i64,
        hashes: impl Iterator<Item = KeyHash>,
        emit: Emit<'_>,
    ) -> Result<()> {
        if !self.ordered {
            return emit(Emitted::at(rows, 0));
        }
        let place = i64::MIN / 4 + end.clamp(-END_MAX, END_MAX);
        self.rows.extend(hashes.map(|hash| Row { place, hash, kind: RowKind::Insert }));
        self.batches.push(rows);
        Ok(())
    }

    /// What has been held back, in order, with its times.
    pub(in crate::window) fn take(&mut self) -> Result<Option<(RecordBatch, Vec<i64>)>> {
        let (batches, rows) = (std::mem::take(&mut self.batches), std::mem::take(&mut self.rows));
        if batches.is_empty() {
            return Ok(None);
        }
        let all = concat_batches(&self.schema, &batches)?;
        let mut order: Vec<u32> = (0..rows.len() as u32).collect();
        let place = |&row: &u32| (rows[row as usize].place, rows[row as usize].hash);
        order.sort_by_key(place);
        let mut times = vec![0; rows.len()];
        for run in order.chunk_by(|a, b| place(a) == place(b)) {
            for &row in run {
                times[row as usize] = time(&rows[row as usize], run.len());
            }
        }
        let time = |&row: &u32| (times[row as usize], rows[row as usize].hash);
        order.sort_by_key(time);
        let in_order = order.iter().map(|&row| times[row as usize]).collect();
        let all = if order.is_sorted() { all } else { take_record_batch(&all, &UInt32Array::from(order))? };
        Ok(Some((all, in_order)))
    }
}

/// The row that an update takes away stands before the one that it brings, also where their ways part. Several changes
/// of one key in one place stay together as they are.
fn time(row: &Row, changes: usize) -> i64 {
    let later = row.kind == RowKind::UpdateAfter && changes <= 2;
    row.place.saturating_mul(2).saturating_add(i64::from(later))
}
