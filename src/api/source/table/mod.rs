//! Tables as sources: any file format, and made-up tables, by the DDL of Flink SQL.

mod cell;
mod row;

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use arrow::array::AsArray;
use arrow::datatypes::{SchemaRef, TimestampMillisecondType};

pub use cell::{Decimal, FromColumn};
pub use row::{Columns, Row};

use super::{OpenOptions, RecordSplit, Source, SourceBlock};
use crate::error::{Error, Result};
use crate::expr::EvalContext;
use crate::plan::ScanSpec;
use crate::shard::columns::scan::{self, ScanBatch, ScanContext};
use crate::source::{self, Extent, STDIN, Split, Transition, Wake};
use crate::sql::table::{self, SourceTable};
use crate::time::EventTime;
use crate::windowing::Data;

type Convert<T> = Arc<dyn Fn(&Columns<'_>, &mut Vec<T>) -> Result<()> + Send + Sync>;

/// The rows of a table, each made a record by a function of the program. All shards decode side by side.
///
/// ```no_run
/// use transom::api::StreamExecutionEnvironment;
/// use transom::api::source::{Row, TableSource};
///
/// # fn main() -> transom::error::Result<()> {
/// let clicks = TableSource::from_ddl(
///     "CREATE TABLE clicks (user_id BIGINT, page STRING, ts TIMESTAMP(3),
///        WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
///      WITH ('connector' = 'filesystem', 'path' = 'clicks/*.csv.gz', 'format' = 'csv')",
///     |row: &Row<'_>| Ok((row.i64(0)?, row.get::<Option<&str>>("page")?.map(str::to_string))),
/// )?;
/// let environment = StreamExecutionEnvironment::new();
/// environment.from_table(clicks).key_by(|click| click.0);
/// # Ok(()) }
/// ```
pub struct TableSource<T> {
    table: SourceTable,
    convert: Convert<T>,
}

impl<T: Data> TableSource<T> {
    /// `ddl`: `CREATE TABLE` with all that SQL knows of it, perhaps with `SET` before it. `convert` makes a record of a
    /// row; an error of its ends the job, with the file and line of the row. All columns of the DDL are decoded, so name
    /// those that are wanted only; Parquet, Avro and JSON find them by their names.
    ///
    /// # Errors
    /// The DDL is wrong, with line and column in it.
    pub fn from_ddl(ddl: &str, convert: impl Fn(&Row<'_>) -> Result<T> + Send + Sync + 'static) -> Result<Self> {
        Self::from_ddl_by_columns(ddl, move |columns, records| {
            for number in 0..columns.rows() {
                records.push(convert(&columns.row(number))?);
            }
            Ok(())
        })
    }

    /// As [`from_ddl`](Self::from_ddl), for a function over whole columns, which saves looking at the type of each value.
    /// It appends one record a row, in their order; where it fails, what it has appended tells which row is at fault.
    ///
    /// # Errors
    /// As [`from_ddl`](Self::from_ddl).
    pub fn from_ddl_by_columns(
        ddl: &str,
        convert: impl Fn(&Columns<'_>, &mut Vec<T>) -> Result<()> + Send + Sync + 'static,
    ) -> Result<Self> {
        Ok(TableSource { table: table::source(ddl)?, convert: Arc::new(convert) })
    }

    /// Of the table.
    pub fn name(&self) -> &str {
        &self.table.scan.table
    }
    /// Options that do not do what their author may think, one sentence each.
    pub fn warnings(&self) -> &[String] {
        &self.table.warnings
    }
}

impl<T: Data> Source<T> for TableSource<T> {
    fn open(&self, options: &OpenOptions) -> Result<Vec<Arc<dyn RecordSplit<T>>>> {
        let scan = &self.table.scan;
        let now_ms = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64);
        let reading = Arc::new(Reading {
            schema: scan.schema.to_arrow(),
            scan: scan.clone(),
            context: EvalContext { time_zone: self.table.time_zone.clone(), now_ms },
            batch_rows: options.block_rows.max(1),
            convert: self.convert.clone(),
        });
        let splits = source::open_with(scan, options.block_bytes, false)?.into_iter();
        let of_table = |split| Arc::new(TableSplit { reading: reading.clone(), split }) as Arc<dyn RecordSplit<T>>;
        Ok(splits.map(of_table).collect())
    }
    fn has_watermarks(&self) -> bool {
        self.table.scan.watermark.is_some()
    }
}

/// What the splits of a table have in common.
struct Reading<T> {
    scan: ScanSpec,
    schema: SchemaRef,
    context: EvalContext,
    batch_rows: usize,
    convert: Convert<T>,
}

struct TableSplit<T> {
    reading: Arc<Reading<T>>,
    split: Arc<dyn Split>,
}

impl<T: Data> TableSplit<T> {
    /// Adds the records of a batch. An error comes with the number of its row in the batch.
    fn append(&self, batch: &ScanBatch, block: &mut SourceBlock<T>) -> Result<(), (usize, Error)> {
        let Reading { scan, convert, .. } = &*self.reading;
        let (before, rows) = (block.values.len(), batch.rows.num_rows());
        let columns = Columns::new(&scan.schema, &batch.rows).map_err(|error| (0, error))?;
        block.values.reserve(rows);
        let converted = convert(&columns, &mut block.values);
        let made = block.values.len() - before;
        converted.map_err(|error| (made.min(rows.saturating_sub(1)), error))?;
        if made != rows {
            let error = Error::usage(format!("{made} records were made of {rows} rows of table {}", scan.table));
            return Err((0, error.help("append one record a row, and filter or flat_map the stream")));
        }
        if let Some(watermark) = &scan.watermark {
            let times = batch.rows.column(watermark.time).as_primitive::<TimestampMillisecondType>();
            block.timestamps.get_or_insert_default().extend_from_slice(times.values());
        }
        if let Some(watermarks) = &batch.watermarks {
            block.watermarks.get_or_insert_default().extend(watermarks.iter().map(emitted));
        }
        Ok(())
    }
}

/// Flink's operator for a WATERMARK clause begins at 0 and hands on what is above.
fn emitted(watermark: Option<EventTime>) -> EventTime {
    watermark.filter(|&watermark| watermark > 0).unwrap_or(EventTime::MIN)
}

impl<T: Data> RecordSplit<T> for TableSplit<T> {
    fn extent(&self) -> Extent {
        self.split.extent()
    }
    fn extend(&self) -> Extent {
        self.split.extend()
    }
    fn start(&self, wake: &Wake, alone: bool) {
        self.split.start(wake, alone);
    }
    fn bytes(&self) -> u64 {
        self.split.bytes()
    }
    fn name(&self) -> &str {
        self.split.name()
    }
    fn why_not_replayed(&self) -> Option<String> {
        (self.split.name() == STDIN).then(|| String::from("reads stdin, which can't be read again"))
    }
    fn pass_over(&self, blocks: usize) -> Result<()> {
        self.split.pass_over(blocks)
    }
    fn notices(&self) -> Vec<String> {
        let table = &self.reading.scan.table;
        let missing = self.split.missing().into_iter();
        missing.map(|what| format!("{} has {what}; table `{table}` takes NULL for it", self.split.name())).collect()
    }
    fn probe(&self, block: usize) -> Result<Transition> {
        self.split.probe(block)
    }
    fn read(&self, block: usize) -> Result<SourceBlock<T>> {
        self.read_from(block, 0)
    }
    fn read_from(&self, block: usize, entry: u8) -> Result<SourceBlock<T>> {
        let Reading { scan, schema, context, batch_rows, .. } = &*self.reading;
        let (place, split) = ((block, entry), &*self.split);
        let mut read = SourceBlock::of(Vec::new());
        let mut take = |batch: ScanBatch| {
            let before = read.values.len();
            self.append(&batch, &mut read).map_err(|(row, error)| {
                scan::place_row(error, split, place, (before + row) as u64)
                    .map_or_else(|error| error, |placed| placed.0)
            })
        };
        let read_each = scan::read_each(
            split,
            &ScanContext { spec: scan, schema, context },
            place,
            (*batch_rows, false),
            &mut take,
        );
        split.release(block);
        let (stats, _) = read_each?;
        (read.bytes, read.malformed) = (stats.bytes, stats.malformed);
        Ok(read)
    }
}
