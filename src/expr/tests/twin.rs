//! Vectorised kernels against a twin that computes one row at a time.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BooleanArray, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType as ArrowType, Field as ArrowField, Schema as ArrowSchema};
use proptest::prelude::*;

use super::{context, text};
use crate::types::{Field, Schema, Type};

type Row = (Option<i32>, Option<i32>, Option<i64>, Option<bool>);

fn schema() -> Schema {
    Schema::new(vec![
        Field::new("a", Type::Int.nullable()),
        Field::new("b", Type::Int.nullable()),
        Field::new("m", Type::Decimal(18, 4).nullable()),
        Field::new("p", Type::Boolean.nullable()),
    ])
}

fn batch(rows: &[Row]) -> RecordBatch {
    let decimals: arrow::array::Decimal128Array = rows.iter().map(|row| row.2.map(i128::from)).collect();
    let columns: Vec<ArrayRef> = vec![
        Arc::new(rows.iter().map(|row| row.0).collect::<Int32Array>()),
        Arc::new(rows.iter().map(|row| row.1).collect::<Int32Array>()),
        Arc::new(decimals.with_precision_and_scale(18, 4).expect("18 digits")),
        Arc::new(rows.iter().map(|row| row.3).collect::<BooleanArray>()),
    ];
    RecordBatch::try_new(schema().to_arrow(), columns).expect("columns")
}

fn eval(source: &str, rows: &[Row]) -> Result<ArrayRef, crate::error::Error> {
    text::expression(source, &schema())?.eval(&batch(rows), &context("UTC"))
}

fn ints(source: &str, rows: &[Row]) -> Vec<Option<i32>> {
    let array = eval(source, rows).expect(source);
    array.as_any().downcast_ref::<Int32Array>().expect(source).iter().collect()
}

fn flags(source: &str, rows: &[Row]) -> Vec<Option<bool>> {
    let array = eval(source, rows).expect(source);
    array.as_any().downcast_ref::<BooleanArray>().expect(source).iter().collect()
}

fn int() -> impl Strategy<Value = Option<i32>> {
    prop_oneof![
        Just(None),
        Just(Some(0)),
        Just(Some(-1)),
        Just(Some(i32::MIN)),
        Just(Some(i32::MAX)),
        any::<i32>().prop_map(Some),
        (-9i32..9).prop_map(Some),
    ]
}

fn some_rows() -> impl Strategy<Value = Vec<Row>> {
    let decimal = prop_oneof![Just(None), (-10i64.pow(17)..10i64.pow(17)).prop_map(Some), (-99i64..99).prop_map(Some)];
    prop::collection::vec((int(), int(), decimal, any::<Option<bool>>()), 1..40)
}

fn both<T>(row: &Row, apply: impl Fn(i32, i32) -> T) -> Option<T> {
    row.0.zip(row.1).map(|(a, b)| apply(a, b))
}

proptest! {
    #[test]
    fn integer_arithmetic_equals_javas_row_by_row(rows in some_rows()) {
        let each = |apply: fn(i32, i32) -> i32| rows.iter().map(|row| both(row, apply)).collect::<Vec<_>>();
        prop_assert_eq!(ints("a + b", &rows), each(i32::wrapping_add));
        prop_assert_eq!(ints("a - b", &rows), each(i32::wrapping_sub));
        prop_assert_eq!(ints("a * b", &rows), each(i32::wrapping_mul));
        prop_assert_eq!(ints("-a", &rows), rows.iter().map(|row| row.0.map(i32::wrapping_neg)).collect::<Vec<_>>());
        let quotient = |row: &Row| both(row, |a, b| if b == 0 { None } else { Some(a.wrapping_div(b)) }).flatten();
        let quotients: Vec<_> = rows.iter().map(quotient).collect();
        prop_assert_eq!(ints("CASE WHEN b = 0 THEN NULL ELSE a / b END", &rows), quotients.clone());
        prop_assert_eq!(ints("a / NULLIF(b, 0)", &rows), quotients);
        let zero = rows.iter().any(|row| row.1 == Some(0) && row.0.is_some());
        prop_assert_eq!(eval("a % b", &rows).is_err(), zero);
        prop_assert_eq!(ints("a % 7", &rows), rows.iter().map(|row| row.0.map(|a| a % 7)).collect::<Vec<_>>());
    }

    #[test]
    fn comparisons_and_logic_equal_their_tables(rows in some_rows()) {
        let less: Vec<_> = rows.iter().map(|row| both(row, |a, b| a < b)).collect();
        prop_assert_eq!(flags("a < b", &rows), less.clone());
        let and = rows.iter().zip(&less).map(|(row, less)| match (row.3, *less) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        });
        prop_assert_eq!(flags("p AND a < b", &rows), and.collect::<Vec<_>>());
        let same: Vec<_> = rows.iter().map(|row| Some(row.0 == row.1)).collect();
        prop_assert_eq!(flags("a IS NOT DISTINCT FROM b", &rows), same);
        let hits = rows.iter().map(|row| match (row.0, row.1) {
            (None, _) => None,
            (Some(0), _) => Some(true),
            (Some(a), Some(b)) => Some(a == b),
            (Some(_), None) => None,
        });
        prop_assert_eq!(flags("a IN (0, b)", &rows), hits.collect::<Vec<_>>());
    }

    #[test]
    fn guarded_operands_meet_only_the_rows_that_reach_them(rows in some_rows()) {
        let reached = |row: &Row| match (row.0, row.1) {
            (_, Some(0)) => Some(false),
            (None, Some(_)) | (_, None) => None,
            (Some(a), Some(b)) => Some(a.wrapping_div(b) > 0),
        };
        prop_assert_eq!(flags("b <> 0 AND a / b > 0", &rows), rows.iter().map(reached).collect::<Vec<_>>());
        let first: Vec<_> = rows.iter().map(|row| row.0.or(row.1)).collect();
        prop_assert_eq!(ints("COALESCE(a, b)", &rows), first);
    }

    #[test]
    fn decimal_sums_equal_exact_sums(rows in some_rows()) {
        let array = eval("m + 0.25", &rows).expect("a sum");
        let sums = array.as_any().downcast_ref::<arrow::array::Decimal128Array>().expect("DECIMALs");
        for (row, sum) in rows.iter().zip(sums.iter()) {
            prop_assert_eq!(sum, row.2.map(|m| i128::from(m) + 2500));
        }
        let array = eval("m * 3", &rows).expect("a product");
        let products = array.as_any().downcast_ref::<arrow::array::Decimal128Array>().expect("DECIMALs");
        for (row, product) in rows.iter().zip(products.iter()) {
            prop_assert_eq!(product, row.2.map(|m| i128::from(m) * 3));
        }
    }

    #[test]
    fn no_text_makes_a_cast_panic(text in "\\PC{0,24}|[-+0-9.eE: ]{0,30}") {
        let schema = Schema::new(vec![Field::new("s", Type::string().nullable())]);
        let column: ArrayRef = Arc::new(StringArray::from(vec![text.as_str()]));
        let arrow = ArrowSchema::new(vec![ArrowField::new("s", ArrowType::Utf8, true)]);
        let batch = RecordBatch::try_new(Arc::new(arrow), vec![column]).expect("one column");
        for kind in ["INT", "BIGINT", "DOUBLE", "DECIMAL(38, 10)", "DATE", "TIME(3)", "TIMESTAMP(3)", "TIMESTAMP(9)",
            "TIMESTAMP_LTZ(3)", "BOOLEAN", "CHAR(4)"] {
            let expr = super::text::expression(&format!("TRY_CAST(s AS {kind})"), &schema).expect("a cast");
            prop_assert!(expr.eval(&batch, &context("America/New_York")).is_ok());
        }
        for source in ["TO_TIMESTAMP(s, 'yyyy-MM-dd HH:mm:ss')", "TO_DATE(s, 'yyyyMMdd')", "UNIX_TIMESTAMP(s)",
            "s LIKE s", "REGEXP_REPLACE(s, s, s)", "SUBSTRING(s, -3, 2)", "LPAD(s, 5, 'é')", "INITCAP(s)",
            "OVERLAY(s PLACING s FROM 2)", "SPLIT_INDEX(s, ' ', 1)", "INSTR(s, 'e', -2)", "TRIM(s, s)", "REVERSE(s)",
            "DATE_FORMAT(s, 'yyyy')", "CONVERT_TZ(s, s, 'UTC')"] {
            let expr = super::text::expression(source, &schema).expect(source);
            let _ = expr.eval(&batch, &context("America/New_York"));
        }
    }

    #[test]
    fn no_moment_makes_a_function_panic(millis in any::<i64>(), months in any::<i32>()) {
        let schema = Schema::new(vec![
            Field::new("ts", Type::Timestamp(3).nullable()),
            Field::new("z", Type::TimestampLtz(3).nullable()),
            Field::new("n", Type::Int.nullable()),
            Field::new("l", Type::BigInt.nullable()),
        ]);
        let column = |array: Int64Array, kind: Type| crate::expr::eval::retype_for_tests(Arc::new(array), &kind);
        let columns: Vec<ArrayRef> = vec![
            column(vec![millis].into(), Type::Timestamp(3)),
            column(vec![millis].into(), Type::TimestampLtz(3)),
            Arc::new(Int32Array::from(vec![months])),
            Arc::new(Int64Array::from(vec![millis])),
        ];
        let batch = RecordBatch::try_new(schema.to_arrow(), columns).expect("columns");
        for source in ["CAST(ts AS STRING)", "CAST(z AS STRING)", "FLOOR(ts TO YEAR)", "CEIL(z TO MONTH)", "CEIL(ts TO WEEK)",
            "ts + INTERVAL '1' MONTH * n", "ts + INTERVAL '1' DAY * l", "TIMESTAMPDIFF(MONTH, ts, TIMESTAMP '2024-01-01 00:00:00')",
            "EXTRACT(WEEK FROM ts)", "DATE_FORMAT(z, 'yyyy-MM-dd YYYY ww HH:mm:ss.SSS')", "CAST(ts AS TIMESTAMP(9))",
            "CAST(ts AS TIMESTAMP_LTZ(6))", "CAST(z AS DATE)", "FROM_UNIXTIME(l)", "TO_TIMESTAMP_LTZ(l, 0)",
            "CAST(ts AS DATE) + INTERVAL '1' MONTH * n", "ROUND(n, n)", "ABS(n)", "CAST(l AS DECIMAL(5, 3))", "ROUND(l, -3)"] {
            let expr = super::text::expression(source, &schema).expect(source);
            let _ = expr.eval(&batch, &context("Europe/Berlin"));
        }
    }
}
