//! The query after name resolution: relations over columns that have one number throughout the statement.
//!
//! Expressions here are [`Expr`]s whose column indexes are [`ColumnId`]s. A projection only defines new
//! columns; those of its input keep their numbers and stay within reach, so that lowering asks each
//! relation for exactly the columns that somebody needs.

use std::rc::Rc;

use super::catalog::Table;
use super::conditions::Equality;
use super::near::Near;
use super::rank::Rank;
use super::updating::Lacks;
use crate::aggregate::{AggregateKind, Setting};
use crate::error::Place;
use crate::expr::Expr;
use crate::plan::{EmitSpec, Frame, JoinKind, OverFunction, WindowSpec};
use crate::types::DataType;

pub(super) type ColumnId = usize;
pub(super) type WindowId = usize;

/// A column of some relation.
#[derive(Debug, Clone)]
pub(super) struct Column {
    pub name: String,
    pub data_type: DataType,
    /// An event-time attribute: windows may be cut on it.
    pub rowtime: bool,
    /// A processing-time attribute.
    pub proctime: bool,
    /// The part it plays in a window.
    pub window: Option<(WindowId, Role)>,
    /// Of an event time that rows bring from a table: the column with the watermark before them.
    pub current: Option<ColumnId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Start,
    End,
    Time,
}

/// A window that rows carry: attached by a window function, or the result of an aggregation.
#[derive(Debug, Clone)]
pub(super) struct Window {
    pub function: WindowSpec,
    pub start: ColumnId,
    pub end: ColumnId,
    pub time: Option<ColumnId>,
    /// The type of the event time the windows were cut on.
    pub time_type: DataType,
    /// Key columns of a SESSION function whose windows are not aggregated yet.
    pub partition: Option<Vec<ColumnId>>,
    /// Of a GROUP BY TUMBLE(…), not of a window function.
    pub legacy: bool,
    /// They end by the clock.
    pub proctime: bool,
    /// Where the function stands that cuts them.
    pub place: Option<Place>,
}

/// All columns and windows of a statement.
#[derive(Debug, Default)]
pub(super) struct Arena {
    pub columns: Vec<Column>,
    pub windows: Vec<Window>,
    /// Columns that stand for the result of a ROW_NUMBER.
    pub ranks: Vec<ColumnId>,
}

impl Arena {
    pub(super) fn add(&mut self, name: impl Into<String>, data_type: DataType, rowtime: bool) -> ColumnId {
        self.columns.push(Column {
            name: name.into(),
            data_type,
            rowtime,
            proctime: false,
            window: None,
            current: None,
        });
        self.columns.len() - 1
    }
    pub(super) fn expr(&self, id: ColumnId) -> Expr {
        Expr::column(id, self.columns[id].data_type.clone())
    }
}

#[derive(Debug, Clone)]
pub(super) enum Rel {
    /// A table with all its columns.
    Scan {
        table: Rc<Table>,
        columns: Vec<ColumnId>,
        /// The watermark before each row, of a table that has one.
        current: Option<ColumnId>,
    },
    Filter {
        input: Box<Rel>,
        predicate: Expr,
    },
    /// Adds columns to those of the input.
    Project {
        input: Box<Rel>,
        defined: Vec<(ColumnId, Expr)>,
    },
    /// A window function: adds start, end and time.
    Window {
        input: Box<Rel>,
        window: WindowId,
        time: ColumnId,
    },
    /// One row without columns: what a query without FROM reads.
    OneRow,
    /// Adds columns to those of the input, in several copies of each row: a copy has one expression a column.
    Expand {
        input: Box<Rel>,
        columns: Vec<ColumnId>,
        copies: Vec<Vec<Expr>>,
    },
    Unnest(Box<Unnest>),
    Aggregate(Box<Aggregate>),
    /// Adds columns to those of the input.
    Over(Box<Over>),
    /// ROW_NUMBER: adds the number.
    Rank(Box<Rank>),
    Group(Box<GroupAggregate>),
    /// Each input with its columns in the order of `columns`, of the same types.
    Union {
        inputs: Vec<(Rel, Vec<ColumnId>)>,
        columns: Vec<ColumnId>,
        /// That one of `columns` which says what each row does to the result, if the result changes.
        kind: Option<ColumnId>,
    },
    Join(Box<Join>),
}

/// Rows of two inputs side by side.
#[derive(Debug, Clone)]
pub(super) struct Join {
    pub kind: JoinKind,
    pub inputs: [Rel; 2],
    pub times: Times,
    /// What rows must agree in, besides their windows.
    pub keys: Vec<Equality>,
    /// Over columns below.
    pub condition: Option<Expr>,
    /// By side the visible columns above and what they are below: the same, but where a row may lack a partner.
    pub columns: [Vec<(ColumnId, ColumnId)>; 2],
    pub place: Option<Place>,
}

/// How times decide whether rows of a join may meet; see [`crate::plan::JoinTimes`].
#[derive(Debug, Clone, Copy)]
pub(super) enum Times {
    Unbounded,
    /// By side the windows of the rows.
    Windows([WindowId; 2]),
    Interval(Near),
    Versions {
        columns: [ColumnId; 2],
        in_order: bool,
    },
}

impl Join {
    /// The side of a column above, and what it is below.
    pub(super) fn below(&self, id: ColumnId, arena: &Arena) -> Option<(usize, ColumnId)> {
        for (side, columns) in self.columns.iter().enumerate() {
            if let Some((_, below)) = columns.iter().find(|(above, _)| *above == id) {
                return Some((side, *below));
            }
        }
        self.input_of(id, arena)
    }

    /// The side of a column below.
    pub(super) fn input_of(&self, id: ColumnId, arena: &Arena) -> Option<(usize, ColumnId)> {
        (0..2).find(|&side| self.inputs[side].has(id, arena)).map(|side| (side, id))
    }
}

/// UNNEST: each row once for every element of a collection, with the element in new columns.
#[derive(Debug, Clone)]
pub(super) struct Unnest {
    pub input: Rel,
    pub collection: Expr,
    /// One for an ARRAY, two for a MAP.
    pub elements: Vec<ColumnId>,
    pub ordinality: Option<ColumnId>,
    /// Rows without elements stay.
    pub outer: bool,
    /// Which elements count; may read all columns.
    pub condition: Option<Expr>,
}

/// A window aggregation. Only its own columns are visible above it.
#[derive(Debug, Clone)]
pub(super) struct Aggregate {
    pub input: Rel,
    /// The window of the input's rows.
    pub window: WindowId,
    /// The same window as its output carries it.
    pub output: WindowId,
    pub keys: Vec<(ColumnId, Expr)>,
    /// The key that is the number of the grouping set.
    pub set: Option<ColumnId>,
    pub calls: Vec<Call>,
    /// When results change, and what each row does to them.
    pub changes: Option<(EmitSpec, ColumnId)>,
    pub place: Option<Place>,
}

/// An aggregation without a window, whose results change. Only its own columns are visible above it.
#[derive(Debug, Clone)]
pub(super) struct GroupAggregate {
    pub input: Rel,
    pub keys: Vec<(ColumnId, Expr)>,
    pub calls: Vec<Call>,
    /// What each row does to the result.
    pub kind: ColumnId,
    /// A row that changes nothing gives an update all the same.
    pub repeats: bool,
    /// What it lacks to be a window aggregation.
    pub lacks: Lacks,
    pub place: Option<Place>,
}

/// An aggregate function over expressions of the input.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    pub column: ColumnId,
    pub kind: AggregateKind,
    pub distinct: bool,
    pub args: Vec<Expr>,
    pub filter: Option<Expr>,
    pub setting: Setting,
    pub place: Option<Place>,
    pub output: DataType,
}

impl Call {
    /// The results of both are the same.
    pub(super) fn computes_same(&self, other: &Call) -> bool {
        self.kind == other.kind
            && self.distinct == other.distinct
            && self.args == other.args
            && self.filter == other.filter
            && self.setting == other.setting
    }
}

/// Aggregates over the rows before each row.
#[derive(Debug, Clone)]
pub(super) struct Over {
    pub input: Rel,
    pub keys: Vec<Expr>,
    pub time: Expr,
    pub frame: Frame,
    pub calls: Vec<OverColumn>,
    pub place: Option<Place>,
}

/// A function of OVER over expressions of the input.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct OverColumn {
    pub column: ColumnId,
    pub function: OverFunction,
    pub distinct: bool,
    pub args: Vec<Expr>,
    pub output: DataType,
}

impl Rel {
    /// The window function below, if no aggregation stands between.
    pub(super) fn open_window(&self) -> Option<WindowId> {
        match self {
            Rel::Scan { .. } | Rel::Aggregate(_) | Rel::Group(_) | Rel::Rank(_) | Rel::OneRow | Rel::Join(_) => None,
            Rel::Filter { input, .. } | Rel::Project { input, .. } | Rel::Expand { input, .. } => input.open_window(),
            Rel::Unnest(unnest) => unnest.input.open_window(),
            Rel::Over(over) => over.input.open_window(),
            Rel::Window { window, .. } => Some(*window),
            Rel::Union { inputs, .. } => inputs.iter().find_map(|(input, _)| input.open_window()),
        }
    }
    /// The column that says what each row does to the result ([`crate::types::RowKind`]); none: rows are only added.
    pub(super) fn row_kind(&self) -> Option<ColumnId> {
        match self {
            Rel::Scan { .. } | Rel::Over(_) | Rel::Rank(_) | Rel::Join(_) | Rel::OneRow => None,
            Rel::Aggregate(aggregate) => aggregate.changes.map(|(_, kind)| kind),
            Rel::Filter { input, .. }
            | Rel::Project { input, .. }
            | Rel::Expand { input, .. }
            | Rel::Window { input, .. } => input.row_kind(),
            Rel::Unnest(unnest) => unnest.input.row_kind(),
            Rel::Union { kind, .. } => *kind,
            Rel::Group(group) => Some(group.kind),
        }
    }
    /// The aggregation that makes the result change.
    pub(super) fn changes(&self) -> Option<&GroupAggregate> {
        match self {
            Rel::Group(group) => Some(group),
            Rel::Filter { input, .. } | Rel::Project { input, .. } => input.changes(),
            Rel::Union { inputs, .. } => inputs.iter().find_map(|(input, _)| input.changes()),
            _ => None,
        }
    }
    /// The column that a column of this relation is a copy of, below all projections.
    pub(super) fn origin(&self, id: ColumnId) -> Option<ColumnId> {
        match self {
            Rel::Filter { input, .. } => input.origin(id),
            Rel::Project { input, defined } => match defined.iter().find(|(column, _)| *column == id) {
                Some((_, Expr::Column { index, .. })) => input.origin(*index),
                Some(_) => None,
                None => input.origin(id),
            },
            _ => Some(id),
        }
    }
    /// The columns that tell the rows of a changing result apart, where they are known.
    pub(super) fn upsert_key(&self) -> Option<Vec<ColumnId>> {
        match self {
            Rel::Group(group) => Some(group.keys.iter().map(|(id, _)| *id).collect()),
            Rel::Filter { input, .. } | Rel::Project { input, .. } => input.upsert_key(),
            _ => None,
        }
    }
    /// The table that the rows come from, for advice.
    pub(super) fn table(&self) -> Option<&Rc<Table>> {
        match self {
            Rel::Scan { table, .. } => Some(table),
            Rel::Filter { input, .. }
            | Rel::Project { input, .. }
            | Rel::Expand { input, .. }
            | Rel::Window { input, .. } => input.table(),
            Rel::Unnest(unnest) => unnest.input.table(),
            Rel::Rank(rank) => rank.input.table(),
            Rel::Over(over) => over.input.table(),
            Rel::Aggregate(_) | Rel::Group(_) | Rel::Union { .. } | Rel::OneRow | Rel::Join(_) => None,
        }
    }
    /// Whether a column is within reach of what stands above.
    pub(super) fn has(&self, id: ColumnId, arena: &Arena) -> bool {
        match self {
            Rel::OneRow => false,
            Rel::Scan { columns, .. } | Rel::Union { columns, .. } => columns.contains(&id),
            Rel::Filter { input, .. } => input.has(id, arena),
            Rel::Project { input, defined } => defined.iter().any(|(own, _)| *own == id) || input.has(id, arena),
            Rel::Expand { input, columns, .. } => columns.contains(&id) || input.has(id, arena),
            Rel::Window { input, window, .. } => {
                arena.windows[*window].columns().contains(&Some(id)) || input.has(id, arena)
            }
            Rel::Unnest(unnest) => {
                let own = unnest.elements.contains(&id) || unnest.ordinality == Some(id);
                own || unnest.input.has(id, arena)
            }
            Rel::Over(over) => over.calls.iter().any(|call| call.column == id) || over.input.has(id, arena),
            Rel::Rank(rank) => rank.column == id || rank.input.has(id, arena),
            Rel::Aggregate(aggregate) => {
                arena.windows[aggregate.output].columns().contains(&Some(id))
                    || aggregate.keys.iter().any(|(own, _)| *own == id)
                    || aggregate.calls.iter().any(|call| call.column == id)
            }
            Rel::Group(group) => {
                group.kind == id
                    || group.keys.iter().any(|(own, _)| *own == id)
                    || group.calls.iter().any(|call| call.column == id)
            }
            Rel::Join(join) => join.below(id, arena).is_some(),
        }
    }
}

impl Window {
    fn columns(&self) -> [Option<ColumnId>; 3] {
        [Some(self.start), Some(self.end), self.time]
    }
}

/// Rewrites an expression from the top: where `replace` gives an expression, that one; else the node
/// with its children rewritten.
pub(super) fn rewrite(expr: &Expr, replace: &mut dyn FnMut(&Expr) -> Option<Expr>) -> Expr {
    if let Some(other) = replace(expr) {
        return other;
    }
    match expr {
        Expr::Column { .. } | Expr::Literal { .. } => expr.clone(),
        Expr::Call { function, args, data_type } => Expr::Call {
            function: *function,
            args: args.iter().map(|arg| rewrite(arg, replace)).collect(),
            data_type: data_type.clone(),
        },
        Expr::Cast { input, data_type, safe } => {
            Expr::Cast { input: Box::new(rewrite(input, replace)), data_type: data_type.clone(), safe: *safe }
        }
        Expr::Case { branches, otherwise, data_type } => Expr::Case {
            branches: branches.iter().map(|(when, then)| (rewrite(when, replace), rewrite(then, replace))).collect(),
            otherwise: Box::new(rewrite(otherwise, replace)),
            data_type: data_type.clone(),
        },
    }
}

/// The columns that an expression reads, each as often as it reads it.
pub(super) fn columns_of(expr: &Expr) -> Vec<ColumnId> {
    let mut columns = Vec::new();
    expr.for_each_column(&mut |id| columns.push(id));
    columns
}
