//! CSV with a header, which Flink does not have.

use super::{read_in_all_ways, schema, spec};
use crate::types::Type;

const OPTIONS: &[(&str, &str)] = &[("format", "csv"), ("csv.header", "true")];

fn columns() -> [(&'static str, Type); 3] {
    [("k", Type::string()), ("ts", Type::Timestamp(3)), ("v", Type::Int)]
}

fn rows(text: &str, projection: &[usize]) -> Vec<String> {
    read_in_all_ways(text.as_bytes(), OPTIONS, &columns(), projection).expect(text).0
}

fn error(text: &str, columns: &[(&str, Type)]) -> (String, String) {
    let projection: Vec<usize> = (0..columns.len()).collect();
    let error = read_in_all_ways(text.as_bytes(), OPTIONS, columns, &projection).expect_err(text);
    assert_eq!(error.place().map(|place| place.line), Some(1), "{error:?}");
    (error.message().to_string(), error.remedy().unwrap_or_default().to_string())
}

#[test]
fn fields_are_found_by_their_names() {
    let expected = [
        r#"{"k":"a","ts":"2024-05-01 12:00:00","v":1}"#,
        r#"{"k":"b\nc","ts":"2024-05-01 12:00:01","v":2}"#,
        r#"{"k":"","ts":"2024-05-01 12:00:02","v":3}"#,
    ];
    for text in [
        "k,ts,v\na,2024-05-01 12:00:00,1\n\"b\nc\",2024-05-01 12:00:01,2\n,2024-05-01 12:00:02,3\n",
        "\u{FEFF}v,k,ts\r\n1,a,2024-05-01 12:00:00\r\n2,\"b\nc\",2024-05-01 12:00:01\r\n3,,2024-05-01 12:00:02",
        " V ,other,\"K\",Ts\n1,x,a,2024-05-01 12:00:00\n2,\"y\n\",\"b\nc\",2024-05-01 12:00:01\n3,z,,2024-05-01 12:00:02\n",
    ] {
        assert_eq!(rows(text, &[0, 1, 2]), expected, "{text}");
        assert_eq!(rows(text, &[2]), [r#"{"v":1}"#, r#"{"v":2}"#, r#"{"v":3}"#], "{text}");
    }
    // A field of the very name goes before one that only looks like it.
    assert_eq!(rows("K,k,ts,v\nx,a,2024-05-01 12:00:00,1\n", &[0]), [r#"{"k":"a"}"#]);
}

#[test]
fn a_file_with_nothing_but_a_header_has_no_rows() {
    for text in ["", "k,ts,v", "k,ts,v\n", "\u{FEFF}k,ts,v\r\n"] {
        assert_eq!(rows(text, &[0, 1, 2]), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn a_column_without_a_field_is_an_error_that_lists_the_names() {
    let (message, remedy) = error("key,ts,value\na,2024-05-01 12:00:00,1\n", &columns());
    assert_eq!(message, "the header has no field 'k'; it names 'key', 'ts', 'value'");
    assert!(remedy.contains("name the column as its field"), "{remedy}");
    let (_, remedy) = error("valeu,x\n1,2\n", &[("value", Type::Int)]);
    assert!(remedy.contains("did you mean 'valeu'?"), "{remedy}");
    let (message, _) = error("k,ts,v,k\n", &columns());
    assert_eq!(message, "the header names `k` 2 times");
    let (message, _) = error("ID,Id\n", &[("id", Type::Int)]);
    assert_eq!(message, "column `id` could be the field 'ID' or 'Id' of the header");
    let (message, _) = error("k,\"ts,v\n", &columns());
    assert_eq!(message, "the header cannot be read from here on");
}

#[test]
fn a_record_has_as_many_fields_as_the_header() {
    let read = |text: &str| read_in_all_ways(text.as_bytes(), OPTIONS, &columns(), &[0]).expect_err(text);
    let fewer = read("k,x,ts,v\na,b,2024-05-01 12:00:00\n");
    assert_eq!(fewer.message(), "the header has 4 fields, but this record has 3 fields");
    assert_eq!(fewer.place().map(|place| place.line), Some(2));
    assert_eq!(read("k,ts,v\n1,2,3,4\n").message(), "the header has 3 fields, but this record has more");
}

#[test]
fn the_place_of_a_wrong_value_counts_the_header() {
    let error = read_in_all_ways(b"k,ts,v\na,2024-05-01 12:00:00,x\n", OPTIONS, &columns(), &[0, 1, 2]).unwrap_err();
    assert_eq!(error.place().map(|place| (place.line, place.column)), Some((2, 23)));
    assert_eq!(spec(OPTIONS, &schema(&columns())).map(|spec| spec.has_header()).ok(), Some(true));
}
