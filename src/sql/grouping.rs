//! GROUPING SETS, ROLLUP and CUBE: which groups there are, and what GROUPING() says of a row.

use std::collections::BTreeSet;

use sqlparser::ast::Expr as Ast;

use super::binder::{Binder, Context, located};
use super::group_window::GroupWindow;
use super::logical::{ColumnId, Rel, columns_of};
use crate::error::{Error, Result};
use crate::expr::{Expr, Scalar, resolve};
use crate::types::Type;

/// Every row is copied so often; a CUBE of ten columns still passes.
const SETS_LIMIT: usize = 1_024;

/// The expressions of a GROUP BY, and the sets of them that are grouped by: a plain GROUP BY is one set of all.
#[derive(Debug)]
pub(super) struct Written<'a> {
    pub exprs: Vec<&'a Ast>,
    /// Indices into `exprs`.
    pub sets: Vec<BTreeSet<usize>>,
}

/// The bound expressions of a GROUP BY, none of them twice, and their sets.
#[derive(Debug)]
pub(super) struct Grouping {
    pub exprs: Vec<Expr>,
    pub sets: Vec<BTreeSet<usize>>,
    /// The column of the result that says which set a row belongs to, where there are several.
    pub number: Option<ColumnId>,
    /// The window among them, which is none of the expressions.
    pub window: Option<GroupWindow>,
}

/// # Errors
/// Too many sets, or sets in sets.
pub(super) fn written<'a>(groups: &[&'a Ast]) -> Result<Written<'a>> {
    let mut written = Written { exprs: Vec::new(), sets: vec![BTreeSet::new()] };
    for &ast in groups {
        let alternatives = match ast {
            Ast::GroupingSets(sets) => written.lists(sets)?,
            Ast::Rollup(parts) => {
                let parts = written.lists(parts)?;
                different((0..=parts.len()).rev().map(|length| parts[..length].concat()))
            }
            Ast::Cube(parts) => subsets(&written.lists(parts)?).map_err(|error| located(error, ast))?,
            ast => vec![written.list(std::slice::from_ref(ast))?],
        };
        // Several of them multiply: each set of the one with each of the other.
        let products = written.sets.iter().flat_map(|set| {
            alternatives.iter().map(move |more| set.iter().copied().chain(more.iter().copied()).collect())
        });
        let sets: Vec<BTreeSet<usize>> = products.take(SETS_LIMIT + 1).collect();
        if sets.len() > SETS_LIMIT {
            return Err(located(too_many(), ast));
        }
        written.sets = sets;
    }
    Ok(written)
}

/// A ROLLUP or CUBE has no set twice, unlike GROUPING SETS: that of (k, k) is that of (k).
fn different(sets: impl Iterator<Item = Vec<usize>>) -> Vec<Vec<usize>> {
    let mut seen = BTreeSet::new();
    sets.filter(|set| seen.insert(set.iter().copied().collect::<BTreeSet<usize>>())).collect()
}

fn subsets(parts: &[Vec<usize>]) -> Result<Vec<Vec<usize>>> {
    if 1_usize.checked_shl(parts.len() as u32).is_none_or(|count| count > SETS_LIMIT) {
        return Err(too_many());
    }
    // The first part is the highest bit, so that the full set comes first and the empty one last.
    let taken = |mask: usize, at: usize| mask >> (parts.len() - 1 - at) & 1 == 0;
    let subset = |mask| parts.iter().enumerate().filter(move |(at, _)| taken(mask, *at));
    let masks = 0..1_usize << parts.len();
    Ok(different(masks.map(|mask| subset(mask).flat_map(|(_, part)| part.clone()).collect())))
}

fn too_many() -> Error {
    Error::script(format!("GROUP BY has more than {SETS_LIMIT} grouping sets, and every row would be copied for each"))
        .help("name the sets that are needed with GROUPING SETS")
}

impl<'a> Written<'a> {
    fn lists(&mut self, lists: &'a [Vec<Ast>]) -> Result<Vec<Vec<usize>>> {
        lists.iter().map(|list| self.list(list)).collect()
    }

    /// The places of these expressions; those in parentheses, `(a, b)`, count one by one.
    fn list(&mut self, list: &'a [Ast]) -> Result<Vec<usize>> {
        let mut places = Vec::new();
        for ast in list {
            match ast {
                Ast::Tuple(inner) => places.extend(self.list(inner)?),
                Ast::Nested(inner) if matches!(**inner, Ast::Tuple(_) | Ast::Nested(_)) => {
                    places.extend(self.list(std::slice::from_ref(&**inner))?);
                }
                Ast::Function(function) if is_sets(&function.name.to_string()) => {
                    let error = Error::unsupported(format!("{} inside of GROUPING SETS", function.name));
                    return Err(located(error.help("write its sets out one by one"), ast));
                }
                ast => {
                    let known = self.exprs.iter().position(|other| *other == ast);
                    places.push(known.unwrap_or(self.exprs.len()));
                    if known.is_none() {
                        self.exprs.push(ast);
                    }
                }
            }
        }
        Ok(places)
    }
}

fn is_sets(name: &str) -> bool {
    name.eq_ignore_ascii_case("ROLLUP") || name.eq_ignore_ascii_case("CUBE")
}

impl Grouping {
    /// Puts equal expressions into one place. `exprs`: as they were written, one after the other.
    pub(super) fn new(exprs: &[Expr], sets: &[BTreeSet<usize>]) -> Self {
        let mut distinct: Vec<Expr> = Vec::new();
        let mut places = Vec::with_capacity(exprs.len());
        for expr in exprs {
            places.push(distinct.iter().position(|other| other == expr).unwrap_or(distinct.len()));
            if places.last() == Some(&distinct.len()) {
                distinct.push(expr.clone());
            }
        }
        let sets = sets.iter().map(|set| set.iter().map(|place| places[*place]).collect()).collect();
        Grouping { exprs: distinct, sets, number: None, window: None }
    }

    /// True of an expression that all sets have.
    pub(super) fn is_common(&self, expr: &Expr) -> bool {
        let place = self.exprs.iter().position(|other| other == expr);
        place.is_some_and(|place| self.sets.iter().all(|set| set.contains(&place)))
    }

    fn has(&self, set: usize, expr: &Expr) -> bool {
        self.exprs.iter().position(|other| other == expr).is_some_and(|place| self.sets[set].contains(&place))
    }
}

impl Binder<'_> {
    /// Columns of expressions that some set leaves out are NULL there, whatever their table says. True if that makes a
    /// difference: what was bound before has the wrong types.
    pub(super) fn make_nullable(&mut self, grouping: &Grouping) -> bool {
        let mut changed = false;
        for expr in grouping.exprs.iter().filter(|expr| !grouping.is_common(expr)) {
            for id in columns_of(expr) {
                let data_type = &mut self.arena.columns[id].data_type;
                changed |= !data_type.nullable;
                data_type.nullable = true;
            }
        }
        changed
    }

    /// Copies each row of the input for every set. In `keys`, columns of the copies take the place of the expressions
    /// that not all sets have, and the number of the set comes last.
    pub(super) fn expand(&mut self, input: Rel, grouping: &mut Grouping, keys: &mut Vec<(ColumnId, Expr)>) -> Rel {
        let mut columns = Vec::new();
        let mut copies: Vec<Vec<Expr>> = vec![Vec::new(); grouping.sets.len()];
        for (output, expr) in keys.iter_mut().filter(|(_, expr)| !grouping.is_common(expr)) {
            self.arena.columns[*output].data_type.nullable = true;
            let column = self.arena.columns[*output].clone();
            let null = Expr::literal(Scalar::Null, column.data_type.clone());
            for (set, copy) in copies.iter_mut().enumerate() {
                copy.push(if grouping.has(set, expr) { expr.clone() } else { null.clone() });
            }
            columns.push(self.arena.add(column.name, column.data_type, false));
            *expr = self.arena.expr(columns[columns.len() - 1]);
        }
        let number = Type::Int.not_null();
        columns.push(self.arena.add("grouping$set", number.clone(), false));
        for (set, copy) in copies.iter_mut().enumerate() {
            copy.push(Expr::literal(Scalar::Int(set as i64), number.clone()));
        }
        let output = self.arena.add("grouping$set", number, false);
        keys.push((output, self.arena.expr(columns[columns.len() - 1])));
        grouping.number = Some(output);
        Rel::Expand { input: Box::new(input), columns, copies }
    }

    /// GROUPING, GROUPING_ID and GROUP_ID: a number for every set.
    pub(super) fn grouping(&mut self, name: &str, args: &[&Ast], context: &mut Context<'_>) -> Result<Expr> {
        let Some(grouping) = context.grouping else {
            return Err(Error::script(format!("{name} has no place in {}", context.clause))
                .help(format!("{name} belongs into SELECT and HAVING of a query with GROUP BY")));
        };
        let mut values: Vec<i64> = vec![0; grouping.sets.len()];
        if name == "GROUP_ID" {
            if let Some(arg) = args.first() {
                return Err(located(Error::script("GROUP_ID takes no argument"), arg));
            }
            let sets = &grouping.sets;
            values =
                (0..sets.len()).map(|at| sets[..at].iter().filter(|set| **set == sets[at]).count() as i64).collect();
        } else if args.is_empty() || args.len() >= 64 {
            return Err(Error::script(format!("{name} takes 1 to 63 expressions of GROUP BY")));
        }
        for arg in args {
            let expr = self.expr(arg, context)?;
            let Some(place) = grouping.exprs.iter().position(|other| *other == expr) else {
                return Err(located(
                    Error::script(format!("the argument of {name} is no expression of GROUP BY"))
                        .help("GROUPING tells whether a set leaves an expression of GROUP BY out: name one of those"),
                    arg,
                ));
            };
            for (value, set) in values.iter_mut().zip(&grouping.sets) {
                *value = *value << 1 | i64::from(!set.contains(&place));
            }
        }
        self.by_set(grouping, &values)
    }

    /// The value of the set that a row belongs to.
    fn by_set(&self, grouping: &Grouping, values: &[i64]) -> Result<Expr> {
        let literal = |value: i64| Expr::literal(Scalar::Int(value), Type::BigInt.not_null());
        let otherwise = values.last().copied().unwrap_or(0);
        let others: BTreeSet<i64> = values.iter().copied().filter(|value| *value != otherwise).collect();
        let Some(number) = grouping.number.filter(|_| !others.is_empty()) else { return Ok(literal(otherwise)) };
        let mut branches = Vec::with_capacity(others.len());
        for value in others {
            let sets = (0..values.len()).filter(|set| values[*set] == value);
            let sets = sets.map(|set| Expr::literal(Scalar::Int(set as i64), Type::Int.not_null()));
            branches.push((resolve::in_list(self.arena.expr(number), sets.collect(), false)?, literal(value)));
        }
        resolve::case(branches, Some(literal(otherwise)))
    }
}
