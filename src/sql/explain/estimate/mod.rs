//! How much state there may be: what a look at the input must find out, and what it is multiplied by.

mod origin;
mod windows;

use super::bytes::{Bytes, accumulator, key, over_call, row};
use super::card::stages;
use super::words::source;
use crate::plan::{
    Frame, JobPlan, JoinSpec, JoinTimes, KeepFirstSpec, Node, OverSpec, RankSpec, SessionRowsSpec, StageSpec,
};
use crate::plan::{WindowAggregateSpec, WindowSpec};
use crate::types::Schema;
pub use origin::{Look, look_at_times};
use origin::{rows_below, values_below};
use windows::{Cut, cut_below, delay_below, open};

/// The state of an operator, or a part of it.
#[derive(Debug, Clone)]
pub struct StateSize {
    /// As its card names it.
    pub operator: &'static str,
    /// Which part, where there are several.
    pub part: Option<&'static str>,
    /// Or why it cannot be told.
    pub amount: Result<Amount, String>,
}

/// What is kept: how many pieces, each of how many bytes.
#[derive(Debug, Clone)]
pub struct Amount {
    pub of: Counted,
    /// Where to count them.
    pub looks: Vec<Look>,
    /// Windows or slices of a key that are open at a time, while rows come in about the order of time.
    pub open: u64,
    /// "window", "slice" or "session"; nothing where the state has no windows.
    pub piece: Option<&'static str>,
    /// A row of the input adds one of them at most.
    pub one_a_row: bool,
    /// Of one of them, about.
    pub bytes: u64,
    /// What comes on top: "text", "values".
    pub and_more: Option<&'static str>,
}

/// What there is one of for each …
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Counted {
    /// … operator.
    One,
    /// … key: its columns, as the card names them.
    Keys(String),
    /// … of the first so many rows of a key; without columns of all rows.
    RowsOfKey { keys: String, rows: u64 },
    /// … row of so many milliseconds of event time, in so many copies.
    RowsOf { span_ms: i64, copies: u64 },
    /// … row.
    Rows,
}

/// The operators of a plan that keep state, with what there is to know of its size.
pub fn state_sizes(plan: &JobPlan) -> Vec<StateSize> {
    let stages = plan.pipelines.iter().flat_map(|pipeline| stages(&pipeline.root));
    stages.flat_map(|(spec, inputs)| of_stage(spec, inputs)).collect()
}

fn of_stage(spec: &StageSpec, inputs: &[Node]) -> Vec<StateSize> {
    let [input, ..] = inputs else { return Vec::new() };
    let parts = match spec {
        StageSpec::Aggregate(spec) => vec![(None, aggregate(spec, 0, input))],
        StageSpec::Emitting(spec) => vec![(None, aggregate(&spec.aggregate, spec.emit.late_ms, input))],
        StageSpec::Group(spec) => {
            let calls = spec.aggregates.iter().map(|call| accumulator(call, spec.kind.is_some()));
            vec![(None, by_key(&spec.keys, input, calls.fold(Bytes::default(), Bytes::and)))]
        }
        StageSpec::Over(spec) => over(spec, input),
        StageSpec::Rank(spec) => vec![(None, rank(spec, input))],
        StageSpec::SessionRows(spec) => vec![(None, session_rows(spec, input))],
        StageSpec::KeepFirst(spec) => keep_first(spec, input),
        StageSpec::Join(spec) => join(spec, inputs),
    };
    parts.into_iter().map(|(part, amount)| StateSize { operator: spec.name(), part, amount }).collect()
}

type Part = (Option<&'static str>, Result<Amount, String>);

impl Amount {
    fn new(of: Counted, looks: Vec<Look>, each: Bytes) -> Amount {
        let and_more = match (each.text, each.values) {
            (_, true) => Some("values"),
            (true, false) => Some("text"),
            (false, false) => None,
        };
        Amount { of, looks, open: 1, piece: None, one_a_row: false, bytes: each.fixed, and_more }
    }
}

fn names(keys: &[usize], input: &Node) -> String {
    keys.iter().map(|key| source(input, *key)).collect::<Vec<_>>().join(", ")
}

/// One piece of state for each key, with the key itself.
fn by_key(keys: &[usize], input: &Node, each: Bytes) -> Result<Amount, String> {
    if keys.is_empty() {
        return Ok(Amount::new(Counted::One, Vec::new(), each));
    }
    let each = each.and(key(keys, input.schema()));
    Ok(Amount::new(Counted::Keys(names(keys, input)), values_below(input, keys)?, each))
}

/// The rows of a stretch of time.
fn rows_of(span_ms: i64, copies: u64, input: &Node, schema: &Schema) -> Result<Amount, String> {
    Ok(Amount::new(Counted::RowsOf { span_ms, copies }, rows_below(input, true)?, row(schema)))
}

fn aggregate(spec: &WindowAggregateSpec, late_ms: i64, input: &Node) -> Result<Amount, String> {
    let each = spec.aggregates.iter().map(|call| accumulator(call, false)).fold(Bytes::default(), Bytes::and);
    let delay_ms = delay_below(input).saturating_add(late_ms);
    let (open, piece) = match &spec.window {
        WindowSpec::Attached { .. } => of_carried(input)?,
        window => open(window, delay_ms, true),
    };
    let one_a_row = !matches!(spec.window, WindowSpec::Attached { .. });
    Ok(Amount { open, piece: Some(piece), one_a_row, ..by_key(&spec.keys, input, each)? })
}

/// How many windows are open at a time of those that rows bring.
fn of_carried(input: &Node) -> Result<(u64, &'static str), String> {
    match cut_below(input) {
        Some(Cut { window, waits: false }) => Ok(open(&window, delay_below(input), false)),
        // They come when their window ends, and go at once.
        Some(Cut { window: WindowSpec::Session { .. }, .. }) => Ok((1, "session")),
        Some(_) => Ok((1, "window")),
        None => Err("its rows bring windows of several kinds".to_string()),
    }
}

fn over(spec: &OverSpec, input: &Node) -> Vec<Part> {
    let mut parts = Vec::new();
    let delay_ms = delay_below(input);
    if delay_ms > 0 {
        parts.push((Some("rows that wait for the watermark"), rows_of(delay_ms, 1, input, &spec.input)));
    }
    parts.push(match spec.frame {
        Frame::Range(Some(length_ms)) => (Some("rows of the frame"), rows_of(length_ms, 1, input, &spec.input)),
        Frame::Rows(Some(rows)) => (Some("rows of the frame"), rows_of_key(&spec.keys, rows, input, &spec.input)),
        Frame::Range(None) | Frame::Rows(None) => {
            let each = spec.calls.iter().map(|call| over_call(&call.output.kind)).fold(Bytes::default(), Bytes::and);
            (Some("for good"), by_key(&spec.keys, input, each))
        }
    });
    parts
}

fn rows_of_key(keys: &[usize], rows: u64, input: &Node, schema: &Schema) -> Result<Amount, String> {
    let looks = if keys.is_empty() { Vec::new() } else { values_below(input, keys)? };
    Ok(Amount::new(Counted::RowsOfKey { keys: names(keys, input), rows }, looks, row(schema)))
}

fn rank(spec: &RankSpec, input: &Node) -> Result<Amount, String> {
    let (open, piece) = of_carried(input)?;
    Ok(Amount { open, piece: Some(piece), ..rows_of_key(&spec.keys, spec.last, input, &spec.input)? })
}

/// Sessions last at least as long as nothing of their rows can have been given.
fn session_rows(spec: &SessionRowsSpec, input: &Node) -> Result<Amount, String> {
    let WindowSpec::Session { gap_ms } = spec.window else { return Err("its windows are none".to_string()) };
    rows_of(gap_ms.saturating_add(delay_below(input)), 1, input, &spec.input)
}

fn keep_first(spec: &KeepFirstSpec, input: &Node) -> Vec<Part> {
    let mut parts = Vec::new();
    let delay_ms = delay_below(input);
    if delay_ms > 0 {
        parts.push((Some("rows that wait for the watermark"), rows_of(delay_ms, 1, input, &spec.input)));
    }
    parts.push((Some("for good"), by_key(&spec.keys, input, Bytes::default())));
    parts
}

fn join(spec: &JoinSpec, inputs: &[Node]) -> Vec<Part> {
    let sides = inputs.iter().enumerate().zip(["left side", "right side"]);
    sides.map(|((side, input), name)| (Some(name), side_of(spec, side, input))).collect()
}

fn side_of(spec: &JoinSpec, side: usize, input: &Node) -> Result<Amount, String> {
    let schema = &spec.inputs[side];
    match &spec.times {
        JoinTimes::Unbounded => return Ok(Amount::new(Counted::Rows, rows_below(input, false)?, row(schema))),
        // A row waits for partners of the highest time that it may meet.
        JoinTimes::Interval(bounds) => {
            return rows_of(bounds.reach(side).1.max(0).saturating_add(delay_below(input)), 1, input, schema);
        }
        JoinTimes::Versions(_) if side == 0 => return rows_of(delay_below(input), 1, input, schema),
        JoinTimes::Versions(_) => return rows_of_key(&spec.keys[side], 1, input, schema),
        JoinTimes::Windows(_) => {}
    }
    match cut_below(input) {
        Some(Cut { window, waits: false }) => {
            let (span_ms, copies) = windows::rows_open(&window, delay_below(input));
            rows_of(span_ms, copies, input, schema)
        }
        _ => results_of_window(input, schema),
    }
}

/// The rows that an aggregation below gives at the end of a window: one for each of its keys.
fn results_of_window(input: &Node, schema: &Schema) -> Result<Amount, String> {
    let unknown = || "how many rows a window has is not known below".to_string();
    match input {
        Node::Calc { input, .. } => results_of_window(input, schema),
        Node::Stage { inputs, spec } => match (&**spec, inputs.first()) {
            (StageSpec::Aggregate(spec), Some(input)) => {
                let amount = by_key(&spec.keys, input, Bytes::default())?;
                Ok(Amount { piece: Some("window"), ..Amount::new(amount.of, amount.looks, row(schema)) })
            }
            (StageSpec::Rank(spec), Some(input)) => {
                let amount = rows_of_key(&spec.keys, spec.last, input, schema)?;
                Ok(Amount { piece: Some("window"), ..amount })
            }
            _ => Err(unknown()),
        },
        _ => Err(unknown()),
    }
}
