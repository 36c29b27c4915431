//! Checkpoints of a running job: asks for cuts, collects what the shards say at each, has it written, and lets the sinks
//! show what it covers.
//!
//! Writing goes on a thread of its own. The manifest is written when all else is on the disk, the output is shown when the
//! manifest is: so whatever a crash leaves, the newest manifest tells what counts.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, Sender, bounded};

use super::drive::NextCut;
use super::output::OpenSink;
use super::savepoint::{self, SavepointRequest};
use super::schedule::{Periodic, Schedule};
use super::{Running, now_ms};
use crate::error::{Error, Result};
use crate::io::files::Disk;
use crate::metrics::{Pauses, Totals};
use crate::plan::SourceSpec;
use crate::shard::columns::program::{Program, Target};
use crate::shard::columns::scan::SplitEntry;
use crate::shard::columns::{CutOutput, Saved};
use crate::shard::{Cut, Place};
use crate::sink::sync_parts;
use crate::snapshot::{
    Closed, ClosedPart, Counts, Fingerprint, Kept, Manifest, NamedSink, RunLock, SplitState, StageState, StateWriter,
    WatermarkOrigin,
};

/// How long to wait at least before the next look whether a checkpoint is complete.
const LEAST_WAIT: Duration = Duration::from_millis(5);

/// A checkpoint that is complete.
#[derive(Debug, Clone)]
pub struct Completed {
    pub number: u64,
    pub folder: PathBuf,
    /// Of its files of state.
    pub bytes: u64,
    /// From the request to the moment when it was complete.
    pub took: Duration,
}

/// The checkpoints that a job has taken, those of runs before it left out.
#[derive(Debug, Clone, Default)]
pub struct CheckpointsTaken {
    pub count: u64,
    pub last: Option<Completed>,
    /// How long shards did nothing else at a cut.
    pub pauses: Pauses,
}

/// On the thread that runs the job.
pub(crate) struct Coordinator {
    schedule: Schedule,
    /// Cuts come by themselves.
    counted: bool,
    identity: Identity,
    sinks: Vec<OpenSink>,
    /// None: nothing more is to be written.
    work: Option<Sender<Work>>,
    done: Receiver<Result<Written>>,
    thread: Option<std::thread::JoinHandle<()>>,
    /// The number of the next cut of this run. Checkpoints go on counting where those of earlier runs ended.
    next: u64,
    first: u64,
    /// None: no checkpoint comes by itself.
    due: Option<Instant>,
    /// Savepoints that the next cut is to give.
    requests: Vec<SavepointRequest>,
    interrupt: Interrupt,
    /// Of the savepoints of this run, as long as it lives.
    locks: Vec<RunLock>,
    stop: Option<Stop>,
    /// By number of the cut.
    collecting: BTreeMap<u64, Collecting>,
    /// The last cut that was handed to the writing thread.
    written: u64,
    /// A checkpoint is handed to the writing thread, and not heard of since.
    writing: bool,
    pauses: Pauses,
}

/// The last checkpoint of a job that is interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Interrupt {
    No,
    /// The next cut is to give it.
    Wanted,
    /// It is on its way.
    Asked,
    Taken,
}

/// Whether a job that is interrupted has to wait for its last checkpoint.
pub(super) enum Interrupted {
    Begins,
    Waits,
    Over,
}

/// The job ends at a savepoint.
pub(super) struct Stop {
    pub folder: PathBuf,
    /// What was counted up to there.
    pub counts: Counts,
    pub request: SavepointRequest,
}

/// What a manifest says of the job, whatever the cut.
pub(crate) struct Identity {
    pub script: String,
    pub statement: u64,
    pub key_groups: u32,
    pub shards: u32,
    pub block_bytes: u64,
    pub stages: Vec<Fingerprint>,
    pub sinks: Vec<Fingerprint>,
    /// Branch, name and size of each split.
    pub splits: Vec<(u32, String, u64)>,
    /// What was counted before this run.
    pub base: Counts,
}

impl Identity {
    pub(super) fn of(running: &Running<'_>, base: Counts) -> Identity {
        let (stages, sinks) = fingerprints(running.program);
        let split = |entry: &SplitEntry| (entry.branch as u32, entry.split.name().to_string(), entry.split.bytes());
        Identity {
            script: running.origin.script.clone(),
            statement: running.origin.statement as u64,
            key_groups: running.program.groups.groups,
            shards: running.shards as u32,
            block_bytes: running.options.block_bytes as u64,
            stages,
            sinks,
            splits: running.splits.iter().map(split).collect(),
            base,
        }
    }
}

/// What a shard has at a cut.
pub(crate) struct Share {
    pub state: StateWriter,
    /// One a sink, of shards whose writers have any.
    pub closed: Vec<Closed>,
    /// How long the shard did nothing else.
    pub pause: Duration,
    /// Since the job began or went on.
    pub counts: Counts,
}

impl From<Saved> for Share {
    fn from(saved: Saved) -> Self {
        let Saved { state, closed, pause, metrics, written } = saved;
        Share { state, closed, pause, counts: counts_of(&metrics, written) }
    }
}

/// What the shards have said of a cut.
struct Collecting {
    started: Instant,
    requests: Vec<SavepointRequest>,
    is_last: bool,
    place: Option<Place>,
    shares: Vec<Option<Share>>,
}

/// A checkpoint to be written.
struct Work {
    started: Instant,
    manifest: Manifest,
    states: Vec<StateWriter>,
    /// Completed since the checkpoint before.
    fresh: Vec<ClosedPart>,
    requests: Vec<SavepointRequest>,
    is_last: bool,
}

/// What came of a cut.
struct Written {
    /// None: no checkpoint was to be taken, or no savepoint could be.
    completed: Option<Completed>,
    savepoints: Vec<(SavepointRequest, Result<savepoint::Saved>)>,
    counts: Counts,
    is_last: bool,
}

/// What the stages and the sinks of a job are known by: all that decides on their rows, from the tables on.
pub(super) fn fingerprints(program: &Program) -> (Vec<Fingerprint>, Vec<Fingerprint>) {
    let stages = program.stages.iter().enumerate().map(|(number, stage)| {
        let feeds = |target: &Target| matches!(target, Target::Port(port) if program.ports[*port].stage == number);
        let text = format!("{:?} {:?}", stage.spec, stage.chain) + &feeders(program, &feeds);
        Fingerprint { title: stage.spec.name().to_string(), text }.without_places()
    });
    let sinks = program.sinks.iter().enumerate().map(|(number, sink)| {
        let feeds = |target: &Target| *target == Target::Sink(number);
        let text = format!("{:?} {:?} {}", sink.connector, sink.schema, sink.changelog) + &feeders(program, &feeds);
        Fingerprint { title: format!("table `{}`", sink.table), text }.without_places()
    });
    (stages.collect(), sinks.collect())
}

/// The tables that feed a target, and what becomes of their rows on the way. Where their files are may change.
fn feeders(program: &Program, feeds: &dyn Fn(&Target) -> bool) -> String {
    let mut text = String::new();
    for branch in &program.branches {
        for way in branch.ways.iter().filter(|way| feeds(&way.to)) {
            let scan = &branch.scan;
            let source = match &scan.source {
                SourceSpec::Files(files) => format!("{:?} {:?}", files.format, files.columns),
                other => format!("{other:?}"),
            };
            let reads = (&scan.file_schema, &scan.projection, &scan.columns, &scan.watermark);
            text.push_str(&format!(" from {} {source} {reads:?} {:?}", scan.table, way.chain));
        }
    }
    text
}

impl Coordinator {
    /// `first`: the number of the first checkpoint. `counted`: cuts come by themselves.
    pub(crate) fn new(
        identity: Identity,
        (disk, sinks): (Disk, Vec<OpenSink>),
        schedule: Schedule,
        (first, counted): (u64, bool),
    ) -> Coordinator {
        let (work, inbox) = bounded(1);
        let (outbox, done) = bounded(1);
        let writer = Writer { disk, schedule: schedule.clone(), sinks: sinks.clone(), kept: Vec::new() };
        let thread = std::thread::spawn(move || writer.run(&inbox, &outbox));
        Coordinator {
            due: schedule.checkpoints.as_ref().map(|periodic| Instant::now() + periodic.interval),
            requests: Vec::new(),
            interrupt: Interrupt::No,
            locks: Vec::new(),
            stop: None,
            counted,
            schedule,
            identity,
            sinks,
            work: Some(work),
            done,
            thread: Some(thread),
            next: 1,
            first,
            collecting: BTreeMap::new(),
            written: 0,
            writing: false,
            pauses: Pauses::default(),
        }
    }

    /// How long shards did nothing else at the cuts so far.
    pub(super) fn pauses(&self) -> &Pauses {
        &self.pauses
    }

    /// Which cut is to be asked for, and when.
    pub(crate) fn next_cut(&mut self) -> Option<NextCut> {
        let now = Instant::now();
        let is_wanted = !self.requests.is_empty() || self.interrupt == Interrupt::Wanted;
        let is_busy = self.counted || self.writing || !self.collecting.is_empty();
        if is_busy || !is_wanted && self.due.is_none_or(|due| now < due) {
            let left = self.due.map(|due| due.saturating_duration_since(now).max(LEAST_WAIT));
            return left.or(is_busy.then_some(LEAST_WAIT)).map(NextCut::In);
        }
        self.collect(self.next);
        self.next += 1;
        Some(NextCut::Now(self.next - 1))
    }

    /// A savepoint is to be taken, behind the cut that may be on its way.
    pub(super) fn ask(&mut self, request: SavepointRequest) {
        self.requests.push(request);
    }

    /// The job is interrupted: takes a last checkpoint, if it takes any.
    pub(super) fn interrupt(&mut self) -> Interrupted {
        match self.interrupt {
            Interrupt::Taken => Interrupted::Over,
            _ if self.schedule.checkpoints.is_none() => Interrupted::Over,
            Interrupt::No => {
                self.interrupt = Interrupt::Wanted;
                Interrupted::Begins
            }
            Interrupt::Wanted | Interrupt::Asked => Interrupted::Waits,
        }
    }

    /// The job is to end where a savepoint was taken.
    pub(super) fn is_stopping(&self) -> bool {
        self.stop.is_some()
    }

    /// At the end of the job: the savepoint at which it has stopped, and the locks of all.
    pub(super) fn end(&mut self) -> (Option<Stop>, Vec<RunLock>) {
        (self.stop.take(), std::mem::take(&mut self.locks))
    }

    fn collect(&mut self, number: u64) -> &mut Collecting {
        let Coordinator { identity, requests, interrupt, .. } = self;
        self.collecting.entry(number).or_insert_with(|| {
            let is_last = *interrupt == Interrupt::Wanted;
            if is_last {
                *interrupt = Interrupt::Asked;
            }
            Collecting {
                started: Instant::now(),
                requests: std::mem::take(requests),
                is_last,
                place: None,
                shares: (0..identity.shards).map(|_| None).collect(),
            }
        })
    }

    /// A shard has come to a cut. Gives a checkpoint that has become complete meanwhile.
    ///
    /// # Errors
    /// As [`Coordinator::completed`].
    pub(crate) fn take(&mut self, cut: Cut, shard: usize, share: Share) -> Result<Option<Completed>> {
        self.pauses.add(share.pause);
        let collecting = self.collect(cut.number);
        collecting.place = Some(cut.place);
        collecting.shares[shard] = Some(share);
        if collecting.shares.iter().any(Option::is_none) {
            return Ok(None);
        }
        let Some(whole) = self.collecting.remove(&cut.number) else { return Ok(None) };
        // The parts of sinks that belong to a cut are in no other.
        if cut.number != self.written + 1 {
            return Err(Error::internal(format!("cut {} behind cut {}", cut.number, self.written)));
        }
        self.written = cut.number;
        // One at a time: cuts that come by themselves wait here.
        let completed = if self.writing { self.wait()? } else { None };
        let work = self.work_of(cut.number, whole);
        self.writing = true;
        let sent = self.work.as_ref().is_some_and(|sender| sender.send(work).is_ok());
        if sent { Ok(completed) } else { Err(Error::internal("nobody writes checkpoints")) }
    }

    /// A checkpoint that has become complete.
    ///
    /// # Errors
    /// It cannot be written, or its output cannot be shown.
    pub(crate) fn completed(&mut self) -> Result<Option<Completed>> {
        match self.done.try_recv() {
            Ok(result) => self.finished(result),
            Err(_) => Ok(None),
        }
    }

    /// Waits for the checkpoint that is being written, if there is one.
    ///
    /// # Errors
    /// As [`Coordinator::completed`].
    pub(crate) fn last(&mut self) -> Result<Option<Completed>> {
        if self.writing { self.wait() } else { Ok(None) }
    }

    fn wait(&mut self) -> Result<Option<Completed>> {
        let result = self.done.recv().unwrap_or_else(|_| Err(Error::internal("the thread of checkpoints has ended")));
        self.finished(result)
    }

    fn finished(&mut self, result: Result<Written>) -> Result<Option<Completed>> {
        self.writing = false;
        let Written { completed, savepoints, counts, is_last } = result?;
        self.due = self.schedule.checkpoints.as_ref().map(|periodic| Instant::now() + periodic.interval);
        if is_last {
            self.interrupt = Interrupt::Taken;
        }
        for (request, saved) in savepoints {
            match saved {
                Ok(savepoint::Saved { folder, lock }) => {
                    self.locks.push(lock);
                    // It is told when the job has ended.
                    if request.stop && self.stop.is_none() {
                        self.stop = Some(Stop { folder, counts: counts.clone(), request });
                    } else {
                        request.answer(Ok(folder));
                    }
                }
                Err(error) => request.answer(Err(error)),
            }
        }
        Ok(completed)
    }

    fn work_of(&self, number: u64, collecting: Collecting) -> Work {
        let Collecting { started, requests, is_last, place, shares } = collecting;
        let (place, mut shares): (Place, Vec<Share>) =
            (place.unwrap_or_default(), shares.into_iter().flatten().collect());
        let identity = &self.identity;
        let mut counts = identity.base.clone();
        shares.iter().for_each(|share| add(&mut counts, &share.counts));
        let stages = identity.stages.iter().zip(&place.watermarks);
        let splits = identity.splits.iter().zip(&place.position.splits);
        let mut fresh = Vec::new();
        let named = |(at, fingerprint): (usize, &Fingerprint)| {
            let closed = shares.iter_mut().filter_map(|share| share.closed.get_mut(at));
            let closed: Vec<Closed> = closed.map(std::mem::take).collect();
            fresh.extend(closed.iter().flat_map(|closed| closed.parts.iter().cloned()));
            NamedSink { fingerprint: fingerprint.clone(), files: self.sinks[at].state(&closed) }
        };
        let sinks = identity.sinks.iter().enumerate().map(named).collect();
        let manifest = Manifest {
            checkpoint: self.first + number - 1,
            created_ms: now_ms(),
            release: env!("CARGO_PKG_VERSION").to_string(),
            script: identity.script.clone(),
            statement: identity.statement,
            key_groups: identity.key_groups,
            shards: identity.shards,
            block_bytes: identity.block_bytes,
            stages: stages
                .map(|(fingerprint, watermark)| StageState { fingerprint: fingerprint.clone(), watermark: watermark.0 })
                .collect(),
            splits: splits
                .map(|((branch, name, bytes), at)| SplitState {
                    branch: *branch,
                    name: name.clone(),
                    bytes: *bytes,
                    next_block: at.next_block as u64,
                    state: at.state,
                    idle: at.idle,
                    peaks: [at.peaks.first, at.peaks.second],
                    origin: WatermarkOrigin {
                        block: at.origin.block as u64,
                        state: at.origin.state,
                        before: at.origin.before.0,
                        second: at.origin.second.0,
                    },
                })
                .collect(),
            sinks,
            counts,
            files: Vec::new(),
        };
        let states = shares.into_iter().map(|share| share.state).collect();
        Work { started, manifest, states, fresh, requests, is_last }
    }
}

impl Drop for Coordinator {
    /// Whatever became of the job: a checkpoint that is being written is done before sinks are committed or undone.
    fn drop(&mut self) {
        self.work = None;
        // A panic there is said by the checkpoint that is missing.
        let _ = self.thread.take().map(std::thread::JoinHandle::join);
    }
}

/// The totals that a job goes on counting from. Late rows and fired windows are counted by the operators, whose state has
/// them.
fn counts_of(totals: &Totals, written: Vec<u64>) -> Counts {
    let totals = vec![
        totals.bytes_read,
        totals.rows_decoded,
        totals.rows_repeated,
        totals.rows_malformed,
        totals.rows_unreadable,
        totals.rows_without_time,
        totals.rows_filtered,
    ];
    Counts { totals, written }
}

/// Adds what was counted before.
pub(super) fn go_on(totals: &mut Totals, base: &Counts) {
    let counts = [
        &mut totals.bytes_read,
        &mut totals.rows_decoded,
        &mut totals.rows_repeated,
        &mut totals.rows_malformed,
        &mut totals.rows_unreadable,
        &mut totals.rows_without_time,
        &mut totals.rows_filtered,
    ];
    counts.into_iter().zip(&base.totals).for_each(|(count, before)| *count += before);
    totals.rows_written += base.written.iter().sum::<u64>();
}

fn add(counts: &mut Counts, more: &Counts) {
    for (counts, more) in [(&mut counts.totals, &more.totals), (&mut counts.written, &more.written)] {
        counts.resize(more.len(), 0);
        counts.iter_mut().zip(more).for_each(|(count, more)| *count += more);
    }
}

/// On a thread of its own.
struct Writer {
    disk: Disk,
    schedule: Schedule,
    sinks: Vec<OpenSink>,
    /// By shard.
    kept: Vec<Kept>,
}

impl Writer {
    fn run(mut self, inbox: &Receiver<Work>, outbox: &Sender<Result<Written>>) {
        for work in inbox {
            // Nobody listens any more where the job has failed.
            if outbox.send(self.write(work)).is_err() {
                return;
            }
        }
    }

    fn write(&mut self, work: Work) -> Result<Written> {
        let Work { started, mut manifest, states, fresh, requests, is_last } = work;
        sync_parts(&*self.disk, &fresh)?;
        self.kept.resize_with(states.len(), Kept::default);
        let periodic = self.schedule.checkpoints.as_ref();
        let completed = match periodic {
            Some(periodic) => Some(write_checkpoint(periodic, &mut manifest, (&states, &mut self.kept), started)?),
            None => None,
        };
        let savepoint = |request: SavepointRequest| {
            let saved = self.savepoint(&request, &manifest, &states);
            (request, saved)
        };
        let savepoints: Vec<_> = requests.into_iter().map(savepoint).collect();
        if completed.is_some() || savepoints.iter().any(|(_, saved)| saved.is_ok()) {
            for (sink, state) in self.sinks.iter().zip(&manifest.sinks) {
                sink.publish(&state.files)?;
            }
        }
        if let Some(periodic) = periodic {
            periodic.folder.forget_before((manifest.checkpoint + 1).saturating_sub(periodic.retained));
        }
        Ok(Written { completed, savepoints, counts: manifest.counts, is_last })
    }

    fn savepoint(
        &self,
        request: &SavepointRequest,
        manifest: &Manifest,
        states: &[StateWriter],
    ) -> Result<savepoint::Saved> {
        let root = request.folder.as_ref().or(self.schedule.savepoints.as_ref()).ok_or_else(|| {
            Error::usage("nobody says where the savepoint is to go")
                .help("SET 'execution.checkpointing.savepoint-dir', or transom savepoint --to DIR")
        })?;
        savepoint::write(&self.disk, root, manifest.clone(), states)
    }
}

fn write_checkpoint(
    periodic: &Periodic,
    manifest: &mut Manifest,
    (states, kept): (&[StateWriter], &mut [Kept]),
    started: Instant,
) -> Result<Completed> {
    let number = manifest.checkpoint;
    let pending = periodic.folder.begin(number)?;
    let written = || -> Result<()> {
        for (shard, (state, kept)) in states.iter().zip(kept).enumerate() {
            manifest.files.push(pending.write_state(state, (shard, states.len()), kept)?);
        }
        pending.publish(manifest)
    }();
    if let Err(error) = written {
        pending.abandon();
        return Err(error);
    }
    let bytes = manifest.files.iter().map(|file| file.bytes).sum();
    Ok(Completed { number, folder: pending.path().to_path_buf(), bytes, took: started.elapsed() })
}

/// A shard's way to the coordinator.
pub(super) struct Sending {
    pub shard: usize,
    pub teller: super::Teller,
}

impl CutOutput for Sending {
    fn take(&mut self, cut: &Cut, saved: Saved) -> Result<()> {
        self.teller.tell(super::Told::Saved { shard: self.shard, cut: Box::new(cut.clone()), saved })
    }
}
