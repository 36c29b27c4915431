//! What joins are planned, and which are refused.

use super::{plan_of, refused, with_tables};
use crate::error::ErrorKind;
use crate::plan::{JoinKind, JoinSpec, Node, StageSpec};
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
        assert!(join.windows.is_some() && join.condition.is_none(), "{query}");
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
    assert!(join("SELECT a.k FROM plain a JOIN plain b ON a.k = b.k").windows.is_none());
    let cases = [
        ("SELECT l.k FROM l LEFT JOIN «r ON l.k = r.k AND l.window_start = r.window_start", "window_end too"),
        (
            "SELECT l.k FROM l FULL JOIN «other r ON l.window_start = r.window_start AND l.window_end = r.window_end",
            "not cut alike",
        ),
        (
            "SELECT a.k FROM src a JOIN «src b ON a.ts BETWEEN b.ts - INTERVAL '1' SECOND AND b.ts",
            "compare window_start",
        ),
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
    assert!(join(&aggregated).windows.is_some());
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
