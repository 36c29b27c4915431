//! Operators that keep state between rows. Each stands behind an exchange by key.

use super::{GroupAggregateSpec, WindowAggregateSpec, WindowSpec};
use crate::types::Schema;

/// What a stateful operator does.
#[derive(Debug, Clone)]
pub enum StageSpec {
    Aggregate(WindowAggregateSpec),
    Group(GroupAggregateSpec),
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
            StageSpec::Group(spec) => &spec.schema,
        }
    }

    /// Input columns whose values decide which shard a row goes to; none: one shard does the work. `side`: which of
    /// the operator's inputs, from 0.
    pub fn keys(&self, _side: usize) -> &[usize] {
        match self {
            StageSpec::Aggregate(spec) => &spec.keys,
            StageSpec::Group(spec) => &spec.keys,
        }
    }

    pub fn lateness(&self, _side: usize) -> Lateness<'_> {
        match self {
            StageSpec::Aggregate(spec) => {
                Lateness::Windows { window: &spec.window, time: spec.time, zone: spec.zone.as_deref() }
            }
            StageSpec::Group(_) => Lateness::Never,
        }
    }

    /// The windows that the operator itself cuts, or the columns in which rows bring theirs.
    pub fn window(&self) -> Option<&WindowSpec> {
        match self {
            StageSpec::Aggregate(spec) => Some(&spec.window),
            StageSpec::Group(_) => None,
        }
    }

    /// Whether rows of one time come in an order that does not depend on the number of shards.
    pub fn is_ordered(&self) -> bool {
        match self {
            StageSpec::Aggregate(spec) => spec.ordered,
            StageSpec::Group(spec) => spec.ordered,
        }
    }
    /// Whether the operator is told where each of its rows stands among those of its block: in a column behind the
    /// input's own.
    pub fn wants_places(&self) -> bool {
        match self {
            StageSpec::Aggregate(_) => false,
            StageSpec::Group(spec) => spec.ordered,
        }
    }
    pub fn set_ordered(&mut self) {
        match self {
            StageSpec::Aggregate(spec) => spec.ordered = true,
            StageSpec::Group(spec) => spec.ordered = true,
        }
    }
}
