//! What the sinks leave behind, and that nothing shows before the commit.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array, Int8Array, Int16Array,
    Int32Array, Int64Array, RecordBatch, StringArray, Time32MillisecondArray, TimestampMicrosecondArray,
    TimestampMillisecondArray,
};

use super::{Sink, open};
use crate::error::{ErrorKind, Place};
use crate::format::{FormatSpec, ParquetOptions};
use crate::plan::{FilesSpec, Options, ScanSpec, SinkConnector, SinkSpec, SourceSpec};
use crate::types::{Field, Schema, Type};

fn all_types() -> (Schema, RecordBatch) {
    let kinds = [
        Type::Boolean,
        Type::TinyInt,
        Type::SmallInt,
        Type::Int,
        Type::BigInt,
        Type::Float,
        Type::Double,
        Type::Decimal(20, 4),
        Type::string(),
        Type::Date,
        Type::Time(3),
        Type::Timestamp(3),
        Type::Timestamp(6),
        Type::Timestamp(9),
        Type::TimestampLtz(3),
    ];
    let field = |(i, kind): (usize, Type)| Field::new(format!("c{i}"), kind.nullable());
    let schema = Schema::new(kinds.into_iter().enumerate().map(field).collect());
    let texts = vec![Some("plain"), Some(""), Some("a,\"b\"\n\\c\té😀 long enough to be quoted"), None];
    let columns: Vec<ArrayRef> = vec![
        Arc::new(BooleanArray::from(vec![Some(true), Some(false), Some(true), None])),
        Arc::new(Int8Array::from(vec![Some(i8::MIN), Some(0), Some(i8::MAX), None])),
        Arc::new(Int16Array::from(vec![Some(i16::MIN), Some(0), Some(i16::MAX), None])),
        Arc::new(Int32Array::from(vec![Some(i32::MIN), Some(0), Some(i32::MAX), None])),
        Arc::new(Int64Array::from(vec![Some(i64::MIN), Some(0), Some(i64::MAX), None])),
        Arc::new(Float32Array::from(vec![Some(1.5), Some(f32::NEG_INFINITY), Some(1e-30), None])),
        Arc::new(Float64Array::from(vec![Some(0.1), Some(f64::INFINITY), Some(-1e300), None])),
        Arc::new(
            Decimal128Array::from(vec![Some(10_000), Some(-1), Some(99_999_999_999_999_999_999), None])
                .with_precision_and_scale(20, 4)
                .expect("fits"),
        ),
        Arc::new(StringArray::from(texts)),
        Arc::new(Date32Array::from(vec![Some(0), Some(-719_162), Some(2_932_896), None])),
        Arc::new(Time32MillisecondArray::from(vec![Some(0), Some(45_296_120), Some(86_399_999), None])),
        Arc::new(TimestampMillisecondArray::from(vec![Some(0), Some(-1), Some(253_402_300_799_999), None])),
        Arc::new(TimestampMicrosecondArray::from(vec![Some(0), Some(-1), Some(1_700_000_000_123_456), None])),
        Arc::new(
            Decimal128Array::from(vec![Some(0), Some(-1), Some(1_700_000_000_123_456_789), None])
                .with_precision_and_scale(38, 9)
                .expect("fits"),
        ),
        Arc::new(
            TimestampMillisecondArray::from(vec![Some(0), Some(-1), Some(1_700_000_000_120), None])
                .with_timezone("UTC"),
        ),
    ];
    let batch = RecordBatch::try_new(schema.to_arrow(), columns).expect("a batch");
    (schema, batch)
}

fn format(options: &[(&str, &str)], schema: &Schema) -> FormatSpec {
    let mut all = Options::new("table `t`", Place::default());
    for (key, value) in options {
        all.insert(*key, *value, Place::default());
    }
    FormatSpec::from_options(&mut all, schema).expect("a format")
}

fn sink(path: &Path, format: &FormatSpec, schema: &Schema, parallelism: usize) -> Arc<dyn Sink> {
    let connector =
        SinkConnector::Filesystem { path: path.display().to_string(), format: format.clone(), partitions: None };
    open(&SinkSpec { table: "t".to_string(), connector, schema: schema.clone() }, parallelism).expect("opens")
}

fn read(path: &Path, format: &FormatSpec, schema: &Schema) -> Vec<RecordBatch> {
    let scan = ScanSpec {
        table: "t".to_string(),
        source: SourceSpec::Files(FilesSpec::new(path.display().to_string(), format.clone())),
        file_schema: schema.clone(),
        projection: (0..schema.len()).collect(),
        columns: Vec::new(),
        watermark: None,
        schema: Schema::default(),
    };
    let mut batches = Vec::new();
    for split in crate::source::open(&scan, 1 << 20).expect("opens") {
        let mut state = 0;
        for block in 0..split.extent().blocks {
            let keep = &mut |batch| {
                batches.push(batch);
                Ok(())
            };
            split.decode(block, state, 100, keep).expect("decodes");
            state = split.probe(block).expect("probes").0[usize::from(state)];
        }
    }
    batches
}

/// Names and sizes of what lies in a folder, hidden things too.
fn listing(folder: &Path) -> BTreeMap<String, u64> {
    std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| {
            let entry = entry.expect("an entry");
            (entry.file_name().into_string().expect("UTF-8"), entry.metadata().expect("metadata").len())
        })
        .collect()
}

const FORMATS: &[&[(&str, &str)]] = &[
    &[("format", "csv"), ("csv.null-literal", "n/a")],
    &[("format", "csv"), ("csv.null-literal", "n/a"), ("csv.field-delimiter", ";"), ("csv.escape-character", "\\")],
    &[("format", "json")],
    &[("format", "json"), ("json.timestamp-format.standard", "ISO-8601")],
    &[("format", "json"), ("json.encode.ignore-null-fields", "true"), ("json.encode.decimal-as-plain-number", "true")],
    &[("format", "parquet")],
    &[("format", "avro"), ("avro.timestamp_mapping.legacy", "false")],
];

#[test]
fn every_type_survives_the_round_trip_through_every_format() {
    let (schema, batch) = all_types();
    for options in FORMATS {
        let format = format(options, &schema);
        for parallelism in [1, 3] {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("deep/down/out.dat");
            let sink = sink(&path, &format, &schema, parallelism);
            for shard in 0..parallelism {
                let mut writer = sink.writer(shard).expect("a writer");
                writer.write(&batch).expect("written");
                writer.finish().expect("finished");
            }
            assert!(!path.exists(), "nothing shows before the commit");
            sink.commit().expect("commits");
            assert_eq!(listing(path.parent().expect("parent")).len(), 1, "one file, nothing hidden");
            let rows = read(&path, &format, &schema);
            let rows = arrow::compute::concat_batches(&schema.to_arrow(), &rows).expect("one schema");
            let expected =
                arrow::compute::concat_batches(&schema.to_arrow(), vec![&batch; parallelism]).expect("one schema");
            assert_eq!(rows, expected, "{options:?}");
        }
    }
}

#[test]
fn a_folder_gets_new_parts_beside_what_is_there() {
    let (schema, batch) = all_types();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("out");
    let format = format(&[("format", "json")], &schema);
    for round in 1..=2usize {
        let sink = sink(&path, &format, &schema, 3);
        for shard in 0..3 {
            let mut writer = sink.writer(shard).expect("a writer");
            if shard != 1 {
                writer.write(&batch).expect("written");
            }
            writer.finish().expect("finished");
        }
        sink.commit().expect("commits");
        // The shard without rows leaves no file.
        assert_eq!(listing(&path).len(), 2 * round);
        assert!(listing(&path).keys().all(|name| name.starts_with("part-") && name.ends_with(".json")));
    }
    assert_eq!(read(&path, &format, &schema).iter().map(RecordBatch::num_rows).sum::<usize>(), 16);
}

#[test]
fn an_aborted_job_leaves_the_old_file_and_nothing_else() {
    let (schema, batch) = all_types();
    for options in FORMATS {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("out.txt");
        std::fs::write(&path, "old").expect("written");
        let format = format(options, &schema);
        let sink = sink(&path, &format, &schema, 2);
        for shard in 0..2 {
            let mut writer = sink.writer(shard).expect("a writer");
            writer.write(&batch).expect("written");
        }
        sink.abort();
        assert_eq!(listing(folder.path()), BTreeMap::from([("out.txt".to_string(), 3)]));
        drop(sink);
        assert_eq!(std::fs::read_to_string(&path).expect("there"), "old");
    }
}

#[test]
fn a_job_without_rows_leaves_an_empty_file() {
    let (schema, _) = all_types();
    for options in FORMATS {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("out.txt");
        let format = format(options, &schema);
        let sink = sink(&path, &format, &schema, 2);
        sink.commit().expect("commits");
        assert!(read(&path, &format, &schema).is_empty());
        assert_eq!(listing(folder.path()).len(), 1);
    }
}

#[test]
fn a_path_that_cannot_be_written_is_named() {
    let (schema, _) = all_types();
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("file"), "").expect("written");
    let path = folder.path().join("file/out.csv");
    let connector = SinkConnector::Filesystem {
        path: path.display().to_string(),
        format: format(&[("format", "csv")], &schema),
        partitions: None,
    };
    let spec = SinkSpec { table: "t".to_string(), connector, schema };
    let error = open(&spec, 1).err().expect("must fail");
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.message().contains(&folder.path().join("file").display().to_string()), "{error}");
}

#[test]
fn csv_is_written_as_flink_writes_it() {
    let schema = Schema::new(vec![Field::new("s", Type::string().nullable()), Field::new("i", Type::Int.nullable())]);
    let cases = [
        ("plain", "plain"),
        ("", ""),
        ("a,b", "\"a,b\""),
        ("say \"hi\"", "\"say \"\"hi\"\"\""),
        ("with space", "\"with space\""),
        ("#h", "\"#h\""),
        ("it's", "\"it's\""),
        ("xxxxxxxxxxxxxxxxxxxxxxxx", "xxxxxxxxxxxxxxxxxxxxxxxx"),
        ("xxxxxxxxxxxxxxxxxxxxxxxxx", "\"xxxxxxxxxxxxxxxxxxxxxxxxx\""),
        ("-1", "-1"),
        ("é", "é"),
        ("a+b", "\"a+b\""),
        ("a/b", "a/b"),
        ("\\b", "\"\\b\""),
        ("_x", "_x"),
        ("a;b", "a;b"),
        ("~", "~"),
    ];
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values(cases.iter().map(|(text, _)| *text)));
    let numbers: ArrayRef = Arc::new(Int32Array::from(vec![1; cases.len()]));
    let batch = RecordBatch::try_new(schema.to_arrow(), vec![texts, numbers]).expect("a batch");
    let mut out = Vec::new();
    format(&[("format", "csv")], &schema)
        .text_encoder(&schema)
        .expect("text")
        .encode(&batch, &mut out)
        .expect("encoded");
    let expected: String = cases.iter().map(|(_, text)| format!("{text},1\n")).collect();
    assert_eq!(String::from_utf8(out).expect("UTF-8"), expected);
}

#[test]
fn a_link_to_a_file_stays_and_its_file_is_replaced() {
    let folder = tempfile::tempdir().expect("a folder");
    let (schema, batch) = all_types();
    let format = format(&[("format", "csv")], &schema);
    let (real, link) = (folder.path().join("real.csv"), folder.path().join("link.csv"));
    std::fs::write(&real, "old").expect("written");
    std::os::unix::fs::symlink("real.csv", &link).expect("linked");
    let sink = sink(&link, &format, &schema, 1);
    let mut writer = sink.writer(0).expect("a writer");
    writer.write(&batch).expect("written");
    writer.finish().expect("finished");
    sink.commit().expect("committed");
    assert!(link.is_symlink());
    assert_ne!(std::fs::read(&real).expect("read"), b"old");
}

#[test]
fn a_target_that_cannot_be_replaced_is_refused_before_the_job() {
    let folder = tempfile::tempdir().expect("a folder");
    let (schema, _) = all_types();
    let format = format(&[("format", "csv")], &schema);
    let refusal = |path: &Path| {
        let connector =
            SinkConnector::Filesystem { path: path.display().to_string(), format: format.clone(), partitions: None };
        let spec = SinkSpec { table: "t".to_string(), connector, schema: schema.clone() };
        let error = open(&spec, 1).err().expect("must fail");
        assert_eq!(error.kind(), ErrorKind::Io, "{error}");
        (error.message().to_string(), error.remedy().unwrap_or_default().to_string())
    };
    let fifo = folder.path().join("fifo.csv");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().expect("mkfifo runs").success());
    assert!(refusal(&fifo).0.contains("not a regular file"));
    assert!(refusal(&folder.path().join("n".repeat(300) + ".csv")).0.contains("too long"));
    let file = folder.path().join("file.csv");
    std::fs::write(&file, "").expect("written");
    assert!(refusal(&file.join("")).1.contains("leave out the '/'"));
    assert!(refusal(&file.join("results")).1.contains("a file has this name"));
    assert!(refusal(&file.join("results.csv")).1.contains("a file has this name"));
}

#[test]
fn parquet_refuses_nanoseconds_that_it_cannot_hold() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("out.parquet");
    let schema = Schema::new(vec![Field::new("t", Type::TimestampLtz(9).nullable())]);
    let column = Decimal128Array::from(vec![Some(0), None, Some(253_402_300_799_999_999_999)]);
    let column = column.with_precision_and_scale(38, 9).expect("fits");
    let batch = RecordBatch::try_new(schema.to_arrow(), vec![Arc::new(column)]).expect("a batch");
    let sink = sink(&path, &FormatSpec::Parquet(ParquetOptions::default()), &schema, 1);
    let mut writer = sink.writer(0).expect("a writer");
    writer.write(&batch.slice(0, 2)).expect("within the range");
    let error = writer.write(&batch).expect_err("beyond 2262");
    assert!(error.to_string().contains("`t`: 9999-12-31 23:59:59.999999999"), "{error}");
    assert!(error.remedy().is_some_and(|remedy| remedy.contains("6 fractional digits")), "{error}");
}
