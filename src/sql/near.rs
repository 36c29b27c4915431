//! Which conditions of a join bound the time of one side by that of the other: those of an interval join.
//!
//! As in Flink, there are two comparisons of times, one from each end, or one equality of two columns. With any more of
//! them, or others, the join is none of this kind.

use arrow::array::{Array, AsArray};
use arrow::datatypes::TimestampMillisecondType;

use super::conditions::Equality;
use super::constant::value_of;
use super::logical::{Arena, ColumnId, columns_of, rewrite};
use crate::error::{Error, Result};
use crate::expr::eval::{Compare, Function, Time};
use crate::expr::{Expr, Scalar, resolve};
use crate::types::{DataType, Type};

/// Left time between right time plus `lower_ms` and plus `upper_ms`, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Near {
    pub columns: [ColumnId; 2],
    pub lower_ms: i64,
    pub upper_ms: i64,
}

/// Takes out of the conditions those that make an interval join, if they do.
///
/// # Errors
/// Script for times of different types.
pub(super) fn take(
    arena: &Arena,
    left: &dyn Fn(ColumnId) -> bool,
    equalities: &mut Vec<Equality>,
    rest: &mut Vec<Expr>,
) -> Result<Option<Near>> {
    let is_time = |expr: &Expr| matches!(expr, Expr::Column { index, .. } if arena.columns[*index].rowtime);
    let equal: Vec<usize> = (0..equalities.len()).filter(|&at| equalities[at].sides.iter().all(is_time)).collect();
    let compared: Vec<usize> = (0..rest.len()).filter(|&at| compares_times(&rest[at], arena, left)).collect();
    let near = match (equal.as_slice(), compared.as_slice()) {
        ([at], []) => match equalities.remove(*at).sides {
            [Expr::Column { index: l, .. }, Expr::Column { index: r, .. }] => {
                Near { columns: [l, r], lower_ms: 0, upper_ms: 0 }
            }
            _ => return Err(Error::internal("columns that are none")),
        },
        ([], [a, b]) => {
            let bounds = [bound(&rest[*a], arena, left)?, bound(&rest[*b], arena, left)?];
            let near = match bounds {
                [Some((columns, Some(lower_ms), None)), Some((others, None, Some(upper_ms)))]
                | [Some((others, None, Some(upper_ms))), Some((columns, Some(lower_ms), None))]
                    if columns == others =>
                {
                    Near { columns, lower_ms, upper_ms }
                }
                _ => return Ok(None),
            };
            rest.remove(*b);
            rest.remove(*a);
            near
        }
        _ => return Ok(None),
    };
    let [l, r] = near.columns.map(|id| &arena.columns[id].data_type.kind);
    if matches!(l, Type::TimestampLtz(_)) != matches!(r, Type::TimestampLtz(_)) {
        return Err(Error::script(format!("the times of an interval join have the types {l} and {r}"))
            .help("declare both as TIMESTAMP(3) or both as TIMESTAMP_LTZ(3)"));
    }
    Ok(Some(near))
}

/// A comparison, also behind NOT.
fn comparison(condition: &Expr) -> Option<(Compare, &Expr, &Expr)> {
    match condition {
        Expr::Call { function: Function::Compare(compare), args, .. } => match args.as_slice() {
            [a, b] => Some((*compare, a, b)),
            _ => None,
        },
        Expr::Call { function: Function::Not, args, .. } => {
            let (compare, a, b) = comparison(args.first()?)?;
            let opposite = match compare {
                Compare::Less => Compare::GreaterOrEqual,
                Compare::LessOrEqual => Compare::Greater,
                Compare::Greater => Compare::LessOrEqual,
                Compare::GreaterOrEqual => Compare::Less,
                Compare::Equal => Compare::NotEqual,
                Compare::NotEqual => Compare::Equal,
            };
            Some((opposite, a, b))
        }
        _ => None,
    }
}

/// Whether times of the two sides stand on the two sides of a comparison.
fn compares_times(condition: &Expr, arena: &Arena, left: &dyn Fn(ColumnId) -> bool) -> bool {
    let Some((compare, a, b)) = comparison(condition) else { return false };
    let times =
        |expr: &Expr, side: bool| columns_of(expr).into_iter().any(|id| arena.columns[id].rowtime && left(id) == side);
    compare != Compare::NotEqual && ((times(a, true) && times(b, false)) || (times(a, false) && times(b, true)))
}

/// The columns of both sides, and what the comparison says of left time less right time: at least, at most.
type Bound = ([ColumnId; 2], Option<i64>, Option<i64>);

fn bound(condition: &Expr, arena: &Arena, left: &dyn Fn(ColumnId) -> bool) -> Result<Option<Bound>> {
    let Some((compare, a, b)) = comparison(condition) else { return Ok(None) };
    let (Some((first, x)), Some((second, y))) = (shifted(a, arena)?, shifted(b, arena)?) else { return Ok(None) };
    let Some(less) = y.checked_sub(x) else { return Ok(None) };
    // Of first time less second time.
    let (at_least, at_most) = match compare {
        Compare::Less => (None, less.checked_sub(1)),
        Compare::LessOrEqual => (None, Some(less)),
        Compare::Greater => (less.checked_add(1), None),
        Compare::GreaterOrEqual => (Some(less), None),
        Compare::Equal | Compare::NotEqual => return Ok(None),
    };
    Ok(Some(match left(first) {
        true => ([first, second], at_least, at_most),
        false => ([second, first], at_most.map(i64::saturating_neg), at_least.map(i64::saturating_neg)),
    }))
}

/// A time column and how many milliseconds are added to it. A month counts as long as it is from 1970 on, as in Flink.
fn shifted(expr: &Expr, arena: &Arena) -> Result<Option<(ColumnId, i64)>> {
    let [time] = columns_of(expr)[..] else { return Ok(None) };
    if !arena.columns[time].rowtime || !only_shifts(expr) {
        return Ok(None);
    }
    let zero = Expr::literal(Scalar::Int(0), millis(&arena.columns[time].data_type.kind));
    let value = rewrite(expr, &mut |node| matches!(node, Expr::Column { .. }).then(|| zero.clone()));
    let value = value_of(&resolve::cast(value, millis(&expr.data_type().kind), false)?)?;
    let value = value.as_primitive_opt::<TimestampMillisecondType>().filter(|_| value.null_count() == 0);
    Ok(value.map(|value| (time, value.value(0))))
}

/// The type of milliseconds of the same kind.
fn millis(kind: &Type) -> DataType {
    match kind {
        Type::TimestampLtz(_) => Type::TimestampLtz(3).nullable(),
        _ => Type::Timestamp(3).nullable(),
    }
}

/// Whether nothing is done to the column of a time but that intervals are added and its type is another.
fn only_shifts(expr: &Expr) -> bool {
    match expr {
        Expr::Column { .. } => true,
        Expr::Cast { input, data_type, .. } => data_type.kind.is_timestamp() && only_shifts(input),
        Expr::Call { function: Function::Time(Time::Shift { .. }), args, .. } => {
            args.iter().all(|arg| columns_of(arg).is_empty() || only_shifts(arg))
        }
        _ => false,
    }
}
