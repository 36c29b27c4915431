//! A plan in words, with what a look at its input tells.

use super::sample;
use crate::plan::JobPlan;
use crate::sql::{self, Lint, Statement};

/// The text of EXPLAIN: a card for each operator with state, the operators, the state that the start of the input makes
/// likely, and findings. Reads at most some megabytes of each table.
pub fn explain(plan: &JobPlan, lints: &[Lint]) -> String {
    let parts = [sql::explain(plan), sample::estimate(plan), sql::findings(lints)];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n")
}

/// The findings of a statement, with those that only the start of its input tells, in the order of their places.
pub fn findings(statement: &Statement, plan: &JobPlan) -> Vec<Lint> {
    let mut found = sample::findings(plan);
    found.extend_from_slice(&statement.lints);
    found.sort_by_key(|lint| lint.place.as_ref().map(|place| (place.line, place.column)));
    found
}
