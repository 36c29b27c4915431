//! Assigners whose type is known at run time only.

use std::fmt;
use std::sync::Arc;

use crate::error::Result;
use crate::time::{EventTime, Grid};
use crate::windowing::assigner::{AssignerContext, MergeWindows, WindowAssigner};
use crate::windowing::trigger::BoxedTrigger;
use crate::windowing::window::Window;

/// Any assigner of elements of type `T` to windows of type `W`, for programs that choose one at run time.
pub struct BoxedAssigner<T, W>(Arc<dyn Erased<T, W>>);

impl<T, W: Window> BoxedAssigner<T, W> {
    /// Forgets the type of `assigner`; its default trigger is a [`BoxedTrigger`] too.
    pub fn new(assigner: impl WindowAssigner<T, Window = W>) -> Self {
        BoxedAssigner(Arc::new(assigner))
    }
}

impl<T, W> Clone for BoxedAssigner<T, W> {
    fn clone(&self) -> Self {
        BoxedAssigner(Arc::clone(&self.0))
    }
}

impl<T, W> fmt::Debug for BoxedAssigner<T, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.describe())
    }
}

/// [`WindowAssigner`] without its associated types.
trait Erased<T, W>: Send + Sync {
    fn check(&self) -> Result<()>;
    fn assign_windows(
        &self,
        element: &T,
        timestamp: EventTime,
        context: &AssignerContext,
        windows: &mut Vec<W>,
    ) -> Result<()>;
    fn default_trigger(&self) -> BoxedTrigger<T, W>;
    fn is_event_time(&self) -> bool;
    fn uses_processing_time(&self) -> bool;
    fn merging(&self) -> Option<MergeWindows<W>>;
    fn grid(&self) -> Option<Grid>;
    fn is_session(&self) -> bool;
    fn session_gap(&self) -> Option<i64>;
    fn describe(&self) -> String;
}

impl<T, W: Window, A: WindowAssigner<T, Window = W>> Erased<T, W> for A {
    fn check(&self) -> Result<()> {
        WindowAssigner::check(self)
    }
    fn assign_windows(
        &self,
        element: &T,
        timestamp: EventTime,
        context: &AssignerContext,
        windows: &mut Vec<W>,
    ) -> Result<()> {
        WindowAssigner::assign_windows(self, element, timestamp, context, windows)
    }
    fn default_trigger(&self) -> BoxedTrigger<T, W> {
        BoxedTrigger::new(WindowAssigner::default_trigger(self))
    }
    fn is_event_time(&self) -> bool {
        WindowAssigner::is_event_time(self)
    }
    fn uses_processing_time(&self) -> bool {
        WindowAssigner::uses_processing_time(self)
    }
    fn merging(&self) -> Option<MergeWindows<W>> {
        WindowAssigner::merging(self)
    }
    fn grid(&self) -> Option<Grid> {
        WindowAssigner::grid(self)
    }
    fn is_session(&self) -> bool {
        WindowAssigner::is_session(self)
    }
    fn session_gap(&self) -> Option<i64> {
        WindowAssigner::session_gap(self)
    }
    fn describe(&self) -> String {
        WindowAssigner::describe(self)
    }
}

impl<T: 'static, W: Window> WindowAssigner<T> for BoxedAssigner<T, W> {
    type Window = W;
    type DefaultTrigger = BoxedTrigger<T, W>;

    fn check(&self) -> Result<()> {
        self.0.check()
    }
    fn assign_windows(
        &self,
        element: &T,
        timestamp: EventTime,
        context: &AssignerContext,
        windows: &mut Vec<W>,
    ) -> Result<()> {
        self.0.assign_windows(element, timestamp, context, windows)
    }
    fn default_trigger(&self) -> BoxedTrigger<T, W> {
        self.0.default_trigger()
    }
    fn is_event_time(&self) -> bool {
        self.0.is_event_time()
    }
    fn uses_processing_time(&self) -> bool {
        self.0.uses_processing_time()
    }
    fn merging(&self) -> Option<MergeWindows<W>> {
        self.0.merging()
    }
    fn grid(&self) -> Option<Grid> {
        self.0.grid()
    }
    fn is_session(&self) -> bool {
        self.0.is_session()
    }
    fn session_gap(&self) -> Option<i64> {
        self.0.session_gap()
    }
    fn describe(&self) -> String {
        self.0.describe()
    }
}
