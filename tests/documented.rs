//! The queries on the pages of Flink's documentation about windows (SQL, Queries; the page is named at each test) print
//! the tables that those pages show. Rows and results are the documentation's; times are written without `:00.000`, as
//! there.
#![cfg(feature = "sql")]

use std::process::Command;

/// The bids of the pages on window functions and window aggregation; the first page leaves out the supplier.
const BIDS: &str = "2020-04-15 08:05:00,4.00,C,supplier1\n\
    2020-04-15 08:07:00,2.00,A,supplier1\n\
    2020-04-15 08:09:00,5.00,D,supplier2\n\
    2020-04-15 08:11:00,3.00,B,supplier2\n\
    2020-04-15 08:13:00,1.00,E,supplier1\n\
    2020-04-15 08:17:00,6.00,F,supplier2\n";

/// The bids of the page on sessions.
const BIDS_OF_SESSIONS: &str = "2020-04-15 08:07:00,4.00,A,\n\
    2020-04-15 08:06:00,2.00,A,\n\
    2020-04-15 08:09:00,5.00,B,\n\
    2020-04-15 08:08:00,3.00,A,\n\
    2020-04-15 08:17:00,1.00,B,\n";

/// The bids of the pages on Top-N and deduplication.
const BIDS_OF_TOP_N: &str = "2020-04-15 08:05:00,4.00,A,supplier1\n\
    2020-04-15 08:06:00,4.00,C,supplier2\n\
    2020-04-15 08:07:00,2.00,G,supplier1\n\
    2020-04-15 08:08:00,2.00,B,supplier3\n\
    2020-04-15 08:09:00,5.00,D,supplier4\n\
    2020-04-15 08:11:00,2.00,B,supplier3\n\
    2020-04-15 08:13:00,1.00,E,supplier1\n\
    2020-04-15 08:15:00,3.00,H,supplier2\n\
    2020-04-15 08:17:00,6.00,F,supplier5\n";

const BID: &str = "CREATE TABLE Bid (bidtime TIMESTAMP(3), price DECIMAL(10, 2), item STRING, supplier_id STRING,
    WATERMARK FOR bidtime AS bidtime - INTERVAL '1' SECOND)
    WITH ('connector' = 'filesystem', 'path' = 'rows.csv', 'format' = 'csv');\n";

/// A table as the documentation draws it, or as the program prints it: the header, and the rows in the order of their
/// texts, as the order of rows means nothing.
fn table<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<String> {
    let cell = |cell: &str| {
        let cell = cell.trim();
        let cell = cell.strip_suffix(":00.000").or(cell.strip_suffix(".000")).unwrap_or(cell);
        if matches!(cell, "(NULL)" | "null" | "NULL") { String::new() } else { cell.to_string() }
    };
    let mut rows: Vec<String> = lines.map(|line| line.split('|').map(cell).collect::<Vec<_>>().join(" | ")).collect();
    rows[1..].sort();
    rows
}

fn documented(drawn: &str) -> Vec<String> {
    let rows = drawn.lines().map(str::trim).filter(|line| line.starts_with('|'));
    table(rows.map(|line| line.trim_matches('|')))
}

/// Runs a script in a folder with these files and compares what it prints.
fn prints_from(script: &str, files: &[(&str, &str)], drawn: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, text) in files.iter().chain(&[("job.sql", script)]) {
        std::fs::write(folder.path().join(name), text).expect("a writable folder");
    }
    for shards in ["1", "3"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_transom"));
        command.current_dir(folder.path()).args(["run", "job.sql", "-q", "--shards", shards]);
        let output = command.output().expect("the binary runs");
        assert!(output.status.success(), "{script}\n{}", String::from_utf8_lossy(&output.stderr));
        let printed = String::from_utf8(output.stdout).expect("text");
        assert_eq!(table(printed.lines().filter(|line| line.contains('|'))), documented(drawn), "{script}");
    }
}

fn prints(script: &str, rows: &str, drawn: &str) {
    prints_from(script, &[("rows.csv", rows)], drawn);
}

/// The same of a query over bids.
fn bids_print(rows: &str, query: &str, drawn: &str) {
    prints(&format!("{BID}{query};"), rows, drawn);
}

/// The same of a query over the bids of the page "Window TVF", which have no suppliers.
fn items_print(rows: &str, query: &str, drawn: &str) {
    let rows: String = rows.lines().filter_map(|row| row.rsplit_once(',')).map(|(row, _)| format!("{row}\n")).collect();
    prints(&format!("{}{query};", BID.replace(", supplier_id STRING", "")), &rows, drawn);
}

const WINDOWED: &str = "SELECT * FROM TABLE";
const SUMS: &str = "SELECT window_start, window_end, SUM(price) AS price FROM TABLE";
const EACH: &str = "GROUP BY window_start, window_end";

/// Page "Window TVF" (window-tvf), TUMBLE; its sums also on page "Window Aggregation".
#[test]
fn tumbling_windows() {
    let rows = "
        |          bidtime | price | item |     window_start |       window_end |            window_time  |
        | 2020-04-15 08:05 |  4.00 | C    | 2020-04-15 08:00 | 2020-04-15 08:10 | 2020-04-15 08:09:59.999 |
        | 2020-04-15 08:07 |  2.00 | A    | 2020-04-15 08:00 | 2020-04-15 08:10 | 2020-04-15 08:09:59.999 |
        | 2020-04-15 08:09 |  5.00 | D    | 2020-04-15 08:00 | 2020-04-15 08:10 | 2020-04-15 08:09:59.999 |
        | 2020-04-15 08:11 |  3.00 | B    | 2020-04-15 08:10 | 2020-04-15 08:20 | 2020-04-15 08:19:59.999 |
        | 2020-04-15 08:13 |  1.00 | E    | 2020-04-15 08:10 | 2020-04-15 08:20 | 2020-04-15 08:19:59.999 |
        | 2020-04-15 08:17 |  6.00 | F    | 2020-04-15 08:10 | 2020-04-15 08:20 | 2020-04-15 08:19:59.999 |";
    items_print(BIDS, &format!("{WINDOWED}(TUMBLE(TABLE Bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES))"), rows);
    let named = "(TUMBLE(DATA => TABLE Bid, TIMECOL => DESCRIPTOR(bidtime), SIZE => INTERVAL '10' MINUTES))";
    items_print(BIDS, &format!("{WINDOWED}{named}"), rows);
    let sums = "
        |     window_start |       window_end | price |
        | 2020-04-15 08:00 | 2020-04-15 08:10 | 11.00 |
        | 2020-04-15 08:10 | 2020-04-15 08:20 | 10.00 |";
    bids_print(BIDS, &format!("{SUMS}(TUMBLE(TABLE Bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES)) {EACH}"), sums);
}

/// Page "Window TVF" (window-tvf), HOP; its sums also on page "Window Aggregation".
#[test]
fn hopping_windows() {
    let rows = "
        |          bidtime | price | item |     window_start |       window_end |           window_time   |
        | 2020-04-15 08:05 |  4.00 | C    | 2020-04-15 08:00 | 2020-04-15 08:10 | 2020-04-15 08:09:59.999 |
        | 2020-04-15 08:05 |  4.00 | C    | 2020-04-15 08:05 | 2020-04-15 08:15 | 2020-04-15 08:14:59.999 |
        | 2020-04-15 08:07 |  2.00 | A    | 2020-04-15 08:00 | 2020-04-15 08:10 | 2020-04-15 08:09:59.999 |
        | 2020-04-15 08:07 |  2.00 | A    | 2020-04-15 08:05 | 2020-04-15 08:15 | 2020-04-15 08:14:59.999 |
        | 2020-04-15 08:09 |  5.00 | D    | 2020-04-15 08:00 | 2020-04-15 08:10 | 2020-04-15 08:09:59.999 |
        | 2020-04-15 08:09 |  5.00 | D    | 2020-04-15 08:05 | 2020-04-15 08:15 | 2020-04-15 08:14:59.999 |
        | 2020-04-15 08:11 |  3.00 | B    | 2020-04-15 08:05 | 2020-04-15 08:15 | 2020-04-15 08:14:59.999 |
        | 2020-04-15 08:11 |  3.00 | B    | 2020-04-15 08:10 | 2020-04-15 08:20 | 2020-04-15 08:19:59.999 |
        | 2020-04-15 08:13 |  1.00 | E    | 2020-04-15 08:05 | 2020-04-15 08:15 | 2020-04-15 08:14:59.999 |
        | 2020-04-15 08:13 |  1.00 | E    | 2020-04-15 08:10 | 2020-04-15 08:20 | 2020-04-15 08:19:59.999 |
        | 2020-04-15 08:17 |  6.00 | F    | 2020-04-15 08:10 | 2020-04-15 08:20 | 2020-04-15 08:19:59.999 |
        | 2020-04-15 08:17 |  6.00 | F    | 2020-04-15 08:15 | 2020-04-15 08:25 | 2020-04-15 08:24:59.999 |";
    let hop = "(HOP(TABLE Bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTES, INTERVAL '10' MINUTES))";
    items_print(BIDS, &format!("{WINDOWED}{hop}"), rows);
    let named = "(HOP(DATA => TABLE Bid, TIMECOL => DESCRIPTOR(bidtime), SLIDE => INTERVAL '5' MINUTES,
        SIZE => INTERVAL '10' MINUTES))";
    items_print(BIDS, &format!("{WINDOWED}{named}"), rows);
    let sums = "
        |     window_start |       window_end | price |
        | 2020-04-15 08:00 | 2020-04-15 08:10 | 11.00 |
        | 2020-04-15 08:05 | 2020-04-15 08:15 | 15.00 |
        | 2020-04-15 08:10 | 2020-04-15 08:20 | 10.00 |
        | 2020-04-15 08:15 | 2020-04-15 08:25 |  6.00 |";
    bids_print(BIDS, &format!("{SUMS}{hop} {EACH}"), sums);
}

/// Page "Window TVF" (window-tvf), CUMULATE; its sums also on page "Window Aggregation".
#[test]
fn cumulating_windows() {
    let rows = "
        |          bidtime | price | item |     window_start |       window_end |            window_time  |
        | 2020-04-15 08:05 |  4.00 | C    | 2020-04-15 08:00 | 2020-04-15 08:06 | 2020-04-15 08:05:59.999 |
        | 2020-04-15 08:05 |  4.00 | C    | 2020-04-15 08:00 | 2020-04-15 08:08 | 2020-04-15 08:07:59.999 |
        | 2020-04-15 08:05 |  4.00 | C    | 2020-04-15 08:00 | 2020-04-15 08:10 | 2020-04-15 08:09:59.999 |
        | 2020-04-15 08:07 |  2.00 | A    | 2020-04-15 08:00 | 2020-04-15 08:08 | 2020-04-15 08:07:59.999 |
        | 2020-04-15 08:07 |  2.00 | A    | 2020-04-15 08:00 | 2020-04-15 08:10 | 2020-04-15 08:09:59.999 |
        | 2020-04-15 08:09 |  5.00 | D    | 2020-04-15 08:00 | 2020-04-15 08:10 | 2020-04-15 08:09:59.999 |
        | 2020-04-15 08:11 |  3.00 | B    | 2020-04-15 08:10 | 2020-04-15 08:12 | 2020-04-15 08:11:59.999 |
        | 2020-04-15 08:11 |  3.00 | B    | 2020-04-15 08:10 | 2020-04-15 08:14 | 2020-04-15 08:13:59.999 |
        | 2020-04-15 08:11 |  3.00 | B    | 2020-04-15 08:10 | 2020-04-15 08:16 | 2020-04-15 08:15:59.999 |
        | 2020-04-15 08:11 |  3.00 | B    | 2020-04-15 08:10 | 2020-04-15 08:18 | 2020-04-15 08:17:59.999 |
        | 2020-04-15 08:11 |  3.00 | B    | 2020-04-15 08:10 | 2020-04-15 08:20 | 2020-04-15 08:19:59.999 |
        | 2020-04-15 08:13 |  1.00 | E    | 2020-04-15 08:10 | 2020-04-15 08:14 | 2020-04-15 08:13:59.999 |
        | 2020-04-15 08:13 |  1.00 | E    | 2020-04-15 08:10 | 2020-04-15 08:16 | 2020-04-15 08:15:59.999 |
        | 2020-04-15 08:13 |  1.00 | E    | 2020-04-15 08:10 | 2020-04-15 08:18 | 2020-04-15 08:17:59.999 |
        | 2020-04-15 08:13 |  1.00 | E    | 2020-04-15 08:10 | 2020-04-15 08:20 | 2020-04-15 08:19:59.999 |
        | 2020-04-15 08:17 |  6.00 | F    | 2020-04-15 08:10 | 2020-04-15 08:18 | 2020-04-15 08:17:59.999 |
        | 2020-04-15 08:17 |  6.00 | F    | 2020-04-15 08:10 | 2020-04-15 08:20 | 2020-04-15 08:19:59.999 |";
    let cumulate = "(CUMULATE(TABLE Bid, DESCRIPTOR(bidtime), INTERVAL '2' MINUTES, INTERVAL '10' MINUTES))";
    items_print(BIDS, &format!("{WINDOWED}{cumulate}"), rows);
    let named = "(CUMULATE(DATA => TABLE Bid, TIMECOL => DESCRIPTOR(bidtime), STEP => INTERVAL '2' MINUTES,
        SIZE => INTERVAL '10' MINUTES))";
    items_print(BIDS, &format!("{WINDOWED}{named}"), rows);
    let sums = "
        |     window_start |       window_end | price |
        | 2020-04-15 08:00 | 2020-04-15 08:06 |  4.00 |
        | 2020-04-15 08:00 | 2020-04-15 08:08 |  6.00 |
        | 2020-04-15 08:00 | 2020-04-15 08:10 | 11.00 |
        | 2020-04-15 08:10 | 2020-04-15 08:12 |  3.00 |
        | 2020-04-15 08:10 | 2020-04-15 08:14 |  4.00 |
        | 2020-04-15 08:10 | 2020-04-15 08:16 |  4.00 |
        | 2020-04-15 08:10 | 2020-04-15 08:18 | 10.00 |
        | 2020-04-15 08:10 | 2020-04-15 08:20 | 10.00 |";
    bids_print(BIDS, &format!("{SUMS}{cumulate} {EACH}"), sums);
}

/// Page "Window TVF" (window-tvf), SESSION.
#[test]
fn sessions() {
    let session = "(SESSION(TABLE Bid PARTITION BY item, DESCRIPTOR(bidtime), INTERVAL '5' MINUTES))";
    let rows = "
        |          bidtime | price | item |     window_start |       window_end |             window_time |
        | 2020-04-15 08:07 |  4.00 | A    | 2020-04-15 08:06 | 2020-04-15 08:13 | 2020-04-15 08:12:59.999 |
        | 2020-04-15 08:06 |  2.00 | A    | 2020-04-15 08:06 | 2020-04-15 08:13 | 2020-04-15 08:12:59.999 |
        | 2020-04-15 08:08 |  3.00 | A    | 2020-04-15 08:06 | 2020-04-15 08:13 | 2020-04-15 08:12:59.999 |
        | 2020-04-15 08:09 |  5.00 | B    | 2020-04-15 08:09 | 2020-04-15 08:14 | 2020-04-15 08:13:59.999 |
        | 2020-04-15 08:17 |  1.00 | B    | 2020-04-15 08:17 | 2020-04-15 08:22 | 2020-04-15 08:21:59.999 |";
    items_print(BIDS_OF_SESSIONS, &format!("{WINDOWED}{session}"), rows);
    let sums = "
        |     window_start |       window_end | item | total_price |
        | 2020-04-15 08:06 | 2020-04-15 08:13 | A    |        9.00 |
        | 2020-04-15 08:09 | 2020-04-15 08:14 | B    |        5.00 |
        | 2020-04-15 08:17 | 2020-04-15 08:22 | B    |        1.00 |";
    let query = format!(
        "SELECT window_start, window_end, item, SUM(price) AS total_price FROM TABLE{session}
        GROUP BY item, window_start, window_end"
    );
    bids_print(BIDS_OF_SESSIONS, &query, sums);
    let all = "
        |     window_start |       window_end | price |
        | 2020-04-15 08:06 | 2020-04-15 08:14 | 14.00 |
        | 2020-04-15 08:17 | 2020-04-15 08:22 |  1.00 |";
    let session = "(SESSION(TABLE Bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTES))";
    bids_print(BIDS_OF_SESSIONS, &format!("{SUMS}{session} {EACH}"), all);
}

/// Page "Window TVF" (window-tvf), the offset of windows.
#[test]
fn windows_with_an_offset() {
    let rows = "
        |          bidtime | price | item |     window_start |       window_end |            window_time  |
        | 2020-04-15 08:05 |  4.00 | C    | 2020-04-15 08:01 | 2020-04-15 08:11 | 2020-04-15 08:10:59.999 |
        | 2020-04-15 08:07 |  2.00 | A    | 2020-04-15 08:01 | 2020-04-15 08:11 | 2020-04-15 08:10:59.999 |
        | 2020-04-15 08:09 |  5.00 | D    | 2020-04-15 08:01 | 2020-04-15 08:11 | 2020-04-15 08:10:59.999 |
        | 2020-04-15 08:11 |  3.00 | B    | 2020-04-15 08:11 | 2020-04-15 08:21 | 2020-04-15 08:20:59.999 |
        | 2020-04-15 08:13 |  1.00 | E    | 2020-04-15 08:11 | 2020-04-15 08:21 | 2020-04-15 08:20:59.999 |
        | 2020-04-15 08:17 |  6.00 | F    | 2020-04-15 08:11 | 2020-04-15 08:21 | 2020-04-15 08:20:59.999 |";
    let tumble = "(TUMBLE(TABLE Bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES, INTERVAL '1' MINUTES))";
    items_print(BIDS, &format!("{WINDOWED}{tumble}"), rows);
    let named = "(TUMBLE(DATA => TABLE Bid, TIMECOL => DESCRIPTOR(bidtime), SIZE => INTERVAL '10' MINUTES,
        `OFFSET` => INTERVAL '1' MINUTES))";
    items_print(BIDS, &format!("{WINDOWED}{named}"), rows);
    let sums = "
        |     window_start |       window_end | price |
        | 2020-04-15 08:01 | 2020-04-15 08:11 | 11.00 |
        | 2020-04-15 08:11 | 2020-04-15 08:21 | 10.00 |";
    bids_print(BIDS, &format!("{SUMS}{tumble} {EACH}"), sums);
    // what the page says in words; its 16 and -16 minutes are refused, in Flink too
    for (minutes, start, end) in [
        ("-6", "2021-06-29 23:54", "2021-06-30 00:04"),
        ("-4", "2021-06-29 23:56", "2021-06-30 00:06"),
        ("0", "2021-06-30 00:00", "2021-06-30 00:10"),
        ("4", "2021-06-29 23:54", "2021-06-30 00:04"),
        ("6", "2021-06-29 23:56", "2021-06-30 00:06"),
    ] {
        let tumble =
            format!("TUMBLE(TABLE Bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE, INTERVAL '{minutes}' MINUTE)");
        let query = format!("SELECT window_start, window_end FROM TABLE({tumble})");
        let drawn = format!("| window_start | window_end |\n| {start} | {end} |");
        bids_print("2021-06-30 00:00:04,1.00,A,\n", &query, &drawn);
    }
}

/// Page "Window Aggregation" (window-agg): sessions, grouping sets, windows over windows.
#[test]
fn aggregations_of_windows() {
    let session = "SESSION(TABLE Bid PARTITION BY supplier_id, DESCRIPTOR(bidtime), INTERVAL '2' MINUTES)";
    let query = format!(
        "SELECT window_start, window_end, supplier_id, SUM(price) AS total_price FROM TABLE({session})
        GROUP BY window_start, window_end, supplier_id"
    );
    let sessions = "
        |     window_start |       window_end | supplier_id | total_price |
        | 2020-04-15 08:05 | 2020-04-15 08:09 | supplier1   | 6.00        |
        | 2020-04-15 08:09 | 2020-04-15 08:13 | supplier2   | 8.00        |
        | 2020-04-15 08:13 | 2020-04-15 08:15 | supplier1   | 1.00        |
        | 2020-04-15 08:17 | 2020-04-15 08:19 | supplier2   | 6.00        |";
    bids_print(BIDS, &query, sessions);
    let sets = "
        |     window_start |       window_end | supplier_id | price |
        | 2020-04-15 08:00 | 2020-04-15 08:10 |      (NULL) | 11.00 |
        | 2020-04-15 08:00 | 2020-04-15 08:10 |   supplier2 |  5.00 |
        | 2020-04-15 08:00 | 2020-04-15 08:10 |   supplier1 |  6.00 |
        | 2020-04-15 08:10 | 2020-04-15 08:20 |      (NULL) | 10.00 |
        | 2020-04-15 08:10 | 2020-04-15 08:20 |   supplier2 |  9.00 |
        | 2020-04-15 08:10 | 2020-04-15 08:20 |   supplier1 |  1.00 |";
    let tumble = "TUMBLE(TABLE Bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES)";
    for grouping in ["GROUPING SETS ((supplier_id), ())", "ROLLUP (supplier_id)"] {
        let query = format!(
            "SELECT window_start, window_end, supplier_id, SUM(price) AS price FROM TABLE({tumble})
            GROUP BY window_start, window_end, {grouping}"
        );
        bids_print(BIDS, &query, sets);
    }
    // the page shows no rows for CUBE: each bid of the window, each supplier of it, and all of it
    let cube = "
        |     window_start |       window_end | item | supplier_id | price |
        | 2020-04-15 08:10 | 2020-04-15 08:20 | B    | supplier2   |  3.00 |
        | 2020-04-15 08:10 | 2020-04-15 08:20 | E    | supplier1   |  1.00 |
        | 2020-04-15 08:10 | 2020-04-15 08:20 | F    | supplier2   |  6.00 |
        | 2020-04-15 08:10 | 2020-04-15 08:20 | B    | null        |  3.00 |
        | 2020-04-15 08:10 | 2020-04-15 08:20 | E    | null        |  1.00 |
        | 2020-04-15 08:10 | 2020-04-15 08:20 | F    | null        |  6.00 |
        | 2020-04-15 08:10 | 2020-04-15 08:20 | null | supplier1   |  1.00 |
        | 2020-04-15 08:10 | 2020-04-15 08:20 | null | supplier2   |  9.00 |
        | 2020-04-15 08:10 | 2020-04-15 08:20 | null | null        | 10.00 |";
    let second: String = BIDS.lines().skip(3).map(|line| format!("{line}\n")).collect();
    let sets = "GROUPING SETS ((supplier_id, item), (supplier_id), (item), ())";
    for grouping in ["CUBE (supplier_id, item)", sets] {
        let query = format!(
            "SELECT window_start, window_end, item, supplier_id, SUM(price) AS price FROM TABLE({tumble})
            GROUP BY window_start, window_end, {grouping}"
        );
        bids_print(&second, &query, cube);
    }
    let cascade = format!(
        "{BID}CREATE VIEW window1 AS
        SELECT window_start AS window_5mintumble_start, window_end AS window_5mintumble_end, window_time AS rowtime,
            SUM(price) AS partial_price
        FROM TABLE(TUMBLE(TABLE Bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTES))
        GROUP BY supplier_id, window_start, window_end, window_time;
        SELECT window_start, window_end, SUM(partial_price) AS total_price
        FROM TABLE(TUMBLE(TABLE window1, DESCRIPTOR(rowtime), INTERVAL '10' MINUTES))
        GROUP BY window_start, window_end;"
    );
    // no rows on the page either; they must be those of windows of 10 minutes
    let sums = "
        |     window_start |       window_end | total_price |
        | 2020-04-15 08:00 | 2020-04-15 08:10 |       11.00 |
        | 2020-04-15 08:10 | 2020-04-15 08:20 |       10.00 |";
    prints(&cascade, BIDS, sums);
}

/// Page "Window Top-N" (window-topn). Its second table leaves `window_time` out of the `*`.
#[test]
fn top_n_of_windows() {
    let query = "SELECT *
        FROM (
            SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY price DESC) AS rownum
            FROM (
                SELECT window_start, window_end, supplier_id, SUM(price) AS price, COUNT(*) AS cnt
                FROM TABLE(TUMBLE(TABLE Bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES))
                GROUP BY window_start, window_end, supplier_id
            )
        ) WHERE rownum <= 3";
    let suppliers = "
        |     window_start |       window_end | supplier_id | price | cnt | rownum |
        | 2020-04-15 08:00 | 2020-04-15 08:10 |   supplier1 |  6.00 |   2 |      1 |
        | 2020-04-15 08:00 | 2020-04-15 08:10 |   supplier4 |  5.00 |   1 |      2 |
        | 2020-04-15 08:00 | 2020-04-15 08:10 |   supplier2 |  4.00 |   1 |      3 |
        | 2020-04-15 08:10 | 2020-04-15 08:20 |   supplier5 |  6.00 |   1 |      1 |
        | 2020-04-15 08:10 | 2020-04-15 08:20 |   supplier2 |  3.00 |   1 |      2 |
        | 2020-04-15 08:10 | 2020-04-15 08:20 |   supplier3 |  2.00 |   1 |      3 |";
    bids_print(BIDS_OF_TOP_N, query, suppliers);
    let query = "SELECT bidtime, price, item, supplier_id, window_start, window_end, rownum
        FROM (
            SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY price DESC) AS rownum
            FROM TABLE(TUMBLE(TABLE Bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES))
        ) WHERE rownum <= 3";
    let items = "
        |          bidtime | price | item | supplier_id |     window_start |       window_end | rownum |
        | 2020-04-15 08:05 |  4.00 |    A |   supplier1 | 2020-04-15 08:00 | 2020-04-15 08:10 |      2 |
        | 2020-04-15 08:06 |  4.00 |    C |   supplier2 | 2020-04-15 08:00 | 2020-04-15 08:10 |      3 |
        | 2020-04-15 08:09 |  5.00 |    D |   supplier4 | 2020-04-15 08:00 | 2020-04-15 08:10 |      1 |
        | 2020-04-15 08:11 |  2.00 |    B |   supplier3 | 2020-04-15 08:10 | 2020-04-15 08:20 |      3 |
        | 2020-04-15 08:15 |  3.00 |    H |   supplier2 | 2020-04-15 08:10 | 2020-04-15 08:20 |      2 |
        | 2020-04-15 08:17 |  6.00 |    F |   supplier5 | 2020-04-15 08:10 | 2020-04-15 08:20 |      1 |";
    bids_print(BIDS_OF_TOP_N, query, items);
}

/// Page "Window Deduplication" (window-deduplication).
#[test]
fn the_last_bid_of_each_window() {
    let query = "SELECT *
        FROM (
            SELECT bidtime, price, item, supplier_id, window_start, window_end,
                ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY bidtime DESC) AS rownum
            FROM TABLE(TUMBLE(TABLE Bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES))
        ) WHERE rownum <= 1";
    let last = "
        |          bidtime | price | item | supplier_id |     window_start |       window_end | rownum |
        | 2020-04-15 08:09 |  5.00 |    D |   supplier4 | 2020-04-15 08:00 | 2020-04-15 08:10 |      1 |
        | 2020-04-15 08:17 |  6.00 |    F |   supplier5 | 2020-04-15 08:10 | 2020-04-15 08:20 |      1 |";
    bids_print(BIDS_OF_TOP_N, query, last);
}

/// A query over the two tables of the page "Window Join" (window-join). One of their rows, L3, comes after a row of the
/// next window, yet is not late: the other table still holds the window open.
fn joins_print(query: &str, drawn: &str) {
    let tables = ["LeftTable", "RightTable"].map(|name| {
        format!(
            "CREATE TABLE {name} (row_time TIMESTAMP(3), num INT, id STRING,
            WATERMARK FOR row_time AS row_time - INTERVAL '1' SECOND)
            WITH ('connector' = 'filesystem', 'path' = '{name}.csv', 'format' = 'csv');\n"
        )
    });
    let windows =
        |name: &str| format!("(SELECT * FROM TABLE(TUMBLE(TABLE {name}, DESCRIPTOR(row_time), INTERVAL '5' MINUTES)))");
    let query = query.replace("LEFT_WINDOWS", &windows("LeftTable")).replace("RIGHT_WINDOWS", &windows("RightTable"));
    let left = "2020-04-15 12:02:00,1,L1\n2020-04-15 12:06:00,2,L2\n2020-04-15 12:03:00,3,L3\n";
    let right = "2020-04-15 12:01:00,2,R2\n2020-04-15 12:04:00,3,R3\n2020-04-15 12:05:00,4,R4\n";
    let files = [("LeftTable.csv", left), ("RightTable.csv", right)];
    prints_from(&format!("{}{query};", tables.concat()), &files, drawn);
}

/// Page "Window Join" (window-join), FULL JOIN.
#[test]
fn joins_of_windows() {
    let query = "SELECT L.num AS L_Num, L.id AS L_Id, R.num AS R_Num, R.id AS R_Id,
        COALESCE(L.window_start, R.window_start) AS window_start, COALESCE(L.window_end, R.window_end) AS window_end
        FROM LEFT_WINDOWS L FULL JOIN RIGHT_WINDOWS R
        ON L.num = R.num AND L.window_start = R.window_start AND L.window_end = R.window_end";
    let pairs = "
        | L_Num | L_Id | R_Num | R_Id |     window_start |       window_end |
        |     1 |   L1 |  null | null | 2020-04-15 12:00 | 2020-04-15 12:05 |
        |  null | null |     2 |   R2 | 2020-04-15 12:00 | 2020-04-15 12:05 |
        |     3 |   L3 |     3 |   R3 | 2020-04-15 12:00 | 2020-04-15 12:05 |
        |     2 |   L2 |  null | null | 2020-04-15 12:05 | 2020-04-15 12:10 |
        |  null | null |     4 |   R4 | 2020-04-15 12:05 | 2020-04-15 12:10 |";
    joins_print(query, pairs);
}

/// Page "Window Join" (window-join), SEMI and ANTI.
#[test]
fn rows_with_and_without_a_partner_in_the_window() {
    let with = "
        |         row_time | num | id |     window_start |       window_end |            window_time  |
        | 2020-04-15 12:03 |   3 | L3 | 2020-04-15 12:00 | 2020-04-15 12:05 | 2020-04-15 12:04:59.999 |";
    let without = "
        |         row_time | num | id |     window_start |       window_end |            window_time  |
        | 2020-04-15 12:02 |   1 | L1 | 2020-04-15 12:00 | 2020-04-15 12:05 | 2020-04-15 12:04:59.999 |
        | 2020-04-15 12:06 |   2 | L2 | 2020-04-15 12:05 | 2020-04-15 12:10 | 2020-04-15 12:09:59.999 |";
    for (not, drawn) in [("", with), ("NOT", without)] {
        let of_list = format!(
            "SELECT * FROM LEFT_WINDOWS L WHERE L.num {not} IN (
                SELECT num FROM RIGHT_WINDOWS R WHERE L.window_start = R.window_start AND L.window_end = R.window_end)"
        );
        joins_print(&of_list, drawn);
        let of_rows = format!(
            "SELECT * FROM LEFT_WINDOWS L WHERE {not} EXISTS (
                SELECT * FROM RIGHT_WINDOWS R
                WHERE L.num = R.num AND L.window_start = R.window_start AND L.window_end = R.window_end)"
        );
        joins_print(&of_rows, drawn);
    }
}

/// Page "Over Aggregation" (over-agg). It shows no rows: these are ours, with the results of Flink (case
/// 827 of the recorded ones).
#[test]
fn sums_of_the_last_hour() {
    let orders = "CREATE TABLE Orders (order_id STRING, order_time TIMESTAMP(3), amount INT, product STRING,
        WATERMARK FOR order_time AS order_time)
        WITH ('connector' = 'filesystem', 'path' = 'rows.csv', 'format' = 'csv');\n";
    let rows = "o1,2020-04-15 08:00:00,4,tea\n\
        o2,2020-04-15 08:30:00,2,tea\n\
        o3,2020-04-15 08:40:00,9,rice\n\
        o4,2020-04-15 09:00:00,5,tea\n\
        o5,2020-04-15 09:30:01,1,tea\n";
    let query = "SELECT order_id, order_time, amount,
            SUM(amount) OVER (
                PARTITION BY product
                ORDER BY order_time
                RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW
            ) AS one_hour_prod_amount_sum
        FROM Orders;";
    let sums = "
        | order_id |          order_time | amount | one_hour_prod_amount_sum |
        |       o1 | 2020-04-15 08:00    |      4 |                        4 |
        |       o2 | 2020-04-15 08:30    |      2 |                        6 |
        |       o3 | 2020-04-15 08:40    |      9 |                        9 |
        |       o4 | 2020-04-15 09:00    |      5 |                       11 |
        |       o5 | 2020-04-15 09:30:01 |      1 |                        6 |";
    prints(&format!("{orders}{query}"), rows, sums);
    let query =
        "SELECT order_id, order_time, amount, SUM(amount) OVER w AS sum_amount, AVG(amount) OVER w AS avg_amount
        FROM Orders
        WINDOW w AS (
            PARTITION BY product
            ORDER BY order_time
            RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW);";
    let sums = "
        | order_id |          order_time | amount | sum_amount | avg_amount |
        |       o1 | 2020-04-15 08:00    |      4 |          4 |          4 |
        |       o2 | 2020-04-15 08:30    |      2 |          6 |          3 |
        |       o3 | 2020-04-15 08:40    |      9 |          9 |          9 |
        |       o4 | 2020-04-15 09:00    |      5 |         11 |          3 |
        |       o5 | 2020-04-15 09:30:01 |      1 |          6 |          3 |";
    prints(&format!("{orders}{query}"), rows, sums);
}
