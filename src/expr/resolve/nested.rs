//! Constructors and parts of ROW, ARRAY and MAP.

use super::super::eval::{Function, Nested};
use super::{Expr, call, convert, kind_of, literal, operators};
use crate::error::{Error, Result, nearest};
use crate::types::{DataType, Field, Type};

/// `ROW(a, b)` or `(a, b)`: the fields are called `EXPR$0`, `EXPR$1`, ….
///
/// # Errors
/// No field at all.
pub fn row(fields: Vec<Expr>) -> Result<Expr> {
    if fields.is_empty() {
        return Err(Error::script("ROW needs at least one field"));
    }
    let named = |(i, field): (usize, &Expr)| Field::new(format!("EXPR${i}"), field.data_type().clone());
    let kind = Type::Row(fields.iter().enumerate().map(named).collect());
    Ok(call(Function::Nested(Nested::Row), fields, kind, false))
}

/// The fields of two ROW constructors of one size.
pub(super) fn constructed<'e>(left: &'e Expr, right: &'e Expr) -> Option<(&'e [Expr], &'e [Expr])> {
    match (left, right) {
        (
            Expr::Call { function: Function::Nested(Nested::Row), args: left, .. },
            Expr::Call { function: Function::Nested(Nested::Row), args: right, .. },
        ) if left.len() == right.len() => Some((left, right)),
        _ => None,
    }
}

/// `ARRAY[a, b]`: the elements get a common type.
///
/// # Errors
/// No element, or elements without a common type.
pub fn array(elements: Vec<Expr>) -> Result<Expr> {
    if elements.is_empty() {
        return Err(Error::script("ARRAY[] needs at least one element")
            .help("an empty array is CAST(NULL AS ARRAY<INT>), or what ARRAY_REMOVE(ARRAY[1], 1) leaves"));
    }
    let element = common("the elements of an ARRAY", &elements)?;
    let elements = elements.into_iter().map(|expr| convert(expr, &element.kind)).collect();
    Ok(call(Function::Nested(Nested::Array), elements, Type::Array(Box::new(element)), false))
}

/// `MAP[k, v, k, v]`: the keys get a common type, and so do the values.
///
/// # Errors
/// No entry, an odd number of parts, or parts without a common type.
pub fn map(parts: Vec<Expr>) -> Result<Expr> {
    if parts.is_empty() || !parts.len().is_multiple_of(2) {
        return Err(Error::script("MAP[] takes keys and values in turn").help("write MAP['a', 1, 'b', 2]"));
    }
    let keys: Vec<Expr> = parts.iter().step_by(2).cloned().collect();
    let values: Vec<Expr> = parts.iter().skip(1).step_by(2).cloned().collect();
    let (key, value) = (common("the keys of a MAP", &keys)?, common("the values of a MAP", &values)?);
    let pairs = keys.into_iter().zip(values);
    let parts = pairs.flat_map(|(k, v)| [convert(k, &key.kind), convert(v, &value.kind)]).collect();
    Ok(call(Function::Nested(Nested::Map), parts, Type::Map(Box::new(key), Box::new(value)), false))
}

/// The type that all of some values are brought to.
pub(super) fn common(what: &str, exprs: &[Expr]) -> Result<DataType> {
    let types: Vec<DataType> = exprs.iter().map(|expr| expr.data_type().clone()).collect();
    match super::common_type(&types) {
        Some(all) if all.kind != Type::Null => Ok(all),
        Some(_) => Err(Error::script(format!("{what} are all NULL")).help("CAST one NULL to a type")),
        None => {
            let kinds: Vec<String> = types.iter().map(|t| t.kind.to_string()).collect();
            Err(Error::script(format!("{what} have no common type: {}", kinds.join(", ")))
                .help("CAST them to one type"))
        }
    }
}

/// `row.name`.
///
/// # Errors
/// A value that is no ROW, or a ROW without that field.
pub fn field(row: Expr, name: &str) -> Result<Expr> {
    let Type::Row(fields) = kind_of(&row) else {
        return Err(Error::script(format!("a {} has no field '{name}'", kind_of(&row))));
    };
    let Some(index) = fields.iter().position(|field| field.name == name) else {
        return Err(unknown_field(name, fields));
    };
    Ok(field_at(row, index))
}

fn unknown_field(name: &str, fields: &[Field]) -> Error {
    let error = Error::script(format!("the ROW has no field '{name}'"));
    let names = || fields.iter().map(|field| field.name.as_str());
    match nearest(name, names()) {
        Some(near) if near.eq_ignore_ascii_case(name) => {
            error.help(format!("names of fields are case-sensitive; did you mean '{near}'?"))
        }
        Some(near) => error.help(format!("did you mean '{near}'?")),
        None => error.help(format!("its fields are {}", names().collect::<Vec<_>>().join(", "))),
    }
}

/// The fields of a ROW with their names, for `row.*`; `None` for other types.
pub fn fields(row: &Expr) -> Option<Vec<(String, Expr)>> {
    let Type::Row(fields) = kind_of(row) else { return None };
    Some(fields.iter().enumerate().map(|(i, field)| (field.name.clone(), field_at(row.clone(), i))).collect())
}

fn field_at(row: Expr, index: usize) -> Expr {
    let Type::Row(fields) = kind_of(&row) else { return row };
    let DataType { kind, nullable } = fields[index].data_type.clone();
    let nullable = nullable || row.data_type().nullable;
    call(Function::Nested(Nested::Field(index)), vec![row], kind, nullable)
}

/// `array[index]` counted from 1, `map[key]`, `row['name']` or `row[number]`.
///
/// # Errors
/// Values that have no parts, an index of another type, an index that no array has.
pub fn subscript(value: Expr, index: Expr) -> Result<Expr> {
    match kind_of(&value).clone() {
        Type::Array(element) => {
            let kind = kind_of(&index);
            if *kind == Type::BigInt {
                return Err(Error::script("the index of an ARRAY is an INT, not a BIGINT").help("CAST it to INT"));
            }
            if !kind.is_integer() && *kind != Type::Null {
                return Err(Error::script(format!("the index of an ARRAY is an INT, not a {kind}")));
            }
            if let Some(number) = literal::integer_of(&index).filter(|number| *number < 1) {
                return Err(Error::script(format!("the elements of an ARRAY are counted from 1, not {number}")));
            }
            let args = vec![value, convert(index, &Type::Int)];
            Ok(call(Function::Nested(Nested::Element), args, element.kind, true))
        }
        Type::Map(key, element) => {
            let comparable = operators::binary("=", Expr::column(0, (*key).clone()), index.clone());
            comparable.map_err(|_| {
                Error::script(format!("the keys of the MAP are of type {}, not {}", key.kind, kind_of(&index)))
            })?;
            let args = vec![value, convert(index, &key.kind)];
            Ok(call(Function::Nested(Nested::Lookup), args, element.kind, true))
        }
        Type::Row(fields) => match (literal::text_of(&index), literal::integer_of(&index)) {
            (Some(name), _) => field(value, name),
            (_, Some(number)) => {
                let at = usize::try_from(number).ok().and_then(|n| n.checked_sub(1)).filter(|at| *at < fields.len());
                let at = at.ok_or_else(|| {
                    Error::script(format!("the ROW has {} fields; they are counted from 1", fields.len()))
                })?;
                Ok(field_at(value, at))
            }
            _ => Err(Error::script("a field of a ROW is named by a literal").help("write r.name or r['name']")),
        },
        other => Err(Error::script(format!("a {other} has no elements")).help("only ARRAY, MAP and ROW have parts")),
    }
}
