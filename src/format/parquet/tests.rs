//! Nested columns, options, and files that are damaged.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, AsArray, Int32Array, Int64Array, ListArray, RecordBatch, StringArray, StructArray,
    TimestampNanosecondArray,
};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{
    DataType as ArrowType, Decimal128Type, Field as ArrowField, Int64Type, TimeUnit, TimestampMicrosecondType,
    TimestampMillisecondType,
};
use parquet::data_type::{Int32Type, Int96, Int96Type};
use parquet::file::writer::SerializedFileWriter;

use super::{ParquetOptions, ParquetPart, ParquetReader};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::options::Options;
use crate::random::Random;
use crate::types::{Field, Schema, Type};

fn options(values: &[(&str, &str)]) -> Result<ParquetOptions> {
    let mut all = Options::new("table `t`", Place::default());
    for (key, value) in values {
        all.insert(*key, *value, Place { line: 3, ..Place::default() });
    }
    let options = ParquetOptions::from_options(&mut all)?;
    all.finish()?;
    Ok(options)
}

fn read(path: &str, schema: &Schema) -> Result<Vec<RecordBatch>> {
    let projection: Vec<usize> = (0..schema.len()).collect();
    let reader = ParquetReader::open(path, schema, &projection)?;
    let mut batches = Vec::new();
    for block in 0..reader.block_count() {
        reader.decode(block, 100, None, &mut |batch| {
            batches.push(batch);
            Ok(())
        })?;
    }
    Ok(batches)
}

fn column(name: &str, kind: Type) -> Field {
    Field::new(name, kind.nullable())
}

/// ARRAY<ROW<t TIMESTAMP(9), v MAP<STRING, INT>>> and a text; three rows, with NULL at each depth.
fn nested() -> (Schema, RecordBatch) {
    let map = Type::Map(Box::new(Type::string().not_null()), Box::new(Type::Int.nullable()));
    let row = Type::Row(vec![column("t", Type::Timestamp(9)), column("m", map.clone())]);
    let schema = Schema::new(vec![
        column("list", Type::Array(Box::new(row.clone().nullable()))),
        column("text", Type::string()),
    ]);
    let mut maps = arrow::array::MapBuilder::new(
        Some(arrow::array::MapFieldNames { entry: "entries".into(), key: "key".into(), value: "value".into() }),
        arrow::array::StringBuilder::new(),
        arrow::array::Int32Builder::new(),
    );
    maps.keys().append_value("a");
    maps.values().append_null();
    maps.append(true).unwrap();
    maps.append(false).unwrap();
    maps.append(true).unwrap();
    let times = arrow::array::Decimal128Array::from(vec![Some(1), None, Some(-1_000_000_001)]);
    let times = times.with_precision_and_scale(38, 9).unwrap();
    let ArrowType::Struct(fields) = row.to_arrow() else { panic!("a struct") };
    let rows = StructArray::new(fields, vec![Arc::new(times), Arc::new(maps.finish())], None);
    let ArrowType::List(field) = schema.fields[0].data_type.kind.to_arrow() else { panic!("a list") };
    let nulls = vec![true, false, true].into();
    let list = ListArray::new(field, OffsetBuffer::from_lengths([3, 0, 0]), Arc::new(rows), Some(nulls));
    let text = StringArray::from(vec![Some("x"), None, Some("y")]);
    let batch = RecordBatch::try_new(schema.to_arrow(), vec![Arc::new(list), Arc::new(text)]).unwrap();
    (schema, batch)
}

fn write(path: &str, schema: &Schema, batch: &RecordBatch, options: &ParquetOptions) {
    let mut part = ParquetPart::new(File::create(path).unwrap(), path, schema, options).unwrap();
    part.write(batch).unwrap();
    part.finish().unwrap();
}

#[test]
fn nested_columns_come_back_with_every_option() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.parquet").display().to_string();
    let (schema, batch) = nested();
    let codecs = ["UNCOMPRESSED", "snappy", "GZIP", "BROTLI", "ZSTD", "LZ4", "LZ4_RAW"];
    for codec in codecs {
        for version in ["PARQUET_1_0", "PARQUET_2_0"] {
            let values = [
                ("parquet.compression", codec),
                ("parquet.writer.version", version),
                ("parquet.block.size", "1000"),
                ("parquet.page.size", "100"),
            ];
            write(&path, &schema, &batch, &options(&values).unwrap());
            assert_eq!(read(&path, &schema).unwrap(), std::slice::from_ref(&batch), "{codec} {version}");
        }
    }
}

#[test]
fn all_timestamps_get_the_unit_that_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.parquet").display().to_string();
    let (schema, batch) = nested();
    let values = [("parquet.write.int64.timestamp", "true"), ("parquet.timestamp.time.unit", "millis")];
    write(&path, &schema, &batch, &options(&values).unwrap());
    let back = read(&path, &schema).unwrap();
    let times = back[0].column(0).as_list::<i32>().values().as_struct().column(0).clone();
    // Cut off towards the past.
    let expected = [Some(0), None, Some(-1_001_000_000)];
    let times: Vec<Option<i128>> = times.as_primitive::<Decimal128Type>().iter().collect();
    assert_eq!(times, expected);
}

#[test]
fn fields_of_a_row_are_found_by_name_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.parquet").display().to_string();
    let fields = vec![ArrowField::new("b", ArrowType::Int64, true), ArrowField::new("a", ArrowType::Int32, true)];
    let columns: Vec<ArrayRef> = vec![Arc::new(Int64Array::from(vec![7])), Arc::new(Int32Array::from(vec![1]))];
    let row: ArrayRef = Arc::new(StructArray::new(fields.into(), columns, None));
    let nanos: ArrayRef = Arc::new(TimestampNanosecondArray::from(vec![5]));
    let batch = RecordBatch::try_from_iter([("r", row), ("t", nanos)]).unwrap();
    let file = File::create(&path).unwrap();
    let mut part = ParquetPart::of_arrow(file, &path, batch.schema(), &ParquetOptions::default()).unwrap();
    part.write(&batch).unwrap();
    part.finish().unwrap();
    let row = |fields| Schema::new(vec![column("r", Type::Row(fields))]);
    let declared = row(vec![column("a", Type::BigInt), column("c", Type::Date), column("b", Type::BigInt)]);
    let back = read(&path, &declared).unwrap();
    let shown = arrow::util::display::array_value_to_string(back[0].column(0), 0).unwrap();
    assert_eq!(shown, "{a: 1, c: , b: 7}");
    let error = read(&path, &row(vec![column("a", Type::string())])).unwrap_err();
    let expected = "column `r` is ROW<`b` BIGINT, `a` INT> in the file, but the table declares it as ROW<`a` STRING>";
    assert_eq!(error.message(), expected);
}

/// A file with INT96 at the top and inside of a group, as Flink and Hive write timestamps by default.
fn int96_file(path: &str, moments: &[(u32, i64)]) {
    let message = "message m { optional int96 t; optional group r { required int96 t; } }";
    let schema = Arc::new(parquet::schema::parser::parse_message_type(message).unwrap());
    let values: Vec<Int96> =
        moments.iter().map(|(day, nanos)| Int96::from(vec![*nanos as u32, (*nanos >> 32) as u32, *day])).collect();
    let file = File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Default::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    while let Some(mut column) = group.next_column().unwrap() {
        let levels = vec![1; values.len()];
        column.typed::<Int96Type>().write_batch(&values, Some(&levels), None).unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
}

#[test]
fn int96_reaches_all_years_with_all_digits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.parquet").display().to_string();
    // 0001-01-01 00:00:00.000000001, 1969-12-31 23:59:59.999999999, 9999-12-31 23:59:59.123456789
    int96_file(&path, &[(1_721_426, 1), (2_440_587, 86_399_999_999_999), (5_373_484, 86_399_123_456_789)]);
    let cases: [(Type, [i128; 3]); 3] = [
        (Type::Timestamp(3), [-62_135_596_800_000, -1, 253_402_300_799_123]),
        (Type::Timestamp(6), [-62_135_596_800_000_000, -1, 253_402_300_799_123_456]),
        (Type::Timestamp(9), [-62_135_596_799_999_999_999, -1, 253_402_300_799_123_456_789]),
    ];
    for (kind, expected) in cases {
        let row = Type::Row(vec![column("t", kind.clone())]);
        let batches = read(&path, &Schema::new(vec![column("r", row), column("t", kind.clone())])).unwrap();
        for times in [batches[0].column(0).as_struct().column(0), batches[0].column(1)] {
            let found: Vec<i128> = match kind.to_arrow() {
                ArrowType::Timestamp(TimeUnit::Millisecond, _) => {
                    times.as_primitive::<TimestampMillisecondType>().values().iter().map(|t| i128::from(*t)).collect()
                }
                ArrowType::Timestamp(..) => {
                    times.as_primitive::<TimestampMicrosecondType>().values().iter().map(|t| i128::from(*t)).collect()
                }
                _ => times.as_primitive::<Decimal128Type>().values().to_vec(),
            };
            assert_eq!(found, expected, "{kind}");
        }
    }
}

#[test]
fn lists_of_old_writers_are_arrays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.parquet").display().to_string();
    let message = "message m { optional group two (LIST) { repeated int32 array; } repeated int32 bare; }";
    let schema = Arc::new(parquet::schema::parser::parse_message_type(message).unwrap());
    let mut writer = SerializedFileWriter::new(File::create(&path).unwrap(), schema, Default::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    // [1, 2], [3]
    for depth in [2, 1] {
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int32Type>().write_batch(&[1, 2, 3], Some(&[depth; 3]), Some(&[0, 1, 0])).unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
    let array = || Type::Array(Box::new(Type::BigInt.nullable()));
    let batches = read(&path, &Schema::new(vec![column("bare", array()), column("two", array())])).unwrap();
    for place in 0..2 {
        let list = batches[0].column(place).as_list::<i32>();
        assert_eq!((list.value_length(0), list.value_length(1)), (2, 1));
        assert_eq!(list.values().as_primitive::<Int64Type>().values(), &[1, 2, 3]);
    }
}

#[test]
fn wrong_options_are_refused_with_what_is_allowed() {
    let cases = [
        ("parquet.compression", "zip", ErrorKind::Script, "ZSTD"),
        ("parquet.compression", "LZO", ErrorKind::Unsupported, "LZO"),
        ("parquet.block.size", "-1", ErrorKind::Script, "bytes"),
        ("parquet.timestamp.time.unit", "seconds", ErrorKind::Script, "millis, micros or nanos"),
        ("parquet.writer.version", "3", ErrorKind::Script, "PARQUET_2_0"),
    ];
    for (key, value, kind, part) in cases {
        let error = options(&[(key, value)]).unwrap_err();
        assert_eq!((error.kind(), error.place().map(|place| place.line)), (kind, Some(3)));
        assert!(error.message().contains(part), "{error}");
    }
}

fn is_told(error: &Error, path: &str) {
    assert_eq!(error.place().map(|place| place.file.as_str()), Some(path), "{error}");
    assert_eq!(error.kind(), ErrorKind::Data, "{error}");
}

fn damaged(folder: &Path, bytes: &[u8], schema: &Schema) {
    let path = folder.join("damaged.parquet").display().to_string();
    std::fs::write(&path, bytes).unwrap();
    if let Err(error) = read(&path, schema) {
        is_told(&error, &path);
    }
}

#[test]
fn a_damaged_file_is_an_error_or_other_rows_but_never_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random::new(0);
    let (schema, batch) = nested();
    for codec in ["UNCOMPRESSED", "SNAPPY", "GZIP", "BROTLI", "ZSTD", "LZ4", "LZ4_RAW"] {
        for version in ["v1", "v2"] {
            let path = folder.path().join("data.parquet").display().to_string();
            let values = [("parquet.compression", codec), ("parquet.writer.version", version)];
            write(&path, &schema, &batch, &options(&values).unwrap());
            let bytes = std::fs::read(&path).unwrap();
            for length in 0..bytes.len() {
                damaged(folder.path(), &bytes[..length], &schema);
            }
            for _ in 0..500 {
                let mut copy = bytes.clone();
                for _ in 0..1 + random.below(3) {
                    let at = (random.below(copy.len() as u64)) as usize;
                    copy[at] = random.next() as u8;
                }
                damaged(folder.path(), &copy, &schema);
            }
        }
    }
}
