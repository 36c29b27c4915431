//! What an operator keeps, and for how long.

use super::bytes::{Bytes, accumulator, key, row};
use super::words::{aggregate_call, duration, source};
use crate::aggregate::AggregateCall;
use crate::plan::{Frame, JoinSpec, JoinTimes, Node, OverSpec, StageSpec, WindowAggregateSpec, WindowSpec};
use crate::types::Schema;

/// What the operator keeps, in words, and what one piece of it takes.
pub(super) fn keeps(spec: &StageSpec, inputs: &[Node]) -> String {
    let Some(input) = inputs.first() else { return String::new() };
    match spec {
        StageSpec::Aggregate(spec) => aggregate(spec, input),
        StageSpec::Emitting(spec) => {
            let longer = match spec.emit.late_ms {
                0 => String::new(),
                late_ms => format!(", {} longer than it lasts", duration(late_ms)),
            };
            groups("open window", &longer, &spec.aggregate, input)
        }
        StageSpec::Group(spec) => {
            let held = accumulators(&spec.aggregates, input, spec.kind.is_some());
            match spec.keys.is_empty() {
                true => format!("for good: {held}"),
                false => format!("for each key ({}), for good: {held}", key(&spec.keys, &spec.input)),
            }
        }
        StageSpec::Over(spec) => over(spec, input),
        StageSpec::Rank(spec) => {
            let rows = if spec.last == 1 { "the best row".to_string() } else { format!("the best {} rows", spec.last) };
            format!("for each {}open window: {rows}; {}", key_and(&spec.keys, &spec.input), a_row(&spec.input))
        }
        StageSpec::SessionRows(spec) => format!("all rows of open sessions; {}", a_row(&spec.input)),
        StageSpec::KeepFirst(spec) => {
            let key = match spec.keys.is_empty() {
                true => String::new(),
                false => format!("for each key ({}): ", key(&spec.keys, &spec.input)),
            };
            let rows = "the first row until the watermark reaches it, and for good that it was given";
            format!("{key}{rows}; {}", a_row(&spec.input))
        }
        StageSpec::Join(spec) => join(spec),
    }
}

fn aggregate(spec: &WindowAggregateSpec, input: &Node) -> String {
    let piece = match spec.window {
        WindowSpec::Session { .. } => "open session",
        WindowSpec::Hop { .. } | WindowSpec::Cumulate { .. } => "slice of open windows",
        WindowSpec::Tumble { .. } | WindowSpec::Attached { .. } => "open window",
    };
    groups(piece, "", spec, input)
}

fn groups(piece: &str, longer: &str, spec: &WindowAggregateSpec, input: &Node) -> String {
    let held = accumulators(&spec.aggregates, input, false);
    format!("for each {}{piece}{longer}: {held}", key_and(&spec.keys, &spec.input))
}

/// "key (20 B and text) and ", nothing without keys.
fn key_and(keys: &[usize], input: &Schema) -> String {
    match keys.is_empty() {
        true => String::new(),
        false => format!("key ({}) and ", key(keys, input)),
    }
}

fn a_row(schema: &Schema) -> String {
    format!("a row takes {}", row(schema))
}

fn accumulators(calls: &[AggregateCall], input: &Node, changes: bool) -> String {
    let each: Vec<Bytes> = calls.iter().map(|call| accumulator(call, changes)).collect();
    let named = calls.iter().zip(&each).map(|(call, bytes)| format!("{} {bytes}", aggregate_call(call, input)));
    match calls.len() {
        0 => "that it is there".to_string(),
        1 => named.collect(),
        _ => {
            let sum = each.iter().fold(Bytes::default(), |sum, bytes| sum.and(*bytes));
            format!("{}; together {sum}", named.collect::<Vec<_>>().join(", "))
        }
    }
}

fn over(spec: &OverSpec, input: &Node) -> String {
    let calls = || {
        let calls = spec.calls.iter().map(|call| {
            let args: Vec<String> = call.args.iter().map(|arg| source(input, *arg)).collect();
            format!("{}({})", call.function.name(), if args.is_empty() { "*".to_string() } else { args.join(", ") })
        });
        calls.collect::<Vec<_>>().join(", ")
    };
    let frame = match spec.frame {
        Frame::Range(None) | Frame::Rows(None) => format!("the state of {} for good", calls()),
        Frame::Range(Some(length)) => format!("the rows of the last {}", duration(length)),
        Frame::Rows(Some(rows)) => format!("the last {rows} rows, for good"),
    };
    let of = if spec.keys.is_empty() { String::new() } else { "for each key ".to_string() };
    format!("rows until the watermark reaches them, and {of}{frame}; {}", a_row(&spec.input))
}

fn join(spec: &JoinSpec) -> String {
    let rows = match &spec.times {
        JoinTimes::Windows(_) => "the rows of open windows of both sides".to_string(),
        JoinTimes::Unbounded => "all rows of both sides, for good".to_string(),
        JoinTimes::Interval(bounds) if bounds.is_empty() => "nothing".to_string(),
        JoinTimes::Interval(bounds) => {
            let after = |side: usize| match bounds.reach(side).1 {
                0 => "passes their time".to_string(),
                after if after < 0 => format!("is within {} of their time", duration(-after)),
                after => format!("is {} past their time", duration(after)),
            };
            format!("rows of the left side until the watermark {}, of the right side until it {}", after(0), after(1))
        }
        JoinTimes::Versions(_) => {
            "left rows until the watermark reaches them; of each key the version valid at the watermark, for good, and \
             newer ones"
                .to_string()
        }
    };
    format!("{rows}; a row takes {} on the left, {} on the right", row(&spec.inputs[0]), row(&spec.inputs[1]))
}
