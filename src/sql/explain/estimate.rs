//! How much state there may be: what a look at the input must find out, and what it is multiplied by.

use super::bytes::{Bytes, accumulator, key};
use super::card::{delay_ms, stages};
use super::words::source;
use crate::expr::Expr;
use crate::plan::{JobPlan, Node, ScanSpec, SourceSpec, StageSpec, WindowAggregateSpec, WindowSpec};
use crate::sql::logical::columns_of;
use crate::time::Grid;

/// The state of one operator: keys by what is open at a time by bytes.
#[derive(Debug, Clone)]
pub struct StateSize {
    /// As its card names it.
    pub operator: &'static str,
    /// The key's columns, as its card names them.
    pub key: String,
    /// Reads the columns that the key is computed from; without a watermark.
    pub scan: ScanSpec,
    /// The key, over what the scan decodes.
    pub keys: Vec<Expr>,
    /// Rows are left out before the operator; a look at the input counts their keys too.
    pub filtered: bool,
    /// Windows or slices of a key that are open at a time, while rows come in about the order of time.
    pub open: u64,
    /// "window", "slice" or "session"; nothing where the state has no windows.
    pub piece: Option<&'static str>,
    /// Of one of them, about.
    pub bytes: u64,
    /// What comes on top: "text", "values".
    pub and_more: Option<&'static str>,
}

/// The operators of a plan whose state can be estimated from a file: aggregations by a key right above its table.
pub fn state_sizes(plan: &JobPlan) -> Vec<StateSize> {
    let stages = plan.pipelines.iter().flat_map(|pipeline| stages(&pipeline.root));
    stages.filter_map(|(spec, inputs)| of_stage(spec, inputs.first()?)).collect()
}

fn of_stage(spec: &StageSpec, input: &Node) -> Option<StateSize> {
    let (keys, calls) = match spec {
        StageSpec::Aggregate(spec) => (&spec.keys, &spec.aggregates),
        StageSpec::Group(spec) => (&spec.keys, &spec.aggregates),
        _ => return None,
    };
    let wanted = keys.iter().map(|key| {
        let data_type = input.schema().fields.get(*key)?.data_type.clone();
        Some(Expr::Column { index: *key, data_type })
    });
    let (scan, mut exprs, filtered) = down(input, wanted.collect::<Option<Vec<Expr>>>()?, false)?;
    let (scan, delay_ms) = only_for(scan, &mut exprs)?;
    let (open, piece) = match spec {
        StageSpec::Aggregate(spec) => open(spec, delay_ms)?,
        _ => (1, None),
    };
    let each = calls.iter().map(|call| accumulator(call, false)).fold(key(keys, input.schema()), Bytes::and);
    Some(StateSize {
        operator: spec.name(),
        key: keys.iter().map(|key| source(input, *key)).collect::<Vec<_>>().join(", "),
        scan,
        keys: exprs,
        filtered,
        open,
        piece,
        bytes: each.fixed,
        and_more: match (each.text, each.values) {
            (_, true) => Some("values"),
            (true, false) => Some("text"),
            (false, false) => None,
        },
    })
}

/// The expressions over what the scan below decodes, if only projections and filters lie between.
fn down(node: &Node, exprs: Vec<Expr>, filtered: bool) -> Option<(&ScanSpec, Vec<Expr>, bool)> {
    match node {
        Node::Calc { input, filter, exprs: inner, .. } => {
            let exprs = exprs.iter().map(|expr| expr.substitute(inner)).collect();
            down(input, exprs, filtered || filter.is_some())
        }
        Node::Scan(scan) => {
            let exprs = exprs.iter().map(|expr| expr.substitute(&scan.columns)).collect();
            Some((scan, exprs, filtered))
        }
        _ => None,
    }
}

/// A scan of the files that decodes what the expressions read and no more, and the delay of the scan's watermark.
fn only_for(scan: &ScanSpec, exprs: &mut [Expr]) -> Option<(ScanSpec, i64)> {
    match &scan.source {
        SourceSpec::Files(files) if !files.is_stdin() && files.columns.is_empty() => {}
        _ => return None,
    }
    let mut used: Vec<usize> = exprs.iter().flat_map(columns_of).collect();
    used.sort_unstable();
    used.dedup();
    if used.is_empty() {
        return None;
    }
    for expr in exprs {
        expr.map_columns(&|column| used.binary_search(&column).unwrap_or_default());
    }
    let delay = scan.watermark.as_ref().and_then(|watermark| delay_ms(&watermark.expression, watermark.time));
    let projection: Option<Vec<usize>> = used.iter().map(|column| scan.projection.get(*column).copied()).collect();
    let only = ScanSpec { projection: projection?, watermark: None, ..scan.clone() };
    Some((only, delay.unwrap_or(0)))
}

/// What is open of a key at a time, with a watermark that stays so far behind.
fn open(spec: &WindowAggregateSpec, delay_ms: i64) -> Option<(u64, Option<&'static str>)> {
    let times = |length: i64, piece: i64| u64::try_from(length).unwrap_or(0).div_ceil(piece.max(1).unsigned_abs());
    let pieces = |length: i64, piece: i64| times(length, piece) + times(delay_ms, piece);
    match spec.window {
        WindowSpec::Tumble { size_ms, .. } => Some((pieces(size_ms, size_ms), Some("window"))),
        WindowSpec::Hop { size_ms, slide_ms, .. } => {
            Some((pieces(size_ms, Grid::sliding(size_ms, slide_ms, 0).slice), Some("slice")))
        }
        WindowSpec::Cumulate { size_ms, step_ms, .. } => Some((pieces(size_ms, step_ms), Some("slice"))),
        WindowSpec::Session { gap_ms } => Some((pieces(gap_ms, gap_ms), Some("session"))),
        WindowSpec::Attached { .. } => None,
    }
}
