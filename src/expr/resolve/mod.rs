//! Builders that apply Flink's typing rules.
//!
//! Every builder gives back an [`Expr`] whose types and nullability are settled, or an error of kind
//! Script (Flink refuses it too) or Unsupported (Flink has it, Transom has not). Errors carry no
//! place; the binder adds it.

mod casting;
mod codes;
mod collections;
mod functions;
mod hashes;
mod json;
mod literal;
mod names;
mod nested;
mod operators;
mod temporal;
mod types;

use super::Expr;
use super::eval::Function;
use crate::error::Error;
use crate::types::{DataType, Type};

use casting::coerces;
pub use casting::{cast, coerce_assign};
pub use functions::function;
pub use json::{ValueBehaviour, is_json, json_array, json_exists, json_object, json_parsed, json_query, json_value};
pub use literal::{
    literal_binary, literal_bool, literal_date, literal_interval_day_second, literal_interval_year_month,
    literal_negative, literal_null, literal_number, literal_string, literal_time, literal_timestamp,
};
pub use names::{is_function, names, refused_names};
pub use nested::{array, field, fields, map, row, subscript};
pub use operators::{between, binary, case, in_list, is_false, is_null, is_true, is_unknown, like, similar, unary};
pub use temporal::{overlaps, time_difference};
pub use types::common_type;

/// A kernel's call.
fn call(function: Function, args: Vec<Expr>, kind: Type, nullable: bool) -> Expr {
    Expr::Call { function, args, data_type: DataType { kind, nullable } }
}

/// A call that is NULL if and only if an argument is.
fn strict(function: Function, args: Vec<Expr>, kind: Type) -> Expr {
    let nullable = any_nullable(&args);
    call(function, args, kind, nullable)
}

fn any_nullable(args: &[Expr]) -> bool {
    args.iter().any(|arg| arg.data_type().nullable)
}

fn kind_of(expr: &Expr) -> &Type {
    &expr.data_type().kind
}

/// Brings an argument to the type that a kernel wants; nullability stays.
fn convert(expr: Expr, kind: &Type) -> Expr {
    let same_layout = kind_of(&expr).is_string() && kind.is_string() && !matches!(kind, Type::Char(_));
    if kind_of(&expr) == kind || same_layout {
        return expr;
    }
    let data_type =
        DataType { kind: kind.clone(), nullable: expr.data_type().nullable || *kind_of(&expr) == Type::Null };
    if let Some(folded) = literal::fold_number(&expr, kind) {
        return folded;
    }
    Expr::Cast { input: Box::new(expr), data_type, safe: false }
}

fn cannot_apply(operator: &str, args: &[&Expr]) -> Error {
    let types: Vec<String> = args.iter().map(|arg| kind_of(arg).to_string()).collect();
    Error::script(format!("cannot apply {operator} to {}", types.join(" and ")))
}
