//! What is allowed and hardly meant, with its place.

use super::{TABLES, options, with_tables};
use crate::sql::{Lint, Rule, compile, findings};

const TUMBLE: &str = "FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '1' MINUTE))";

/// The findings of a script whose tables stand before it.
fn lints(script: &str) -> Vec<Lint> {
    let compiled = with_tables(script).unwrap_or_else(|error| panic!("{error} ({:?})\n{script}", error.remedy()));
    compiled.statements.into_iter().flat_map(|statement| statement.lints).collect()
}

/// The one finding of a script in which `«` marks its place.
fn found(rule: Rule, script: &str) -> Lint {
    let text = format!("{TABLES}{script}");
    let before = text.split('«').next().unwrap();
    assert!(before.len() < text.len(), "no « in {script}");
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap().chars().count() + 1;
    let lints = lints(&script.replace('«', ""));
    let [lint] = lints.as_slice() else { panic!("{lints:#?}\n{script}") };
    assert_eq!((lint.rule, lint.location()), (rule, format!("job.sql:{line}:{column}")), "{script}");
    lint.clone()
}

fn nothing(script: &str) {
    assert_eq!(lints(script), [], "{script}");
}

#[test]
fn a_group_by_without_the_whole_window() {
    let query = |keys: &str| format!("SELECT COUNT(*) {TUMBLE}\nGROUP BY {keys}");
    found(Rule::GroupWithoutWindowEnd, &query("«window_start, k"));
    let lint = found(Rule::GroupWithoutWindowStart, &query("«k, window_end"));
    assert!(lint.message.contains("every row changes a result"), "{lint}");
    assert_eq!(lint.remedy, "group by window_start as well as window_end");
    found(Rule::GroupWithoutWindow, &query("«k"));
    nothing(&query("k, window_start, window_end"));
    nothing("SELECT k, COUNT(*) FROM src GROUP BY k");
    nothing(&format!(
        "SELECT k, MAX(n) FROM (SELECT k, COUNT(*) AS n {TUMBLE} GROUP BY k, window_start, window_end) GROUP BY k"
    ));
}

#[test]
fn a_time_cut_by_hand() {
    for key in ["«DATE_FORMAT(ts, 'yyyy-MM-dd')", "k, FLOOR(«ts TO HOUR)", "CAST(«ts AS DATE)"] {
        found(Rule::TimeKeyWithoutWindow, &format!("SELECT COUNT(*) FROM src GROUP BY {key}"));
    }
    // The hours of all days, a time that is none of events, and text that is cut beside a window.
    nothing("SELECT COUNT(*) FROM src GROUP BY EXTRACT(HOUR FROM ts)");
    nothing("SELECT COUNT(*) FROM plain GROUP BY DATE_FORMAT(ts, 'yyyy')");
    nothing(&format!("SELECT COUNT(*) {TUMBLE} GROUP BY DATE_FORMAT(ts, 'mm'), window_start, window_end"));
}

#[test]
fn a_join_that_lacks_windows_or_keys() {
    let join = |on: &str| {
        let side = "TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '1' MINUTE))";
        format!("SELECT a.k FROM {side} a\nJOIN {side} b ON {on}")
    };
    let marked = |on: &str| join(on).replace("\nJOIN TABLE(T", "\nJOIN TABLE(«T");
    let whole = "a.window_start = b.window_start AND a.window_end = b.window_end";
    found(Rule::JoinWithoutWindowEnd, &marked("a.k = b.k AND a.window_start = b.window_start"));
    found(Rule::JoinWithoutWindowStart, &marked("a.k = b.k AND a.window_end = b.window_end"));
    let lint = found(Rule::JoinWithoutWindow, &marked("a.k = b.k"));
    assert!(lint.message.contains("keeps all rows of both sides for good"), "{lint}");
    found(Rule::JoinWithoutKey, &marked(whole));
    nothing(&join(&format!("a.k = b.k AND {whole}")));
    nothing("SELECT a.k FROM plain a JOIN plain b ON a.k = b.k");
    let other = join(&format!("a.k = b.k AND {whole}")).replacen("'1' MINUTE", "'2' MINUTE", 1);
    found(Rule::JoinOfDifferentWindows, &other.replace("\nJOIN TABLE(T", "\nJOIN TABLE(«T"));
}

#[test]
fn an_outer_join_that_a_condition_undoes() {
    let query = |condition: &str| {
        let side = "TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '1' MINUTE))";
        format!(
            "SELECT a.k FROM {side} a LEFT JOIN\n{side} b ON a.k = b.k AND a.window_start = b.window_start AND \
             a.window_end = b.window_end WHERE {condition}"
        )
    };
    let marked = query("b.v > 1").replace("\nTABLE(T", "\nTABLE(«T");
    let lint = found(Rule::OuterJoinUndone, &marked);
    assert!(lint.message.ends_with("it is an INNER JOIN"), "{lint}");
    nothing(&query("b.v IS NULL"));
    nothing(&query("a.v > 1"));
}

#[test]
fn windows_that_cost_much() {
    let hop = |slide: &str| format!("TABLE(«HOP(TABLE src, DESCRIPTOR(ts), INTERVAL {slide}, INTERVAL '1' HOUR))");
    let grouped = |slide: &str| format!("SELECT COUNT(*) FROM {} GROUP BY k, window_start, window_end", hop(slide));
    let lint = found(Rule::ManyWindows, &grouped("'30' SECOND"));
    assert!(lint.message.starts_with("a row counts in 120 windows"), "{lint}");
    nothing(&grouped("'1' MINUTE").replace('«', ""));
    let lint = found(
        Rule::ManyWindows,
        &format!(
            "SELECT k FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY v) AS rn FROM {}) \
             WHERE rn = 1",
            hop("'30' SECOND")
        ),
    );
    assert!(lint.message.starts_with("each row comes in 120 copies"), "{lint}");
    found(Rule::WindowWithoutKey, &format!("SELECT COUNT(*) {TUMBLE} GROUP BY «window_start, window_end"));
    // Of the few rows that the keys below have left.
    nothing(&format!(
        "SELECT SUM(n) FROM (SELECT k, COUNT(*) AS n, window_start, window_end {TUMBLE} GROUP BY k, window_start, \
         window_end) GROUP BY window_start, window_end"
    ));
    let session = |keys: &str| {
        format!(
            "SELECT COUNT(*) FROM TABLE(«SESSION(TABLE src{keys}, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY {}window_start, \
             window_end",
            if keys.is_empty() { "" } else { "k, " }
        )
    };
    let lint = found(Rule::WindowWithoutKey, &session(""));
    assert!(lint.remedy.contains("PARTITION BY k"), "{lint}");
    nothing(&session(" PARTITION BY k").replace('«', ""));
    found(Rule::WindowWithoutKey, "SELECT «SUM(v) OVER (ORDER BY ts) FROM src");
}

#[test]
fn times_in_a_wrong_unit() {
    let query = |size: &str| {
        format!(
            "SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL {size})) GROUP BY k, window_start, window_end"
        )
    };
    let lint = found(Rule::MillisecondsAsSeconds, &query("«'60000' SECOND(5)"));
    assert_eq!(lint.message, "60000 seconds are 16 h 40 min: the number looks like milliseconds");
    assert!(lint.remedy.starts_with("write INTERVAL '60' SECOND"), "{lint}");
    for size in ["'900' SECOND(3)", "'36000' SECOND(5)", "'86400' SECOND(5)", "'50' MINUTE", "'366' DAY(3)"] {
        nothing(&query(size));
    }
    let long = query("'500' DAY(3)").replace("TUMBLE", "«TUMBLE");
    found(Rule::LongWindow, &long);
    let table = |delay: &str| {
        format!(
            "CREATE TABLE t (k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS «ts - INTERVAL {delay})\nWITH ('connector' = \
             'filesystem', 'path' = '/in', 'format' = 'csv');\nSELECT COUNT(*) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), \
             INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end"
        )
    };
    let lint = found(Rule::WatermarkFarBehind, &table("'5' MINUTE"));
    assert!(lint.message.contains("about 31 windows"), "{lint}");
    nothing(&table("'1' MINUTE").replace('«', ""));
    let lint = found(Rule::MillisecondsAsSeconds, &table("«'5000' SECOND(4)").replacen('«', "", 1));
    assert!(lint.message.contains("1 h 23 min"), "{lint}");
    found(
        Rule::MillisecondsAsSeconds,
        "SELECT SUM(v) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL «'10000' SECOND(5) PRECEDING AND CURRENT ROW) \
         FROM src",
    );
    found(
        Rule::HopWithGaps,
        "SELECT COUNT(*) FROM src GROUP BY k, «HOP(ts, INTERVAL '10' SECOND, INTERVAL '4' SECOND)",
    );
}

#[test]
fn orders_and_numbers() {
    let top = |order: &str| {
        format!(
            "SELECT k FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY {order}) AS rn \
             {TUMBLE}) WHERE rn <= 2"
        )
    };
    let lint = found(Rule::ConstantOrder, &top("«2 DESC, v"));
    assert!(lint.message.contains("is the number 2, not a column"), "{lint}");
    nothing(&top("v"));
    let numbered = "SELECT «ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS rn FROM src";
    found(Rule::RowNumberWithoutLimit, numbered);
    nothing(&format!("SELECT * FROM ({}) WHERE rn = 1", numbered.replace("«", "k, ")));
    found(
        Rule::OrderWithoutEffect,
        &format!("SELECT k, «ARRAY_AGG(v ORDER BY ts) {TUMBLE} GROUP BY k, window_start, window_end"),
    );
}

#[test]
fn settings_and_options_without_effect() {
    let query = format!("SELECT COUNT(*) {TUMBLE} GROUP BY k, window_start, window_end");
    let lint = found(Rule::SettingWithoutEffect, &format!("SET «'table.exec.source.idle-timeout' = '5 s';\n{query}"));
    assert!(lint.message.contains("holds back the watermark"), "{lint}");
    let lint = found(
        Rule::SettingWithoutEffect,
        &format!("SET «'table.optimizer.agg-phase-strategy' = 'ONE_PHASE';\nSET 'pipeline.name' = 'a';\n{query}"),
    );
    assert!(lint.message.starts_with("'table.optimizer.agg-phase-strategy', 'pipeline.name' have no effect"), "{lint}");
    nothing(&format!("SET 'parallelism.default' = '4';\n{query}"));
    nothing(&format!("SET 'pipeline.name' = 'a';\nRESET 'pipeline.name';\n{query}"));
    found(Rule::UnknownSetting, &format!("SET «'table.local-time-zne' = 'UTC';\n{query}"));
    found(Rule::LatenessWithoutEffect, &format!("SET «'table.exec.emit.allow-lateness' = '20 s';\n{query}"));
    found(Rule::StateKeptForGood, "SET «'table.exec.state.ttl' = '1 h';\nSELECT k, COUNT(*) FROM src GROUP BY k");
    let legacy = "SELECT COUNT(*) FROM src GROUP BY k, TUMBLE(ts, INTERVAL '1' MINUTE)";
    found(Rule::LatenessWithoutEffect, &format!("SET «'table.exec.emit.allow-lateness' = '20 s';\n{legacy}"));
    let fire = "SET 'table.exec.emit.early-fire.enabled' = 'true';\nSET «'table.exec.emit.early-fire.delay' = '1 s';\n";
    found(Rule::DelayWithoutEffect, &format!("{fire}{legacy}"));
    let lint = found(
        Rule::OptionWithoutEffect,
        "CREATE TABLE out (k STRING) WITH ('connector' = 'filesystem', 'path' = '/out2', 'format' = 'json',\n\
         'sink.parallelism' = «'2', 'auto-compaction' = 'true');\nINSERT INTO out SELECT k FROM src",
    );
    assert_eq!(lint.message, "'sink.parallelism', 'auto-compaction' of table out have no effect on one machine");
}

#[test]
fn what_a_run_says_too_is_a_warning_with_its_place() {
    let script = with_tables(&format!("SELECT k, ARRAY_AGG(v ORDER BY ts) {TUMBLE} GROUP BY k, window_start")).unwrap();
    let rules: Vec<Rule> = script.statements[0].lints.iter().map(|lint| lint.rule).collect();
    assert_eq!(rules, [Rule::OrderWithoutEffect, Rule::GroupWithoutWindowEnd]);
    let [warning] = script.warnings.as_slice() else { panic!("{:?}", script.warnings) };
    assert!(warning.starts_with("job.sql:5:11: the ORDER BY in ARRAY_AGG has no effect"), "{warning}");
    let mut options = options();
    options.overrides = vec![("no.such.key".to_string(), "1".to_string())];
    let script = compile("SELECT 1", &options).unwrap();
    assert!(script.warnings[0].contains("'no.such.key' is not a setting"), "{:?}", script.warnings);
    assert!(script.statements[0].lints.is_empty());
}

#[test]
fn a_view_that_is_read_twice_is_spoken_of_once() {
    let view = format!("CREATE VIEW v AS SELECT COUNT(*) AS n {TUMBLE} GROUP BY «window_start, window_end;\n");
    found(Rule::WindowWithoutKey, &format!("{view}SELECT n FROM v UNION ALL SELECT n FROM v"));
}

#[test]
fn settings_of_checkpoints_have_an_effect_and_those_of_restarts_none() {
    let select = format!("SELECT COUNT(*) {TUMBLE} GROUP BY window_start, window_end, k");
    let of = |settings: &str| findings(&lints(&format!("{settings}{select}")));
    let heeded = "SET 'execution.checkpointing.interval' = '1 s';\nSET 'execution.checkpointing.dir' = '/tmp/c';\n\
                  SET 'state.checkpoints.num-retained' = '2';\n";
    assert!(!of(heeded).contains("setting-without-effect"), "{}", of(heeded));
    let restored = of("SET 'execution.state-recovery.path' = '/tmp/c/chk-1';\n");
    assert!(restored.contains("transom run --restore PATH"), "{restored}");
    assert!(of("SET 'restart-strategy.type' = 'none';\n").contains("--restore latest"));
}

#[test]
fn the_section_of_explain_is_aligned_and_wrapped() {
    assert_eq!(findings(&[]), "");
    let text = findings(&lints(&format!(
        "SET 'table.exec.source.idle-timeout' = '5 s';\nSELECT COUNT(*) {TUMBLE} GROUP BY window_start"
    )));
    let expected = "\
Lint:
  job.sql:5:5   setting-without-effect
    'table.exec.source.idle-timeout' has no effect: an input without new rows holds back the
    watermark until it ends
    instead: for files it makes no difference, and it may stay for Flink
  job.sql:6:93  group-without-window-end
    window_start without window_end makes no window aggregation: every row changes a result, and
    each key is kept for good
    instead: group by window_end as well as window_start
";
    assert_eq!(text, expected);
}
