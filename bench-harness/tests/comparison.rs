//! The rules by which results are the same: as `datasets/conformance/README.md` states them.

use bench_harness::conformance::case::Columns;
use bench_harness::conformance::compare::{Difference, difference};
use bench_harness::conformance::rows::{Row, canonical, read_sink};
use bench_harness::json::Json;

fn columns(list: &[(&str, &str)]) -> Columns {
    Columns(list.iter().map(|(name, sql_type)| (name.to_string(), sql_type.to_string())).collect())
}

fn rows(columns: &Columns, lines: &[&str]) -> Vec<Row> {
    canonical(lines.iter().map(|line| Json::parse(line).unwrap()).collect(), columns).unwrap()
}

fn compare(columns: &Columns, expected: &[&str], actual: &[&str]) -> Option<Difference> {
    difference(&rows(columns, expected), &rows(columns, actual), columns)
}

fn same(sql_type: &str, expected: &str, actual: &str) -> bool {
    let columns = columns(&[("v", sql_type)]);
    let line = |value: &str| format!("{{\"v\": {value}}}");
    compare(&columns, &[&line(expected)], &[&line(actual)]).is_none()
}

#[test]
fn the_order_of_rows_is_free_but_their_number_is_not() {
    let columns = columns(&[("k", "STRING"), ("n", "BIGINT")]);
    let (a, b) = (r#"{"k": "a", "n": 1}"#, r#"{"n": 2, "k": "b"}"#);
    assert_eq!(compare(&columns, &[a, b, a], &[a, a, b]), None);
    let difference = compare(&columns, &[a, a, b], &[a, b, b]).unwrap();
    assert_eq!((difference.missing.len(), difference.unexpected.len()), (1, 1));
    assert!(compare(&columns, &[a], &[]).is_some());
    assert!(compare(&columns, &[], &[a]).is_some());
}

#[test]
fn exact_numbers_compare_by_value() {
    assert!(same("DECIMAL(10, 2)", "1.50", "1.5"));
    assert!(same("BIGINT", "1000", "1E3"));
    assert!(!same("BIGINT", "9007199254740993", "9007199254740992"));
    assert!(!same("DECIMAL(38, 18)", "0.100000000000000001", "0.100000000000000002"));
    assert!(!same("BIGINT", "1", "\"1\""));
    assert!(!same("BIGINT", "1", "true"));
}

#[test]
fn doubles_and_floats_have_a_tolerance() {
    assert!(same("DOUBLE", "0.30000000000000004", "0.3"));
    assert!(same("DOUBLE", "1e300", "1.0000000001e300"));
    assert!(!same("DOUBLE", "1.0", "1.00000001"));
    assert!(same("DOUBLE", "0", "1e-13"));
    assert!(same("FLOAT", "1.0", "1.000009"));
    assert!(!same("FLOAT", "1.0", "1.00002"));
    assert!(same("ARRAY<DOUBLE>", "[1.0, 2]", "[1.0000000000001, 2.0]"));
    assert!(same("DOUBLE", "\"NaN\"", "\"NaN\""));
}

#[test]
fn rows_alike_within_the_tolerance_are_still_counted() {
    let columns = columns(&[("k", "STRING"), ("v", "DOUBLE")]);
    let (low, high) = (r#"{"k": "a", "v": 1.0}"#, r#"{"k": "a", "v": 1.0000000000001}"#);
    assert_eq!(compare(&columns, &[low, low], &[high, low]), None);
    assert!(compare(&columns, &[low, low], &[high]).is_some());
}

#[test]
fn a_missing_column_is_null_and_others_are_not_looked_at() {
    let columns = columns(&[("a", "INT"), ("b", "STRING")]);
    assert_eq!(compare(&columns, &[r#"{"a": 1, "b": null}"#], &[r#"{"a": 1, "extra": 5}"#]), None);
    assert!(compare(&columns, &[r#"{"a": 1, "b": null}"#], &[r#"{"a": 1, "b": ""}"#]).is_some());
}

#[test]
fn timestamps_compare_as_moments_and_strings_as_they_are() {
    assert!(same("TIMESTAMP(3)", "\"2024-01-01 00:00:00.000\"", "\"2024-01-01T00:00:00\""));
    assert!(same("TIMESTAMP(9)", "\"2024-01-01 00:00:00.123456\"", "\"2024-01-01 00:00:00.123456000\""));
    assert!(!same("TIMESTAMP(9)", "\"2024-01-01 00:00:00.123456\"", "\"2024-01-01 00:00:00.123\""));
    assert!(same("TIMESTAMP_LTZ(3)", "\"2024-01-01 00:00:00.000Z\"", "\"2024-01-01 00:00:00Z\""));
    assert!(!same("TIMESTAMP(3)", "\"2024-01-01 00:00:00.000\"", "\"2024-01-01 00:00:00.000Z\""));
    assert!(!same("STRING", "\"2024-01-01 00:00:00.000\"", "\"2024-01-01 00:00:00\""));
    assert!(same("TIMESTAMP(3)", "\"+10000-01-01 00:00:00\"", "\"+10000-01-01 00:00:00\""));
}

#[test]
fn nested_values_compare_part_by_part() {
    assert!(same("MAP<STRING, INT>", r#"{"a": 1, "b": 2}"#, r#"{"b": 2.0, "a": 1}"#));
    assert!(!same("MAP<STRING, INT>", r#"{"a": 1}"#, r#"{"a": 1, "b": null}"#));
    assert!(!same("ARRAY<INT>", "[1, 2]", "[2, 1]"));
}

fn play(lines: &[&str]) -> Result<Vec<Row>, String> {
    let lines = lines.iter().map(|line| Json::parse(line).unwrap()).collect();
    canonical(lines, &columns(&[("k", "STRING"), ("n", "DOUBLE")]))
}

#[test]
fn a_change_log_is_played_to_its_end() {
    let left = play(&[
        r#"{"before": null, "after": {"k": "a", "n": 1.0}, "op": "c"}"#,
        r#"{"before": null, "after": {"k": "b", "n": 1}, "op": "c"}"#,
        r#"{"before": {"n": 1, "k": "a"}, "after": null, "op": "d"}"#,
        r#"{"before": null, "after": {"k": "a", "n": 2}, "op": "c"}"#,
        r#"{"before": {"k": "a", "n": 2}, "after": {"k": "a", "n": 3}, "op": "u"}"#,
    ]);
    let mut left = left.unwrap();
    left.sort_by_key(|row| row[0].to_string());
    let row = |k: &str, n: &str| vec![Json::from(k), Json::Number(n.into())];
    assert_eq!(left, [row("a", "3"), row("b", "1")]);
}

#[test]
fn a_change_log_may_not_take_away_what_is_not_there() {
    let removal = r#"{"before": {"k": "a", "n": 1}, "after": null, "op": "d"}"#;
    assert!(play(&[removal]).unwrap_err().contains("not there"));
    let addition = r#"{"before": null, "after": {"k": "a", "n": 1}, "op": "c"}"#;
    assert_eq!(play(&[addition, removal]).unwrap(), Vec::<Row>::new());
    assert!(play(&[r#"{"before": null, "after": null, "op": "x"}"#]).is_err());
}

#[test]
fn all_files_below_a_sink_count_except_hidden_ones() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    std::fs::create_dir(folder.path().join("deeper")).unwrap();
    write("part-0", "{\"v\": 1}\n\n");
    write("deeper/part-1", "{\"v\": 2}");
    write(".part-2.inprogress", "{\"v\": 3}");
    write("_SUCCESS", "");
    let columns = columns(&[("v", "INT")]);
    assert_eq!(read_sink(folder.path(), &columns).unwrap().len(), 2);
    assert_eq!(read_sink(&folder.path().join("none"), &columns).unwrap().len(), 0);
    write("part-3", "v\n1\n");
    assert!(read_sink(folder.path(), &columns).is_err());
}

#[test]
fn a_difference_names_the_missing_row_and_the_one_most_like_it() {
    let columns = columns(&[("k", "STRING"), ("n", "INT")]);
    let difference = compare(&columns, &[r#"{"k": "a", "n": 1}"#], &[r#"{"k": "x", "n": 9}"#, r#"{"k": "a", "n": 2}"#]);
    assert_eq!(
        difference.unwrap().describe(&columns),
        r#"2 rows, expected 1: 1 missing, 2 unexpected; missing {"k": "a", "n": 1}; unexpected {"k": "a", "n": 2}"#
    );
}
