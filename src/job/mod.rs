//! Runs a plan: opens sources and sinks, starts the shards, watches them, commits or undoes.

mod output;
mod overlap;
mod quarantine;
mod summary;
mod warnings;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use arrow::array::RecordBatch;
use crossbeam::channel::{Receiver, RecvTimeoutError, Sender, bounded};

use crate::error::{Error, Result};
use crate::exchange::mesh;
use crate::exchange::progress::Progress;
use crate::io::uring::{self, Executor};
use crate::limits;
use crate::metrics::{ShardMetrics, Totals};
use crate::plan::{JobPlan, SinkSpec};
use crate::shard::findings::Findings;
use crate::shard::program::Program;
use crate::shard::reader::{AsideOutput, SplitEntry};
use crate::shard::{Output, Shard, ShardParts, Work};
use crate::source::{self, Aside, Extent, Wake};
use crate::types::Schema;
use output::{OpenSink, Ordered};
pub use overlap::Claims;
use quarantine::Quarantine;
pub use summary::JobSummary;
use warnings::Ended;

/// How a job runs; none of it changes the answer.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// Threads; default: the cores that this process may use.
    pub shards: usize,
    pub batch_rows: usize,
    pub block_bytes: usize,
    pub executor: Executor,
    /// Set to true by whoever wants the job to end.
    pub cancel: Arc<AtomicBool>,
}

impl Default for RunOptions {
    fn default() -> Self {
        RunOptions {
            shards: std::thread::available_parallelism().map_or(1, usize::from),
            batch_rows: limits::BATCH_ROWS_DEFAULT,
            block_bytes: limits::BLOCK_BYTES_DEFAULT,
            executor: Executor::Auto,
            cancel: Arc::new(AtomicBool::new(false)),
        }
    }
}

/// A look at a running job.
#[derive(Debug, Clone, Copy)]
pub struct Snapshot {
    pub totals: Totals,
    /// Of all files.
    pub bytes_total: u64,
    pub elapsed: Duration,
}

/// Whoever watches a job and takes its rows. Called on the thread that called [`run`].
pub trait Report {
    /// Something the user should know, one line.
    fn notice(&mut self, _text: &str) {}
    /// Something about data or results that the user had better look at, one line; after the job's summary.
    fn warning(&mut self, _text: &str) {}
    /// About ten times a second.
    fn progress(&mut self, _snapshot: &Snapshot) -> Result<()> {
        Ok(())
    }
    /// A statement's job is about to run.
    fn statement_begins(&mut self, _plan: &JobPlan) -> Result<()> {
        Ok(())
    }
    /// The text of an EXPLAIN statement.
    fn explain(&mut self, _text: &str) -> Result<()> {
        Ok(())
    }
    /// The rows that SHOW or DESCRIBE answers.
    fn answer(&mut self, _schema: &Schema, _rows: &RecordBatch) -> Result<()> {
        Ok(())
    }
    /// A statement's job has ended well.
    fn statement_ends(&mut self, _summary: &JobSummary) -> Result<()> {
        Ok(())
    }
    /// Rows of a SELECT, in an order that does not depend on timing or on the number of shards.
    fn rows(&mut self, _batch: &RecordBatch) -> Result<()> {
        Ok(())
    }
    /// Rows of a sink that is print or stdout, in such an order too.
    fn print(&mut self, _sink: &SinkSpec, _batch: &RecordBatch) -> Result<()> {
        Ok(())
    }
}

/// Watches nothing.
pub struct NoReport;

impl Report for NoReport {}

/// What shards tell the thread that runs the job.
enum Event {
    Rows {
        sink: usize,
        seq: u64,
        order: i64,
        shard: usize,
        batch: RecordBatch,
    },
    /// What a block sets aside, once a block where there is a quarantine.
    Aside {
        seq: u64,
        split: usize,
        aside: Aside,
    },
    Ended {
        result: Result<Findings>,
    },
}

/// How often the job's thread looks up when nothing happens.
const WATCH_INTERVAL: Duration = Duration::from_millis(100);
/// A sleeping shard looks around at least this often, should a wake-up ever be missed.
const SLEEP_LIMIT: Duration = Duration::from_millis(20);
/// How long a shard waits for room in a queue before it tries again.
const ROOM_WAIT: Duration = Duration::from_micros(50);
/// Batches on their way from shards to the job's thread: a slow reader of results slows the job.
const RESULT_BATCHES: usize = 64;

/// Runs the plan to its end.
///
/// # Errors
/// The first error of any shard, source or sink; then no output has become visible. Kind Cancelled
/// when `options.cancel` was set.
pub fn run(plan: &JobPlan, options: &RunOptions, report: &mut dyn Report) -> Result<JobSummary> {
    let started = Instant::now();
    let shards = shard_count(plan, options, report);
    let program = Program::new(plan, shards, options.batch_rows.max(1), now_ms())?;
    let quarantine = plan.config.quarantine.as_ref();
    let splits = open_splits(&program, options, quarantine.is_some(), report)?;
    let files = || splits.iter().map(|entry| entry.split.name());
    overlap::check_sources(&program.sinks, files())?;
    if let Some(spec) = quarantine {
        overlap::check_quarantine(&spec.path, &program.sinks, files())?;
    }
    let mut quarantine = quarantine.map(|spec| Quarantine::open(spec, &splits)).transpose()?;
    let mut sinks = Vec::new();
    for spec in &program.sinks {
        match OpenSink::open(spec, shards) {
            Ok(sink) => sinks.push(sink),
            Err(error) => {
                sinks.iter().for_each(OpenSink::abort);
                return Err(error);
            }
        }
    }
    let running = Running { program: &program, splits: &splits, sinks: &sinks, shards, options, started };
    match run_shards(&running, quarantine.as_mut(), report) {
        Ok(outcome) => {
            if let Some(Err(error)) = quarantine.map(Quarantine::commit) {
                sinks.iter().for_each(OpenSink::abort);
                return Err(error);
            }
            commit(&sinks)?;
            let path = plan.config.quarantine.as_ref().map(|spec| spec.path.clone());
            Ok(JobSummary::new(&running, outcome, path))
        }
        Err(error) => {
            sinks.iter().for_each(OpenSink::abort);
            if let Some(kept) = quarantine.and_then(Quarantine::keep) {
                report.notice(&kept);
            }
            Err(error)
        }
    }
}

/// What a running job is made of.
struct Running<'a> {
    program: &'a Arc<Program>,
    splits: &'a Arc<Vec<SplitEntry>>,
    sinks: &'a [OpenSink],
    shards: usize,
    options: &'a RunOptions,
    started: Instant,
}

/// Makes the output of all sinks visible; from the first that fails on, nothing of the rest.
fn commit(sinks: &[OpenSink]) -> Result<()> {
    for (index, sink) in sinks.iter().enumerate() {
        if let Err(error) = sink.commit() {
            sinks[index..].iter().for_each(OpenSink::abort);
            return Err(error);
        }
    }
    Ok(())
}

fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}

fn shard_count(plan: &JobPlan, options: &RunOptions, report: &mut dyn Report) -> usize {
    let most = plan.config.key_groups as usize;
    if options.shards > most {
        report.notice(&format!(
            "{} shards asked for, but state is dealt out in {most} key groups: running {most} shards (set 'pipeline.max-parallelism' for more)",
            options.shards
        ));
    }
    options.shards.clamp(1, most)
}

fn open_splits(
    program: &Program,
    options: &RunOptions,
    set_aside: bool,
    report: &mut dyn Report,
) -> Result<Arc<Vec<SplitEntry>>> {
    let mut splits = Vec::new();
    for (branch, reads) in program.branches.iter().enumerate() {
        let opened = source::open_with(&reads.scan, options.block_bytes, set_aside)?;
        let mut told = BTreeSet::new();
        for split in &opened {
            for missing in split.missing() {
                let notice = format!("{} has {missing}; table `{}` takes NULL for it", split.name(), reads.scan.table);
                if told.insert(missing) {
                    report.notice(&notice);
                }
            }
        }
        splits.extend(opened.into_iter().map(|split| SplitEntry { branch, split }));
    }
    Ok(Arc::new(splits))
}

fn run_shards(running: &Running<'_>, quarantine: Option<&mut Quarantine>, report: &mut dyn Report) -> Result<Outcome> {
    let &Running { program, splits, sinks, shards, options, started } = running;
    let extents: Vec<Extent> = splits.iter().map(|entry| entry.split.extent()).collect();
    let in_flight = shards * limits::BLOCKS_IN_FLIGHT_PER_SHARD;
    let progress = Arc::new(Progress::new(&extents, shards, in_flight));
    let metrics: Vec<Arc<ShardMetrics>> = (0..shards).map(|_| Arc::new(ShardMetrics::new(sinks.len()))).collect();
    let (events, inbox) = bounded(RESULT_BATCHES);
    let mut bodies = Vec::new();
    let endpoints = mesh::endpoints(shards, limits::QUEUE_MESSAGES);
    let wake: Wake = endpoints[0].waker().into();
    splits.iter().for_each(|entry| entry.split.start(&wake, splits.len() == 1));
    for (shard, endpoint) in endpoints.into_iter().enumerate() {
        let outputs = open_outputs(sinks, shard, &events)?;
        let parts = ShardParts {
            program: program.clone(),
            progress: progress.clone(),
            splits: splits.clone(),
            endpoint,
            outputs,
            aside: quarantine.as_ref().map(|_| Box::new(quarantine::Sending(events.clone())) as Box<dyn AsideOutput>),
            metrics: metrics[shard].clone(),
        };
        let (progress, events) = (progress.clone(), events.clone());
        bodies.push(move || {
            let run = std::panic::AssertUnwindSafe(|| run_shard(parts, &progress));
            let result = std::panic::catch_unwind(run).unwrap_or_else(|panic| Err(panicked(panic.as_ref())));
            // The job's thread listens until the last shard has said this.
            let _ = events.send(Event::Ended { result });
        });
    }
    drop(events);
    let uring = use_uring(options, shards, report);
    let handles = uring::spawn_shards(bodies, uring).map_err(|error| Error::io("start", "a shard's thread", error));
    if handles.is_err() {
        progress.stop();
    }
    let bytes_total = splits.iter().map(|entry| entry.split.bytes()).sum();
    let snapshot =
        || Snapshot { totals: Totals::of(metrics.iter().map(Arc::as_ref)), bytes_total, elapsed: started.elapsed() };
    let findings = Findings::new(program.branches.len());
    let mut receiving = Receiving { ordered: Ordered::default(), quarantine, findings, program, splits };
    let outcome = watch(&inbox, &progress, &mut receiving, &options.cancel, &snapshot, report);
    for handle in handles? {
        if handle.join().is_err() {
            return Err(Error::internal("a shard's thread panicked"));
        }
    }
    outcome?;
    let written = |sink: usize| metrics.iter().map(|shard| shard.rows_written[sink].get()).sum();
    let written: Vec<u64> = (0..sinks.len()).map(written).collect();
    let (totals, findings) = (snapshot().totals, &receiving.findings);
    let ended = Ended { running, findings, totals: &totals, written: &written };
    let warnings = warnings::warnings(&ended);
    Ok(Outcome { totals, written, warnings })
}

/// What the shards came to.
struct Outcome {
    totals: Totals,
    /// By sink.
    written: Vec<u64>,
    warnings: Vec<String>,
}

fn open_outputs(sinks: &[OpenSink], shard: usize, events: &Sender<Event>) -> Result<Vec<Box<dyn Output>>> {
    sinks.iter().enumerate().map(|(index, sink)| sink.output(index, shard, events)).collect()
}

fn use_uring(options: &RunOptions, shards: usize, report: &mut dyn Report) -> bool {
    if options.executor == Executor::Threads {
        return false;
    }
    let why_not = uring::why_not(shards);
    if let Some(why) = &why_not {
        report
            .notice(&format!("io_uring cannot be used here ({why}); running on plain threads, with the same results"));
    }
    why_not.is_none()
}

fn panicked(panic: &(dyn std::any::Any + Send)) -> Error {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_string());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    Error::internal(format!("a shard failed: {text}"))
}

fn run_shard(parts: ShardParts, progress: &Progress) -> Result<Findings> {
    let mut shard = Shard::new(parts)?;
    let parker = shard.take_parker();
    while !progress.is_stopped() {
        match shard.step()? {
            Work::Done => {}
            Work::Finished => break,
            Work::Waiting => {
                let limit = if shard.is_kept_back() { ROOM_WAIT } else { SLEEP_LIMIT };
                match &parker {
                    Some(parker) => parker.park_timeout(limit),
                    None => std::thread::yield_now(),
                }
            }
        }
    }
    Ok(shard.take_findings())
}

/// What the job's thread puts in order.
struct Receiving<'a> {
    ordered: Ordered,
    quarantine: Option<&'a mut Quarantine>,
    findings: Findings,
    program: &'a Program,
    splits: &'a [SplitEntry],
}

impl Receiving<'_> {
    /// Hands out what belongs to the first `blocks` blocks.
    fn release(&mut self, blocks: u64, report: &mut dyn Report) -> Result<()> {
        if let Some(quarantine) = &mut self.quarantine {
            quarantine.release(blocks, self.program, self.splits)?;
        }
        self.ordered.release(blocks, self.program, report)
    }
}

/// Takes events until every shard has ended; the first error stops the others.
fn watch(
    inbox: &Receiver<Event>,
    progress: &Progress,
    receiving: &mut Receiving<'_>,
    cancel: &AtomicBool,
    snapshot: &dyn Fn() -> Snapshot,
    report: &mut dyn Report,
) -> Result<()> {
    let mut outcome = Ok(());
    let mut next_report = Instant::now() + WATCH_INTERVAL;
    loop {
        // Read before the channel is: what these blocks gave is in the channel by now.
        let complete = progress.completed_by_all();
        let event = inbox.recv_timeout(WATCH_INTERVAL);
        let mut next = match event {
            Ok(event) => Some(event),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => break,
        };
        while let Some(event) = next {
            match event {
                Event::Rows { sink, seq, order, shard, batch } => {
                    receiving.ordered.insert((seq, order, shard), sink, batch);
                }
                Event::Aside { seq, split, aside } => {
                    if let Some(quarantine) = &mut receiving.quarantine {
                        quarantine.insert(seq, split, aside);
                    }
                }
                Event::Ended { result: Ok(found) } => {
                    receiving.findings = std::mem::take(&mut receiving.findings).and(found);
                }
                Event::Ended { result: Err(error) } => fail(&mut outcome, Err(error), progress),
            }
            next = inbox.try_recv().ok();
        }
        if outcome.is_ok() {
            fail(&mut outcome, receiving.release(complete, report), progress);
        }
        if cancel.load(Ordering::Relaxed) {
            fail(&mut outcome, Err(Error::cancelled()), progress);
        }
        if Instant::now() >= next_report {
            let result = report.progress(&snapshot());
            fail(&mut outcome, result, progress);
            next_report = Instant::now() + WATCH_INTERVAL;
        }
    }
    outcome?;
    receiving.release(u64::MAX, report)
}

fn fail(outcome: &mut Result<()>, result: Result<()>, progress: &Progress) {
    if result.is_err() {
        progress.stop();
        if outcome.is_ok() {
            *outcome = result;
        }
    }
}
