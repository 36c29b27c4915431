//! Parquet files of other writers: types, projection, errors.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, Decimal128Array, DictionaryArray, Int32Array, Int64Array, LargeStringArray, RecordBatch, StringArray,
    TimestampMicrosecondArray, TimestampNanosecondArray,
};
use arrow::datatypes::Int32Type;

use super::{open, read, scan, schema};
use crate::error::{Error, ErrorKind};
use crate::format::{FormatSpec, ParquetOptions, ParquetPart};
use crate::types::{Field, Schema, Type};

fn write(path: &Path, columns: Vec<(&str, ArrayRef)>) {
    let batch = RecordBatch::try_from_iter(columns).expect("a batch");
    let file = std::fs::File::create(path).expect("created");
    let mut part = ParquetPart::of_arrow(file, "test", batch.schema(), &ParquetOptions::default()).expect("begun");
    part.write(&batch).expect("written");
    part.finish().expect("finished");
}

#[test]
fn columns_are_found_by_name_and_cast_to_the_declared_types() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("data.parquet");
    let words: DictionaryArray<Int32Type> = vec!["x", "y", "x"].into_iter().collect();
    write(
        &path,
        vec![
            ("unread", Arc::new(Int32Array::from(vec![9, 9, 9]))),
            ("us", Arc::new(TimestampMicrosecondArray::from(vec![1_500, -1, 0]))),
            ("ns", Arc::new(TimestampNanosecondArray::from(vec![1_500_000, -1, 0]).with_timezone("UTC"))),
            ("word", Arc::new(words)),
            ("long", Arc::new(LargeStringArray::from(vec![Some("a"), None, Some("c")]))),
            ("number", Arc::new(Int32Array::from(vec![1, 2, 3]))),
        ],
    );
    let columns = [
        ("number", Type::BigInt),
        ("word", Type::string()),
        ("ns", Type::Timestamp(3)),
        ("us", Type::Timestamp(9)),
        ("long", Type::string()),
        ("amount", Type::Int),
    ];
    let schema = schema(&columns);
    for batch_rows in [1, 2, 100] {
        let scan = scan(&path, &FormatSpec::Parquet(ParquetOptions::default()), &schema, &[0, 1, 2, 3, 4]);
        let (rows, stats) = read(&scan, 1, batch_rows).expect("rows");
        assert_eq!(
            rows,
            [
                r#"{"number":1,"word":"x","ns":"1970-01-01 00:00:00.001","us":"1970-01-01 00:00:00.0015","long":"a"}"#,
                r#"{"number":2,"word":"y","ns":"1969-12-31 23:59:59.999","us":"1969-12-31 23:59:59.999999","long":null}"#,
                r#"{"number":3,"word":"x","ns":"1970-01-01 00:00:00","us":"1970-01-01 00:00:00","long":"c"}"#,
            ]
        );
        assert_eq!(stats.rows, 3);
    }
    let nothing = scan(&path, &FormatSpec::Parquet(ParquetOptions::default()), &schema, &[]);
    assert_eq!(read(&nothing, 1, 2).expect("rows").1.rows, 3);
}

#[test]
fn a_column_that_the_file_lacks_is_null_and_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("data.parquet");
    write(&path, vec![("Key", Arc::new(StringArray::from(vec!["a", "b"])))]);
    let schema = schema(&[("key", Type::Int), ("Key", Type::string()), ("x", Type::Date)]);
    let scan = scan(&path, &FormatSpec::Parquet(ParquetOptions::default()), &schema, &[0, 1, 2]);
    let (rows, _) = read(&scan, 1, 10).expect("rows");
    assert_eq!(rows, [r#"{"key":null,"Key":"a","x":null}"#, r#"{"key":null,"Key":"b","x":null}"#]);
    let missing = open(&scan, 1).expect("opens")[0].missing();
    assert_eq!(missing, ["no column `key` (did you mean `Key`? names are case-sensitive)", "no column `x`"]);
}

#[test]
fn what_does_not_fit_is_named_with_both_types() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("data.parquet");
    write(
        &path,
        vec![
            ("Key", Arc::new(StringArray::from(vec!["a", "b"]))),
            ("big", Arc::new(Int64Array::from(vec![1, 1 << 40]))),
        ],
    );
    let fails = |name: &str, kind: Type| -> Error {
        let schema = schema(&[(name, kind)]);
        read(&scan(&path, &FormatSpec::Parquet(ParquetOptions::default()), &schema, &[0]), 1, 10)
            .expect_err("must fail")
    };
    let strict = Schema::new(vec![Field::new("key", Type::string().not_null())]);
    let strict = scan(&path, &FormatSpec::Parquet(ParquetOptions::default()), &strict, &[0]);
    let missing = read(&strict, 1, 10).expect_err("must fail");
    assert_eq!(missing.kind(), ErrorKind::Data);
    assert!(missing.message().contains("no column `key`") && missing.remedy().unwrap().contains("`Key`"), "{missing}");
    assert!(missing.place().unwrap().file.ends_with("data.parquet"));
    let unfit = fails("Key", Type::Timestamp(3));
    assert_eq!(unfit.message(), "column `Key` is STRING in the file, but the table declares it as TIMESTAMP(3)");
    assert!(unfit.place().unwrap().file.ends_with("data.parquet"));
    let remedy = "declare it STRING and compute the time, for example rt AS TO_TIMESTAMP(Key)";
    assert_eq!(unfit.remedy(), Some(remedy));
    let number = fails("big", Type::string());
    assert_eq!(number.message(), "column `big` is BIGINT in the file, but the table declares it as STRING");
    assert_eq!(number.remedy(), Some("declare it BIGINT"));
    let epoch = fails("big", Type::Timestamp(3));
    assert!(epoch.remedy().unwrap().starts_with("declare it BIGINT and add rt AS TO_TIMESTAMP_LTZ(big, 3)"));
    let large = fails("big", Type::Int);
    assert!(large.message().contains("row 2 of row group 1: its value is not an INT"), "{large}");
    std::fs::write(&path, "not a parquet file at all").expect("written");
    assert!(fails("a", Type::Int).message().contains("not a Parquet file"));
    std::fs::write(&path, "").expect("written");
    assert!(fails("a", Type::Int).message().contains("empty file"));
}

/// A Parquet file with one column, and where its compression stands in the footer.
fn one_column(path: &Path) -> (Vec<u8>, usize) {
    write(path, vec![("number", Arc::new(Int32Array::from(vec![1, 2, 3])))]);
    let bytes = std::fs::read(path).expect("read");
    // Thrift: behind the path of the column, field 4, the codec, which is 1 (snappy).
    let wanted = b"number\x15\x02";
    let at = bytes.windows(wanted.len()).position(|window| window == wanted).expect("a codec");
    (bytes, at + wanted.len() - 1)
}

#[test]
fn a_footer_that_points_out_of_the_file_is_an_error_and_no_panic() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("data.parquet");
    let (mut bytes, codec) = one_column(&path);
    // Behind the codec: the number of values, the size, the compressed size; each a header and a varint.
    let mut at = codec + 1;
    for _ in 0..2 {
        at += 1 + bytes[at + 1..].iter().position(|byte| byte & 0x80 == 0).expect("an end") + 1;
    }
    assert_eq!(bytes[at], 0x16);
    let schema = schema(&[("number", Type::Int)]);
    let scan = scan(&path, &FormatSpec::Parquet(ParquetOptions::default()), &schema, &[0]);
    assert_eq!(read(&scan, 1, 10).expect("rows").1.rows, 3);
    // The lowest bit of a zigzag number is its sign.
    bytes[at + 1] ^= 1;
    std::fs::write(&path, &bytes).expect("written");
    let error = read(&scan, 1, 10).expect_err("must fail");
    assert!(error.message().contains("row group 1: column `number` lies outside of the file"), "{error}");
    assert!(error.remedy().unwrap().contains("damaged"));
}

#[test]
fn a_compression_that_cannot_be_read_is_named_before_the_job() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("data.parquet");
    let (mut bytes, codec) = one_column(&path);
    // A zigzag 3.
    bytes[codec] = 6;
    std::fs::write(&path, &bytes).expect("written");
    let schema = schema(&[("number", Type::Int)]);
    let error = read(&scan(&path, &FormatSpec::Parquet(ParquetOptions::default()), &schema, &[0]), 1, 10)
        .expect_err("must fail");
    assert!(error.message().contains("column `number` is compressed with LZO"), "{error}");
    assert!(error.remedy().unwrap().contains("zstd"));
}

#[test]
fn a_decimal_never_loses_digits() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("data.parquet");
    let amounts = Decimal128Array::from(vec![125, 700]).with_precision_and_scale(10, 2).expect("fits");
    write(&path, vec![("amount", Arc::new(amounts))]);
    let rows = |kind: Type| {
        let schema = schema(&[("amount", kind)]);
        read(&scan(&path, &FormatSpec::Parquet(ParquetOptions::default()), &schema, &[0]), 1, 10).map(|(rows, _)| rows)
    };
    assert_eq!(rows(Type::Decimal(12, 4)).expect("rows"), [r#"{"amount":1.25}"#, r#"{"amount":7}"#]);
    let error = rows(Type::Decimal(10, 1)).expect_err("must fail");
    assert!(error.message().contains("DECIMAL(10, 2)") && error.message().contains("DECIMAL(10, 1)"), "{error}");
}

#[test]
fn a_row_group_with_long_texts_is_read_in_blocks_that_fit_into_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("data.parquet");
    let count = 40_000;
    let texts =
        |of: &dyn Fn(usize) -> usize| StringArray::from_iter_values((0..count).map(|row| format!("{:02000}", of(row))));
    write(
        &path,
        vec![
            ("plain", Arc::new(texts(&|row| row))),
            ("few", Arc::new(texts(&|row| row % 10))),
            ("number", Arc::new(Int32Array::from_iter_values(0..count as i32))),
        ],
    );
    let schema = schema(&[("plain", Type::string()), ("few", Type::string()), ("number", Type::Int)]);
    for (column, blocks) in [(0, 3), (1, 3), (2, 1)] {
        let scan = scan(&path, &FormatSpec::Parquet(ParquetOptions::default()), &schema, &[column]);
        let splits = open(&scan, 1).expect("opens");
        assert_eq!(splits[0].extent().blocks, blocks, "column {column}");
        let (rows, stats) = read(&scan, 1, 8_192).expect("rows");
        assert_eq!(stats.rows, count as u64);
        let expected = match column {
            0 => format!("{{\"plain\":\"{:02000}\"}}", 39_999),
            1 => format!("{{\"few\":\"{:02000}\"}}", 9),
            _ => "{\"number\":39999}".to_string(),
        };
        assert_eq!(rows.last(), Some(&expected));
    }
}
