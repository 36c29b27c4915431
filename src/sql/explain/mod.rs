//! A plan as text: a card for each operator that keeps state, then all operators.

mod bytes;
mod card;
mod estimate;
mod findings;
mod join;
mod keeps;
mod operators;
mod words;

pub(super) use card::delay_ms;
pub use estimate::{Amount, Counted, Look, StateSize, look_at_times, state_sizes};
pub use findings::findings;
pub use words::duration;

use crate::plan::JobPlan;

/// The plan as text, as `transom explain` prints it. For each pipeline: a card for every operator that keeps state
/// (key, windows, watermark, what is kept, what goes out), in the order of the plan; then the plan, its operators indented
/// from the sink down.
pub fn explain(plan: &JobPlan) -> String {
    let pipelines = plan.pipelines.iter().map(|pipeline| {
        let mut text = card::cards(pipeline, &plan.config);
        operators::operators(&mut text, pipeline, &plan.config);
        text
    });
    pipelines.collect::<Vec<_>>().join("\n")
}
