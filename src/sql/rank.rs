//! ROW_NUMBER() OVER (…) and the condition on its result: window Top-N and deduplication.
//!
//! A call becomes a column of [`Rel::Rank`], which numbers nothing by itself: a condition on the column in a query
//! around it, such as `rn <= 3`, says how many rows are wanted, and is taken out of that query's WHERE.

use sqlparser::ast::{Expr as Ast, Function, FunctionArguments, OrderByExpr, OrderBySort, Spanned, WindowType};

use super::binder::{Binder, Context, located};
use super::lint::{Lint, Rule};
use super::logical::{Arena, ColumnId, Rel, Role, Times, WindowId, columns_of};
use super::query::Relation;
use super::scope::Scope;
use super::text::place_of;
use crate::error::{Error, Place, Result};
use crate::expr::eval::{Compare, Function as Kernel};
use crate::expr::{Expr, Scalar, resolve};
use crate::types::Type;

/// A call of ROW_NUMBER in a select list.
#[derive(Debug, Clone)]
pub(super) struct RankCall {
    /// Stands for the result.
    pub column: ColumnId,
    pub partition: Vec<Expr>,
    pub order: Vec<Order>,
    pub place: Option<Place>,
}

/// One expression of ORDER BY.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Order {
    pub expr: Expr,
    pub descending: bool,
    pub nulls_first: bool,
}

/// Numbers the rows of each key, or of each window and key, in an order. Adds a column to those of the input.
#[derive(Debug, Clone)]
pub(super) struct Rank {
    pub input: Rel,
    pub column: ColumnId,
    /// The window that all of PARTITION BY's rows share.
    pub window: Option<WindowId>,
    /// PARTITION BY without the bounds of the window.
    pub keys: Vec<ColumnId>,
    pub order: Vec<(ColumnId, Order)>,
    pub bounds: Bounds,
    pub place: Option<Place>,
}

/// The numbers that are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bounds {
    pub first: u64,
    pub last: Option<u64>,
}

impl Bounds {
    const ALL: Bounds = Bounds { first: 1, last: None };

    fn and(self, other: Bounds) -> Bounds {
        let last = match (self.last, other.last) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        Bounds { first: self.first.max(other.first), last }
    }
}

/// Whether a function ranks rows.
pub(super) fn is_rank(name: &str) -> bool {
    matches!(name, "ROW_NUMBER" | "RANK" | "DENSE_RANK")
}

impl Binder<'_> {
    /// Registers a call of a ranking function and stands a column in for its result.
    pub(super) fn rank_call(&mut self, name: &str, function: &Function, context: &mut Context<'_>) -> Result<Expr> {
        let Some(over) = &function.over else {
            return Err(Error::script(format!("{name} needs OVER"))
                .help(format!("write {name}() OVER (PARTITION BY window_start, window_end ORDER BY …)")));
        };
        if name != "ROW_NUMBER" {
            return Err(Error::script(format!("{name}() has no place in a Top-N of a stream: only ROW_NUMBER() has"))
                .help("take ROW_NUMBER(); rows that are equal are numbered in the order of their arrival"));
        }
        if matches!(&function.args, FunctionArguments::List(list) if !list.args.is_empty()) {
            return Err(Error::script("ROW_NUMBER takes no arguments"));
        }
        let WindowType::WindowSpec(over) = over else {
            return Err(Error::unsupported("OVER (the WINDOW clause)").help("write PARTITION BY and ORDER BY in place"));
        };
        if over.window_name.is_some() {
            return Err(Error::unsupported("OVER (the WINDOW clause)"));
        }
        if over.window_frame.is_some() {
            return Err(Error::script("ROWS and RANGE have no place with ROW_NUMBER").help("leave it out"));
        }
        let Some(ranks) = context.ranks.take() else {
            return Err(Error::script(format!("ROW_NUMBER() OVER (…) has no place in {}", context.clause))
                .help("select it under a name in a subquery, and use that"));
        };
        let bound = self.rank_parts(&over.partition_by, &over.order_by, context);
        let ranks = context.ranks.insert(ranks);
        let (partition, order) = bound?;
        if let Some(known) = ranks.first() {
            if known.partition == partition && known.order == order {
                return Ok(self.arena.expr(known.column));
            }
            return Err(Error::script("all OVER of a SELECT have the same PARTITION BY and ORDER BY in a stream")
                .help("number the rows the other way in a query around this one"));
        }
        let column = self.arena.add("row_number", Type::BigInt.not_null(), false);
        self.arena.ranks.push(column);
        ranks.push(RankCall { column, partition, order, place: place_of(function.span()) });
        Ok(self.arena.expr(column))
    }

    fn rank_parts(
        &mut self,
        partition: &[Ast],
        order: &[OrderByExpr],
        context: &mut Context<'_>,
    ) -> Result<(Vec<Expr>, Vec<Order>)> {
        let partition = self.exprs(partition, context)?;
        let mut keys = Vec::with_capacity(order.len());
        for by in order {
            let expr = self.expr(&by.expr, context)?;
            if matches!(by.options.sort, Some(OrderBySort::Using(_))) || by.with_fill.is_some() {
                return Err(located(Error::script("ORDER BY takes ASC or DESC"), &by.expr));
            }
            if matches!(expr.data_type().kind, Type::Map(..)) {
                return Err(located(Error::script("values of type MAP have no order"), &by.expr));
            }
            let descending = matches!(by.options.sort, Some(OrderBySort::Desc));
            // NULL is the lowest value.
            let nulls_first = by.options.nulls_first.unwrap_or(!descending);
            // What is the same in all rows does not order them.
            if columns_of(&expr).is_empty() {
                self.note_constant(&by.expr);
            } else {
                keys.push(Order { expr, descending, nulls_first });
            }
        }
        if keys.is_empty() {
            return Err(Error::script("ROW_NUMBER() needs an ORDER BY that is not the same for all rows")
                .help("say which rows come first: OVER (PARTITION BY … ORDER BY price DESC)"));
        }
        Ok((partition, keys))
    }

    fn note_constant(&mut self, ast: &Ast) {
        let message = match super::over::whole_number(ast) {
            Some(number) => {
                format!("ORDER BY {number} in OVER is the number {number}, not a column: it orders nothing")
            }
            None => "this part of ORDER BY is the same for all rows: it orders nothing".to_string(),
        };
        self.lints.push(Lint::new(Rule::ConstantOrder, place_of(ast.span()), message, "name the column"));
    }

    /// The condition of QUALIFY, over the columns of FROM and the names that SELECT gives.
    pub(super) fn qualify(
        &mut self,
        ast: &Ast,
        input: &Scope,
        selected: &Scope,
        ranks: &mut Vec<RankCall>,
    ) -> Result<Expr> {
        let mut scope = input.clone();
        let is_new = |name: &str| input.columns.iter().all(|column| column.name != name);
        scope.columns.extend(selected.columns.iter().filter(|column| is_new(&column.name)).cloned());
        let mut context = Context::new(&scope, "QUALIFY");
        context.ranks = Some(ranks);
        let predicate = self.condition(ast, &mut context)?;
        if ranks.is_empty() {
            return Err(located(Error::script("QUALIFY needs a ROW_NUMBER() OVER (…)").help("use WHERE"), ast));
        }
        Ok(predicate)
    }

    /// The input with the number that a call asks for.
    pub(super) fn rank(&mut self, input: Rel, call: RankCall) -> Rel {
        let mut defined = Vec::new();
        let mut column_of = |binder: &mut Self, expr: &Expr| match expr {
            Expr::Column { index, .. } => *index,
            expr => {
                let id = binder.arena.add("sort_key", expr.data_type().clone(), false);
                defined.push((id, expr.clone()));
                id
            }
        };
        let partition: Vec<ColumnId> = call.partition.iter().map(|expr| column_of(self, expr)).collect();
        let order: Vec<(ColumnId, Order)> =
            call.order.iter().map(|order| (column_of(self, &order.expr), order.clone())).collect();
        let input = if defined.is_empty() { input } else { Rel::Project { input: Box::new(input), defined } };
        let parts: Vec<(WindowId, Role)> = partition.iter().filter_map(|id| self.arena.columns[*id].window).collect();
        let window = parts
            .iter()
            .map(|(window, _)| *window)
            .find(|&window| parts.contains(&(window, Role::Start)) && parts.contains(&(window, Role::End)));
        let is_bound = |id: &ColumnId| {
            self.arena.columns[*id].window.is_some_and(|(of, role)| Some(of) == window && role != Role::Time)
        };
        let keys = partition.into_iter().filter(|id| !is_bound(id)).collect();
        let RankCall { column, place, .. } = call;
        Rel::Rank(Box::new(Rank { input, column, window, keys, order, bounds: Bounds::ALL, place }))
    }

    /// A relation of whose rows only those count for which a condition holds. What the condition says about the result
    /// of a ROW_NUMBER becomes part of that.
    ///
    /// # Errors
    /// Kind Script where it leaves no row number.
    pub(super) fn filter(&self, mut input: Relation, predicate: Expr) -> Result<Relation> {
        let mut rest: Option<Expr> = None;
        let mut taken = false;
        for condition in conditions(&predicate) {
            let bounds = bounds_of(condition).filter(|(column, _)| is_number(&input.rel, *column));
            if let Some((column, bounds)) = bounds {
                bound(&mut input.rel, column, bounds)?;
                taken = true;
            } else {
                rest = Some(match rest {
                    None => condition.clone(),
                    Some(before) => resolve::binary("AND", before, condition.clone())?,
                });
            }
        }
        Ok(match rest {
            _ if !taken => input.filtered(predicate),
            None => input,
            Some(predicate) => input.filtered(predicate),
        })
    }
}

/// The conditions that AND combines.
fn conditions(predicate: &Expr) -> Vec<&Expr> {
    match predicate {
        Expr::Call { function: Kernel::And, args, .. } => args.iter().flat_map(conditions).collect(),
        other => vec![other],
    }
}

/// What a condition says about a column in terms of whole numbers: `rn <= 3`, `3 > rn`, `rn = 1`.
fn bounds_of(condition: &Expr) -> Option<(ColumnId, Bounds)> {
    let Expr::Call { function: Kernel::Compare(compare), args, .. } = condition else { return None };
    let [left, right] = args.as_slice() else { return None };
    let (compare, column, number) = match (whole(left), whole(right)) {
        (None, Some(number)) => (*compare, left, number),
        (Some(number), None) => (turned(*compare), right, number),
        _ => return None,
    };
    let Expr::Column { index, .. } = column else { return None };
    let last = |number: i64| Some(u64::try_from(number).unwrap_or(0));
    let first = |number: i64| u64::try_from(number).unwrap_or(1).max(1);
    let bounds = match compare {
        Compare::Equal => Bounds { first: first(number), last: last(number) },
        Compare::LessOrEqual => Bounds { first: 1, last: last(number) },
        Compare::Less => Bounds { first: 1, last: last(number.saturating_sub(1)) },
        Compare::GreaterOrEqual => Bounds { first: first(number), last: None },
        Compare::Greater => Bounds { first: first(number.saturating_add(1)), last: None },
        Compare::NotEqual => return None,
    };
    Some((*index, bounds))
}

/// The comparison with its sides exchanged.
fn turned(compare: Compare) -> Compare {
    match compare {
        Compare::Less => Compare::Greater,
        Compare::LessOrEqual => Compare::GreaterOrEqual,
        Compare::Greater => Compare::Less,
        Compare::GreaterOrEqual => Compare::LessOrEqual,
        same @ (Compare::Equal | Compare::NotEqual) => same,
    }
}

/// The whole number that an expression is.
fn whole(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::Literal { value: Scalar::Int(number), data_type } if data_type.kind.is_integer() => Some(*number),
        Expr::Cast { input, data_type, .. } if data_type.kind == Type::BigInt => whole(input),
        _ => None,
    }
}

/// Whether a column is the result of a ROW_NUMBER that a condition here may limit.
fn is_number(rel: &Rel, column: ColumnId) -> bool {
    match rel {
        Rel::Filter { input, .. } => is_number(input, column),
        Rel::Project { input, defined } => below(defined, column).is_some_and(|column| is_number(input, column)),
        Rel::Rank(rank) => rank.column == column,
        Rel::Union { inputs, columns, .. } => columns
            .iter()
            .position(|id| *id == column)
            .is_some_and(|at| inputs.iter().all(|(input, ids)| is_number(input, ids[at]))),
        Rel::Scan { .. }
        | Rel::Window { .. }
        | Rel::Aggregate(_)
        | Rel::Over(_)
        | Rel::Group(_)
        | Rel::OneRow
        | Rel::Expand { .. }
        | Rel::Join(_)
        | Rel::Unnest(_) => false,
    }
}

/// The column that another one is below a projection; `None` if it is computed there.
fn below(defined: &[(ColumnId, Expr)], column: ColumnId) -> Option<ColumnId> {
    match defined.iter().find(|(id, _)| *id == column) {
        None => Some(column),
        Some((_, Expr::Column { index, .. })) => Some(*index),
        Some(_) => None,
    }
}

/// Limits the ROW_NUMBER that a column is the result of.
fn bound(rel: &mut Rel, column: ColumnId, bounds: Bounds) -> Result<()> {
    match rel {
        Rel::Filter { input, .. } => bound(input, column, bounds),
        Rel::Project { input, defined } => match below(defined, column) {
            Some(column) => bound(input, column, bounds),
            None => Ok(()),
        },
        Rel::Rank(rank) => {
            rank.bounds = rank.bounds.and(bounds);
            if rank.bounds.last == Some(0) {
                return Err(Error::script("the last row number that is asked for is 0, and numbers start at 1")
                    .help("ask for 1 or more: rn <= 1"));
            }
            Ok(())
        }
        Rel::Union { inputs, columns, .. } => {
            let at = columns.iter().position(|id| *id == column);
            inputs.iter_mut().try_for_each(|(input, ids)| at.map_or(Ok(()), |at| bound(input, ids[at], bounds)))
        }
        Rel::Scan { .. }
        | Rel::Window { .. }
        | Rel::Aggregate(_)
        | Rel::Over(_)
        | Rel::Group(_)
        | Rel::OneRow
        | Rel::Expand { .. }
        | Rel::Join(_)
        | Rel::Unnest(_) => Ok(()),
    }
}

impl Arena {
    /// Whether an event time may lie behind the watermark where its rows come from: they were kept until their window
    /// ended, and the time is not the window's.
    pub(super) fn is_past(&self, rel: &Rel, time: ColumnId) -> bool {
        let of_window = self.columns[time].window.is_some_and(|(_, role)| role == Role::Time);
        match rel {
            Rel::Filter { input, .. } => self.is_past(input, time),
            Rel::Project { input, defined } => below(defined, time).is_some_and(|time| self.is_past(input, time)),
            Rel::Rank(rank) => match (rank.window, rank.order.as_slice()) {
                (Some(_), _) => !of_window,
                (None, [(first, _)]) => *first != time || self.is_past(&rank.input, time),
                (None, _) => true,
            },
            Rel::Window { input, window, .. } if !of_window => {
                self.windows[*window].partition.is_some() || self.is_past(input, time)
            }
            Rel::Union { inputs, columns, .. } => columns
                .iter()
                .position(|id| *id == time)
                .is_some_and(|at| inputs.iter().any(|(input, ids)| self.is_past(input, ids[at]))),
            Rel::Expand { input, .. } => self.is_past(input, time),
            Rel::Join(join) => match (join.times, join.below(time, self)) {
                (Times::Interval(_) | Times::Versions { .. }, Some((side, below))) => {
                    self.is_past(&join.inputs[side], below)
                }
                _ => !of_window,
            },
            // Rows that it takes behind the watermark say so.
            Rel::Over(over) => self.is_past(&over.input, time),
            Rel::Unnest(unnest) => self.is_past(&unnest.input, time),
            Rel::Scan { .. } | Rel::Window { .. } | Rel::Aggregate(_) | Rel::Group(_) | Rel::OneRow => false,
        }
    }
}
