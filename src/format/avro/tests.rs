//! Files as others write them, and files that are damaged.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryArray, BooleanArray, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::DataType as ArrowType;
use serde_json::json;

use super::codec::Codec;
use super::container::header_bytes;
use super::wire::{put_bytes, put_long};
use super::{AvroOptions, AvroPart, AvroReader};
use crate::error::{Error, Result};
use crate::random::Random;
use crate::types::{Field, Schema, Type};

fn schema(columns: &[(&str, Type)]) -> Schema {
    Schema::new(columns.iter().map(|(name, kind)| Field::new(*name, kind.clone().nullable())).collect())
}

/// A file with one block of `records` records that were encoded by hand.
fn file(folder: &Path, json: &serde_json::Value, records: i64, body: &[u8]) -> String {
    let path = folder.join("hand.avro");
    let mark = [7; 16];
    let mut bytes = header_bytes(&json.to_string(), Codec::Null, &mark);
    put_long(&mut bytes, records);
    put_bytes(&mut bytes, body);
    bytes.extend_from_slice(&mark);
    std::fs::write(&path, bytes).unwrap();
    path.display().to_string()
}

fn read(path: &str, schema: &Schema) -> Result<Vec<RecordBatch>> {
    let projection: Vec<usize> = (0..schema.len()).collect();
    let reader = AvroReader::open(path, schema, &projection, 1 << 20)?;
    let mut batches = Vec::new();
    for run in 0..reader.block_count() {
        reader.decode(run, 3, None, &mut |batch| {
            batches.push(batch);
            Ok(())
        })?;
    }
    Ok(batches)
}

/// One column, one record.
fn value(kind: &serde_json::Value, body: &[u8], declared: Type) -> Result<ArrayRef> {
    let folder = tempfile::tempdir().unwrap();
    let json = json!({"type": "record", "name": "r", "fields": [{"name": "v", "type": kind}]});
    let path = file(folder.path(), &json, 1, body);
    Ok(read(&path, &schema(&[("v", declared)]))?.remove(0).column(0).clone())
}

fn shown(array: &ArrayRef) -> String {
    arrow::util::display::array_value_to_string(array, 0).unwrap()
}

#[test]
fn fields_are_found_by_name_and_those_that_are_missing_are_null() {
    let folder = tempfile::tempdir().unwrap();
    let json = json!({"type": "record", "name": "r", "fields": [
        {"name": "unwanted", "type": {"type": "map", "values": "double"}},
        {"name": "b", "type": "string"},
        {"name": "a", "type": ["null", "int"]}]});
    let mut body = Vec::new();
    put_long(&mut body, 1);
    put_bytes(&mut body, b"key");
    body.extend_from_slice(&1.5f64.to_le_bytes());
    put_long(&mut body, 0);
    put_bytes(&mut body, b"text");
    put_long(&mut body, 1);
    put_long(&mut body, -7);
    let path = file(folder.path(), &json, 1, &body);
    let batch = read(&path, &schema(&[("a", Type::BigInt), ("missing", Type::Date), ("b", Type::string())])).unwrap();
    let columns: Vec<String> = batch[0].columns().iter().map(shown).collect();
    assert_eq!(columns, ["-7", "", "text"]);
    let strict = Schema::new(vec![Field::new("B", Type::string().not_null())]);
    let error = read(&path, &strict).unwrap_err();
    assert_eq!(error.message(), "the file has no field `B`, which the table declares as NOT NULL");
    assert_eq!(error.remedy(), Some("did you mean `b`? names are case-sensitive"));
}

#[test]
fn numbers_times_and_texts_are_read_as_the_declared_types() {
    let long = |value: i64| {
        let mut body = Vec::new();
        put_long(&mut body, value);
        body
    };
    let logical = |kind: &str, logical: &str| json!({"type": kind, "logicalType": logical});
    let micros = logical("long", "timestamp-micros");
    let cases = [
        (json!("int"), long(300), Type::SmallInt, "300"),
        (json!("long"), long(5), Type::Double, "5.0"),
        (logical("int", "date"), long(-1), Type::Date, "1969-12-31"),
        (logical("long", "time-micros"), long(3_723_004_999), Type::Time(3), "01:02:03.004"),
        (micros.clone(), long(-1), Type::Timestamp(3), "1969-12-31T23:59:59.999"),
        (micros.clone(), long(-1), Type::Timestamp(6), "1969-12-31T23:59:59.999999"),
        (logical("long", "local-timestamp-millis"), long(1), Type::Timestamp(6), "1970-01-01T00:00:00.001"),
        (json!("long"), long(1), Type::Timestamp(3), "1970-01-01T00:00:00.001"),
        (micros, long(-1), Type::BigInt, "-1"),
        (json!({"type": "enum", "name": "e", "symbols": ["A", "B"]}), long(1), Type::string(), "B"),
        (
            json!({"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 1}),
            vec![2, 0x85],
            Type::Decimal(6, 2),
            "-12.30",
        ),
        (json!({"type": "fixed", "name": "f", "size": 2}), vec![0xAB, 0xCD], Type::Binary(2), "abcd"),
        (json!(["long", "null", "string"]), vec![4, 2, b'x'], Type::string(), "x"),
    ];
    for (kind, body, declared, expected) in cases {
        let array = value(&kind, &body, declared.clone()).unwrap_or_else(|error| panic!("{kind}: {error}"));
        assert_eq!(array.data_type(), &declared.to_arrow(), "{kind}");
        assert_eq!(shown(&array), expected, "{kind}");
    }
}

#[test]
fn what_does_not_fit_is_refused_with_both_types() {
    let misfits = [
        (json!("string"), Type::Int, "column `v` is string in the file, but the table declares it as INT"),
        (
            json!(["null", "double"]),
            Type::Date,
            "column `v` is union of null, double in the file, but the table declares it as DATE",
        ),
    ];
    for (kind, declared, expected) in misfits {
        assert_eq!(value(&kind, &[], declared).unwrap_err().message(), expected);
    }
    let error = value(&json!("int"), &[0x80, 0x04], Type::TinyInt).unwrap_err();
    let expected = "record 1, in the block at byte";
    assert!(error.message().starts_with(expected), "{error}");
    assert!(error.message().ends_with("field `v`: 256 does not fit into TINYINT"), "{error}");
}

fn small_file(folder: &Path, codec: Codec) -> (String, Schema) {
    let row = Type::Row(vec![Field::new("x", Type::Decimal(20, 2).nullable())]);
    let schema = schema(&[
        ("id", Type::Int),
        ("name", Type::string()),
        ("flag", Type::Boolean),
        ("bytes", Type::VarBinary(9)),
        ("list", Type::Array(Box::new(Type::BigInt.nullable()))),
        ("row", row),
    ]);
    let ArrowType::List(field) = schema.fields[4].data_type.kind.to_arrow() else { panic!("a list") };
    let offsets = arrow::buffer::OffsetBuffer::from_lengths([2, 0, 1]);
    let list = arrow::array::ListArray::new(field, offsets, Arc::new(Int64Array::from(vec![1, 2, 3])), None);
    let ArrowType::Struct(fields) = schema.fields[5].data_type.kind.to_arrow() else { panic!("a struct") };
    let decimals = arrow::array::Decimal128Array::from(vec![Some(1), None, Some(-300)]);
    let decimals = decimals.with_precision_and_scale(20, 2).unwrap();
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from(vec![Some(1), None, Some(-3)])),
        Arc::new(StringArray::from(vec![Some("ä"), Some(""), None])),
        Arc::new(BooleanArray::from(vec![true, false, true])),
        Arc::new(BinaryArray::from(vec![Some(&b"\0\xFF"[..]), None, Some(b"")])),
        Arc::new(list),
        Arc::new(arrow::array::StructArray::new(fields, vec![Arc::new(decimals)], None)),
    ];
    let batch = RecordBatch::try_new(schema.to_arrow(), columns).unwrap();
    let path = folder.join(format!("{}.avro", codec.name())).display().to_string();
    let options = AvroOptions { codec, ..AvroOptions::default() };
    let mut part = AvroPart::new(File::create(&path).unwrap(), &path, &schema, &options).unwrap();
    part.write(&batch).unwrap();
    part.finish().unwrap();
    let back = read(&path, &schema).unwrap();
    assert_eq!(back, [batch]);
    (path, schema)
}

#[test]
fn every_codec_is_read_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    for (_, codec) in Codec::NAMES {
        small_file(folder.path(), codec);
    }
}

fn is_told(error: &Error, path: &str) {
    assert!(error.remedy().is_some(), "{error}");
    assert_eq!(error.place().map(|place| place.file.as_str()), Some(path), "{error}");
}

#[test]
fn every_prefix_of_a_file_is_refused_with_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let (path, schema) = small_file(folder.path(), Codec::Null);
    let bytes = std::fs::read(&path).unwrap();
    let header = super::container::read_header(&File::open(&path).unwrap(), &path, bytes.len() as u64).unwrap();
    let cut = folder.path().join("cut.avro").display().to_string();
    for length in 0..bytes.len() {
        std::fs::write(&cut, &bytes[..length]).unwrap();
        match read(&cut, &schema) {
            // A header alone is a file without records.
            Ok(batches) => assert!(batches.is_empty() && length as u64 == header.length),
            Err(error) => is_told(&error, &cut),
        }
    }
}

#[test]
fn a_damaged_file_is_an_error_or_other_rows_but_never_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random::new(0);
    for (_, codec) in Codec::NAMES {
        let (path, schema) = small_file(folder.path(), codec);
        let bytes = std::fs::read(&path).unwrap();
        let damaged = folder.path().join("damaged.avro").display().to_string();
        for _ in 0..400 {
            let mut copy = bytes.clone();
            for _ in 0..1 + random.below(3) {
                let at = (random.below(copy.len() as u64)) as usize;
                copy[at] = random.next() as u8;
            }
            File::create(&damaged).unwrap().write_all(&copy).unwrap();
            if let Err(error) = read(&damaged, &schema) {
                is_told(&error, &damaged);
            }
        }
    }
}

#[test]
fn a_type_that_nests_too_deep_is_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let options = AvroOptions::default();
    let path = folder.path().join("deep.avro");
    let mut kind = Type::Int;
    let mut refused = None;
    for depth in 1..=32 {
        kind = Type::Row(vec![Field::new("x", kind.nullable())]);
        let schema = schema(&[("r", kind.clone())]);
        let written = AvroPart::new(File::create(&path).unwrap(), "deep", &schema, &options).and_then(AvroPart::finish);
        written.unwrap();
        let read = super::avro_is_empty(&path).map(drop).map_err(|error| error.message().to_string());
        let checked = options.check_depth(&schema.fields[0]).map_err(|error| error.message().to_string());
        assert_eq!(read.is_ok(), checked.is_ok(), "{depth} deep");
        if let (Err(read), Err(checked)) = (read, checked) {
            assert!(read.contains("too deep in each other") && checked.contains("cannot hold column `r`"), "{checked}");
            refused = refused.or(Some(depth));
        }
    }
    assert_eq!(refused, Some(31));
}
