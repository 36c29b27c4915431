//! The cards before a plan.

use super::plan_of;
use crate::sql::{explain, state_sizes};

/// The cards of a script's last statement.
fn cards(script: &str) -> String {
    let text = explain(&plan_of(script));
    let plan = text.find("Result: ").or_else(|| text.find("Sink ")).expect("a sink");
    text[..plan].to_string()
}

#[test]
fn a_query_without_state_has_no_card() {
    assert_eq!(cards("SELECT k FROM src"), "");
}

#[test]
fn windows_are_told_with_slices_offset_and_zone() {
    let hop = "FROM TABLE(HOP(TABLE instants, DESCRIPTOR(ts), INTERVAL '6' HOUR, INTERVAL '1' DAY, INTERVAL '1' HOUR))";
    let text = cards(&format!(
        "SET 'table.local-time-zone' = 'Asia/Tokyo'; SET 'pipeline.auto-watermark-interval' = '200 ms'; \
         SELECT COUNT(*) {hop} GROUP BY window_start, window_end"
    ));
    let expected = "\
Card: WindowAggregate
  key          none, one shard does the work
  windows      HOP size 1 d, slide 6 h, offset 1 h, on the clock of Asia/Tokyo; in slices of 6 h, 4
               to a window
  time column  ts, TIMESTAMP_LTZ(3)
  watermark    the highest ts of instants; moves when it has advanced by more than 200 ms; no idle
               timeout
  keeps        for each slice of open windows: COUNT(*) 8 B
  gives        each result once (append), when the watermark passes the end of its window

";
    assert_eq!(text, expected);
}

#[test]
fn each_operator_with_state_has_a_card_in_the_order_of_the_plan() {
    let text = cards(
        "SELECT k, MAX(n) FROM (SELECT k, v, SUM(v) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 2 PRECEDING AND \
         CURRENT ROW) AS n FROM src) GROUP BY k",
    );
    let expected = "\
Card 1 of 2: GroupAggregate
  key          k
  windows      none
  watermark    not waited for
  keeps        for each key (20 B and text), for good: MAX(sum_over$0) 4 B
  gives        changes of a result (changelog: +I, -U, +U), key k

Card 2 of 2: Over
  key          k
  windows      none
  time column  ts, TIMESTAMP(3)
  watermark    2 s behind the highest ts of src; moves with every row; no idle timeout
  keeps        rows until the watermark reaches them, and for each key the last 2 rows, for good; a
               row takes 20 B and text
  gives        each row once (append), when the watermark reaches its time

";
    assert_eq!(text, expected);
}

#[test]
fn a_join_waits_for_the_lowest_watermark() {
    let side = |table: &str| format!("SELECT * FROM TABLE(TUMBLE(TABLE {table}, DESCRIPTOR(ts), INTERVAL '1' MINUTE))");
    let text = cards(&format!(
        "SELECT l.k, r.v FROM ({}) l LEFT JOIN ({}) r ON l.k = r.c AND l.window_start = r.window_start AND \
         l.window_end = r.window_end",
        side("src"),
        side("src"),
    ));
    let expected = "\
Card: WindowJoin
  key          k = c
  windows      those that the rows carry (window_start, window_end)
  watermark    2 s behind the highest ts of src; moves with every row; no idle timeout
  keeps        the rows of open windows of both sides; a row takes 24 B and text on the left, 28 B
               and text on the right
  gives        rows once (append), when the watermark passes the end of their window

";
    assert_eq!(text, expected);
}

#[test]
fn rows_that_are_kept_whole_have_their_bytes() {
    let text = cards(
        "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY v DESC) AS rn \
         FROM TABLE(SESSION(TABLE src PARTITION BY k, DESCRIPTOR(ts), INTERVAL '5' SECOND))) WHERE rn <= 3",
    );
    for part in [
        "Card 1 of 2: WindowTopN\n  key          none, shards share the windows\n",
        "  keeps        for each open window: the best 3 rows; a row takes ",
        "Card 2 of 2: SessionRows\n  key          k\n  windows      SESSION gap 5 s\n",
        "  keeps        all rows of open sessions; a row takes 20 B and text\n",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
}

#[test]
fn state_is_keys_by_what_is_open_by_bytes() {
    let hop = "FROM TABLE(HOP(TABLE src, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '15' SECOND))";
    let plan = plan_of(&format!(
        "SELECT UPPER(c), COUNT(*), SUM(v) {hop} WHERE v > 1 GROUP BY UPPER(c), window_start, window_end"
    ));
    let sizes = state_sizes(&plan);
    let [size] = sizes.as_slice() else { panic!("{sizes:?}") };
    assert_eq!((size.operator, size.key.as_str(), size.filtered), ("WindowAggregate", "UPPER(c)", true));
    assert_eq!(size.scan.projection, [3], "the key's column alone");
    assert_eq!((size.open, size.piece), (4, Some("slice")), "three of a window, one for the watermark's delay");
    assert_eq!((size.bytes, size.and_more), (36, Some("text")));
    assert!(state_sizes(&plan_of("SELECT COUNT(*) FROM src")).is_empty(), "no key, nothing to count");
}
