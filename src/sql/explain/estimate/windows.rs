//! Which windows the rows of an operator have, and how many of them are open at a time.

use super::super::card::delay_ms;
use crate::plan::{Node, StageSpec, WindowSpec};
use crate::time::Grid;

/// The windows that rows bring with them.
pub(super) struct Cut {
    pub window: WindowSpec,
    /// The rows were kept until their window ended.
    pub waits: bool,
}

/// The windows of a node's rows, if they are of one kind.
pub(super) fn cut_below(node: &Node) -> Option<Cut> {
    match node {
        Node::AssignWindows { window, .. } => Some(Cut { window: window.clone(), waits: false }),
        Node::Calc { input, .. } | Node::Expand { input, .. } | Node::Unnest { input, .. } => cut_below(input),
        Node::UnionAll { inputs, .. } => {
            let cuts = inputs.iter().map(cut_below).collect::<Option<Vec<Cut>>>()?;
            let waits = cuts.iter().all(|cut| cut.waits);
            let first = cuts.first()?.window.clone();
            let same = cuts.iter().all(|cut| cut.window == first);
            same.then_some(Cut { window: first, waits })
        }
        Node::Stage { inputs, spec } => match &**spec {
            StageSpec::Aggregate(spec) if !matches!(spec.window, WindowSpec::Attached { .. }) => {
                Some(Cut { window: spec.window.clone(), waits: true })
            }
            StageSpec::SessionRows(spec) => Some(Cut { window: spec.window.clone(), waits: true }),
            StageSpec::Over(_) => cut_below(inputs.first()?),
            StageSpec::Aggregate(_) | StageSpec::Rank(_) | StageSpec::Join(_) => {
                Some(Cut { waits: true, ..cut_below(inputs.first()?)? })
            }
            StageSpec::Emitting(_) | StageSpec::KeepFirst(_) | StageSpec::Group(_) => None,
        },
        Node::Scan(_) => None,
    }
}

/// How far the watermarks of the tables below stay behind: the longest, where it is a constant.
pub(super) fn delay_below(node: &Node) -> i64 {
    if let Node::Scan(scan) = node {
        let watermark = scan.watermark.as_ref();
        return watermark.and_then(|watermark| delay_ms(&watermark.expression, watermark.time)).unwrap_or(0).max(0);
    }
    node.inputs().into_iter().map(delay_below).max().unwrap_or(0)
}

/// What is open of a key at a time, with a watermark that stays so far behind. `sliced`: windows share slices.
pub(super) fn open(window: &WindowSpec, delay_ms: i64, sliced: bool) -> (u64, &'static str) {
    let pieces = |length: i64, piece: i64| times(length, piece) + times(delay_ms, piece);
    match *window {
        WindowSpec::Tumble { size_ms, .. } => (pieces(size_ms, size_ms), "window"),
        WindowSpec::Hop { size_ms, slide_ms, .. } if sliced => {
            (pieces(size_ms, Grid::sliding(size_ms, slide_ms, 0).slice), "slice")
        }
        WindowSpec::Cumulate { size_ms, step_ms, .. } if sliced => (pieces(size_ms, step_ms), "slice"),
        WindowSpec::Hop { size_ms, slide_ms, .. } => (pieces(size_ms, slide_ms), "window"),
        WindowSpec::Cumulate { size_ms, step_ms, .. } => (pieces(size_ms, step_ms), "window"),
        WindowSpec::Session { gap_ms } => (pieces(gap_ms, gap_ms), "session"),
        WindowSpec::Attached { .. } => (1, "window"),
    }
}

/// Of how many milliseconds the rows of open windows are, and in how many copies each is kept.
pub(super) fn rows_open(window: &WindowSpec, delay_ms: i64) -> (i64, u64) {
    match *window {
        WindowSpec::Hop { size_ms, slide_ms, .. } => (size_ms.saturating_add(delay_ms), times(size_ms, slide_ms)),
        // A row is in half of the steps' windows, on average.
        WindowSpec::Cumulate { size_ms, step_ms, .. } => {
            (size_ms.saturating_add(delay_ms), times(size_ms, step_ms).div_ceil(2))
        }
        WindowSpec::Tumble { size_ms, .. } => (size_ms.saturating_add(delay_ms), 1),
        WindowSpec::Session { gap_ms } => (gap_ms.saturating_add(delay_ms), 1),
        WindowSpec::Attached { .. } => (delay_ms, 1),
    }
}

fn times(length: i64, piece: i64) -> u64 {
    u64::try_from(length).unwrap_or(0).div_ceil(piece.max(1).unsigned_abs())
}
