//! Windows in GROUP BY that give results early, or again for late rows.

use super::WindowAggregateSpec;

/// An aggregation over TUMBLE or HOP whose results change.
///
/// Output columns: those of the aggregation, then [`ROW_KIND`](super::ROW_KIND).
#[derive(Debug, Clone)]
pub struct EmittingAggregateSpec {
    /// With the schema of the output.
    pub aggregate: WindowAggregateSpec,
    pub emit: EmitSpec,
}

/// When windows give results besides their end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EmitSpec {
    /// At every row before the end of its window.
    pub early: bool,
    /// For rows that come so many milliseconds late, at every such row; 0: late rows are dropped.
    pub late_ms: i64,
}
