//! A plan in words, with what a look at its input tells.

use crate::plan::JobPlan;
use crate::sql::{self, Lint};

use super::sample;

/// The text of EXPLAIN: a card for each operator with state, the operators, the state that the start of the input makes
/// likely, and the findings. Reads at most some megabytes of each table.
pub fn explain(plan: &JobPlan, lints: &[Lint]) -> String {
    let parts = [sql::explain(plan), sample::estimate(plan), sql::findings(lints)];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n")
}
