//! Statements that answer without a job, tables that are made up, and the look of errors, as a user meets them.
#![cfg(feature = "sql")]

use std::io::{BufRead, BufReader};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

fn folder(script: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("job.sql"), script).expect("a writable folder");
    folder
}

fn run(script: &str, args: &[&str]) -> Output {
    let folder = folder(script);
    let mut command = Command::new(env!("CARGO_BIN_EXE_transom"));
    command.current_dir(folder.path()).args(["run", "job.sql", "-q"]).args(args).output().expect("the binary runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn stdout(script: &str, args: &[&str]) -> String {
    let output = run(script, args);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    text(&output.stdout)
}

const TABLE: &str = "CREATE TABLE t (id BIGINT, k STRING COMMENT 'the key', ts AS TO_TIMESTAMP_LTZ(id * 1000, 3),\n\
    WATERMARK FOR ts AS ts, PRIMARY KEY (id) NOT ENFORCED)\n\
    WITH ('connector' = 'datagen', 'rows-per-second' = '1000000', 'fields.k.length' = '4',\n\
    'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '30');\n";

#[test]
fn answers_print_as_the_rows_of_a_select_do() {
    let script = format!("{TABLE}DESCRIBE t;");
    assert_eq!(
        stdout(&script, &[]),
        " name | type                       | null  | key     | extras                            | watermark | comment\n\
         ------+----------------------------+-------+---------+-----------------------------------+-----------+---------\n\
         \x20id   | BIGINT                     | FALSE | PRI(id) |                                   |           |\n\
         \x20k    | STRING                     | TRUE  |         |                                   |           | the key\n\
         \x20ts   | TIMESTAMP_LTZ(3) *ROWTIME* | TRUE  |         | AS TO_TIMESTAMP_LTZ(id * 1000, 3) | ts        |\n\
         (3 rows)\n"
    );
    assert!(
        stdout(&script, &["-o", "csv"]).starts_with("name,type,null,key,extras,watermark,comment\nid,BIGINT,false,")
    );
    assert_eq!(stdout(&format!("{TABLE}SHOW TABLES;"), &["-o", "json"]), "{\"table name\":\"t\"}\n");
}

#[test]
fn what_show_create_prints_is_a_script() {
    let created = stdout(&format!("{TABLE}SHOW CREATE TABLE t;"), &[]);
    assert!(created.ends_with(");\n"), "{created}");
    assert_eq!(stdout(&format!("{created}SHOW CREATE TABLE t;"), &[]), created);
}

#[test]
fn a_made_up_table_has_the_same_rows_on_any_number_of_shards() {
    let script = format!(
        "{TABLE}SELECT window_start, COUNT(*) AS n, MAX(k) AS k, SUM(id) AS ids\n\
         FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end;"
    );
    let rows = stdout(&script, &["-o", "csv", "--shards", "1"]);
    assert_eq!(rows.lines().count(), 5, "{rows}");
    for shards in ["2", "7"] {
        assert_eq!(stdout(&script, &["-o", "csv", "--shards", shards]), rows);
    }
}

#[test]
fn a_table_without_an_end_gives_rows_until_nobody_reads_them() {
    let script = "CREATE TABLE t (i INT) WITH ('connector' = 'datagen', 'rows-per-second' = '2000');\nSELECT i FROM t;";
    let folder = folder(script);
    let mut child = Command::new(env!("CARGO_BIN_EXE_transom"))
        .current_dir(folder.path())
        .args(["run", "job.sql", "-q", "-o", "csv"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    assert_eq!(lines.by_ref().take(300).map_while(Result::ok).count(), 300);
    drop(lines);
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

#[test]
fn a_print_sink_may_print_to_stderr() {
    let script = format!(
        "{TABLE}CREATE TABLE p (id BIGINT) WITH ('connector' = 'print', 'print-identifier' = 'E', 'standard-error' = 'true',\n\
         'sink.parallelism' = '2');\nINSERT INTO p SELECT id FROM t WHERE id < 3;"
    );
    let output = run(&script, &[]);
    assert_eq!((text(&output.stdout), text(&output.stderr)), (String::new(), "E> +I[1]\nE> +I[2]\n".to_string()));
}

/// The definitions of the benchmark, with its queries over bids.
const NEXMARK: &str = "CREATE TABLE datagen (event_type int,
    person ROW<id BIGINT, name VARCHAR, emailAddress VARCHAR, creditCard VARCHAR, city VARCHAR, state VARCHAR,
        dateTime TIMESTAMP(3), extra VARCHAR>,
    auction ROW<id BIGINT, itemName VARCHAR, description VARCHAR, initialBid BIGINT, reserve BIGINT,
        dateTime TIMESTAMP(3), expires TIMESTAMP(3), seller BIGINT, category BIGINT, extra VARCHAR>,
    bid ROW<auction BIGINT, bidder BIGINT, price BIGINT, channel VARCHAR, url VARCHAR, dateTime TIMESTAMP(3),
        extra VARCHAR>,
    dateTime AS CASE WHEN event_type = 0 THEN person.dateTime WHEN event_type = 1 THEN auction.dateTime
        ELSE bid.dateTime END,
    WATERMARK FOR dateTime AS dateTime - INTERVAL '4' SECOND
) WITH ('connector' = 'nexmark', 'first-event.rate' = '1000', 'next-event.rate' = '1000', 'events.num' = '20000',
    'person.proportion' = '1', 'auction.proportion' = '3', 'bid.proportion' = '46');
CREATE VIEW bid AS SELECT bid.auction, bid.bidder, bid.price, bid.channel, bid.url, dateTime, bid.extra
FROM datagen WHERE event_type = 2;
";

#[test]
fn nexmark_takes_the_definitions_and_queries_of_the_benchmark() {
    for (query, rows) in [
        ("SELECT auction, bidder, price, dateTime, extra FROM bid;", 18_400),
        ("SELECT auction, bidder, 0.908 * price AS price, dateTime, extra FROM bid;", 18_400),
        (
            "SELECT MAX(price) AS price, window_start, window_end
             FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(dateTime), INTERVAL '10' SECOND)) GROUP BY window_start, window_end;",
            2,
        ),
        (
            "SELECT auction, COUNT(*) AS num, window_start, window_end
             FROM TABLE(HOP(TABLE bid, DESCRIPTOR(dateTime), INTERVAL '2' SECOND, INTERVAL '10' SECOND))
             WHERE MOD(auction, 100) = 0 GROUP BY auction, window_start, window_end;",
            0,
        ),
    ] {
        let script = format!("{NEXMARK}{query}");
        let one = stdout(&script, &["-o", "csv", "--shards", "1"]);
        assert!(rows == 0 || one.lines().count() == rows + 1, "{}: {query}", one.lines().count());
        assert!(one.lines().count() > 2);
        assert_eq!(stdout(&script, &["-o", "csv", "--shards", "3"]), one, "{query}");
    }
    let some = stdout(&format!("{NEXMARK}SELECT auction, price FROM bid WHERE MOD(auction, 123) = 0;"), &["-o", "csv"]);
    assert!(some.lines().skip(1).all(|row| row.split(',').next().unwrap().parse::<i64>().unwrap() % 123 == 0));
}

#[test]
fn an_error_of_the_script_shows_the_lines_around_it() {
    let output = run(&format!("{TABLE}SELECT kk,\n  id\nFROM t;"), &[]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        text(&output.stderr),
        "  error: column 'kk' not found\n   ,-[job.sql:5:8]\n 4 | 'fields.id.kind' = 'sequence', 'fields.id.start' = '1', \
         'fields.id.end' = '30');\n 5 | SELECT kk,\n   :        ^^\n 6 |   id\n   `----\n  help: the columns here are id, k, ts\n\n  \
         in statement 2\n"
    );
}

#[test]
fn an_error_of_a_running_job_names_its_statement_and_the_line() {
    let output = run(&format!("{TABLE}SELECT 1 / (id - id)\nFROM t;"), &[]);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("in statement 2, job.sql:5: SELECT 1 / (id - id)\n"), "{stderr}");
}

#[test]
fn queries_of_one_statement_read_a_table_once() {
    let script = "CREATE TABLE t (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)\n\
        WITH ('connector' = 'filesystem', 'path' = '-', 'format' = 'csv');\n\
        CREATE TABLE sums (ws TIMESTAMP(3), s INT) WITH ('connector' = 'filesystem', 'path' = 'sums.csv', 'format' = 'csv');\n\
        CREATE TABLE rich (v INT, k STRING) WITH ('connector' = 'filesystem', 'path' = 'rich.csv', 'format' = 'csv');\n\
        CREATE TABLE names (k STRING) WITH ('connector' = 'filesystem', 'path' = 'names.csv', 'format' = 'csv');\n\
        EXECUTE STATEMENT SET BEGIN\n\
        INSERT INTO sums SELECT window_start, SUM(v) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE))\n\
          GROUP BY window_start, window_end;\n\
        INSERT INTO rich SELECT v, k FROM t WHERE v > 1;\n\
        INSERT INTO names SELECT UPPER(k) FROM t;\n\
        END;";
    let folder = folder(script);
    let mut command = Command::new(env!("CARGO_BIN_EXE_transom"));
    command.current_dir(folder.path()).args(["run", "job.sql", "--shards", "2"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("runs");
    let rows = "a,1,2024-05-01 12:00:01\nb,2,2024-05-01 12:00:02\nc,3,2024-05-01 12:01:02\n";
    std::io::Write::write_all(&mut child.stdin.take().expect("a pipe"), rows.as_bytes()).expect("taken");
    let output = child.wait_with_output().expect("ends");
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(told.contains("rows read  3 + 6 for further queries = 8 used + 1 filtered + 0 late"), "{told}");
    let file = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("a file");
    assert_eq!(file("sums.csv"), "\"2024-05-01 12:00:00\",3\n\"2024-05-01 12:01:00\",3\n");
    assert_eq!(file("rich.csv"), "2,b\n3,c\n");
    let mut names: Vec<String> = file("names.csv").lines().map(str::to_string).collect();
    names.sort();
    assert_eq!(names, ["A", "B", "C"]);
}
