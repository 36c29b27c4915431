//! Runs a program: opens its sources and sinks, starts the shards, gives the sinks what comes out.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::branch::AnySplit;
use super::clock::Clock;
use super::flow::{Flow, Outcome, Read, Told, guarded};
use super::graph::Graph;
use super::pace::{Group, Member, Pace, Paced};
use super::result::{JobExecutionResult, OperatorSummary};
use super::sink::AnySink;
use super::source::OpenOptions;
use super::stage::StageCounts;
use crate::error::{Error, ErrorKind, Result};
use crate::exchange::Order;
use crate::job::RunOptions;
use crate::job::drive::{Course, Events, Listener, drive};
use crate::key::KeyGroups;
use crate::shard::Layout;
use crate::source::Extent;
use crate::time::WatermarkStart;

/// How a program runs, beside its graph.
#[derive(Clone)]
pub(super) struct Settings {
    pub options: RunOptions,
    pub key_groups: u32,
    pub clock: Clock,
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
    pub read: Arc<Read>,
}

type Splits = Vec<(usize, Arc<dyn AnySplit>)>;

pub(super) fn run(mut graph: Graph, settings: &Settings, watcher: &Watcher<'_>) -> Result<JobExecutionResult> {
    let started = Instant::now();
    graph.check()?;
    let edges = graph.edges();
    graph.check_fed(&edges)?;
    let mut warnings = std::mem::take(&mut graph.warnings);
    warnings.extend(super::warnings::of_graph(&graph, &edges));
    warnings.iter().for_each(|warning| (watcher.notice)(warning));
    let shards = settings.options.shards.clamp(1, settings.key_groups as usize);
    let order = order_of(&graph);
    let splits = Arc::new(guarded(|| open(&graph, settings, order))?);
    let asked =
        guarded(|| Ok(splits.iter().map(|(_, split)| (split.extent(), split.bytes(), split.notices())).collect()));
    let asked: Vec<(Extent, u64, Vec<String>)> = asked?;
    let notices: BTreeSet<&String> = asked.iter().flat_map(|(.., notices)| notices).collect();
    notices.iter().for_each(|text| (watcher.notice)(text));
    watcher.read.bytes_total.store(asked.iter().map(|(_, bytes, _)| bytes).sum(), Ordering::Relaxed);
    let (mut flows, events) = (Vec::new(), Events::new());
    let mut found = Vec::new();
    for shard in 0..shards {
        let (instance, ports) = graph.instantiate(shard, shards);
        found = ports;
        let (splits, teller, clock) = (splits.clone(), events.teller(), settings.clock.clone());
        let (groups, read) = (KeyGroups::new(settings.key_groups, shards as u32), watcher.read.clone());
        let outcome = Outcome { stages: vec![Default::default(); graph.stages.len()], ..Outcome::default() };
        flows.push(move || Ok(Flow { shard, groups, splits, instance, clock, teller, read, outcome }));
    }
    let branches = splits.iter().map(|(branch, _)| *branch).collect();
    let layout = Arc::new(Layout::new(&found, &vec![0; graph.stages.len()], graph.branches.len(), branches));
    let extents = asked.iter().map(|(extent, ..)| *extent).collect();
    let start = WatermarkStart::DataStream;
    let course = Course { layout, extents, start, order, place: None, cut_every: None };
    let options = RunOptions { shards, ..settings.options.clone() };
    let sinks = std::mem::take(&mut graph.sinks);
    let mut ordered = Ordered { sinks, waiting: BTreeMap::new(), outcomes: Vec::new(), started, watcher };
    let alone = splits.len() == 1 || order == Order::Arrival;
    let begin = |wake: &_| splits.iter().for_each(|(_, split)| split.start(wake, alone));
    let ran = ordered.begin().and_then(|()| guarded(|| drive(course, &options, flows, begin, events, &mut ordered)));
    ordered.end(ran).map_err(cancelled)?;
    let of_run = super::warnings::of_run(&graph.stages, &ordered.outcomes);
    of_run.iter().for_each(|warning| (watcher.notice)(warning));
    warnings.extend(of_run);
    Ok(result(&graph, &ordered.outcomes, warnings, started))
}

/// Inputs without an end cannot wait for each other, and the clock goes its own way.
fn order_of(graph: &Graph) -> Order {
    let unbounded = graph.branches.iter().any(|branch| !branch.is_bounded());
    let clock = graph.stages.iter().any(|stage| stage.card.processing_time);
    if unbounded || clock { Order::Arrival } else { Order::LowestWatermark }
}

/// Branch and split.
fn open(graph: &Graph, settings: &Settings, order: Order) -> Result<Splits> {
    let options = OpenOptions { block_rows: settings.options.batch_rows, block_bytes: settings.options.block_bytes };
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
            let (clock, idleness_ms) = (settings.clock.clone(), branch.idleness_ms());
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

fn result(graph: &Graph, outcomes: &[Outcome], warnings: Vec<String>, started: Instant) -> JobExecutionResult {
    let of_stage =
        |number: usize| outcomes.iter().fold(StageCounts::default(), |sum, outcome| sum.and(outcome.stages[number]));
    let summary = |(number, name): (usize, &String)| {
        let StageCounts { operator: counts, records_in, records_out, .. } = of_stage(number);
        OperatorSummary { name: name.clone(), counts, records_in, records_out }
    };
    let names = graph.stages.iter().map(|stage| &stage.card.name).enumerate();
    let operators = names.map(summary).collect();
    JobExecutionResult {
        elapsed: started.elapsed(),
        records_read: outcomes.iter().map(|outcome| outcome.rows_read).sum(),
        records_malformed: outcomes.iter().map(|outcome| outcome.malformed).sum(),
        records_filtered: outcomes.iter().map(|outcome| outcome.counts.rows_filtered).sum(),
        operators,
        warnings,
    }
}

/// A batch and the shard that told it, in the order in which it did.
type OfShard = (usize, Box<dyn Any + Send>);

/// Gives the sinks their records in the order of blocks, then of places.
struct Ordered<'a> {
    sinks: Vec<Box<dyn AnySink>>,
    /// By block and sink.
    waiting: BTreeMap<(u64, usize), Vec<OfShard>>,
    outcomes: Vec<Outcome>,
    started: Instant,
    watcher: &'a Watcher<'a>,
}

impl Ordered<'_> {
    fn begin(&mut self) -> Result<()> {
        self.sinks.iter_mut().try_for_each(|sink| sink.begin())
    }

    /// Makes what the sinks have visible, or undoes it all.
    fn end(&mut self, ran: Result<()>) -> Result<()> {
        let finished = ran.and_then(|()| self.sinks.iter_mut().try_for_each(|sink| sink.finish()));
        let mut committed = 0;
        let done = finished.and_then(|()| {
            self.sinks.iter_mut().try_for_each(|sink| {
                sink.commit()?;
                committed += 1;
                Ok(())
            })
        });
        if done.is_err() {
            self.sinks[committed..].iter_mut().for_each(|sink| sink.abort());
        }
        done
    }

    fn give(&mut self, blocks: u64) -> Result<()> {
        while let Some(entry) = self.waiting.first_entry()
            && entry.key().0 < blocks
        {
            let ((_, sink), mut batches) = entry.remove_entry();
            batches.sort_by_key(|(shard, _)| *shard);
            self.sinks[sink].take(batches.into_iter().map(|(_, records)| records).collect())?;
        }
        Ok(())
    }
}

impl Listener<Told, Outcome> for Ordered<'_> {
    fn notice(&mut self, text: &str) {
        (self.watcher.notice)(text);
    }
    fn told(&mut self, what: Told) {
        let Told { sink, seq, shard, records } = what;
        self.waiting.entry((seq, sink)).or_default().push((shard, records));
    }
    fn ended(&mut self, outcome: Outcome) {
        self.outcomes.push(outcome);
    }
    fn release(&mut self, blocks: u64) -> Result<()> {
        guarded(|| self.give(blocks))
    }
    fn look(&mut self) -> Result<()> {
        let progress = JobProgress::new(&self.watcher.read, self.started);
        guarded(|| {
            (self.watcher.progress)(&progress);
            Ok(())
        })
    }
}
