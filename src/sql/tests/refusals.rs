//! Each refusal with its message, its place and its remedy.

use super::{options, refused, variables};
use crate::error::ErrorKind::{Script, Unsupported};
use crate::sql::compile;

/// Checks message and remedy; the place is where `«` stands.
fn check(script: &str, kind: crate::error::ErrorKind, message: &str, remedy: &str) {
    let error = refused(script);
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.message().contains(message), "{error}");
    let help = error.remedy().unwrap_or_default();
    assert!(help.contains(remedy), "{error}\nremedy: {help}");
}

fn windowed(function: &str) -> String {
    format!(
        "INSERT INTO results SELECT k, window_start, window_end, COUNT(*) FROM TABLE({function}) GROUP BY k, window_start, window_end;"
    )
}

#[test]
fn sizes_of_windows_are_checked() {
    let cases = [
        ("TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL «'-10' SECOND)", "must be positive, not -10000 ms"),
        ("TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL «'0' SECOND)", "must be positive, not 0 ms"),
        ("TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL «'1' MONTH)", "cannot be counted in months"),
        ("TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL «'10' SECOND)", "offset of TUMBLE"),
        ("HOP(TABLE src, DESCRIPTOR(ts), INTERVAL «'4' SECOND, INTERVAL '10' SECOND)", "multiple of the slide"),
        ("HOP(TABLE src, DESCRIPTOR(ts), INTERVAL «'10' SECOND, INTERVAL '5' SECOND)", "multiple of the slide"),
        ("CUMULATE(TABLE src, DESCRIPTOR(ts), INTERVAL «'3' SECOND, INTERVAL '10' SECOND)", "multiple of the step"),
        ("HOP(TABLE src, DESCRIPTOR(ts), INTERVAL «'0.001' SECOND, INTERVAL '1' DAY)", "86400000 windows of HOP"),
        ("SESSION(TABLE src PARTITION BY k, DESCRIPTOR(ts), INTERVAL «'-5' MINUTE)", "gap of SESSION must be positive"),
        ("TUMBLE(TABLE src, DESCRIPTOR(ts), «10)", "the size of TUMBLE is an interval"),
    ];
    for (function, message) in cases {
        check(&windowed(function), Script, message, "");
    }
}

#[test]
fn the_first_number_of_an_interval_has_as_many_digits_as_its_unit_says() {
    let cases = [
        ("INTERVAL «'100' SECOND", "100 has more than the 2 digits of SECOND", "SECOND(3)"),
        ("INTERVAL «'1000' SECOND(3)", "1000 has more than the 3 digits of SECOND", "SECOND(4)"),
        ("INTERVAL «'100:30' HOUR TO MINUTE", "100 has more than the 2 digits of HOUR", "HOUR(3)"),
        ("INTERVAL «'100' WEEK", "100 has more than the 2 digits of WEEK", "WEEK(3)"),
    ];
    for (size, message, remedy) in cases {
        check(&windowed(&format!("TUMBLE(TABLE src, DESCRIPTOR(ts), {size})")), Script, message, remedy);
    }
    for size in ["'0010' SECOND", "'100' SECOND(3)", "'99:30' HOUR TO MINUTE", "'1000' MINUTES(4)"] {
        let size = format!("TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL {size})");
        super::with_tables(&windowed(&size)).unwrap_or_else(|error| panic!("{size}: {error}"));
    }
}

#[test]
fn arguments_of_window_functions_are_checked() {
    let cases = [
        ("«TUMBLE(TABLE src, DESCRIPTOR(ts))", "takes 3 or 4 arguments, not 2", "write TUMBLE(TABLE t"),
        ("«TUMBLE(DATA => TABLE src, TIMECOL => DESCRIPTOR(ts))", "needs the argument SIZE", "write TUMBLE"),
        (
            "TUMBLE(DATA => TABLE src, TIMECOL => DESCRIPTOR(ts), «SIZ => INTERVAL '1' SECOND)",
            "no argument 'SIZ'",
            "SIZE",
        ),
        ("«TUMBLE(TABLE src, DESCRIPTOR(ts), SIZE => INTERVAL '1' SECOND)", "do not mix", "name all"),
        ("TUMBLE(«src, DESCRIPTOR(ts), INTERVAL '1' SECOND)", "first argument of TUMBLE is a table", "TABLE t"),
        ("TUMBLE(TABLE src, «ts, INTERVAL '1' SECOND)", "expected DESCRIPTOR", "DESCRIPTOR(ts)"),
        (
            "SESSION(«DESCRIPTOR(ts), TABLE src PARTITION BY k, INTERVAL '5' MINUTE)",
            "first argument",
            "SESSION(TABLE t",
        ),
        (
            "SESSION(TIMECOL => «DESCRIPTOR(ts), GAP => INTERVAL '5' MINUTES, DATA => TABLE src)",
            "must be the first",
            "DATA =>",
        ),
        ("TUMBLE(TABLE src PARTITION BY «k, DESCRIPTOR(ts), INTERVAL '5' MINUTE)", "takes no PARTITION BY", "GROUP BY"),
        ("TUMBLE(TABLE «scr, DESCRIPTOR(ts), INTERVAL '5' MINUTE)", "'scr' does not exist", "did you mean 'src'?"),
    ];
    for (function, message, remedy) in cases {
        check(&windowed(function), Script, message, remedy);
    }
}

#[test]
fn the_time_column_must_be_an_event_time_attribute() {
    let cases = [
        ("TUMBLE(TABLE plain, DESCRIPTOR(«ts), INTERVAL '1' SECOND)", "plain TIMESTAMP(3)", "WATERMARK FOR ts AS ts"),
        ("TUMBLE(TABLE src, DESCRIPTOR(«v), INTERVAL '1' SECOND)", "but 'v' is INT", "computed column"),
        (
            "TUMBLE(TABLE src, DESCRIPTOR(«nope), INTERVAL '1' SECOND)",
            "column 'nope' not found",
            "the columns here are",
        ),
        ("TUMBLE(TABLE src, DESCRIPTOR(«TS), INTERVAL '1' SECOND)", "'TS' not found", "case-sensitive"),
        (
            "TUMBLE((SELECT k, CAST(ts AS TIMESTAMP(0)) AS t FROM src), DESCRIPTOR(«t), INTERVAL '1' SECOND)",
            "plain TIMESTAMP(0)",
            "a CAST or a computation ends the time attribute",
        ),
        (
            "TUMBLE((SELECT k, window_start AS ws FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '1' SECOND))), \
             DESCRIPTOR(«ws), INTERVAL '2' SECOND)",
            "plain TIMESTAMP(3)",
            "use window_time",
        ),
    ];
    for (function, message, remedy) in cases {
        check(&windowed(function), Script, message, remedy);
    }
    let nested = "TUMBLE((SELECT * FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '1' SECOND))), DESCRIPTOR(«ts), INTERVAL '2' SECOND)";
    check(
        &windowed(nested),
        Unsupported,
        "directly over another window function",
        "aggregate by the inner window first",
    );
}

#[test]
fn what_changes_is_refused_by_a_table_that_only_grows() {
    let window = "FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '1' SECOND))";
    let cases = [
        ("SELECT k, COUNT(*) FROM src GROUP BY «k".to_string(), "TABLE(TUMBLE("),
        (format!("SELECT k, COUNT(*) {window} GROUP BY «k, window_start"), "window_end as well as window_start"),
        (format!("SELECT k, COUNT(*) {window} GROUP BY «k, window_end"), "window_start as well as window_end"),
        (format!("SELECT k, COUNT(*) {window} GROUP BY «k"), "window_start and window_end too"),
        (format!("«SELECT MAX(k), COUNT(*) {window}"), "window_start and window_end too"),
        (format!("«SELECT DISTINCT k, CAST(v AS BIGINT) {window}"), "window_start and window_end too"),
        (
            "SELECT k, n FROM (SELECT k, COUNT(*) AS n FROM src GROUP BY «k) WHERE n > 1".to_string(),
            "'format' = 'debezium-json'",
        ),
    ];
    for (query, remedy) in cases {
        let message = "table sink 'results' doesn't support consuming update changes";
        check(&format!("INSERT INTO results (k, n) {query}"), Script, message, remedy);
    }
}

#[test]
fn a_primary_key_is_what_tells_the_rows_apart() {
    let table = |key: &str| {
        format!(
            "CREATE TABLE p (k STRING, n BIGINT, PRIMARY KEY ({key}) NOT ENFORCED) WITH ('connector' = 'print'); \
             INSERT INTO p SELECT c, COUNT(*) FROM src GROUP BY c;"
        )
    };
    check(&table("«n"), Script, "upsert key that differs from the primary key of the sink table p: [n]", "GROUP BY");
    super::with_tables(&table("k")).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn the_keys_of_a_session_are_those_of_its_partition() {
    let session = "FROM TABLE(SESSION(TABLE src PARTITION BY k, DESCRIPTOR(ts), INTERVAL '1' SECOND))";
    let cases = [
        (format!("SELECT COUNT(*) {session} GROUP BY «window_start, window_end"), "PARTITION BY column k too"),
        (
            "SELECT k, COUNT(*) FROM TABLE(SESSION(TABLE src, DESCRIPTOR(ts), INTERVAL '1' SECOND)) GROUP BY «k, window_start, window_end".to_string(),
            "PARTITION BY",
        ),
        (format!("SELECT k, c, COUNT(*) {session} GROUP BY «k, c, window_start, window_end"), "PARTITION BY"),
    ];
    for (query, remedy) in cases {
        check(&query, Unsupported, "", remedy);
    }
}

#[test]
fn over_says_what_flink_refuses_too() {
    let cases = [
        ("SUM(v) OVER (ORDER BY «ts DESC)", "ascending order only", "remove DESC"),
        ("«SUM(v) OVER (PARTITION BY k)", "single time column", "ORDER BY ts"),
        ("SUM(v) OVER (ORDER BY ts, «v)", "single time column", ""),
        ("SUM(v) OVER (ORDER BY «nope)", "column 'nope' not found", ""),
        ("«SUM(v) OVER (ORDER BY ts ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING)", "to the row itself", "CURRENT ROW"),
        ("SUM(v) OVER (ORDER BY ts RANGE «1000 PRECEDING)", "takes an interval", "INTERVAL"),
        ("«SUM(v) OVER (ORDER BY ts RANGE INTERVAL '1' MONTH PRECEDING)", "no fixed length", ""),
        ("SUM(v) OVER (ORDER BY ts), «COUNT(*) OVER (PARTITION BY k ORDER BY ts)", "must be the same", "subquery"),
        ("SUM(v) OVER «w", "no window is called w", "WINDOW w AS"),
        ("«SUM(v) FILTER (WHERE v > 1) OVER (ORDER BY ts)", "FILTER", "CASE WHEN"),
        ("«LEAD(v) OVER (ORDER BY ts)", "does not exist for streams", "LAG"),
        ("«LAG(v) OVER (ORDER BY ts ROWS 1 PRECEDING)", "takes no ROWS", "leave the frame out"),
        ("«LAG(v, 1, 'x') OVER (ORDER BY ts)", "default of", "CAST"),
        ("«ABS(v) OVER (ORDER BY ts)", "no aggregate function", ""),
        ("SUM(«SUM(v) OVER (ORDER BY ts)) OVER (ORDER BY ts)", "no place", "subquery"),
        ("«ROW_NUMBER()", "needs OVER", "PARTITION BY"),
        ("«LAG(v)", "needs a window", "OVER"),
        ("CURRENT_WATERMARK(«v)", "takes an event-time column", "WATERMARK"),
    ];
    for (item, message, remedy) in cases {
        check(&format!("SELECT {item} FROM src"), Script, message, remedy);
    }
    check("SELECT k FROM src WHERE «SUM(v) OVER (ORDER BY ts) > 1", Script, "no place in WHERE", "subquery");
    let twice = "SELECT SUM(v) OVER w FROM src WINDOW w AS (ORDER BY ts), «w AS (ORDER BY ts)";
    check(twice, Script, "two windows are called w", "");
}

#[test]
fn names_in_queries_are_checked() {
    let window = "FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '1' SECOND))";
    let cases = [
        (format!("SELECT «nope {window}"), "column 'nope' not found", "the columns here are"),
        (format!("SELECT «K {window}"), "column 'K' not found", "did you mean 'k'?"),
        (
            format!("SELECT k, COUNT(*) {window} GROUP BY window_start, window_end").replace("SELECT k", "SELECT «k"),
            "neither grouped nor aggregated",
            "add k to GROUP BY",
        ),
        (
            format!("SELECT v + 1 AS x, COUNT(*) {window} GROUP BY «x, window_start, window_end"),
            "'x' not found",
            "no aliases",
        ),
        (format!("SELECT k, COUNT(*) {window} GROUP BY «1, window_start, window_end"), "no positions", "repeat"),
        ("SELECT s.«nope FROM src s".to_string(), "s has no column 'nope'", "the columns here"),
        ("SELECT «x.k FROM src s".to_string(), "no table, alias or column is called 'x'", "alias"),
        ("SELECT «k FROM (SELECT k, c AS k FROM src)".to_string(), "ambiguous", "AS"),
        ("SELECT k FROM «srx".to_string(), "'srx' does not exist", "did you mean 'src'?"),
        (
            format!("SELECT k, COUNT(*) {window} WHERE «COUNT(*) > 1 GROUP BY k, window_start, window_end"),
            "no place in WHERE",
            "HAVING",
        ),
        ("SELECT «NULL FROM src".to_string(), "a bare NULL", "CAST(NULL AS STRING)"),
        ("SELECT k FROM src WHERE «v".to_string(), "WHERE needs a condition", ""),
    ];
    for (query, message, remedy) in cases {
        check(&query, Script, message, remedy);
    }
}

#[test]
fn row_numbers_that_flink_refuses_are_refused() {
    let window = "FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '1' SECOND))";
    let partition = "PARTITION BY window_start, window_end";
    let top =
        |call: &str, condition: &str| format!("SELECT k FROM (SELECT *, {call} AS rn {window}) WHERE {condition}");
    let by_v = format!("ROW_NUMBER() OVER ({partition} ORDER BY v)");
    let cases = [
        ("SELECT «ROW_NUMBER() FROM src".to_string(), "ROW_NUMBER needs OVER", "PARTITION BY window_start"),
        (
            top(&format!("«RANK() OVER ({partition} ORDER BY v)"), "rn <= 2"),
            "only ROW_NUMBER()",
            "order of their arrival",
        ),
        (top(&format!("«ROW_NUMBER(v) OVER ({partition} ORDER BY v)"), "rn <= 2"), "takes no arguments", ""),
        (top(&format!("«ROW_NUMBER() OVER ({partition})"), "rn <= 2"), "needs an ORDER BY", "come first"),
        (top(&format!("«ROW_NUMBER() OVER ({partition} ORDER BY 1)"), "rn <= 2"), "needs an ORDER BY", "come first"),
        (
            top(
                &format!("«ROW_NUMBER() OVER ({partition} ORDER BY v ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)"),
                "rn = 1",
            ),
            "ROWS and RANGE have no place",
            "leave it out",
        ),
        (top(&format!("«ROW_NUMBER() OVER ({partition} ORDER BY MAP[k, v])"), "rn = 1"), "MAP have no order", ""),
        (top(&format!("«{by_v}"), "rn > 1"), "not given, only the first", "rn <= 3"),
        (top(&by_v, "«rn <= 0"), "the last row number that is asked for is 0", "rn <= 1"),
        (
            top(&format!("{by_v} AS r2, «ROW_NUMBER() OVER ({partition} ORDER BY k)"), "rn <= 2"),
            "the same PARTITION BY and ORDER BY",
            "around this one",
        ),
        (format!("SELECT k {window} WHERE «{by_v} = 1"), "has no place in WHERE", "in a subquery"),
        (format!("SELECT k {window} QUALIFY «v > 1"), "QUALIFY needs", "use WHERE"),
    ];
    for (query, message, remedy) in cases {
        check(&query, Script, message, remedy);
    }
}

#[test]
fn what_flink_has_and_we_have_not_is_refused_by_name() {
    let tumble = "FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '1' SECOND))";
    let cases = [
        ("SELECT a.k FROM src a LEFT JOIN «plain b ON a.k = b.k".to_string(), "a LEFT OUTER join"),
        ("SELECT a.k FROM src a NATURAL JOIN «plain b".to_string(), "a NATURAL JOIN"),
        ("SELECT SUM(v) OVER (PARTITION BY k ORDER BY «v) FROM src".to_string(), "OVER in an order"),
        (
            "SELECT SUM(v) OVER («w ROWS 1 PRECEDING) FROM src WINDOW w AS (ORDER BY ts)".to_string(),
            "a frame added to a named window",
        ),
        ("SELECT «LAG(v, v) OVER (ORDER BY ts) FROM src".to_string(), "LAG with an offset"),
        (format!("SELECT «ROW_NUMBER() OVER (PARTITION BY window_start ORDER BY v) {tumble}"), "without a limit"),
        (
            format!("SELECT k FROM (SELECT *, «ROW_NUMBER() OVER (PARTITION BY window_start ORDER BY v) AS rn {tumble}) WHERE rn <= 2"),
            "Top-N without a window",
        ),
        (
            "SELECT k FROM (SELECT *, «ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS rn FROM src) WHERE rn = 1"
                .to_string(),
            "deduplication or Top-1 without a window",
        ),
        (format!("SELECT k {tumble} GROUP BY k, window_start, window_end QUALIFY «k = 'a'"), "QUALIFY beside GROUP BY"),
        (
            format!("SELECT k, COUNT(*) {tumble} GROUP BY window_start, window_end, GROUPING SETS («ROLLUP (k), ())"),
            "ROLLUP inside of GROUPING SETS",
        ),
        ("SELECT k FROM src, LATERAL «TABLE(f(k)) AS t (x)".to_string(), "LATERAL TABLE(…)"),
        ("SELECT k FROM src, LATERAL («SELECT 1)".to_string(), "LATERAL (SELECT …)"),
        ("SELECT k FROM src INTERSECT «SELECT k FROM plain".to_string(), "INTERSECT"),
        (
            "SELECT k, COUNT(*) FROM src GROUP BY GROUPING SETS ((k), («TUMBLE(ts, INTERVAL '1' SECOND)))".to_string(),
            "TUMBLE inside of GROUPING SETS",
        ),
        (
            "SELECT k, COUNT(*) FROM src GROUP BY k, TUMBLE(«ts + INTERVAL '1' SECOND, INTERVAL '1' SECOND)".to_string(),
            "TUMBLE over an expression",
        ),
        ("SELECT k FROM src «ORDER BY ts".to_string(), "ORDER BY"),
        ("SELECT k FROM src «LIMIT 3".to_string(), "LIMIT"),
        ("SELECT k FROM src «OFFSET 3 ROWS".to_string(), "LIMIT"),
        ("SELECT k FROM src «FETCH FIRST 3 ROWS ONLY".to_string(), "LIMIT"),
        ("SELECT k FROM (SELECT k FROM src «LIMIT 3) WHERE k = 'LIMIT'".to_string(), "LIMIT"),
        ("SELECT k FROM src WHERE «k NOT IN (SELECT k FROM plain)".to_string(), "an ANTI join"),
        ("SELECT k FROM src WHERE k = 'a' OR EXISTS («SELECT k FROM plain)".to_string(), "EXISTS"),
        (
            "SELECT «CURRENT_WATERMARK(ts) FROM (SELECT * FROM src UNION ALL SELECT * FROM src)".to_string(),
            "CURRENT_WATERMARK",
        ),
        ("SELECT «JSON_VALUE(k, '$.a[?(@.b)]') FROM src".to_string(), "a filter [?(…)] in a JSON path"),
        ("SELECT CAST(k AS «VARIANT) FROM src".to_string(), "VARIANT"),
        ("«SHOW PARTITIONS src".to_string(), "SHOW PARTITIONS"),
        ("ALTER TABLE src «ADD (n INT)".to_string(), "ALTER TABLE … ADD"),
        ("«CREATE FUNCTION f AS 'a.b'".to_string(), "CREATE FUNCTION"),
        ("«CREATE OR REPLACE TABLE x (a INT)".to_string(), "CREATE OR REPLACE"),
        (
            "CREATE TABLE x (a INT «METADATA FROM 'timestamp') WITH ('connector' = 'print')".to_string(),
            "a METADATA column of the connector 'print'",
        ),
        ("CREATE TABLE x (a INT, t TIME(0)) PARTITIONED BY («t)".to_string(), "the type TIME(0) of the partition key"),
        ("INSERT «OVERWRITE results SELECT k FROM src".to_string(), "OVERWRITE"),
        ("INSERT INTO «cat.db.results SELECT k FROM src".to_string(), "catalog or database"),
        ("SELECT k FROM src «/*+ OPTIONS('path'='x') */".to_string(), "hint"),
    ];
    for (query, message) in cases {
        check(&query, Unsupported, message, "");
    }
}

#[test]
fn sets_values_and_elements_are_checked() {
    let tumble = "FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '1' SECOND))";
    let cases = [
        (format!("SELECT k, GROUPING(«v) {tumble} GROUP BY window_start, window_end, ROLLUP (k)"), "no expression of"),
        ("SELECT «GROUPING(k) FROM src".to_string(), "GROUPING has no place in SELECT"),
        (
            format!("SELECT k {tumble} GROUP BY window_start, window_end, CUBE («k, v, k, v, k, v, k, v, k, v, k)"),
            "more than 1024 grouping sets",
        ),
        ("SELECT 1 WHERE «TRUE".to_string(), "WHERE needs a FROM"),
        ("SELECT «*".to_string(), "needs a FROM"),
        ("VALUES (1, 'a'), («2)".to_string(), "rows 1 and 2 of VALUES have 2 and 1 columns"),
        ("VALUES (1), («'a')".to_string(), "column 1 of VALUES is INT NOT NULL in the rows before and CHAR(1)"),
        ("VALUES (1), («NULL)".to_string(), "a bare NULL"),
        ("SELECT k FROM src CROSS JOIN UNNEST(«k) AS u (x)".to_string(), "an ARRAY or a MAP, not STRING"),
        ("SELECT k FROM src RIGHT JOIN «UNNEST(ARRAY[1]) AS u (x) ON TRUE".to_string(), "CROSS, INNER or LEFT JOIN"),
        ("SELECT k FROM src LEFT JOIN «UNNEST(ARRAY[1]) AS u (x)".to_string(), "needs a condition"),
        ("SELECT k FROM src CROSS JOIN UNNEST(ARRAY[1]) AS u («x, y)".to_string(), "2 names for the 1 columns of u"),
    ];
    for (query, message) in cases {
        check(&query, Script, message, "");
    }
}

#[test]
fn statements_of_tables_are_checked() {
    let cases = [
        ("CREATE TABLE «src (a INT)", Script, "exists already", "DROP"),
        ("CREATE VIEW «src AS SELECT k FROM plain", Script, "exists already", "IF NOT EXISTS"),
        ("CREATE TABLE x (a INT, «a STRING)", Script, "two columns are called 'a'", ""),
        ("CREATE TABLE x (a «FOO)", Script, "expected a data type", ""),
        (
            "CREATE TABLE x (ts TIMESTAMP(6), WATERMARK FOR «ts AS ts)",
            Script,
            "0 to 3 fractional digits",
            "CAST(ts AS TIMESTAMP(3))",
        ),
        ("CREATE TABLE x (ts STRING, WATERMARK FOR «ts AS ts)", Script, "needs a TIMESTAMP", "TO_TIMESTAMP_LTZ"),
        ("CREATE TABLE x (ts TIMESTAMP(3), WATERMARK FOR «t AS ts)", Script, "no column 't'", ""),
        ("CREATE TABLE x (ts TIMESTAMP(3), PRIMARY KEY («a) NOT ENFORCED)", Script, "no column 'a'", ""),
        ("CREATE TABLE x (a INT, PRIMARY KEY (a)«)", Script, "NOT ENFORCED", ""),
        ("CREATE TABLE x (a INT, b AS «nope + 1)", Script, "'nope' not found", ""),
        ("CREATE TABLE x (a INT) WITH ('connector' = 'print', 'connector' = «'print')", Script, "set twice", ""),
        ("DROP TABLE «nope", Script, "table 'nope' does not exist", "IF EXISTS"),
        ("DROP VIEW «src", Script, "view 'src' does not exist", ""),
        ("CREATE VIEW w («a, b) AS SELECT k FROM src", Script, "2 names for the 1 columns", ""),
        ("CREATE VIEW w AS SELECT «nope FROM src", Script, "'nope' not found", ""),
    ];
    for (statement, kind, message, remedy) in cases {
        check(statement, kind, message, remedy);
    }
}

#[test]
fn connectors_and_their_options_are_checked_where_the_table_is_used() {
    let table = |with: &str| format!("CREATE TABLE x (k STRING) WITH ({with}); ");
    let read = "SELECT k FROM x";
    let cases = [
        (table("'connector' = «'kafka', 'topic' = 't'") + read, Unsupported, "connector 'kafka'", "filesystem"),
        (
            table("'connector' = «'filesytem', 'path' = 'x'") + read,
            Script,
            "unknown connector 'filesytem'",
            "filesystem",
        ),
        (table("'connector' = «'print'") + read, Script, "cannot be read", "filesystem"),
        (
            table("'connector' = 'filesystem', 'path' = «'hdfs://a/b', 'format' = 'csv'") + read,
            Unsupported,
            "hdfs://",
            "copy",
        ),
        (
            table("'connector' = 'filesystem', 'path' = '/a', 'format' = 'csv', 'pth' = «'/b'") + read,
            Script,
            "unknown option 'pth'",
            "path",
        ),
        (
            table("'connector' = 'filesystem', 'path' = '/a', 'format' = 'csv', 'source.monitor-interval' = «'1 s'")
                + read,
            Unsupported,
            "source.monitor-interval",
            "remove",
        ),
        (
            "«".to_string() + &table("'connector' = 'filesystem', 'format' = 'csv'") + read,
            Script,
            "no option 'path'",
            "add",
        ),
        ("«CREATE TABLE x (k STRING); SELECT k FROM x".to_string(), Script, "no option 'connector'", "add"),
    ];
    for (script, kind, message, remedy) in cases {
        check(&script, kind, message, remedy);
    }
}

#[test]
fn what_does_not_fit_into_a_sink_is_refused_with_both_schemas() {
    let window =
        "FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '1' SECOND)) GROUP BY k, window_start, window_end";
    let cases = [
        (
            format!("INSERT INTO results «SELECT k, window_start, COUNT(*) {window}"),
            "3 columns instead of 4",
            "the sink takes (k STRING",
        ),
        (
            format!("INSERT INTO results «SELECT window_start, k, window_end, COUNT(*) {window}"),
            "column 'k' is STRING, not TIMESTAMP(3)",
            "the query gives (window_start TIMESTAMP(3)",
        ),
        (format!("INSERT INTO results (k, «m) SELECT k, COUNT(*) {window}"), "no column 'm'", ""),
        (format!("INSERT INTO results (k, «k) SELECT k, k {window}"), "named twice", ""),
        (format!("INSERT INTO «result SELECT k, COUNT(*) {window}"), "'result' does not exist", "results"),
    ];
    for (script, message, remedy) in cases {
        check(&script, Script, message, remedy);
    }
}

#[test]
fn two_event_time_columns_for_one_sink_are_refused() {
    let insert = "INSERT INTO results (k, window_start, window_end)";
    let query = "SELECT k, ts, window_time FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '1' SECOND))";
    check(&format!("{insert} «{query}"), Script, "ts, window_time", "CAST(window_time AS TIMESTAMP(3))");
    check(&format!("{insert} «SELECT k, ts, ts AS again FROM src"), Script, "ts, again", "CAST(again");
}

#[test]
fn calls_of_aggregates_are_checked() {
    let count = "SELECT k, window_start, window_end, COUNT(*)";
    let query = |window: &str, call: &str| {
        windowed(&format!(
            "{window}(TABLE src, DESCRIPTOR(ts), {})",
            match window {
                "HOP" | "CUMULATE" => "INTERVAL '1' SECOND, INTERVAL '2' SECOND",
                _ => "INTERVAL '1' SECOND",
            }
        ))
        .replace(count, &format!("SELECT k, window_start, window_end, {call}"))
        .replace("INSERT INTO results ", "")
    };
    for (call, message, remedy) in [
        ("«COUNT(k, v)", "COUNT takes one column", "COUNT(*) FILTER"),
        ("«LISTAGG(v)", "LISTAGG takes a STRING argument, got INT", "cast"),
        ("«LISTAGG(k, k)", "is a literal", "LISTAGG(s, ', ')"),
        ("«LISTAGG(k) WITHIN GROUP (ORDER BY v)", "no WITHIN GROUP", "order"),
        ("«FIRST_VALUE(v) RESPECT NULLS", "neither IGNORE NULLS nor RESPECT NULLS", "passes over"),
        ("«ARRAY_AGG(v LIMIT 3)", "takes no 'LIMIT 3'", ""),
        ("«PERCENTILE(v, 1.5)", "fractions from 0 to 1, got 1.5", "0.95"),
        ("«PERCENTILE(v, v)", "constant numbers", "PERCENTILE(x, 0.95)"),
        ("«PERCENTILE(v, ARRAY[0.5, CAST(NULL AS DOUBLE)])", "constant numbers", "ARRAY[0.5, 0.95]"),
        ("«PERCENTILE(v)", "a value and a fraction", "PERCENTILE(x, 0.5)"),
        ("«PERCENTILE(k, 0.5)", "takes a numeric argument", "cast"),
        ("«PERCENTILE(v, 0.5, 0.5)", "weight of PERCENTILE is an integer", ""),
        ("«APPROX_PERCENTILE(v, 0.5, v)", "takes a value and a fraction", ""),
        ("«HISTOGRAM(v, 10, 0, 5)", "a lowest bound below its highest, got 10 and 0", ""),
        ("«HISTOGRAM(v, 0, 10, 0)", "from 1 to 10000 bins, got 0", ""),
        ("«HISTOGRAM(v, 0, 10)", "how many bins", "HISTOGRAM(x, 0, 100, 10)"),
        ("«JSON_OBJECTAGG(KEY v VALUE k)", "the key of JSON_OBJECTAGG is a string, not INT", "CAST"),
        ("«JSON_ARRAYAGG(CAST(ts AS DATE))", "JSON has no form for DATE", "CAST"),
    ] {
        check(&query("TUMBLE", call), Script, message, remedy);
    }
    for (window, call) in [("HOP", "«FIRST_VALUE(v)"), ("CUMULATE", "«LAST_VALUE(v)"), ("HOP", "«JSON_ARRAYAGG(v)")]
    {
        let message = format!("cannot be computed in the windows of {window}");
        check(&query(window, call), Script, &message, "filter by window_start");
    }
    let approximate = query("TUMBLE", "«APPROX_COUNT_DISTINCT(v)");
    check(&format!("SET 'execution.runtime-mode' = 'streaming'; {approximate}"), Script, "streaming mode", "DISTINCT");
}

#[test]
fn early_and_late_firing_are_refused_for_window_functions() {
    let query = windowed("TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '1' SECOND)").replace("BY k", "BY «k");
    for key in ["table.exec.emit.early-fire.enabled", "table.exec.emit.late-fire.enabled"] {
        check(&format!("SET '{key}' = 'true'; {query}"), Script, "does not fire early or late", key);
    }
}

#[test]
fn syntax_errors_point_at_the_token() {
    check("SELECT k, COUNT(* «FROM src", Script, "expected )", "check the spelling");
    check("SELECT k FROM src WHERE«", Script, "the end of the statement", "");
    check("«SELEC k FROM src", Script, "expected a statement", "");
    check("SELECT «\"k\" FROM src", Script, "double quotes", "`name`");
    check("SELECT k FROM src WHERE k = «'open", Script, "", "close the quote");
    check("SET 'execution.runtime-mode' «'batch'", Script, "expected =", "");
    check("SET «'execution.runtime-mode' = 'batch'", Unsupported, "batch mode", "streaming");
}

#[test]
fn an_undefined_variable_is_an_error_at_its_place() {
    check("SELECT '«${NOPE}' FROM src", Script, "${NOPE} is not defined", "--set NOPE=value");
    check("SELECT 1 «${NOPE", Script, "without a closing", "");
}

#[test]
fn places_refer_to_the_text_as_written() {
    let text = "SELECT '${A}', ${B}, nope FROM src";
    let mut options = options();
    options.variables = variables(&[("A", "a long value that\nspans two lines and has 'quotes'"), ("B", "k")]);
    let script = format!("{}{text}", super::TABLES);
    let error = compile(&script, &options).unwrap_err();
    let place = error.place().unwrap();
    assert_eq!(place.column, text.find("nope").unwrap() as u64 + 1, "{error}");
    assert_eq!(place.line, super::TABLES.lines().count() as u64 + 1);
}

#[test]
fn what_nests_too_deep_is_refused() {
    let deep = format!("SELECT {}k{} FROM src", "(".repeat(3000), ")".repeat(3000));
    let long = format!("SELECT k FROM src WHERE {} v = 1", "v = 1 OR ".repeat(5000));
    for script in [deep, long] {
        let error = super::with_tables(&script).unwrap_err();
        assert_eq!(error.kind(), Script, "{error}");
        assert!(error.place().is_some());
    }
    let doubled: Vec<String> = (1..40)
        .map(|i| format!("CREATE VIEW v{i} AS SELECT k FROM v{0} UNION ALL SELECT k FROM v{0};", i - 1))
        .collect();
    let error = super::with_tables(&format!("CREATE VIEW v0 AS SELECT k FROM src; {}", doubled.concat())).unwrap_err();
    assert!(error.message().contains("more than 1000 times"), "{error}");
    let explains =
        super::with_tables(&format!("{} SELECT k FROM src", "EXPLAIN PLAN FOR ".repeat(50_000))).unwrap_err();
    assert_eq!(explains.kind(), Script);
    // Width is no depth.
    let wide = format!("SELECT k FROM src WHERE v IN ({})", vec!["1"; 20_000].join(", "));
    super::with_tables(&wide).unwrap();
}

#[test]
fn misspelt_functions_and_statements_are_offered() {
    let window = "FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '1' SECOND)) GROUP BY window_start, window_end";
    let cases = [
        (
            "SELECT * FROM TABLE(«TUMBEL(TABLE src, DESCRIPTOR(ts), INTERVAL '1' SECOND))".to_string(),
            "unknown table function TUMBEL",
            "did you mean TUMBLE?",
        ),
        ("SELECT * FROM «MY_FUNCTION(k)".to_string(), "unknown table function MY_FUNCTION", "the window functions are"),
        (format!("SELECT «CUONT(*) {window}"), "unknown function CUONT", "did you mean COUNT?"),
        (format!("SELECT «SUMM(v) {window}"), "unknown function SUMM", "did you mean SUM?"),
        ("SELECT «UPER(k) FROM src".to_string(), "unknown function UPER", "did you mean UPPER?"),
        ("SELECT «LENGTH(k) FROM src".to_string(), "unknown function LENGTH", "CHAR_LENGTH"),
        ("SELECT «MY_FUNCTION(k) FROM src".to_string(), "unknown function MY_FUNCTION", "functions of your own"),
        ("«CRATE TABLE x (a INT)".to_string(), "expected a statement", "did you mean CREATE?"),
        ("SELECT k, «FROM src".to_string(), "expected an expression, found 'FROM'", "spelling"),
    ];
    for (query, message, remedy) in cases {
        check(&query, Script, message, remedy);
    }
    check("SELECT * FROM TABLE(«ML_PREDICT(TABLE src))", Unsupported, "the table function ML_PREDICT", "");
}

#[test]
fn columns_of_one_name_are_ambiguous_in_a_star_and_refused_in_a_view() {
    let cases = [
        ("SELECT «* FROM (SELECT k, k FROM src)", "column 'k' is ambiguous", "different names with AS"),
        ("SELECT «t.* FROM (SELECT k, c AS k FROM src) t", "column 'k' is ambiguous", "different names with AS"),
        ("CREATE VIEW «w AS SELECT k, c AS k FROM src", "two columns of view w are called 'k'", "AS"),
        ("CREATE VIEW w (a, «a) AS SELECT k, c FROM src", "two columns of view w are called 'a'", "AS"),
    ];
    for (query, message, remedy) in cases {
        check(query, Script, message, remedy);
    }
}

#[test]
fn numbers_that_no_type_holds_are_refused() {
    check("SELECT «1e400 FROM src", Script, "1e400 is out of range", "1.797E308");
    check("SELECT «9223372036854775808 FROM src", Script, "out of range", "9223372036854775807");
    check("SELECT -«9223372036854775809 FROM src", Script, "out of range", "9223372036854775807");
    check("SELECT «${} FROM src", Script, "names no variable", "--set NAME=value");
}

#[test]
fn a_missing_separator_is_told_where_the_next_statement_starts() {
    let error = refused("SELECT k\nFROM plain\n«INSERT INTO results SELECT k FROM plain");
    assert_eq!(error.message(), "the statement before this INSERT has no ';' at its end");
    assert_eq!(error.remedy(), Some("write a ';' at the end of line 6"));
    check("SET 'a' = 'b'\n«SELECT k FROM plain", Script, "before this SELECT has no ';'", "line 5");
    check("SELECT k FROM plain INSERT «INTO results", Script, "expected the end of the statement", "';'");
}

#[test]
fn a_long_row_of_negations_is_told_as_such() {
    let nots = "NOT ".repeat(200);
    check(&format!("SELECT k FROM plain WHERE {nots}«NOT {nots} v > 1"), Script, "more than 200 times NOT", "pairs");
}
