//! The cards before a plan.

use super::plan_of;
use crate::sql::{Amount, Counted, StateSize, explain, state_sizes};

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

/// The one part of the state of a script's only operator.
fn amount(script: &str) -> Amount {
    let sizes = state_sizes(&plan_of(script));
    let [StateSize { part: None, amount: Ok(amount), .. }] = sizes.as_slice() else { panic!("{sizes:#?}") };
    amount.clone()
}

/// The parts of the state of the topmost operator, what they count or why they cannot.
fn parts(script: &str) -> Vec<(Option<&'static str>, Result<Counted, String>)> {
    let sizes = state_sizes(&plan_of(script));
    let of_first = sizes.iter().take_while(|size| size.operator == sizes[0].operator);
    of_first.map(|size| (size.part, size.amount.clone().map(|amount| amount.of))).collect()
}

const TUMBLE: &str = "TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '1' MINUTE))";

#[test]
fn state_is_keys_by_what_is_open_by_bytes() {
    let hop = "FROM TABLE(HOP(TABLE src, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '15' SECOND))";
    let size = amount(&format!(
        "SELECT UPPER(c), COUNT(*), SUM(v) {hop} WHERE v > 1 GROUP BY UPPER(c), window_start, window_end"
    ));
    assert_eq!(size.of, Counted::Keys("UPPER(c)".to_string()));
    let [look] = size.looks.as_slice() else { panic!("{:?}", size.looks) };
    assert!(look.filtered);
    assert_eq!(look.scan.projection, [3], "the key's column alone");
    assert_eq!((size.open, size.piece), (4, Some("slice")), "three of a window, one for the watermark's delay");
    assert_eq!((size.bytes, size.and_more), (36, Some("text")));
    let one = amount("SELECT COUNT(*) FROM src");
    assert_eq!((one.of, one.looks.len(), one.bytes), (Counted::One, 0, 8), "no key, nothing to count");
}

#[test]
fn keys_are_counted_in_the_table_below_other_operators() {
    // Through an aggregation, OVER and a union, by every grouping set.
    let size = amount("SELECT k, COUNT(*) FROM (SELECT k FROM src UNION ALL SELECT c FROM src) GROUP BY k");
    assert_eq!(size.looks.iter().map(|look| look.scan.projection.clone()).collect::<Vec<_>>(), [[0], [3]]);
    let sets =
        format!("SELECT k, c, COUNT(*) FROM {TUMBLE} GROUP BY window_start, window_end, GROUPING SETS ((k), (c))");
    assert_eq!(amount(&sets).looks.len(), 2);
    let above = format!(
        "SELECT k, MAX(n) FROM (SELECT k, c, COUNT(*) AS n, window_start, window_end FROM {TUMBLE} GROUP BY k, c, \
         window_start, window_end) GROUP BY k, window_start, window_end"
    );
    let sizes = state_sizes(&plan_of(&above));
    let upper = sizes[0].amount.as_ref().unwrap();
    assert_eq!(
        (upper.looks.len(), upper.open, upper.piece),
        (1, 1, Some("window")),
        "they come when their window ends"
    );
    let results = "SELECT n, COUNT(*) FROM (SELECT k, COUNT(*) AS n FROM src GROUP BY k) GROUP BY n";
    let (None, Err(why)) = &parts(results)[0] else { panic!() };
    assert!(why.contains("which an operator below computes"), "{why}");
    let made_up = "CREATE TABLE g (k INT) WITH ('connector' = 'datagen', 'number-of-rows' = '9'); SELECT k, COUNT(*) FROM g GROUP BY k";
    let (None, Err(why)) = &parts(made_up)[0] else { panic!() };
    assert_eq!(why, "the rows of g are made up as the job runs");
}

#[test]
fn operators_that_keep_rows_count_rows() {
    let waiting = Counted::RowsOf { span_ms: 2_000, copies: 1 };
    let over = |frame: &str| format!("SELECT SUM(v) OVER (PARTITION BY k ORDER BY ts {frame}) FROM src");
    let of = |of: Counted, part: &'static str| (Some(part), Ok(of));
    let waits = of(waiting, "rows that wait for the watermark");
    let range = parts(&over("RANGE BETWEEN INTERVAL '5' SECOND PRECEDING AND CURRENT ROW"));
    assert_eq!(range, [waits.clone(), of(Counted::RowsOf { span_ms: 5_000, copies: 1 }, "rows of the frame")]);
    let rows = parts(&over("ROWS BETWEEN 3 PRECEDING AND CURRENT ROW"));
    let of_key = Counted::RowsOfKey { keys: "k".to_string(), rows: 3 };
    assert_eq!(rows, [waits.clone(), of(of_key, "rows of the frame")]);
    assert_eq!(parts(&over("")), [waits.clone(), of(Counted::Keys("k".to_string()), "for good")]);
    let first =
        "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS rn FROM src) WHERE rn = 1";
    assert_eq!(parts(first), [waits, of(Counted::Keys("k".to_string()), "for good")]);
    let best = format!(
        "SELECT k FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k ORDER BY v) AS rn FROM \
         {TUMBLE}) WHERE rn <= 3"
    );
    let size = amount(&best);
    assert_eq!((size.of, size.open), (Counted::RowsOfKey { keys: "k".to_string(), rows: 3 }, 2));
    let session =
        "SELECT k, v, window_start FROM TABLE(SESSION(TABLE src PARTITION BY k, DESCRIPTOR(ts), INTERVAL '5' SECOND))";
    assert_eq!(amount(session).of, Counted::RowsOf { span_ms: 7_000, copies: 1 });
}

#[test]
fn joins_count_the_rows_of_both_sides() {
    let hop = "TABLE(HOP(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '1' MINUTE))";
    let counts =
        format!("(SELECT k, COUNT(*) AS n, window_start, window_end FROM {hop} GROUP BY k, window_start, window_end)");
    let on = "l.k = r.k AND l.window_start = r.window_start AND l.window_end = r.window_end";
    let rows = Ok(Counted::RowsOf { span_ms: 62_000, copies: 6 });
    assert_eq!(
        parts(&format!("SELECT l.v, r.n FROM {hop} l JOIN {counts} r ON {on}")),
        [(Some("left side"), rows), (Some("right side"), Ok(Counted::Keys("k".to_string())))]
    );
    let both = [(Some("left side"), Ok(Counted::Rows)), (Some("right side"), Ok(Counted::Rows))];
    assert_eq!(parts("SELECT a.k FROM plain a JOIN plain b ON a.k = b.k"), both);
    let sides = parts(&format!("SELECT l.k FROM {counts} l JOIN plain r ON l.k = r.k"));
    assert_eq!(sides[0], (Some("left side"), Err("its rows come from WindowAggregate below".to_string())));
}
