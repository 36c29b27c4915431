//! Joins in the text of a plan.

use super::operators::line;
use super::words::{column, duration, source};
use crate::plan::{IntervalBounds, JoinSpec, JoinTimes, Node, WindowSpec};
use crate::sql::render;
use crate::types::Schema;

pub(super) fn join(text: &mut String, depth: usize, inputs: &[Node], spec: &JoinSpec) {
    let [left, right] = inputs else { return };
    line(text, depth, &format!("{} ({})", spec.times.name(), spec.kind.name()));
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
    let times = |[l, r]: [usize; 2]| [column(&spec.inputs[0], l), column(&spec.inputs[1], r)];
    match &spec.times {
        JoinTimes::Windows([WindowSpec::Attached { start, end }, _]) => {
            let windows = format!("those that the rows carry ({}, {})", source(left, *start), source(left, *end));
            line(text, depth + 1, &format!("windows: {windows}"));
        }
        JoinTimes::Interval(bounds) => {
            line(text, depth + 1, &format!("times: {}", between(times(bounds.times), bounds)));
            line(text, depth + 1, &format!("watermark handed on: {} behind", duration(bounds.delay_ms())));
        }
        JoinTimes::Versions(versions) => {
            let [l, r] = times(versions.times);
            line(text, depth + 1, &format!("versions: of each key the last with {r} up to {l}"));
        }
        JoinTimes::Windows(_) | JoinTimes::Unbounded => line(text, depth + 1, "windows: none, all rows are kept"),
    }
}

fn between([left, right]: [&str; 2], bounds: &IntervalBounds) -> String {
    let shifted = |by: i64| match by {
        0 => right.to_string(),
        by if by < 0 => format!("{right} - {}", duration(by.saturating_neg())),
        by => format!("{right} + {}", duration(by)),
    };
    match bounds.lower_ms == bounds.upper_ms {
        true => format!("{left} = {}", shifted(bounds.lower_ms)),
        false => format!("{left} between {} and {}", shifted(bounds.lower_ms), shifted(bounds.upper_ms)),
    }
}

/// The time columns of both sides, for a card.
pub(super) fn compared_times(spec: &JoinSpec) -> Option<String> {
    let [l, r] = spec.compared_times()?;
    let [l, r] = [spec.inputs[0].fields.get(l)?, spec.inputs[1].fields.get(r)?];
    Some(match &spec.times {
        JoinTimes::Interval(bounds) => format!("{}, {}", between([&l.name, &r.name], bounds), l.data_type.kind),
        _ => format!("{} on the left, {} on the right, {}", l.name, r.name, l.data_type.kind),
    })
}

/// What a join gives, and when.
pub(super) fn joined(spec: &JoinSpec) -> String {
    let padded = spec.kind.keeps(0) || spec.kind.keeps(1);
    match &spec.times {
        JoinTimes::Windows(_) => "rows once (append), when the watermark passes the end of their window".to_string(),
        JoinTimes::Unbounded => "each pair at once (append)".to_string(),
        JoinTimes::Interval(bounds) if padded && bounds.is_empty() => {
            "rows without a partner at once (append)".to_string()
        }
        JoinTimes::Interval(_) if padded => {
            "each pair at once (append), rows without a partner when they are given up".to_string()
        }
        JoinTimes::Interval(_) => "each pair at once (append)".to_string(),
        JoinTimes::Versions(_) => {
            "each left row at most once (append), when the watermark reaches its time".to_string()
        }
    }
}
