//! What a job is made of: the specifications that the front ends write and the shards carry out.
//!
//! A plan is a tree of [`Node`]s per sink. It is pure data: no file is open, no thread runs.

mod files;

mod datagen;
mod emitting;
mod group;
mod join;
mod nexmark;
mod over;
mod rank;
mod rows;
mod stage;

use crate::aggregate::AggregateCall;
use crate::error::Place;
use crate::expr::Expr;
use crate::format::FormatSpec;
pub use crate::options::{Checkpoints, Config, LateRows, Options, Quarantine};
pub use crate::types::ROW_KIND;
use crate::types::Schema;
pub use datagen::{DatagenSpec, Generated, Values};
pub use emitting::{EmitSpec, EmittingAggregateSpec};
pub use files::{
    Codec, Compression, DEFAULT_PARTITION, FileColumn, FileMetadata, FileValue, FilesSpec, PartitionSpec,
    STANDARD_STREAM,
};
pub use group::GroupAggregateSpec;
pub use join::{IntervalBounds, JoinKind, JoinSpec, JoinTimes, Versions};
pub use nexmark::{Entity, NexmarkSpec};
pub use over::{Frame, OverCall, OverFunction, OverSpec};
pub use rank::{RankSpec, SortKey};
pub use rows::{KeepFirstSpec, SessionRowsSpec};
pub use stage::{Lateness, StageSpec};

/// One job: every pipeline runs at the same time, over the same order of input blocks.
#[derive(Debug, Clone)]
pub struct JobPlan {
    pub pipelines: Vec<Pipeline>,
    pub config: Config,
}

/// A tree of operators and the sink that takes its rows.
#[derive(Debug, Clone)]
pub struct Pipeline {
    pub root: Node,
    pub sink: SinkSpec,
}

/// An operator. `schema` is the schema of its output rows.
#[derive(Debug, Clone)]
pub enum Node {
    Scan(Box<ScanSpec>),
    /// Keeps the rows for which `filter` is true, then computes `exprs` of them.
    Calc {
        input: Box<Node>,
        filter: Option<Expr>,
        exprs: Vec<Expr>,
        schema: Schema,
    },
    /// A window function without aggregation, but SESSION: each row once for each of its windows, drops nothing.
    /// Appends window_start, window_end, window_time to the input's columns.
    AssignWindows {
        input: Box<Node>,
        window: WindowSpec,
        time: usize,
        schema: Schema,
    },
    /// Each row once for every list of expressions of it, which give the columns of the copy.
    Expand {
        input: Box<Node>,
        copies: Vec<Vec<Expr>>,
        schema: Schema,
    },
    /// Each row once for every element of the ARRAY or MAP in column `collection`: the columns `keep`, then the
    /// element (of a MAP the key and the value), then with `ordinality` its number, counted from 1 (INT).
    Unnest {
        input: Box<Node>,
        collection: usize,
        keep: Vec<usize>,
        /// A row without elements stays, with NULLs for them.
        outer: bool,
        ordinality: bool,
        /// Over the columns of the output: which elements count.
        condition: Option<Expr>,
        schema: Schema,
    },
    /// Keeps state between rows.
    Stage {
        /// One for each side of the operator.
        inputs: Vec<Node>,
        spec: Box<StageSpec>,
    },
    /// All inputs have the same column types.
    UnionAll {
        inputs: Vec<Node>,
        schema: Schema,
    },
}

/// Reads one table.
#[derive(Debug, Clone)]
pub struct ScanSpec {
    /// For messages.
    pub table: String,
    pub source: SourceSpec,
    /// All physical columns of the table, in order; what the format decodes by.
    pub file_schema: Schema,
    /// Which of them are decoded, ascending.
    pub projection: Vec<usize>,
    /// The table's columns that the job reads (physical and computed), over the projected columns.
    pub columns: Vec<Expr>,
    pub watermark: Option<WatermarkSpec>,
    pub schema: Schema,
}

/// Where a table's rows come from: what the connector and its options say.
#[derive(Debug, Clone)]
pub enum SourceSpec {
    Files(FilesSpec),
    Datagen(DatagenSpec),
    Nexmark(NexmarkSpec),
    /// One row without columns, for queries that read no table.
    OneRow,
}

/// `WATERMARK FOR time AS expression`.
#[derive(Debug, Clone)]
pub struct WatermarkSpec {
    /// Index of the time column among [`ScanSpec::columns`].
    pub time: usize,
    /// Over [`ScanSpec::columns`].
    pub expression: Expr,
    /// As in the script, for `explain` and the summary.
    pub text: String,
    /// Where the script declares the time column.
    pub place: Option<Place>,
    /// Index among [`ScanSpec::columns`] of the column that gets the watermark before each row, where that is asked
    /// for; its expression there is NULL.
    pub current: Option<usize>,
}

/// Which windows a row belongs to. Sizes and offsets in milliseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WindowSpec {
    Tumble {
        size_ms: i64,
        offset_ms: i64,
    },
    /// `size_ms` is a multiple of `slide_ms` (the front end checks).
    Hop {
        size_ms: i64,
        slide_ms: i64,
        offset_ms: i64,
    },
    /// `size_ms` is a multiple of `step_ms` (the front end checks).
    Cumulate {
        size_ms: i64,
        step_ms: i64,
        offset_ms: i64,
    },
    Session {
        gap_ms: i64,
    },
    /// The rows carry their windows: columns `start` and `end` (TIMESTAMP(3)).
    Attached {
        start: usize,
        end: usize,
    },
}

/// Groups rows by key columns and windows.
///
/// Output columns: the keys, one column per aggregate, then window_start, window_end (TIMESTAMP(3))
/// and window_time (the type of the time column).
#[derive(Debug, Clone)]
pub struct WindowAggregateSpec {
    pub window: WindowSpec,
    /// Input columns to group by; may be empty (then one shard does the work).
    pub keys: Vec<usize>,
    /// Input column with the event time, TIMESTAMP(3) or TIMESTAMP_LTZ(3), never NULL.
    pub time: usize,
    /// The time column is TIMESTAMP_LTZ and its windows are cut in this zone; `None`: on the column's own scale.
    pub zone: Option<String>,
    pub aggregates: Vec<AggregateCall>,
    /// Input column with the number of the grouping set (INT), where a row comes once for each: of its copies, the one
    /// for set 0 counts where late rows are counted.
    pub set: Option<usize>,
    pub input: Schema,
    pub schema: Schema,
    /// Give the rows of a window in the order of their key hashes, so that the output does not
    /// depend on the number of shards.
    pub ordered: bool,
    /// Put the windows of HOP together from their oldest part to the newest, as legacy group windows do; else the other
    /// way round. It decides the order of values and how sums of floats are rounded.
    pub oldest_first: bool,
}

/// Where the rows go.
#[derive(Debug, Clone)]
pub struct SinkSpec {
    /// For messages.
    pub table: String,
    pub connector: SinkConnector,
    /// The columns that it shows.
    pub schema: Schema,
    /// Its rows are changes of a result: behind the columns of the schema stands [`ROW_KIND`].
    pub changelog: bool,
}

#[derive(Debug, Clone)]
pub enum SinkConnector {
    /// A path that ends in a file name (it has an extension) gives one file, any other a folder of part files, and so
    /// does a table with partitions.
    Filesystem {
        path: String,
        format: FormatSpec,
        partitions: Option<PartitionSpec>,
    },
    /// Text on stdout, in the order of the rows of a SELECT.
    Stdout {
        format: FormatSpec,
    },
    /// Flink's print: `+I[a, b]` on stdout or stderr, after `identifier> ` where one is set.
    Print {
        identifier: Option<String>,
        standard_error: bool,
    },
    Blackhole,
    /// The result of a SELECT, handed to the caller.
    Collect,
}

impl ScanSpec {
    /// Whether both read the same table of the same files, with the same watermark: one reading serves both.
    /// Specifications are plain data: what they print is what they are.
    pub fn reads_the_same(&self, other: &ScanSpec) -> bool {
        let watermark = |scan: &ScanSpec| scan.watermark.as_ref().map(|watermark| watermark.text.clone());
        let source = |scan: &ScanSpec| format!("{:?} {:?}", scan.source, scan.file_schema);
        self.table == other.table && watermark(self) == watermark(other) && source(self) == source(other)
    }
}

impl Node {
    pub fn schema(&self) -> &Schema {
        match self {
            Node::Scan(scan) => &scan.schema,
            Node::Calc { schema, .. }
            | Node::AssignWindows { schema, .. }
            | Node::Expand { schema, .. }
            | Node::Unnest { schema, .. }
            | Node::UnionAll { schema, .. } => schema,
            Node::Stage { spec, .. } => spec.schema(),
        }
    }
    pub fn inputs(&self) -> Vec<&Node> {
        match self {
            Node::Scan(_) => Vec::new(),
            Node::Calc { input, .. }
            | Node::AssignWindows { input, .. }
            | Node::Expand { input, .. }
            | Node::Unnest { input, .. } => vec![input],
            Node::UnionAll { inputs, .. } | Node::Stage { inputs, .. } => inputs.iter().collect(),
        }
    }

    /// The scans below that read stdin.
    pub fn stdin_scans(&self) -> Vec<&ScanSpec> {
        if let Node::Scan(scan) = self
            && matches!(&scan.source, SourceSpec::Files(files) if files.is_stdin())
        {
            return vec![scan];
        }
        self.inputs().into_iter().flat_map(Node::stdin_scans).collect()
    }
}
