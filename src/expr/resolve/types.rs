//! Which type comes out of which types: least restrictive types and the DECIMAL rules.

use crate::types::{DataType, Field, MAX_LENGTH, Type};

/// The most digits a DECIMAL holds.
pub(super) const MAX_PRECISION: u8 = 38;
/// Fractional digits that an overflowing DECIMAL type keeps if it can.
const MIN_KEPT_SCALE: i32 = 6;

/// The type that CASE branches, UNION columns and the like share; `None` where Flink finds none.
/// Nullable if one of them is.
pub fn common_type(types: &[DataType]) -> Option<DataType> {
    let nullable = types.iter().any(|t| t.nullable || t.kind == Type::Null);
    let mut kinds = types.iter().map(|t| &t.kind).filter(|kind| **kind != Type::Null);
    let Some(first) = kinds.next() else {
        return types.first().map(|_| Type::Null.nullable());
    };
    let kind = kinds.try_fold(first.clone(), |all, kind| common_kind(&all, kind))?;
    Some(DataType { kind, nullable })
}

/// The least restrictive type of two. FLOAT and DOUBLE rank alike: the first one wins, as in Flink.
pub(super) fn common_kind(left: &Type, right: &Type) -> Option<Type> {
    use Type::*;
    if left == right {
        return Some(left.clone());
    }
    Some(match (left, right) {
        (Null, other) | (other, Null) => other.clone(),
        (a, b) if a.is_integer() && b.is_integer() => if integer_rank(a) >= integer_rank(b) { a } else { b }.clone(),
        (Float | Double, Float | Double) => left.clone(),
        (Float | Double, Decimal(..)) | (Decimal(..), Float | Double) => Double,
        (Float | Double, other) if other.is_integer() => left.clone(),
        (other, Float | Double) if other.is_integer() => right.clone(),
        (a, b) if a.is_numeric() && b.is_numeric() => {
            let ((p1, s1), (p2, s2)) = (decimal_of(a)?, decimal_of(b)?);
            let whole = (p1 - s1).max(p2 - s2);
            let scale = s1.max(s2).min(MAX_PRECISION - whole);
            Decimal(whole + scale, scale)
        }
        (Char(a), Char(b)) | (Char(a), VarChar(b)) | (VarChar(a), Char(b)) | (VarChar(a), VarChar(b)) => {
            VarChar(*a.max(b))
        }
        (Binary(a) | VarBinary(a), Binary(b) | VarBinary(b)) => VarBinary(*a.max(b)),
        (Time(a), Time(b)) => Time(*a.max(b)),
        (Timestamp(a), Timestamp(b)) => Timestamp(*a.max(b)),
        (TimestampLtz(a), TimestampLtz(b)) => TimestampLtz(*a.max(b)),
        (Timestamp(a), TimestampLtz(b)) | (TimestampLtz(a), Timestamp(b)) => TimestampLtz(*a.max(b)),
        (Array(a), Array(b)) => Array(Box::new(common_type(&[(**a).clone(), (**b).clone()])?)),
        (Multiset(a), Multiset(b)) => Multiset(Box::new(common_type(&[(**a).clone(), (**b).clone()])?)),
        (Map(k1, v1), Map(k2, v2)) => {
            let both = |a: &DataType, b: &DataType| common_type(&[a.clone(), b.clone()]).map(Box::new);
            Map(both(k1, k2)?, both(v1, v2)?)
        }
        (Row(a), Row(b)) if a.len() == b.len() => {
            let field = |(a, b): (&Field, &Field)| {
                let data_type = common_type(&[a.data_type.clone(), b.data_type.clone()])?;
                Some(Field::new(a.name.clone(), data_type))
            };
            Row(a.iter().zip(b).map(field).collect::<Option<Vec<_>>>()?)
        }
        _ => return None,
    })
}

fn integer_rank(kind: &Type) -> u8 {
    match kind {
        Type::TinyInt => 0,
        Type::SmallInt => 1,
        Type::Int => 2,
        _ => 3,
    }
}

/// Precision and scale of a DECIMAL, or of the DECIMAL that an integer type equals.
pub(super) fn decimal_of(kind: &Type) -> Option<(u8, u8)> {
    Some(match kind {
        Type::Decimal(precision, scale) => (*precision, *scale),
        Type::TinyInt => (3, 0),
        Type::SmallInt => (5, 0),
        Type::Int => (10, 0),
        Type::BigInt => (19, 0),
        _ => return None,
    })
}

/// Flink's result type of `left operator right` for two DECIMALs.
pub(super) fn decimal_result(operator: &str, left: (u8, u8), right: (u8, u8)) -> Type {
    let ((p1, s1), (p2, s2)) = (wide(left), wide(right));
    let (precision, scale) = match operator {
        "*" => (p1 + p2 + 1, s1 + s2),
        "/" => {
            let scale = (s1 + p2 + 1).max(MIN_KEPT_SCALE);
            (p1 - s1 + s2 + scale, scale)
        }
        "%" => {
            let scale = s1.max(s2);
            ((p1 - s1).min(p2 - s2) + scale, scale)
        }
        _ => {
            let scale = s1.max(s2);
            ((p1 - s1).max(p2 - s2) + scale + 1, scale)
        }
    };
    fit(precision, scale)
}

fn wide((precision, scale): (u8, u8)) -> (i32, i32) {
    (i32::from(precision), i32::from(scale))
}

/// Gives up fractional digits where a result needs more than 38 digits.
fn fit(precision: i32, scale: i32) -> Type {
    let max = i32::from(MAX_PRECISION);
    if precision <= max {
        return Type::Decimal(precision.clamp(1, max) as u8, scale.clamp(0, max) as u8);
    }
    let whole = precision - scale;
    let scale = (max - whole).max(scale.min(MIN_KEPT_SCALE));
    Type::Decimal(MAX_PRECISION, scale.clamp(0, max) as u8)
}

/// The type of `ROUND(x, digits)` for a DECIMAL: one digit more, as rounding may carry.
pub(super) fn rounded_decimal(precision: u8, scale: u8, digits: i32) -> Type {
    let (p, s) = wide((precision, scale));
    if digits >= s {
        return Type::Decimal(precision, scale);
    }
    let kept = digits.max(0);
    Type::Decimal((1 + p - s + kept).clamp(1, 38) as u8, kept as u8)
}

/// The type of a concatenation by `||`.
pub(super) fn concat_type(left: &Type, right: &Type) -> Type {
    let length = |kind: &Type| match kind {
        Type::Char(n) | Type::VarChar(n) => *n,
        _ => MAX_LENGTH,
    };
    let sum = length(left).saturating_add(length(right)).min(MAX_LENGTH);
    match (left, right) {
        (Type::Char(_), Type::Char(_)) => Type::Char(sum),
        _ => Type::VarChar(sum),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_types_follow_flinks_rules() {
        assert_eq!(decimal_result("+", (10, 2), (10, 0)), Type::Decimal(13, 2));
        assert_eq!(decimal_result("*", (10, 0), (2, 1)), Type::Decimal(13, 1));
        assert_eq!(decimal_result("/", (10, 2), (10, 2)), Type::Decimal(23, 13));
        assert_eq!(decimal_result("/", (38, 18), (10, 0)), Type::Decimal(38, 18));
        assert_eq!(decimal_result("%", (10, 2), (10, 0)), Type::Decimal(10, 2));
        assert_eq!(decimal_result("*", (38, 18), (38, 18)), Type::Decimal(38, 6));
    }

    #[test]
    fn the_first_of_float_and_double_wins() {
        assert_eq!(common_kind(&Type::Float, &Type::Double), Some(Type::Float));
        assert_eq!(common_kind(&Type::Double, &Type::Float), Some(Type::Double));
        assert_eq!(common_kind(&Type::Float, &Type::Decimal(3, 1)), Some(Type::Double));
    }

    #[test]
    fn decimals_that_need_more_digits_than_there_are_give_up_fractional_ones() {
        assert_eq!(common_kind(&Type::Decimal(20, 20), &Type::Decimal(38, 18)), Some(Type::Decimal(38, 18)));
        assert_eq!(common_kind(&Type::Decimal(10, 2), &Type::BigInt), Some(Type::Decimal(21, 2)));
    }

    #[test]
    fn strings_of_two_lengths_share_a_varchar() {
        assert_eq!(common_kind(&Type::Char(1), &Type::Char(3)), Some(Type::VarChar(3)));
        assert_eq!(common_kind(&Type::Char(3), &Type::Char(3)), Some(Type::Char(3)));
        assert_eq!(common_kind(&Type::Int, &Type::string()), None);
    }
}
