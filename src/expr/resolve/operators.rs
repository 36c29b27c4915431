//! Operators and predicates.

use super::super::eval::{Arithmetic, Compare, Function};
use super::types::{common_kind, concat_type, decimal_of, decimal_result};
use super::{Expr, any_nullable, call, cannot_apply, convert, kind_of, literal, strict};
use crate::error::{Error, Result};
use crate::expr::Scalar;
use crate::types::{DataType, Type};

/// A binary operator by its SQL spelling: + - * / % || = <> != < <= > >= AND OR,
/// IS DISTINCT FROM, IS NOT DISTINCT FROM.
///
/// # Errors
/// Operands that Flink refuses.
pub fn binary(operator: &str, left: Expr, right: Expr) -> Result<Expr> {
    match operator.to_ascii_uppercase().as_str() {
        "+" => arithmetic("+", left, right),
        "-" => arithmetic("-", left, right),
        "*" => arithmetic("*", left, right),
        "/" => arithmetic("/", left, right),
        "%" => arithmetic("%", left, right),
        "||" => concat(left, right),
        "=" | "==" => compare(Compare::Equal, "=", left, right),
        "<>" | "!=" => compare(Compare::NotEqual, "<>", left, right),
        "<" => compare(Compare::Less, "<", left, right),
        "<=" => compare(Compare::LessOrEqual, "<=", left, right),
        ">" => compare(Compare::Greater, ">", left, right),
        ">=" => compare(Compare::GreaterOrEqual, ">=", left, right),
        "AND" => logic(Function::And, "AND", left, right),
        "OR" => logic(Function::Or, "OR", left, right),
        "IS DISTINCT FROM" => distinct(left, right, false),
        "IS NOT DISTINCT FROM" => distinct(left, right, true),
        _ => Err(Error::script(format!("unknown operator {operator}"))),
    }
}

pub(super) fn arithmetic(operator: &str, left: Expr, right: Expr) -> Result<Expr> {
    if let Some(shifted) = super::temporal::shift(operator, &left, &right)? {
        return Ok(shifted);
    }
    let (a, b) = (kind_of(&left), kind_of(&right));
    let number = |kind: &Type| kind.is_numeric() || *kind == Type::Null;
    if !number(a) || !number(b) {
        return Err(cannot_apply(operator, &[&left, &right]));
    }
    let floating = |kind: &Type| matches!(kind, Type::Float | Type::Double);
    if operator == "%" && (floating(a) || floating(b)) {
        return Err(cannot_apply(operator, &[&left, &right]).help("% and MOD take integers and DECIMALs only"));
    }
    let common = common_kind(a, b).ok_or_else(|| cannot_apply(operator, &[&left, &right]))?;
    let function = Function::Arithmetic(match operator {
        "+" => Arithmetic::Add,
        "-" => Arithmetic::Subtract,
        "*" => Arithmetic::Multiply,
        "/" => Arithmetic::Divide,
        _ => Arithmetic::Remainder,
    });
    // The remainder is smaller than the divisor, whose type it takes.
    let divisor = (operator == "%" && b.is_integer()).then(|| b.clone());
    if let (Type::Decimal(..), Some(d1), Some(d2)) = (&common, decimal_of(a), decimal_of(b)) {
        let kind = decimal_result(operator, d1, d2);
        // MOD of integers by a DECIMAL too: both sides become DECIMALs of their own scale.
        let (left, right) = (convert(left, &Type::Decimal(d1.0, d1.1)), convert(right, &Type::Decimal(d2.0, d2.1)));
        let result = strict(function, vec![left, right], kind);
        return Ok(match divisor.filter(|_| d1.1 == 0) {
            Some(kind) => convert(result, &kind),
            None => result,
        });
    }
    let (left, right) = (convert(left, &common), convert(right, &common));
    let result = strict(function, vec![left, right], common);
    Ok(match divisor {
        Some(kind) => convert(result, &kind),
        None => result,
    })
}

fn concat(left: Expr, right: Expr) -> Result<Expr> {
    let text = |kind: &Type| kind.is_string() || *kind == Type::Null;
    if !text(kind_of(&left)) || !text(kind_of(&right)) {
        return Err(cannot_apply("||", &[&left, &right]).help("CAST the operands to STRING"));
    }
    let kind = concat_type(kind_of(&left), kind_of(&right));
    Ok(strict(Function::Text(super::super::eval::Text::Concat), vec![left, right], kind))
}

/// The type that two operands of a comparison are brought to; `None`: not comparable.
fn comparable(left: &Type, right: &Type) -> Option<Type> {
    use Type::*;
    if left == right {
        return Some(left.clone());
    }
    match (left, right) {
        (a, b) if a.is_string() && b.is_string() => Some(Type::string()),
        // A text is compared as the other side's type; a BOOLEAN becomes text.
        (a, Boolean) | (Boolean, a) if a.is_string() => Some(Type::string()),
        (a, b) | (b, a) if a.is_string() && (b.is_timestamp() || matches!(b, Date | Time(_))) => Some(b.clone()),
        (a, b) | (b, a) if a.is_string() && b.is_numeric() => Some(b.clone()),
        (IntervalYearMonth, IntervalDaySecond) | (IntervalDaySecond, IntervalYearMonth) => None,
        (a, b) if a.is_numeric() && b.is_numeric() => match (a, b) {
            (Float, Double) | (Double, Float) => Some(Double),
            _ => common_kind(a, b),
        },
        (a, b) => common_kind(a, b),
    }
}

/// Brings both sides of a comparison to types that the kernel takes.
fn align(operator: &str, left: Expr, right: Expr) -> Result<(Expr, Expr)> {
    let (a, b) = (kind_of(&left).clone(), kind_of(&right).clone());
    if a == Type::Null || b == Type::Null {
        return Ok((left, right));
    }
    let target = comparable(&a, &b).ok_or_else(|| cannot_apply(operator, &[&left, &right]))?;
    let exact = |kind: &Type| decimal_of(kind).is_some();
    let has_decimal = matches!(a, Type::Decimal(..)) || matches!(b, Type::Decimal(..));
    if has_decimal && a.is_numeric() && b.is_numeric() {
        // DECIMALs compare by value at their own scales; against FLOAT and DOUBLE as doubles.
        let own = |kind: &Type| decimal_of(kind).map_or(Type::Double, |(p, s)| Type::Decimal(p, s));
        let beside_double = |kind: &Type, other: &Type| {
            if exact(kind) && !exact(other) && kind.is_integer() { Type::Double } else { own(kind) }
        };
        let (ta, tb) = (beside_double(&a, &b), beside_double(&b, &a));
        return Ok((convert(left, &ta), convert(right, &tb)));
    }
    Ok((convert(left, &target), convert(right, &target)))
}

/// Flink refuses `=` between text and numbers, though not `<`.
fn refuse_text_with_number(left: &Expr, right: &Expr) -> Result<()> {
    let (a, b) = (kind_of(left), kind_of(right));
    if (a.is_string() && b.is_numeric()) || (a.is_numeric() && b.is_string()) {
        let name = |kind: &Type| kind.to_string();
        return Err(Error::script(format!("{} and {} are not compared without a CAST", name(a), name(b)))
            .help("CAST one side to the other's type"));
    }
    Ok(())
}

fn compare(operator: Compare, spelling: &str, left: Expr, right: Expr) -> Result<Expr> {
    if let (Compare::Equal, Some((left, right))) = (operator, super::nested::constructed(&left, &right)) {
        // `ROW(a, b) = ROW(c, d)` is `a = c AND b = d`, NULLs as they are there.
        let mut fields = left.iter().zip(right).map(|(a, b)| binary("=", a.clone(), b.clone()));
        let first = fields.next().unwrap_or_else(|| Ok(literal::literal_bool(true)))?;
        return fields.try_fold(first, |all, field| binary("AND", all, field?));
    }
    if let Some(order) = literal::exact_order(&left, &right) {
        return Ok(literal::literal_bool(operator.holds(order)));
    }
    if matches!(operator, Compare::Equal | Compare::NotEqual) {
        refuse_text_with_number(&left, &right)?;
    } else if kind_of(&left).is_nested() || kind_of(&right).is_nested() {
        return Err(cannot_apply(spelling, &[&left, &right]).help("ROW, ARRAY and MAP have no order, only = and <>"));
    }
    let (left, right) = align(spelling, left, right)?;
    // Flink's planner settles `x = x` before a NaN could make it false.
    if left == right && matches!(kind_of(&left), Type::Float | Type::Double) {
        let always = matches!(operator, Compare::Equal | Compare::LessOrEqual | Compare::GreaterOrEqual);
        let settled = literal::literal_bool(always);
        if !left.data_type().nullable {
            return Ok(settled);
        }
        let unknown = Expr::literal(Scalar::Null, Type::Boolean.nullable());
        return case(vec![(is_null(left, false)?, unknown)], Some(settled));
    }
    let nullable = any_nullable(&[left.clone(), right.clone()]);
    Ok(call(Function::Compare(operator), vec![left, right], Type::Boolean, nullable))
}

fn distinct(left: Expr, right: Expr, negated: bool) -> Result<Expr> {
    refuse_text_with_number(&left, &right)?;
    let operator = if negated { "IS NOT DISTINCT FROM" } else { "IS DISTINCT FROM" };
    let (left, right) = align(operator, left, right)?;
    if left == right {
        return Ok(literal::literal_bool(negated));
    }
    Ok(call(Function::Distinct { negated }, vec![left, right], Type::Boolean, false))
}

fn is_boolean(expr: &Expr) -> bool {
    matches!(kind_of(expr), Type::Boolean | Type::Null)
}

fn logic(function: Function, spelling: &str, left: Expr, right: Expr) -> Result<Expr> {
    if !is_boolean(&left) || !is_boolean(&right) {
        return Err(cannot_apply(spelling, &[&left, &right]));
    }
    Ok(strict(function, vec![left, right], Type::Boolean))
}

/// A prefix operator: `-`, `+` or `NOT`.
///
/// # Errors
/// Operands that Flink refuses.
pub fn unary(operator: &str, input: Expr) -> Result<Expr> {
    let kind = kind_of(&input).clone();
    let signed = kind.is_numeric() || matches!(kind, Type::IntervalDaySecond | Type::IntervalYearMonth | Type::Null);
    match operator.to_ascii_uppercase().as_str() {
        "+" if signed => Ok(input),
        "-" if signed => Ok(negate(input, kind)),
        "NOT" if is_boolean(&input) => Ok(strict(Function::Not, vec![input], Type::Boolean)),
        "+" | "-" | "NOT" => Err(cannot_apply(operator, &[&input])),
        _ => Err(Error::script(format!("unknown operator {operator}"))),
    }
}

/// Literals are negated at once: `-2147483648` is an INT.
fn negate(input: Expr, kind: Type) -> Expr {
    if let Expr::Literal { value, data_type } = &input {
        let nullable = data_type.nullable;
        let folded = match value {
            Scalar::Int(number) => number.checked_neg().map(|number| {
                let narrow = kind == Type::BigInt && number == i64::from(i32::MIN);
                (Scalar::Int(number), if narrow { Type::Int } else { kind.clone() })
            }),
            // A literal has no negative zero: Flink reads it as a BigDecimal.
            Scalar::Double(number) => Some((Scalar::Double(0.0 - number), kind.clone())),
            Scalar::Decimal(number) => number.checked_neg().map(|number| (Scalar::Decimal(number), kind.clone())),
            _ => None,
        };
        if let Some((value, kind)) = folded {
            return Expr::literal(value, DataType { kind, nullable });
        }
    }
    strict(Function::Negate, vec![input], kind)
}

/// `CASE WHEN condition THEN value … ELSE otherwise END`; without ELSE, NULL. The form with an
/// operand (`CASE x WHEN 1 …`) is for the binder to write as `x = 1`.
///
/// # Errors
/// Conditions that are not BOOLEAN, values without a common type, nothing but NULLs.
pub fn case(branches: Vec<(Expr, Expr)>, otherwise: Option<Expr>) -> Result<Expr> {
    let otherwise = otherwise.unwrap_or_else(literal::literal_null);
    for (when, _) in &branches {
        if !is_boolean(when) {
            return Err(Error::script(format!("a condition of CASE must be BOOLEAN, not {}", kind_of(when))));
        }
    }
    let types: Vec<DataType> =
        branches.iter().map(|(_, then)| then).chain([&otherwise]).map(|value| value.data_type().clone()).collect();
    let data_type = values_type(&types)
        .ok_or_else(|| Error::script("the values of CASE have no common type").help("CAST them to one type"))?;
    if data_type.kind == Type::Null {
        return Err(Error::script("CASE gives nothing but NULL").help("CAST one NULL to a type"));
    }
    let branches = branches.into_iter().map(|(when, then)| (when, convert(then, &data_type.kind))).collect();
    let otherwise = Box::new(convert(otherwise, &data_type.kind));
    Ok(Expr::Case { branches, otherwise, data_type })
}

/// As [`super::common_type`], but of timestamps with and without zone the first one's kind wins.
fn values_type(types: &[DataType]) -> Option<DataType> {
    let mut all = super::common_type(types)?;
    let first = types.iter().find(|t| t.kind != Type::Null);
    if let (Type::TimestampLtz(precision), Some(Type::Timestamp(_))) = (&all.kind, first.map(|t| &t.kind)) {
        all.kind = Type::Timestamp(*precision);
    }
    Some(all)
}

/// `input IS [NOT] NULL`.
///
/// # Errors
/// None today.
pub fn is_null(input: Expr, negated: bool) -> Result<Expr> {
    if !input.data_type().nullable {
        return Ok(literal::literal_bool(negated));
    }
    Ok(call(Function::IsNull { negated }, vec![input], Type::Boolean, false))
}

fn is(input: Expr, value: bool, negated: bool) -> Result<Expr> {
    if !is_boolean(&input) {
        let spelling = if value { "IS TRUE" } else { "IS FALSE" };
        return Err(cannot_apply(spelling, &[&input]));
    }
    Ok(call(Function::Is { value, negated }, vec![input], Type::Boolean, false))
}

/// `input IS [NOT] TRUE`.
///
/// # Errors
/// An input that is not BOOLEAN.
pub fn is_true(input: Expr, negated: bool) -> Result<Expr> {
    is(input, true, negated)
}

/// `input IS [NOT] FALSE`.
///
/// # Errors
/// An input that is not BOOLEAN.
pub fn is_false(input: Expr, negated: bool) -> Result<Expr> {
    is(input, false, negated)
}

/// `input IS [NOT] UNKNOWN`.
///
/// # Errors
/// An input that is not BOOLEAN.
pub fn is_unknown(input: Expr, negated: bool) -> Result<Expr> {
    if !is_boolean(&input) {
        return Err(cannot_apply("IS UNKNOWN", &[&input]));
    }
    is_null(input, negated)
}

/// `input [NOT] LIKE pattern [ESCAPE escape]`.
///
/// # Errors
/// Operands that are no strings; an escape that is not one character.
pub fn like(input: Expr, pattern: Expr, escape: Option<Expr>, negated: bool) -> Result<Expr> {
    matches(Function::Like, "LIKE", input, pattern, escape, negated)
}

/// `input [NOT] SIMILAR TO pattern [ESCAPE escape]`.
///
/// # Errors
/// As [`like`].
pub fn similar(input: Expr, pattern: Expr, escape: Option<Expr>, negated: bool) -> Result<Expr> {
    matches(Function::Similar, "SIMILAR TO", input, pattern, escape, negated)
}

fn matches(
    function: Function,
    spelling: &str,
    input: Expr,
    pattern: Expr,
    escape: Option<Expr>,
    negated: bool,
) -> Result<Expr> {
    let text = |expr: &Expr| kind_of(expr).is_string() || *kind_of(expr) == Type::Null;
    if !text(&input) || !text(&pattern) {
        return Err(cannot_apply(spelling, &[&input, &pattern]));
    }
    let mut args = vec![input, pattern];
    if let Some(escape) = escape {
        let one = literal::text_of(&escape).is_some_and(|text| text.chars().count() == 1);
        if !one {
            return Err(Error::script("ESCAPE takes one character between quotes"));
        }
        args.push(escape);
    }
    let matched = strict(function, args, Type::Boolean);
    if negated { unary("NOT", matched) } else { Ok(matched) }
}

/// `input [NOT] BETWEEN low AND high` (asymmetric).
///
/// # Errors
/// As the comparisons it stands for.
pub fn between(input: Expr, low: Expr, high: Expr, negated: bool) -> Result<Expr> {
    let (lower, upper) = if negated { ("<", ">") } else { (">=", "<=") };
    let above = binary(lower, input.clone(), low)?;
    let below = binary(upper, input, high)?;
    binary(if negated { "OR" } else { "AND" }, above, below)
}

/// `input [NOT] IN (list)`.
///
/// # Errors
/// An empty list, or an item that is not comparable with the input.
pub fn in_list(input: Expr, list: Vec<Expr>, negated: bool) -> Result<Expr> {
    if list.is_empty() {
        return Err(Error::script("IN needs at least one item"));
    }
    if list.iter().all(|item| super::nested::constructed(&input, item).is_some()) {
        let mut tests = list.into_iter().map(|item| binary("=", input.clone(), item));
        let first = tests.next().unwrap_or_else(|| Ok(literal::literal_bool(false)))?;
        let any = tests.try_fold(first, |any, test| binary("OR", any, test?))?;
        return if negated { unary("NOT", any) } else { Ok(any) };
    }
    let mut kind = kind_of(&input).clone();
    for item in &list {
        let next = kind_of(item);
        if kind == Type::Null || *next == Type::Null {
            continue;
        }
        kind = comparable(&kind, next).ok_or_else(|| cannot_apply("IN", &[&input, item]))?;
    }
    let mut args = vec![input];
    args.extend(list);
    let nullable = any_nullable(&args);
    let keep_null = |arg: Expr| if *kind_of(&arg) == Type::Null { arg } else { convert(arg, &kind) };
    let args = args.into_iter().map(keep_null).collect();
    let found = call(Function::In, args, Type::Boolean, nullable);
    if negated { unary("NOT", found) } else { Ok(found) }
}
