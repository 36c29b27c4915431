//! The card of an operator that keeps state: what one wants to know of it before the plan.

use std::fmt::Write;

use super::join::{compared_times, joined};
use super::keeps::keeps;
use super::words::{column, duration, emits, paragraph, slices, source, watermark_rule, windows};
use crate::expr::eval::{Function, Time};
use crate::expr::{Expr, Scalar};
use crate::plan::{Config, JoinTimes, Node, Pipeline, ScanSpec, StageSpec, WatermarkSpec, WindowSpec};
use crate::types::{Schema, Type};

/// Of what stands before the colonless words of a line: two spaces, the longest name, two spaces.
const INDENT: usize = 15;

/// The cards of a pipeline, each with an empty line behind it.
pub(super) fn cards(pipeline: &Pipeline, config: &Config) -> String {
    let stages = stages(&pipeline.root);
    let mut text = String::new();
    for (i, (spec, inputs)) in stages.iter().enumerate() {
        let number = if stages.len() == 1 { String::new() } else { format!(" {} of {}", i + 1, stages.len()) };
        // Writing to a string does not fail.
        let _ = writeln!(text, "Card{number}: {}", spec.name());
        for (name, content) in card(spec, inputs, config) {
            paragraph(&mut text, &format!("  {name:<width$}", width = INDENT - 2), &content);
        }
        text.push('\n');
    }
    text
}

/// The operators with state and their inputs, in the order of the plan.
pub(super) fn stages(node: &Node) -> Vec<(&StageSpec, &[Node])> {
    let mut found = Vec::new();
    if let Node::Stage { inputs, spec } = node {
        found.push((&**spec, inputs.as_slice()));
    }
    found.extend(node.inputs().into_iter().flat_map(stages));
    found
}

fn card(spec: &StageSpec, inputs: &[Node], config: &Config) -> Vec<(&'static str, String)> {
    let mut lines = vec![("key", key(spec, inputs)), ("windows", cut(spec))];
    if let Some(time) = time(spec) {
        lines.push(("time column", time));
    }
    let scans: Vec<&ScanSpec> = inputs.iter().flat_map(scans).collect();
    lines.push(("watermark", watermark(spec, &scans, config)));
    lines.push(("keeps", keeps(spec, inputs)));
    lines.push(("gives", gives(spec, inputs)));
    lines
}

fn key(spec: &StageSpec, inputs: &[Node]) -> String {
    if let (StageSpec::Join(spec), [left, right]) = (spec, inputs) {
        let pairs = spec.keys[0].iter().zip(&spec.keys[1]).map(|(l, r)| {
            let (left, right) = (source(left, *l), source(right, *r));
            if left == right { left } else { format!("{left} = {right}") }
        });
        return or_none(pairs.collect(), "none, one shard does the work");
    }
    let (keys, none) = match spec {
        // Windows are dealt out where there is no key.
        StageSpec::Rank(spec) => (spec.keys.as_slice(), "none, shards share the windows"),
        other => (other.keys(0), "none, one shard does the work"),
    };
    or_none(inputs.iter().take(1).flat_map(|input| keys.iter().map(|key| source(input, *key))).collect(), none)
}

fn or_none(names: Vec<String>, none: &str) -> String {
    if names.is_empty() { none.to_string() } else { names.join(", ") }
}

fn cut(spec: &StageSpec) -> String {
    let zoned = |window: &WindowSpec, input: &Schema, zone: &Option<String>| {
        let zone = zone.as_ref().map(|zone| format!(", on the clock of {zone}")).unwrap_or_default();
        format!("{}{zone}", windows(window, input))
    };
    match spec {
        StageSpec::Aggregate(spec) => {
            format!("{}{}", zoned(&spec.window, &spec.input, &spec.zone), in_slices(&spec.window))
        }
        StageSpec::Emitting(spec) => zoned(&spec.aggregate.window, &spec.aggregate.input, &spec.aggregate.zone),
        StageSpec::Rank(spec) => zoned(&spec.window, &spec.input, &spec.zone),
        StageSpec::SessionRows(spec) => zoned(&spec.window, &spec.input, &spec.zone),
        StageSpec::Join(spec) => match spec.windows() {
            Some(windows) => zoned(&windows[0], &spec.inputs[0], &spec.zone),
            None => "none".to_string(),
        },
        StageSpec::Over(_) | StageSpec::KeepFirst(_) | StageSpec::Group(_) => "none".to_string(),
    }
}

fn in_slices(window: &WindowSpec) -> String {
    match window {
        WindowSpec::Hop { .. } | WindowSpec::Cumulate { .. } => format!("; in slices of {}", slices(window)),
        _ => String::new(),
    }
}

fn time(spec: &StageSpec) -> Option<String> {
    let (input, time) = match spec {
        StageSpec::Aggregate(spec) => (&spec.input, spec.time),
        StageSpec::Emitting(spec) => (&spec.aggregate.input, spec.aggregate.time),
        StageSpec::Over(spec) => (&spec.input, spec.time),
        StageSpec::SessionRows(spec) => (&spec.input, spec.time),
        StageSpec::KeepFirst(spec) => (&spec.input, spec.time),
        StageSpec::Join(spec) => return compared_times(spec),
        StageSpec::Rank(_) | StageSpec::Group(_) => return None,
    };
    let field = input.fields.get(time)?;
    Some(format!("{}, {}", field.name, field.data_type.kind))
}

/// The tables below.
fn scans(node: &Node) -> Vec<&ScanSpec> {
    match node {
        Node::Scan(spec) => vec![spec],
        other => other.inputs().into_iter().flat_map(scans).collect(),
    }
}

fn watermark(spec: &StageSpec, scans: &[&ScanSpec], config: &Config) -> String {
    let waits = match spec {
        StageSpec::Group(_) => false,
        StageSpec::Join(spec) => !matches!(spec.times, JoinTimes::Unbounded),
        _ => true,
    };
    if !waits {
        return "not waited for".to_string();
    }
    let mut rules: Vec<String> = Vec::new();
    for scan in scans {
        let rule = match &scan.watermark {
            Some(watermark) => rule(scan, watermark),
            None => format!("none of {}", scan.table),
        };
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    let rules = if rules.len() > 1 { format!("the lowest of {}", rules.join("; ")) } else { rules.concat() };
    format!("{rules}; {}; no idle timeout", watermark_rule(config))
}

/// How far it stays behind the highest time, where it is a time column less an interval; else its text.
fn rule(scan: &ScanSpec, watermark: &WatermarkSpec) -> String {
    let highest = format!("the highest {} of {}", column(&scan.schema, watermark.time), scan.table);
    match delay_ms(&watermark.expression, watermark.time) {
        Some(0) => highest,
        Some(delay) => format!("{} behind {highest}", duration(delay)),
        None => format!("{} of {}", watermark.text, scan.table),
    }
}

/// Milliseconds that a watermark of column `time` stays behind it; `None` where that is no constant.
pub(in crate::sql) fn delay_ms(expression: &Expr, time: usize) -> Option<i64> {
    match expression {
        Expr::Column { index, .. } if *index == time => Some(0),
        Expr::Cast { input, .. } => delay_ms(input, time),
        Expr::Call { function: Function::Time(Time::Shift { minus: true }), args, .. } => match args.as_slice() {
            [column, Expr::Literal { value: Scalar::Int(interval), data_type }]
                if data_type.kind == Type::IntervalDaySecond =>
            {
                Some(delay_ms(column, time)? + interval)
            }
            _ => None,
        },
        _ => None,
    }
}

fn gives(spec: &StageSpec, inputs: &[Node]) -> String {
    match spec {
        StageSpec::Aggregate(_) => {
            "each result once (append), when the watermark passes the end of its window".to_string()
        }
        StageSpec::Emitting(emitting) => {
            format!("changes of a result (changelog: +I, -U, +U), {}", emits(emitting.emit))
        }
        StageSpec::Rank(_) => "rows once (append), when the watermark passes the end of their window".to_string(),
        StageSpec::SessionRows(_) => {
            "rows once (append), when the watermark passes the end of their session".to_string()
        }
        StageSpec::Over(_) => "each row once (append), when the watermark reaches its time".to_string(),
        StageSpec::KeepFirst(_) => "one row for each key (append), when the watermark reaches its time".to_string(),
        StageSpec::Join(spec) => joined(spec),
        StageSpec::Group(group) => {
            let key = match group.keys.is_empty() {
                true => "one row that changes".to_string(),
                false => format!("key {}", key(spec, inputs)),
            };
            format!(
                "changes of a result (changelog: +I, -U, +U{}), {key}",
                if group.kind.is_some() { ", -D" } else { "" }
            )
        }
    }
}
