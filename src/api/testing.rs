//! A test harness: a program on one thread, fed by hand, record by record, watermark by watermark, tick by tick.
//!
//! What Flink's users know as the operator test harness, for whole programs. Nothing runs by itself: time moves when
//! the test says so, and what came of it can be looked at after each step.

use std::any::Any;
use std::collections::VecDeque;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use super::context::{ChainCounts, Context, Leaving, Part};
use super::environment::StreamExecutionEnvironment;
use super::graph::{Graph, Instance};
use super::push::{Batch, Node, Push};
use super::stream::DataStream;
use crate::error::{Error, Result};
use crate::key::KeyGroups;
use crate::shard::{InputWatermark, Port};
use crate::snapshot::StateFile;
use crate::time::{EventTime, Watermark};
use crate::windowing::batch::BlockTimes;
use crate::windowing::operator::OperatorCounts;
use crate::windowing::output::Places;
use crate::windowing::{Data, Taking};

/// A program with one input, which the test feeds.
///
/// ```
/// # use std::time::Duration;
/// use transom::api::testing::TestHarness;
/// use transom::windowing::aggregates::Count;
/// use transom::windowing::assigner::TumblingEventTimeWindows;
///
/// # fn main() -> transom::error::Result<()> {
/// let mut results = None;
/// let mut harness = TestHarness::new(|clicks| {
///     let windows = clicks.key_by(|user: &String| user.clone());
///     let minutes = windows.window(TumblingEventTimeWindows::of(Duration::from_secs(60)));
///     results = Some(minutes.aggregate(Count).collect());
/// })?;
/// harness.process_element("ada".to_string(), 1_000)?;
/// harness.process_watermark(59_999)?;
/// let results = results.unwrap().take();
/// assert_eq!((results[0].window.start, results[0].value), (0, 1));
/// # Ok(()) }
/// ```
pub struct TestHarness<T> {
    graph: Graph,
    input: Box<dyn Push<T>>,
    instance: Instance,
    ports: Vec<Port>,
    counts: ChainCounts,
    watermark: EventTime,
    clock: EventTime,
}

/// What left a chain and has not been taken yet.
struct Queue {
    ports: Vec<VecDeque<Part>>,
    /// By sink.
    given: Vec<Vec<Box<dyn Any + Send>>>,
}

impl Leaving for Queue {
    fn send(&mut self, port: usize, _to: usize, part: Part) {
        self.ports[port].push_back(part);
    }
    fn give(&mut self, sink: usize, records: Box<dyn Any + Send>) -> Result<()> {
        self.given[sink].push(records);
        Ok(())
    }
}

impl<T: Data> TestHarness<T> {
    /// `build` makes the program out of its input.
    ///
    /// # Errors
    /// A fault of the program.
    pub fn new(build: impl FnOnce(DataStream<T>)) -> Result<Self> {
        let environment = StreamExecutionEnvironment::new();
        environment.on_warning(|_| {});
        let node = Node::new();
        build(DataStream { environment: environment.clone(), node: node.clone(), origin: None });
        let graph = environment.take_graph();
        if let Some(fault) = graph.faults.first() {
            return Err(fault.clone());
        }
        let (input, instance, ports) = graph.instantiate_with_input(&node);
        Ok(TestHarness {
            graph,
            input,
            instance,
            ports,
            counts: ChainCounts::default(),
            watermark: EventTime::MIN,
            clock: 0,
        })
    }

    /// One record with its timestamp in milliseconds.
    ///
    /// # Errors
    /// Those of the program's functions.
    pub fn process_element(&mut self, value: T, timestamp: EventTime) -> Result<()> {
        self.process_elements(vec![(value, timestamp)])
    }

    /// Records that come as one batch.
    ///
    /// # Errors
    /// Those of the program's functions.
    pub fn process_elements(&mut self, records: Vec<(T, EventTime)>) -> Result<()> {
        let (values, timestamps) = records.into_iter().unzip();
        self.block(values, timestamps, self.watermark)
    }

    /// The watermark moves, in milliseconds; one that goes back is ignored.
    ///
    /// # Errors
    /// Those of the program's functions.
    pub fn process_watermark(&mut self, watermark: EventTime) -> Result<()> {
        self.block(Vec::new(), Vec::new(), self.watermark.max(watermark))
    }

    /// The clock moves, in milliseconds since 1970; one that goes back is ignored.
    ///
    /// # Errors
    /// Those of the program's functions.
    pub fn set_processing_time(&mut self, time: EventTime) -> Result<()> {
        self.clock = self.clock.max(time);
        self.block(Vec::new(), Vec::new(), self.watermark)
    }

    /// The input ends: event time is at its end.
    ///
    /// # Errors
    /// Those of the program's functions.
    pub fn end_input(&mut self) -> Result<()> {
        self.process_watermark(EventTime::MAX)
    }

    /// By window operator, in the order in which the program made them.
    pub fn operator_counts(&self) -> Vec<OperatorCounts> {
        self.instance.stages.iter().map(|stage| stage.counts().operator).collect()
    }

    /// What the program was warned of when it was built.
    pub fn warnings(&self) -> &[String] {
        &self.graph.warnings
    }

    /// Writes what the windows of the program keep to a file, as a checkpoint does.
    ///
    /// # Errors
    /// Io, with the file; Data, where a value can't be written.
    pub fn snapshot(&mut self, path: impl AsRef<Path>) -> Result<()> {
        let failed = |error| Error::io("write", path.as_ref().display(), error);
        let mut state = self.instance.save()?;
        state.stage(self.graph.stages.len()).numbers([&mut self.watermark, &mut self.clock])?;
        let mut file = File::create(path.as_ref()).map_err(failed)?;
        state.write_whole((1, 0, 1), &mut file).map(drop).map_err(failed)
    }

    /// Goes on from such a file of the same program, before anything else.
    ///
    /// # Errors
    /// Io or Data, with the file.
    pub fn initialize_state(&mut self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        self.instance.restore(vec![StateFile::open(path)?], &Taking::ALL)?;
        let mut reader = StateFile::open(path)?.into_reader();
        reader.stage(self.graph.stages.len()).numbers([&mut self.watermark, &mut self.clock])
    }

    fn block(&mut self, values: Vec<T>, timestamps: Vec<EventTime>, after: EventTime) -> Result<()> {
        let before = vec![self.watermark; values.len()];
        let times = Arc::new(BlockTimes { before, after, processing_time: self.clock });
        let reached = Watermark(self.watermark);
        self.watermark = after;
        let inputs = vec![InputWatermark { others: Watermark::MAX, reached, start: reached }; self.graph.stages.len()];
        let mut queue = Queue {
            ports: self.ports.iter().map(|_| VecDeque::new()).collect(),
            given: self.graph.sinks.iter().map(|_| Vec::new()).collect(),
        };
        let mut context = Context {
            block: times.clone(),
            inputs: &inputs,
            groups: KeyGroups::new(1, 1),
            counts: &mut self.counts,
            leaving: &mut queue,
        };
        if !values.is_empty() {
            self.input.push(Batch { values, timestamps, places: Places::From(0) }, &mut context)?;
        }
        self.input.end_block(&mut context)?;
        for number in 0..self.graph.stages.len() {
            let of_stage = self.ports.iter().enumerate().filter(|(_, port)| port.stage == number);
            let parts = of_stage.flat_map(|(port, _)| queue.ports[port].drain(..).collect::<Vec<_>>()).collect();
            let mut context = Context {
                block: times.clone(),
                inputs: &inputs,
                groups: KeyGroups::new(1, 1),
                counts: &mut self.counts,
                leaving: &mut queue,
            };
            self.instance.stages[number].run(parts, number, Watermark(after), &mut context)?;
        }
        for (sink, records) in self.graph.sinks.iter_mut().zip(queue.given) {
            sink.take(records)?;
        }
        Ok(())
    }
}
