//! Streams of records, and what can be done with each record alone.

use std::fmt::Debug;
use std::ops::Deref;
use std::panic::Location;
use std::sync::Arc;

use super::branch::Branch;
use super::environment::StreamExecutionEnvironment;
use super::keyed::{CountWindows, KeyedStream, SlidingCountWindows};
use super::lock;
use super::push::{Filter, FlatMap, Map, Node, Push};
use super::sink::{AnySink, Collected, Elsewhere, Give, Hand, each};
use super::source::{MappedSource, Source};
use super::stage::SideNodes;
#[cfg(feature = "sql")]
use super::table_sink::TableSink;
use super::watermarks::WatermarkStrategy;
use super::windowed::WindowedStream;
use crate::error::{Error, Result};
use crate::time::EventTime;
use crate::windowing::assigner::WindowAssigner;
use crate::windowing::output::OutputTag;
use crate::windowing::{Data, Key, StateData};

/// The source of a stream that has passed through nothing but functions of single records.
pub(super) struct Origin<T> {
    pub number: usize,
    pub name: String,
    pub source: Arc<dyn Source<T>>,
}

impl<T> Clone for Origin<T> {
    fn clone(&self) -> Self {
        Origin { number: self.number, name: self.name.clone(), source: self.source.clone() }
    }
}

/// Records of one type. A handle: clones are the same stream, which any number of consumers may take.
#[must_use = "a stream goes nowhere before it has a sink: collect, for_each, sink or print"]
pub struct DataStream<T> {
    pub(super) environment: StreamExecutionEnvironment,
    pub(super) node: Arc<Node<T>>,
    /// While watermarks may still be assigned.
    pub(super) origin: Option<Origin<T>>,
}

impl<T> Clone for DataStream<T> {
    fn clone(&self) -> Self {
        let DataStream { environment, node, origin } = self;
        DataStream { environment: environment.clone(), node: node.clone(), origin: origin.clone() }
    }
}

/// The results of a window operator, which may have side outputs.
#[must_use = "results go nowhere before they have a sink: collect, for_each, sink or print"]
pub struct SingleOutputStreamOperator<T> {
    stream: DataStream<T>,
    sides: SideNodes,
}

impl<T> Deref for SingleOutputStreamOperator<T> {
    type Target = DataStream<T>;
    fn deref(&self) -> &DataStream<T> {
        &self.stream
    }
}

impl<T: Data> SingleOutputStreamOperator<T> {
    pub(super) fn new(stream: DataStream<T>, sides: SideNodes) -> Self {
        SingleOutputStreamOperator { stream, sides }
    }
    /// The records that the operator gave to `tag`: late elements, or those that its function put there.
    pub fn get_side_output<X: Data>(&self, tag: &OutputTag<X>) -> DataStream<X> {
        let node = self.sides.node(tag);
        DataStream { environment: self.stream.environment.clone(), node, origin: None }
    }
}

impl<T: Data> DataStream<T> {
    fn derived<U: Data>(&self, node: Arc<Node<U>>, origin: Option<Origin<U>>) -> DataStream<U> {
        DataStream { environment: self.environment.clone(), node, origin }
    }

    /// Each record becomes another one.
    pub fn map<U: Data>(&self, function: impl Fn(T) -> U + Clone + Send + Sync + 'static) -> DataStream<U> {
        let node = Node::new();
        let (next, mapped) = (node.clone(), function.clone());
        self.node.attach_before(&node, move |instantiate| {
            Box::new(Map { function: function.clone(), next: next.instantiate(instantiate) })
        });
        let origin = self.origin.as_ref().map(|origin| origin.then(move |value, out| out.push(mapped(value))));
        self.derived(node, origin)
    }

    /// Only the records for which `predicate` holds.
    pub fn filter(&self, predicate: impl Fn(&T) -> bool + Clone + Send + Sync + 'static) -> DataStream<T> {
        let node = Node::new();
        let (next, keep) = (node.clone(), predicate.clone());
        self.node.attach_before(&node, move |instantiate| {
            Box::new(Filter { predicate: predicate.clone(), next: next.instantiate(instantiate) })
        });
        let keep = move |value: T, out: &mut Vec<T>| out.extend(Some(value).filter(&keep));
        self.derived(node, self.origin.as_ref().map(|origin| origin.then(keep)))
    }

    /// Each record becomes what `function` appends: none, one or many.
    pub fn flat_map<U: Data>(
        &self,
        function: impl Fn(T, &mut Vec<U>) + Clone + Send + Sync + 'static,
    ) -> DataStream<U> {
        let node = Node::new();
        let (next, mapped) = (node.clone(), function.clone());
        self.node.attach_before(&node, move |instantiate| {
            Box::new(FlatMap { function: function.clone(), next: next.instantiate(instantiate) })
        });
        self.derived(node, self.origin.as_ref().map(|origin| origin.then(mapped)))
    }

    /// The records of all these streams, which must be of one environment. Its watermark is the lowest of theirs.
    #[track_caller]
    pub fn union(&self, others: &[&DataStream<T>]) -> DataStream<T> {
        let node = Node::new();
        for stream in std::iter::once(self).chain(others.iter().copied()) {
            if !self.environment.is(&stream.environment) {
                let fault = Error::usage("streams of two environments can't be united")
                    .help("make both from one StreamExecutionEnvironment; clones of it are the same one");
                self.environment.note_fault(Some(fault), Location::caller());
                continue;
            }
            let next = node.clone();
            stream.node.attach_before(&node, move |instantiate| next.instantiate(instantiate));
        }
        self.derived(node, None)
    }

    /// Gives the records timestamps and the stream watermarks. Only before the stream is keyed or united, and in place
    /// of the source's own strategy.
    #[track_caller]
    pub fn assign_timestamps_and_watermarks(&self, strategy: WatermarkStrategy<T>) -> DataStream<T> {
        let location = Location::caller();
        let node = Node::new();
        self.environment.note_fault(strategy.fault.clone(), location);
        if strategy.is_from_source() {
            let fault = Error::usage("WatermarkStrategy::from_source is for from_source alone")
                .help("give it to from_source, or use another strategy here");
            self.environment.note_fault(Some(fault), location);
        }
        self.node.set_moved();
        match &self.origin {
            Some(Origin { number, name, source }) => self.environment.add_branch(Arc::new(Branch {
                name: name.clone(),
                origin: *number,
                source: source.clone(),
                strategy,
                node: node.clone(),
                location,
            })),
            None => self.environment.note_fault(
                Some(
                    Error::usage("watermarks can't be assigned behind a window, a union or a side output")
                        .help("assign them where the stream comes from its source"),
                ),
                location,
            ),
        }
        self.derived(node, None)
    }

    /// Partitions the stream: records of equal keys go to one shard, in their order.
    pub fn key_by<K: Key>(&self, key_of: impl Fn(&T) -> K + Clone + Send + Sync + 'static) -> KeyedStream<K, T>
    where
        T: StateData,
    {
        KeyedStream::new(self.clone(), key_of, false)
    }

    /// Windows over all records: one shard does the work.
    #[track_caller]
    pub fn window_all<A: WindowAssigner<T>>(&self, assigner: A) -> WindowedStream<(), T, A, A::DefaultTrigger>
    where
        T: StateData,
    {
        self.unkeyed().window(assigner)
    }

    /// Windows of `size` elements each, without a key: one shard does the work.
    #[track_caller]
    pub fn count_window_all(&self, size: u64) -> CountWindows<(), T>
    where
        T: StateData,
    {
        self.unkeyed().count_window(size)
    }

    /// The last `size` elements, every `slide` elements, without a key: one shard does the work.
    #[track_caller]
    pub fn count_window_all_sliding(&self, size: u64, slide: u64) -> SlidingCountWindows<(), T>
    where
        T: StateData,
    {
        self.unkeyed().count_window_sliding(size, slide)
    }

    fn unkeyed(&self) -> KeyedStream<(), T>
    where
        T: StateData,
    {
        KeyedStream::new(self.clone(), |_: &T| (), true)
    }

    /// Keeps the records for the program: see [`Collected`].
    #[track_caller]
    pub fn collect(&self) -> Collected<T> {
        let collected = Collected::new();
        let records = collected.records.clone();
        self.give("collect", move |value, timestamp| {
            lock(&records).push((value, timestamp));
            Ok(())
        });
        collected
    }

    /// Gives each record to `each`, on the thread that executes the program, in the order of one machine.
    #[track_caller]
    pub fn for_each(&self, mut each: impl FnMut(T) + Send + 'static) {
        self.give("for_each", move |value, _| {
            each(value);
            Ok(())
        });
    }

    /// As [`for_each`](Self::for_each), with the timestamps in milliseconds; the first error ends the job.
    #[track_caller]
    pub fn sink(&self, take: impl FnMut(T, EventTime) -> Result<()> + Send + 'static) {
        self.give("sink", take);
    }

    /// `name`: the method of the program.
    #[track_caller]
    fn give(&self, name: &str, take: impl FnMut(T, EventTime) -> Result<()> + Send + 'static) {
        self.attach_sink(each(take), name, true, |sink, _| Box::new(Give { sink }));
    }

    /// Gives each record, with its timestamp in milliseconds, to a function of the shard that has it. `make` makes one
    /// for each producer of the stream on each shard, with its first record, and is told the number of the shard. This
    /// saves the way to one thread, but records come in no order; and what such a function has done stays done
    /// if the job fails.
    #[track_caller]
    pub fn add_parallel_sink<F>(&self, make: impl Fn(usize) -> F + Send + Sync + 'static)
    where
        F: FnMut(T, EventTime) -> Result<()> + Send + 'static,
    {
        let make = Arc::new(make);
        self.attach_sink(Box::new(Elsewhere), "add_parallel_sink", false, move |_, shard| {
            let make = make.clone();
            Box::new(Hand { make: move || make(shard), each: None })
        });
    }

    /// Writes each record as a row of a table: visible when the job has ended well, and not at all if it has failed.
    #[cfg(feature = "sql")]
    #[track_caller]
    pub fn sink_to(&self, table: TableSink<T>) {
        let location = Location::caller();
        let warnings = table.warnings().iter().map(|warning| super::warnings::placed(warning, location)).collect();
        self.environment.note_warnings(warnings);
        self.attach_sink(Box::new(table), "sink_to", true, |sink, _| Box::new(Give { sink }));
    }

    /// `name`: the method of the program. `in_order`: the sink wants records in their order. `make`: what takes the
    /// records on a shard, by the numbers of sink and shard.
    #[track_caller]
    fn attach_sink(
        &self,
        sink: Box<dyn AnySink>,
        name: &str,
        in_order: bool,
        make: impl Fn(usize, usize) -> Box<dyn Push<T>> + Send + Sync + 'static,
    ) {
        let sink = self.environment.add_sink(sink, name, Location::caller());
        self.node.attach(move |instantiate| {
            instantiate.gives_to(sink, in_order);
            make(sink, instantiate.shard)
        });
    }

    /// Writes each record to standard output, a line each.
    #[track_caller]
    pub fn print(&self)
    where
        T: Debug,
    {
        use std::io::Write as _;
        self.give("print", |value, _| {
            writeln!(std::io::stdout().lock(), "{value:?}").map_err(|error| Error::io("write to", "stdout", error))
        });
    }
}

impl<T: Data> Origin<T> {
    /// The source whose records have passed through one more function.
    fn then<U: Data>(&self, function: impl Fn(T, &mut Vec<U>) + Send + Sync + 'static) -> Origin<U> {
        let source = Arc::new(MappedSource { source: self.source.clone(), function: Arc::new(function) });
        Origin { number: self.number, name: self.name.clone(), source }
    }
}
