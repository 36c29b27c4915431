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

fn sink(path: &Path, format: &FormatSpec, schema: &Schema) -> Arc<dyn Sink> {
    let connector =
        SinkConnector::Filesystem { path: path.display().to_string(), format: format.clone(), partitions: None };
    open(&SinkSpec { table: "t".to_string(), connector, schema: schema.clone(), changelog: false }).expect("opens")
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
            let sink = sink(&path, &format, &schema);
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
        let sink = sink(&path, &format, &schema);
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
        let sink = sink(&path, &format, &schema);
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
        let sink = sink(&path, &format, &schema);
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
    let spec = SinkSpec { table: "t".to_string(), connector, schema, changelog: false };
    let error = open(&spec).err().expect("must fail");
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
    let sink = sink(&link, &format, &schema);
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
        let spec = SinkSpec { table: "t".to_string(), connector, schema: schema.clone(), changelog: false };
        let error = open(&spec).err().expect("must fail");
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
    let sink = sink(&path, &FormatSpec::Parquet(ParquetOptions::default()), &schema);
    let mut writer = sink.writer(0).expect("a writer");
    writer.write(&batch.slice(0, 2)).expect("within the range");
    let error = writer.write(&batch).expect_err("beyond 2262");
    assert!(error.to_string().contains("`t`: 9999-12-31 23:59:59.999999999"), "{error}");
    assert!(error.remedy().is_some_and(|remedy| remedy.contains("6 fractional digits")), "{error}");
}

/// A table of a text with a space in its name and a number, and a batch of it.
fn named(text: &str) -> (Schema, RecordBatch) {
    let fields = vec![Field::new("the k", Type::string().nullable()), Field::new("v", Type::Int.nullable())];
    let schema = Schema::new(fields);
    let columns: Vec<ArrayRef> = vec![Arc::new(StringArray::from(vec![text])), Arc::new(Int32Array::from(vec![1]))];
    let batch = RecordBatch::try_new(schema.to_arrow(), columns).expect("a batch");
    (schema, batch)
}

#[test]
fn each_file_has_one_header_however_many_shards_wrote_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let (schema, _) = named("");
    let format = format(&[("format", "csv"), ("csv.header", "true")], &schema);
    let write = |path: &Path, shards: &[Option<&str>]| {
        let sink = sink(path, &format, &schema);
        for (shard, text) in shards.iter().enumerate() {
            let mut writer = sink.writer(shard).expect("a writer");
            if let Some(text) = text {
                writer.write(&named(text).1).expect("written");
            }
            writer.finish().expect("finished");
        }
        sink.commit().expect("committed");
    };
    let file = folder.path().join("out.csv");
    for (shards, rows) in [
        (&[Some("a"), Some("b"), None, Some("c")][..], "a,1\nb,1\nc,1\n"),
        (&[None, Some("b")], "b,1\n"),
        (&[None, None], ""),
        (&[], ""),
    ] {
        write(&file, shards);
        assert_eq!(std::fs::read_to_string(&file).expect("read"), format!("\"the k\",v\n{rows}"));
    }
    let many = folder.path().join("many");
    write(&many, &[Some("a"), None, Some("b")]);
    let sizes: Vec<u64> = listing(&many).into_values().collect();
    assert_eq!(sizes, ["\"the k\",v\na,1\n".len() as u64; 2]);
}

fn encoded(options: &[(&str, &str)], schema: &Schema, lines: &str) -> Result<String, String> {
    let json = format(&[("format", "json")], schema);
    let projection: Vec<usize> = (0..schema.len()).collect();
    let mut decoder = json.text_decoder(schema, &projection, 100, None).expect("a decoder").expect("text");
    let mut encoder = format(options, schema).text_encoder(schema).expect("text");
    let mut out = Vec::new();
    let mut take = |batch: RecordBatch| encoder.encode(&batch, &mut out);
    decoder.decode(lines.as_bytes(), 0, lines.len(), true, &mut take).expect("decoded");
    decoder.finish(&mut take).map_err(|error| error.message().to_string())?;
    Ok(out.iter().map(|byte| char::from(*byte)).collect())
}

fn nested() -> Schema {
    let array = |kind: Type| Type::Array(Box::new(kind.nullable()));
    let fields = [("x", Type::Int), ("y", Type::string()), ("t", Type::Timestamp(3))];
    let row = Type::Row(fields.into_iter().map(|(name, kind)| Field::new(name, kind.nullable())).collect());
    let columns = [
        ("a", array(Type::Double)),
        ("s", array(Type::string())),
        ("r", row),
        ("b", Type::VarBinary(crate::types::MAX_LENGTH)),
    ];
    Schema::new(columns.into_iter().map(|(name, kind)| Field::new(name, kind.nullable())).collect())
}

#[test]
fn csv_writes_arrays_rows_and_bytes_as_flink_does() {
    let lines = r#"{"a":[1,2.5,1e10],"s":["x","y"],"r":{"x":1,"y":"p","t":"2024-01-01 00:00:00"},"b":"aGVsbG8="}
{"a":[],"s":[],"r":{},"b":""}
{"s":["a,b","q\"r",null,""],"r":{"y":"long text of more than twenty-four"}}
{"a":[null],"s":["single"],"r":{"y":" "}}
"#;
    let plain = encoded(&[("format", "csv")], &nested(), lines).expect("written");
    let expected = [
        "1.0;2.5;1.0E10,x;y,\"1;p;2024-01-01 00:00:00\",aGVsbG8=",
        ",,;;,",
        ",\"a,b;q\"\"r;;\",\";long text of more than twenty-four;\",",
        ",single,\"; ;\",",
    ];
    assert_eq!(plain.lines().collect::<Vec<_>>(), expected);
    let options = [("format", "csv"), ("csv.null-literal", "NULL"), ("csv.array-element-delimiter", "|")];
    let literal = encoded(&options, &nested(), lines).expect("written");
    assert_eq!(literal.lines().nth(1), Some(",,NULL|NULL|NULL,"));
    assert_eq!(literal.lines().nth(3), Some("NULL,single,\"NULL| |NULL\",NULL"));
}

#[test]
fn csv_quotes_by_characters_of_any_length() {
    let columns = [("s", Type::string()), ("t", Type::string())];
    let schema = Schema::new(columns.into_iter().map(|(name, kind)| Field::new(name, kind.nullable())).collect());
    let lines = "{\"s\":\"a\",\"t\":\"a§c«d\"}\n{\"s\":\"é\",\"t\":\"¿ñ\"}\n";
    for (option, expected) in [
        (("csv.field-delimiter", "§"), "\"a\"§\"a§c«d\"\né§¿ñ\n"),
        (("csv.quote-character", "«"), "«a«,«a§c««d«\né,¿ñ\n"),
        (("csv.escape-character", "¿"), "a,a§c«d\né,\"¿¿ñ\"\n"),
    ] {
        let text = encoded(&[("format", "csv"), option], &schema, lines).expect("written");
        let bytes: Vec<u8> = text.chars().map(|c| c as u8).collect();
        assert_eq!(String::from_utf8(bytes).expect("UTF-8"), expected, "{option:?}");
    }
}

#[test]
fn debezium_json_says_that_rows_were_inserted() {
    let schema = named("").0;
    let lines = "{\"the k\":\"a\",\"v\":1}\n{}\n";
    let options = [("format", "debezium-json")];
    assert_eq!(
        encoded(&options, &schema, lines).expect("written"),
        "{\"before\":null,\"after\":{\"the k\":\"a\",\"v\":1},\"op\":\"c\"}\n\
         {\"before\":null,\"after\":{\"the k\":null,\"v\":null},\"op\":\"c\"}\n"
    );
    let options = [("format", "debezium-json"), ("debezium-json.encode.ignore-null-fields", "true")];
    assert_eq!(
        encoded(&options, &schema, lines).expect("written"),
        "{\"after\":{\"the k\":\"a\",\"v\":1},\"op\":\"c\"}\n{\"after\":{},\"op\":\"c\"}\n"
    );
}

#[test]
fn debezium_json_deletes_the_row_before_an_update() {
    let numbers: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), Some(1), Some(2), None]));
    let kinds: ArrayRef = Arc::new(Int8Array::from(vec![0, 1, 2, 3]));
    let batch = RecordBatch::try_from_iter([("n", numbers), (crate::types::ROW_KIND, kinds)]).expect("a batch");
    let schema = Schema::new(vec![Field::new("n", Type::Int.nullable())]);
    let written = |omit_nulls: bool| {
        let options = crate::format::JsonOptions { omit_nulls, ..Default::default() };
        let mut bytes = Vec::new();
        let mut encoder = FormatSpec::DebeziumJson(options).text_encoder(&schema).expect("text");
        encoder.encode(&batch, &mut bytes).expect("written");
        String::from_utf8(bytes).expect("UTF-8")
    };
    assert_eq!(
        written(false),
        "{\"before\":null,\"after\":{\"n\":1},\"op\":\"c\"}\n\
         {\"before\":{\"n\":1},\"after\":null,\"op\":\"d\"}\n\
         {\"before\":null,\"after\":{\"n\":2},\"op\":\"c\"}\n\
         {\"before\":{\"n\":null},\"after\":null,\"op\":\"d\"}\n"
    );
    assert_eq!(
        written(true),
        "{\"after\":{\"n\":1},\"op\":\"c\"}\n{\"before\":{\"n\":1},\"op\":\"d\"}\n\
         {\"after\":{\"n\":2},\"op\":\"c\"}\n{\"before\":{},\"op\":\"d\"}\n"
    );
}

#[test]
fn raw_writes_the_bytes_of_a_value() {
    let of = |kind: Type| Schema::new(vec![Field::new("c", kind.nullable())]);
    let raw = |extra: &[(&str, &str)], kind: Type, line: &str| {
        encoded(&[&[("format", "raw")], extra].concat(), &of(kind), line)
    };
    let latin = [("raw.charset", "ISO-8859-1")];
    let little = [("raw.endianness", "little-endian")];
    assert_eq!(raw(&latin, Type::string(), "{\"c\":\"é→\"}").expect("written"), "é?\n");
    assert_eq!(
        raw(&[("raw.charset", "UTF-16")], Type::string(), "{\"c\":\"é\"}").expect("written"),
        "\u{fe}\u{ff}\0é\n"
    );
    assert_eq!(raw(&[], Type::Int, "{\"c\":258}").expect("written"), "\0\0\u{1}\u{2}\n");
    assert_eq!(raw(&little, Type::Int, "{\"c\":258}").expect("written"), "\u{2}\u{1}\0\0\n");
    assert_eq!(raw(&[], Type::Boolean, "{\"c\":true}").expect("written"), "\u{1}\n");
    assert_eq!(raw(&[], Type::Int, "{}").expect_err("refused"), "a NULL cannot be written in format 'raw'");
}
