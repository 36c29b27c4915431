//! The query after name resolution: relations over columns that have one number throughout the statement.
//!
//! Expressions here are [`Expr`]s whose column indexes are [`ColumnId`]s. A projection only defines new
//! columns; those of its input keep their numbers and stay within reach, so that lowering asks each
//! relation for exactly the columns that somebody needs.

use std::rc::Rc;

use super::catalog::Table;
use super::conditions::Equality;
use crate::aggregate::AggregateKind;
use crate::error::Place;
use crate::expr::Expr;
use crate::plan::{JoinKind, WindowSpec};
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
    /// The part it plays in a window.
    pub window: Option<(WindowId, Role)>,
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
    pub place: Option<Place>,
}

/// All columns and windows of a statement.
#[derive(Debug, Default)]
pub(super) struct Arena {
    pub columns: Vec<Column>,
    pub windows: Vec<Window>,
}

impl Arena {
    pub(super) fn add(&mut self, name: impl Into<String>, data_type: DataType, rowtime: bool) -> ColumnId {
        self.columns.push(Column { name: name.into(), data_type, rowtime, window: None });
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
    Aggregate(Box<Aggregate>),
    /// Each input with its columns in the order of `columns`, of the same types.
    Union {
        inputs: Vec<(Rel, Vec<ColumnId>)>,
        columns: Vec<ColumnId>,
    },
    Join(Box<Join>),
}

/// Rows of two inputs side by side.
#[derive(Debug, Clone)]
pub(super) struct Join {
    pub kind: JoinKind,
    pub inputs: [Rel; 2],
    /// The windows of a window join, by side; `None`: a regular join.
    pub windows: Option<[WindowId; 2]>,
    /// What rows must agree in, besides their windows.
    pub keys: Vec<Equality>,
    /// Over columns below.
    pub condition: Option<Expr>,
    /// By side the visible columns above and what they are below: the same, but where a row may lack a partner.
    pub columns: [Vec<(ColumnId, ColumnId)>; 2],
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

/// A window aggregation. Only its own columns are visible above it.
#[derive(Debug, Clone)]
pub(super) struct Aggregate {
    pub input: Rel,
    /// The window of the input's rows.
    pub window: WindowId,
    /// The same window as its output carries it.
    pub output: WindowId,
    pub keys: Vec<(ColumnId, Expr)>,
    pub calls: Vec<Call>,
}

/// An aggregate function over expressions of the input.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    pub column: ColumnId,
    pub kind: AggregateKind,
    pub distinct: bool,
    pub args: Vec<Expr>,
    pub filter: Option<Expr>,
    pub output: DataType,
}

impl Rel {
    /// The window function below, if no aggregation stands between.
    pub(super) fn open_window(&self) -> Option<WindowId> {
        match self {
            Rel::Scan { .. } | Rel::Aggregate(_) | Rel::Join(_) => None,
            Rel::Filter { input, .. } | Rel::Project { input, .. } => input.open_window(),
            Rel::Window { window, .. } => Some(*window),
            Rel::Union { inputs, .. } => inputs.iter().find_map(|(input, _)| input.open_window()),
        }
    }
    /// The table that the rows come from, for advice.
    pub(super) fn table(&self) -> Option<&Rc<Table>> {
        match self {
            Rel::Scan { table, .. } => Some(table),
            Rel::Filter { input, .. } | Rel::Project { input, .. } | Rel::Window { input, .. } => input.table(),
            Rel::Aggregate(_) | Rel::Union { .. } | Rel::Join(_) => None,
        }
    }
    /// Whether rows come from a join, without an aggregation between.
    pub(super) fn is_joined(&self) -> bool {
        match self {
            Rel::Scan { .. } | Rel::Aggregate(_) => false,
            Rel::Filter { input, .. } | Rel::Project { input, .. } | Rel::Window { input, .. } => input.is_joined(),
            Rel::Union { inputs, .. } => inputs.iter().any(|(input, _)| input.is_joined()),
            Rel::Join(_) => true,
        }
    }
    /// Whether a column is within reach of what stands above.
    pub(super) fn has(&self, id: ColumnId, arena: &Arena) -> bool {
        match self {
            Rel::Scan { columns, .. } | Rel::Union { columns, .. } => columns.contains(&id),
            Rel::Filter { input, .. } => input.has(id, arena),
            Rel::Project { input, defined } => defined.iter().any(|(own, _)| *own == id) || input.has(id, arena),
            Rel::Window { input, window, .. } => {
                arena.windows[*window].columns().contains(&Some(id)) || input.has(id, arena)
            }
            Rel::Aggregate(aggregate) => {
                arena.windows[aggregate.output].columns().contains(&Some(id))
                    || aggregate.keys.iter().any(|(own, _)| *own == id)
                    || aggregate.calls.iter().any(|call| call.column == id)
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
