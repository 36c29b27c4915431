//! WHERE, and its conditions `[NOT] EXISTS (SELECT …)` and `[NOT] IN (SELECT …)`, which are joins.

use sqlparser::ast::{
    BinaryOperator, Expr as Ast, GroupByExpr, InTarget, Query, Select, SetExpr, Spanned, UnaryOperator,
};

use super::binder::{Binder, Context, located};
use super::conditions::{conjunction, conjuncts};
use super::join::Tree;
use super::logical::columns_of;
use super::query::{Relation, item_parts, wildcard};
use super::scope::Scope;
use super::text::place_of;
use crate::error::{Error, Result};
use crate::expr::{Expr, resolve};
use crate::plan::JoinKind;

/// A condition on whether a subquery has certain rows.
struct Membership<'a> {
    query: &'a Query,
    /// Before IN; `None`: EXISTS.
    value: Option<&'a Ast>,
    negated: bool,
    ast: &'a Ast,
}

/// What a subquery in WHERE reads, with the conditions that tie it to the query around it.
struct Subquery {
    tree: Tree,
    ties: Vec<Expr>,
    /// The select list, for IN.
    columns: Vec<Expr>,
}

impl<'a> Membership<'a> {
    fn of(ast: &'a Ast) -> Option<Self> {
        match ast {
            Ast::Nested(inner) => Self::of(inner),
            Ast::UnaryOp { op: UnaryOperator::Not, expr } => {
                let inner = Self::of(expr)?;
                Some(Membership { negated: !inner.negated, ..inner })
            }
            Ast::Exists { subquery, negated } => {
                Some(Membership { query: subquery, value: None, negated: *negated, ast })
            }
            Ast::In { expr, target: InTarget::Subquery(query), negated, .. } => {
                Some(Membership { query, value: Some(expr), negated: *negated, ast })
            }
            _ => None,
        }
    }
}

/// The conditions that AND combines.
fn parts(ast: &Ast) -> Vec<&Ast> {
    match ast {
        Ast::BinaryOp { left, op: BinaryOperator::And, right } => {
            let mut all = parts(left);
            all.extend(parts(right));
            all
        }
        Ast::Nested(inner) if matches!(**inner, Ast::BinaryOp { op: BinaryOperator::And, .. }) => parts(inner),
        _ => vec![ast],
    }
}

impl Binder<'_> {
    /// The rows that FROM and WHERE give.
    pub(super) fn filtered_tables(&mut self, select: &Select) -> Result<Relation> {
        let mut tree = self.tables(select)?;
        let mut memberships = Vec::new();
        let mut above = Vec::new();
        for ast in select.selection.iter().flat_map(parts) {
            if let Some(membership) = Membership::of(ast) {
                memberships.push(membership);
                continue;
            }
            let condition = self.condition(ast, &mut Context::new(tree.scope(), "WHERE"))?;
            for condition in conjuncts(condition) {
                above.extend(tree.sink(condition));
            }
        }
        let placed = |error: Error| match &select.selection {
            Some(ast) => located(error, ast),
            None => error,
        };
        let mut relation = self.assemble(tree).map_err(placed)?;
        if let Some(condition) = conjunction(above)? {
            relation = self.filter(relation, condition).map_err(placed)?;
        }
        for membership in memberships {
            let ast = membership.ast;
            relation = self.membership(relation, &membership).map_err(|error| located(error, ast))?;
        }
        Ok(relation)
    }

    fn membership(&mut self, relation: Relation, membership: &Membership<'_>) -> Result<Relation> {
        let scope = relation.scope.clone();
        let Subquery { tree, mut ties, columns } =
            self.subquery(membership.query, &scope, membership.value.is_some())?;
        if let Some(value) = membership.value {
            let values = match value {
                Ast::Tuple(values) => values.iter().collect(),
                one => vec![one],
            };
            if values.len() != columns.len() {
                return Err(Error::script(format!(
                    "IN compares {} values with a subquery of {} columns",
                    values.len(),
                    columns.len()
                )));
            }
            for (ast, column) in values.into_iter().zip(columns) {
                let value = self.expr(ast, &mut Context::new(&scope, "WHERE"))?;
                let equal = resolve::binary("=", value, column)?;
                // What may be equal, because one of them is NULL, is not known to be outside.
                let unknown = membership.negated && equal.data_type().nullable;
                ties.push(if unknown { resolve::is_false(equal, true)? } else { equal });
            }
        }
        let kind = if membership.negated { JoinKind::Anti } else { JoinKind::Semi };
        let place = place_of(membership.ast.span());
        let mut branch = self.branch(kind, [Tree::Leaf(relation, Vec::new()), tree], (None, place));
        branch.scope = scope;
        ties.into_iter().for_each(|tie| branch.attach(tie, false));
        self.assemble(Tree::Join(Box::new(branch)))
    }

    /// `wanted`: the select list is.
    fn subquery(&mut self, query: &Query, outer: &Scope, wanted: bool) -> Result<Subquery> {
        let plain = match query.body.as_ref() {
            SetExpr::Select(select) if is_plain(query, select) => select,
            // Such a query stands for itself.
            _ => {
                let relation = self.query(query).map_err(|error| correlated(error, outer))?;
                let columns = relation.scope.ids().into_iter().map(|id| self.arena.expr(id)).collect();
                return Ok(Subquery { tree: Tree::Leaf(relation, Vec::new()), ties: Vec::new(), columns });
            }
        };
        self.refuse_clauses(plain)?;
        let mut tree = self.tables(plain)?;
        let mut ties = Vec::new();
        if let Some(ast) = &plain.selection {
            let mut context = Context::new(tree.scope(), "WHERE");
            context.outer = Some(outer);
            let condition = self.condition(ast, &mut context)?;
            for condition in conjuncts(condition) {
                let is_outer = |id: &usize| outer.columns.iter().any(|column| column.id == *id);
                let tie =
                    if columns_of(&condition).iter().any(is_outer) { Some(condition) } else { tree.sink(condition) };
                ties.extend(tie);
            }
        }
        let mut columns = Vec::new();
        for item in plain.projection.iter().filter(|_| wanted) {
            if let Some(named) = wildcard(item, tree.scope(), &[])? {
                columns.extend(named.into_iter().map(|column| self.arena.expr(column.id)));
                continue;
            }
            let (ast, _) = item_parts(item)?;
            columns.push(self.expr(ast, &mut Context::new(tree.scope(), "SELECT"))?);
        }
        Ok(Subquery { tree, ties, columns })
    }
}

/// Whether a subquery is FROM, WHERE and a select list alone, row by row.
fn is_plain(query: &Query, select: &Select) -> bool {
    let ungrouped = matches!(&select.group_by, GroupByExpr::Expressions(groups, modifiers)
        if groups.is_empty() && modifiers.is_empty());
    let whole =
        query.with.is_none() && query.order_by.is_none() && query.limit_clause.is_none() && query.fetch.is_none();
    ungrouped && whole && select.having.is_none() && select.distinct.is_none() && !select.from.is_empty()
}

/// Only plain subqueries may name columns of the query around them.
fn correlated(error: Error, outer: &Scope) -> Error {
    let missing = |name: &str| error.message().contains(&format!("is called '{name}' here"));
    if !outer.columns.iter().any(|column| column.qualifier.as_deref().is_some_and(missing)) {
        return error;
    }
    let what = "a subquery with GROUP BY, DISTINCT, UNION or WITH that names columns of the query around it";
    let other = Error::unsupported(what)
        .help("group in a subquery in FROM of this one, and compare with the query around it in WHERE");
    other.at_place(error.place().cloned())
}
