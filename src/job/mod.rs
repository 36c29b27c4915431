//! Runs a plan: opens sources and sinks, starts the shards, watches them, commits or undoes.

pub(crate) mod checkpoint;
pub mod drive;
mod late;
mod lines;
pub(crate) mod output;
mod overlap;
mod quarantine;
pub(crate) mod restore;
mod savepoint;
pub(crate) mod schedule;
mod summary;
mod units;
mod warnings;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use arrow::array::RecordBatch;

use crate::error::{Error, Result};
use crate::exchange::Order;
use crate::io::files::{Disk, disk};
use crate::io::uring::Executor;
use crate::limits;
use crate::metrics::{ShardMetrics, Totals};
use crate::plan::{Config, JobPlan, SinkSpec};
use crate::shard::columns::findings::Findings;
use crate::shard::columns::late::{Late, LateBlock, LateOutput};
use crate::shard::columns::program::Program;
use crate::shard::columns::scan::SplitEntry;
use crate::shard::columns::{self, AsideOutput, Columns, ColumnsParts, CutOutput, Memory, Output, Saved};
use crate::shard::{Cut, Place};
use crate::snapshot::{Counts, RunLock, SpillFolder};
use crate::source::{self, Aside, Wake};
use crate::types::Schema;
pub use checkpoint::{CheckpointsTaken, Completed};
use checkpoint::{Coordinator, Identity, Interrupted, Stop};
use drive::{Course, Events, Listener, NextCut};
use late::Ledger;
use output::{OpenSink, Ordered};
pub use overlap::Claims;
use quarantine::Quarantine;
pub use restore::{Checkpoint, Resume};
pub use savepoint::{Answer, SavepointRequest};
use schedule::Schedule;
pub use summary::JobSummary;
pub use units::wrong_unit;
use warnings::Ended;

/// How a job runs; none of it changes the answer.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// Threads; default: the cores that this process may use.
    pub shards: usize,
    pub batch_rows: usize,
    pub block_bytes: usize,
    pub executor: Executor,
    /// Where checkpoints and the files of tables are made, renamed and removed.
    pub disk: Disk,
    /// Set to true by whoever wants the job to end.
    pub cancel: Arc<AtomicBool>,
    /// Takes a checkpoint after each so many blocks of input, whatever the clock says: for tests, which want to know
    /// where checkpoints are.
    pub checkpoint_blocks: Option<u64>,
    /// Where a script goes on; none: it begins.
    pub restore: Option<RestoreFrom>,
    /// Bytes of memory that the state of all shards may take; none: what it takes. For jobs of SQL.
    pub memory: Option<u64>,
    /// A folder for state that does not fit into memory.
    pub state_folder: Option<PathBuf>,
    /// State in the checkpoint of operators and sinks that the script has no more is dropped; else the checkpoint is
    /// refused.
    pub drops_state: bool,
}

/// A checkpoint, by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RestoreFrom {
    /// The newest of the script.
    Latest,
    /// The one in this folder.
    Path(PathBuf),
}

impl Default for RunOptions {
    fn default() -> Self {
        RunOptions {
            shards: std::thread::available_parallelism().map_or(1, usize::from),
            batch_rows: limits::BATCH_ROWS_DEFAULT,
            block_bytes: limits::BLOCK_BYTES_DEFAULT,
            executor: Executor::Auto,
            disk: disk(),
            cancel: Arc::new(AtomicBool::new(false)),
            checkpoint_blocks: None,
            restore: None,
            memory: None,
            state_folder: None,
            drops_state: false,
        }
    }
}

/// Where a job comes from, and where it goes on.
#[derive(Debug, Clone, Default)]
pub struct Origin {
    /// The file of the script, for checkpoints.
    pub script: String,
    /// The number of the statement in it, counted from 1.
    pub statement: usize,
    /// Where the job goes on; none: it begins.
    pub checkpoint: Option<Checkpoint>,
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
    /// Rows of a SELECT, in an order that does not depend on timing or on the number of shards. Where the sink of the
    /// plan is a changelog, their kinds stand behind their columns.
    fn rows(&mut self, _batch: &RecordBatch) -> Result<()> {
        Ok(())
    }
    /// About ten times a second: somebody asks for a savepoint.
    fn savepoint_requested(&mut self) -> Option<SavepointRequest> {
        None
    }
    /// A checkpoint is complete.
    ///
    /// # Errors
    /// Stops the job.
    fn checkpointed(&mut self, _checkpoint: &Completed) -> Result<()> {
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

/// What the shards of SQL tell the thread that runs the job.
enum Told {
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
    /// A block that was read, once a block where late rows are kept.
    LateBlock(LateBlock),
    /// Late rows of the block `seq`.
    Late {
        seq: u64,
        rows: Vec<Late>,
    },
    /// What a shard has to say at a cut.
    Saved {
        shard: usize,
        cut: Box<Cut>,
        saved: Saved,
    },
}

type Teller = drive::Teller<Told, Findings>;

/// Runs the plan to its end.
///
/// # Errors
/// The first error of any shard, source or sink; then no output has become visible but what checkpoints cover. Kind
/// Cancelled when `options.cancel` was set.
pub fn run(plan: &JobPlan, options: &RunOptions, report: &mut dyn Report) -> Result<JobSummary> {
    run_from(plan, options, &Origin::default(), report)
}

/// As [`run`], perhaps from a checkpoint on.
///
/// # Errors
/// As [`run`]; also where the checkpoint is of another job, or its inputs have changed.
pub fn run_from(plan: &JobPlan, options: &RunOptions, origin: &Origin, report: &mut dyn Report) -> Result<JobSummary> {
    let started = Instant::now();
    let shards = shard_count(plan, options, report);
    let program = Program::new(plan, shards, options.batch_rows.max(1), now_ms())?;
    let fit = |checkpoint: &Checkpoint| checkpoint.fit(&program, options.drops_state, report);
    let fitting = origin.checkpoint.as_ref().map(fit).transpose()?;
    let origin = &Origin { checkpoint: fitting, ..origin.clone() };
    let checkpoint = origin.checkpoint.as_ref();
    let options = &checkpoint.map_or_else(|| options.clone(), |checkpoint| checkpoint.adapt(options));
    let quarantine = plan.config.quarantine.as_ref();
    let mut splits = open_splits(&program, options, quarantine.is_some(), report)?;
    let place = checkpoint
        .map(|checkpoint| checkpoint.place(&mut splits, &mut |text| report.notice(text)))
        .transpose()?
        .map(Arc::new);
    let splits = Arc::new(splits);
    let schedule = schedule::schedule(&plan.config, &splits, (&options.disk, checkpoint), report);
    let files = || splits.iter().map(|entry| entry.split.name());
    overlap::check_sources(&program.sinks, files())?;
    overlap::check_asides(&plan.config, &program.sinks, files)?;
    let mut asides = Asides {
        quarantine: quarantine.map(|spec| Quarantine::open(spec, &splits)).transpose()?,
        late: plan.config.late_rows.as_ref().map(Ledger::open).transpose()?,
    };
    let sinks = open_sinks(&program, &options.disk, checkpoint)?;
    let folder = schedule.as_ref().ok().and_then(|schedule| Some(schedule.checkpoints.as_ref()?.folder.clone()));
    let begun = folder.as_ref().map(|folder| schedule::begin(folder, &sinks)).transpose();
    if begun.is_err() {
        sinks.iter().for_each(OpenSink::abort);
    }
    let _lives = begun?;
    let running = Running { program: &program, splits: &splits, sinks: &sinks, shards, options, started, origin };
    let ran = run_shards(&running, (place, schedule), &mut asides, report);
    let Ran { outcome, stop, locks: _savepoints_live } = ran.unwrap_or_else(Ran::failed);
    if let Some(stop) = stop {
        return end_at(stop, &running, (&plan.config, folder.is_some()), report);
    }
    match outcome {
        Ok(outcome) => {
            let partly = asides.late.as_ref().map_or(0, |ledger| ledger.partly);
            if let Err(error) = asides.commit() {
                sinks.iter().for_each(OpenSink::abort);
                return Err(error);
            }
            commit(&sinks)?;
            // Nothing is left to go on with.
            let claimed = checkpoint.and_then(|checkpoint| checkpoint.run(&options.disk));
            schedule::end((folder.as_ref(), claimed.as_ref()), (&origin.script, origin.statement), &sinks)?;
            Ok(JobSummary::new(&running, outcome, (&plan.config, partly)))
        }
        Err(error) => {
            sinks.iter().for_each(OpenSink::abort);
            if let Some(kept) = asides.quarantine.and_then(Quarantine::keep) {
                report.notice(&kept);
            }
            let goes_on = "--restore latest goes on from there";
            let mut notice = |text: &str| report.notice(text);
            Err(folder.iter().fold(error, |error, folder| restore::resumable(error, folder, goes_on, &mut notice)))
        }
    }
}

/// Ends at a savepoint: what it covers is shown, the rest goes.
fn end_at(
    stop: Stop,
    running: &Running<'_>,
    (config, has_checkpoints): (&Config, bool),
    report: &mut dyn Report,
) -> Result<JobSummary> {
    let Stop { folder, counts, request } = stop;
    running.sinks.iter().for_each(OpenSink::cut_off);
    commit(running.sinks)?;
    // The savepoint has pieces of its own.
    if !has_checkpoints {
        running.sinks.iter().for_each(OpenSink::settle);
    }
    report.notice(&format!("stopped with savepoint {}; --restore goes on from there", folder.display()));
    request.answer(Ok(folder.clone()));
    let mut totals = Totals::default();
    checkpoint::go_on(&mut totals, &counts);
    let outcome =
        Outcome { totals, written: counts.written, warnings: Vec::new(), checkpoints: CheckpointsTaken::default() };
    Ok(JobSummary { stopped: Some(folder), ..JobSummary::new(running, outcome, (config, 0)) })
}

/// Opens the sinks, and brings them to the checkpoint.
fn open_sinks(program: &Program, disk: &Disk, checkpoint: Option<&Checkpoint>) -> Result<Vec<OpenSink>> {
    let mut sinks = Vec::new();
    let opened = program.sinks.iter().try_for_each(|spec| OpenSink::open(spec, disk).map(|sink| sinks.push(sink)));
    let restored = opened.and_then(|()| checkpoint.map_or(Ok(()), |checkpoint| checkpoint.restore_sinks(disk, &sinks)));
    if restored.is_err() {
        sinks.iter().for_each(OpenSink::abort);
    }
    restored.map(|()| sinks)
}

/// The files beside the sinks that a job fills.
struct Asides {
    quarantine: Option<Quarantine>,
    late: Option<Ledger>,
}

impl Asides {
    fn commit(self) -> Result<()> {
        self.quarantine.map_or(Ok(()), Quarantine::commit)?;
        self.late.map_or(Ok(()), Ledger::commit)
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
    origin: &'a Origin,
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

pub(crate) fn now_ms() -> i64 {
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
) -> Result<Vec<SplitEntry>> {
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
    Ok(splits)
}

/// What the options say of the memory for state.
fn memory(options: &RunOptions, shards: usize) -> Result<Option<Memory>> {
    let folder = options.state_folder.as_deref().map(SpillFolder::new).transpose()?;
    Ok(options.memory.map(|bytes| Memory { bytes, folder, shards }))
}

/// Takes the checkpoints of the job. `first`: the number of the first; `base`: what was counted before.
fn coordinator(running: &Running<'_>, schedule: Schedule, (first, base): (u64, Counts)) -> Coordinator {
    let options = running.options;
    let (identity, counted) = (Identity::of(running, base), options.checkpoint_blocks.is_some());
    Coordinator::new(identity, (options.disk.clone(), running.sinks.to_vec()), schedule, (first, counted))
}

fn run_shards(
    running: &Running<'_>,
    (place, schedule): (Option<Arc<Place>>, std::result::Result<Schedule, String>),
    asides: &mut Asides,
    report: &mut dyn Report,
) -> Result<Ran> {
    let &Running { program, splits, sinks, shards, options, origin, .. } = running;
    let restored = origin.checkpoint.as_ref().map(|checkpoint| checkpoint.state(shards)).transpose()?;
    let mut restored = restored.into_iter().flatten();
    let (first, base) = Checkpoint::next(origin.checkpoint.as_ref());
    let is_periodic = schedule.as_ref().is_ok_and(|schedule| schedule.checkpoints.is_some());
    let cut_every = options.checkpoint_blocks.filter(|_| is_periodic);
    let metrics: Vec<Arc<ShardMetrics>> = (0..shards).map(|_| Arc::new(ShardMetrics::new(sinks.len()))).collect();
    let layout = program.layout(splits);
    let memory = memory(options, shards)?;
    let events = Events::new();
    let mut flows = Vec::new();
    for (shard, metrics) in metrics.iter().enumerate() {
        let parts = ColumnsParts {
            program: program.clone(),
            layout: layout.clone(),
            splits: splits.clone(),
            outputs: open_outputs(sinks, shard, &events)?,
            aside: asides
                .quarantine
                .as_ref()
                .map(|_| Box::new(quarantine::Sending(events.teller())) as Box<dyn AsideOutput>),
            late: asides.late.as_ref().map(|_| Box::new(late::Sending(events.teller())) as Box<dyn LateOutput>),
            cuts: schedule
                .as_ref()
                .ok()
                .map(|_| Box::new(checkpoint::Sending { shard, teller: events.teller() }) as Box<dyn CutOutput>),
            restored: restored.next(),
            memory: memory.clone(),
            shard,
            metrics: metrics.clone(),
        };
        flows.push(move || Columns::new(parts));
    }
    let extents = splits.iter().map(|entry| entry.split.extent()).collect();
    let begin = |wake: &Wake| splits.iter().for_each(|entry| entry.split.start(wake, splits.len() == 1));
    let findings = Findings::new(program.branches.len());
    let (ordered, taken) = (Ordered::default(), CheckpointsTaken::default());
    let (coordinator, no_savepoints) = match schedule {
        Ok(schedule) => (Some(coordinator(running, schedule, (first, base.clone()))), String::new()),
        Err(why) => (None, why),
    };
    let mut receiving = Receiving {
        running,
        metrics: &metrics,
        ordered,
        asides,
        findings,
        coordinator,
        no_savepoints,
        stopping: false,
        base,
        taken,
        failed: Ok(()),
        report,
    };
    let course = Course { layout, extents, start: columns::START, order: Order::LowestWatermark, place, cut_every };
    let ran = drive::drive(course, options, flows, begin, events, &mut receiving);
    let (ran, stop, locks) = receiving.end(ran);
    if let Err(error) = ran {
        return Ok(Ran { outcome: Err(error), stop, locks });
    }
    let written = |sink: usize| {
        let before = receiving.base.written.get(sink).copied().unwrap_or(0);
        before + metrics.iter().map(|shard| shard.rows_written[sink].get()).sum::<u64>()
    };
    let written: Vec<u64> = (0..sinks.len()).map(written).collect();
    let (totals, findings) = (receiving.snapshot().totals, &receiving.findings);
    let ended = Ended { running, findings, totals: &totals, written: &written };
    let warnings = warnings::warnings(&ended);
    let outcome = Outcome { totals, written, warnings, checkpoints: receiving.taken };
    Ok(Ran { outcome: Ok(outcome), stop, locks })
}

/// How the shards ended.
struct Ran {
    outcome: Result<Outcome>,
    /// They ended at a savepoint, whatever else.
    stop: Option<Stop>,
    /// Of savepoints.
    locks: Vec<RunLock>,
}

impl Ran {
    fn failed(error: Error) -> Ran {
        Ran { outcome: Err(error), stop: None, locks: Vec::new() }
    }
}

/// What the shards came to.
struct Outcome {
    totals: Totals,
    /// By sink.
    written: Vec<u64>,
    warnings: Vec<String>,
    checkpoints: CheckpointsTaken,
}

fn open_outputs(sinks: &[OpenSink], shard: usize, events: &Events<Told, Findings>) -> Result<Vec<Box<dyn Output>>> {
    sinks.iter().enumerate().map(|(index, sink)| sink.output(index, shard, events.teller())).collect()
}

/// What the job's thread puts in order.
struct Receiving<'a> {
    running: &'a Running<'a>,
    metrics: &'a [Arc<ShardMetrics>],
    ordered: Ordered,
    asides: &'a mut Asides,
    findings: Findings,
    coordinator: Option<Coordinator>,
    /// Why there is none.
    no_savepoints: String,
    /// The job has come to the savepoint at which it ends.
    stopping: bool,
    /// What was counted before this run.
    base: Counts,
    taken: CheckpointsTaken,
    /// Of what was told.
    failed: Result<()>,
    report: &'a mut dyn Report,
}

impl Receiving<'_> {
    fn take_cut(&mut self, shard: usize, cut: Cut, saved: Saved) -> Result<()> {
        let Some(coordinator) = &mut self.coordinator else { return Ok(()) };
        let completed = coordinator.take(cut, shard, saved.into())?;
        self.checkpointed(completed)
    }

    /// All shards have ended: waits for the checkpoint that is being written, unless they have failed.
    fn end(&mut self, ran: Result<()>) -> (Result<()>, Option<Stop>, Vec<RunLock>) {
        let ran = ran.and_then(|()| std::mem::replace(&mut self.failed, Ok(())));
        let Some(mut coordinator) = self.coordinator.take() else { return (ran, None, Vec::new()) };
        let last = ran.and_then(|()| coordinator.last());
        self.taken.pauses = coordinator.pauses().clone();
        let ran = last.and_then(|completed| self.checkpointed(completed));
        let (stop, locks) = coordinator.end();
        (ran, stop, locks)
    }

    fn ask(&mut self, request: SavepointRequest) {
        match &mut self.coordinator {
            Some(coordinator) => coordinator.ask(request),
            None => request.answer(Err(Error::usage(format!("the job takes no savepoints: {}", self.no_savepoints))
                .help("docs/sql.md, Checkpoints, says which jobs do"))),
        }
    }

    fn checkpointed(&mut self, completed: Option<Completed>) -> Result<()> {
        let Some(completed) = completed else { return Ok(()) };
        self.report.checkpointed(&completed)?;
        self.taken.count += 1;
        self.taken.last = Some(completed);
        Ok(())
    }

    fn snapshot(&self) -> Snapshot {
        let mut totals = Totals::of(self.metrics.iter().map(Arc::as_ref));
        checkpoint::go_on(&mut totals, &self.base);
        Snapshot {
            totals,
            bytes_total: self.running.splits.iter().map(|entry| entry.split.bytes()).sum(),
            elapsed: self.running.started.elapsed(),
        }
    }
}

impl Listener<Told, Findings> for Receiving<'_> {
    fn notice(&mut self, text: &str) {
        self.report.notice(text);
    }

    fn told(&mut self, what: Told) {
        match what {
            Told::Rows { sink, seq, order, shard, batch } => self.ordered.insert((seq, order, shard), sink, batch),
            Told::Aside { seq, split, aside } => {
                if let Some(quarantine) = &mut self.asides.quarantine {
                    quarantine.insert(seq, split, aside);
                }
            }
            Told::LateBlock(block) => {
                if let Some(ledger) = &mut self.asides.late {
                    ledger.insert_block(block);
                }
            }
            Told::Late { seq, rows } => {
                if let Some(ledger) = &mut self.asides.late {
                    ledger.insert(seq, rows);
                }
            }
            Told::Saved { shard, cut, saved } => {
                if let Err(error) = self.take_cut(shard, *cut, saved) {
                    // Of the cuts that follow nothing counts: they go on from what has just failed.
                    self.coordinator = None;
                    self.failed = Err(error);
                }
            }
        }
    }

    fn ended(&mut self, found: Findings) {
        self.findings = std::mem::take(&mut self.findings).and(found);
    }

    fn release(&mut self, blocks: u64) -> Result<()> {
        std::mem::replace(&mut self.failed, Ok(()))?;
        let completed = self.coordinator.as_mut().map_or(Ok(None), Coordinator::completed);
        let reported = completed.and_then(|completed| self.checkpointed(completed));
        if reported.is_err() {
            self.coordinator = None;
        }
        reported?;
        let Running { program, splits, .. } = *self.running;
        if let Some(quarantine) = &mut self.asides.quarantine {
            quarantine.release(blocks, program, splits)?;
        }
        if let Some(ledger) = &mut self.asides.late {
            ledger.release(blocks, program, splits)?;
        }
        self.ordered.release(blocks, program, self.report)?;
        // Rows up to the savepoint have been given when it was noticed one round before.
        if self.stopping {
            return Err(Error::cancelled());
        }
        self.stopping = self.coordinator.as_ref().is_some_and(Coordinator::is_stopping);
        Ok(())
    }

    fn cancelled(&mut self) -> Result<()> {
        match self.coordinator.as_mut().map(Coordinator::interrupt) {
            Some(Interrupted::Begins) => {
                self.report
                    .notice("interrupted: takes a last checkpoint; once more ends at once, and goes on before it");
                Ok(())
            }
            Some(Interrupted::Waits) => Ok(()),
            Some(Interrupted::Over) | None => Err(Error::cancelled()),
        }
    }

    fn look(&mut self) -> Result<()> {
        while let Some(request) = self.report.savepoint_requested() {
            self.ask(request);
        }
        let snapshot = self.snapshot();
        self.report.progress(&snapshot)
    }

    fn next_cut(&mut self) -> Option<NextCut> {
        self.coordinator.as_mut().and_then(Coordinator::next_cut)
    }
}
