//! Window jobs as programs of the DataStream API.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use transom::api::prelude::*;
use transom::api::source::{Row, TableSource};
use transom::job::RunOptions;

use super::reference::{COUNT_WINDOW, EARLY_COUNT, KEPT};
use crate::engine::Tuning;
use crate::workload::Spec;
use crate::workload::generate::Generator;
use crate::workload::reference::{Query, ResultRow, Totals};

/// A record.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Event {
    pub time: i64,
    pub key: i64,
    pub value: i64,
}

/// What a job computes: the count and the sum of the values of each window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Job {
    /// A query that SQL has too, on the operator that the planner picks.
    Planned(Query),
    /// The same, on the general operator.
    General(Query),
    /// One minute per key, a result every so many elements.
    CountTrigger,
    /// Windows of so many elements per key.
    CountWindow,
    /// One minute per key, of which the last elements count.
    Evictor,
}

/// Where records come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// Made before the clock starts.
    Memory,
    /// A Parquet file, through a table and a function.
    Table(PathBuf, By),
}

/// What the function that makes records of a table sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    Rows,
    Columns,
}

/// Where results go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// They are added up on the shards that have them, and forgotten.
    Shards,
    /// They come to the program's own thread, in order.
    Program,
}

const JOBS: [(Job, &str); 9] = [
    (Job::Planned(Query::Tumble), "tumble"),
    (Job::Planned(Query::Hop5), "hop5"),
    (Job::Planned(Query::Hop), "hop"),
    (Job::Planned(Query::Session), "session"),
    (Job::General(Query::Tumble), "tumble-general"),
    (Job::General(Query::Hop), "hop-general"),
    (Job::CountTrigger, "count-trigger"),
    (Job::CountWindow, "count-window"),
    (Job::Evictor, "evictor"),
];

impl Job {
    pub fn names() -> Vec<&'static str> {
        JOBS.iter().map(|(_, name)| *name).collect()
    }
    pub fn parse(name: &str) -> Option<Job> {
        JOBS.iter().find(|(_, known)| *known == name).map(|(job, _)| *job)
    }
    /// What SQL says in its place.
    pub fn query(self) -> Option<Query> {
        match self {
            Job::Planned(query) | Job::General(query) => Some(query),
            _ => None,
        }
    }
    /// In words.
    pub fn doc(self) -> String {
        let windows = |query: Query| match query {
            Query::Tumble => "1 minute",
            Query::Hop5 => "5 minutes, every minute",
            Query::Hop => "1 hour, every minute",
            Query::Session => "sessions, gap 2 minutes",
            Query::Cumulate => "every 10 minutes up to a day",
        };
        match self {
            Job::Planned(query) => windows(query).to_string(),
            Job::General(query) => format!("{}, general operator", windows(query)),
            Job::CountTrigger => format!("1 minute, CountTrigger({EARLY_COUNT})"),
            Job::CountWindow => format!("count_window({COUNT_WINDOW})"),
            Job::Evictor => format!("1 minute, CountEvictor({KEPT})"),
        }
    }
}

impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = JOBS.iter().find(|(job, _)| job == self).map_or("another", |(_, name)| name);
        f.write_str(name)
    }
}

/// The records of a workload.
pub fn records(spec: &Spec) -> Vec<Event> {
    let mut records = Vec::with_capacity(usize::try_from(spec.rows).unwrap_or(0));
    for chunk in Generator::new(spec).chunks() {
        let rows = chunk.ts.iter().zip(&chunk.key).zip(&chunk.value);
        records.extend(rows.map(|((&time, &key), &value)| Event { time, key, value }));
    }
    records
}

/// The watermark of SQL's `ts - bound`, which the DataStream API says with a millisecond more.
fn strategy(spec: &Spec) -> WatermarkStrategy<Event> {
    let bound_ms = u64::try_from(spec.watermark_bound().milliseconds()).unwrap_or(0);
    WatermarkStrategy::for_bounded_out_of_orderness(Duration::from_millis(bound_ms.saturating_sub(1)))
        .with_timestamp_assigner(|event: &Event| event.time)
}

/// The columns that the jobs want: a table of the API is read as it is declared.
fn table(spec: &Spec, file: &std::path::Path, by: By) -> Result<TableSource<Event>> {
    let ddl = format!(
        "SET 'pipeline.auto-watermark-interval' = '0';
         CREATE TABLE events (
           ts TIMESTAMP(3), `key` BIGINT, `value` BIGINT,
           WATERMARK FOR ts AS ts - {}
         ) WITH ('connector' = 'filesystem', 'path' = '{}', 'format' = 'parquet')",
        spec.watermark_bound(),
        file.display(),
    );
    match by {
        By::Rows => TableSource::from_ddl(&ddl, |row: &Row<'_>| {
            Ok(Event { time: row.i64(0)?, key: row.i64(1)?, value: row.i64(2)? })
        }),
        By::Columns => TableSource::from_ddl_by_columns(&ddl, |columns, events| {
            let (times, keys, values) = (columns.timestamps(0)?, columns.i64s(1)?, columns.i64s(2)?);
            let rows = times.iter().zip(keys).zip(values);
            events.extend(rows.map(|((&time, &key), &value)| Event { time, key, value }));
            Ok(())
        }),
    }
}

/// A program that is ready to run, and what its results come to.
pub struct Program {
    environment: StreamExecutionEnvironment,
    totals: Arc<Mutex<Totals>>,
}

impl Program {
    /// # Errors
    /// The table cannot be described.
    pub fn new(spec: &Spec, job: Job, records: Source, end: End, tuning: Tuning) -> Result<Self> {
        let environment = StreamExecutionEnvironment::new();
        environment.on_warning(|_| {});
        let defaults = RunOptions::default();
        environment.set_run_options(RunOptions {
            shards: tuning.shards.unwrap_or(defaults.shards),
            batch_rows: tuning.batch_rows.unwrap_or(defaults.batch_rows),
            block_bytes: tuning.block_bytes.unwrap_or(defaults.block_bytes),
            ..defaults
        });
        let events = match records {
            Source::Memory(records) => {
                let source = GeneratorSource::new(records.len() as u64, move |number| records[number as usize]);
                environment.from_source(source, strategy(spec), "records")
            }
            Source::Table(file, by) => environment.from_table(table(spec, &file, by)?),
        };
        let totals = Arc::default();
        build(job, &events, &Sink { end, totals: Arc::clone(&totals) });
        Ok(Program { environment, totals })
    }

    /// # Errors
    /// The job's.
    pub fn run(self) -> Result<Totals> {
        self.environment.execute()?;
        drop(self.environment);
        Ok(*self.totals.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// [`Input`], with its records.
pub enum Source {
    Memory(Arc<Vec<Event>>),
    Table(PathBuf, By),
}

/// What takes the results.
pub struct Sink {
    pub end: End,
    pub totals: Arc<Mutex<Totals>>,
}

/// Adds the job to a stream.
pub fn build(job: Job, events: &DataStream<Event>, sink: &Sink) {
    let minute = Duration::from_secs(60);
    let keyed = events.key_by(|event| event.key);
    let tumbling = || keyed.window(TumblingEventTimeWindows::of(minute));
    match job {
        Job::Planned(query) | Job::General(query) => {
            let general = matches!(job, Job::General(_));
            match query {
                Query::Tumble => aggregate(tumbling(), general, sink),
                Query::Hop5 => aggregate(keyed.window(SlidingEventTimeWindows::of(minute * 5, minute)), general, sink),
                Query::Hop => aggregate(keyed.window(SlidingEventTimeWindows::of(minute * 60, minute)), general, sink),
                Query::Session => aggregate(keyed.window(EventTimeSessionWindows::with_gap(minute * 2)), general, sink),
                Query::Cumulate => {
                    let windows = CumulatingEventTimeWindows::of(minute * 1440, minute * 10);
                    aggregate(events.window_all(windows), general, sink);
                }
            }
        }
        Job::CountTrigger => aggregate(tumbling().trigger(CountTrigger::of(EARLY_COUNT)), false, sink),
        Job::CountWindow => aggregate(keyed.count_window(COUNT_WINDOW as u64), false, sink),
        Job::Evictor => aggregate(tumbling().evictor(CountEvictor::of(KEPT as u64)), false, sink),
    }
}

/// Keys as they are written in result rows.
trait RowKey {
    fn number(&self) -> i64;
}

impl RowKey for i64 {
    fn number(&self) -> i64 {
        *self
    }
}

impl RowKey for () {
    fn number(&self) -> i64 {
        0
    }
}

fn aggregate<K, A, Tr, E>(windows: WindowedStream<K, Event, A, Tr, E>, general: bool, sink: &Sink)
where
    K: transom::windowing::Key + RowKey,
    A: WindowAssigner<Event>,
    Tr: Trigger<Event, A::Window>,
    E: Evictor<Event, A::Window>,
{
    let windows = if general { windows.operator(OperatorKind::General) } else { windows };
    let results = windows.aggregate((Count, Sum::of(|event: &Event| event.value)));
    let row = |result: &WindowResult<K, A::Window, (u64, i64)>| {
        let window = result.window.as_time_window();
        let (start_ms, end_ms) = window.map_or((0, 0), |window| (window.start, window.end));
        ResultRow { key: result.key.number(), start_ms, end_ms, count: result.value.0, sum: result.value.1 }
    };
    match sink.end {
        End::Shards => {
            let totals = sink.totals.clone();
            results.add_parallel_sink(move |_| {
                let mut tally = Tally { whole: totals.clone(), own: Totals::default() };
                move |result, _| {
                    // The whole of it: the closure must own what is dropped behind the last record.
                    let tally = &mut tally;
                    tally.own.add(row(&result));
                    Ok(())
                }
            });
        }
        End::Program => {
            let totals = sink.totals.clone();
            results.for_each(move |result| totals.lock().unwrap_or_else(PoisonError::into_inner).add(row(&result)));
        }
    }
}

/// What one shard adds up; it is added to the whole at the shard's end.
struct Tally {
    whole: Arc<Mutex<Totals>>,
    own: Totals,
}

impl Drop for Tally {
    fn drop(&mut self) {
        let mut whole = self.whole.lock().unwrap_or_else(PoisonError::into_inner);
        whole.result_rows += self.own.result_rows;
        whole.sum_of_counts += self.own.sum_of_counts;
        whole.sum_of_sums = whole.sum_of_sums.wrapping_add(self.own.sum_of_sums);
        whole.check_sum = whole.check_sum.wrapping_add(self.own.check_sum);
    }
}
