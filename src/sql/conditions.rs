//! Conditions taken apart: what a join compares.

use super::logical::{ColumnId, columns_of};
use crate::error::Result;
use crate::expr::eval::{Compare, Function, Time};
use crate::expr::{Expr, Scalar, resolve};

/// An expression of the left side that must equal one of the right side.
#[derive(Debug, Clone)]
pub(super) struct Equality {
    /// Of the same type.
    pub sides: [Expr; 2],
    /// NULL equals NULL.
    pub null_meets_null: bool,
}

impl Equality {
    /// `None`: the condition is of another kind. `left`: whether a column is one of the left side.
    pub(super) fn of(condition: &Expr, left: &dyn Fn(ColumnId) -> bool) -> Option<Equality> {
        let Expr::Call { function, args, .. } = condition else { return None };
        let null_meets_null = match function {
            Function::Compare(Compare::Equal) => false,
            Function::Distinct { negated: true } => true,
            _ => return None,
        };
        let [a, b] = args.as_slice() else { return None };
        // DECIMALs of different scales are compared pair by pair.
        if a.data_type().kind != b.data_type().kind {
            return None;
        }
        let side = |expr: &Expr| {
            let columns = columns_of(expr);
            let lefts = columns.iter().filter(|&&id| left(id)).count();
            match (columns.is_empty(), lefts) {
                (true, _) => None,
                (_, 0) => Some(1),
                (_, all) if all == columns.len() => Some(0),
                _ => None,
            }
        };
        match (side(a), side(b)) {
            (Some(0), Some(1)) => Some(Equality { sides: [a.clone(), b.clone()], null_meets_null }),
            (Some(1), Some(0)) => Some(Equality { sides: [b.clone(), a.clone()], null_meets_null }),
            _ => None,
        }
    }
}

/// What is combined with AND, or behind NOT with OR; TRUE is left out.
pub(super) fn conjuncts(condition: Expr) -> Vec<Expr> {
    match condition {
        Expr::Call { function: Function::And, args, .. } => args.into_iter().flat_map(conjuncts).collect(),
        Expr::Call { function: Function::Not, args, data_type } => match args.as_slice() {
            [Expr::Call { function: Function::Or, args, .. }] => {
                let not = |arg: &Expr| Expr::Call {
                    function: Function::Not,
                    data_type: arg.data_type().clone(),
                    args: vec![arg.clone()],
                };
                args.iter().map(not).flat_map(conjuncts).collect()
            }
            _ => vec![Expr::Call { function: Function::Not, args, data_type }],
        },
        Expr::Literal { value: Scalar::Boolean(true), .. } => Vec::new(),
        other => vec![other],
    }
}

/// All of them, combined with AND; `None` for none.
///
/// # Errors
/// None for conditions.
pub(super) fn conjunction(conditions: Vec<Expr>) -> Result<Option<Expr>> {
    let mut all = None;
    for condition in conditions {
        all = Some(match all {
            None => condition,
            Some(before) => resolve::binary("AND", before, condition)?,
        });
    }
    Ok(all)
}

/// Whether a condition cannot hold for rows whose columns of a kind are all NULL. May say no where it cannot.
pub(super) fn rejects_null(condition: &Expr, is_null: &dyn Fn(ColumnId) -> bool) -> bool {
    fn column(expr: &Expr, is_null: &dyn Fn(ColumnId) -> bool) -> bool {
        match expr {
            Expr::Column { index, .. } => is_null(*index),
            Expr::Cast { input, .. } => column(input, is_null),
            Expr::Call { function: Function::Time(Time::Shift { .. }), args, .. } => {
                args.iter().any(|arg| column(arg, is_null))
            }
            _ => false,
        }
    }
    match condition {
        Expr::Call { function: Function::Compare(_) | Function::IsNull { negated: true }, args, .. } => {
            args.iter().any(|arg| column(arg, is_null))
        }
        _ => false,
    }
}
