//! Functions of JSON texts.

use super::super::eval::{Function, Json, JsonPath, JsonShape, OnExists, OnQuery, OnValue, Wrapper};
use super::functions::Args;
use super::{Expr, any_nullable, call, cast, convert, kind_of, literal, strict, unary};
use crate::error::{Error, Result};
use crate::types::{DataType, Type};

/// The function of that name (upper case), if it is one of JSON texts without clauses of its own.
pub(super) fn function(name: &str, args: &mut Args) -> Result<Option<Expr>> {
    match name {
        "JSON_STRING" => {
            args.count(1, 1)?;
            let value = args.take();
            check_value(&value)?;
            Ok(Some(strict(Function::Json(Json::Text), vec![value], Type::string())))
        }
        "JSON_QUOTE" | "JSON_UNQUOTE" => {
            args.count(1, 1)?;
            let function = if name == "JSON_QUOTE" { Json::Quote } else { Json::Unquote };
            Ok(Some(strict(Function::Json(function), vec![args.text()?], Type::string())))
        }
        "JSON" => Err(Error::script("JSON(…) has its place in JSON_OBJECT and JSON_ARRAY only")
            .help("a JSON text is a STRING: leave JSON(…) out")),
        "JSON_VALUE" | "JSON_QUERY" | "JSON_EXISTS" => {
            Err(Error::script(format!("{name} takes a document and a path, then its clauses")))
        }
        "JSON_OBJECT" => {
            Err(Error::script("JSON_OBJECT takes names and values").help("write JSON_OBJECT('a' VALUE 1)"))
        }
        "JSON_ARRAY" => json_array(args.rest(), true).map(Some),
        _ => Ok(None),
    }
}

/// The document and the path of a function; a path that is a literal is checked.
fn target(name: &str, input: Expr, path: Expr) -> Result<Vec<Expr>> {
    for (position, arg) in [(1, &input), (2, &path)] {
        if !kind_of(arg).is_string() && *kind_of(arg) != Type::Null {
            return Err(Error::script(format!("{name} takes a string as argument {position}, not {}", kind_of(arg)))
                .help("CAST it to STRING"));
        }
    }
    if let Some(text) = literal::text_of(&path) {
        JsonPath::parse(text)?;
    }
    Ok(vec![convert(input, &Type::string()), convert(path, &Type::string())])
}

/// `JSON_EXISTS(document, path … ON ERROR)`.
///
/// # Errors
/// Arguments that are no strings; Unsupported for filters in paths.
pub fn json_exists(input: Expr, path: Expr, on_error: OnExists) -> Result<Expr> {
    let args = target("JSON_EXISTS", input, path)?;
    Ok(call(Function::Json(Json::Exists(on_error)), args, Type::Boolean, true))
}

/// ON EMPTY or ON ERROR of JSON_VALUE; a default comes with its value.
pub type ValueBehaviour = (OnValue, Option<Expr>);

/// `JSON_VALUE(document, path RETURNING type … ON EMPTY … ON ERROR)`.
///
/// # Errors
/// As [`json_exists`]; a type that Flink does not return; defaults of other types.
pub fn json_value(
    input: Expr,
    path: Expr,
    returning: Option<DataType>,
    empty: ValueBehaviour,
    error: ValueBehaviour,
) -> Result<Expr> {
    let mut args = target("JSON_VALUE", input, path)?;
    let kind = returning.map_or_else(Type::string, |data_type| data_type.kind);
    if !kind.is_string() && !matches!(kind, Type::Boolean | Type::Int | Type::Double) {
        return Err(Error::script(format!("JSON_VALUE does not return {kind}"))
            .help("it returns STRING, BOOLEAN, INT and DOUBLE; CAST the result to other types"));
    }
    let own = if kind.is_string() { Type::string() } else { kind.clone() };
    for (_, default) in [&empty, &error] {
        let default = default.clone().unwrap_or_else(literal::literal_null);
        let fits = own.is_string() || *kind_of(&default) == Type::Null || super::coerces(kind_of(&default), &own);
        if !fits {
            return Err(Error::script(format!("the default of JSON_VALUE is {}, not {own}", kind_of(&default))));
        }
        args.push(cast(default, own.clone().nullable(), false)?);
    }
    let value = call(Function::Json(Json::Value(empty.0, error.0)), args, own, true);
    cast(value, kind.nullable(), false)
}

/// `JSON_QUERY(document, path RETURNING type … WRAPPER … ON EMPTY … ON ERROR)`.
///
/// # Errors
/// As [`json_exists`]; a type that Flink does not return.
pub fn json_query(
    input: Expr,
    path: Expr,
    returning: Option<DataType>,
    wrapper: Wrapper,
    on_empty: OnQuery,
    on_error: OnQuery,
) -> Result<Expr> {
    let args = target("JSON_QUERY", input, path)?;
    let kind = returning.map_or_else(Type::string, |data_type| data_type.kind);
    let function = Function::Json(Json::Query { wrapper, on_empty, on_error });
    match &kind {
        Type::Array(element) if element.kind.is_string() => {
            if on_empty == OnQuery::EmptyObject || on_error == OnQuery::EmptyObject {
                return Err(
                    Error::script("EMPTY OBJECT is no ARRAY, which JSON_QUERY is to return").help("write EMPTY ARRAY")
                );
            }
            Ok(call(function, args, kind, true))
        }
        kind if kind.is_string() => cast(call(function, args, Type::string(), true), kind.clone().nullable(), false),
        kind => Err(Error::script(format!("JSON_QUERY does not return {kind}"))
            .help("it returns STRING and ARRAY<STRING>; CAST the result to other types")),
    }
}

/// `input IS [NOT] JSON [VALUE | OBJECT | ARRAY | SCALAR]`; NULL is no JSON.
///
/// # Errors
/// An input that is no string.
pub fn is_json(input: Expr, shape: JsonShape, negated: bool) -> Result<Expr> {
    if !kind_of(&input).is_string() {
        return Err(Error::script(format!("IS JSON takes a string, not {}", kind_of(&input))).help("CAST it to STRING"));
    }
    let found = call(Function::Json(Json::Is(shape)), vec![input], Type::Boolean, false);
    if negated { unary("NOT", found) } else { Ok(found) }
}

/// `JSON_OBJECT(name VALUE value, …)`; `absent`: NULLs are left out.
///
/// # Errors
/// Names that are no strings or may be NULL, values that JSON has no form for.
pub fn json_object(members: Vec<(Expr, Expr)>, absent: bool) -> Result<Expr> {
    let mut args = Vec::with_capacity(members.len() * 2);
    for (name, value) in members {
        if !kind_of(&name).is_string() || name.data_type().nullable {
            return Err(Error::script("a name of JSON_OBJECT is a string that is never NULL")
                .help("write it as a literal: JSON_OBJECT('name' VALUE x)"));
        }
        check_member(&value)?;
        args.extend([name, value]);
    }
    Ok(call(Function::Json(Json::Object { absent }), args, Type::string(), false))
}

/// `JSON_ARRAY(value, …)`; `absent`: NULLs are left out.
///
/// # Errors
/// Values that JSON has no form for.
pub fn json_array(values: Vec<Expr>, absent: bool) -> Result<Expr> {
    values.iter().try_for_each(check_member)?;
    Ok(call(Function::Json(Json::Array { absent }), values, Type::string(), false))
}

/// `JSON(text)` as a value of JSON_OBJECT or JSON_ARRAY.
///
/// # Errors
/// An argument that is no string.
pub fn json_parsed(text: Expr) -> Result<Expr> {
    if !kind_of(&text).is_string() {
        return Err(Error::script(format!("JSON takes a string, not {}", kind_of(&text))));
    }
    let nullable = any_nullable(std::slice::from_ref(&text));
    Ok(call(Function::Json(Json::Parsed), vec![text], Type::string(), nullable))
}

fn check_member(value: &Expr) -> Result<()> {
    if *kind_of(value) == Type::Null {
        return Err(Error::script("a bare NULL has no type").help("give it one: CAST(NULL AS STRING)"));
    }
    check_value(value)
}

fn check_value(value: &Expr) -> Result<()> {
    if let Some(kind) = without_form(kind_of(value)) {
        return Err(Error::script(format!("JSON has no form for {kind}")).help("CAST it to STRING"));
    }
    Ok(())
}

/// A part of a type that Flink does not write as JSON.
fn without_form(kind: &Type) -> Option<&Type> {
    match kind {
        Type::Date | Type::Time(_) | Type::IntervalYearMonth | Type::IntervalDaySecond => Some(kind),
        Type::Array(element) => without_form(&element.kind),
        Type::Map(key, _) | Type::Multiset(key) if !key.kind.is_string() => Some(kind),
        Type::Map(_, value) => without_form(&value.kind),
        Type::Row(fields) => fields.iter().find_map(|field| without_form(&field.data_type.kind)),
        _ => None,
    }
}
