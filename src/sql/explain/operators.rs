//! A plan as text: operators indented from the sink down.

use std::fmt::Write;

use super::words::{aggregate_call, column, duration, emits, slices, source, watermark_rule, windows};
use crate::aggregate::AggregateCall;
use crate::expr::Expr;
use crate::plan::{
    Config, Frame, GroupAggregateSpec, KeepFirstSpec, Node, OverSpec, Pipeline, RankSpec, ScanSpec, SessionRowsSpec,
    SinkConnector, SinkSpec, SourceSpec, StageSpec, WindowAggregateSpec, WindowSpec,
};
use crate::sql::render;
use crate::types::{Field, Schema};

/// Of the copies of a row that an operator makes.
const COPIES_SHOWN: usize = 10;

/// The operators of a pipeline, indented from the sink down.
pub(super) fn operators(text: &mut String, pipeline: &Pipeline, config: &Config) {
    line(text, 0, &sink(&pipeline.sink));
    node(text, 1, &pipeline.root, config);
}

pub(super) fn line(text: &mut String, depth: usize, content: &str) {
    // Writing to a string does not fail.
    let _ = writeln!(text, "{:indent$}{content}", "", indent = depth * 2);
}

fn sink(sink: &SinkSpec) -> String {
    let columns = names(&sink.schema);
    match &sink.connector {
        SinkConnector::Filesystem { path, format, .. } => {
            format!("Sink {} ({} {path}): {columns}", sink.table, format.name())
        }
        SinkConnector::Stdout { format } => {
            format!("Sink {} ({} on stdout): {columns}", sink.table, format.name())
        }
        SinkConnector::Print { identifier: Some(identifier), .. } => {
            format!("Sink {} (print, {identifier}> ): {columns}", sink.table)
        }
        SinkConnector::Print { identifier: None, .. } => format!("Sink {} (print): {columns}", sink.table),
        SinkConnector::Blackhole => format!("Sink {} (blackhole): {columns}", sink.table),
        SinkConnector::Collect => format!("Result: {columns}"),
    }
}

fn names(schema: &Schema) -> String {
    schema.fields.iter().map(|field| field.name.as_str()).collect::<Vec<_>>().join(", ")
}

fn node(text: &mut String, depth: usize, node_: &Node, config: &Config) {
    match node_ {
        Node::Scan(spec) => scan(text, depth, spec, config),
        Node::Calc { input, filter, exprs, schema } => {
            line(text, depth, &format!("Calc: {}", projection(exprs, input.schema(), schema)));
            if let Some(filter) = filter {
                line(text, depth + 1, &format!("where: {}", render::expr(filter, input.schema())));
            }
        }
        Node::AssignWindows { input, window, time, .. } => {
            line(text, depth, &format!("AssignWindows: {}", windows(window, input.schema())));
            line(text, depth + 1, &format!("time column: {}", column(input.schema(), *time)));
        }
        Node::Stage { inputs, spec } => match &**spec {
            StageSpec::Aggregate(spec) => aggregate(text, depth, &inputs[0], spec, config),
            StageSpec::Emitting(spec) => {
                aggregate(text, depth, &inputs[0], &spec.aggregate, config);
                line(text, depth + 1, &format!("results: {}", emits(spec.emit)));
            }
            StageSpec::Over(spec) => over(text, depth, &inputs[0], spec, config),
            StageSpec::Rank(spec) => rank(text, depth, &inputs[0], spec, config),
            StageSpec::SessionRows(spec) => session_rows(text, depth, &inputs[0], spec, config),
            StageSpec::KeepFirst(spec) => keep_first(text, depth, &inputs[0], spec, config),
            StageSpec::Group(spec) => group_aggregate(text, depth, &inputs[0], spec),
            StageSpec::Join(spec) => super::join::join(text, depth, inputs, spec),
        },
        Node::Expand { input, copies, schema } => {
            line(text, depth, &format!("Expand: each row {} times: {}", copies.len(), names(schema)));
            for copy in copies.iter().take(COPIES_SHOWN) {
                line(text, depth + 1, &projection(copy, input.schema(), schema));
            }
            if copies.len() > COPIES_SHOWN {
                line(text, depth + 1, &format!("… and {} more", copies.len() - COPIES_SHOWN));
            }
        }
        Node::Unnest { input, collection, outer, condition, schema, .. } => {
            line(text, depth, &format!("Unnest {}: {}", column(input.schema(), *collection), names(schema)));
            if let Some(condition) = condition {
                line(text, depth + 1, &format!("on: {}", render::expr(condition, schema)));
            }
            if *outer {
                line(text, depth + 1, "rows without elements stay");
            }
        }
        Node::UnionAll { inputs, schema } => {
            line(text, depth, &format!("UnionAll of {}: {}", inputs.len(), names(schema)));
        }
    }
    for input in node_.inputs() {
        node(text, depth + 1, input, config);
    }
}

fn projection(exprs: &[Expr], input: &Schema, output: &Schema) -> String {
    let columns = exprs.iter().zip(&output.fields).map(|(expr, field)| {
        let source = render::expr(expr, input);
        if source == field.name { source } else { format!("{} = {source}", field.name) }
    });
    columns.collect::<Vec<_>>().join(", ")
}

fn scan(text: &mut String, depth: usize, spec: &ScanSpec, config: &Config) {
    let from = match &spec.source {
        SourceSpec::Files(files) => {
            let place = if files.is_stdin() { "from stdin" } else { files.path.as_str() };
            format!("{} {place}", files.format.name())
        }
        SourceSpec::Datagen(datagen) => {
            format!("datagen, {}, {} a second, seed {}", rows(datagen.rows), datagen.rows_per_second, datagen.seed)
        }
        SourceSpec::Nexmark(nexmark) => format!("nexmark, {}, seed {}", rows(nexmark.events), nexmark.seed),
        SourceSpec::OneRow => {
            line(text, depth, "One row without columns");
            return;
        }
    };
    line(text, depth, &format!("Scan {} ({from})", spec.table));
    let mut decoded = Schema::new(spec.projection.iter().map(|i| spec.file_schema.fields[*i].clone()).collect());
    line(
        text,
        depth + 1,
        &format!("columns read: {} ({} of {})", names(&decoded), decoded.len(), spec.file_schema.len()),
    );
    if let SourceSpec::Files(files) = &spec.source
        && !files.columns.is_empty()
    {
        let of_files: Vec<&str> = files.columns.iter().map(|column| column.name.as_str()).collect();
        line(text, depth + 1, &format!("columns of the files' places: {}", of_files.join(", ")));
        let fields = files.columns.iter().map(|column| Field::new(&column.name, column.data_type.clone()));
        decoded.fields.extend(fields);
    }
    let computed = spec.columns.iter().zip(&spec.schema.fields).filter(|(e, _)| !matches!(e, Expr::Column { .. }));
    let computed: Vec<String> =
        computed.map(|(expr, field)| format!("{} = {}", field.name, render::expr(expr, &decoded))).collect();
    if !computed.is_empty() {
        line(text, depth + 1, &format!("computed: {}", computed.join(", ")));
    }
    if let Some(watermark) = &spec.watermark {
        let time = column(&spec.schema, watermark.time);
        line(text, depth + 1, &format!("watermark of {time}: {}, {}", watermark.text, watermark_rule(config)));
    }
}

fn rows(rows: Option<u64>) -> String {
    rows.map_or_else(|| "rows without end".to_string(), |rows| format!("{rows} rows"))
}

fn aggregate(text: &mut String, depth: usize, input: &Node, spec: &WindowAggregateSpec, config: &Config) {
    let operator = match spec.window {
        WindowSpec::Session { .. } => "session operator",
        _ => "slice operator",
    };
    line(text, depth, &format!("WindowAggregate ({operator})"));
    keys(text, depth, input, &spec.keys);
    line(text, depth + 1, &format!("windows: {}", windows(&spec.window, &spec.input)));
    line(text, depth + 1, &format!("slices: {}", slices(&spec.window)));
    let zone = spec.zone.as_ref().map(|zone| format!(", on the clock of {zone}")).unwrap_or_default();
    line(text, depth + 1, &format!("time column: {}{zone}", column(&spec.input, spec.time)));
    line(text, depth + 1, &format!("watermark: {}", watermark_rule(config)));
    aggregates(text, depth, input, &spec.aggregates, &spec.schema.fields[spec.keys.len()..]);
}

fn group_aggregate(text: &mut String, depth: usize, input: &Node, spec: &GroupAggregateSpec) {
    line(text, depth, "GroupAggregate (no windows: every row may change a result)");
    keys(text, depth, input, &spec.keys);
    aggregates(text, depth, input, &spec.aggregates, &spec.schema.fields[spec.keys.len()..]);
    let input = if spec.kind.is_some() { "rows that change" } else { "rows that are added" };
    line(text, depth + 1, &format!("input: {input}; the state of a key is kept for good"));
}

fn keys(text: &mut String, depth: usize, input: &Node, keys: &[usize]) {
    let keys: Vec<String> = keys.iter().map(|key| source(input, *key)).collect();
    let keys = if keys.is_empty() { "none, one shard does the work".to_string() } else { keys.join(", ") };
    line(text, depth + 1, &format!("keys: {keys}"));
}

fn aggregates(text: &mut String, depth: usize, input: &Node, calls: &[AggregateCall], names: &[Field]) {
    let calls =
        calls.iter().zip(names).map(|(call, field)| format!("{} = {}", field.name, aggregate_call(call, input)));
    let calls: Vec<String> = calls.collect();
    let calls = if calls.is_empty() { "none".to_string() } else { calls.join(", ") };
    line(text, depth + 1, &format!("aggregates: {calls}"));
}

fn over(text: &mut String, depth: usize, input: &Node, spec: &OverSpec, config: &Config) {
    line(text, depth, "Over");
    keys(text, depth, input, &spec.keys);
    line(text, depth + 1, &format!("time column: {}", column(&spec.input, spec.time)));
    let frame = match spec.frame {
        Frame::Range(None) => "rows of any time up to the row's".to_string(),
        Frame::Range(Some(length)) => format!("rows of the {} up to the row's time", duration(length)),
        Frame::Rows(None) => "all rows up to the row".to_string(),
        Frame::Rows(Some(rows)) => format!("the row and {rows} before it"),
    };
    line(text, depth + 1, &format!("frame: {frame}"));
    line(text, depth + 1, &format!("watermark: {}", watermark_rule(config)));
    let calls = spec.calls.iter().enumerate().map(|(i, call)| {
        let args: Vec<String> = call.args.iter().map(|arg| source(input, *arg)).collect();
        let args = if args.is_empty() { "*".to_string() } else { args.join(", ") };
        let distinct = if call.distinct { "DISTINCT " } else { "" };
        format!("{} = {}({distinct}{args})", column(&spec.schema, spec.input.len() + i), call.function.name())
    });
    line(text, depth + 1, &format!("aggregates: {}", calls.collect::<Vec<_>>().join(", ")));
}

fn rank(text: &mut String, depth: usize, input: &Node, spec: &RankSpec, config: &Config) {
    let wanted = if spec.first == 1 { spec.last.to_string() } else { format!("{} to {}", spec.first, spec.last) };
    line(text, depth, &format!("WindowTopN (rows {wanted} of each window and key)"));
    let keys: Vec<String> = spec.keys.iter().map(|key| source(input, *key)).collect();
    let keys = if keys.is_empty() { "none, shards share the windows".to_string() } else { keys.join(", ") };
    line(text, depth + 1, &format!("keys: {keys}"));
    line(text, depth + 1, &format!("windows: {}", windows(&spec.window, &spec.input)));
    let order = spec.order.iter().map(|key| {
        let direction = if key.descending { " DESC" } else { "" };
        let nulls = match (key.descending, key.nulls_first) {
            (false, false) => " NULLS LAST",
            (true, true) => " NULLS FIRST",
            _ => "",
        };
        format!("{}{direction}{nulls}", source(input, key.column))
    });
    line(text, depth + 1, &format!("order: {}", order.collect::<Vec<_>>().join(", ")));
    let first = if spec.last_wins { "the last to arrive" } else { "the first to arrive" };
    line(text, depth + 1, &format!("of equal rows: {first}"));
    line(text, depth + 1, &format!("watermark: {}", watermark_rule(config)));
}

fn session_rows(text: &mut String, depth: usize, input: &Node, spec: &SessionRowsSpec, config: &Config) {
    line(text, depth, "SessionRows (keeps rows until their session ends)");
    keys(text, depth, input, &spec.keys);
    line(text, depth + 1, &format!("windows: {}", windows(&spec.window, &spec.input)));
    let zone = spec.zone.as_ref().map(|zone| format!(", on the clock of {zone}")).unwrap_or_default();
    line(text, depth + 1, &format!("time column: {}{zone}", column(&spec.input, spec.time)));
    line(text, depth + 1, &format!("watermark: {}", watermark_rule(config)));
}

fn keep_first(text: &mut String, depth: usize, input: &Node, spec: &KeepFirstSpec, config: &Config) {
    line(text, depth, "Deduplicate (keeps the first row of each key)");
    keys(text, depth, input, &spec.keys);
    line(text, depth + 1, &format!("time column: {}", column(&spec.input, spec.time)));
    line(text, depth + 1, &format!("watermark: {}", watermark_rule(config)));
}
