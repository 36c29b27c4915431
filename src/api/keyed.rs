//! Streams that are partitioned by key.

use std::panic::Location;
use std::rc::Rc;

use super::environment::StreamExecutionEnvironment;
use super::route::Route;
use super::stream::DataStream;
use super::windowed::WindowedStream;
use crate::windowing::assigner::{GlobalWindows, WindowAssigner};
use crate::windowing::evictor::CountEvictor;
use crate::windowing::operator::{MarkRule, NoEvictor};
use crate::windowing::trigger::{CountTrigger, PurgingTrigger};
use crate::windowing::{Key, StateData};

/// Connects the stream with a stage, which wants marks by a rule.
type Connect = Rc<dyn Fn(usize, MarkRule)>;

/// A stream whose records of equal keys are on one shard, in their order.
#[must_use = "a keyed stream does nothing before it has a window"]
pub struct KeyedStream<K, T> {
    pub(super) environment: StreamExecutionEnvironment,
    pub(super) connect: Connect,
    /// Stands for no key: all records are on one shard.
    pub(super) unkeyed: bool,
    of: std::marker::PhantomData<fn() -> (K, T)>,
}

impl<K, T> Clone for KeyedStream<K, T> {
    fn clone(&self) -> Self {
        let KeyedStream { environment, connect, unkeyed, of } = self;
        KeyedStream { environment: environment.clone(), connect: connect.clone(), unkeyed: *unkeyed, of: *of }
    }
}

/// Windows of the last elements by number.
pub type CountWindows<K, T> = WindowedStream<K, T, GlobalWindows, PurgingTrigger<CountTrigger>, NoEvictor>;
/// Windows of the last elements by number, every so many elements.
pub type SlidingCountWindows<K, T> = WindowedStream<K, T, GlobalWindows, CountTrigger, CountEvictor>;

impl<K: Key, T: StateData> KeyedStream<K, T> {
    pub(super) fn new<F>(stream: DataStream<T>, key_of: F, unkeyed: bool) -> Self
    where
        F: Fn(&T) -> K + Clone + Send + Sync + 'static,
    {
        let DataStream { environment, node, .. } = stream;
        let connect = move |stage: usize, rule: MarkRule| {
            let key_of = key_of.clone();
            node.attach(move |instantiate| {
                let port = instantiate.port(stage);
                Box::new(Route::new(key_of.clone(), rule, stage, port, instantiate.shards))
            });
        };
        KeyedStream { environment, connect: Rc::new(connect), unkeyed, of: std::marker::PhantomData }
    }

    /// Windows by an assigner: tumbling, sliding, session, cumulating, global, or one of your own.
    #[track_caller]
    pub fn window<A: WindowAssigner<T>>(&self, assigner: A) -> WindowedStream<K, T, A, A::DefaultTrigger, NoEvictor> {
        let trigger = assigner.default_trigger();
        WindowedStream::new(self.clone(), assigner, trigger, NoEvictor, Location::caller())
    }

    /// Windows of `size` elements each.
    #[track_caller]
    pub fn count_window(&self, size: u64) -> CountWindows<K, T> {
        let trigger = PurgingTrigger::of(CountTrigger::of(size));
        WindowedStream::new(self.clone(), GlobalWindows::create(), trigger, NoEvictor, Location::caller())
            .name(format!("count_window({size})"))
    }

    /// The last `size` elements, every `slide` elements.
    #[track_caller]
    pub fn count_window_sliding(&self, size: u64, slide: u64) -> SlidingCountWindows<K, T> {
        let (trigger, evictor) = (CountTrigger::of(slide), CountEvictor::of(size));
        WindowedStream::new(self.clone(), GlobalWindows::create(), trigger, evictor, Location::caller())
            .name(format!("count_window({size}, {slide})"))
    }
}
