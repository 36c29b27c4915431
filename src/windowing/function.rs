//! Window functions: what is made of the elements of a window.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::time::EventTime;
use crate::windowing::output::{Collector, OutputTag, SideOutputs};
use crate::windowing::window::{TimeWindow, Window};
use crate::windowing::{Data, Key, StateData};

/// Adds up elements one by one.
///
/// Contract: `merge` is associative, and adding elements to two accumulators and merging them is adding all to one.
/// For windows whose accumulators can't be merged see `fold`, which sessions do not have.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no aggregate of elements `{T}`",
    note = "a closure goes into `reduce` or `fold`, four of them into `Aggregate::new`"
)]
pub trait AggregateFunction<T>: Clone + Send + Sync + 'static {
    type Accumulator: StateData;
    type Output: Data;

    fn create_accumulator(&self) -> Self::Accumulator;
    fn add(&self, element: &T, accumulator: &mut Self::Accumulator);
    fn get_result(&self, accumulator: &Self::Accumulator) -> Self::Output;
    /// Adds what `other` has seen, which came after what `accumulator` has seen.
    fn merge(&self, accumulator: &mut Self::Accumulator, other: &Self::Accumulator);
}

/// Whether a result comes before, at or after the time at which its window is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum PaneTiming {
    /// The watermark had not reached the end of the window.
    Early,
    /// The watermark has just reached it.
    OnTime,
    /// An element came behind it, within the allowed lateness.
    Late,
}

/// Which of a window's firings a result is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PaneInfo {
    pub timing: PaneTiming,
    /// Counts the firings of the window from 0. A session that others merged into goes on from the highest of theirs.
    pub index: u32,
}

impl PaneInfo {
    pub fn is_early(&self) -> bool {
        self.timing == PaneTiming::Early
    }
    pub fn is_late(&self) -> bool {
        self.timing == PaneTiming::Late
    }
}

/// What a window function sees beside the elements.
pub struct WindowContext<'a, W> {
    window: &'a W,
    pane: PaneInfo,
    watermark: EventTime,
    processing_time: EventTime,
    sides: &'a mut SideOutputs,
}

impl<'a, W: Window> WindowContext<'a, W> {
    pub fn new(
        window: &'a W,
        pane: PaneInfo,
        (watermark, processing_time): (EventTime, EventTime),
        sides: &'a mut SideOutputs,
    ) -> Self {
        WindowContext { window, pane, watermark, processing_time, sides }
    }
    pub fn window(&self) -> &W {
        self.window
    }
    pub fn pane(&self) -> PaneInfo {
        self.pane
    }
    /// In milliseconds; `i64::MIN` before the first watermark.
    pub fn current_watermark(&self) -> EventTime {
        self.watermark
    }
    /// Milliseconds since 1970.
    pub fn current_processing_time(&self) -> EventTime {
        self.processing_time
    }
    /// Gives `value` to the side output `tag`, with the window's maximum timestamp.
    pub fn output<X: Data>(&mut self, tag: &OutputTag<X>, value: X) {
        self.sides.output(tag, value);
    }
}

/// Makes results of a window that fires: of all its elements, or of the one result of an aggregate.
///
/// A closure `|key, context, elements, out| { … Ok(()) }` is one too. Each shard has a copy of its own.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no window function of elements `{In}`, key `{K}` and windows `{W}`",
    note = "an aggregate goes into `aggregate`, a closure into `apply` or `aggregate_apply`"
)]
pub trait ProcessWindowFunction<In, K, W: Window, Out>: Clone + Send + Sync + 'static {
    /// `elements`: in the order in which the window holds them; none where an evictor has emptied it.
    ///
    /// # Errors
    /// Whatever the function fails with: the job ends with it.
    fn process(
        &mut self,
        key: &K,
        context: &mut WindowContext<'_, W>,
        elements: &[In],
        out: &mut Collector<'_, Out>,
    ) -> Result<()>;
}

impl<In, K, W, Out, F> ProcessWindowFunction<In, K, W, Out> for F
where
    W: Window,
    F: FnMut(&K, &mut WindowContext<'_, W>, &[In], &mut Collector<'_, Out>) -> Result<()>
        + Clone
        + Send
        + Sync
        + 'static,
{
    fn process(
        &mut self,
        key: &K,
        context: &mut WindowContext<'_, W>,
        elements: &[In],
        out: &mut Collector<'_, Out>,
    ) -> Result<()> {
        self(key, context, elements, out)
    }
}

/// The result of an aggregate with all that tells it from others. Its upsert key is (`key`, `window`): a further
/// firing of the same window takes the place of the one before.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct WindowResult<K, W, R> {
    pub key: K,
    pub window: W,
    pub pane: PaneInfo,
    pub value: R,
}

impl<K, R> WindowResult<K, TimeWindow, R> {
    /// Key and window start: a table with these as its primary key holds the latest result of each window.
    pub fn upsert_key(&self) -> (&K, EventTime) {
        (&self.key, self.window.start)
    }
}

/// Turns each result into a [`WindowResult`].
#[derive(Debug, Clone, Copy, Default)]
pub struct EmitResult;

impl<R: Data, K: Key, W: Window> ProcessWindowFunction<R, K, W, WindowResult<K, W, R>> for EmitResult {
    fn process(
        &mut self,
        key: &K,
        context: &mut WindowContext<'_, W>,
        elements: &[R],
        out: &mut Collector<'_, WindowResult<K, W, R>>,
    ) -> Result<()> {
        for value in elements {
            let (key, window, value) = (key.clone(), context.window().clone(), value.clone());
            out.collect(WindowResult { key, window, pane: context.pane(), value });
        }
        Ok(())
    }
}
