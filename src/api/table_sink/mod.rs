//! Tables as sinks: records become rows of a table in any format.

mod cell;
mod row;

use std::any::Any;
use std::sync::Arc;

pub use cell::Cell;
pub use row::RowBuilder;

use super::sink::{AnySink, in_order};
use crate::error::{Error, Result};
use crate::job::output::OpenSink;
use crate::limits;
use crate::plan::{SinkConnector, SinkSpec};
use crate::sink::{self, Sink, SinkWriter};
use crate::snapshot::{Closed, SinkState};
use crate::sql::table;
use crate::windowing::Data;

type Fill<T> = Box<dyn FnMut(T, &mut RowBuilder) -> Result<()> + Send>;

/// Writes each record as a row of a table, in the order of one machine, on the thread that executes the program.
///
/// ```no_run
/// use transom::api::{RowBuilder, StreamExecutionEnvironment, TableSink};
///
/// # fn main() -> transom::error::Result<()> {
/// let table = TableSink::from_ddl(
///     "CREATE TABLE squares (number BIGINT, square BIGINT)
///      WITH ('connector' = 'filesystem', 'path' = 'squares.parquet', 'format' = 'parquet')",
///     |number: i64, row: &mut RowBuilder| {
///         row.set(0, number)?;
///         row.set(1, number * number)
///     },
/// )?;
/// let environment = StreamExecutionEnvironment::new();
/// environment.from_sequence(1, 100).sink_to(table);
/// environment.execute()?;
/// # Ok(()) }
/// ```
pub struct TableSink<T> {
    spec: SinkSpec,
    warnings: Vec<String>,
    fill: Fill<T>,
    open: Option<Open>,
}

/// A table that is being written.
struct Open {
    sink: Arc<dyn Sink>,
    /// Until it has finished.
    writer: Option<Box<dyn SinkWriter>>,
    rows: RowBuilder,
}

impl<T: Data> TableSink<T> {
    /// `ddl`: `CREATE TABLE`, perhaps with `SET` before it. `fill` sets the columns of a record's row; those that it
    /// does not set are NULL.
    ///
    /// # Errors
    /// The DDL is wrong, with line and column in it.
    pub fn from_ddl(ddl: &str, fill: impl FnMut(T, &mut RowBuilder) -> Result<()> + Send + 'static) -> Result<Self> {
        let (spec, warnings) = table::sink(ddl)?;
        match &spec.connector {
            SinkConnector::Filesystem { .. } | SinkConnector::Blackhole => {}
            SinkConnector::Print { .. } | SinkConnector::Stdout { .. } | SinkConnector::Collect => {
                return Err(Error::script(format!("table {} writes to the terminal", spec.table))
                    .help("use print or for_each of the stream instead"));
            }
        }
        Ok(TableSink { spec, warnings, fill: Box::new(fill), open: None })
    }

    /// Options that do not do what their author may think, one sentence each.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

impl Open {
    fn write(&mut self) -> Result<()> {
        match &mut self.writer {
            Some(writer) if self.rows.len() > 0 => writer.write(&self.rows.take()?),
            _ => Ok(()),
        }
    }
}

impl<T: Data> AnySink for TableSink<T> {
    fn begin(&mut self, state: Option<&SinkState>) -> Result<()> {
        let sink = sink::open(&self.spec)?;
        let rows = RowBuilder::new(&self.spec);
        // Open before there is a writer, so that it can be undone.
        let open = self.open.insert(Open { sink, writer: None, rows });
        state.map_or(Ok(()), |state| open.sink.restore(state))?;
        open.writer = Some(open.sink.writer(0)?);
        Ok(())
    }
    fn take(&mut self, batches: Vec<Box<dyn Any + Send>>) -> Result<()> {
        let Some(open) = &mut self.open else { return Err(Error::internal("a table that was not opened")) };
        for (record, _) in in_order::<T>(batches)? {
            (self.fill)(record, &mut open.rows)?;
            open.rows.end_row()?;
            if open.rows.len() >= limits::BATCH_ROWS_DEFAULT {
                open.write()?;
            }
        }
        Ok(())
    }
    fn files(&self) -> OpenSink {
        self.open.as_ref().map_or(OpenSink::Caller, |open| OpenSink::Own(open.sink.clone()))
    }
    fn describe(&self) -> String {
        format!("{:?} {:?}", self.spec.connector, self.spec.schema)
    }
    fn close(&mut self) -> Result<Closed> {
        let Some(open) = &mut self.open else { return Ok(Closed::default()) };
        open.write()?;
        open.writer.as_mut().map_or(Ok(Closed::default()), |writer| writer.close())
    }
    fn finish(&mut self) -> Result<()> {
        let Some(open) = &mut self.open else { return Ok(()) };
        open.write()?;
        open.writer.take().map_or(Ok(()), |writer| writer.finish())
    }
    fn commit(&mut self) -> Result<()> {
        self.open.as_ref().map_or(Ok(()), |open| open.sink.commit())
    }
    fn abort(&mut self) {
        if let Some(open) = self.open.take() {
            open.sink.abort();
        }
    }
}
