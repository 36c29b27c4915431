//! What is likely to surprise in an operator that keeps state.

use super::words::duration;
use crate::plan::{Node, StageSpec, WindowSpec};

/// From so many windows a row on they are worth a word.
const MANY_WINDOWS: i64 = 60;

/// One sentence each, with what to do.
pub(super) fn lints(spec: &StageSpec, inputs: &[Node]) -> Vec<String> {
    let mut found = Vec::new();
    if let Some((count, every)) = spec.window().and_then(many) {
        let every = duration(every);
        found.push(format!(
            "a row counts in {count} windows, and each key gives a result every {every}: a longer slide or step gives \
             fewer"
        ));
    }
    if let Some((count, _)) = inputs.iter().find_map(copies) {
        found.push(format!(
            "each row comes in {count} copies, one a window: aggregate by window_start and window_end below, or slide by \
             more"
        ));
    }
    if let StageSpec::Join(join) = spec
        && join.keys[0].is_empty()
    {
        let of = if join.windows().is_some() { " of a window" } else { "" };
        let of = if join.compared_times().is_some() { " whose times fit" } else { of };
        found.push(format!("no column of the sides must be equal: one shard compares all pairs{of}; add L.k = R.k"));
    }
    found
}

/// How many windows a row is in and how often they come, where that is many.
fn many(window: &WindowSpec) -> Option<(i64, i64)> {
    let (size, step) = match *window {
        WindowSpec::Hop { size_ms, slide_ms, .. } => (size_ms, slide_ms),
        WindowSpec::Cumulate { size_ms, step_ms, .. } => (size_ms, step_ms),
        WindowSpec::Tumble { .. } | WindowSpec::Session { .. } | WindowSpec::Attached { .. } => return None,
    };
    let count = size.checked_div(step).filter(|&count| count > MANY_WINDOWS)?;
    Some((count, step))
}

/// The same of a window function right below, whose rows are not aggregated at once.
fn copies(input: &Node) -> Option<(i64, i64)> {
    match input {
        Node::AssignWindows { window, .. } => many(window),
        Node::Calc { input, .. } | Node::Expand { input, .. } | Node::Unnest { input, .. } => copies(input),
        Node::UnionAll { inputs, .. } => inputs.iter().find_map(copies),
        Node::Scan(_) | Node::Stage { .. } => None,
    }
}
