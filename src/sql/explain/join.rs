//! Joins in the text of a plan.

use super::operators::line;
use super::words::source;
use crate::plan::{JoinSpec, Node, WindowSpec};
use crate::sql::render;
use crate::types::Schema;

pub(super) fn join(text: &mut String, depth: usize, inputs: &[Node], spec: &JoinSpec) {
    let [left, right] = inputs else { return };
    let name = if spec.windows.is_some() { "WindowJoin" } else { "Join" };
    line(text, depth, &format!("{name} ({})", spec.kind.name()));
    let keys = spec.keys[0].iter().zip(&spec.keys[1]).zip(&spec.null_meets_null).map(|((&l, &r), null_meets_null)| {
        let operator = if *null_meets_null { "IS NOT DISTINCT FROM" } else { "=" };
        format!("{} {operator} {}", source(left, l), source(right, r))
    });
    let keys: Vec<String> = keys.collect();
    let keys = if keys.is_empty() { "none, one shard does the work".to_string() } else { keys.join(", ") };
    line(text, depth + 1, &format!("keys: {keys}"));
    if let Some(condition) = &spec.condition {
        let fields = spec.inputs.iter().flat_map(|input| input.fields.clone());
        line(text, depth + 1, &format!("where: {}", render::expr(condition, &Schema::new(fields.collect()))));
    }
    match &spec.windows {
        Some([WindowSpec::Attached { start, end }, _]) => {
            let windows = format!("those that the rows carry ({}, {})", source(left, *start), source(left, *end));
            line(text, depth + 1, &format!("windows: {windows}"));
        }
        _ => line(text, depth + 1, "windows: none, all rows are kept"),
    }
}
