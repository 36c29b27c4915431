//! Nested values, there and back. The expected rows are what Flink writes.

use super::JsonOptions;
use crate::error::{Error, Result};
use crate::format::{Failure, FormatSpec, Step};
use crate::types::{Field, Schema, Type};

fn array(element: Type) -> Type {
    Type::Array(Box::new(element.nullable()))
}

fn map(value: Type) -> Type {
    Type::Map(Box::new(Type::string().not_null()), Box::new(value.nullable()))
}

fn row(fields: Vec<(&str, Type)>) -> Type {
    Type::Row(fields.into_iter().map(|(name, kind)| Field::new(name, kind.nullable())).collect())
}

fn schema(fields: Vec<(&str, Type)>) -> Schema {
    Schema::new(fields.into_iter().map(|(name, kind)| Field::new(name, kind.nullable())).collect())
}

/// `id INT, r ROW<a INT, b STRING, c ROW<d DOUBLE, e BYTES>>, arr ARRAY<INT>, m MAP<STRING, INT>`
fn nested() -> Schema {
    let inner = row(vec![("d", Type::Double), ("e", Type::VarBinary(crate::types::MAX_LENGTH))]);
    schema(vec![
        ("id", Type::Int),
        ("r", row(vec![("a", Type::Int), ("b", Type::string()), ("c", inner)])),
        ("arr", array(Type::Int)),
        ("m", map(Type::Int)),
    ])
}

/// The lines as the encoder writes them again, and how many were malformed.
fn again(options: &JsonOptions, schema: &Schema, text: &str) -> Result<(String, u64)> {
    let spec = FormatSpec::Json(options.clone());
    let projection: Vec<usize> = (0..schema.len()).collect();
    let mut decoder = spec.text_decoder(schema, &projection, 100, None)?.expect("a text format");
    let mut encoder = spec.text_encoder(schema).expect("a text format");
    let mut out = Vec::new();
    let mut take = |batch| encoder.encode(&batch, &mut out);
    let bytes = text.as_bytes();
    match decoder.decode(bytes, 0, bytes.len(), true, &mut take) {
        Ok(step) => assert_eq!(step, Step::Done),
        Err(Failure::At(_, error) | Failure::Other(error)) => return Err(error),
    }
    let (_, malformed) = decoder.finish(&mut take)?;
    Ok((String::from_utf8(out).expect("UTF-8"), malformed))
}

fn ignoring() -> JsonOptions {
    JsonOptions { ignore_parse_errors: true, ..JsonOptions::default() }
}

fn error(options: &JsonOptions, text: &str) -> Error {
    again(options, &nested(), text).expect_err(text)
}

#[test]
fn nested_values_are_read_and_written_as_by_flink() {
    let text = r#"{"id":1,"r":{"a":1,"b":"x","c":{"d":1.5,"e":"aGVsbG8="}},"arr":[1,2,null],"m":{"k":1,"l":null}}
{"id":2,"r":null,"arr":null,"m":null}
{"id":3}
{"id":4,"r":{},"arr":[],"m":{}}
{"id":5,"r":{"b":{"x":[1, 2.50,"q",null,true]},"a":"7","a":"8"},"arr":["3",4.9],"m":{"k":1,"k":2,"K":3}}
{"id":6,"r":{"c":{"e":"","d":"1e3"},"zz":[{"c":1}],"b":true}}
"#;
    let expected = r#"{"id":1,"r":{"a":1,"b":"x","c":{"d":1.5,"e":"aGVsbG8="}},"arr":[1,2,null],"m":{"k":1,"l":null}}
{"id":2,"r":null,"arr":null,"m":null}
{"id":3,"r":null,"arr":null,"m":null}
{"id":4,"r":{"a":null,"b":null,"c":null},"arr":[],"m":{}}
{"id":5,"r":{"a":8,"b":"{\"x\":[1,2.5,\"q\",null,true]}","c":null},"arr":[3,4],"m":{"k":2,"K":3}}
{"id":6,"r":{"a":null,"b":"true","c":{"d":1000.0,"e":""}},"arr":null,"m":null}
"#;
    assert_eq!(again(&JsonOptions::default(), &nested(), text).unwrap(), (expected.to_string(), 0));
    let omitting = JsonOptions { omit_nulls: true, ..JsonOptions::default() };
    let first = "{\"id\":4,\"r\":{},\"arr\":[],\"m\":{}}\n".to_string();
    let fourth = text.lines().nth(3).expect("a line");
    assert_eq!(again(&omitting, &nested(), fourth).unwrap().0, first);
}

#[test]
fn every_type_may_be_nested() {
    let fields = row(vec![
        ("a", Type::TinyInt),
        ("b", Type::SmallInt),
        ("c", Type::BigInt),
        ("d", Type::Float),
        ("e", Type::Decimal(6, 2)),
        ("f", Type::Date),
        ("g", Type::Time(3)),
        ("h", Type::Timestamp(9)),
        ("i", Type::TimestampLtz(3)),
        ("j", Type::Boolean),
        ("k", Type::Char(3)),
        ("l", Type::VarBinary(2)),
        ("m", Type::Binary(3)),
        ("n", array(array(row(vec![("x", Type::Int), ("m", map(array(Type::string())))])))),
    ]);
    let text = r#"{"r":{"a":-128,"b":"3","c":1e3,"d":1.1,"e":1.005,"f":"2024-01-02","g":"10:11:12.345","h":"2024-01-02 03:04:05.123456789","i":"2024-01-02 03:04:05Z","j":"TRUE","k":"abcd","l":"aGVsbG8=","m":"YQ==","n":[[{"x":1,"m":{"k":["p",null]}},null],[],null]}}
"#;
    let expected =
        text.replace("\"3\"", "3").replace("1e3", "1000").replace("1.005", "1.01").replace("\"TRUE\"", "true");
    assert_eq!(again(&JsonOptions::default(), &schema(vec![("r", fields)]), text).unwrap().0, expected);
}

#[test]
fn a_wrong_value_inside_is_null_where_errors_are_ignored() {
    // Behind a container that does not fit, Flink goes on inside of it.
    for (line, expected) in [
        (r#"{"id":1,"r":5,"arr":[1],"m":{"k":1}}"#, r#"{"id":1,"r":null,"arr":[1],"m":{"k":1}}"#),
        (r#"{"id":2,"r":"x","arr":5,"m":5}"#, r#"{"id":2,"r":null,"arr":null,"m":null}"#),
        (r#"{"id":3,"r":[1,2],"arr":{"x":1},"m":[1,2]}"#, ""),
        (
            r#"{"id":4,"r":{"a":"x","b":"y","c":5},"arr":[1,"x",3],"m":{"k":"x","l":2}}"#,
            r#"{"id":4,"r":{"a":null,"b":"y","c":null},"arr":[1,null,3],"m":{"k":null,"l":2}}"#,
        ),
        (
            r#"{"id":5,"r":{"a":{"q":1},"b":"y"},"arr":[1,[2,3],4],"m":{"k":{"z":1},"l":2}}"#,
            r#"{"id":5,"r":{"a":null,"b":null,"c":null},"arr":null,"m":null}"#,
        ),
        (r#"{"id":6,"r":{"a":[1],"b":"y"},"arr":[{"a":1},2],"m":{"k":[1,2],"l":2}}"#, ""),
        (
            r#"{"id":7,"r":{"b":"y","c":{"d":[1],"e":"!!"}},"arr":[true,2],"m":{"k":true}}"#,
            r#"{"id":7,"r":{"a":null,"b":"y","c":{"d":null,"e":null}},"arr":[null,2],"m":{"k":null}}"#,
        ),
        (
            r#"{"id":8,"r":{"b":"y","c":{"d":2,"e":5}},"arr":[1.5],"m":{"k":1.5}}"#,
            r#"{"id":8,"r":{"a":null,"b":"y","c":{"d":2.0,"e":null}},"arr":[1],"m":{"k":1}}"#,
        ),
        (
            r#"{"id":9,"r":{"c":{"e":"aGVsbG8"}}}"#,
            r#"{"id":9,"r":{"a":null,"b":null,"c":{"d":null,"e":null}},"arr":null,"m":null}"#,
        ),
        // Jackson looks for the end of this text behind it.
        (r#"{"id":13,"r":{"c":{"e":"a"}}}"#, ""),
    ] {
        let after = r#"{"id":99,"r":null,"arr":null,"m":null}"#;
        let text = format!("{line}\n{{\"id\":99}}\n");
        let expected = if expected.is_empty() { format!("{after}\n") } else { format!("{expected}\n{after}\n") };
        let malformed = u64::from(expected.lines().count() == 1);
        assert_eq!(again(&ignoring(), &nested(), &text).unwrap(), (expected, malformed), "{line}");
    }
}

#[test]
fn a_broken_line_leaves_nothing_behind() {
    let text = r#"{"id":1,"r":{"a":1,"b":"x"
{"id":2,"arr":[1],"m":{"a":1,"a":2}}
{"id":3,"arr":[1,2}
{"id":4,"m":{"a":1,"a":2,"b"]}
{"id":5,"arr":[1,,2]}
{"id":6,"r":{"a":tru}}
{"id":7,"m":{"x":5}}
"#;
    let expected = r#"{"id":2,"r":null,"arr":[1],"m":{"a":2}}
{"id":7,"r":null,"arr":null,"m":{"x":5}}
"#;
    assert_eq!(again(&ignoring(), &nested(), text).unwrap(), (expected.to_string(), 5));
}

#[test]
fn an_error_names_the_path_of_the_value() {
    let options = JsonOptions::default();
    for (line, message) in [
        (r#"{"r":{"c":{"d":"x"}}}"#, "column `r.c.d`: 'x' is not a DOUBLE"),
        (r#"{"arr":[1,"x"]}"#, "column `arr[2]`: 'x' is not an INT"),
        (r#"{"m":{"k":[]}}"#, "column `m['k']`: '[' is not an INT"),
        (
            r#"{"r":5}"#,
            "column `r`: '5' is not a JSON object for ROW<`a` INT, `b` STRING, `c` ROW<`d` DOUBLE, `e` BYTES>>",
        ),
        (r#"{"arr":{}}"#, "column `arr`: '{' is not a JSON array for ARRAY<INT>"),
        (r#"{"r":{"c":{"e":"!"}}}"#, "column `r.c.e`: '!' is not base 64 for BYTES"),
    ] {
        assert_eq!(error(&options, line).message(), message);
    }
}

#[test]
fn a_field_that_is_absent_inside_fails_where_that_is_wanted() {
    let options = JsonOptions { fail_on_missing_field: true, ..JsonOptions::default() };
    let missing = |line| error(&options, line).message().to_string();
    assert_eq!(missing(r#"{"id":1,"r":{"a":1,"b":"x"},"arr":[],"m":{}}"#), "this line has no field 'r.c'");
    assert_eq!(missing(r#"{"id":1,"r":null,"arr":[]}"#), "this line has no field 'm'");
    // A field that comes twice counts twice.
    for line in [r#"{"id":1,"r":{"a":1,"b":"x","a":2},"arr":[],"m":{}}"#, r#"{"id":1,"r":null,"arr":[],"m":{}}"#] {
        assert!(again(&options, &nested(), line).is_ok(), "{line}");
    }
}

#[test]
fn lines_of_one_shape_are_read_alike_whatever_is_nested() {
    let line = |i: usize| {
        format!("{{\"id\":{i},\"r\":{{\"a\":{i},\"b\":\"x\",\"c\":null}},\"arr\":[{i}],\"m\":{{\"k\":{i}}}}}\n")
    };
    let text: String = (0..300).map(line).collect();
    assert_eq!(again(&JsonOptions::default(), &nested(), &text).unwrap(), (text, 0));
}
