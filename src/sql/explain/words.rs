//! How parts of a plan are put into words.

use crate::aggregate::{AggregateCall, Setting};
use crate::plan::{Config, EmitSpec, Node, WindowSpec};
use crate::sql::render;
use crate::time::Grid;
use crate::types::Schema;

/// A space at which no line ends. It is a plain one where the text is put out.
pub(super) const FIRM: char = '\u{a0}';

/// Width of the text; terminals are at least that wide.
const WIDTH: usize = 100;

/// Words behind a lead; what is too long goes on below their beginning.
pub(super) fn paragraph(text: &mut String, lead: &str, content: &str) {
    let indent = lead.chars().count();
    let mut line = lead.to_string();
    let mut filled = false;
    for word in content.split(' ') {
        if filled && line.chars().count() + 1 + word.chars().count() > WIDTH {
            text.push_str(&format!("{}\n", line.replace(FIRM, " ")));
            line = " ".repeat(indent);
            filled = false;
        }
        if filled {
            line.push(' ');
        }
        line.push_str(word);
        filled = true;
    }
    text.push_str(&format!("{}\n", line.replace(FIRM, " ")));
}

pub(super) fn column(schema: &Schema, index: usize) -> &str {
    schema.fields.get(index).map_or("?", |field| field.name.as_str())
}

/// What a column of an aggregation's input is: the expression that the projection below computes.
pub(super) fn source(input: &Node, index: usize) -> String {
    match input {
        Node::Calc { input, exprs, .. } => {
            exprs.get(index).map_or_else(|| "?".to_string(), |expr| render::expr(expr, input.schema()))
        }
        other => column(other.schema(), index).to_string(),
    }
}

pub(super) fn aggregate_call(call: &AggregateCall, input: &Node) -> String {
    let mut args: Vec<String> = call.args.iter().map(|arg| source(input, *arg)).collect();
    let mut suffix = "";
    match &call.setting {
        Setting::None => {}
        Setting::IgnoreNulls => suffix = " IGNORE NULLS",
        Setting::Separator(text) => args.push(format!("'{}'", text.replace('\'', "''"))),
        Setting::Fractions { values, list } => {
            let values = values.iter().map(f64::to_string).collect::<Vec<_>>().join(", ");
            args.insert(1, if *list { format!("ARRAY[{values}]") } else { values });
        }
        Setting::Bins { low, high, count } => args.push(format!("{low}, {high}, {count}")),
    }
    let args = if args.is_empty() { "*".to_string() } else { args.join(", ") };
    let distinct = if call.distinct { "DISTINCT " } else { "" };
    let filter = call.filter.map(|filter| format!(" FILTER (WHERE {})", source(input, filter))).unwrap_or_default();
    format!("{}({distinct}{args}){suffix}{filter}", call.kind)
}

pub(super) fn watermark_rule(config: &Config) -> String {
    match config.watermark_interval_ms {
        0 => "moves with every row".to_string(),
        interval => format!("moves when it has advanced by more than {}", duration(interval)),
    }
}

pub(super) fn windows(window: &WindowSpec, input: &Schema) -> String {
    let offset =
        |offset_ms: i64| if offset_ms == 0 { String::new() } else { format!(", offset {}", duration(offset_ms)) };
    match window {
        WindowSpec::Tumble { size_ms, offset_ms } => {
            format!("TUMBLE size {}{}", duration(*size_ms), offset(*offset_ms))
        }
        WindowSpec::Hop { size_ms, slide_ms, offset_ms } => {
            format!("HOP size {}, slide {}{}", duration(*size_ms), duration(*slide_ms), offset(*offset_ms))
        }
        WindowSpec::Cumulate { size_ms, step_ms, offset_ms } => {
            format!("CUMULATE size {}, step {}{}", duration(*size_ms), duration(*step_ms), offset(*offset_ms))
        }
        WindowSpec::Session { gap_ms } => format!("SESSION gap {}", duration(*gap_ms)),
        WindowSpec::Attached { start, end } => {
            format!("those that the rows carry ({}, {})", column(input, *start), column(input, *end))
        }
    }
}

pub(super) fn slices(window: &WindowSpec) -> String {
    match window {
        WindowSpec::Tumble { size_ms, .. } => duration(*size_ms),
        WindowSpec::Hop { slide_ms, size_ms, .. } => {
            let slice = Grid::sliding(*size_ms, *slide_ms, 0).slice;
            format!("{}, {} to a window", duration(slice), size_ms / slice)
        }
        WindowSpec::Cumulate { step_ms, size_ms, .. } => {
            format!("{}, up to {} to a window", duration(*step_ms), size_ms / step_ms)
        }
        WindowSpec::Session { .. } => "none, sessions merge".to_string(),
        WindowSpec::Attached { .. } => "one to a window, not shared".to_string(),
    }
}

/// The largest unit that gives a whole number.
pub fn duration(milliseconds: i64) -> String {
    let units = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s")];
    match units.into_iter().find(|(unit, _)| milliseconds != 0 && milliseconds % unit == 0) {
        Some((unit, name)) => format!("{} {name}", milliseconds / unit),
        None => format!("{milliseconds} ms"),
    }
}

/// When windows give results.
pub(super) fn emits(emit: EmitSpec) -> String {
    let first = if emit.early { "at every row" } else { "at the end of the window" };
    match emit.late_ms {
        0 => first.to_string(),
        late_ms => format!("{first}, and for rows up to {} late", duration(late_ms)),
    }
}
