//! A plan as text.

use crate::plan::JobPlan;

/// The plan as text, as `transom explain` prints it.
pub fn explain(plan: &JobPlan) -> String {
    format!("{} pipelines", plan.pipelines.len())
}
