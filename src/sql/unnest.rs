//! UNNEST in FROM: the elements of an ARRAY or MAP as rows.

use sqlparser::ast::{
    Expr as Ast, FunctionArg, FunctionArgExpr, Join, JoinConstraint, JoinOperator, ObjectNamePart, Spanned, TableAlias,
    TableFactor,
};

use super::binder::{Binder, Context, located};
use super::logical::{ColumnId, Rel, Unnest, rewrite};
use super::query::{Relation, aliased};
use super::scope::{Named, Scope};
use super::text::place_of;
use crate::error::{Error, Place, Result};
use crate::expr::{Expr, Scalar, resolve};
use crate::types::{DataType, Type};

/// `UNNEST(collection) [WITH ORDINALITY] [AS alias (columns)]`, read out of what the parser takes for a function.
pub(super) struct Written<'a> {
    args: &'a [FunctionArg],
    ordinality: bool,
    alias: Option<&'a TableAlias>,
    place: Option<Place>,
}

/// How the elements are joined to the rows before them.
pub(super) struct Joined<'a> {
    /// LEFT JOIN: rows without elements stay.
    outer: bool,
    condition: Option<&'a Ast>,
}

impl Joined<'_> {
    /// A comma, or CROSS JOIN.
    pub(super) const CROSS: Joined<'static> = Joined { outer: false, condition: None };
}

/// The columns that elements give, those of them that are computed, and what an element must be to count.
struct Elements {
    scope: Scope,
    defined: Vec<(ColumnId, Expr)>,
    condition: Option<Expr>,
}

/// `None` for any other table.
pub(super) fn written(factor: &TableFactor) -> Option<Written<'_>> {
    let TableFactor::Table { name, args: Some(args), alias, with_ordinality, .. } = factor else { return None };
    match name.0.as_slice() {
        [ObjectNamePart::Identifier(ident)] if ident.value.eq_ignore_ascii_case("UNNEST") => Some(Written {
            args: &args.args,
            ordinality: *with_ordinality,
            alias: alias.as_ref(),
            place: place_of(name.span()),
        }),
        _ => None,
    }
}

impl Written<'_> {
    fn placed(&self, error: Error) -> Error {
        error.at_place(self.place.clone())
    }
}

fn joined(join: &Join) -> Result<Joined<'_>> {
    let (outer, constraint) = match &join.join_operator {
        JoinOperator::CrossJoin(JoinConstraint::None) => return Ok(Joined::CROSS),
        JoinOperator::Join(constraint) | JoinOperator::Inner(constraint) => (false, constraint),
        JoinOperator::Left(constraint) | JoinOperator::LeftOuter(constraint) => (true, constraint),
        _ => {
            return Err(Error::script("UNNEST is joined with CROSS, INNER or LEFT JOIN only")
                .help("write CROSS JOIN UNNEST(…) AS t (x), or LEFT JOIN UNNEST(…) AS t (x) ON TRUE"));
        }
    };
    match constraint {
        JoinConstraint::On(condition) => Ok(Joined { outer, condition: Some(condition) }),
        _ => Err(Error::script("this JOIN of UNNEST needs a condition").help("write ON TRUE behind it")),
    }
}

impl Binder<'_> {
    /// Joins UNNEST to what stands before it; `None` if the join is of something else.
    pub(super) fn join_unnest(&mut self, input: Relation, join: &Join) -> Result<Option<Relation>> {
        let Some(unnest) = written(&join.relation) else { return Ok(None) };
        let joined = joined(join).map_err(|error| unnest.placed(error))?;
        self.unnest(input, &unnest, &joined).map(Some)
    }

    pub(super) fn unnest(&mut self, input: Relation, unnest: &Written<'_>, join: &Joined<'_>) -> Result<Relation> {
        let [FunctionArg::Unnamed(FunctionArgExpr::Expr(ast))] = unnest.args else {
            return Err(unnest.placed(Error::script("UNNEST takes one ARRAY or MAP")));
        };
        let collection = self.expr(ast, &mut Context::new(&input.scope, "UNNEST"))?;
        let types = element_types(&collection, unnest.alias).map_err(|error| located(error, ast))?;
        let nullable = |data_type: DataType| DataType { nullable: data_type.nullable || join.outer, ..data_type };
        let elements: Vec<ColumnId> =
            types.into_iter().map(|(name, data_type)| self.arena.add(name, nullable(data_type), false)).collect();
        let ordinality = unnest.ordinality.then(|| self.arena.add("ORDINALITY", nullable(Type::Int.not_null()), false));

        let Elements { mut scope, defined, mut condition } = self.element_columns(&elements, join.outer)?;
        scope.columns.extend(ordinality.map(|id| Named { qualifier: None, name: "ORDINALITY".to_string(), id }));
        let own = aliased(Relation { rel: Rel::OneRow, scope }, unnest.alias, None)?.scope;
        let mut scope = input.scope;
        scope.columns.extend(own.columns);
        if let Some(ast) = join.condition {
            let on = self.condition(ast, &mut Context::new(&scope, "ON"))?;
            let on = rewrite(&on, &mut |node| match node {
                Expr::Column { index, .. } => {
                    defined.iter().find(|(id, _)| id == index).map(|(_, expr): &(_, Expr)| expr.clone())
                }
                _ => None,
            });
            condition = match condition {
                _ if is_true(&on) => condition,
                None => Some(on),
                Some(before) => Some(resolve::binary("AND", before, on)?),
            };
        }
        let unnest = Unnest { input: input.rel, collection, elements, ordinality, outer: join.outer, condition };
        let mut rel = Rel::Unnest(Box::new(unnest));
        if !defined.is_empty() {
            rel = Rel::Project { input: Box::new(rel), defined };
        }
        Ok(Relation { rel, scope })
    }

    /// The columns that the elements give. Those of an ARRAY of ROWs are the fields of the ROWs, and a ROW that is NULL
    /// is no element, as in Flink.
    fn element_columns(&mut self, elements: &[ColumnId], outer: bool) -> Result<Elements> {
        let (mut scope, mut defined) = (Scope::default(), Vec::new());
        let row = |id: ColumnId| {
            let data_type = self.arena.columns[id].data_type.clone();
            Expr::column(id, DataType { nullable: outer, ..data_type })
        };
        if let [element] = elements
            && let Some(fields) = resolve::fields(&row(*element))
        {
            for (name, expr) in fields {
                let id = self.arena.add(&name, expr.data_type().clone(), false);
                defined.push((id, expr));
                scope.columns.push(Named { qualifier: None, name, id });
            }
            let present = resolve::is_null(self.arena.expr(*element), true)?;
            return Ok(Elements { scope, defined, condition: Some(present) });
        }
        for id in elements {
            let name = self.arena.columns[*id].name.clone();
            scope.columns.push(Named { qualifier: None, name, id: *id });
        }
        Ok(Elements { scope, defined, condition: None })
    }
}

/// Names and types of the columns of an element. A single one is called as the alias, if that names no columns.
fn element_types(collection: &Expr, alias: Option<&TableAlias>) -> Result<Vec<(String, DataType)>> {
    match &collection.data_type().kind {
        Type::Array(element) => {
            let name = alias.map_or_else(|| "EXPR$0".to_string(), |alias| alias.name.value.clone());
            Ok(vec![(name, (**element).clone())])
        }
        Type::Map(key, value) => {
            Ok(vec![("KEY".to_string(), (**key).clone()), ("VALUE".to_string(), (**value).clone())])
        }
        kind @ Type::Multiset(_) => {
            Err(Error::unsupported(format!("UNNEST of a {kind}")).help("take ARRAY_AGG in place of COLLECT"))
        }
        other => Err(Error::script(format!("UNNEST takes an ARRAY or a MAP, not {other}"))),
    }
}

fn is_true(condition: &Expr) -> bool {
    matches!(condition, Expr::Literal { value: Scalar::Boolean(true), .. })
}
