//! The environment of a program: its graph, how it runs, and what it came to.

use std::any::Any;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::Location;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::branch::{AnyBranch, AnySplit, Branch};
use super::explain::OperatorCard;
use super::flow::{Flow, Outcome, Told};
use super::graph::{Graph, Instantiate, StageEntry};
use super::push::Node;
use super::sink::AnySink;
use super::source::{IteratorSource, OpenOptions, Source};
use super::stage::AnyStage;
use super::stream::{DataStream, Origin};
use super::watermarks::WatermarkStrategy;
use crate::error::{Error, Result};
use crate::exchange::Order;
use crate::job::RunOptions;
use crate::job::drive::{Course, Events, Listener, drive};
use crate::key::KeyGroups;
use crate::limits;
use crate::shard::Layout;
use crate::time::WatermarkStart;
use crate::windowing::Data;
use crate::windowing::operator::OperatorCounts;

/// Builds programs and executes them. A handle: clones are the same environment.
#[derive(Clone, Default)]
pub struct StreamExecutionEnvironment(Rc<RefCell<Building>>);

struct Building {
    graph: Graph,
    options: RunOptions,
    key_groups: u32,
    origins: usize,
    on_warning: Rc<dyn Fn(&str)>,
}

impl Default for Building {
    fn default() -> Self {
        Building {
            graph: Graph::default(),
            options: RunOptions::default(),
            key_groups: limits::KEY_GROUPS_DEFAULT,
            origins: 0,
            on_warning: Rc::new(|warning| eprintln!("warning: {warning}")),
        }
    }
}

/// What a window operator came to.
#[derive(Debug, Clone)]
pub struct OperatorSummary {
    pub name: String,
    /// Of all shards.
    pub counts: OperatorCounts,
}

/// What a job came to.
#[derive(Debug, Clone)]
pub struct JobExecutionResult {
    pub elapsed: Duration,
    /// Of all sources.
    pub records_read: u64,
    /// Removed by `filter`.
    pub records_filtered: u64,
    /// By window operator, in the order in which the program made them.
    pub operators: Vec<OperatorSummary>,
    pub warnings: Vec<String>,
}

impl JobExecutionResult {
    /// Late elements that no side output took (Flink's `numLateRecordsDropped`), of all operators.
    pub fn late_records_dropped(&self) -> u64 {
        self.operators.iter().map(|operator| operator.counts.late_dropped).sum()
    }
}

impl StreamExecutionEnvironment {
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of shards; by default, that of the cores this process may use. It does not change any result.
    pub fn set_parallelism(&self, shards: usize) -> &Self {
        self.0.borrow_mut().options.shards = shards.max(1);
        self
    }

    /// The number of key groups, in which state is dealt out to shards: at least their number. By default 128.
    pub fn set_max_parallelism(&self, key_groups: u32) -> &Self {
        self.0.borrow_mut().key_groups = key_groups.clamp(1, limits::KEY_GROUPS_MAX);
        self
    }

    /// How the job runs; none of it changes any result.
    pub fn set_run_options(&self, options: RunOptions) -> &Self {
        self.0.borrow_mut().options = options;
        self
    }

    /// Takes warnings in place of standard error.
    pub fn on_warning(&self, take: impl Fn(&str) + 'static) -> &Self {
        self.0.borrow_mut().on_warning = Rc::new(take);
        self
    }

    /// A stream of a source's records. `name`: for messages.
    #[track_caller]
    pub fn from_source<T: Data>(
        &self,
        source: impl Source<T>,
        strategy: WatermarkStrategy<T>,
        name: impl Into<String>,
    ) -> DataStream<T> {
        self.note_fault(strategy.fault.clone(), Location::caller());
        if strategy.is_from_source() && !source.has_watermarks() {
            let fault = Error::usage("the source gives no watermarks")
                .help("give a table a WATERMARK clause, or use another WatermarkStrategy");
            self.note_fault(Some(fault), Location::caller());
        }
        let (source, name, node) = (Arc::new(source) as Arc<dyn Source<T>>, name.into(), Node::new());
        let number = {
            let mut building = self.0.borrow_mut();
            building.origins += 1;
            building.origins
        };
        let origin = Origin { number, name: name.clone(), source: source.clone() };
        self.add_branch(Arc::new(Branch { name, origin: number, source, strategy, node: node.clone() }));
        DataStream { environment: self.clone(), node, origin: Some(origin) }
    }

    /// A stream of records in their order. They have no timestamps before
    /// [`assign_timestamps_and_watermarks`](DataStream::assign_timestamps_and_watermarks).
    #[track_caller]
    pub fn from_collection<T, I>(&self, records: I) -> DataStream<T>
    where
        T: Data,
        I: IntoIterator<Item = T>,
        I::IntoIter: Send + 'static,
    {
        self.from_source(IteratorSource::new(records), WatermarkStrategy::no_watermarks(), "collection")
    }

    /// A stream of a table's rows, with the timestamps and watermarks of its WATERMARK clause if it has one.
    #[cfg(feature = "sql")]
    #[track_caller]
    pub fn from_table<T: Data>(&self, table: super::source::TableSource<T>) -> DataStream<T> {
        for warning in table.warnings() {
            self.note_warning(warning.clone(), Location::caller());
        }
        let strategy = match table.has_watermarks() {
            true => WatermarkStrategy::from_source(),
            false => WatermarkStrategy::no_watermarks(),
        };
        let name = table.name().to_string();
        self.from_source(table, strategy, name)
    }

    /// Runs the program until its inputs end. The environment is empty behind this.
    ///
    /// # Errors
    /// A fault of the program, with the place in its source; else the first error of a source, a function or a sink.
    pub fn execute(&self) -> Result<JobExecutionResult> {
        let (graph, options, key_groups, on_warning) = {
            let mut building = self.0.borrow_mut();
            let graph = std::mem::take(&mut building.graph);
            (graph, building.options.clone(), building.key_groups, building.on_warning.clone())
        };
        let result = run(graph, &options, key_groups, &|warning| on_warning(warning))?;
        result.warnings.iter().for_each(|warning| on_warning(warning));
        Ok(result)
    }

    /// What the program's window operators are, which of the three serves each, and what they keep.
    pub fn explain(&self) -> String {
        let mut text = String::new();
        for (number, stage) in self.0.borrow().graph.stages.iter().enumerate() {
            if number > 0 {
                text.push('\n');
            }
            stage.card.write(number, &mut text);
        }
        text
    }

    /// The same as data.
    pub fn operators(&self) -> Vec<OperatorCard> {
        self.0.borrow().graph.stages.iter().map(|stage| stage.card.clone()).collect()
    }

    pub(super) fn is(&self, other: &StreamExecutionEnvironment) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
    pub(super) fn take_graph(&self) -> Graph {
        std::mem::take(&mut self.0.borrow_mut().graph)
    }
    pub(super) fn add_branch(&self, branch: Arc<dyn AnyBranch>) {
        self.0.borrow_mut().graph.branches.push(branch);
    }
    pub(super) fn add_sink(&self, sink: Box<dyn AnySink>) -> usize {
        let sinks = &mut self.0.borrow_mut().graph.sinks;
        sinks.push(sink);
        sinks.len() - 1
    }
    pub(super) fn add_stage(
        &self,
        card: OperatorCard,
        make: impl Fn(&mut Instantiate<'_>) -> Box<dyn AnyStage> + Send + Sync + 'static,
    ) -> usize {
        let stages = &mut self.0.borrow_mut().graph.stages;
        stages.push(StageEntry { make: Arc::new(make), card });
        stages.len() - 1
    }
    pub(super) fn note_fault(&self, fault: Option<Error>, location: &Location<'_>) {
        self.0.borrow_mut().graph.faults.extend(fault.map(|fault| placed(fault, location)));
    }
    pub(super) fn note_warning(&self, warning: String, location: &Location<'_>) {
        let warning = format!("{}:{}: {warning}", location.file(), location.line());
        self.0.borrow_mut().graph.warnings.push(warning);
    }
}

fn placed(fault: Error, location: &Location<'_>) -> Error {
    fault.at(u64::from(location.line()), u64::from(location.column())).in_file(location.file())
}

impl Graph {
    /// Leaves out sources that nobody takes, and finds the faults of the whole.
    pub(super) fn check(&mut self) -> Result<()> {
        if let Some(fault) = self.faults.first() {
            return Err(fault.clone());
        }
        self.branches.retain(|branch| branch.is_used());
        if self.branches.is_empty() {
            return Err(Error::usage("the program has nothing to do: no source leads to a sink")
                .help("end a stream with collect, for_each, sink or print"));
        }
        let mut origins: Vec<usize> = self.branches.iter().map(|branch| branch.origin()).collect();
        origins.sort_unstable();
        if let Some(twice) = origins.windows(2).find(|pair| pair[0] == pair[1]) {
            let name = self.branches.iter().find(|b| b.origin() == twice[0]).map_or("", |branch| branch.name());
            return Err(Error::usage(format!(
                "the stream of source `{name}` is used with and without the watermarks assigned to it, or with two \
                 assignments"
            ))
            .help("assign timestamps and watermarks once, and use the stream that this gives"));
        }
        Ok(())
    }
}

fn run(mut graph: Graph, options: &RunOptions, key_groups: u32, notice: &dyn Fn(&str)) -> Result<JobExecutionResult> {
    let started = Instant::now();
    graph.check()?;
    let shards = options.shards.clamp(1, key_groups as usize);
    let open = OpenOptions { block_rows: options.batch_rows, block_bytes: options.block_bytes, idleness_ms: None };
    let mut splits: Vec<(usize, Arc<dyn AnySplit>)> = Vec::new();
    for (number, branch) in graph.branches.iter().enumerate() {
        splits.extend(branch.open(&open)?.into_iter().map(|split| (number, split)));
    }
    let splits = Arc::new(splits);
    let notices: BTreeSet<String> = splits.iter().flat_map(|(_, split)| split.notices()).collect();
    notices.iter().for_each(|text| notice(text));
    let (mut flows, events) = (Vec::new(), Events::new());
    let mut found = Vec::new();
    for shard in 0..shards {
        let (instance, ports) = graph.instantiate(shards);
        found = ports;
        let (splits, teller) = (splits.clone(), events.teller());
        let groups = KeyGroups::new(key_groups, shards as u32);
        let outcome = Outcome { stages: vec![Default::default(); graph.stages.len()], ..Outcome::default() };
        flows.push(move || Ok(Flow { shard, groups, splits, instance, teller, outcome }));
    }
    let branches = splits.iter().map(|(branch, _)| *branch).collect();
    let layout = Arc::new(Layout::new(&found, graph.stages.len(), graph.branches.len(), branches));
    let extents = splits.iter().map(|(_, split)| split.extent()).collect();
    let course = Course { layout, extents, start: WatermarkStart::DataStream, order: Order::LowestWatermark };
    let options = RunOptions { shards, ..options.clone() };
    let mut ordered = Ordered { sinks: graph.sinks, waiting: BTreeMap::new(), outcomes: Vec::new(), notice };
    let begin = |wake: &_| splits.iter().for_each(|(_, split)| split.start(wake));
    drive(course, &options, flows, begin, events, &mut ordered)?;
    ordered.sinks.iter_mut().try_for_each(|sink| sink.finish())?;
    let mut warnings = graph.warnings;
    let outcomes = ordered.outcomes;
    let operators = graph.stages.iter().enumerate().map(|(number, stage)| OperatorSummary {
        name: stage.card.name.clone(),
        counts: outcomes.iter().fold(OperatorCounts::default(), |sum, outcome| sum.and(outcome.stages[number].0)),
    });
    let operators: Vec<_> = operators.collect();
    warnings.extend(super::warnings::of_run(&graph.stages, &outcomes));
    Ok(JobExecutionResult {
        elapsed: started.elapsed(),
        records_read: outcomes.iter().map(|outcome| outcome.rows_read).sum(),
        records_filtered: outcomes.iter().map(|outcome| outcome.counts.rows_filtered).sum(),
        operators,
        warnings,
    })
}

/// Gives the sinks their records in the order of blocks, then of places.
struct Ordered<'a> {
    sinks: Vec<Box<dyn AnySink>>,
    /// By block and sink: batches with their shard, in the order in which it told them.
    waiting: BTreeMap<(u64, usize), Vec<(usize, Box<dyn Any + Send>)>>,
    outcomes: Vec<Outcome>,
    notice: &'a dyn Fn(&str),
}

impl Listener<Told, Outcome> for Ordered<'_> {
    fn notice(&mut self, text: &str) {
        (self.notice)(text);
    }
    fn told(&mut self, what: Told) {
        let Told { sink, seq, shard, records } = what;
        self.waiting.entry((seq, sink)).or_default().push((shard, records));
    }
    fn ended(&mut self, outcome: Outcome) {
        self.outcomes.push(outcome);
    }
    fn release(&mut self, blocks: u64) -> Result<()> {
        while let Some(entry) = self.waiting.first_entry()
            && entry.key().0 < blocks
        {
            let ((_, sink), mut batches) = entry.remove_entry();
            batches.sort_by_key(|(shard, _)| *shard);
            self.sinks[sink].take(batches.into_iter().map(|(_, records)| records).collect())?;
        }
        Ok(())
    }
    fn look(&mut self) -> Result<()> {
        Ok(())
    }
}
