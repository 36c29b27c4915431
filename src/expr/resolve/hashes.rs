//! MD5, SHA1, SHA2 and TYPEOF by name.

use std::fmt::Write;

use super::super::eval::{Function, Hash};
use super::functions::Args;
use super::{Expr, kind_of, literal, strict};
use crate::error::{Error, Result};
use crate::expr::Scalar;
use crate::types::{DataType, MAX_LENGTH, Type};

/// The function of that name (upper case), if it is a digest or TYPEOF.
pub(super) fn function(name: &str, args: &mut Args) -> Result<Option<Expr>> {
    let (hash, length) = match name {
        "MD5" => (Hash::Md5, 32),
        "SHA1" => (Hash::Sha1, 40),
        "SHA224" => (Hash::Sha224, 56),
        "SHA256" => (Hash::Sha256, 64),
        "SHA384" => (Hash::Sha384, 96),
        "SHA512" => (Hash::Sha512, 128),
        "SHA2" => (Hash::Sha2, 128),
        "TYPEOF" => return type_of(args).map(Some),
        _ => return Ok(None),
    };
    let arguments = if hash == Hash::Sha2 { 2 } else { 1 };
    args.count(arguments, arguments)?;
    let input = args.take();
    let kind = kind_of(&input);
    if !kind.is_string() && !matches!(kind, Type::Null | Type::Binary(_) | Type::VarBinary(_)) {
        return Err(args.mismatch("a string or BYTES", &input).help("CAST it to STRING"));
    }
    if hash != Hash::Sha2 {
        return Ok(Some(strict(Function::Hash(hash), vec![input], Type::Char(length))));
    }
    let bits = args.integer(&Type::Int)?;
    if let Some(bits) = literal::integer_of(&bits) {
        let known = i32::try_from(bits).ok().and_then(|bits| Hash::of_bits(bits).ok());
        known.ok_or_else(|| {
            Error::script(format!("there is no SHA2 of {bits} bits")).help("take 224, 256, 384 or 512")
        })?;
    }
    Ok(Some(strict(Function::Hash(hash), vec![input, bits], Type::VarChar(length))))
}

/// `TYPEOF(value[, serializable])`: the type's text; `serializable` spells out STRING and BYTES.
fn type_of(args: &mut Args) -> Result<Expr> {
    args.count(1, 2)?;
    let value = args.take();
    let long = if args.is_left() { args.take() } else { literal::literal_bool(false) };
    let Expr::Literal { value: Scalar::Boolean(long), .. } = long else {
        return Err(args.mismatch("TRUE or FALSE", &long));
    };
    let mut text = String::new();
    spell(value.data_type(), long, &mut text);
    Ok(Expr::literal(Scalar::String(text), Type::string().nullable()))
}

fn spell(data_type: &DataType, long: bool, text: &mut String) {
    match &data_type.kind {
        Type::VarChar(MAX_LENGTH) if long => text.push_str("VARCHAR(2147483647)"),
        Type::VarBinary(MAX_LENGTH) if long => text.push_str("VARBINARY(2147483647)"),
        Type::TimestampLtz(digits) if long => {
            let _ = write!(text, "TIMESTAMP({digits}) WITH LOCAL TIME ZONE");
        }
        Type::IntervalDaySecond => text.push_str("INTERVAL SECOND(3)"),
        Type::IntervalYearMonth => text.push_str("INTERVAL MONTH"),
        Type::Array(element) => {
            text.push_str("ARRAY<");
            spell(element, long, text);
            text.push('>');
        }
        Type::Multiset(element) => {
            text.push_str("MULTISET<");
            spell(element, long, text);
            text.push('>');
        }
        Type::Map(key, value) => {
            text.push_str("MAP<");
            spell(key, long, text);
            text.push_str(", ");
            spell(value, long, text);
            text.push('>');
        }
        Type::Row(fields) => {
            text.push_str("ROW<");
            for (i, field) in fields.iter().enumerate() {
                let _ = write!(text, "{}`{}` ", if i > 0 { ", " } else { "" }, field.name);
                spell(&field.data_type, long, text);
            }
            text.push('>');
        }
        kind => {
            let _ = write!(text, "{kind}");
        }
    }
    if !data_type.nullable {
        text.push_str(" NOT NULL");
    }
}
