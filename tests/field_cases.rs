//! What people have hit with event-time windows, each as a small job with the right rows.
//! The numbers are those of the project's list of field cases; where real Flink ran the same input,
//! the recorded answer is also a case under datasets/conformance/sql.
#![cfg(feature = "sql")]

mod support;

use support::breaking::CHECKPOINTS;
use support::{Job, script};
use transom::job::RestoreFrom;

/// A time on the first minutes of 1970, as CSV text.
fn at(ms: i64) -> String {
    let (day, ms_of_day) = (ms.div_euclid(86_400_000), ms.rem_euclid(86_400_000));
    let date = if day < 0 { "1969-12-31" } else { "1970-01-01" };
    let (seconds, millis) = (ms_of_day / 1000, ms_of_day % 1000);
    format!("{date} {:02}:{:02}:{:02}.{millis:03}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

const SOURCE: &str = "k STRING, ts TIMESTAMP(3), v DOUBLE, WATERMARK FOR ts AS ts - INTERVAL '0' SECOND";
const WINDOW: &str = "window_start TIMESTAMP(3), window_end TIMESTAMP(3)";

/// Rows (key, seconds, value).
fn csv(rows: &[(&str, f64, &str)]) -> String {
    rows.iter()
        .map(|(key, seconds, value)| format!("{key},{},{value}\n", at((seconds * 1000.0).round() as i64)))
        .collect()
}

fn counted(window: &str, rows: &[(&str, f64, &str)]) -> support::Outcome {
    let query = format!(
        "SELECT window_start, window_end, COUNT(*) FROM TABLE({window}) GROUP BY {}window_start, window_end",
        if window.contains("PARTITION") { "k, " } else { "" }
    );
    Job::new(&script(SOURCE, &format!("{WINDOW}, n BIGINT"), &query)).file("src.csv", csv(rows)).outcome()
}

fn row(start: i64, end: i64, rest: &str) -> String {
    let text = |ms: i64| {
        let text = at(ms);
        text.strip_suffix(".000").map_or(text.trim_end_matches('0').to_string(), str::to_string)
    };
    format!("{{\"window_start\":\"{}\",\"window_end\":\"{}\",{rest}}}", text(start), text(end))
}

fn count(start: i64, end: i64, n: u64) -> String {
    row(start * 1000, end * 1000, &format!("\"n\":{n}"))
}

fn sorted(mut rows: Vec<String>) -> Vec<String> {
    rows.sort();
    rows
}

#[test]
fn case_1_a_row_late_for_one_hop_window_counts_in_the_next() {
    let hop = "HOP(TABLE src, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)";
    let outcome = counted(hop, &[("a", 1.0, "1"), ("a", 7.0, "1"), ("a", 2.0, "1")]);
    assert_eq!(outcome.rows, sorted(vec![count(-5, 5, 1), count(0, 10, 3), count(5, 15, 1)]));
    assert_eq!(outcome.late, 0);
}

#[test]
fn case_2_a_row_behind_the_watermark_may_still_open_a_session() {
    let source = "k STRING, ts TIMESTAMP(3), v DOUBLE, WATERMARK FOR ts AS ts - INTERVAL '10' SECOND";
    let query = "SELECT window_start, window_end, COUNT(*) \
        FROM TABLE(SESSION(TABLE src PARTITION BY k, DESCRIPTOR(ts), INTERVAL '10' SECOND)) \
        GROUP BY k, window_start, window_end";
    let rows = csv(&[("u", 40.0, "1"), ("u", 25.0, "1"), ("u", 5.0, "1")]);
    let outcome = Job::new(&script(source, &format!("{WINDOW}, n BIGINT"), query)).file("src.csv", rows).outcome();
    assert_eq!(outcome.rows, sorted(vec![count(25, 35, 1), count(40, 50, 1)]));
    assert_eq!(outcome.late, 1);
}

const SECOND_TUMBLE: &str = "TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '1' SECOND)";

#[test]
fn case_4_a_watermark_after_every_row_makes_the_third_row_late() {
    let outcome = counted(SECOND_TUMBLE, &[("a", 10.9, "1"), ("a", 11.05, "1"), ("a", 10.95, "1")]);
    assert_eq!(outcome.rows, sorted(vec![count(10, 11, 1), count(11, 12, 1)]));
    assert_eq!(outcome.late, 1);
}

#[test]
fn case_4_with_an_interval_a_small_advance_moves_no_watermark() {
    let query = format!(
        "SELECT window_start, window_end, COUNT(*) FROM TABLE({SECOND_TUMBLE}) GROUP BY window_start, window_end"
    );
    let text = script(SOURCE, &format!("{WINDOW}, n BIGINT"), &query);
    let text = format!("SET 'pipeline.auto-watermark-interval' = '200 ms';\n{text}");
    let rows = csv(&[("a", 10.9, "1"), ("a", 11.05, "1"), ("a", 10.95, "1")]);
    let outcome = Job::new(&text).file("src.csv", rows).outcome();
    assert_eq!(outcome.rows, sorted(vec![count(10, 11, 2), count(11, 12, 1)]));
    assert_eq!(outcome.late, 0);
}

#[test]
fn case_5_a_window_that_was_given_before_a_checkpoint_is_not_given_again() {
    let query = "SELECT window_start, window_end, COUNT(*) FROM TABLE(CUMULATE(TABLE src, DESCRIPTOR(ts), \
        INTERVAL '10' SECOND, INTERVAL '30' SECOND)) GROUP BY window_start, window_end";
    let text = format!("{CHECKPOINTS}{}", script(SOURCE, &format!("{WINDOW}, n BIGINT"), query));
    let rows = csv(&[("a", 1.0, "1"), ("a", 12.0, "1"), ("a", 5.0, "1"), ("a", 25.0, "1")]);
    let job = Job::new(&text).file("src.csv", rows);
    assert_eq!(job.broken_anywhere((2, 1)), sorted(vec![count(0, 10, 1), count(0, 20, 3), count(0, 30, 4)]));
}

#[test]
fn case_29_a_job_restored_behind_the_last_row_of_its_input_ends() {
    let query = format!(
        "SELECT window_start, window_end, COUNT(*) FROM TABLE({TEN_SECONDS}) GROUP BY window_start, window_end"
    );
    let text = format!("{CHECKPOINTS}{}", script(SOURCE, &format!("{WINDOW}, n BIGINT"), &query));
    let rows = csv(&[("a", 1.0, "1"), ("a", 2.0, "1"), ("a", 11.0, "1"), ("a", 12.0, "1")]);
    let job = Job::new(&text).file("src.csv", rows);
    assert_eq!(job.broken_anywhere((1, 1)), sorted(vec![count(0, 10, 2), count(10, 20, 2)]));
}

#[test]
fn case_31_another_number_of_shards_keeps_open_windows_and_drops_nothing() {
    let query = format!(
        "SELECT window_start, window_end, COUNT(*) FROM TABLE({TEN_SECONDS}) GROUP BY k, window_start, window_end"
    );
    let text = format!("{CHECKPOINTS}{}", script(SOURCE, &format!("{WINDOW}, n BIGINT"), &query));
    let keys = ["a", "b", "c", "d"];
    let rows = |second: f64| csv(&keys.map(|key| (key, second, "1")));
    let job = Job::new(&text).file("src.csv", rows(4.0) + &rows(6.0) + &rows(5.0));
    let first = job.piece(2, (1, 3), None);
    assert!(first.is_broken);
    let second = job.piece(3, (1, 2), Some(RestoreFrom::Latest));
    assert!(second.is_broken);
    let summary = job.rest(1).result.expect("the rest of the job");
    assert_eq!(job.shown("results"), vec![count(0, 10, 3); 4]);
    assert_eq!(summary.jobs.iter().map(|job| job.totals.rows_late).sum::<u64>(), 0);
    assert_eq!(job.broken_anywhere((3, 1)), vec![count(0, 10, 3); 4]);
}

const TEN_SECONDS: &str = "TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND)";

#[test]
fn case_19_times_before_1970_round_down() {
    let outcome = counted(TEN_SECONDS, &[("a", -0.001, "1"), ("a", -10.0, "1"), ("a", -10.001, "1")]);
    assert_eq!(outcome.rows, sorted(vec![count(-10, 0, 2), count(-20, -10, 1)]));
}

#[test]
fn case_20_the_watermark_of_sql_never_goes_below_zero() {
    let outcome = counted(TEN_SECONDS, &[("a", -100.0, "1"), ("a", -50.0, "1"), ("a", -95.0, "1")]);
    assert_eq!(outcome.rows, sorted(vec![count(-100, -90, 2), count(-50, -40, 1)]));
    assert_eq!(outcome.late, 0);
}

#[test]
fn case_22_chained_windows_go_by_window_time() {
    let query = "SELECT window_start, window_end, SUM(s) FROM TABLE(TUMBLE((\
        SELECT window_time AS wt, SUM(v) AS s FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '5' MINUTE)) \
        GROUP BY window_start, window_end, window_time), DESCRIPTOR(wt), INTERVAL '10' MINUTE)) \
        GROUP BY window_start, window_end";
    let rows = csv(&[("a", 484.0 * 60.0, "4"), ("a", 489.0 * 60.0, "5"), ("a", 492.0 * 60.0, "3")]);
    let outcome = Job::new(&script(SOURCE, &format!("{WINDOW}, s DOUBLE"), query)).file("src.csv", rows).outcome();
    let minutes = |start: i64, end: i64, sum: &str| row(start * 60_000, end * 60_000, &format!("\"s\":{sum}"));
    assert_eq!(outcome.rows, sorted(vec![minutes(480, 490, "9.0"), minutes(490, 500, "3.0")]));
    assert_eq!(outcome.late, 0);
}

#[test]
fn case_32_a_filter_does_not_swallow_the_watermark() {
    let source = "k STRING, ts TIMESTAMP(3), v STRING, WATERMARK FOR ts AS ts";
    let query = "SELECT window_start, window_end, COUNT(*) \
        FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '2' MINUTE)) WHERE v <> 'x' \
        GROUP BY window_start, window_end";
    // The third row is late only because the filtered second one has moved the watermark.
    let rows = csv(&[("a", 1.0, "y"), ("a", 200.0, "x"), ("a", 2.0, "y")]);
    let outcome = Job::new(&script(source, &format!("{WINDOW}, n BIGINT"), query)).file("src.csv", rows).outcome();
    assert_eq!(outcome.rows, [count(0, 120, 1)]);
    assert_eq!(outcome.late, 1);
}

#[test]
fn case_43_a_slide_that_does_not_divide_the_size_is_refused_as_flink_does() {
    let query = "SELECT window_start, window_end, COUNT(*) FROM TABLE(HOP(TABLE src, DESCRIPTOR(ts), \
        INTERVAL '0.7' SECOND, INTERVAL '1.6' SECOND)) GROUP BY window_start, window_end";
    let job = Job::new(&script(SOURCE, &format!("{WINDOW}, n BIGINT"), query)).file("src.csv", "");
    let error = job.error();
    assert_eq!(error.exit_code(), 2);
    assert!(error.message().contains("multiple"), "{error}");
}

#[test]
fn case_43_sliding_windows_far_from_1970_hold_each_row_in_each_of_its_windows() {
    let hop = "HOP(TABLE src, DESCRIPTOR(ts), INTERVAL '0.7' SECOND, INTERVAL '1.4' SECOND)";
    let query =
        format!("SELECT window_start, window_end, COUNT(*) FROM TABLE({hop}) GROUP BY window_start, window_end");
    let job = Job::new(&script(SOURCE, &format!("{WINDOW}, n BIGINT"), &query));
    let outcome = job.file("src.csv", "a,2024-03-01 17:51:52.577,1\n").outcome();
    assert_eq!(
        outcome.rows,
        [
            r#"{"window_start":"2024-03-01 17:51:51.4","window_end":"2024-03-01 17:51:52.8","n":1}"#,
            r#"{"window_start":"2024-03-01 17:51:52.1","window_end":"2024-03-01 17:51:53.5","n":1}"#,
        ]
    );
}

#[test]
fn case_44_distinct_over_slices_is_a_union() {
    let source = "u STRING, ts TIMESTAMP(3), v DOUBLE, WATERMARK FOR ts AS ts";
    for (window, expected) in [
        ("HOP", vec![count(-5, 5, 1), count(0, 10, 1), count(5, 15, 1)]),
        ("CUMULATE", vec![count(0, 5, 1), count(0, 10, 1)]),
    ] {
        let query = format!(
            "SELECT window_start, window_end, COUNT(DISTINCT u) FROM TABLE({window}(TABLE src, DESCRIPTOR(ts), \
             INTERVAL '5' SECOND, INTERVAL '10' SECOND)) GROUP BY window_start, window_end"
        );
        let rows = csv(&[("x", 1.0, "1"), ("x", 6.0, "1"), ("x", 2.0, "1")]);
        let outcome = Job::new(&script(source, &format!("{WINDOW}, n BIGINT"), &query)).file("src.csv", rows).outcome();
        assert_eq!(outcome.rows, sorted(expected), "{window}");
        assert_eq!(outcome.late, 0);
    }
}

#[test]
fn case_46_sliding_sums_of_doubles_leave_no_residue() {
    let source = "k STRING, ts TIMESTAMP(3), v DOUBLE, WATERMARK FOR ts AS ts";
    let query = "SELECT window_start, window_end, SUM(v), AVG(v), COUNT(*) FROM TABLE(HOP(TABLE src, DESCRIPTOR(ts), \
        INTERVAL '5' SECOND, INTERVAL '10' SECOND)) GROUP BY window_start, window_end";
    let text = script(source, &format!("{WINDOW}, s DOUBLE, a DOUBLE, n BIGINT"), query)
        .replace("'format' = 'csv'", "'format' = 'csv', 'csv.null-literal' = 'NULL'");
    let rows = csv(&[("a", 1.0, "1e16"), ("a", 6.0, "1.0"), ("a", 16.0, "NULL")]);
    let outcome = Job::new(&text).file("src.csv", rows).outcome();
    let window = |start: i64, end: i64, rest: &str| row(start * 1000, end * 1000, rest);
    assert!(outcome.rows.contains(&window(5, 15, r#""s":1.0,"a":1.0,"n":1"#)), "{:?}", outcome.rows);
    assert!(outcome.rows.contains(&window(10, 20, r#""s":null,"a":null,"n":1"#)), "{:?}", outcome.rows);
}

#[test]
fn case_47_a_group_whose_rows_all_fail_the_filter_still_exists() {
    let query = "SELECT COUNT(*) FILTER (WHERE v > 5), SUM(v) FILTER (WHERE v > 5), COUNT(*) \
        FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end";
    let job = Job::new(&script(SOURCE, "a BIGINT, b DOUBLE, c BIGINT", query)).file("src.csv", csv(&[("a", 1.0, "1")]));
    assert_eq!(job.outcome().rows, [r#"{"a":0,"b":null,"c":1}"#]);
}

#[test]
fn case_59_the_answer_does_not_depend_on_batches() {
    let mut rows: Vec<(&str, f64, &str)> = (0..500).map(|i| ("a", f64::from(i) * 0.1, "1")).collect();
    // Two rows of one time, that of the watermark: the second is not late.
    rows.extend([("a", 59.0, "1"), ("a", 59.0, "1")]);
    let outcome = counted("TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '1' MINUTE)", &rows);
    assert_eq!(outcome.rows, [count(0, 60, 502)]);
    assert_eq!(outcome.late, 0);
}
