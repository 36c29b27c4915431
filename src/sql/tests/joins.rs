//! What joins are planned, and which are refused.

use super::{plan_of, refused, with_tables};
use crate::error::ErrorKind;
use crate::plan::{IntervalBounds, JoinKind, JoinSpec, JoinTimes, Node, StageSpec, Versions};
use crate::sql::explain;

const VIEWS: &str = "\
CREATE VIEW l AS SELECT k, v, ts, window_start, window_end FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '1' SECOND));
CREATE VIEW r AS SELECT k, d, window_start, window_end FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '1' SECOND));
CREATE VIEW other AS SELECT k, window_start, window_end FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '2' SECOND));
";
const SAME: &str = "l.window_start = r.window_start AND l.window_end = r.window_end";

/// The topmost join of a plan.
fn join_of(node: &Node) -> &JoinSpec {
    if let Node::Stage { spec, .. } = node
        && let StageSpec::Join(spec) = &**spec
    {
        return spec;
    }
    join_of(node.inputs().first().expect("a join"))
}

fn join(query: &str) -> JoinSpec {
    join_of(&plan_of(&format!("{VIEWS}{query}")).pipelines[0].root).clone()
}

#[test]
fn conditions_of_on_using_and_where_make_a_window_join() {
    let queries = [
        format!("SELECT l.k, v, d FROM l JOIN r ON l.k = r.k AND {SAME}"),
        format!("SELECT l.k, v, d FROM l, r WHERE r.k = l.k AND {SAME}"),
        format!("SELECT l.k, v, d FROM l JOIN r ON l.k = r.k WHERE {SAME}"),
        format!("SELECT l.k, v, d FROM l LEFT JOIN r ON l.k = r.k WHERE {SAME}"),
        "SELECT k, v, d FROM l JOIN r USING (k, window_end, window_start)".to_string(),
    ];
    for query in queries {
        let join = join(&query);
        assert!(join.windows().is_some() && join.condition.is_none(), "{query}");
        assert_eq!((join.kind, join.keys[0].len(), join.keys[1].len()), (JoinKind::Inner, 1, 1), "{query}");
    }
}

#[test]
fn conditions_on_one_side_run_before_the_join_unless_rows_are_kept() {
    let inner = join(&format!("SELECT v FROM l JOIN r ON {SAME} AND v > 1 AND d < 2"));
    assert!(inner.condition.is_none());
    let left = join(&format!("SELECT v FROM l LEFT JOIN r ON {SAME} AND v > 1 AND d < 2"));
    assert!(left.condition.is_some());
    let mut read = Vec::new();
    left.condition.unwrap().for_each_column(&mut |column| read.push(column));
    assert!(read.iter().all(|column| *column < left.inputs[0].len()), "only of the left side: {read:?}");
}

#[test]
fn exists_and_in_are_joins() {
    let semi = join(&format!("SELECT k FROM l WHERE EXISTS (SELECT * FROM r WHERE k = l.k AND {SAME})"));
    assert_eq!((semi.kind, semi.keys[0].len()), (JoinKind::Semi, 1));
    let anti = join(&format!("SELECT k FROM l WHERE v > 0 AND k NOT IN (SELECT k FROM r WHERE {SAME})"));
    // A key that may be NULL is compared pair by pair: what is not known is not outside.
    assert_eq!((anti.kind, anti.keys[0].len(), anti.condition.is_some()), (JoinKind::Anti, 0, true));
}

#[test]
fn a_join_without_whole_windows_keeps_all_rows_and_says_so() {
    let script =
        with_tables(&format!("{VIEWS}SELECT l.k FROM l JOIN r ON l.k = r.k AND l.window_start = r.window_start"))
            .unwrap();
    assert!(script.warnings.iter().any(|warning| warning.contains("compare window_end as")), "{:?}", script.warnings);
    assert!(join("SELECT a.k FROM plain a JOIN plain b ON a.k = b.k").windows().is_none());
    let cases = [
        ("SELECT l.k FROM l LEFT JOIN «r ON l.k = r.k AND l.window_start = r.window_start", "window_end too"),
        (
            "SELECT l.k FROM l FULL JOIN «other r ON l.window_start = r.window_start AND l.window_end = r.window_end",
            "not cut alike",
        ),
        ("SELECT a.k FROM src a LEFT JOIN «src b ON a.k = b.k AND a.ts > b.ts", "bound the event time"),
        ("SELECT l.k FROM l FULL JOIN «r USING (k)", "COALESCE"),
    ];
    for (query, remedy) in cases {
        let error = refused(&format!("{VIEWS}{query}"));
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
        assert!(error.remedy().is_some_and(|text| text.contains(remedy)), "{query}: {:?}", error.remedy());
    }
}

#[test]
fn names_that_come_twice_get_numbers_in_a_star() {
    let aggregated = format!(
        "SELECT k0, window_start0, COUNT(*) FROM (SELECT * FROM l JOIN r ON l.k = r.k AND {SAME}) \
         GROUP BY k0, window_start0, window_end"
    );
    assert!(join(&aggregated).windows().is_some());
}

#[test]
fn explain_tells_a_window_join_from_another() {
    let text = explain(&plan_of(&format!("{VIEWS}SELECT l.k FROM l LEFT JOIN r ON l.k = r.k AND {SAME} AND v < d")));
    for line in ["WindowJoin (LEFT OUTER)", "keys: k = k", "where: ", "(window_start, window_end)"] {
        assert!(text.contains(line), "{line} in\n{text}");
    }
    let text = explain(&plan_of("SELECT a.k FROM plain a, plain b WHERE a.v < b.v"));
    for line in ["Join (INNER)", "keys: none, one shard does the work", "windows: none, all rows are kept"] {
        assert!(text.contains(line), "{line} in\n{text}");
    }
}

/// The bounds of an interval join.
fn near(condition: &str) -> Option<(i64, i64)> {
    match join(&format!("SELECT a.v FROM src a JOIN src b ON {condition}")).times {
        JoinTimes::Interval(IntervalBounds { lower_ms, upper_ms, .. }) => Some((lower_ms, upper_ms)),
        _ => None,
    }
}

#[test]
fn two_comparisons_of_event_times_make_an_interval_join() {
    let second = "INTERVAL '1' SECOND";
    let cases = [
        (format!("a.ts BETWEEN b.ts - {second} AND b.ts"), Some((-1_000, 0))),
        (format!("b.ts > a.ts AND b.ts < {second} + a.ts AND a.k = b.k"), Some((-999, -1))),
        (format!("a.ts + {second} >= b.ts - 2 * {second} AND NOT a.ts > b.ts"), Some((-3_000, 0))),
        (format!("NOT (a.ts < b.ts OR a.ts > b.ts + {second})"), Some((0, 1_000))),
        (format!("a.ts >= b.ts + {second} AND a.ts <= b.ts - {second}"), Some((1_000, -1_000))),
        ("a.ts <= b.ts AND a.ts > b.ts - INTERVAL '1' MONTH".to_string(), Some((1 - 31 * 86_400_000, 0))),
        ("a.ts = b.ts AND a.ts <> b.ts".to_string(), Some((0, 0))),
        ("a.ts <= b.ts".to_string(), None),
        ("a.ts <= b.ts AND a.ts < b.ts".to_string(), None),
        (format!("a.ts BETWEEN b.ts - {second} AND b.ts AND a.ts <> b.ts AND a.ts < b.ts"), None),
        (format!("a.ts BETWEEN b.ts - b.v * {second} AND b.ts"), None),
        (format!("a.ts = b.ts + {second}"), None),
        (format!("a.ts BETWEEN b.ts - {second} AND FLOOR(b.ts TO DAY)"), None),
        (format!("a.ts BETWEEN b.ts - {second} AND b.ts OR a.v = 1"), None),
    ];
    for (condition, expected) in cases {
        assert_eq!(near(&condition), expected, "{condition}");
    }
    let mixed = "SELECT a.k FROM src a JOIN «instants b ON a.ts BETWEEN b.ts AND b.ts + INTERVAL '1' DAY";
    assert!(refused(mixed).message().contains("TIMESTAMP_LTZ(3)"));
}

const VERSIONED: &str = "\
CREATE TABLE rates (k STRING, ts TIMESTAMP(3), v INT, w INT, WATERMARK FOR ts AS ts, PRIMARY KEY (k, v) NOT ENFORCED) \
WITH ('connector' = 'filesystem', 'path' = '/in.csv', 'format' = 'csv');
CREATE VIEW latest AS SELECT k, v, ts, rn FROM \
(SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS rn FROM src) WHERE rn = 1;
";

#[test]
fn versions_come_from_a_primary_key_or_a_view_of_last_rows() {
    let key = "SELECT a.v, b.w FROM src a LEFT JOIN rates FOR SYSTEM_TIME AS OF a.ts AS b ON a.k = b.k AND b.v = a.v";
    let plain = join(&format!("{VERSIONED}{key} AND a.d < b.w WHERE b.w IS NULL"));
    assert!(matches!(plain.times, JoinTimes::Versions(Versions { in_order: false, .. })));
    assert_eq!((plain.keys[0].len(), plain.null_meets_null.as_slice()), (2, [true, true].as_slice()));
    assert!(plain.condition.is_some(), "conditions on versions are tested behind the look-up");
    let view = join(&format!(
        "{VERSIONED}SELECT b.v, b.rn FROM src a JOIN latest FOR SYSTEM_TIME AS OF a.ts AS b ON a.k = b.k WHERE b.v > 1"
    ));
    assert!(matches!(view.times, JoinTimes::Versions(Versions { in_order: true, .. })));
    let first = "CREATE VIEW first AS SELECT k, v, ts FROM \
                 (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS rn FROM src) WHERE rn = 1;";
    let first = join(&format!("{first}SELECT b.v FROM src a JOIN first FOR SYSTEM_TIME AS OF a.ts AS b ON a.k = b.k"));
    assert!(matches!(first.times, JoinTimes::Versions(Versions { in_order: false, .. })));
}

#[test]
fn what_is_no_temporal_join_of_flinks_is_refused() {
    let of = |rest: &str| format!("{VIEWS}{VERSIONED}SELECT a.k FROM {rest}");
    let cases = [
        ("src a JOIN «src FOR SYSTEM_TIME AS OF a.ts AS b ON a.k = b.k", "no primary key"),
        (
            "src a JOIN «rates FOR SYSTEM_TIME AS OF a.ts AS b ON a.k = b.k",
            "the whole PRIMARY KEY of the versions: k, v",
        ),
        ("src a JOIN «rates FOR SYSTEM_TIME AS OF a.ts AS b ON a.v < b.v", "compares no key"),
        ("src a JOIN rates FOR SYSTEM_TIME AS OF «a.ts + INTERVAL '1' DAY AS b ON a.k = b.k", "an event-time column"),
        ("plain a JOIN «latest FOR SYSTEM_TIME AS OF a.ts AS b ON a.k = b.k", "an event-time column"),
        ("instants a JOIN «latest FOR SYSTEM_TIME AS OF a.ts AS b ON a.k = b.k", "TIMESTAMP_LTZ(3)"),
        ("src a RIGHT JOIN «latest FOR SYSTEM_TIME AS OF a.ts AS b ON a.k = b.k", "RIGHT OUTER"),
        ("src a JOIN «latest FOR SYSTEM_TIME AS OF a.ts AS b ON a.k = b.k AND a.v = b.v", "more than its PARTITION BY"),
        ("src a, «latest FOR SYSTEM_TIME AS OF a.ts AS b WHERE a.k = b.k", "behind JOIN alone"),
        ("src a JOIN src c ON a.k = c.k JOIN «latest FOR SYSTEM_TIME AS OF a.ts AS b ON a.k = b.k", "bounds no time"),
        (
            "src a JOIN (SELECT * FROM latest) FOR «SYSTEM_TIME AS OF a.ts AS b ON a.k = b.k",
            "behind the name of a table",
        ),
    ];
    for (rest, message) in cases {
        let error = refused(&of(rest));
        assert!(error.message().contains(message), "{rest}: {}", error.message());
    }
    let views = [
        ("SELECT * FROM latest WHERE v > 1", "a condition on the versions"),
        ("SELECT k, MAX(v) AS v, MAX(ts) AS ts FROM src GROUP BY k", "GROUP BY"),
        ("SELECT k, v FROM latest", "no event time"),
        ("SELECT UPPER(k) AS k, v, ts FROM latest", "no primary key"),
    ];
    for (view, message) in views {
        let error = refused(&format!(
            "{VERSIONED}CREATE VIEW odd AS {view};\n\
             SELECT a.k FROM src a JOIN «odd FOR SYSTEM_TIME AS OF a.ts AS b ON a.k = b.k"
        ));
        assert!(error.message().contains(message), "{view}: {}", error.message());
    }
}

#[test]
fn explain_says_how_long_rows_wait_for_others() {
    let near =
        "SELECT a.k FROM src a LEFT JOIN src b ON a.k = b.k AND a.ts BETWEEN b.ts - INTERVAL '1' SECOND AND b.ts";
    let versions =
        format!("{VERSIONED}SELECT a.k, b.v FROM src a JOIN latest FOR SYSTEM_TIME AS OF a.ts AS b ON a.k = b.k");
    let cases = [
        (near, "IntervalJoin (LEFT OUTER)"),
        (near, "times: ts between ts - 1 s and ts"),
        (near, "watermark handed on: 1 s behind"),
        (near, "the watermark is 1 s past their time, of the right side until it passes their time"),
        (versions.as_str(), "TemporalJoin (INNER)"),
        (versions.as_str(), "versions: of each key the last with ts up to ts"),
        (versions.as_str(), "when the watermark reaches its time"),
    ];
    for (query, line) in cases {
        let text = explain(&plan_of(query)).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(line), "{line} in\n{text}");
    }
}
