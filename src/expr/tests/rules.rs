//! The rules that are easily got wrong, one by one.

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::Int32Type;

use super::{batch, context, shown, text};
use crate::error::{ErrorKind, Result};
use crate::expr::{Expr, Scalar};
use crate::types::{Field, Schema, Type};

fn schema() -> Schema {
    let field = |name: &str, kind: Type| Field::new(name, kind.nullable());
    Schema::new(vec![
        field("k", Type::string()),
        field("v", Type::Int),
        field("d", Type::Double),
        field("m", Type::Decimal(10, 2)),
        field("b", Type::Boolean),
        field("ts", Type::Timestamp(3)),
        field("z", Type::TimestampLtz(3)),
    ])
}

fn rows() -> RecordBatch {
    let row = |cells: [&str; 7]| cells.iter().map(|cell| (*cell != "-").then(|| cell.to_string())).collect();
    let rows: Vec<Vec<Option<String>>> = vec![
        row(["a", "0", "1.5", "1.00", "true", "2024-05-01 12:00:29.999", "2024-03-31 00:59:59"]),
        row(["12x", "5", "NaN", "-0.05", "false", "1969-12-31 23:59:59.999", "2024-03-31 01:00:00"]),
        row(["-", "-", "-", "-", "-", "-", "-"]),
        row(["7", "-3", "-0.0", "99999999.99", "-", "0001-01-01 00:00:00", "2024-10-27 00:30:00"]),
    ];
    batch(&schema(), &rows).expect("rows")
}

fn values(source: &str) -> Result<Vec<String>> {
    let expr = text::expression(source, &schema())?;
    let values = shown(&expr, &rows(), "Europe/Paris")?;
    Ok(values.into_iter().map(|value| value.unwrap_or_else(|| "NULL".into())).collect())
}

#[track_caller]
fn gives(source: &str, expected: [&str; 4]) {
    assert_eq!(values(source).unwrap_or_else(|error| panic!("{source}: {error}")), expected, "{source}");
}

#[track_caller]
fn fails(source: &str) -> crate::error::Error {
    let error = values(source).expect_err(source);
    assert_eq!(error.kind(), ErrorKind::Data, "{source}: {error}");
    error
}

#[test]
fn a_branch_is_computed_only_for_the_rows_that_reach_it() {
    gives("CASE WHEN v = 0 THEN 0 ELSE 10 / v END", ["0", "2", "NULL", "-3"]);
    gives("IF(v <> 0, 10 / v, -1)", ["-1", "2", "-1", "-3"]);
    gives("v <> 0 AND 10 / v > 0", ["FALSE", "TRUE", "NULL", "FALSE"]);
    gives("v = 0 OR 10 / v > 0", ["TRUE", "TRUE", "NULL", "FALSE"]);
    gives("COALESCE(v, CAST(k AS INT))", ["0", "5", "NULL", "-3"]);
    gives("COALESCE(NULLIF(v, 0), 10 / (v - 5))", ["-2", "5", "NULL", "-3"]);
    assert!(fails("10 / v").message().contains("division by zero"));
    fails("CASE WHEN v = 5 THEN 0 ELSE 10 / v END");
}

#[test]
fn three_valued_logic_keeps_unknown_apart_from_false() {
    gives("b AND TRUE", ["TRUE", "FALSE", "NULL", "NULL"]);
    gives("b AND FALSE", ["FALSE", "FALSE", "FALSE", "FALSE"]);
    gives("b OR TRUE", ["TRUE", "TRUE", "TRUE", "TRUE"]);
    gives("NOT b", ["FALSE", "TRUE", "NULL", "NULL"]);
    gives("b IS NOT TRUE", ["FALSE", "TRUE", "TRUE", "TRUE"]);
    gives("b IS UNKNOWN", ["FALSE", "FALSE", "TRUE", "TRUE"]);
    gives("v IN (0, NULL)", ["TRUE", "NULL", "NULL", "NULL"]);
    gives("v NOT IN (0, 5)", ["FALSE", "FALSE", "NULL", "TRUE"]);
    gives("v IS DISTINCT FROM NULL", ["TRUE", "TRUE", "FALSE", "TRUE"]);
    gives("v IS NOT DISTINCT FROM 5", ["FALSE", "TRUE", "FALSE", "FALSE"]);
    gives("CASE WHEN v > 1 THEN 'big' END", ["NULL", "big", "NULL", "NULL"]);
}

#[test]
fn constants_and_columns_mix_in_every_list() {
    gives("5 IN (1, v)", ["FALSE", "TRUE", "NULL", "FALSE"]);
    gives("5 IN (5, v)", ["TRUE"; 4]);
    gives("GREATEST(1, v, 2)", ["2", "5", "NULL", "2"]);
    gives("COALESCE(NULL, v, 1)", ["0", "5", "1", "-3"]);
    gives("CASE WHEN TRUE THEN v ELSE 1 END", ["0", "5", "NULL", "-3"]);
    gives("CASE WHEN v > 0 THEN 1 ELSE 10 / 5 END", ["2", "1", "2", "2"]);
    gives("TRUE AND 10 / 5 = 2", ["TRUE"; 4]);
    gives("1 = 2 OR v = 5", ["FALSE", "TRUE", "NULL", "FALSE"]);
    gives("CONCAT_WS('-', 'a', k)", ["a-a", "a-12x", "a", "a-7"]);
    gives("1 IS DISTINCT FROM v", ["TRUE"; 4]);
}

#[test]
fn a_filter_takes_unknown_for_false() {
    let expr = text::expression("v > -1", &schema()).unwrap();
    let mask = expr.eval_filter(&rows(), &context("UTC")).unwrap();
    assert_eq!(mask.null_count(), 0);
    assert_eq!(mask.iter().map(|flag| flag == Some(true)).collect::<Vec<_>>(), [true, true, false, false]);
}

#[test]
fn integers_wrap_and_decimals_overflow_to_null() {
    gives("v + 2147483647", ["2147483647", "-2147483644", "NULL", "2147483644"]);
    gives("CAST(v * 100 AS TINYINT)", ["0", "-12", "NULL", "-44"]);
    gives("CAST(-2147483648 AS INT) / (v - v - 1)", ["-2147483648", "-2147483648", "NULL", "-2147483648"]);
    gives("CAST(m * 10 AS DECIMAL(9, 2))", ["10.00", "-0.50", "NULL", "NULL"]);
    fails("m / 0");
    fails("m % 0");
}

#[test]
fn doubles_divide_by_zero_and_nan_orders_by_its_partner() {
    gives("d / 0e0", ["Infinity", "NaN", "NULL", "NaN"]);
    gives("d > 1.0", ["TRUE", "TRUE", "NULL", "FALSE"]);
    gives("d > 1", ["TRUE", "FALSE", "NULL", "FALSE"]);
    gives("d = 0.0", ["FALSE", "FALSE", "NULL", "TRUE"]);
    gives("CAST(d AS FLOAT) + d", ["3.0", "NaN", "NULL", "-0.0"]);
    let sum = text::expression("CAST(d AS FLOAT) + d", &schema()).unwrap();
    assert_eq!(sum.data_type().kind, Type::Float);
    // x <> x is settled before anybody looks for a NaN.
    gives("d <> d", ["FALSE", "FALSE", "NULL", "FALSE"]);
}

#[test]
fn a_cast_of_bad_text_fails_and_names_the_text_and_the_type() {
    let error = fails("CAST(k AS INT)");
    assert!(error.message().contains("'a'") && error.message().contains("INT"), "{error}");
    gives("TRY_CAST(k AS INT)", ["NULL", "NULL", "NULL", "7"]);
    // TRY_CAST guards text only.
    gives("TRY_CAST(d * 1e10 AS TINYINT)", ["-1", "0", "NULL", "0"]);
    gives("TRY_CAST('2024-02-30' AS TIMESTAMP(3))", ["2024-02-29 00:00:00.000"; 4]);
    gives("TRY_CAST('2024-02-30' AS DATE)", ["NULL"; 4]);
}

#[test]
fn casts_print_as_flink_prints() {
    gives(
        "CAST(ts AS STRING)",
        ["2024-05-01 12:00:29.999", "1969-12-31 23:59:59.999", "NULL", "0001-01-01 00:00:00.000"],
    );
    gives("CAST(m AS STRING)", ["1.00", "-0.05", "NULL", "99999999.99"]);
    gives("CAST(d AS STRING)", ["1.5", "NaN", "NULL", "-0.0"]);
    gives("CAST(b AS STRING)", ["TRUE", "FALSE", "NULL", "NULL"]);
    gives("CAST(k AS CHAR(3)) || '|'", ["a  |", "12x|", "NULL", "7  |"]);
    gives("CAST(ts AS TIMESTAMP(0))", ["2024-05-01 12:00:29", "1970-01-01 00:00:00", "NULL", "0001-01-01 00:00:00"]);
}

#[test]
fn before_1970_the_parts_of_a_time_count_toward_zero() {
    gives("EXTRACT(SECOND FROM ts)", ["29", "0", "NULL", "0"]);
    gives("EXTRACT(MILLISECOND FROM ts)", ["999", "-1", "NULL", "0"]);
    gives("EXTRACT(YEAR FROM ts)", ["2024", "1970", "NULL", "1"]);
    gives("DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm')", ["2024-05-01 12:00", "1969-12-31 23:59", "NULL", "0001-01-01 00:00"]);
}

#[test]
fn times_with_a_zone_are_read_in_the_sessions_zone() {
    gives(
        "CAST(z AS STRING)",
        ["2024-03-31 00:59:59.000", "2024-03-31 01:00:00.000", "NULL", "2024-10-27 00:30:00.000"].map(
            |utc| match utc {
                "2024-03-31 00:59:59.000" => "2024-03-31 01:59:59.000",
                "2024-03-31 01:00:00.000" => "2024-03-31 03:00:00.000",
                "2024-10-27 00:30:00.000" => "2024-10-27 02:30:00.000",
                other => other,
            },
        ),
    );
    gives("EXTRACT(HOUR FROM z)", ["1", "3", "NULL", "2"]);
    // The offset of the instant serves, not that of the midnight.
    gives("FLOOR(z TO DAY)", ["2024-03-31 00:00:00.000", "2024-03-30 23:00:00.000", "NULL", "2024-10-27 00:00:00.000"]);
    gives("CAST(CAST(z AS TIMESTAMP(3)) AS TIMESTAMP_LTZ(3)) = z", ["TRUE", "TRUE", "NULL", "TRUE"]);
    gives("FROM_UNIXTIME(v)", ["1970-01-01 01:00:00", "1970-01-01 01:00:05", "NULL", "1970-01-01 00:59:57"]);
    gives("CAST(CURRENT_TIMESTAMP AS STRING)", ["2023-11-14 23:13:20.123"; 4]);
    gives("CURRENT_DATE", ["2023-11-14"; 4]);
}

#[test]
fn nullability_follows_the_operands() {
    let nullable = |source: &str| text::expression(source, &schema()).unwrap().data_type().nullable;
    assert!(!nullable("1 + 2") && !nullable("1 > 2") && !nullable("v IS NULL") && !nullable("COALESCE(v, 0)"));
    assert!(nullable("v + 1") && nullable("v > 1") && nullable("CASE WHEN b THEN 1 END") && nullable("NULLIF(v, 1)"));
    assert!(!nullable("CASE WHEN b THEN 1 ELSE 2 END") && !nullable("v IS DISTINCT FROM 1"));
}

#[test]
fn a_bare_column_is_the_batchs_own_array() {
    let rows = rows();
    let array = Expr::column(1, Type::Int.nullable()).eval(&rows, &context("UTC")).unwrap();
    assert!(std::sync::Arc::ptr_eq(&array, rows.column(1)));
}

#[test]
fn an_empty_batch_computes_nothing() {
    let expr = text::expression("1 / 0", &schema()).unwrap();
    let array = expr.eval(&rows().slice(0, 0), &context("UTC")).unwrap();
    assert_eq!(array.as_primitive::<Int32Type>().len(), 0);
}

#[test]
fn a_sliced_batch_answers_for_its_own_rows() {
    let rows = rows().slice(1, 2);
    for source in ["v + 1", "UPPER(k)", "CASE WHEN v = 0 THEN 0 ELSE 10 / v END", "ts - INTERVAL '1' SECOND", "m + 1"] {
        let expr = text::expression(source, &schema()).unwrap();
        let all = shown(&expr, &super::rules::rows(), "UTC").unwrap();
        assert_eq!(shown(&expr, &rows, "UTC").unwrap(), all[1..3], "{source}");
    }
}

#[test]
fn what_flink_refuses_is_refused() {
    for source in [
        "k + 1",
        "v = k",
        "b = 1",
        "ts > DATE '2024-01-01'",
        "ts - ts",
        "NOT v",
        "CASE WHEN b THEN v ELSE k END",
        "UPPER(v)",
        "ABS(k)",
        "SUBSTRING(k)",
        "EXTRACT(FORTNIGHT FROM ts)",
        "d % 2",
        "k LIKE 1",
        "b AND v",
        "CAST(v AS DATE)",
        "CAST(ts AS BIGINT)",
        "INTERVAL '1' DAY + INTERVAL '1' MONTH",
    ] {
        let error = text::expression(source, &schema()).expect_err(source);
        assert_eq!(error.kind(), ErrorKind::Script, "{source}: {error}");
    }
}

#[test]
fn constants_stay_constants_until_the_end() {
    let expr = text::expression("UPPER('a') || CAST(1 + 2 AS STRING)", &schema()).unwrap();
    assert_eq!(shown(&expr, &rows(), "UTC").unwrap(), vec![Some("A3".to_string()); 4]);
    let literal = Expr::literal(Scalar::Int(7), Type::Int.not_null());
    assert_eq!(shown(&literal, &rows(), "UTC").unwrap(), vec![Some("7".to_string()); 4]);
}
