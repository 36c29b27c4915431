//! Expressions as SQL-like text, for `EXPLAIN`.

use crate::expr::{Expr, Scalar};
use crate::types::{Schema, Type};

/// The text of an expression over columns of `input`.
pub(super) fn expr(expr: &Expr, input: &Schema) -> String {
    text(expr, input, false)
}

/// `nested`: operators need parentheses.
fn text(node: &Expr, input: &Schema, nested: bool) -> String {
    match node {
        Expr::Column { index, .. } => input.fields.get(*index).map_or_else(|| format!("${index}"), |f| f.name.clone()),
        Expr::Literal { value, data_type } => literal(value, &data_type.kind),
        Expr::Cast { input: inner, data_type, safe } => {
            let name = if *safe { "TRY_CAST" } else { "CAST" };
            format!("{name}({} AS {})", text(inner, input, false), data_type.kind)
        }
        Expr::Case { branches, otherwise, .. } => {
            let mut result = "CASE".to_string();
            for (when, then) in branches {
                result += &format!(" WHEN {} THEN {}", text(when, input, false), text(then, input, false));
            }
            format!("{result} ELSE {} END", text(otherwise, input, false))
        }
        Expr::Call { function, args, .. } => call(&format!("{function:?}"), args, input, nested),
    }
}

/// The kernel's own name, which says more than the SQL it came from.
fn call(kernel: &str, args: &[Expr], input: &Schema, nested: bool) -> String {
    if let ([left, right], Some(symbol)) = (args, operator(kernel)) {
        let (left, right) = (text(left, input, true), text(right, input, true));
        let joined = format!("{left} {symbol} {right}");
        return if nested { format!("({joined})") } else { joined };
    }
    let args: Vec<String> = args.iter().map(|arg| text(arg, input, false)).collect();
    format!("{}({})", name(kernel), args.join(", "))
}

fn operator(kernel: &str) -> Option<&'static str> {
    Some(match kernel {
        "Arithmetic(Add)" => "+",
        "Arithmetic(Subtract)" => "-",
        "Arithmetic(Multiply)" => "*",
        "Arithmetic(Divide)" => "/",
        "Arithmetic(Remainder)" => "%",
        "Compare(Equal)" => "=",
        "Compare(NotEqual)" => "<>",
        "Compare(Less)" => "<",
        "Compare(LessOrEqual)" => "<=",
        "Compare(Greater)" => ">",
        "Compare(GreaterOrEqual)" => ">=",
        "Time(Shift { minus: false })" => "+",
        "Time(Shift { minus: true })" => "-",
        "And" => "AND",
        "Or" => "OR",
        "Like" => "LIKE",
        _ => return None,
    })
}

/// `Text(PadStart)` as `PAD_START`, `Time(Floor(Hour))` as `FLOOR_HOUR`.
fn name(kernel: &str) -> String {
    let inner = kernel
        .split_once('(')
        .filter(|(_, rest)| rest.ends_with(')'))
        .map_or(kernel, |(_, rest)| &rest[..rest.len() - 1]);
    let mut result = String::new();
    for c in inner.chars() {
        match c {
            c if c.is_alphanumeric() => {
                if c.is_uppercase() && result.ends_with(|last: char| last.is_lowercase()) {
                    result.push('_');
                }
                result.push(c);
            }
            _ if !result.is_empty() && !result.ends_with('_') => result.push('_'),
            _ => {}
        }
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
        (Scalar::Int(value), kind) => format!("{kind} {value}"),
        (Scalar::Float(value), _) => value.to_string(),
        (Scalar::Double(value), _) => value.to_string(),
        (Scalar::Decimal(value), kind) => decimal(*value, kind),
        (Scalar::String(value), _) => format!("'{}'", value.replace('\'', "''")),
        (Scalar::Binary(bytes), _) => {
            format!("X'{}'", bytes.iter().map(|byte| format!("{byte:02X}")).collect::<String>())
        }
    }
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
