//! Runs a program: opens its sources and sinks, starts the shards, gives the sinks what comes out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::branch::AnySplit;
use super::checkpoint::{self, CheckpointSettings, Cuts, Start};
use super::clock::Clock;
use super::flow::{Flow, Outcome, Read, guarded};
use super::graph::Graph;
use super::ordered::Ordered;
use super::pace::{Group, Member, Pace, Paced};
use super::result::{JobExecutionResult, OperatorSummary};
use super::source::OpenOptions;
use super::stage::StageCounts;
use crate::error::{Error, ErrorKind, Result};
use crate::exchange::Order;
use crate::job::checkpoint::Coordinator;
use crate::job::drive::{Course, Events, drive};
use crate::job::restore::resumable;
use crate::job::schedule::{self, Schedule};
use crate::job::{Checkpoint, Completed, RunOptions};
use crate::key::KeyGroups;
use crate::shard::{Layout, Place};
use crate::snapshot::{Counts, Fingerprint};
use crate::source::Extent;
use crate::time::WatermarkStart;

/// How a program runs, beside its graph.
#[derive(Clone)]
pub(super) struct Settings {
    pub options: RunOptions,
    pub key_groups: u32,
    pub clock: Clock,
    pub checkpoints: CheckpointSettings,
    /// Which of the environment's executions it is, counted from 1.
    pub execution: u64,
}

/// A look at a running job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobProgress {
    pub elapsed: Duration,
    /// Of all sources, so far.
    pub records_read: u64,
    /// Of the sources that know how many there are.
    pub bytes_read: u64,
    pub bytes_total: u64,
}

impl JobProgress {
    pub(super) fn new(read: &Read, started: Instant) -> Self {
        JobProgress {
            elapsed: started.elapsed(),
            records_read: read.records.load(Ordering::Relaxed),
            bytes_read: read.bytes.load(Ordering::Relaxed),
            bytes_total: read.bytes_total.load(Ordering::Relaxed),
        }
    }
}

/// Whoever is told how a job gets on, on the thread that runs it.
pub(super) struct Watcher<'a> {
    /// A sentence that the user should know.
    pub notice: &'a dyn Fn(&str),
    /// About ten times a second.
    pub progress: &'a dyn Fn(&JobProgress),
    /// A checkpoint is complete; an error stops the job.
    pub checkpoint: &'a dyn Fn(&Completed) -> Result<()>,
    pub read: Arc<Read>,
}

pub(super) type Splits = Vec<(usize, Arc<dyn AnySplit>)>;

pub(super) fn run(mut graph: Graph, settings: &Settings, watcher: &Watcher<'_>) -> Result<JobExecutionResult> {
    let started = Instant::now();
    graph.check()?;
    let edges = graph.edges();
    graph.check_fed(&edges)?;
    let mut warnings = std::mem::take(&mut graph.warnings);
    warnings.extend(super::warnings::of_graph(&graph, &edges));
    warnings.iter().for_each(|warning| (watcher.notice)(warning));
    let checkpoint = match checkpoint::start(settings, watcher.notice)? {
        Start::New => None,
        Start::From(checkpoint) => Some(*checkpoint),
        Start::Behind => {
            (watcher.notice)("the job has ended well before: nothing is left to do");
            return Ok(result(&graph, &[], (warnings, Counts::default()), started));
        }
    };
    let fingerprints = checkpoint::fingerprints(&graph, &edges, settings.options.batch_rows);
    if let Some(checkpoint) = &checkpoint {
        checkpoint::check(checkpoint, &fingerprints, settings.key_groups)?;
    }
    let opened = Opened::new(&graph, settings, checkpoint, watcher)?;
    let (ran, outcomes, base) = opened.run(&mut graph, fingerprints, (settings, started), watcher)?;
    ran?;
    let of_run = super::warnings::of_run(&graph.stages, &outcomes);
    of_run.iter().for_each(|warning| (watcher.notice)(warning));
    warnings.extend(of_run);
    Ok(result(&graph, &outcomes, (warnings, base), started))
}

/// The inputs of a program, open, at the place where it goes on.
struct Opened {
    splits: Arc<Splits>,
    order: Order,
    extents: Vec<Extent>,
    checkpoint: Option<Checkpoint>,
    place: Option<Arc<Place>>,
    options: RunOptions,
}

type Fingerprints = [Vec<Fingerprint>; 2];
type Ran = (Result<()>, Vec<Outcome>, Counts);

impl Opened {
    fn new(
        graph: &Graph,
        settings: &Settings,
        checkpoint: Option<Checkpoint>,
        watcher: &Watcher<'_>,
    ) -> Result<Opened> {
        let shards = settings.options.shards.clamp(1, settings.key_groups as usize);
        let options = RunOptions { shards, ..settings.options.clone() };
        let options = checkpoint.as_ref().map_or(options.clone(), |checkpoint| checkpoint.adapt(&options));
        let order = order_of(graph);
        let mut splits = guarded(|| open(graph, &options, &settings.clock, order))?;
        let place = checkpoint
            .as_ref()
            .map(|checkpoint| guarded(|| checkpoint::place(checkpoint, &mut splits, watcher.notice)).map(Arc::new));
        let place = place.transpose()?;
        let asked =
            guarded(|| Ok(splits.iter().map(|(_, split)| (split.extent(), split.bytes(), split.notices())).collect()));
        let asked: Vec<(Extent, u64, Vec<String>)> = asked?;
        let notices: BTreeSet<&String> = asked.iter().flat_map(|(.., notices)| notices).collect();
        notices.iter().for_each(|text| (watcher.notice)(text));
        watcher.read.bytes_total.store(asked.iter().map(|(_, bytes, _)| bytes).sum(), Ordering::Relaxed);
        let extents = asked.iter().map(|(extent, ..)| *extent).collect();
        Ok(Opened { splits: Arc::new(splits), order, extents, checkpoint, place, options })
    }

    /// Runs the shards, and commits or undoes what the sinks have. What came of it, and what was counted before.
    fn run(
        self,
        graph: &mut Graph,
        fingerprints: Fingerprints,
        (settings, started): (&Settings, Instant),
        watcher: &Watcher<'_>,
    ) -> Result<Ran> {
        let Opened { splits, order, extents, checkpoint, place, options } = self;
        let shards = options.shards;
        let schedule = checkpoint::schedule(settings, &splits, checkpoint.as_ref(), watcher.notice);
        let restored = checkpoint.as_ref().map(|checkpoint| checkpoint.state(shards)).transpose()?;
        let mut restored = restored.into_iter().flatten();
        let (mut flows, events, mut ports) = (Vec::new(), Events::new(), Vec::new());
        for shard in 0..shards {
            let (instance, found) = graph.instantiate(shard, shards);
            ports = found;
            let groups = KeyGroups::new(settings.key_groups, shards as u32);
            let outcome = Outcome { stages: vec![Default::default(); graph.stages.len()], ..Outcome::default() };
            let flow = Flow {
                shard,
                groups,
                splits: splits.clone(),
                instance,
                clock: settings.clock.clone(),
                teller: events.teller(),
                read: watcher.read.clone(),
                outcome,
                saves: schedule.is_some(),
                blocks: 0,
            };
            let restored = restored.next();
            flows.push(move || flow.take_over(restored));
        }
        let branches = splits.iter().map(|(branch, _)| *branch).collect();
        let layout = Arc::new(Layout::new(&ports, &vec![0; graph.stages.len()], graph.branches.len(), branches));
        let start = WatermarkStart::DataStream;
        let cut_every = options.checkpoint_blocks.filter(|_| schedule.is_some());
        let course = Course { layout, extents, start, order, place, cut_every };
        let (first, base) = Checkpoint::next(checkpoint.as_ref());
        let mut ordered = Ordered::new(std::mem::take(&mut graph.sinks), started, watcher);
        let begun = ordered.begin(checkpoint.as_ref(), schedule.as_ref());
        if let (Ok(_), Some(schedule)) = (&begun, &schedule) {
            let (parts, counted) = ((shards, options.block_bytes), options.checkpoint_blocks.is_some());
            let identity = checkpoint::identity(settings, parts, &splits, fingerprints, base.clone());
            let schedule = Schedule { checkpoints: Some(schedule.clone()), savepoints: None };
            let sinks = (options.disk.clone(), ordered.files());
            let coordinator = Coordinator::new(identity, sinks, schedule, (first, counted));
            ordered.cuts = Some(Cuts::new(coordinator, shards));
        }
        let alone = splits.len() == 1 || order == Order::Arrival;
        let begin = |wake: &_| splits.iter().for_each(|(_, split)| split.start(wake, alone));
        let (lives, begun) = begun.map_or_else(|error| (None, Err(error)), |lives| (lives, Ok(())));
        let ran = begun.and_then(|()| guarded(|| drive(course, &options, flows, begin, events, &mut ordered)));
        let ran = ran.and_then(|()| ordered.last_checkpoint());
        // What is being written is done before anything is committed or undone.
        ordered.cuts = None;
        let done = ordered.end(ran);
        let folder = schedule.map(|schedule| schedule.folder);
        let done = match (done, &folder) {
            (Ok(()), _) => {
                let claimed = checkpoint.as_ref().and_then(|checkpoint| checkpoint.run(&options.disk));
                let done = (&*settings.checkpoints.job(), settings.execution as usize);
                schedule::end((folder.as_ref(), claimed.as_ref()), done, &ordered.files())
            }
            (Err(error), Some(folder)) => {
                Err(resumable(error, folder, checkpoint::GOES_ON, &mut |text| (watcher.notice)(text)))
            }
            (Err(error), None) => Err(cancelled(error)),
        };
        drop(lives);
        Ok((done, ordered.outcomes, base))
    }
}

/// Inputs without an end cannot wait for each other, and the clock goes its own way.
fn order_of(graph: &Graph) -> Order {
    let unbounded = graph.branches.iter().any(|branch| !branch.is_bounded());
    let clock = graph.stages.iter().any(|stage| stage.card.processing_time);
    if unbounded || clock { Order::Arrival } else { Order::LowestWatermark }
}

/// Branch and split.
fn open(graph: &Graph, options: &RunOptions, clock: &Clock, order: Order) -> Result<Splits> {
    let options = OpenOptions { block_rows: options.batch_rows, block_bytes: options.block_bytes };
    let ticks = graph.stages.iter().any(|stage| stage.card.processing_time);
    let mut groups: BTreeMap<&str, Arc<Group>> = BTreeMap::new();
    let mut splits: Splits = Vec::new();
    for (number, branch) in graph.branches.iter().enumerate() {
        for split in branch.open(&options)? {
            if order == Order::LowestWatermark {
                splits.push((number, split));
                continue;
            }
            let member = branch.alignment().map(|alignment| {
                let group = groups.entry(&alignment.group).or_default().clone();
                Member::new(group, alignment.max_drift_ms)
            });
            let (clock, idleness_ms) = (clock.clone(), branch.idleness_ms());
            splits.push((number, Arc::new(Paced::new(split, Pace { clock, ticks, idleness_ms, member }))));
        }
    }
    Ok(splits)
}

fn cancelled(error: Error) -> Error {
    match error.kind() {
        ErrorKind::Cancelled => Error::new(ErrorKind::Cancelled, "the job was cancelled"),
        _ => error,
    }
}

fn result(
    graph: &Graph,
    outcomes: &[Outcome],
    (warnings, base): (Vec<String>, Counts),
    started: Instant,
) -> JobExecutionResult {
    let of_stage =
        |number: usize| outcomes.iter().fold(StageCounts::default(), |sum, outcome| sum.and(outcome.stages[number]));
    let summary = |(number, name): (usize, &String)| {
        let StageCounts { operator: counts, records_in, records_out, .. } = of_stage(number);
        OperatorSummary { name: name.clone(), counts, records_in, records_out }
    };
    let names = graph.stages.iter().map(|stage| &stage.card.name).enumerate();
    let operators = names.map(summary).collect();
    let before = |at: usize| base.totals.get(at).copied().unwrap_or(0);
    let total = |at: usize| before(at) + outcomes.iter().map(|outcome| outcome.totals()[at]).sum::<u64>();
    let [records_read, records_malformed, records_filtered] = [0, 1, 2].map(total);
    JobExecutionResult {
        elapsed: started.elapsed(),
        records_read,
        records_malformed,
        records_filtered,
        operators,
        warnings,
    }
}
