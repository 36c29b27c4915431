//! Scalar functions by name.

use super::super::eval::{Function, Math, Text};
use super::names::{NAMES, UNSUPPORTED};
use super::types::{MAX_PRECISION, rounded_decimal};
use super::{Expr, any_nullable, call, convert, kind_of, literal, operators, strict, temporal};
use crate::error::{Error, Result, nearest};
use crate::types::{DataType, Type};

/// A scalar function by its SQL name (any case). Errors carry no place; the binder adds it.
///
/// Units come as string literals: `EXTRACT(unit, x)`, `FLOOR(x, unit)`, `CEIL(x, unit)`,
/// `TIMESTAMPDIFF(unit, a, b)`, `TIMESTAMPADD(unit, n, x)`. `TRIM`, `LTRIM`, `RTRIM` take the text and
/// optionally the characters to strip; `TRIM(LEADING c FROM x)` is `LTRIM(x, c)`.
/// `POSITION(needle IN x)` is `POSITION(needle, x)`; `OVERLAY` takes (x, replacement, start[, length]).
///
/// # Errors
/// Kind Script for an unknown name or arguments that Flink refuses, Unsupported for a function of
/// Flink's that Transom lacks.
pub fn function(name: &str, args: Vec<Expr>) -> Result<Expr> {
    let name = name.to_ascii_uppercase();
    let mut args = Args::new(&name, args);
    if let Some(expr) = temporal::function(&name, &mut args)? {
        return Ok(expr);
    }
    if let Some(expr) = text(&name, &mut args)? {
        return Ok(expr);
    }
    if let Some(expr) = number(&name, &mut args)? {
        return Ok(expr);
    }
    if let Some(expr) = conditional(&name, &mut args)? {
        return Ok(expr);
    }
    if let Some(expr) = super::codes::function(&name, &mut args)? {
        return Ok(expr);
    }
    if let Some(expr) = super::collections::function(&name, &mut args)? {
        return Ok(expr);
    }
    if let Some(expr) = super::json::function(&name, &mut args)? {
        return Ok(expr);
    }
    if let Some(expr) = super::hashes::function(&name, &mut args)? {
        return Ok(expr);
    }
    if UNSUPPORTED.contains(&name.as_str()) {
        return Err(Error::unsupported(name));
    }
    let error = Error::script(format!("unknown function {name}"));
    Err(match nearest(&name, NAMES.iter().copied()) {
        _ if name == "LENGTH" => error.help("Flink calls it CHAR_LENGTH"),
        Some(near) => error.help(format!("did you mean {near}?")),
        None => error,
    })
}

/// The arguments of a call, taken from left to right.
pub(super) struct Args<'a> {
    name: &'a str,
    args: std::vec::IntoIter<Expr>,
    given: usize,
}

impl<'a> Args<'a> {
    fn new(name: &'a str, args: Vec<Expr>) -> Self {
        Args { name, given: args.len(), args: args.into_iter() }
    }

    pub(super) fn name(&self) -> &'a str {
        self.name
    }

    /// Checks how many there are.
    pub(super) fn count(&self, fewest: usize, most: usize) -> Result<()> {
        if (fewest..=most).contains(&self.given) {
            return Ok(());
        }
        let wanted = match (fewest, most) {
            (a, b) if a == b => a.to_string(),
            (a, usize::MAX) => format!("{a} or more"),
            (a, b) => format!("{a} to {b}"),
        };
        Err(Error::script(format!("{} takes {wanted} arguments, not {}", self.name, self.given)))
    }

    /// How many there are in all.
    pub(super) fn given(&self) -> usize {
        self.given
    }

    pub(super) fn is_left(&self) -> bool {
        self.args.len() > 0
    }

    /// The next one; NULL after the last.
    pub(super) fn take(&mut self) -> Expr {
        self.args.next().unwrap_or_else(literal::literal_null)
    }

    pub(super) fn mismatch(&self, wanted: &str, got: &Expr) -> Error {
        let position = self.given - self.args.len();
        Error::script(format!("{} takes {wanted} as argument {position}, not {}", self.name, kind_of(got)))
    }

    /// The next one, which must be a string.
    pub(super) fn text(&mut self) -> Result<Expr> {
        let arg = self.take();
        if kind_of(&arg).is_string() || *kind_of(&arg) == Type::Null {
            return Ok(arg);
        }
        Err(self.mismatch("a string", &arg).help("CAST it to STRING"))
    }

    /// The next one, which must be an integer, brought to the type `kind`.
    pub(super) fn integer(&mut self, kind: &Type) -> Result<Expr> {
        let arg = self.take();
        if kind_of(&arg).is_integer() || *kind_of(&arg) == Type::Null {
            return Ok(convert(arg, kind));
        }
        Err(self.mismatch("an integer", &arg))
    }

    fn number(&mut self) -> Result<Expr> {
        let arg = self.take();
        if kind_of(&arg).is_numeric() || *kind_of(&arg) == Type::Null {
            return Ok(arg);
        }
        Err(self.mismatch("a number", &arg))
    }

    fn double(&mut self) -> Result<Expr> {
        Ok(convert(self.number()?, &Type::Double))
    }

    pub(super) fn rest(&mut self) -> Vec<Expr> {
        self.args.by_ref().collect()
    }
}

/// VARCHAR of the same length: what is cut from a string.
fn varying(kind: &Type) -> Type {
    match kind {
        Type::Char(length) | Type::VarChar(length) => Type::VarChar(*length),
        _ => Type::string(),
    }
}

/// Functions of strings.
fn text(name: &str, args: &mut Args) -> Result<Option<Expr>> {
    let function = |text| Function::Text(text);
    let all_texts = |args: &mut Args| {
        let mut all = Vec::new();
        while args.is_left() {
            all.push(args.text()?);
        }
        Ok::<_, Error>(all)
    };
    let same_kind = |text, args: &mut Args| {
        args.count(1, 1)?;
        let arg = args.text()?;
        let kind = kind_of(&arg).clone();
        Ok(Some(strict(function(text), vec![arg], kind)))
    };
    let trim = |text, args: &mut Args| {
        args.count(1, 2)?;
        let all = all_texts(args)?;
        let kind = varying(kind_of(&all[0]));
        Ok(Some(strict(function(text), all, kind)))
    };
    let texts_to = |text, count: (usize, usize), kind: Type, args: &mut Args| {
        args.count(count.0, count.1)?;
        Ok(Some(strict(function(text), all_texts(args)?, kind)))
    };
    match name {
        "UPPER" => same_kind(Text::Upper, args),
        "LOWER" => same_kind(Text::Lower, args),
        "INITCAP" => same_kind(Text::InitCap, args),
        "TRIM" => trim(Text::Trim, args),
        "LTRIM" => trim(Text::TrimStart, args),
        "RTRIM" => trim(Text::TrimEnd, args),
        "BTRIM" => texts_to(Text::Trim, (1, 2), Type::string(), args),
        "CHAR_LENGTH" | "CHARACTER_LENGTH" => texts_to(Text::Length, (1, 1), Type::Int, args),
        "ASCII" => texts_to(Text::Ascii, (1, 1), Type::Int, args),
        "REPLACE" => texts_to(Text::Replace, (3, 3), Type::string(), args),
        "CONCAT" => texts_to(Text::Concat, (1, usize::MAX), Type::string(), args),
        "STARTSWITH" => texts_to(Text::StartsWith, (2, 2), Type::Boolean, args),
        "ENDSWITH" => texts_to(Text::EndsWith, (2, 2), Type::Boolean, args),
        "REGEXP" => texts_to(Text::Regexp, (2, 2), Type::Boolean, args),
        "REGEXP_COUNT" | "REGEXP_INSTR" | "REGEXP_SUBSTR" | "REGEXP_EXTRACT_ALL" => pattern(name, args).map(Some),
        "TRANSLATE" | "TRANSLATE3" => {
            args.count(3, 3)?;
            let all = all_texts(args)?;
            let nullable = all[0].data_type().nullable;
            Ok(Some(call(function(Text::Translate), all, Type::string(), nullable)))
        }
        "IS_ALPHA" | "IS_DIGIT" | "IS_DECIMAL" => is_made_of(name, args).map(Some),
        "REVERSE" => {
            args.count(1, 1)?;
            Ok(Some(call(function(Text::Reverse), all_texts(args)?, Type::string(), true)))
        }
        // A pattern that is none gives NULL.
        "REGEXP_REPLACE" => {
            args.count(3, 3)?;
            Ok(Some(call(function(Text::RegexpReplace), all_texts(args)?, Type::string(), true)))
        }
        "CONCAT_WS" => {
            args.count(2, usize::MAX)?;
            Ok(Some(strict(function(Text::ConcatWithSeparator), all_texts(args)?, Type::string())))
        }
        _ => text_with_numbers(name, args),
    }
}

/// The functions of regular expressions that Flink came to late: what is no pattern gives NULL.
fn pattern(name: &str, args: &mut Args) -> Result<Expr> {
    args.count(2, if name == "REGEXP_EXTRACT_ALL" { 3 } else { 2 })?;
    let mut all = vec![args.text()?, args.text()?];
    if args.is_left() {
        all.push(args.integer(&Type::Int)?);
    }
    let (text, kind) = match name {
        "REGEXP_COUNT" => (Text::RegexpCount, Type::Int),
        "REGEXP_INSTR" => (Text::RegexpInstr, Type::Int),
        "REGEXP_SUBSTR" => (Text::RegexpSubstr, Type::string()),
        _ => (Text::RegexpExtractAll, Type::Array(Box::new(Type::string().nullable()))),
    };
    Ok(call(Function::Text(text), all, kind, true))
}

/// IS_ALPHA, IS_DIGIT and IS_DECIMAL: FALSE for NULL. Of a number, its type alone decides, as in Flink.
fn is_made_of(name: &str, args: &mut Args) -> Result<Expr> {
    args.count(1, 1)?;
    let arg = args.take();
    let kind = kind_of(&arg);
    if kind.is_numeric() {
        let floating = matches!(kind, Type::Float | Type::Double);
        return Ok(literal::literal_bool(match name {
            "IS_DIGIT" => kind.is_integer(),
            "IS_DECIMAL" => kind.is_integer() || floating,
            _ => false,
        }));
    }
    if !kind.is_string() {
        return Err(args.mismatch("a string or a number", &arg));
    }
    let text = match name {
        "IS_ALPHA" => Text::IsAlpha,
        "IS_DIGIT" => Text::IsDigit,
        _ => Text::IsDecimal,
    };
    Ok(call(Function::Text(text), vec![arg], Type::Boolean, false))
}

/// Functions of strings that also take positions or lengths.
fn text_with_numbers(name: &str, args: &mut Args) -> Result<Option<Expr>> {
    let function = |text| Function::Text(text);
    let int = Type::Int;
    Ok(Some(match name {
        "SUBSTRING" | "SUBSTR" | "LEFT" | "RIGHT" => {
            let (text, most) = match name {
                "LEFT" => (Text::Left, 2),
                "RIGHT" => (Text::Right, 2),
                _ => (Text::Substring, 3),
            };
            args.count(2, most)?;
            let mut all = vec![args.text()?, args.integer(&int)?];
            if args.is_left() {
                all.push(args.integer(&int)?);
            }
            let kind = varying(kind_of(&all[0]));
            call(function(text), all, kind, true)
        }
        "LPAD" | "RPAD" => {
            args.count(3, 3)?;
            let all = vec![args.text()?, args.integer(&int)?, args.text()?];
            call(function(if name == "LPAD" { Text::PadStart } else { Text::PadEnd }), all, Type::string(), true)
        }
        "REPEAT" => {
            args.count(2, 2)?;
            let all = vec![args.text()?, args.integer(&int)?];
            strict(function(Text::Repeat), all, Type::string())
        }
        "POSITION" | "LOCATE" => {
            args.count(2, if name == "LOCATE" { 3 } else { 2 })?;
            let mut all = vec![args.text()?, args.text()?];
            if args.is_left() {
                all.push(args.integer(&int)?);
            }
            strict(function(Text::Locate), all, int)
        }
        _ => return text_more(name, args),
    }))
}

/// The rest of [`text_with_numbers`].
fn text_more(name: &str, args: &mut Args) -> Result<Option<Expr>> {
    let function = |text| Function::Text(text);
    let int = Type::Int;
    Ok(Some(match name {
        "INSTR" => {
            args.count(2, 4)?;
            let mut all = vec![args.text()?, args.text()?];
            while args.is_left() {
                all.push(args.integer(&int)?);
            }
            strict(function(Text::Instr), all, int)
        }
        "OVERLAY" => {
            args.count(3, 4)?;
            let mut all = vec![args.text()?, args.text()?, args.integer(&int)?];
            if args.is_left() {
                all.push(args.integer(&int)?);
            }
            let kind = varying(&super::types::concat_type(kind_of(&all[0]), kind_of(&all[1])));
            strict(function(Text::Overlay), all, kind)
        }
        "SPLIT_INDEX" => {
            args.count(3, 3)?;
            let first = args.text()?;
            let mut separator = args.take();
            // A number stands for the character of that code.
            if kind_of(&separator).is_integer() {
                let code = convert(separator, &Type::BigInt);
                separator = strict(function(Text::Chr), vec![code], Type::string());
            }
            if !kind_of(&separator).is_string() && *kind_of(&separator) != Type::Null {
                return Err(args.mismatch("a string", &separator));
            }
            let all = vec![first, separator, args.integer(&int)?];
            call(function(Text::SplitIndex), all, Type::string(), true)
        }
        "CHR" => {
            args.count(1, 1)?;
            let all = vec![args.integer(&Type::BigInt)?];
            call(function(Text::Chr), all, Type::string(), true)
        }
        "REGEXP_EXTRACT" => {
            args.count(2, 3)?;
            let mut all = vec![args.text()?, args.text()?];
            if args.is_left() {
                all.push(args.integer(&int)?);
            }
            call(function(Text::RegexpExtract), all, Type::string(), true)
        }
        _ => return Ok(None),
    }))
}

/// Functions of numbers.
fn number(name: &str, args: &mut Args) -> Result<Option<Expr>> {
    let doubles = |math, count, args: &mut Args| {
        args.count(count, count)?;
        let all = (0..count).map(|_| args.double()).collect::<Result<Vec<_>>>()?;
        Ok(Some(strict(Function::Math(math), all, Type::Double)))
    };
    match name {
        "PI" => doubles(Math::Pi, 0, args),
        "E" => doubles(Math::E, 0, args),
        "SQRT" => doubles(Math::Sqrt, 1, args),
        "LN" => doubles(Math::Ln, 1, args),
        "LOG10" => doubles(Math::Log10, 1, args),
        "LOG2" => doubles(Math::Log2, 1, args),
        "LOG" if args.given == 2 => doubles(Math::LogBase, 2, args),
        "LOG" => doubles(Math::Ln, 1, args),
        "EXP" => doubles(Math::Exp, 1, args),
        "POWER" => doubles(Math::Power, 2, args),
        "SIN" => doubles(Math::Sin, 1, args),
        "COS" => doubles(Math::Cos, 1, args),
        "TAN" => doubles(Math::Tan, 1, args),
        "COT" => doubles(Math::Cot, 1, args),
        "SINH" => doubles(Math::Sinh, 1, args),
        "COSH" => doubles(Math::Cosh, 1, args),
        "TANH" => doubles(Math::Tanh, 1, args),
        "ASIN" => doubles(Math::Asin, 1, args),
        "ACOS" => doubles(Math::Acos, 1, args),
        "ATAN" => doubles(Math::Atan, 1, args),
        "ATAN2" => doubles(Math::Atan2, 2, args),
        "DEGREES" => doubles(Math::Degrees, 1, args),
        "RADIANS" => doubles(Math::Radians, 1, args),
        _ => number_kept(name, args),
    }
}

/// Functions of numbers whose result has the type of the argument, more or less.
fn number_kept(name: &str, args: &mut Args) -> Result<Option<Expr>> {
    match name {
        "ABS" | "SIGN" => {
            args.count(1, 1)?;
            let arg = args.number()?;
            let kind = kind_of(&arg).clone();
            Ok(Some(strict(Function::Math(if name == "ABS" { Math::Abs } else { Math::Sign }), vec![arg], kind)))
        }
        "MOD" => {
            args.count(2, 2)?;
            let (left, right) = (args.take(), args.take());
            operators::arithmetic("%", left, right).map(Some)
        }
        "FLOOR" | "CEIL" | "CEILING" => {
            args.count(1, 2)?;
            let name = if name == "FLOOR" { name } else { "CEIL" };
            if args.given == 2 {
                let value = args.take();
                return temporal::round(name, value, &args.take()).map(Some);
            }
            let arg = args.number()?;
            let kind = match kind_of(&arg) {
                Type::Decimal(precision, _) => Type::Decimal(*precision, 0),
                other => other.clone(),
            };
            Ok(Some(strict(Function::Math(if name == "FLOOR" { Math::Floor } else { Math::Ceil }), vec![arg], kind)))
        }
        "ROUND" | "TRUNCATE" => {
            args.count(1, 2)?;
            let mut all = vec![args.number()?];
            let mut digits = Some(0);
            if args.is_left() {
                let arg = args.integer(&Type::Int)?;
                digits = literal::integer_of(&arg).and_then(|digits| i32::try_from(digits).ok());
                all.push(arg);
            }
            let kind = match (kind_of(&all[0]), digits) {
                (Type::Decimal(precision, scale), Some(digits)) => rounded_decimal(*precision, *scale, digits),
                // Without knowing the digits, the type stays; a carry may need one digit more.
                (Type::Decimal(precision, scale), None) => Type::Decimal((*precision).min(MAX_PRECISION), *scale),
                (other, _) => other.clone(),
            };
            let math = if name == "ROUND" { Math::Round } else { Math::Truncate };
            Ok(Some(strict(Function::Math(math), all, kind)))
        }
        _ => Ok(None),
    }
}

/// COALESCE and its kin.
fn conditional(name: &str, args: &mut Args) -> Result<Option<Expr>> {
    let common = |args: &[Expr]| {
        let types: Vec<DataType> = args.iter().map(|arg| arg.data_type().clone()).collect();
        // These functions are Flink's own, and there DOUBLE is wider than FLOAT.
        let double = types.iter().any(|t| t.kind == Type::Double);
        let widen =
            |t: DataType| if double && t.kind == Type::Float { DataType { kind: Type::Double, ..t } } else { t };
        let types: Vec<DataType> = types.into_iter().map(widen).collect();
        super::common_type(&types).ok_or_else(|| {
            let kinds: Vec<String> = types.iter().map(|t| t.kind.to_string()).collect();
            Error::script(format!("the arguments of {name} have no common type: {}", kinds.join(", ")))
                .help("CAST them to one type")
        })
    };
    Ok(Some(match name {
        "COALESCE" | "IFNULL" => {
            args.count(if name == "IFNULL" { 2 } else { 1 }, if name == "IFNULL" { 2 } else { usize::MAX })?;
            let all = args.rest();
            let kind = common(&all)?.kind;
            let nullable = all.iter().all(|arg| arg.data_type().nullable);
            let all = all.into_iter().map(|arg| convert(arg, &kind)).collect();
            call(Function::Coalesce, all, kind, nullable)
        }
        "NULLIF" => {
            args.count(2, 2)?;
            let (value, other) = (args.take(), args.take());
            let equal = operators::binary("=", value.clone(), other)?;
            operators::case(vec![(equal, literal::literal_null())], Some(value))?
        }
        "IF" => {
            args.count(3, 3)?;
            let (condition, then, otherwise) = (args.take(), args.take(), args.take());
            let condition_nullable = condition.data_type().nullable;
            let mut expr = operators::case(vec![(condition, then)], Some(otherwise))?;
            if let Expr::Case { data_type, .. } = &mut expr {
                data_type.nullable |= condition_nullable;
            }
            expr
        }
        "GREATEST" | "LEAST" => {
            args.count(1, usize::MAX)?;
            let all = args.rest();
            let kind = common(&all)?.kind;
            if kind.is_nested() || matches!(kind, Type::Binary(_) | Type::VarBinary(_)) {
                return Err(Error::script(format!("{name} takes values that have an order, not {kind}")));
            }
            let nullable = any_nullable(&all);
            let all = all.into_iter().map(|arg| convert(arg, &kind)).collect();
            call(if name == "GREATEST" { Function::Greatest } else { Function::Least }, all, kind, nullable)
        }
        _ => return Ok(None),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_known_and_in_order() {
        assert!(NAMES.is_sorted() && UNSUPPORTED.is_sorted());
        for name in NAMES {
            let error = function(name, Vec::new()).err();
            let unknown = error.as_ref().is_some_and(|error| error.message().contains("unknown function"));
            assert!(!unknown, "{name}");
        }
    }

    #[test]
    fn a_function_that_only_flink_has_is_refused_by_name() {
        let error = function("parse_json", Vec::new()).unwrap_err();
        assert_eq!(error.kind(), crate::error::ErrorKind::Unsupported);
        assert!(error.message().starts_with("PARSE_JSON"));
        let error = function("UPER", vec![literal::literal_string("a")]).unwrap_err();
        assert_eq!(error.remedy(), Some("did you mean UPPER?"));
    }
}
