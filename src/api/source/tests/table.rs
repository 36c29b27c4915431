//! Tables as sources.

use std::path::Path;
use std::time::Duration;

use super::environment;
use crate::api::WatermarkStrategy;
use crate::api::source::{Columns, Decimal, Row, TableSource};
use crate::error::{Error, Result};
use crate::windowing::assigner::TumblingEventTimeWindows;
use crate::windowing::function::WindowResult;
use crate::windowing::window::TimeWindow;

const COLUMNS: &str = "id BIGINT, name STRING, price DECIMAL(10, 2), ok BOOLEAN, at TIMESTAMP(3), day DATE, f DOUBLE";

fn ddl(columns: &str, path: &Path, format: &str) -> String {
    let path = path.display();
    let nulls = if format == "csv" { ", 'csv.null-literal' = ''" } else { "" };
    format!(
        "CREATE TABLE t ({columns})
           WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = '{format}'{nulls})"
    )
}

type Record = (i64, Option<String>, Option<Decimal>, Option<bool>, Option<i64>, Option<i32>, Option<f64>);

fn record(row: &Row<'_>) -> Result<Record> {
    let name = row.get::<Option<&str>>("name")?.map(str::to_string);
    Ok((row.i64(0)?, name, row.at(2)?, row.at(3)?, row.at(4)?, row.at(5)?, row.get("f")?))
}

fn read<T: crate::windowing::Data>(source: TableSource<T>, shards: usize, rows: usize) -> Result<Vec<T>> {
    let environment = environment(shards, rows);
    let records = environment.from_table(source).collect();
    environment.execute()?;
    Ok(records.take())
}

/// The same rows in every format, written with SQL.
fn written(folder: &Path, format: &str) -> std::path::PathBuf {
    let (csv, path) = (folder.join("rows.csv"), folder.join(format!("rows.{format}")));
    let row = |n: i64| match n % 3 {
        0 => format!("{n},,,,,,\n"),
        _ => format!("{n},\"a\"\"\n{n}\",-{n}.25,true,2024-01-01 00:00:0{}.500,1970-01-0{},0.5\n", n % 10, n % 9 + 1),
    };
    std::fs::write(&csv, (0..200).map(row).collect::<String>()).unwrap();
    if format != "csv" {
        let script = format!(
            "CREATE TABLE c ({COLUMNS}) WITH ('connector'='filesystem','path'='{}','format'='csv','csv.null-literal'='');
             CREATE TABLE o WITH ('connector'='filesystem','path'='{}','format'='{format}') LIKE c (EXCLUDING OPTIONS);
             INSERT INTO o SELECT * FROM c;",
            csv.display(),
            path.display()
        );
        let run = crate::job::RunOptions { shards: 1, ..crate::job::RunOptions::default() };
        crate::runner::run_script(&script, &Default::default(), &run, &mut crate::job::NoReport).unwrap();
    }
    path
}

#[test]
fn all_formats_give_the_same_records_on_any_number_of_shards() {
    let folder = tempfile::tempdir().unwrap();
    let mut expected = None;
    for format in ["csv", "json", "parquet", "avro"] {
        let ddl = ddl(COLUMNS, &written(folder.path(), format), format);
        for (shards, rows) in [(1, 8192), (2, 7), (7, 1)] {
            let records = read(TableSource::from_ddl(&ddl, record).unwrap(), shards, rows).unwrap();
            assert_eq!(records.len(), 200);
            let expected = expected.get_or_insert_with(|| records.clone());
            assert_eq!(&records, expected, "{format}, {shards} shards, {rows} rows");
        }
    }
    let expected = expected.unwrap();
    assert_eq!(expected[0], (0, None, None, None, None, None, None));
    let price = Some(Decimal { unscaled: -425, scale: 2 });
    let at = Some(1_704_067_204_500);
    assert_eq!(expected[4], (4, Some("a\"\n4".into()), price, Some(true), at, Some(4), Some(0.5)));
}

/// Sums of a column per key and second, of a table with a WATERMARK clause.
fn sums(watermark: &str, strategy: Option<WatermarkStrategy<(String, i64)>>) -> Vec<(String, i64, i64)> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, "a,1,1000\na,2,1500\nb,3,2500\na,4,1900\na,5,5000\n").unwrap();
    let columns = format!("k STRING, v BIGINT, ms BIGINT, ts AS TO_TIMESTAMP_LTZ(ms, 3){watermark}");
    let source = TableSource::from_ddl_by_columns(&ddl(&columns, &path, "csv"), |columns: &Columns<'_>, records| {
        let values = columns.i64s(1)?;
        records.extend((0..columns.rows()).map(|row| (columns.row(row).str(0).unwrap().to_string(), values[row])));
        assert_eq!(columns.timestamps(3)?, columns.i64s(2)?);
        Ok(())
    });
    let environment = environment(2, 1);
    let rows = match strategy {
        None => environment.from_table(source.unwrap()),
        Some(strategy) => environment.from_source(source.unwrap(), strategy, "t"),
    };
    let windows = rows.key_by(|row| row.0.clone()).window(TumblingEventTimeWindows::of(Duration::from_secs(1)));
    let sums = windows
        .reduce(|mut sum, row| {
            sum.1 += row.1;
            sum
        })
        .collect();
    environment.execute().unwrap();
    let flat = |sum: WindowResult<String, TimeWindow, (String, i64)>| (sum.key, sum.window.start, sum.value.1);
    sums.take().into_iter().map(flat).collect()
}

#[test]
fn a_watermark_clause_gives_times_and_watermarks_unless_the_strategy_says_otherwise() {
    let row = |key: &str, start, sum| (key.to_string(), start, sum);
    let late = [row("a", 1000, 3), row("b", 2000, 3), row("a", 5000, 5)];
    assert_eq!(sums(", WATERMARK FOR ts AS ts", None), late);
    let all = [row("a", 1000, 7), row("b", 2000, 3), row("a", 5000, 5)];
    assert_eq!(sums(", WATERMARK FOR ts AS ts - INTERVAL '1' SECOND", None), all);
    let strategy = WatermarkStrategy::for_bounded_out_of_orderness(Duration::from_secs(1));
    assert_eq!(sums(", WATERMARK FOR ts AS ts", Some(strategy)), all);
}

#[test]
fn from_source_needs_a_source_with_watermarks() {
    let source = TableSource::from_ddl(
        "CREATE TABLE t (a BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '1')",
        |row: &Row<'_>| row.i64(0),
    );
    let environment = environment(1, 1);
    environment.from_source(source.unwrap(), WatermarkStrategy::from_source(), "t").collect();
    let error = environment.execute().unwrap_err();
    assert_eq!(error.message(), "the source gives no watermarks");
    assert!(error.place().is_some_and(|place| place.file.ends_with("table.rs")));
}

#[test]
fn what_cannot_be_read_names_file_line_and_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, "1,x\n2,\n").unwrap();
    let ddl = ddl("a BIGINT, b STRING", &path, "csv");
    let fault = |convert: fn(&Row<'_>) -> Result<i64>| {
        let error = read(TableSource::from_ddl(&ddl, convert).unwrap(), 2, 8192).unwrap_err();
        let place = error.place().unwrap().clone();
        assert_eq!(place.file, path.display().to_string());
        (place.line, error.message().to_string(), error.remedy().unwrap_or_default().to_string())
    };
    let (line, message, remedy) = fault(|row| row.str(1).map(|text| text.len() as i64));
    assert_eq!((line, message.as_str()), (2, "column `b` is NULL"));
    assert!(remedy.contains("Option"), "{remedy}");
    let (line, message, remedy) = fault(|row| row.i64(1));
    assert_eq!((line, message.as_str()), (1, "column `b` is STRING, but is read as i64"));
    assert!(remedy.contains("&str"), "{remedy}");
    assert_eq!(fault(|row| row.get::<i64>("B")).2, "did you mean `b`?");
    assert_eq!(fault(|row| row.i64(2)).1, "there is no column 2: the table has 2, numbered from 0");
    let (line, message, _) = fault(|row| if row.i64(0)? == 2 { Err(Error::data("two is refused")) } else { Ok(0) });
    assert_eq!((line, message.as_str()), (2, "two is refused"));
    std::fs::write(&path, "1,x\ny,\n").unwrap();
    assert_eq!(fault(|row| row.i64(0)).0, 2);
}

#[test]
fn a_wrong_ddl_says_where() {
    let fault = |ddl: &str| match TableSource::from_ddl(ddl, |row: &Row<'_>| row.i64(0)) {
        Ok(_) => panic!("{ddl}"),
        Err(error) => (error.place().map(|place| (place.line, place.column)), error.message().to_string()),
    };
    let (place, message) = fault("CREATE TABLE t (\n  a BIGNT) WITH ('connector' = 'datagen')");
    assert_eq!(place, Some((2, 5)), "{message}");
    assert!(fault("SELECT 1").1.contains("no other statements than CREATE TABLE"));
    assert_eq!(fault("SET 'table.local-time-zone' = 'UTC'").1, "the DDL has no CREATE TABLE");
    assert!(fault("CREATE TABLE t (a BIGINT) WITH ('connector' = 'print')").1.contains("cannot be read from"));
}

#[test]
fn made_up_tables_globs_and_compressed_files_are_sources_too() {
    let id = |row: &Row<'_>| row.i64(0);
    let datagen = "CREATE TABLE t (id BIGINT) WITH ('connector' = 'datagen', 'fields.id.kind' = 'sequence',
        'fields.id.start' = '1', 'fields.id.end' = '100')";
    let sum: i64 = read(TableSource::from_ddl(datagen, id).unwrap(), 2, 7).unwrap().iter().sum();
    assert_eq!(sum, 5_050);
    let folder = tempfile::tempdir().unwrap();
    for (name, from) in [("a.csv.gz", 0), ("b.csv.gz", 100)] {
        let file = std::fs::File::create(folder.path().join(name)).unwrap();
        let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        let text: String = (from..from + 100).map(|n| format!("{n},\"x\n\"\n")).collect();
        std::io::Write::write_all(&mut packed, text.as_bytes()).unwrap();
        packed.finish().unwrap();
    }
    let ddl = ddl("id BIGINT, t STRING", &folder.path().join("*.gz"), "csv");
    let mut ids = read(TableSource::from_ddl(&ddl, id).unwrap(), 2, 7).unwrap();
    ids.sort_unstable();
    assert_eq!(ids, (0..200).collect::<Vec<_>>());
}

#[test]
fn records_that_are_skipped_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.json");
    std::fs::write(&path, "{\"id\": 1}\n{\"id\": \n{\"id\": 3}\n").unwrap();
    let ddl = ddl("id BIGINT", &path, "json").replace("'json'", "'json', 'json.ignore-parse-errors' = 'true'");
    let environment = environment(1, 8192);
    let ids = environment.from_table(TableSource::from_ddl(&ddl, |row: &Row<'_>| row.i64(0)).unwrap()).collect();
    let result = environment.execute().unwrap();
    assert_eq!((ids.take(), result.records_read, result.records_malformed), (vec![1, 3], 2, 1));
    assert!(result.to_string().contains("malformed, left out"), "{result}");
}
