//! Tables as sinks.

use std::path::Path;

use crate::api::source::tests::environment;
use crate::api::source::{Decimal, Row, TableSource};
use crate::api::{RowBuilder, TableSink};
use crate::error::{Error, Result};

const COLUMNS: &str = "id BIGINT NOT NULL, name STRING, price DECIMAL(10, 2), ok BOOLEAN, at TIMESTAMP(3), day DATE,
    f DOUBLE, small SMALLINT, fine TIMESTAMP_LTZ(6), clock TIME, tags ARRAY<INT>";

fn ddl(columns: &str, path: &Path, format: &str) -> String {
    let nulls = if format == "csv" { ", 'csv.null-literal' = ''" } else { "" };
    format!(
        "CREATE TABLE t ({columns})
           WITH ('connector' = 'filesystem', 'path' = '{}', 'format' = '{format}'{nulls})",
        path.display()
    )
}

fn fill(number: i64, row: &mut RowBuilder) -> Result<()> {
    row.set(0, number)?;
    if number % 3 == 0 {
        return row.set_by_name("name", None::<&str>);
    }
    row.set(1, format!("a \"{number}\"").as_str())?;
    row.set(2, Decimal { unscaled: i128::from(number) * 5, scale: 1 })?;
    row.set(3, number % 2 == 0)?;
    row.set(4, 1_000 * number)?;
    row.set(5, number)?;
    row.set(6, 0.5)?;
    row.set(7, -1i32)?;
    row.set(8, 7 * number)?;
    row.set(9, 1_000)
}

/// Runs a program that writes the numbers 0 to 99.
fn write(table: Result<TableSink<i64>>, shards: usize) -> Result<()> {
    let environment = environment(shards, 7);
    environment.from_sequence(0, 99).sink_to(table?);
    environment.execute().map(|_| ())
}

#[test]
fn a_table_is_written_in_order_in_every_format_and_reads_back() {
    for (format, shards) in [("csv", 1), ("json", 2), ("parquet", 7), ("avro", 2)] {
        let folder = tempfile::tempdir().unwrap();
        let ddl = ddl(COLUMNS, &folder.path().join(format!("t.{format}")), format);
        // Avro knows no TIMESTAMP_LTZ(6), and CSV no arrays of its own.
        let ddl = if format == "avro" { ddl.replace("TIMESTAMP_LTZ(6)", "TIMESTAMP(3)") } else { ddl };
        write(TableSink::from_ddl(&ddl, fill), shards).unwrap();
        let environment = environment(2, 7);
        let read = |row: &Row<'_>| {
            let (price, ok): (Option<Decimal>, Option<bool>) = (row.at(2)?, row.at(3)?);
            let text = row.get::<Option<&str>>("name")?.map(str::to_string);
            let times: [Option<i64>; 2] = [row.at(4)?, row.at(8)?];
            Ok((row.i64(0)?, text, price.map(|price| price.to_string()), ok, times, row.at::<Option<i32>>(9)?))
        };
        let rows = environment.from_table(TableSource::from_ddl(&ddl, read).unwrap()).collect();
        environment.execute().unwrap();
        let rows = rows.take();
        assert_eq!(rows.iter().map(|row| row.0).collect::<Vec<_>>(), (0..100).collect::<Vec<_>>(), "{format}");
        assert_eq!(rows[3], (3, None, None, None, [None; 2], None), "{format}");
        let four = (4, Some("a \"4\"".to_string()), Some("2.00".to_string()), Some(true), [Some(4_000), Some(28)]);
        assert_eq!(rows[4], (four.0, four.1, four.2, four.3, four.4, Some(1_000)), "{format}");
    }
}

#[test]
fn what_cannot_be_written_says_why_and_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    let fault = |columns: &str, fill: fn(i64, &mut RowBuilder) -> Result<()>| {
        let error = write(TableSink::from_ddl(&ddl(columns, &path, "csv"), fill), 2).unwrap_err();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{error}");
        error.message().to_string()
    };
    assert_eq!(
        fault("a TINYINT", |n, row| row.set(0, n * 10)),
        "column `a` of table t is TINYINT: the integer 130 does not fit"
    );
    assert_eq!(
        fault("a TINYINT", |_, row| row.set(0, "x")),
        "column `a` of table t is TINYINT, and is given the text 'x'"
    );
    assert_eq!(
        fault("a INT, b INT NOT NULL", |_, row| row.set(0, 1)),
        "column `b` of table t is INT NOT NULL, and gets no value"
    );
    assert_eq!(fault("a INT", |_, row| row.set(1, 1)), "there is no column 1: table t has 1, numbered from 0");
    assert_eq!(fault("a INT", |_, row| row.set_by_name("b", 1)), "table t has no column `b`");
    let twice = |_, row: &mut RowBuilder| row.set(0, 1).and_then(|()| row.set(0, 2));
    assert_eq!(fault("a INT", twice), "column `a` of table t is set twice in one row");
    let own = |n, _: &mut RowBuilder| if n == 90 { Err(Error::data("ninety")) } else { Ok(()) };
    assert_eq!(fault("a INT", own), "ninety");
}

#[test]
fn a_table_of_another_kind_is_refused_where_it_is_made() {
    let refused = |ddl: &str| match TableSink::from_ddl(ddl, fill) {
        Ok(_) => panic!("{ddl}"),
        Err(error) => error.message().to_string(),
    };
    assert_eq!(refused("CREATE TABLE t (a INT) WITH ('connector' = 'print')"), "table t writes to the terminal");
    assert!(refused("CREATE TABLE t (a INT) WITH ('connector' = 'datagen')").contains("cannot be written to"));
}
