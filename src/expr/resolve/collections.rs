//! Functions of ARRAY and MAP by name.

use super::super::eval::{Function, Nested};
use super::functions::Args;
use super::types::common_kind;
use super::{Expr, any_nullable, call, convert, kind_of, literal, nested};
use crate::error::{Error, Result};
use crate::types::{DataType, Field, Type};

/// The function of that name (upper case), if it is one of ARRAY or MAP.
pub(super) fn function(name: &str, args: &mut Args) -> Result<Option<Expr>> {
    match name {
        "CARDINALITY" => {
            args.count(1, 1)?;
            let value = args.take();
            if !matches!(kind_of(&value), Type::Array(_) | Type::Map(..)) {
                return Err(args.mismatch("an ARRAY or a MAP", &value));
            }
            strict(Nested::Cardinality, vec![value], Type::Int)
        }
        "ELEMENT" => {
            args.count(1, 1)?;
            let (array, element) = args.array()?;
            let nullable = element.nullable || array.data_type().nullable;
            some(call(Function::Nested(Nested::Single), vec![array], element.kind, nullable))
        }
        "ARRAY_CONTAINS" | "ARRAY_POSITION" | "ARRAY_REMOVE" => search(name, args),
        "ARRAY_APPEND" | "ARRAY_PREPEND" => add(name, args),
        "ARRAY_DISTINCT" | "ARRAY_REVERSE" => {
            args.count(1, 1)?;
            let (array, _) = args.array()?;
            let kind = kind_of(&array).clone();
            let function = if name == "ARRAY_DISTINCT" { Nested::Distinct } else { Nested::Reverse };
            strict(function, vec![array], kind)
        }
        "ARRAY_SLICE" => {
            args.count(2, 3)?;
            let mut all = vec![args.array()?.0];
            while args.is_left() {
                all.push(args.integer(&Type::Int)?);
            }
            let kind = kind_of(&all[0]).clone();
            strict(Nested::Slice, all, kind)
        }
        "ARRAY_SORT" => sort(args),
        "ARRAY_MIN" | "ARRAY_MAX" => {
            args.count(1, 1)?;
            let (array, element) = args.array()?;
            ordered(args, &array, &element)?;
            let function = if name == "ARRAY_MIN" { Nested::Min } else { Nested::Max };
            some(call(Function::Nested(function), vec![array], element.kind, true))
        }
        "ARRAY_CONCAT" => {
            args.count(1, usize::MAX)?;
            same_arrays(Nested::Concat, args)
        }
        "ARRAY_INTERSECT" | "ARRAY_EXCEPT" | "ARRAY_UNION" => {
            args.count(2, 2)?;
            let function = match name {
                "ARRAY_INTERSECT" => Nested::Intersect,
                "ARRAY_EXCEPT" => Nested::Except,
                _ => Nested::Union,
            };
            same_arrays(function, args)
        }
        "ARRAY_JOIN" => {
            args.count(2, 3)?;
            let (array, element) = args.array()?;
            if !element.kind.is_string() {
                return Err(args.mismatch("an ARRAY of strings", &array).help("CAST it to ARRAY<STRING>"));
            }
            let mut all = vec![array];
            while args.is_left() {
                all.push(args.text()?);
            }
            strict(Nested::Join, all, Type::string())
        }
        "SPLIT" => {
            args.count(2, 2)?;
            let all = vec![args.text()?, args.text()?];
            strict(Nested::SplitText, all, Type::Array(Box::new(Type::string().nullable())))
        }
        _ => map(name, args),
    }
}

fn some(expr: Expr) -> Result<Option<Expr>> {
    Ok(Some(expr))
}

fn strict(function: Nested, args: Vec<Expr>, kind: Type) -> Result<Option<Expr>> {
    let nullable = any_nullable(&args);
    some(call(Function::Nested(function), args, kind, nullable))
}

/// Functions that take or give a MAP.
fn map(name: &str, args: &mut Args) -> Result<Option<Expr>> {
    match name {
        "MAP_KEYS" | "MAP_VALUES" | "MAP_ENTRIES" => {
            args.count(1, 1)?;
            let (map, key, value) = args.map()?;
            let (function, element) = match name {
                "MAP_KEYS" => (Nested::Keys, key),
                "MAP_VALUES" => (Nested::Values, value),
                _ => {
                    let fields = vec![Field::new("key", key), Field::new("value", value)];
                    (Nested::Entries, Type::Row(fields).nullable())
                }
            };
            strict(function, vec![map], Type::Array(Box::new(element)))
        }
        "MAP_FROM_ARRAYS" => {
            args.count(2, 2)?;
            let ((keys, key), (values, value)) = (args.array()?, args.array()?);
            strict(Nested::FromArrays, vec![keys, values], Type::Map(Box::new(key), Box::new(value)))
        }
        "MAP_UNION" => {
            args.count(1, usize::MAX)?;
            let mut maps = Vec::new();
            while args.is_left() {
                maps.push(args.map()?.0);
            }
            let kind = nested::common("the arguments of MAP_UNION", &maps)?.kind;
            let maps = maps.into_iter().map(|map| convert(map, &kind)).collect();
            strict(Nested::MapUnion, maps, kind)
        }
        "STR_TO_MAP" => {
            args.count(1, 3)?;
            let mut all = Vec::new();
            while args.is_left() {
                all.push(args.text()?);
            }
            let text = || Box::new(Type::string().nullable());
            some(call(Function::Nested(Nested::TextToMap), all, Type::Map(text(), text()), true))
        }
        _ => Ok(None),
    }
}

/// An argument that becomes an element beside others: a bare NULL or a value that fits their type.
fn element(args: &mut Args, kind: &Type) -> Result<Expr> {
    let value = args.take();
    let own = kind_of(&value);
    let fits = *own == Type::Null
        || (own.is_string() && kind.is_string())
        || common_kind(kind, own).is_some_and(|common| common == *kind);
    if !fits {
        return Err(args
            .mismatch(&format!("a value of the elements' type {kind}"), &value)
            .help("CAST it to that type"));
    }
    if own.is_string() && own != kind {
        // Flink cuts and pads the string, too.
        let data_type = DataType { kind: kind.clone(), nullable: value.data_type().nullable };
        return Ok(Expr::Cast { input: Box::new(value), data_type, safe: false });
    }
    Ok(convert(value, kind))
}

fn search(name: &str, args: &mut Args) -> Result<Option<Expr>> {
    args.count(2, 2)?;
    let (array, of) = args.array()?;
    let value = element(args, &of.kind)?;
    let array_kind = kind_of(&array).clone();
    match name {
        "ARRAY_CONTAINS" => {
            let nullable = array.data_type().nullable;
            some(call(Function::Nested(Nested::Contains), vec![array, value], Type::Boolean, nullable))
        }
        "ARRAY_POSITION" => strict(Nested::Position, vec![array, value], Type::Int),
        _ => {
            let nullable = array.data_type().nullable;
            some(call(Function::Nested(Nested::Remove), vec![array, value], array_kind, nullable))
        }
    }
}

fn add(name: &str, args: &mut Args) -> Result<Option<Expr>> {
    args.count(2, 2)?;
    let (array, of) = args.array()?;
    let value = element(args, &of.kind)?;
    let nullable = array.data_type().nullable;
    let element = DataType { kind: of.kind, nullable: of.nullable || value.data_type().nullable };
    let kind = Type::Array(Box::new(element));
    let function = if name == "ARRAY_APPEND" { Nested::Append } else { Nested::Prepend };
    some(call(Function::Nested(function), vec![convert(array, &kind), value], kind, nullable))
}

fn ordered(args: &Args, array: &Expr, element: &DataType) -> Result<()> {
    if element.kind.is_nested() {
        return Err(args.mismatch("an ARRAY of values that have an order", array));
    }
    Ok(())
}

/// ARRAY_SORT(array[, ascending[, nulls first]]): NULLs come first where the order ascends, else last.
fn sort(args: &mut Args) -> Result<Option<Expr>> {
    args.count(1, 3)?;
    let (array, element) = args.array()?;
    ordered(args, &array, &element)?;
    let ascending = if args.is_left() { args.boolean()? } else { literal::literal_bool(true) };
    let nulls_first = if args.is_left() { args.boolean()? } else { ascending.clone() };
    let kind = kind_of(&array).clone();
    strict(Nested::Sort, vec![array, ascending, nulls_first], kind)
}

/// Functions of arrays that get one type, which is the result's.
fn same_arrays(function: Nested, args: &mut Args) -> Result<Option<Expr>> {
    let mut arrays = Vec::new();
    while args.is_left() {
        arrays.push(args.array()?.0);
    }
    let kind = nested::common(&format!("the arguments of {}", args.name()), &arrays)?.kind;
    let arrays = arrays.into_iter().map(|array| convert(array, &kind)).collect();
    strict(function, arrays, kind)
}

impl Args<'_> {
    /// The next argument, which must be an ARRAY, and the type of its elements.
    fn array(&mut self) -> Result<(Expr, DataType)> {
        let value = self.take();
        match kind_of(&value) {
            Type::Array(element) => {
                let element = (**element).clone();
                Ok((value, element))
            }
            _ => Err(self.no_nested("an ARRAY", &value)),
        }
    }

    /// The next argument, which must be a MAP, and the types of its keys and values.
    fn map(&mut self) -> Result<(Expr, DataType, DataType)> {
        let value = self.take();
        match kind_of(&value) {
            Type::Map(key, element) => {
                let (key, element) = ((**key).clone(), (**element).clone());
                Ok((value, key, element))
            }
            _ => Err(self.no_nested("a MAP", &value)),
        }
    }

    fn boolean(&mut self) -> Result<Expr> {
        let value = self.take();
        if matches!(kind_of(&value), Type::Boolean | Type::Null) {
            return Ok(value);
        }
        Err(self.mismatch("a BOOLEAN", &value))
    }

    fn no_nested(&self, wanted: &str, value: &Expr) -> Error {
        let error = self.mismatch(wanted, value);
        match kind_of(value) {
            Type::Null => error.help("CAST the NULL to a type"),
            _ => error,
        }
    }
}
