//! Functions of codes, URLs, formats and chance by name.

use super::super::eval::{Code, Function, Random, Text};
use super::functions::Args;
use super::{Expr, call, convert, kind_of, literal, operators, strict};
use crate::error::{Error, Result};
use crate::expr::Scalar;
use crate::types::Type;

/// The function of that name (upper case), if it is one of them.
pub(super) fn function(name: &str, args: &mut Args) -> Result<Option<Expr>> {
    let of_number = |code, kind, args: &mut Args| {
        args.count(1, 1)?;
        let all = vec![args.integer(&Type::BigInt)?];
        Ok(Some(strict(Function::Code(code), all, kind)))
    };
    let of_octets = |code, args: &mut Args| {
        args.count(1, 1)?;
        let arg = args.take();
        let fits = kind_of(&arg).is_string() || is_bytes(kind_of(&arg)) || *kind_of(&arg) == Type::Null;
        if !fits {
            return Err(args.mismatch("a string or BYTES", &arg));
        }
        Ok(Some(strict(Function::Code(code), vec![arg], Type::string())))
    };
    match name {
        "HEX" => hex(args).map(Some),
        "BIN" => of_number(Code::Bin, Type::string(), args),
        "INET_NTOA" => nullable(of_number(Code::InetNtoa, Type::string(), args)?),
        "INET_ATON" => of_texts(Function::Code(Code::InetAton), (1, 1), Type::BigInt, args),
        "UNHEX" => of_texts(Function::Code(Code::Unhex), (1, 1), Type::VarBinary(crate::types::MAX_LENGTH), args),
        "TO_BASE64" => of_octets(Code::ToBase64, args),
        "FROM_BASE64" => of_octets(Code::FromBase64, args),
        "URL_ENCODE" => of_texts(Function::Code(Code::UrlEncode), (1, 1), Type::string(), args),
        "URL_DECODE" => of_texts(Function::Code(Code::UrlDecode), (1, 1), Type::string(), args),
        "ENCODE" | "DECODE" => charset(name, args).map(Some),
        "PARSE_URL" => of_texts(Function::Text(Text::ParseUrl), (2, 3), Type::string(), args),
        "PRINTF" => printf(args).map(Some),
        "ELT" => element(args).map(Some),
        "UUID" => {
            args.count(0, 0)?;
            Ok(Some(call(Function::Random(Random::Uuid), Vec::new(), Type::Char(36), false)))
        }
        "RAND" | "RAND_INTEGER" => chance(name, args).map(Some),
        "CURRENT_DATABASE" => {
            args.count(0, 0)?;
            let name = Scalar::String("default_database".to_string());
            Ok(Some(Expr::literal(name, Type::string().not_null())))
        }
        _ => Ok(None),
    }
}

fn is_bytes(kind: &Type) -> bool {
    matches!(kind, Type::Binary(_) | Type::VarBinary(_))
}

fn nullable(expr: Option<Expr>) -> Result<Option<Expr>> {
    Ok(expr.map(|mut expr| {
        if let Expr::Call { data_type, .. } = &mut expr {
            data_type.nullable = true;
        }
        expr
    }))
}

/// Of strings; what does not fit gives NULL.
fn of_texts(function: Function, count: (usize, usize), kind: Type, args: &mut Args) -> Result<Option<Expr>> {
    args.count(count.0, count.1)?;
    let mut all = Vec::new();
    while args.is_left() {
        all.push(args.text()?);
    }
    Ok(Some(call(function, all, kind, true)))
}

fn hex(args: &mut Args) -> Result<Expr> {
    args.count(1, 1)?;
    let arg = args.take();
    let kind = kind_of(&arg).clone();
    if kind.is_integer() {
        return Ok(strict(Function::Code(Code::HexOfNumber), vec![convert(arg, &Type::BigInt)], Type::string()));
    }
    if !kind.is_string() && kind != Type::Null {
        return Err(args.mismatch("an integer or a string", &arg));
    }
    Ok(strict(Function::Code(Code::HexOfText), vec![arg], Type::string()))
}

/// ENCODE(text, charset) and DECODE(bytes, charset).
fn charset(name: &str, args: &mut Args) -> Result<Expr> {
    args.count(2, 2)?;
    if name == "ENCODE" {
        let all = vec![args.text()?, args.text()?];
        return Ok(strict(Function::Code(Code::Encode), all, Type::VarBinary(crate::types::MAX_LENGTH)));
    }
    let bytes = args.take();
    if !is_bytes(kind_of(&bytes)) && *kind_of(&bytes) != Type::Null {
        return Err(args.mismatch("BYTES", &bytes));
    }
    let all = vec![bytes, args.text()?];
    Ok(strict(Function::Code(Code::Decode), all, Type::string()))
}

fn printf(args: &mut Args) -> Result<Expr> {
    args.count(1, usize::MAX)?;
    let mut all = vec![args.text()?];
    while args.is_left() {
        let arg = args.take();
        if kind_of(&arg).is_nested() || is_bytes(kind_of(&arg)) {
            return Err(Error::unsupported(format!("PRINTF of {}", kind_of(&arg))).help("CAST it to STRING"));
        }
        all.push(arg);
    }
    Ok(call(Function::Text(Text::Printf), all, Type::string(), true))
}

/// ELT(n, a, b, …): the n-th of them, from 1; NULL for another n.
fn element(args: &mut Args) -> Result<Expr> {
    args.count(2, usize::MAX)?;
    let index = args.integer(&Type::Int)?;
    if literal::integer_of(&index).is_some_and(|index| index < 0) {
        return Err(Error::script("ELT counts from 1; its index must not be negative"));
    }
    let mut branches = Vec::new();
    while args.is_left() {
        let value = args.take();
        let kind = kind_of(&value);
        if !kind.is_string() && !is_bytes(kind) {
            return Err(args.mismatch("a string or BYTES", &value));
        }
        let number = i64::try_from(branches.len() + 1).unwrap_or(i64::MAX);
        let number = Expr::literal(Scalar::Int(number), Type::Int.not_null());
        branches.push((operators::binary("=", index.clone(), number)?, value));
    }
    operators::case(branches, None)
}

/// RAND() and RAND_INTEGER(bound).
fn chance(name: &str, args: &mut Args) -> Result<Expr> {
    let least = usize::from(name == "RAND_INTEGER");
    args.count(least, least + 1)?;
    if args.given() > least {
        return Err(Error::unsupported(format!("{name} with a seed"))
            .help("its numbers would depend on the order in which rows are computed; leave the seed out"));
    }
    Ok(if least == 0 {
        call(Function::Random(Random::Unit), Vec::new(), Type::Double, false)
    } else {
        let bound = args.integer(&Type::Int)?;
        strict(Function::Random(Random::Below), vec![bound], Type::Int)
    })
}
