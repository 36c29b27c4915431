//! Expressions as SQL-like text, for `EXPLAIN`.

use crate::expr::eval::{Arithmetic, Compare, Function, Time};
use crate::expr::{Expr, Scalar};
use crate::types::{Schema, Type};

/// The text of an expression over columns of `input`.
pub(super) fn expr(expr: &Expr, input: &Schema) -> String {
    text(expr, input, 0)
}

/// `binding`: how tightly the operator around this one binds; a looser one needs parentheses.
fn text(node: &Expr, input: &Schema, binding: u8) -> String {
    match node {
        Expr::Column { index, .. } => input.fields.get(*index).map_or_else(|| format!("${index}"), |f| f.name.clone()),
        Expr::Literal { value, data_type } => literal(value, &data_type.kind),
        Expr::Cast { input: inner, data_type, safe } => {
            let name = if *safe { "TRY_CAST" } else { "CAST" };
            format!("{name}({} AS {})", text(inner, input, 0), data_type.kind)
        }
        Expr::Case { branches, otherwise, .. } => {
            let mut result = "CASE".to_string();
            for (when, then) in branches {
                result += &format!(" WHEN {} THEN {}", text(when, input, 0), text(then, input, 0));
            }
            format!("{result} ELSE {} END", text(otherwise, input, 0))
        }
        Expr::Call { function, args, .. } => call(*function, args, input, binding),
    }
}

fn call(function: Function, args: &[Expr], input: &Schema, binding: u8) -> String {
    let enclosed = |own: u8, text: String| if own < binding { format!("({text})") } else { text };
    match (function, args) {
        (Function::Not, [arg]) => enclosed(3, format!("NOT {}", text(arg, input, 3))),
        (Function::Negate, [arg]) => enclosed(6, format!("-{}", text(arg, input, 7))),
        (Function::IsNull { negated }, [arg]) => {
            enclosed(4, format!("{} IS {}NULL", text(arg, input, 5), not(negated)))
        }
        (Function::Is { value, negated }, [arg]) => {
            let value = if value { "TRUE" } else { "FALSE" };
            enclosed(4, format!("{} IS {}{value}", text(arg, input, 5), not(negated)))
        }
        (Function::In, [arg, list @ ..]) => {
            let list: Vec<String> = list.iter().map(|item| text(item, input, 0)).collect();
            enclosed(4, format!("{} IN ({})", text(arg, input, 5), list.join(", ")))
        }
        (_, [left, right]) if operator(function).is_some() => {
            let (own, symbol) = operator(function).expect("checked");
            enclosed(own, format!("{} {symbol} {}", text(left, input, own), text(right, input, own + 1)))
        }
        _ => {
            let args: Vec<String> = args.iter().map(|arg| text(arg, input, 0)).collect();
            format!("{}({})", name(function), args.join(", "))
        }
    }
}

fn not(negated: bool) -> &'static str {
    if negated { "NOT " } else { "" }
}

/// An infix operator and how tightly it binds.
fn operator(function: Function) -> Option<(u8, &'static str)> {
    Some(match function {
        Function::Or => (1, "OR"),
        Function::And => (2, "AND"),
        Function::Compare(compare) => (4, comparison(compare)),
        Function::Distinct { negated: false } => (4, "IS DISTINCT FROM"),
        Function::Distinct { negated: true } => (4, "IS NOT DISTINCT FROM"),
        Function::Like => (4, "LIKE"),
        Function::Similar => (4, "SIMILAR TO"),
        Function::Arithmetic(Arithmetic::Add) | Function::Time(Time::Shift { minus: false }) => (5, "+"),
        Function::Arithmetic(Arithmetic::Subtract) | Function::Time(Time::Shift { minus: true }) => (5, "-"),
        Function::Arithmetic(Arithmetic::Multiply) => (6, "*"),
        Function::Arithmetic(Arithmetic::Divide) => (6, "/"),
        Function::Arithmetic(Arithmetic::Remainder) => (6, "%"),
        _ => return None,
    })
}

fn comparison(compare: Compare) -> &'static str {
    match compare {
        Compare::Equal => "=",
        Compare::NotEqual => "<>",
        Compare::Less => "<",
        Compare::LessOrEqual => "<=",
        Compare::Greater => ">",
        Compare::GreaterOrEqual => ">=",
    }
}

/// The kernel's name in SQL's manner: `Text(PadStart)` is `PAD_START`, `Time(Floor(Hour))` is `FLOOR_HOUR`.
fn name(function: Function) -> String {
    let kernel = format!("{function:?}");
    let inner = kernel.split_once('(').map_or(kernel.as_str(), |(_, rest)| rest);
    let mut result = String::new();
    for c in inner.chars() {
        if !c.is_alphanumeric() {
            if !result.is_empty() && !result.ends_with('_') {
                result.push('_');
            }
            continue;
        }
        if c.is_uppercase() && result.ends_with(|last: char| last.is_lowercase()) {
            result.push('_');
        }
        result.push(c);
    }
    result.trim_end_matches('_').to_uppercase()
}

fn literal(value: &Scalar, kind: &Type) -> String {
    match (value, kind) {
        (Scalar::Null, _) => "NULL".to_string(),
        (Scalar::Boolean(value), _) => value.to_string().to_uppercase(),
        (Scalar::Int(value), Type::IntervalDaySecond) => {
            let (whole, rest) = (value / 1000, (value % 1000).abs());
            let sign = if *value < 0 && whole == 0 { "-" } else { "" };
            let fraction = if rest == 0 { String::new() } else { format!(".{rest:03}") };
            format!("INTERVAL '{sign}{whole}{fraction}' SECOND")
        }
        (Scalar::Int(value), Type::IntervalYearMonth) => format!("INTERVAL '{value}' MONTH"),
        (Scalar::Int(value), kind) if kind.is_numeric() => value.to_string(),
        (Scalar::Int(value), kind) => moment((*value).into(), kind),
        (Scalar::Float(value), _) => value.to_string(),
        (Scalar::Double(value), _) => value.to_string(),
        (Scalar::Decimal(value), kind) if kind.is_timestamp() => moment(*value, kind),
        (Scalar::Decimal(value), kind) => decimal(*value, kind),
        (Scalar::String(value), _) => format!("'{}'", value.replace('\'', "''")),
        (Scalar::Binary(bytes), _) => {
            format!("X'{}'", bytes.iter().map(|byte| format!("{byte:02X}")).collect::<String>())
        }
    }
}

/// A date or time as SQL writes it.
fn moment(value: i128, kind: &Type) -> String {
    let at = |per_second: i128| {
        let nanoseconds = (value.rem_euclid(per_second) * (1_000_000_000 / per_second)) as i32;
        let seconds = i64::try_from(value.div_euclid(per_second)).ok()?;
        jiff::Timestamp::new(seconds, nanoseconds).ok().map(|at| jiff::tz::Offset::UTC.to_datetime(at))
    };
    let shown = match kind {
        Type::Date => i32::try_from(value).ok().and_then(|days| {
            let epoch = jiff::civil::date(1970, 1, 1);
            epoch.checked_add(jiff::Span::new().try_days(days).ok()?).ok().map(|date| format!("DATE '{date}'"))
        }),
        Type::Time(_) => at(1_000).map(|time| format!("TIME '{}'", time.time())),
        Type::Timestamp(precision) | Type::TimestampLtz(precision) => {
            let per_second = match precision {
                0..=3 => 1_000,
                4..=6 => 1_000_000,
                _ => 1_000_000_000,
            };
            at(per_second).map(|time| format!("TIMESTAMP '{} {}'", time.date(), time.time()))
        }
        _ => None,
    };
    shown.unwrap_or_else(|| format!("{kind} {value}"))
}

fn decimal(value: i128, kind: &Type) -> String {
    let scale = match kind {
        Type::Decimal(_, scale) => usize::from(*scale),
        _ => 0,
    };
    if scale == 0 {
        return value.to_string();
    }
    let digits = format!("{:0>width$}", value.unsigned_abs(), width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    format!("{}{whole}.{fraction}", if value < 0 { "-" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_print_as_sql_writes_them() {
        let cases = [
            (Scalar::Int(90_500), Type::IntervalDaySecond, "INTERVAL '90.500' SECOND"),
            (Scalar::Int(-500), Type::IntervalDaySecond, "INTERVAL '-0.500' SECOND"),
            (Scalar::Int(0), Type::Timestamp(3), "TIMESTAMP '1970-01-01 00:00:00'"),
            (Scalar::Int(-1), Type::Timestamp(3), "TIMESTAMP '1969-12-31 23:59:59.999'"),
            (Scalar::Decimal(-1), Type::Timestamp(9), "TIMESTAMP '1969-12-31 23:59:59.999999999'"),
            (Scalar::Int(1), Type::Date, "DATE '1970-01-02'"),
            (Scalar::Int(3_600_000), Type::Time(0), "TIME '01:00:00'"),
            (Scalar::Int(i64::MAX), Type::Date, "DATE 9223372036854775807"),
            (Scalar::Decimal(-5), Type::Decimal(3, 2), "-0.05"),
            (Scalar::String("it's".to_string()), Type::string(), "'it''s'"),
            (Scalar::Null, Type::Int, "NULL"),
        ];
        for (value, kind, expected) in cases {
            assert_eq!(literal(&value, &kind), expected);
        }
    }
}
