//! Queries that read no table: `VALUES (…), (…)` and SELECT without FROM.

use sqlparser::ast::{Expr as Ast, Select, Spanned, Values};

use super::binder::{Binder, Context, located};
use super::logical::Rel;
use super::query::Relation;
use super::scope::{Named, Scope};
use super::text::place_of;
use crate::error::{Error, Result};
use crate::expr::{Expr, resolve};
use crate::types::DataType;

impl Relation {
    /// One row without columns.
    pub(super) fn one_row() -> Relation {
        Relation { rel: Rel::OneRow, scope: Scope::default() }
    }
}

impl Binder<'_> {
    /// What a SELECT without FROM reads.
    pub(super) fn no_table(&self, select: &Select) -> Result<Relation> {
        if let Some(condition) = &select.selection {
            let error = Error::script("WHERE needs a FROM before it");
            return Err(located(error.help("put the SELECT into a subquery and filter that"), condition));
        }
        let is_wildcard = |item: &&sqlparser::ast::SelectItem| matches!(item, sqlparser::ast::SelectItem::Wildcard(_));
        if let Some(item) = select.projection.iter().find(is_wildcard) {
            let error = Error::script("SELECT * needs a FROM behind it");
            return Err(error.at_place(place_of(item.span())));
        }
        Ok(Relation::one_row())
    }

    /// The rows of VALUES as copies of one row; the columns are `EXPR$0`, `EXPR$1` and so on, as in Flink.
    pub(super) fn values(&mut self, values: &Values) -> Result<Relation> {
        let scope = Scope::default();
        let mut rows = Vec::with_capacity(values.rows.len());
        for row in &values.rows {
            let mut exprs = Vec::with_capacity(row.content.len());
            for ast in &row.content {
                let expr = self.expr(ast, &mut Context::new(&scope, "VALUES"))?;
                self.refuse_null(&expr).map_err(|error| located(error, ast))?;
                exprs.push(expr);
            }
            // As in Flink, (ROW(1, 'a')) is a row of two columns.
            if let ([ast], [expr]) = (row.content.as_slice(), exprs.as_slice())
                && is_row(ast)
                && let Some(fields) = resolve::fields(expr)
            {
                exprs = fields.into_iter().map(|(_, field)| field).collect();
            }
            rows.push(exprs);
        }
        let types = self.row_type(values, &rows)?;
        for row in &mut rows {
            for (expr, data_type) in row.iter_mut().zip(&types) {
                if expr.data_type().kind != data_type.kind {
                    *expr = resolve::cast(expr.clone(), data_type.clone(), false)?;
                }
            }
        }
        let name = |i: usize| format!("EXPR${i}");
        let columns: Vec<_> = types.into_iter().enumerate().map(|(i, t)| self.arena.add(name(i), t, false)).collect();
        let named = columns.iter().enumerate().map(|(i, id)| Named { qualifier: None, name: name(i), id: *id });
        let scope = Scope { columns: named.collect() };
        Ok(Relation { rel: Rel::Expand { input: Box::new(Rel::OneRow), columns, copies: rows }, scope })
    }

    /// The types that the values of each column share.
    fn row_type(&self, values: &Values, rows: &[Vec<Expr>]) -> Result<Vec<DataType>> {
        let width = rows.first().map_or(0, Vec::len);
        if let Some(at) = rows.iter().position(|row| row.len() != width) {
            let (row, other) = (at + 1, rows[at].len());
            let error = Error::script(format!("rows 1 and {row} of VALUES have {width} and {other} columns"));
            let first: Option<&Ast> = values.rows[at].content.first();
            return Err(first.map_or_else(|| error.clone(), |ast| located(error.clone(), ast)));
        }
        let mut types: Vec<DataType> = Vec::with_capacity(width);
        for column in 0..width {
            let mut common = rows[0][column].data_type().clone();
            for (row, exprs) in rows.iter().enumerate() {
                let own = exprs[column].data_type();
                common = resolve::common_type(&[common.clone(), own.clone()]).ok_or_else(|| {
                    let error = Error::script(format!(
                        "column {} of VALUES is {common} in the rows before and {own} in row {}",
                        column + 1,
                        row + 1
                    ));
                    located(error.help("CAST one of them"), &values.rows[row].content[column])
                })?;
            }
            types.push(common);
        }
        Ok(types)
    }
}

fn is_row(ast: &Ast) -> bool {
    match ast {
        Ast::Tuple(_) => true,
        Ast::Function(function) => function.name.to_string().eq_ignore_ascii_case("ROW"),
        _ => false,
    }
}
