//! Operators that keep state between rows. Each stands behind an exchange by key.

use super::{JoinSpec, WindowAggregateSpec, WindowSpec};
use crate::types::Schema;

/// What a stateful operator does.
#[derive(Debug, Clone)]
pub enum StageSpec {
    Aggregate(WindowAggregateSpec),
    Join(JoinSpec),
}

/// Which rows of an operator's input are late.
#[derive(Debug, Clone, Copy)]
pub enum Lateness<'a> {
    /// Those all of whose windows have fired.
    Windows {
        window: &'a WindowSpec,
        /// Input column with the event time.
        time: usize,
        /// The zone on whose clock windows are cut, where that makes a difference.
        zone: Option<&'a str>,
    },
    /// None.
    Never,
}

impl StageSpec {
    /// Of its output rows.
    pub fn schema(&self) -> &Schema {
        match self {
            StageSpec::Aggregate(spec) => &spec.schema,
            StageSpec::Join(spec) => &spec.schema,
        }
    }

    /// Input columns whose values decide which shard a row goes to; none: one shard does the work. `side`: which of
    /// the operator's inputs, from 0.
    pub fn keys(&self, side: usize) -> &[usize] {
        match self {
            StageSpec::Aggregate(spec) => &spec.keys,
            StageSpec::Join(spec) => &spec.keys[side],
        }
    }

    pub fn lateness(&self, side: usize) -> Lateness<'_> {
        match self {
            StageSpec::Aggregate(spec) => {
                Lateness::Windows { window: &spec.window, time: spec.time, zone: spec.zone.as_deref() }
            }
            StageSpec::Join(spec) => match (&spec.windows, spec.bounds(side)) {
                (Some(windows), Some((_, end))) => {
                    Lateness::Windows { window: &windows[side], time: end, zone: spec.zone.as_deref() }
                }
                _ => Lateness::Never,
            },
        }
    }

    /// The windows that the operator itself cuts, or the columns in which rows bring theirs.
    pub fn window(&self) -> Option<&WindowSpec> {
        match self {
            StageSpec::Aggregate(spec) => Some(&spec.window),
            StageSpec::Join(spec) => spec.windows.as_ref().map(|windows| &windows[0]),
        }
    }

    /// Whether rows of one time come in an order that does not depend on the number of shards.
    pub fn is_ordered(&self) -> bool {
        match self {
            StageSpec::Aggregate(spec) => spec.ordered,
            StageSpec::Join(spec) => spec.ordered,
        }
    }
    pub fn set_ordered(&mut self) {
        match self {
            StageSpec::Aggregate(spec) => spec.ordered = true,
            StageSpec::Join(spec) => spec.ordered = true,
        }
    }
}
