//! Which casts there are, explicit and implicit.

use super::{Expr, kind_of};
use crate::error::{Error, Result};
use crate::types::{DataType, Type};

/// CAST or TRY_CAST. A cast to the same type is no cast. The result is nullable if the input is, and
/// for TRY_CAST always; `to.nullable` is ignored.
///
/// # Errors
/// Types between which Flink has no cast (kind Script), or Transom none yet (Unsupported).
pub fn cast(input: Expr, to: DataType, safe: bool) -> Result<Expr> {
    let from = kind_of(&input);
    if *from == to.kind {
        return Ok(input);
    }
    explicit(from, &to.kind)?;
    let nullable = safe || input.data_type().nullable || *from == Type::Null;
    if let Expr::Literal { value: crate::expr::Scalar::Null, .. } = input {
        return Ok(Expr::literal(crate::expr::Scalar::Null, to.kind.nullable()));
    }
    if !safe && let Some(folded) = super::literal::fold_number(&input, &to.kind) {
        return Ok(folded);
    }
    Ok(Expr::Cast { input: Box::new(input), data_type: DataType { kind: to.kind, nullable }, safe })
}

fn explicit(from: &Type, to: &Type) -> Result<()> {
    use Type::*;
    let allowed = match (from, to) {
        (Null, _) => true,
        (Array(a), Array(b)) => return explicit(&a.kind, &b.kind),
        (Map(k1, v1), Map(k2, v2)) => {
            explicit(&k1.kind, &k2.kind)?;
            return explicit(&v1.kind, &v2.kind);
        }
        (Row(a), Row(b)) if a.len() == b.len() => {
            return a.iter().zip(b).try_for_each(|(a, b)| explicit(&a.data_type.kind, &b.data_type.kind));
        }
        (Row(a), Row(b)) => {
            let help = format!("the ROWs have {} and {} fields; build one of the right size: ROW(…)", a.len(), b.len());
            return Err(no_cast(from, to).help(help));
        }
        (Multiset(a), Multiset(b)) => return explicit(&a.kind, &b.kind),
        (Array(_) | Map(..) | Multiset(_) | Row(_), to) => to.is_string(),
        (Binary(_) | VarBinary(_), to) => to.is_string() || matches!(to, Binary(_) | VarBinary(_)),
        (from, Binary(_) | VarBinary(_)) => from.is_string(),
        (_, Array(_) | Map(..) | Multiset(_) | Row(_)) => false,
        (from, to) if from == to => true,
        (IntervalYearMonth | IntervalDaySecond, to) => to.is_string() || from == to,
        (Char(_) | VarChar(_), IntervalYearMonth | IntervalDaySecond) => {
            return Err(Error::unsupported(format!("CAST from {from} to {to}")));
        }
        (from, IntervalYearMonth | IntervalDaySecond) if from.is_integer() => {
            return Err(Error::unsupported(format!("CAST from {from} to {to}"))
                .help("multiply an interval: n * INTERVAL '1' SECOND"));
        }
        (_, IntervalYearMonth | IntervalDaySecond | Null) => false,
        (Char(_) | VarChar(_), _) | (_, Char(_) | VarChar(_)) => true,
        (Boolean, to) => to.is_numeric() || *to == Boolean,
        (from, Boolean) => from.is_numeric(),
        (from, to) if from.is_numeric() && to.is_numeric() => true,
        (from, to) if from.is_numeric() && to.is_timestamp() => {
            let help = match to {
                TimestampLtz(_) => "use TO_TIMESTAMP_LTZ(number, precision)",
                _ => "use TO_TIMESTAMP(FROM_UNIXTIME(number)); the number is in seconds",
            };
            return Err(no_cast(from, to).help(help));
        }
        (from, to) if from.is_timestamp() && to.is_numeric() => {
            return Err(no_cast(from, to).help("use UNIX_TIMESTAMP(CAST(timestamp AS STRING))"));
        }
        (Date, Date) | (Time(_), Time(_)) => true,
        (Date | Time(_), to) => to.is_timestamp(),
        (from, Date | Time(_)) => from.is_timestamp(),
        (from, to) => from.is_timestamp() && to.is_timestamp(),
    };
    if allowed { Ok(()) } else { Err(no_cast(from, to)) }
}

fn no_cast(from: &Type, to: &Type) -> Error {
    Error::script(format!("there is no CAST from {from} to {to}"))
}

/// The implicit cast of a query column into a sink column; NOT NULL of the sink is not judged here.
///
/// # Errors
/// Types that Flink does not convert by itself (kind Script).
pub fn coerce_assign(input: Expr, to: &DataType) -> Result<Expr> {
    let from = kind_of(&input).clone();
    if from == to.kind {
        return Ok(input);
    }
    if !implicit(&from, &to.kind) {
        let error = Error::script(format!("a column of type {from} does not go into one of type {}", to.kind));
        return Err(if explicit(&from, &to.kind).is_ok() {
            error.help(format!("CAST it: CAST(… AS {})", to.kind))
        } else {
            error
        });
    }
    if let (Type::Char(_) | Type::VarChar(_), Type::VarChar(_)) = (&from, &to.kind) {
        return cast(input, to.clone(), false);
    }
    if same_layout(&from, &to.kind) {
        return Ok(input);
    }
    cast(input, to.clone(), false)
}

/// Whether a value of one type goes into another without a CAST.
pub(super) fn coerces(from: &Type, to: &Type) -> bool {
    from == to || implicit(from, to)
}

fn implicit(from: &Type, to: &Type) -> bool {
    use Type::*;
    match (from, to) {
        (Null, _) => true,
        (TinyInt, SmallInt | Int | BigInt) | (SmallInt, Int | BigInt) | (Int, BigInt) => true,
        (from, Float) => from.is_integer() || matches!(from, Decimal(..)),
        (from, Double | Decimal(..)) => from.is_numeric(),
        (Char(_), Char(_)) | (Char(_) | VarChar(_), VarChar(_)) => true,
        (Binary(_), Binary(_)) | (Binary(_) | VarBinary(_), VarBinary(_)) => true,
        (Timestamp(_) | TimestampLtz(_), Timestamp(_) | TimestampLtz(_)) => true,
        (Timestamp(_), Date | Time(_)) | (Time(_), Time(_)) => true,
        (Array(a), Array(b)) => same_or_implicit(a, b),
        (Map(k1, v1), Map(k2, v2)) => same_or_implicit(k1, k2) && same_or_implicit(v1, v2),
        (Multiset(a), Multiset(b)) => same_or_implicit(a, b),
        (Row(a), Row(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_or_implicit(&a.data_type, &b.data_type))
        }
        _ => false,
    }
}

fn same_or_implicit(from: &DataType, to: &DataType) -> bool {
    from.kind == to.kind || implicit(&from.kind, &to.kind)
}

/// Types that differ in their declaration only.
fn same_layout(from: &Type, to: &Type) -> bool {
    matches!(
        (from, to),
        (Type::Array(_), Type::Array(_))
            | (Type::Map(..), Type::Map(..))
            | (Type::Multiset(_), Type::Multiset(_))
            | (Type::Row(_), Type::Row(_))
    ) && from.to_arrow() == to.to_arrow()
}
