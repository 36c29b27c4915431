//! The format `raw`: what Flink makes of the lines of a file.

use super::{read_in_all_ways, schema, spec};
use crate::types::{MAX_LENGTH, Type};

fn raw(kind: Type, extra: &[(&str, &str)], text: &[u8]) -> Result<String, String> {
    let mut options = vec![("format", "raw")];
    options.extend_from_slice(extra);
    let (rows, _) =
        read_in_all_ways(text, &options, &[("c", kind)], &[0]).map_err(|error| error.message().to_string())?;
    Ok(rows.iter().map(|row| &row[5..row.len() - 1]).collect::<Vec<_>>().join(" "))
}

#[test]
fn a_line_is_a_text_in_the_charset() {
    assert_eq!(raw(Type::string(), &[], b"a\r\nb, \"x\"\r\n\r\nc\rd\n  ").unwrap(), r#""a" "b, \"x\"" "" "c\rd" "  ""#);
    assert_eq!(raw(Type::string(), &[], b"\xEF\xBB\xBFa\n").unwrap(), "\"\u{FEFF}a\"");
    assert_eq!(raw(Type::string(), &[], b"caf\xE9\n").unwrap(), "\"caf\u{FFFD}\"");
    for (charset, text, expected) in [
        ("ISO-8859-1", b"caf\xE9\nb\n".as_slice(), "\"café\" \"b\""),
        ("us-ascii", b"a\xE9\n", "\"a\u{FFFD}\""),
        ("UTF-16LE", b"a\0b\0\n\0", "\"ab\" \"\u{FFFD}\""),
        ("UTF-16", b"\xFF\xFEa\0\n\0a\n", "\"a\" \"a\""),
    ] {
        assert_eq!(raw(Type::string(), &[("raw.charset", charset)], text).unwrap(), expected, "{charset}");
    }
}

#[test]
fn a_line_is_a_number_in_binary() {
    let little = [("raw.endianness", "little-endian")];
    for (kind, extra, text, expected) in [
        (Type::Int, [].as_slice(), b"\0\0\x01\x02\n\0\0\0\x05\n".as_slice(), "258 5"),
        (Type::Int, &little, b"\x01\x02\0\0\n", "513"),
        (Type::TinyInt, &[], b"A\nB\n", "65 66"),
        (Type::SmallInt, &[], b"AB\n", "16706"),
        (Type::BigInt, &[], b"ABCDEFGH\n", "4702394921427289928"),
        (Type::BigInt, &little, b"ABCDEFGH\n", "5208208757389214273"),
        (Type::Float, &[], b"@I\x0f\xdb\n", "3.1415927"),
        (Type::Double, &little, b"\x18-DT\xfb!\t@\n", "3.141592653589793"),
        (Type::Boolean, &[], b"\0\n\x01\nt\n", "false true true"),
        (Type::VarBinary(MAX_LENGTH), &[], b"hello\n\xff\0\n\n", r#""aGVsbG8=" "/wA=" """#),
    ] {
        assert_eq!(raw(kind.clone(), extra, text).unwrap(), expected, "{kind}");
    }
    assert_eq!(raw(Type::Int, &[], b"12345\n").unwrap_err(), "column `c`: this line has 5 bytes, but INT has 4 bytes");
    assert_eq!(
        raw(Type::TinyInt, &[], b"\n").unwrap_err(),
        "column `c`: this line has 0 bytes, but TINYINT has 1 byte"
    );
}

#[test]
fn what_raw_cannot_hold_is_refused() {
    let refused = |options: &[(&str, &str)], columns: &[(&str, Type)]| {
        spec(&[&[("format", "raw")], options].concat(), &schema(columns)).unwrap_err().message().to_string()
    };
    let text = ("a", Type::string());
    assert!(
        refused(&[], &[text.clone(), ("b", Type::Int)]).ends_with("is for a table of one column, but table `t` has 2")
    );
    assert!(refused(&[], &[("t", Type::Timestamp(3))]).ends_with("cannot hold the type TIMESTAMP(3)"));
    assert!(refused(&[("raw.charset", "nope")], std::slice::from_ref(&text)).contains("UTF-16LE"));
    assert!(refused(&[("raw.endianness", "middle")], &[text]).contains("'little-endian'"));
}
