//! Reads blocks of a table: decoded columns become the scan's columns, without rows that have no event time.

use std::sync::Arc;

use arrow::array::{Array, AsArray, BooleanArray, Int64Array, RecordBatch};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{DataType as ArrowType, Int64Type, SchemaRef, TimeUnit};

use super::chain;
use crate::error::{Error, Result};
use crate::expr::{EvalContext, Expr};
use crate::plan::ScanSpec;
use crate::source::{BlockStats, Position, Reason, Rejected, Split};
use crate::watermark::Peaks;

/// A file of a branch's table.
#[derive(Clone)]
pub struct SplitEntry {
    pub branch: usize,
    pub split: Arc<dyn Split>,
}

/// A batch of a scan's columns.
pub struct ScanBatch {
    pub rows: RecordBatch,
    /// The watermark expression of each row in milliseconds, for tables that have one.
    pub watermarks: Option<Int64Array>,
    pub peaks: Peaks,
}

/// A block between its reading and its turn.
pub struct Block {
    pub batches: Vec<ScanBatch>,
    pub stats: BlockStats,
    /// Rows taken out because their event time is NULL, numbered from 0 as the split hands them out.
    pub null_times: Vec<u64>,
}

impl Block {
    /// Decodes a block, which whoever calls releases. `set_aside`: rows without an event time are taken out instead of
    /// failing the job.
    ///
    /// # Errors
    /// As the split's; a row without an event time.
    pub fn read(
        source: &dyn Split,
        scan: &ScanContext<'_>,
        (block, entry): (usize, u8),
        batch_rows: usize,
        set_aside: bool,
    ) -> Result<Self> {
        let mut batches = Vec::new();
        let mut take = |batch| {
            batches.push(batch);
            Ok(())
        };
        let (stats, null_times) = read_each(source, scan, (block, entry), (batch_rows, set_aside), &mut take)?;
        Ok(Block { batches, stats, null_times })
    }

    /// The highest values of the watermark expression.
    pub fn peaks(&self) -> Peaks {
        self.batches.iter().fold(Peaks::NONE, |peaks, batch| peaks.and(batch.peaks))
    }
}

/// As [`Block::read`], but hands each batch to `take` when it is decoded. What was counted, and the rows without an
/// event time, numbered from 0.
///
/// # Errors
/// As [`Block::read`]; those of `take`.
pub fn read_each(
    source: &dyn Split,
    scan: &ScanContext<'_>,
    (block, entry): (usize, u8),
    (batch_rows, set_aside): (usize, bool),
    take: &mut dyn FnMut(ScanBatch) -> Result<()>,
) -> Result<(BlockStats, Vec<u64>)> {
    let mut null_times = NullTimes::new(set_aside);
    let result = source.decode(block, entry, batch_rows, &mut |batch| {
        let rows = scan.evaluate(&batch, &mut null_times).map_err(|fault| match fault {
            Fault::NullTime(row) => null_time(scan, source, (block, entry), row),
            Fault::Error(error) => error.in_file(source.name()),
        })?;
        take(rows)
    });
    let null_times = null_times.rows;
    let stats = result.and_then(|stats| with_null_times(stats, source, (block, entry), &null_times))?;
    Ok((stats, null_times))
}

/// Adds the rows of a block that have no event time to what it sets aside.
fn with_null_times(
    mut stats: BlockStats,
    source: &dyn Split,
    (block, entry): (usize, u8),
    rows: &[u64],
) -> Result<BlockStats> {
    if !rows.is_empty() {
        let records = source.records(block, entry, rows)?.into_iter();
        let rejected = &mut stats.aside.rejected;
        rejected.extend(records.map(|(position, text)| Rejected { position, reason: Reason::NullTime, text }));
        rejected.sort_by_key(|rejected| rejected.position.order());
    }
    Ok(stats)
}

/// The error of a row of a block; says where its record stands.
#[cold]
fn null_time(scan: &ScanContext, source: &dyn Split, (block, entry): (usize, u8), row: u64) -> Error {
    let column = &scan.spec.schema.fields[scan.spec.watermark.as_ref().map_or(0, |w| w.time)].name;
    let what = format!("the event time `{column}` of table {} is NULL", scan.spec.table);
    let (error, record) = match place_row(Error::data(what), source, (block, entry), row) {
        Ok(placed) => placed,
        Err(error) => return error,
    };
    let computed = scan
        .spec
        .watermark
        .as_ref()
        .is_some_and(|watermark| !matches!(scan.spec.columns[watermark.time], Expr::Column { .. }));
    let unit = record.as_deref().filter(|_| computed).and_then(fine_epoch);
    error.help(unit.map_or_else(
        || {
            format!(
                "repair or filter such rows before they are read, make `{column}` a computed column, for example \
                 COALESCE(…), or set 'transom.quarantine.path' to a file that takes them"
            )
        },
        |(number, unit, divisor)| {
            format!(
                "{number} looks like {unit} since 1970, and TO_TIMESTAMP_LTZ gives NULL beyond the year 9999: divide by \
                 {divisor} to get milliseconds; 'transom.quarantine.path' sets such rows aside"
            )
        },
    ))
}

/// The error with the place of a row of a block, which has not been released yet, and the text of its record.
///
/// # Errors
/// The block cannot be read once more.
#[cold]
pub fn place_row(
    error: Error,
    source: &dyn Split,
    (block, entry): (usize, u8),
    row: u64,
) -> Result<(Error, Option<String>)> {
    let record = source.records(block, entry, &[row])?.into_iter().next();
    let error = match record.as_ref().map(|(position, _)| place_of(source, block, *position)) {
        Some((line, Some(column))) => error.at(line, column),
        Some((row, None)) => error.prefixed(&format!("row {row}")),
        None => error,
    };
    Ok((error.in_file(source.name()), record.map(|(_, text)| text)))
}

/// A number in a record that is a time of our days in a unit that is too fine for TO_TIMESTAMP_LTZ: the number, the
/// unit, and what makes milliseconds of it.
fn fine_epoch(text: &str) -> Option<(&str, &'static str, i64)> {
    text.split(|c: char| !c.is_ascii_digit()).find_map(|number| match (number.len(), number.as_bytes().first()?) {
        (16, b'1' | b'2') => Some((number, "microseconds", 1_000)),
        (19, b'1' | b'2') => Some((number, "nanoseconds", 1_000_000)),
        _ => None,
    })
}

/// Line and column of a position in a block; for a format that is no text the number of the row alone.
pub fn place_of(source: &dyn Split, block: usize, position: Position) -> (u64, Option<u64>) {
    position.place(|| source.text_before(block))
}

/// What it takes to turn decoded columns into a scan's columns.
pub struct ScanContext<'a> {
    pub spec: &'a ScanSpec,
    pub schema: &'a SchemaRef,
    pub context: &'a EvalContext,
}

/// The rows of a block that have no event time.
pub(super) struct NullTimes {
    /// Rows of the batches before.
    rows_before: u64,
    rows: Vec<u64>,
    /// They are taken out; else the first one is a fault.
    set_aside: bool,
}

enum Fault {
    NullTime(u64),
    Error(Error),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Fault::Error(error)
    }
}

impl ScanContext<'_> {
    /// Without the rows that have no event time.
    pub(super) fn evaluate_all(&self, physical: &RecordBatch, null_times: &mut NullTimes) -> Result<ScanBatch> {
        self.evaluate(physical, null_times).map_err(|fault| match fault {
            Fault::NullTime(row) => Error::internal(format!("row {row} was not taken out")),
            Fault::Error(error) => error,
        })
    }

    fn evaluate(&self, physical: &RecordBatch, null_times: &mut NullTimes) -> std::result::Result<ScanBatch, Fault> {
        let rows = chain::project(&self.spec.columns, self.schema, physical, self.context)?;
        let Some(watermark) = &self.spec.watermark else {
            return Ok(ScanBatch { rows, watermarks: None, peaks: Peaks::NONE });
        };
        let rows = null_times.take_out(rows, watermark.time)?;
        let values = watermark.expression.eval(&rows, self.context)?;
        let milliseconds = arrow::compute::cast(&values, &ArrowType::Timestamp(TimeUnit::Millisecond, None))
            .and_then(|values| arrow::compute::cast(&values, &ArrowType::Int64))
            .map_err(Error::from)?;
        let watermarks = milliseconds.as_primitive::<Int64Type>().clone();
        Ok(ScanBatch { rows, peaks: Peaks::of(&watermarks), watermarks: Some(watermarks) })
    }
}

impl NullTimes {
    pub fn new(set_aside: bool) -> Self {
        NullTimes { rows_before: 0, rows: Vec::new(), set_aside }
    }

    /// Those taken out so far, numbered from 0 as the split hands them out.
    pub fn rows(&self) -> &[u64] {
        &self.rows
    }

    /// The rows that have a time.
    fn take_out(&mut self, rows: RecordBatch, time: usize) -> std::result::Result<RecordBatch, Fault> {
        let before = self.rows_before;
        self.rows_before += rows.num_rows() as u64;
        let Some(nulls) = rows.column(time).nulls().filter(|nulls| nulls.null_count() > 0) else { return Ok(rows) };
        let mut null_rows = (0..nulls.len()).filter(|&row| nulls.is_null(row)).map(|row| before + row as u64);
        if !self.set_aside {
            return Err(Fault::NullTime(null_rows.next().unwrap_or(before)));
        }
        self.rows.extend(null_rows);
        let keep = BooleanArray::new(nulls.inner().clone(), None);
        Ok(filter_record_batch(&rows, &keep).map_err(Error::from)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fine_epoch_is_known_by_its_length() {
        assert_eq!(fine_epoch("a,1714564801000000,7"), Some(("1714564801000000", "microseconds", 1_000)));
        assert_eq!(fine_epoch("{\"t\":1714564801000000000}").map(|found| found.1), Some("nanoseconds"));
        assert_eq!(fine_epoch("a,1714564801000,12345678901234567,"), None);
    }
}
