//! The options of CSV and what its fields may hold besides plain values. The expected rows are Flink's.

use super::{read_in_all_ways, schema, spec};
use crate::error::ErrorKind;
use crate::types::{Field, MAX_LENGTH, Type};

fn array(element: Type) -> Type {
    Type::Array(Box::new(element.nullable()))
}

fn csv(text: &str, columns: &[(&str, Type)], extra: &[(&str, &str)]) -> Result<Vec<String>, String> {
    let mut options = vec![("format", "csv")];
    options.extend_from_slice(extra);
    let projection: Vec<usize> = (0..columns.len()).collect();
    read_in_all_ways(text.as_bytes(), &options, columns, &projection)
        .map(|(rows, _)| rows)
        .map_err(|error| error.message().to_string())
}

fn arrays() -> [(&'static str, Type); 2] {
    [("a", array(Type::Int)), ("s", array(Type::string()))]
}

const IGNORE: (&str, &str) = ("csv.ignore-parse-errors", "true");

#[test]
fn arrays_stand_in_one_field() {
    for (line, expected) in [
        ("1;2;3,x;y", r#"{"a":[1,2,3],"s":["x","y"]}"#),
        (",", r#"{"a":[],"s":[]}"#),
        ("1,x", r#"{"a":[1],"s":["x"]}"#),
        ("\"1;2\",\"x;y\"", r#"{"a":[1,2],"s":["x","y"]}"#),
        (" 1 ; 2 , x ; y ", r#"{"a":[1,2],"s":[" x "," y "]}"#),
    ] {
        assert_eq!(csv(line, &arrays(), &[]).unwrap(), [expected], "{line}");
    }
    for (line, ignored, message) in [
        ("1;;3,x;;z", r#"{"a":[1,null,3],"s":["x","","z"]}"#, "column `a[2]`: '' is not an INT"),
        ("1;x;3,;", r#"{"a":[1,null,3],"s":["",""]}"#, "column `a[2]`: 'x' is not an INT"),
        (";,;", r#"{"a":[null,null],"s":["",""]}"#, "column `a[1]`: '' is not an INT"),
        (
            "\"1;\"\"2\"\"\",\"a\"\"b;c\"",
            r#"{"a":[1,null],"s":["a\"b","c"]}"#,
            "column `a[2]`: '\\\"2\\\"' is not an INT",
        ),
        ("1;2;,x;y;", r#"{"a":[1,2,null],"s":["x","y",""]}"#, "column `a[3]`: '' is not an INT"),
    ] {
        assert_eq!(csv(line, &arrays(), &[IGNORE]).unwrap(), [ignored], "{line}");
        assert_eq!(csv(line, &arrays(), &[]).unwrap_err(), message, "{line}");
    }
    let literal = csv("NULL,NULL\n1;NULL,x;NULL\n,\n", &arrays(), &[("csv.null-literal", "NULL")]).unwrap();
    let expected = [r#"{"a":[null],"s":[null]}"#, r#"{"a":[1,null],"s":["x",null]}"#, r#"{"a":[],"s":[]}"#];
    assert_eq!(literal, expected);
    let empty = csv(",\n1;,x;\n", &arrays(), &[("csv.null-literal", "")]).unwrap();
    assert_eq!(empty, [expected[2], expected[1]]);
    let delimited = csv("1|2,x|y;z\n", &arrays(), &[("csv.array-element-delimiter", "|")]).unwrap();
    assert_eq!(delimited, [r#"{"a":[1,2],"s":["x","y;z"]}"#]);
    let wide = csv("1→2,x→y→\n", &arrays(), &[("csv.array-element-delimiter", "→")]).unwrap();
    assert_eq!(wide, [r#"{"a":[1,2],"s":["x","y",""]}"#]);
}

#[test]
fn elements_are_read_as_fields_of_their_type() {
    let columns = [
        ("a", array(Type::Boolean)),
        ("b", array(Type::Double)),
        ("c", array(Type::Decimal(6, 2))),
        ("d", array(Type::Date)),
        ("e", array(Type::Timestamp(3))),
        ("f", array(Type::VarBinary(MAX_LENGTH))),
        ("g", array(Type::Time(3))),
        ("h", array(Type::BigInt)),
    ];
    let text = "true;x;,1.5;2,1.005;2,2024-01-01;2024-1-2,2024-01-01 00:00:00;2024-01-02 00:00:00.5,aGVsbG8=;,10:11:12.345,1;2\n";
    let expected = r#"{"a":[true,false,null],"b":[1.5,2.0],"c":[1.01,2],"d":["2024-01-01","2024-01-02"],"e":["2024-01-01 00:00:00","2024-01-02 00:00:00.5"],"f":["aGVsbG8=",null],"g":["10:11:12.345"],"h":[1,2]}"#;
    assert_eq!(csv(text, &columns, &[("csv.null-literal", "")]).unwrap(), [expected]);
    // Blanks around a DECIMAL are wrong, as outside of arrays.
    assert_eq!(csv("1.5;2 \n", &columns[2..3], &[]).unwrap_err(), "column `c[2]`: '2 ' is not a DECIMAL(6, 2)");
}

#[test]
fn a_row_stands_in_one_field() {
    let fields = vec![Field::new("x", Type::Int.nullable()), Field::new("y", Type::string().nullable())];
    let columns = [("id", Type::Int), ("r", Type::Row(fields))];
    for (line, expected) in [
        ("1,1;a", r#"{"id":1,"r":{"x":1,"y":"a"}}"#),
        ("3,1;a;b", r#"{"id":3,"r":{"x":1,"y":"a"}}"#),
        ("4,", r#"{"id":4,"r":null}"#),
        ("7,\"1;a\"", r#"{"id":7,"r":{"x":1,"y":"a"}}"#),
        ("8, 1 ; a ", r#"{"id":8,"r":{"x":1,"y":" a "}}"#),
        ("9,1;", r#"{"id":9,"r":{"x":1,"y":""}}"#),
    ] {
        assert_eq!(csv(line, &columns, &[]).unwrap(), [expected], "{line}");
        assert_eq!(csv(line, &columns, &[IGNORE]).unwrap(), [expected], "{line}");
    }
    for (line, ignored, message) in [
        ("2,1", r#"{"id":2,"r":{"x":1,"y":null}}"#, "has 1 part between ';', but ROW<`x` INT, `y` STRING> wants 2"),
        ("5,;", r#"{"id":5,"r":{"x":null,"y":""}}"#, "column `r.x`: '' is not an INT"),
        ("6,x;a", r#"{"id":6,"r":{"x":null,"y":"a"}}"#, "column `r.x`: 'x' is not an INT"),
    ] {
        assert_eq!(csv(line, &columns, &[IGNORE]).unwrap(), [ignored], "{line}");
        let error = csv(line, &columns, &[]).unwrap_err();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn bytes_are_base_64() {
    let columns = [("b", Type::VarBinary(MAX_LENGTH))];
    let rows = csv("aGVsbG8=\n\n\" aGVsbG8= \"\n", &columns, &[]).unwrap();
    assert_eq!(rows, [r#"{"b":"aGVsbG8="}"#, r#"{"b":""}"#, r#"{"b":"aGVsbG8="}"#]);
    let rows = csv("aGVsbG8\na\nYQ==YQ==\naGVs bG8=\n!!\n", &columns, &[IGNORE]).unwrap();
    let null = r#"{"b":null}"#;
    assert_eq!(rows, [null, null, r#"{"b":"YWE="}"#, r#"{"b":"aGVsbG8="}"#, null]);
    assert_eq!(csv("aGVsbG8\n", &columns, &[]).unwrap_err(), "column `b`: 'aGVsbG8' is not base 64 for BYTES");
}

fn texts() -> [(&'static str, Type); 3] {
    [("id", Type::Int), ("s", Type::string()), ("t", Type::string())]
}

#[test]
fn characters_of_several_bytes_may_mean_something() {
    for (option, text, expected) in [
        (("csv.field-delimiter", "§"), "1§a§b\n2§\"a§b\"§c\n", [("a", "b"), ("a§b", "c")].as_slice()),
        (("csv.field-delimiter", "→"), "1→a→b\n2→\"a→b\"→c\n", &[("a", "b"), ("a→b", "c")]),
        (
            ("csv.quote-character", "«"),
            "1,«a,b«,c\n2,««,«x««y«\n3,a«b,c«\n",
            &[("a,b", "c"), ("", "x«y"), ("a«b", "c«")],
        ),
        (
            ("csv.escape-character", "¿"),
            "1,a¿,b,c\n2,x¿\"y,c\n3,¿n,¿¿\n",
            &[("a,b", "c"), ("x\\\"y", "c"), ("\\n", "¿")],
        ),
        (("csv.field-delimiter", "\\u00A7"), "1§a§b\n", &[("a", "b")]),
        (("csv.field-delimiter", "\\37"), "1\u{1f}a\u{1f}b\n", &[("a", "b")]),
        (("csv.field-delimiter", "\\t"), "1\ta\tb\n", &[("a", "b")]),
        (("csv.field-delimiter", " "), "1 a b\n2 \"a b\" c\n", &[("a", "b"), ("a b", "c")]),
    ] {
        let rows = csv(text, &texts(), &[option]).unwrap();
        let expected: Vec<_> = expected
            .iter()
            .enumerate()
            .map(|(row, (s, t))| format!(r#"{{"id":{},"s":"{s}","t":"{t}"}}"#, row + 1))
            .collect();
        assert_eq!(rows, expected, "{option:?}");
    }
    for (key, value) in [
        ("csv.field-delimiter", ";;"),
        ("csv.field-delimiter", ""),
        ("csv.field-delimiter", "😀"),
        ("csv.quote-character", "\\t"),
        ("csv.escape-character", "xx"),
        ("csv.array-element-delimiter", "::"),
    ] {
        let error = spec(&[("format", "csv"), (key, value)], &schema(&texts())).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Script);
        assert!(error.message().ends_with("expected a single character"), "{error:?}");
    }
}

#[test]
fn blanks_and_empty_texts_are_taken_as_the_options_say() {
    let trim = ("csv.trim-spaces", "true");
    let empty = ("csv.empty-string-as-null", "true");
    let rows = csv("1 , a , \"b \"\n 2, \"x\" , y\n", &texts(), &[trim]).unwrap();
    assert_eq!(rows, [r#"{"id":1,"s":"a","t":"b "}"#, r#"{"id":2,"s":"x","t":"y"}"#]);
    let columns = [("m", Type::Decimal(4, 2)), ("ts", Type::Timestamp(3)), ("d", Type::Date)];
    let rows = csv(" 1.5 , 2024-01-01 00:00:00 , 2024-01-01 \n", &columns, &[trim]).unwrap();
    assert_eq!(rows, [r#"{"m":1.5,"ts":"2024-01-01 00:00:00","d":"2024-01-01"}"#]);
    let rows = csv("1,,\"\"\n2,a,b\n", &texts(), &[empty]).unwrap();
    assert_eq!(rows, [r#"{"id":1,"s":null,"t":null}"#, r#"{"id":2,"s":"a","t":"b"}"#]);
    let rows = csv("1,  ,\"  \"\n", &texts(), &[empty, trim]).unwrap();
    assert_eq!(rows, [r#"{"id":1,"s":null,"t":"  "}"#]);
    let rows = csv(",\n1;;2,x;;y\n", &arrays(), &[empty]).unwrap();
    assert_eq!(rows, [r#"{"a":[],"s":[]}"#, r#"{"a":[1,null,2],"s":["x",null,"y"]}"#]);
    let columns = [("i", Type::Int), ("d", Type::Double), ("ts", Type::Timestamp(3)), ("b", Type::Boolean)];
    let null = r#"{"i":null,"d":null,"ts":null,"b":null}"#;
    assert_eq!(csv(",,,\n\"\",\"\",\"\",\"\"\n", &columns, &[empty]).unwrap(), [null, null]);
}

#[test]
fn records_of_another_length_are_taken_as_the_options_say() {
    let first = r#"{"id":1,"s":"a","t":"b"}"#;
    let second = r#"{"id":2,"s":"a","t":"b"}"#;
    let trailing = ("csv.ignore-trailing-unmappable", "true");
    assert_eq!(csv("1,a,b,c,\"d\n\"\n2,a,b\n", &texts(), &[trailing]).unwrap(), [first, second]);
    assert_eq!(csv("1,a,b,\n2,a,b, \n", &texts(), &[]).unwrap(), [first, second]);
    let comma = ("csv.allow-trailing-comma", "false");
    let more = "the table has 3 columns, but this record has more";
    assert_eq!(csv("1,a,b,\n", &texts(), &[comma]).unwrap_err(), more);
    assert_eq!(csv("1,a,b,\n2,a,b\n", &texts(), &[comma, IGNORE]).unwrap(), [second]);
    let missing = ("csv.fail-on-missing-columns", "true");
    let fewer = "the table has 3 columns, but this record has 2 fields";
    assert_eq!(csv("1,a\n2,a,b\n", &texts(), &[missing, IGNORE]).unwrap(), [second]);
    for (options, expected) in [(vec![("format", "csv"), missing], Err(fewer)), (vec![("format", "csv")], Ok(1))] {
        let read = read_in_all_ways(b"1,a\n", &options, &texts(), &[0]);
        assert_eq!(
            read.map(|(rows, _)| rows.len()).map_err(|error| error.message().to_string()),
            expected.map_err(str::to_string)
        );
    }
}
