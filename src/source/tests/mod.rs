//! What every format owes the engine, however a file is cut, and how wrong data is reported.

mod columns;
mod csv_options;
mod csv_twin;
mod files;
mod formats;
mod header;
mod places;
mod raw;
mod set_aside;

use std::io::Write;
use std::path::Path;

use arrow::array::RecordBatch;

use super::{BlockStats, open};
use crate::error::{Place, Result};
use crate::format::FormatSpec;
use crate::plan::{FilesSpec, Options, ScanSpec, SourceSpec};
use crate::types::{DataType, Field, Schema, Type};

pub(super) fn schema(columns: &[(&str, Type)]) -> Schema {
    let nullable = |kind: &Type| DataType { kind: kind.clone(), nullable: true };
    Schema::new(columns.iter().map(|(name, kind)| Field::new(*name, nullable(kind))).collect())
}

pub(super) fn spec(options: &[(&str, &str)], schema: &Schema) -> Result<FormatSpec> {
    let mut all = Options::new("table `t`", Place::default());
    for (key, value) in options {
        all.insert(*key, *value, Place { line: 3, column: 5, ..Place::default() });
    }
    let spec = FormatSpec::from_options(&mut all, schema)?;
    all.finish()?;
    Ok(spec)
}

pub(super) fn scan(path: &Path, format: &FormatSpec, schema: &Schema, projection: &[usize]) -> ScanSpec {
    ScanSpec {
        table: "t".to_string(),
        source: SourceSpec::Files(FilesSpec::new(path.display().to_string(), format.clone())),
        file_schema: schema.clone(),
        projection: projection.to_vec(),
        columns: Vec::new(),
        watermark: None,
        schema: Schema::default(),
    }
}

/// Reads all splits as the engine does, block by block with composed transitions; rows as JSON text.
pub(super) fn read(scan: &ScanSpec, block_bytes: usize, batch_rows: usize) -> Result<(Vec<String>, BlockStats)> {
    let fields = scan.projection.iter().map(|index| scan.file_schema.fields[*index].clone()).collect();
    let schema = Schema::new(fields);
    let mut encoder = FormatSpec::Json(crate::format::JsonOptions::default()).text_encoder(&schema).expect("text");
    let mut text = Vec::new();
    let mut total = BlockStats::default();
    for split in open(scan, block_bytes)? {
        let (mut state, mut block) = (0, 0);
        while split.extent().blocks > block || (!split.extent().complete && split.extend().blocks > block) {
            let mut rows = 0;
            let stats = split.decode(block, state, batch_rows, &mut |batch: RecordBatch| {
                assert!(batch.num_rows() > 0 && batch.num_rows() <= batch_rows);
                assert_eq!(batch.schema(), schema.to_arrow());
                rows += batch.num_rows() as u64;
                encoder.encode(&batch, &mut text)
            })?;
            assert_eq!(stats.rows, rows);
            total.rows += rows;
            total.malformed += stats.malformed;
            total.bytes += stats.bytes;
            state = split.probe(block)?.0[usize::from(state)];
            block += 1;
        }
    }
    let text = String::from_utf8(text).expect("JSON is UTF-8");
    Ok((text.lines().map(str::to_string).collect(), total))
}

/// Reads a text in every way of cutting it and asserts that the outcome is always the same.
pub(super) fn read_in_all_ways(
    text: &[u8],
    options: &[(&str, &str)],
    columns: &[(&str, Type)],
    projection: &[usize],
) -> Result<(Vec<String>, u64)> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("data.txt");
    std::fs::write(&path, text).expect("written");
    let schema = schema(columns);
    let scan = scan(&path, &spec(options, &schema)?, &schema, projection);
    let whole = read(&scan, 1 << 20, 8_192);
    for block_bytes in [1, 2, 7, 64, 4_096] {
        for batch_rows in [1, 7, 8_192] {
            let cut = read(&scan, block_bytes, batch_rows);
            match (&whole, &cut) {
                (Ok((rows, stats)), Ok((cut_rows, cut_stats))) => {
                    assert_eq!(rows, cut_rows, "blocks of {block_bytes} bytes: {:?}", String::from_utf8_lossy(text));
                    assert_eq!(stats.malformed, cut_stats.malformed, "{:?}", String::from_utf8_lossy(text));
                }
                (Err(error), Err(cut)) => {
                    assert_eq!((error.message(), error.place()), (cut.message(), cut.place()));
                }
                _ => panic!(
                    "blocks of {block_bytes} bytes: {:?} but {:?}",
                    whole.as_ref().map(|w| &w.0),
                    cut.map(|c| c.0)
                ),
            }
        }
    }
    reads_as_packed(text, &whole, &path, &scan);
    whole.map(|(rows, stats)| (rows, stats.malformed))
}

/// A compressed text gives the same rows, in the same blocks, and the same errors in the same places.
fn reads_as_packed(text: &[u8], whole: &Result<(Vec<String>, BlockStats)>, path: &Path, plain: &ScanSpec) {
    let packed = path.with_extension("gz");
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let bytes = writer.write_all(text).and_then(|()| writer.finish()).expect("packed");
    std::fs::write(&packed, bytes).expect("written");
    let mut scan = plain.clone();
    let SourceSpec::Files(files) = &mut scan.source else { panic!("no files") };
    files.path = packed.display().to_string();
    for block_bytes in [1, 2, 7, 64, 1 << 20] {
        match (whole, read(&scan, block_bytes, 7)) {
            (Ok((rows, stats)), Ok((got, got_stats))) => {
                assert_eq!(*rows, got, "packed, blocks of {block_bytes}: {:?}", String::from_utf8_lossy(text));
                assert_eq!(stats.malformed, got_stats.malformed);
            }
            (Err(error), Err(got)) => {
                let place = |error: &crate::error::Error| error.place().map(|place| (place.line, place.column));
                let expected = (error.message(), place(error));
                assert_eq!(expected, (got.message(), place(&got)), "{:?}", String::from_utf8_lossy(text));
            }
            (whole, got) => {
                panic!("blocks of {block_bytes}: {:?} but {:?}", whole.as_ref().map(|w| &w.0), got.map(|g| g.0))
            }
        }
        let blocks = |scan: &ScanSpec| -> usize {
            // A header that does not fit the table is found when the file is opened.
            let Ok(mut splits) = open(scan, block_bytes) else { return 0 };
            let split = splits.remove(0);
            let (mut block, mut state) = (0, 0);
            while split.extend().blocks > block {
                if split.decode(block, state, 7, &mut |_| Ok(())).is_err() {
                    return 0;
                }
                state = split.probe(block).expect("probed").0[usize::from(state)];
                block += 1;
            }
            assert!(split.extent().complete);
            block
        };
        let expected = blocks(plain);
        assert_eq!(expected.max(usize::from(whole.is_ok())), blocks(&scan), "{:?}", String::from_utf8_lossy(text));
    }
}
