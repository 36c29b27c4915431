//! Operators that keep state between rows. Each stands behind an exchange by key.

use super::{WindowAggregateSpec, WindowSpec};
use crate::types::Schema;

/// What a stateful operator does.
#[derive(Debug, Clone)]
pub enum StageSpec {
    Aggregate(WindowAggregateSpec),
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
}

impl StageSpec {
    /// Of its output rows.
    pub fn schema(&self) -> &Schema {
        match self {
            StageSpec::Aggregate(spec) => &spec.schema,
        }
    }

    /// Input columns whose values decide which shard a row goes to; none: one shard does the work. `side`: which of
    /// the operator's inputs, from 0.
    pub fn keys(&self, _side: usize) -> &[usize] {
        match self {
            StageSpec::Aggregate(spec) => &spec.keys,
        }
    }

    pub fn lateness(&self, _side: usize) -> Lateness<'_> {
        match self {
            StageSpec::Aggregate(spec) => {
                Lateness::Windows { window: &spec.window, time: spec.time, zone: spec.zone.as_deref() }
            }
        }
    }

    /// Input column with the number of the grouping set, of which 0 stands for the row in counts.
    pub fn set(&self) -> Option<usize> {
        match self {
            StageSpec::Aggregate(spec) => spec.set,
        }
    }

    /// The windows that the operator itself cuts, or the columns in which rows bring theirs.
    pub fn window(&self) -> Option<&WindowSpec> {
        match self {
            StageSpec::Aggregate(spec) => Some(&spec.window),
        }
    }

    /// Whether rows of one time come in an order that does not depend on the number of shards.
    pub fn is_ordered(&self) -> bool {
        match self {
            StageSpec::Aggregate(spec) => spec.ordered,
        }
    }
    pub fn set_ordered(&mut self) {
        match self {
            StageSpec::Aggregate(spec) => spec.ordered = true,
        }
    }
}
