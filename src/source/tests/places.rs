//! Errors name the file, the line, the column and what to do.

use super::{read_in_all_ways, scan, schema, spec};
use crate::error::{Error, ErrorKind};
use crate::random::Random;
use crate::source::open;
use crate::types::Type;

fn failure(text: &[u8], options: &[(&str, &str)], columns: &[(&str, Type)]) -> Error {
    let projection: Vec<usize> = (0..columns.len()).collect();
    read_in_all_ways(text, options, columns, &projection).expect_err("must fail")
}

fn check(error: &Error, line: u64, column: u64, message: &str, remedy: &str) {
    assert_eq!(error.kind(), ErrorKind::Data);
    let place = error.place().expect("a place");
    assert!(place.file.ends_with("data.txt"), "{place:?}");
    assert_eq!((place.line, place.column), (line, column), "{error}");
    assert!(error.message().contains(message), "{error}");
    assert!(error.remedy().unwrap_or_default().contains(remedy), "{:?}", error.remedy());
}

const CSV: &[(&str, &str)] = &[("format", "csv")];
const JSON: &[(&str, &str)] = &[("format", "json")];

#[test]
fn wrong_csv_is_reported_where_it_stands() {
    let columns = [("k", Type::string()), ("v", Type::Int)];
    check(&failure(b"a,1\nb\xC3\xA9,x\n", CSV, &columns), 2, 4, "column `v`: 'x' is not an INT", "ignore-parse-errors");
    check(&failure(b"\"a\nb\",1\n\"c\",\n", CSV, &columns), 3, 5, "column `v`: '' is not", "csv.null-literal");
    check(&failure(b"a,1\r\nb,2\r\nc\r\n", CSV, &columns), 3, 1, "2 columns, but this record has 1 field", "complete");
    check(&failure(b"a,1\n\nb,2\n", CSV, &columns), 2, 1, "has 1 field", "complete");
    check(&failure(b"a,1,2\n", CSV, &columns), 1, 5, "has more", "add the missing columns");
    check(&failure(b"a,1\n\"b\"c,2\n", CSV, &columns), 2, 4, "behind a closing quote", "double each quote");
    check(&failure(b"a,1\n\"b,2\n", CSV, &columns), 2, 1, "no closing quote", "close the quote");
    check(&failure(b"a,1\nb\xFF,2\n", CSV, &columns), 2, 2, "not UTF-8", "convert");
    let ignoring = [CSV[0], ("csv.ignore-parse-errors", "true")];
    check(&failure(b"a,1\nb\xFF,2\n", &ignoring, &columns), 2, 2, "not UTF-8", "convert");
    check(
        &failure(b"+300000-01-01 00:00:00\n", CSV, &[("t", Type::Timestamp(6))]),
        1,
        1,
        "out of the range",
        "9 fractional digits",
    );
}

#[test]
fn wrong_json_is_reported_where_it_stands() {
    let columns = [("k", Type::string()), ("v", Type::Int)];
    let good = "{\"k\":\"a\",\"v\":1}\n";
    let after = |line: &str| failure(format!("{good}{good}{line}\n").as_bytes(), JSON, &columns);
    check(&after("{\"k\":\"b\",\"v\":\"x\"}"), 3, 14, "column `v`: 'x' is not an INT", "json.ignore-parse-errors");
    check(&after("not json"), 3, 1, "not a JSON object", "skip such lines");
    check(&after("{\"k\":\"b\",\"v\":1"), 3, 15, "the line ends inside", "skip such lines");
    check(&after("  "), 3, 3, "expected '{'", "skip such lines");
    check(&after("{\"k\":\"b\" \"v\":1}"), 3, 10, "expected ',' or '}'", "skip such lines");
    let strict = [JSON[0], ("json.fail-on-missing-field", "true")];
    let missing = failure(format!("{good}{{\"k\":\"b\"}}\n").as_bytes(), &strict, &columns);
    check(&missing, 2, 1, "no field 'v'", "json.fail-on-missing-field");
    check(&failure(b"{\"k\":\"\xFF\",\"v\":1}\n", JSON, &columns), 1, 7, "not UTF-8", "convert");
}

#[test]
fn a_header_is_recognised_in_line_1_only_and_by_its_names() {
    let columns = [("ts", Type::Timestamp(3)), ("k", Type::string()), ("v", Type::Int)];
    let remedy = "line 1 looks like a header: set 'csv.header' = 'true' to read it as one";
    for header in ["TS,K,V", "\"time\",\"key\",\"value\"", "event time,key,v", "\u{FEFF}ts,k,v"] {
        let error = failure(format!("{header}\n2024-05-01 00:00:00,a,1\n").as_bytes(), CSV, &columns);
        check(&error, 1, 1, "is not a TIMESTAMP(3)", "");
        assert_eq!(error.remedy(), Some(remedy), "{header}");
    }
    let good = "2024-05-01 00:00:00,a,1\n";
    for (text, line) in [
        (format!("{good}ts,k,v\n"), 2),
        ("2024-05-01 00:00:00,a,x\n".to_string(), 1),
        ("2024-05-01,a,1\n".to_string(), 1),
    ] {
        let error = failure(text.as_bytes(), CSV, &columns);
        assert_eq!(error.place().map(|place| place.line), Some(line));
        assert!(!error.remedy().unwrap().contains("header"), "{text}: {:?}", error.remedy());
    }
    for text in ["null,a\n", "NaN,a\n"] {
        let error = failure(text.as_bytes(), CSV, &[("v", Type::Int), ("k", Type::string())]);
        check(&error, 1, 1, "is not an INT", "ignore-parse-errors");
    }
}

#[test]
fn a_time_of_another_form_is_reported_with_the_advice_that_reads_it() {
    let columns = [("v", Type::Int), ("ts", Type::Timestamp(3))];
    let replace = "rt AS TO_TIMESTAMP(REPLACE(REPLACE(ts, 'T', ' '), 'Z', ''))";
    check(&failure(b"1,2024-05-01T12:00:01Z\n", CSV, &columns), 1, 3, "is not a TIMESTAMP(3)", replace);
    let epoch = "declare it BIGINT and add rt AS TO_TIMESTAMP_LTZ(ts, 3)";
    check(&failure(b"1,1714564801000\n", CSV, &columns), 1, 3, "'1714564801000' is not a TIMESTAMP(3)", epoch);
    check(&failure(b"{\"ts\":1714564801000}\n", JSON, &columns), 1, 7, "is not a TIMESTAMP(3)", epoch);
    let iso = "set 'json.timestamp-format.standard' = 'ISO-8601'";
    check(&failure(b"{\"ts\":\"2024-05-01T12:00:01\"}\n", JSON, &columns), 1, 7, "is not a TIMESTAMP(3)", iso);
}

#[test]
fn a_json_document_over_several_lines_is_told_how_to_become_one_object_a_line() {
    let columns = [("v", Type::Int)];
    let array = "one object a line is wanted: jq -c '.[]' FILE";
    check(&failure(b"[\n{\"v\":1},\n{\"v\":2}]\n", JSON, &columns), 1, 2, "not a JSON object", array);
    check(&failure(b"[{\"v\":1},\n{\"v\":2}]\n", JSON, &columns), 1, 10, "not a JSON object", array);
    let object = "one object a line is wanted: jq -c . FILE";
    check(&failure(b"{\n\"v\":1\n}\n", JSON, &columns), 1, 2, "not a JSON object", object);
    check(&failure(b"{\"v\":1}\n[\n", JSON, &columns), 2, 2, "not a JSON object", "skip such lines");
}

#[test]
fn a_broken_utf8_line_of_json_can_be_skipped() {
    let options = [JSON[0], ("json.ignore-parse-errors", "true")];
    let text = b"{\"k\":\"a\"}\n{\"k\":\"\xFF\"}\n{\"k\":\"c\"}\n{\"k\":\"d\"}\xFF\n{\"k\":\"e\"}\n";
    let (rows, malformed) = read_in_all_ways(text, &options, &[("k", Type::string())], &[0]).expect("rows");
    assert_eq!(rows, [r#"{"k":"a"}"#, r#"{"k":"c"}"#, r#"{"k":"d"}"#, r#"{"k":"e"}"#]);
    assert_eq!(malformed, 1);
}

#[test]
fn wrong_options_are_reported_with_a_remedy() {
    let columns = schema(&[("k", Type::string())]);
    let fails = |options: &[(&str, &str)]| spec(options, &columns).expect_err("must fail");
    let error = fails(&[("format", "cvs")]);
    assert_eq!((error.kind(), error.remedy()), (ErrorKind::Script, Some("did you mean 'csv'?")));
    assert_eq!(error.place().map(|place| place.line), Some(3));
    assert_eq!(fails(&[("format", "avro-confluent")]).kind(), ErrorKind::Unsupported);
    assert_eq!(fails(&[("format", "canal-json")]).kind(), ErrorKind::Unsupported);
    assert!(fails(&[("format", "csv"), ("csv.field-delimiter", ";;")]).message().contains("a single character"));
    assert!(fails(&[("format", "csv"), ("csv.feld-delimiter", ";")]).remedy().unwrap().contains("csv.field-delimiter"));
    assert!(
        fails(&[("format", "json"), ("json.timestamp-format.standard", "ISO8601")])
            .remedy()
            .unwrap()
            .contains("ISO-8601")
    );
    for (kind, message) in [
        (map(Type::string()), "cannot hold the type MAP<STRING NOT NULL, INT>"),
        (Type::Array(Box::new(Type::Array(Box::new(Type::Int.nullable())).nullable())), "one level deep only"),
    ] {
        let error = spec(&[("format", "csv")], &schema(&[("m", kind)])).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Script);
        assert!(error.message().contains(message), "{error:?}");
    }
    let error = spec(&[("format", "json")], &schema(&[("m", map(Type::Int))])).unwrap_err();
    assert!(error.message().contains("only texts as keys of a MAP"), "{error:?}");
}

fn map(key: Type) -> Type {
    Type::Map(Box::new(key.not_null()), Box::new(Type::Int.nullable()))
}

#[test]
fn paths_are_files_folders_or_patterns() {
    let folder = tempfile::tempdir().expect("a folder");
    let inner = folder.path().join("b");
    std::fs::create_dir(&inner).expect("made");
    for (name, text) in [("a.csv", "1\n"), ("b/c.csv", "2\n"), ("b/_done", "x\n"), (".hidden", "x\n"), ("d.csv", "")] {
        std::fs::write(folder.path().join(name), text).expect("written");
    }
    let columns = schema(&[("a", Type::Int)]);
    let format = spec(CSV, &columns).expect("format");
    let rows = |path: &str| {
        let scan = scan(std::path::Path::new(path), &format, &columns, &[0]);
        super::read(&scan, 4, 10).map(|(rows, _)| rows.len())
    };
    let base = folder.path().display().to_string();
    assert_eq!(rows(&base).expect("folder"), 2);
    assert_eq!(rows(&format!("file://{base}")).expect("folder"), 2);
    assert_eq!(rows(&format!("{base}/*.csv")).expect("pattern"), 1);
    assert_eq!(rows(&format!("{base}/*/*.csv")).expect("pattern"), 1);
    assert_eq!(rows(&format!("{base}/d.csv")).expect("empty"), 0);
    for missing in ["nothing.csv", "*.txt"] {
        let error = rows(&format!("{base}/{missing}")).expect_err("missing");
        assert_eq!(error.kind(), ErrorKind::Io);
        assert!(error.message().contains(missing) && error.remedy().is_some(), "{error}");
    }
    assert_eq!(rows("hdfs://host/x.csv").expect_err("scheme").kind(), ErrorKind::Unsupported);
    let scan = scan(&folder.path().join("a.csv"), &format, &columns, &[0]);
    assert_eq!(open(&scan, 10).expect("open").len(), 1);
}

#[test]
fn byte_soup_never_panics() {
    let columns = [("a", Type::string()), ("b", Type::Int), ("c", Type::Timestamp(3)), ("d", Type::Decimal(5, 2))];
    let mut random = Random::new(0);
    let pieces: &[&[u8]] = &[
        b",",
        b"\"",
        b"\n",
        b"\r",
        b"{",
        b"}",
        b"\"a\":",
        b"1",
        b"-",
        b".",
        b"e",
        b":",
        b"\\",
        b"\\u12",
        b"[",
        b"]",
        b"null",
        b"2024-01-01 00:00:00",
        b"\xFF",
        b"\xC3",
        b"\xEF\xBB\xBF",
        b"\0",
        b"#",
        b" ",
        b"{\"a\":\"x\",\"b\":1}\n",
        b"x,1,,\n",
    ];
    for _ in 0..300 {
        let mut text = Vec::new();
        for _ in 0..random.below(40) {
            text.extend_from_slice(pieces[(random.below(pieces.len() as u64)) as usize]);
        }
        for options in [CSV, JSON] {
            let _ = read_in_all_ways(&text, options, &columns, &[0, 1, 2, 3]);
        }
        let _ = read_in_all_ways(&text, &[JSON[0], ("json.ignore-parse-errors", "true")], &columns, &[1, 3]);
    }
}
