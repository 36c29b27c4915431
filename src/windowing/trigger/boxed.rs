//! Triggers whose type is known at run time only.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, ser};

use crate::error::Result;
use crate::time::EventTime;
use crate::windowing::StateData;
use crate::windowing::state::{decode, encode};
use crate::windowing::trigger::{Trigger, TriggerContext, TriggerResult};
use crate::windowing::window::Window;

/// Any trigger for elements of type `T` in windows of type `W`, for programs that choose one at run time. It costs a
/// call through a pointer and, where the trigger remembers anything, an allocation per window of a key.
pub struct BoxedTrigger<T, W>(Arc<dyn Erased<T, W>>);

/// What the trigger in a [`BoxedTrigger`] remembers of a window; nothing until it is first asked.
#[derive(Default)]
pub struct BoxedState(Remembered);

#[derive(Default)]
enum Remembered {
    #[default]
    Nothing,
    State(Box<dyn AnyState>),
    /// As it was written to a checkpoint: only the trigger knows the type.
    Written(Vec<u8>),
}

impl<T, W: Window> BoxedTrigger<T, W> {
    /// Forgets the type of `trigger`.
    pub fn new(trigger: impl Trigger<T, W>) -> Self {
        BoxedTrigger(Arc::new(trigger))
    }
}

impl<T, W> Clone for BoxedTrigger<T, W> {
    fn clone(&self) -> Self {
        BoxedTrigger(Arc::clone(&self.0))
    }
}

impl<T, W> fmt::Debug for BoxedTrigger<T, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.describe())
    }
}

trait AnyState: Any + Send + Sync {
    fn boxed_clone(&self) -> Box<dyn AnyState>;
    fn as_any_mut(&mut self) -> &mut dyn Any;
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
    fn encoded(&self) -> Result<Vec<u8>>;
}

impl<S: StateData> AnyState for S {
    fn boxed_clone(&self) -> Box<dyn AnyState> {
        Box::new(self.clone())
    }
    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
    fn encoded(&self) -> Result<Vec<u8>> {
        encode(self)
    }
}

impl Clone for BoxedState {
    fn clone(&self) -> Self {
        BoxedState(match &self.0 {
            Remembered::Nothing => Remembered::Nothing,
            Remembered::State(state) => Remembered::State((**state).boxed_clone()),
            Remembered::Written(bytes) => Remembered::Written(bytes.clone()),
        })
    }
}

impl Serialize for BoxedState {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match &self.0 {
            Remembered::Nothing => None::<Vec<u8>>.serialize(serializer),
            Remembered::State(state) => Some((**state).encoded().map_err(ser::Error::custom)?).serialize(serializer),
            Remembered::Written(bytes) => Some(bytes).serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for BoxedState {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let bytes = Option::<Vec<u8>>::deserialize(deserializer)?;
        Ok(BoxedState(bytes.map_or(Remembered::Nothing, Remembered::Written)))
    }
}

impl fmt::Debug for BoxedState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if matches!(self.0, Remembered::Nothing) { "BoxedState(none)" } else { "BoxedState" })
    }
}

impl BoxedState {
    /// Hands the state to `ask`. A state is only ever seen by the trigger that made it, so its type fits.
    fn with<S: StateData + Default, R>(&mut self, ask: impl FnOnce(&mut S) -> Result<R>) -> Result<R> {
        match &self.0 {
            Remembered::State(_) => {}
            Remembered::Nothing => self.0 = Remembered::State(Box::new(S::default())),
            Remembered::Written(bytes) => self.0 = Remembered::State(Box::new(decode::<S>(bytes)?)),
        }
        let Remembered::State(state) = &mut self.0 else { return ask(&mut S::default()) };
        match (**state).as_any_mut().downcast_mut() {
            Some(state) => ask(state),
            None => ask(&mut S::default()),
        }
    }
    fn take<S: StateData + Default>(self) -> Result<S> {
        match self.0 {
            Remembered::Nothing => Ok(S::default()),
            Remembered::Written(bytes) => decode(&bytes),
            Remembered::State(state) => Ok(state.into_any().downcast().map_or_else(|_| S::default(), |state| *state)),
        }
    }
}

/// [`Trigger`] without its associated type.
trait Erased<T, W>: Send + Sync {
    fn check(&self) -> Result<()>;
    fn on_element(
        &self,
        element: &T,
        timestamp: EventTime,
        window: &W,
        state: &mut BoxedState,
        context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult>;
    fn on_event_time(
        &self,
        time: EventTime,
        window: &W,
        state: &mut BoxedState,
        context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult>;
    fn on_processing_time(
        &self,
        time: EventTime,
        window: &W,
        state: &mut BoxedState,
        context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult>;
    fn can_merge(&self) -> bool;
    fn on_merge(
        &self,
        window: &W,
        state: &mut BoxedState,
        merged: Vec<BoxedState>,
        context: &mut TriggerContext<'_>,
    ) -> Result<()>;
    fn clear(&self, window: &W, state: &mut BoxedState, context: &mut TriggerContext<'_>);
    fn is_default_event_time(&self) -> bool;
    fn is_end_of_stream(&self) -> bool;
    fn may_leave_unfired(&self) -> bool;
    fn never_fires(&self) -> bool;
    fn uses_processing_time(&self) -> bool;
    fn describe(&self) -> String;
}

impl<T, W: Window, G: Trigger<T, W>> Erased<T, W> for G {
    fn check(&self) -> Result<()> {
        Trigger::check(self)
    }
    fn on_element(
        &self,
        element: &T,
        timestamp: EventTime,
        window: &W,
        state: &mut BoxedState,
        context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        state.with(|state| Trigger::on_element(self, element, timestamp, window, state, context))
    }
    fn on_event_time(
        &self,
        time: EventTime,
        window: &W,
        state: &mut BoxedState,
        context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        state.with(|state| Trigger::on_event_time(self, time, window, state, context))
    }
    fn on_processing_time(
        &self,
        time: EventTime,
        window: &W,
        state: &mut BoxedState,
        context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        state.with(|state| Trigger::on_processing_time(self, time, window, state, context))
    }
    fn can_merge(&self) -> bool {
        Trigger::can_merge(self)
    }
    fn on_merge(
        &self,
        window: &W,
        state: &mut BoxedState,
        merged: Vec<BoxedState>,
        context: &mut TriggerContext<'_>,
    ) -> Result<()> {
        let merged = merged.into_iter().map(BoxedState::take).collect::<Result<_>>()?;
        state.with(|state| Trigger::on_merge(self, window, state, merged, context))
    }
    fn clear(&self, window: &W, state: &mut BoxedState, context: &mut TriggerContext<'_>) {
        // What cannot be read has no timers that anybody knows of.
        let _ = state.with(|state| {
            Trigger::clear(self, window, state, context);
            Ok(())
        });
        *state = BoxedState::default();
    }
    fn is_default_event_time(&self) -> bool {
        Trigger::is_default_event_time(self)
    }
    fn is_end_of_stream(&self) -> bool {
        Trigger::is_end_of_stream(self)
    }
    fn may_leave_unfired(&self) -> bool {
        Trigger::may_leave_unfired(self)
    }
    fn never_fires(&self) -> bool {
        Trigger::never_fires(self)
    }
    fn uses_processing_time(&self) -> bool {
        Trigger::uses_processing_time(self)
    }
    fn describe(&self) -> String {
        Trigger::describe(self)
    }
}

impl<T: 'static, W: Window> Trigger<T, W> for BoxedTrigger<T, W> {
    type State = BoxedState;

    fn check(&self) -> Result<()> {
        self.0.check()
    }
    fn on_element(
        &self,
        element: &T,
        timestamp: EventTime,
        window: &W,
        state: &mut BoxedState,
        context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        self.0.on_element(element, timestamp, window, state, context)
    }
    fn on_event_time(
        &self,
        time: EventTime,
        window: &W,
        state: &mut BoxedState,
        context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        self.0.on_event_time(time, window, state, context)
    }
    fn on_processing_time(
        &self,
        time: EventTime,
        window: &W,
        state: &mut BoxedState,
        context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        self.0.on_processing_time(time, window, state, context)
    }
    fn can_merge(&self) -> bool {
        self.0.can_merge()
    }
    fn on_merge(
        &self,
        window: &W,
        state: &mut BoxedState,
        merged: Vec<BoxedState>,
        context: &mut TriggerContext<'_>,
    ) -> Result<()> {
        self.0.on_merge(window, state, merged, context)
    }
    fn clear(&self, window: &W, state: &mut BoxedState, context: &mut TriggerContext<'_>) {
        self.0.clear(window, state, context);
    }
    fn is_default_event_time(&self) -> bool {
        self.0.is_default_event_time()
    }
    fn is_end_of_stream(&self) -> bool {
        self.0.is_end_of_stream()
    }
    fn may_leave_unfired(&self) -> bool {
        self.0.may_leave_unfired()
    }
    fn never_fires(&self) -> bool {
        self.0.never_fires()
    }
    fn uses_processing_time(&self) -> bool {
        self.0.uses_processing_time()
    }
    fn describe(&self) -> String {
        self.0.describe()
    }
}
