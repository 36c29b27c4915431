//! The environment of a program: its graph, its sources, and how it runs.

use std::cell::RefCell;
use std::panic::Location;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use super::branch::{AnyBranch, Branch};
use super::checkpoint::CheckpointSettings;
use super::clock::Clock;
use super::explain::{OperatorCard, SinkCard};
use super::graph::{Edges, Graph, Instantiate, StageEntry};
use super::job_client::JobClient;
use super::placed;
use super::push::Node;
use super::result::JobExecutionResult;
use super::run::{JobProgress, Settings, Watcher, run};
use super::sink::AnySink;
use super::source::{GeneratorSource, IteratorSource, Source};
use super::stage::AnyStage;
use super::stream::{DataStream, Origin};
use super::watermarks::WatermarkStrategy;
use crate::error::{Error, Result};
use crate::job::{Completed, RestoreFrom, RunOptions};
use crate::limits;
use crate::windowing::Data;

/// Builds programs and executes them. A handle: clones are the same environment.
#[derive(Clone, Default)]
pub struct StreamExecutionEnvironment(Rc<RefCell<Building>>);

/// Told of a checkpoint.
type TakeCheckpoint = dyn Fn(&Completed) -> Result<()>;

struct Building {
    graph: Graph,
    settings: Settings,
    origins: usize,
    on_warning: Rc<dyn Fn(&str)>,
    on_progress: Rc<dyn Fn(&JobProgress)>,
    on_checkpoint: Rc<TakeCheckpoint>,
}

impl Default for Building {
    fn default() -> Self {
        Building {
            graph: Graph::default(),
            settings: Settings {
                options: RunOptions::default(),
                key_groups: limits::KEY_GROUPS_DEFAULT,
                clock: Clock::system(),
                checkpoints: CheckpointSettings::default(),
                execution: 0,
            },
            origins: 0,
            on_warning: Rc::new(|warning| eprintln!("warning: {warning}")),
            on_progress: Rc::new(|_| {}),
            on_checkpoint: Rc::new(|_| Ok(())),
        }
    }
}

impl StreamExecutionEnvironment {
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of shards; by default, that of the cores this process may use. It does not change any result.
    pub fn set_parallelism(&self, shards: usize) -> &Self {
        self.0.borrow_mut().settings.options.shards = shards.max(1);
        self
    }

    /// The number of key groups, in which state is dealt out to shards: at least their number. By default 128.
    pub fn set_max_parallelism(&self, key_groups: u32) -> &Self {
        self.0.borrow_mut().settings.key_groups = key_groups.clamp(1, limits::KEY_GROUPS_MAX);
        self
    }

    /// How the job runs; none of it changes any result.
    pub fn set_run_options(&self, options: RunOptions) -> &Self {
        self.0.borrow_mut().settings.options = options;
        self
    }

    /// What processing time is read from: by default the time of day.
    pub fn set_clock(&self, clock: impl Into<Clock>) -> &Self {
        self.0.borrow_mut().settings.clock = clock.into();
        self
    }

    /// Takes a checkpoint every so often: `interval` is from the end of one to the start of the next. Where they go, see
    /// [`set_checkpoint_storage`](Self::set_checkpoint_storage). Sources must be those that can be read again: tables,
    /// generators, iterators that the program makes anew with the same records, sources of one's own that say so. A program that can't go on from a
    /// checkpoint takes none, and a notice says why.
    pub fn enable_checkpointing(&self, interval: Duration) -> &Self {
        self.0.borrow_mut().settings.checkpoints.interval = Some(interval);
        self
    }

    /// The folder for checkpoints; several jobs may share it.
    pub fn set_checkpoint_storage(&self, path: impl Into<PathBuf>) -> &Self {
        self.0.borrow_mut().settings.checkpoints.storage = Some(path.into());
        self
    }

    /// How many complete checkpoints are kept, at least 1. By default 1.
    pub fn set_num_retained_checkpoints(&self, retained: u64) -> &Self {
        self.0.borrow_mut().settings.checkpoints.retained = retained;
        self
    }

    /// What checkpoints call the job, so that the latest of several jobs is found; by default the name of the program's
    /// file.
    pub fn set_job_name(&self, name: impl Into<String>) -> &Self {
        self.0.borrow_mut().settings.checkpoints.job = Some(name.into());
        self
    }

    /// Goes on from a checkpoint, on any number of shards. The program must be the one that took it: the same sources,
    /// operators and sinks, in the same order. With [`RestoreFrom::Latest`], a job that has ended well does nothing more.
    pub fn restore(&self, from: RestoreFrom) -> &Self {
        self.0.borrow_mut().settings.options.restore = Some(from);
        self
    }

    /// Told of each checkpoint that is complete, on the thread that executes the program; an error ends the job.
    pub fn on_checkpoint(&self, take: impl Fn(&Completed) -> Result<()> + 'static) -> &Self {
        self.0.borrow_mut().on_checkpoint = Rc::new(take);
        self
    }

    /// Told of a running job about ten times a second, on the thread that executes it.
    pub fn on_progress(&self, take: impl Fn(&JobProgress) + 'static) -> &Self {
        self.0.borrow_mut().on_progress = Rc::new(take);
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
        let location = Location::caller();
        self.add_branch(Arc::new(Branch { name, origin: number, source, strategy, node: node.clone(), location }));
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

    /// The integers from `from` to `to`, both included, made on all shards side by side.
    #[track_caller]
    pub fn from_sequence(&self, from: i64, to: i64) -> DataStream<i64> {
        let count = u64::try_from(i128::from(to) - i128::from(from) + 1).unwrap_or(0);
        self.from_generator(count, move |number| from.wrapping_add_unsigned(number))
    }

    /// `count` records, each a function of its number, from 0: made on all shards side by side.
    #[track_caller]
    pub fn from_generator<T: Data>(
        &self,
        count: u64,
        make: impl Fn(u64) -> T + Send + Sync + 'static,
    ) -> DataStream<T> {
        self.from_source(GeneratorSource::new(count, make), WatermarkStrategy::no_watermarks(), "generator")
    }

    /// A stream of a table's rows, with the timestamps and watermarks of its WATERMARK clause if it has one.
    #[cfg(feature = "sql")]
    #[track_caller]
    pub fn from_table<T: Data>(&self, table: super::source::TableSource<T>) -> DataStream<T> {
        let location = Location::caller();
        self.note_warnings(table.warnings().iter().map(|warning| super::warnings::placed(warning, location)).collect());
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
        let (graph, settings) = self.take();
        let (on_warning, on_progress, on_checkpoint) = {
            let building = self.0.borrow();
            (building.on_warning.clone(), building.on_progress.clone(), building.on_checkpoint.clone())
        };
        let watcher = Watcher {
            notice: &|text| on_warning(text),
            progress: &*on_progress,
            checkpoint: &*on_checkpoint,
            read: Arc::default(),
        };
        run(graph, &settings, &watcher)
    }

    /// Runs the program on a thread of its own. The environment is empty behind this. Warnings are in the result alone.
    ///
    /// # Errors
    /// No thread can be started; faults of the program are told by [`JobClient::wait`].
    pub fn execute_async(&self) -> Result<JobClient> {
        let (graph, settings) = self.take();
        JobClient::begin(graph, settings)
    }

    fn take(&self) -> (Graph, Settings) {
        let mut building = self.0.borrow_mut();
        building.settings.execution += 1;
        (std::mem::take(&mut building.graph), building.settings.clone())
    }

    /// The program in words: sources, window operators (which of the three serves each, and what they keep), sinks,
    /// faults for which it would not run, and warnings.
    pub fn explain(&self) -> String {
        super::explain::program(&self.0.borrow().graph)
    }

    /// The window operators as data.
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
    /// `name`: the method of the program that makes it.
    pub(super) fn add_sink(&self, sink: Box<dyn AnySink>, name: &str, location: &'static Location<'static>) -> usize {
        let graph = &mut self.0.borrow_mut().graph;
        graph.sinks.push(sink);
        graph.sink_cards.push(SinkCard { name: name.to_string(), location });
        graph.sinks.len() - 1
    }
    pub(super) fn add_stage(
        &self,
        card: OperatorCard,
        types: &str,
        make: impl Fn(&mut Instantiate<'_>) -> Box<dyn AnyStage> + Send + Sync + 'static,
    ) -> usize {
        let stages = &mut self.0.borrow_mut().graph.stages;
        stages.push(StageEntry { make: Arc::new(make), card, types: types.to_string() });
        stages.len() - 1
    }
    pub(super) fn note_fault(&self, fault: Option<Error>, location: &Location<'_>) {
        self.0.borrow_mut().graph.faults.extend(fault.map(|fault| placed(fault, location)));
    }
    pub(super) fn note_warnings(&self, warnings: Vec<String>) {
        self.0.borrow_mut().graph.warnings.extend(warnings);
    }
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
            let last = self.branches.iter().rfind(|branch| branch.origin() == twice[0]);
            let fault = Error::usage(format!(
                "the stream of source `{}` is used with and without the watermarks assigned to it, or with two \
                 assignments",
                last.map_or("", |branch| branch.name())
            ))
            .help("assign timestamps and watermarks once, and use the stream that this gives");
            return Err(match last {
                Some(branch) => placed(fault, branch.card().location),
                None => fault,
            });
        }
        Ok(())
    }

    /// A stream that was kept from a program that has run leads nowhere in the next one.
    pub(super) fn check_fed(&self, edges: &Edges) -> Result<()> {
        let fed = |stage: usize| edges.ports.iter().any(|port| port.stage == stage);
        let given = |sink: usize| edges.gives.iter().any(|gives| gives.sink == sink);
        let stage = (0..self.stages.len()).find(|&stage| !fed(stage)).map(|stage| self.stages[stage].card.location);
        let sink = (0..self.sinks.len()).find(|&sink| !given(sink)).map(|sink| self.sink_cards[sink].location);
        match stage.or(sink) {
            None => Ok(()),
            Some(location) => {
                let fault =
                    Error::usage("no source of this program leads here: the stream is one of a program that has run");
                Err(placed(
                    fault.help("build all of a program's streams behind the `execute` of the one before"),
                    location,
                ))
            }
        }
    }
}
