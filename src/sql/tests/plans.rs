//! What scripts become.

use super::{aggregate_of, options, plan_of, variables, with_tables};
use crate::plan::{JobPlan, Node, RankSpec, ScanSpec, SinkConnector, SourceSpec, StageSpec, WindowSpec};
use crate::sql::{Action, compile, explain};

const TUMBLE: &str = "FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND))";

fn scan_of(node: &Node) -> &ScanSpec {
    match node {
        Node::Scan(scan) => scan,
        other => scan_of(other.inputs().first().expect("a scan")),
    }
}

fn root(plan: &JobPlan) -> &Node {
    &plan.pipelines[0].root
}

fn names(schema: &crate::types::Schema) -> Vec<&str> {
    schema.fields.iter().map(|field| field.name.as_str()).collect()
}

#[test]
fn a_window_aggregation_reads_only_what_it_needs() {
    let plan = plan_of(&format!(
        "INSERT INTO results SELECT k, window_start, window_end, COUNT(*) {TUMBLE} WHERE v > 1 GROUP BY k, window_start, window_end"
    ));
    let scan = scan_of(root(&plan));
    assert_eq!(scan.projection, [0, 1, 2], "k, ts, v of six columns");
    assert_eq!(scan.file_schema.len(), 6);
    assert_eq!(scan.watermark.as_ref().unwrap().text, "ts - INTERVAL '2' SECOND");
    let spec = aggregate_of(root(&plan));
    assert_eq!(spec.window, WindowSpec::Tumble { size_ms: 10_000, offset_ms: 0 });
    assert_eq!(names(&spec.input), ["k", "ts"], "the filter's column goes no further");
    assert!(!spec.ordered, "files need no order");
    assert_eq!(names(root(&plan).schema()), ["k", "window_start", "window_end", "n"]);
}

#[test]
fn columns_are_pruned_through_views_and_subqueries() {
    let plan = plan_of(&format!(
        "CREATE VIEW wide AS SELECT *, UPPER(c) AS u, d * 2 AS dd FROM src; \
         SELECT window_start, window_end, MAX(u) FROM TABLE(TUMBLE((SELECT u, ts, dd FROM wide), DESCRIPTOR(ts), INTERVAL '1' MINUTE)) \
         GROUP BY window_start, window_end -- {TUMBLE}"
    ));
    assert_eq!(scan_of(root(&plan)).projection, [1, 3]);
}

#[test]
fn the_same_aggregate_is_computed_once() {
    let plan = plan_of(&format!(
        "SELECT SUM(v), SUM(v) + 1, AVG(v), SUM(v) FILTER (WHERE v > 1), SUM(DISTINCT v) {TUMBLE} \
         GROUP BY window_start, window_end HAVING SUM(v) > 0 AND COUNT(*) > 1"
    ));
    let spec = aggregate_of(root(&plan));
    assert_eq!(spec.aggregates.len(), 5, "SUM, AVG, filtered SUM, SUM(DISTINCT), COUNT(*)");
    assert_eq!(names(&spec.input), ["v", "sum$2.filter", "ts"]);
}

#[test]
fn aggregates_that_fix_something_else_are_others() {
    let text = explain(&plan_of(&format!(
        "SELECT LISTAGG(k), LISTAGG(k, ','), LISTAGG(k, '''|'), PERCENTILE(v, 0.5), PERCENTILE(v, ARRAY[0.5, 1]), \
         ARRAY_AGG(v), ARRAY_AGG(v) IGNORE NULLS, HISTOGRAM(v, 0, 10, 2), COLLECT(DISTINCT k) {TUMBLE} \
         GROUP BY window_start, window_end"
    )));
    for call in [
        "listagg$0 = LISTAGG(k, ','), listagg$1 = LISTAGG(k, '''|'), ",
        "= PERCENTILE(v, 0.5), ",
        "= PERCENTILE(v, ARRAY[0.5, 1]), ",
        "= ARRAY_AGG(v), ",
        "= ARRAY_AGG(v) IGNORE NULLS, ",
        "= HISTOGRAM(v, 0, 10, 2), ",
        "= COLLECT(DISTINCT k)",
    ] {
        assert!(text.contains(call), "{call}: {text}");
    }
}

#[test]
fn an_order_without_effect_is_a_warning() {
    let script = with_tables(&format!(
        "SELECT ARRAY_AGG(v ORDER BY ts), ARRAY_AGG(v ORDER BY k), JSON_ARRAYAGG(v) WITHIN GROUP (ORDER BY v) {TUMBLE} \
         GROUP BY window_start, window_end"
    ))
    .unwrap();
    assert_eq!(script.warnings.len(), 3, "{:?}", script.warnings);
    assert!(script.warnings[0].contains("the ORDER BY in ARRAY_AGG has no effect"));
}

#[test]
fn named_and_positional_arguments_mean_the_same() {
    let group = "GROUP BY window_start, window_end";
    let named = plan_of(&format!(
        "SELECT COUNT(*) FROM TABLE(HOP(DATA => TABLE src, TIMECOL => DESCRIPTOR(ts), SIZE => INTERVAL '15' SECONDS, \
         SLIDE => INTERVAL '5' SECOND, `OFFSET` => INTERVAL '-1' SECOND)) {group}"
    ));
    let positional = plan_of(&format!(
        "SELECT COUNT(*) FROM HOP(TABLE src, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '15' SECOND, INTERVAL -'1' SECOND) {group}"
    ));
    let expected = WindowSpec::Hop { size_ms: 15_000, slide_ms: 5_000, offset_ms: -1_000 };
    assert_eq!(aggregate_of(root(&named)).window, expected);
    assert_eq!(aggregate_of(root(&positional)).window, expected);
}

#[test]
fn filters_between_function_and_aggregation_run_before_the_windows() {
    let query = |condition: &str| {
        plan_of(&format!(
            "SELECT k, COUNT(*) FROM TABLE(SESSION(TABLE src PARTITION BY k, DESCRIPTOR(ts), INTERVAL '5' SECOND)) \
             WHERE {condition} GROUP BY k, window_start, window_end"
        ))
    };
    let plan = query("v > 1");
    assert_eq!(aggregate_of(root(&plan)).window, WindowSpec::Session { gap_ms: 5_000 });
}

#[test]
fn a_condition_on_the_window_makes_the_rows_carry_it() {
    let plan = plan_of(&format!(
        "SELECT k, COUNT(*) {TUMBLE} WHERE window_start > TIMESTAMP '2024-01-01 00:00:00' GROUP BY k, window_start, window_end"
    ));
    let spec = aggregate_of(root(&plan));
    let WindowSpec::Attached { start, end } = spec.window else { panic!("{:?}", spec.window) };
    assert_eq!(
        (spec.input.fields[start].name.as_str(), spec.input.fields[end].name.as_str()),
        ("window_start", "window_end")
    );
    assert_eq!(spec.input.fields[spec.time].name, "window_time");
}

#[test]
fn windows_of_an_aggregation_can_be_grouped_again() {
    let plan = plan_of(&format!(
        "CREATE VIEW per_key AS SELECT k, window_start AS s, window_end AS e, COUNT(*) AS n {TUMBLE} GROUP BY k, window_start, window_end; \
         SELECT s, e, MAX(n) FROM per_key GROUP BY s, e"
    ));
    let outer = aggregate_of(root(&plan));
    assert!(matches!(outer.window, WindowSpec::Attached { .. }));
    assert_eq!(outer.input.fields[outer.time].name, "window_time", "though the view does not select it");
}

#[test]
fn windows_survive_union_all_of_the_same_kind_only() {
    let union = |size: u32| {
        with_tables(&format!(
            "CREATE VIEW u AS SELECT k, window_start, window_end {TUMBLE} UNION ALL \
             SELECT c, window_start, window_end FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '{size}' SECOND)); \
             INSERT INTO results (k, n) SELECT k, COUNT(*) FROM u GROUP BY k, window_start, window_end"
        ))
    };
    assert!(union(10).is_ok());
    assert!(union(5).unwrap_err().message().contains("update changes"));
}

#[test]
fn a_chained_window_is_cut_on_window_time() {
    let plan = plan_of(&format!(
        "CREATE VIEW small AS SELECT window_time AS wt, k, COUNT(*) AS n {TUMBLE} GROUP BY k, window_start, window_end, window_time; \
         SELECT SUM(n) FROM TABLE(TUMBLE(TABLE small, DESCRIPTOR(wt), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end"
    ));
    let outer = aggregate_of(root(&plan));
    assert_eq!(outer.window, WindowSpec::Tumble { size_ms: 60_000, offset_ms: 0 });
    assert_eq!(outer.input.fields[outer.time].name, "window_time");
    assert!(outer.keys.is_empty());
}

#[test]
fn windows_of_instants_are_cut_in_the_local_zone() {
    let query = "SELECT k, COUNT(*), window_time FROM TABLE(TUMBLE(TABLE instants, DESCRIPTOR(ts), INTERVAL '1' DAY)) \
                 GROUP BY k, window_start, window_end, window_time";
    let utc = plan_of(query);
    assert_eq!(aggregate_of(root(&utc)).zone, None);
    let tokyo = plan_of(&format!("SET 'table.local-time-zone' = 'Asia/Tokyo'; {query}"));
    let spec = aggregate_of(root(&tokyo));
    assert_eq!(spec.zone.as_deref(), Some("Asia/Tokyo"));
    assert_eq!(spec.schema.fields.last().unwrap().data_type.to_string(), "TIMESTAMP_LTZ(3) NOT NULL");
    let plain = plan_of(&format!(
        "SET 'table.local-time-zone' = 'Asia/Tokyo'; SELECT COUNT(*) {TUMBLE} GROUP BY window_start, window_end"
    ));
    assert_eq!(aggregate_of(root(&plain)).zone, None, "a plain timestamp has no zone");
}

#[test]
fn bare_windows_of_instants_are_assigned_on_the_local_clock() {
    let plan = plan_of(
        "SET 'table.local-time-zone' = 'Asia/Tokyo'; \
         SELECT k, window_start, window_time FROM TABLE(TUMBLE(TABLE instants, DESCRIPTOR(ts), INTERVAL '1' DAY))",
    );
    let mut node = root(&plan);
    while !matches!(node, Node::AssignWindows { .. }) {
        node = node.inputs()[0];
    }
    let Node::AssignWindows { input, time, .. } = node else { unreachable!() };
    assert_eq!(input.schema().fields[*time].data_type.kind.to_string(), "TIMESTAMP(3)");
    let last = root(&plan).schema().fields.last().unwrap();
    assert_eq!(last.data_type.to_string(), "TIMESTAMP_LTZ(3) NOT NULL");
}

#[test]
fn select_distinct_over_windows_is_a_group_by() {
    let plan = plan_of(&format!("SELECT DISTINCT k, window_start, window_end {TUMBLE}"));
    let spec = aggregate_of(root(&plan));
    assert_eq!((spec.keys.len(), spec.aggregates.len()), (1, 0));
}

#[test]
fn group_by_an_expression_keeps_it_as_a_key() {
    let plan =
        plan_of(&format!("SELECT MOD(v, 3) + 1, COUNT(*) {TUMBLE} GROUP BY MOD(v, 3), window_start, window_end"));
    let spec = aggregate_of(root(&plan));
    assert_eq!(spec.keys.len(), 1);
    assert_eq!(names(&spec.input), ["key$0", "ts"]);
}

#[test]
fn common_tables_are_inlined() {
    let plan = plan_of(&format!(
        "WITH a AS (SELECT k, window_start AS s, window_end AS e, COUNT(*) AS n {TUMBLE} GROUP BY k, window_start, window_end), \
         b (x, y, m) AS (SELECT s, e, MAX(n) FROM a GROUP BY s, e) SELECT m FROM b"
    ));
    assert!(matches!(aggregate_of(root(&plan)).window, WindowSpec::Attached { .. }));
}

#[test]
fn work_is_not_done_twice_by_merging_projections() {
    let calcs = |query: &str| {
        let plan = plan_of(query);
        let (mut node, mut count) = (&plan.pipelines[0].root, 0);
        loop {
            count += usize::from(matches!(node, Node::Calc { .. }));
            match node.inputs().first() {
                Some(input) => node = input,
                None => return count,
            }
        }
    };
    assert_eq!(calcs("SELECT x + 1 FROM (SELECT v * 2 AS x FROM src)"), 1);
    assert_eq!(calcs("SELECT x + x FROM (SELECT v * 2 AS x FROM src)"), 2);
    assert_eq!(calcs("SELECT x + x FROM (SELECT v AS x FROM src) WHERE x > 1"), 1);
}

#[test]
fn a_statement_set_is_one_job() {
    for set in ["EXECUTE STATEMENT SET BEGIN", "BEGIN STATEMENT SET;"] {
        let script = with_tables(&format!(
            "{set} INSERT INTO results (k) SELECT k FROM src; INSERT INTO results (k) SELECT CASE WHEN k = 'a' THEN 'b' END FROM src; END; \
             SELECT k FROM src"
        ))
        .unwrap();
        assert_eq!(script.statements.len(), 2);
        let Action::Insert(plan) = &script.statements[0].action else { panic!() };
        assert_eq!(plan.pipelines.len(), 2);
        assert_eq!((script.statements[0].number, script.statements[0].line), (5, 5));
    }
}

#[test]
fn columns_that_an_insert_leaves_out_are_null() {
    let plan = plan_of("INSERT INTO results (n, k) SELECT ms, k FROM instants");
    let Node::Calc { exprs, schema, .. } = root(&plan) else { panic!() };
    assert_eq!(names(schema), ["k", "window_start", "window_end", "n"]);
    assert!(matches!(exprs[1], crate::expr::Expr::Literal { .. }));
}

#[test]
fn results_for_people_come_in_an_order_of_their_own() {
    let query = format!("SELECT COUNT(*) {TUMBLE} GROUP BY window_start, window_end");
    assert!(aggregate_of(root(&plan_of(&query))).ordered);
    let print =
        "CREATE TABLE p (n BIGINT) WITH ('connector' = 'print', 'print-identifier' = 'x', 'standard-error' = 'true');";
    let plan = plan_of(&format!("{print} INSERT INTO p {query}"));
    assert!(aggregate_of(root(&plan)).ordered);
    assert!(
        matches!(&plan.pipelines[0].sink.connector, SinkConnector::Print { identifier: Some(x), standard_error: true } if x == "x")
    );
    let hole = "CREATE TABLE p (n BIGINT) WITH ('connector' = 'blackhole');";
    assert!(!aggregate_of(root(&plan_of(&format!("{hole} INSERT INTO p {query}")))).ordered);
}

#[test]
fn a_select_has_flinks_column_names() {
    let script = with_tables("SELECT k, v + 1, src.c, d AS x FROM src").unwrap();
    let Action::Select { schema, .. } = &script.statements[0].action else { panic!() };
    assert_eq!(names(schema), ["k", "EXPR$1", "c", "x"]);
}

#[test]
fn comments_strings_and_quoted_names_do_not_end_statements() {
    let script = with_tables(
        "-- a ; comment with ${NOTHING}\n/* and; ${ANOTHER} */ CREATE VIEW `a;b` AS SELECT k AS `the ``key`, ';--' AS s, 'it''s' AS q FROM src;;\n\
         SELECT `the ``key` FROM `a;b`",
    )
    .unwrap();
    assert_eq!(script.statements.len(), 1);
    assert_eq!(script.statements[0].line, 7);
}

#[test]
fn variables_stand_for_their_values() {
    let mut options = options();
    options.variables = variables(&[("DIR", "/it's"), ("TABLE_NAME", "t")]);
    let text = "CREATE TABLE ${TABLE_NAME} (a INT) WITH ('connector' = 'filesystem', 'path' = '${DIR}/x', 'format' = 'csv'); SELECT a FROM t";
    let script = compile(text, &options).unwrap();
    let Action::Select { plan, .. } = &script.statements[0].action else { panic!() };
    let SourceSpec::Files(files) = &scan_of(root(plan)).source else { panic!("no files") };
    assert_eq!(files.path, "/it's/x");
}

#[test]
fn settings_hold_from_where_they_are_set() {
    let script = with_tables(
        "SELECT k FROM src; SET pipeline.auto-watermark-interval = 200 ms; SET 'parallelism.default' = '4'; SELECT k FROM src; \
         RESET 'pipeline.auto-watermark-interval'; SELECT k FROM src; SET 'table.local-time-zne' = 'UTC'",
    )
    .unwrap();
    let intervals = script.statements.iter().map(|statement| match &statement.action {
        Action::Select { plan, .. } => plan.config.watermark_interval_ms,
        _ => panic!(),
    });
    assert_eq!(intervals.collect::<Vec<_>>(), [0, 200, 0]);
    let Action::Select { plan, .. } = &script.statements[1].action else { panic!() };
    assert_eq!(plan.config.ignored, ["parallelism.default"]);
    assert_eq!(script.warnings.len(), 1);
    assert!(script.warnings[0].contains("table.local-time-zone"), "{}", script.warnings[0]);
}

#[test]
fn what_the_command_line_sets_wins() {
    let mut options = options();
    options.overrides = vec![("pipeline.max-parallelism".to_string(), "16".to_string())];
    let text = format!("{}SET 'pipeline.max-parallelism' = '4'; SELECT k FROM src", super::TABLES);
    let script = compile(&text, &options).unwrap();
    let Action::Select { plan, .. } = &script.statements[0].action else { panic!() };
    assert_eq!(plan.config.key_groups, 16);
    options.overrides[0].1 = "none".to_string();
    let error = compile(&text, &options).unwrap_err();
    assert_eq!(error.kind(), crate::error::ErrorKind::Usage);
    assert!(error.message().contains("pipeline.max-parallelism"));
}

#[test]
fn wildcards_take_the_columns_of_one_table_or_all() {
    let script = with_tables("SELECT s.*, v * 2 AS w FROM (SELECT v, k FROM src) AS s (v, key)").unwrap();
    let Action::Select { schema, .. } = &script.statements[0].action else { panic!() };
    assert_eq!(names(schema), ["v", "key", "w"]);
}

#[test]
fn allowed_lateness_is_a_warning() {
    let script = with_tables(&format!(
        "SET 'table.exec.emit.allow-lateness' = '20 s'; SELECT COUNT(*) {TUMBLE} GROUP BY window_start, window_end"
    ))
    .unwrap();
    assert_eq!(script.warnings.len(), 1);
    assert!(script.warnings[0].contains("allow-lateness"));
}

#[test]
fn explain_shows_the_whole_plan() {
    let script = with_tables(&format!(
        "EXPLAIN PLAN FOR INSERT INTO results SELECT UPPER(k), window_start, window_end, SUM(v) FILTER (WHERE v > 1) {TUMBLE} \
         WHERE c LIKE 'x%' AND v + 1 <> 3 GROUP BY UPPER(k), window_start, window_end HAVING COUNT(*) > 2"
    ))
    .unwrap();
    let Action::Explain(plan) = &script.statements[0].action else { panic!() };
    let expected = "\
Card: WindowAggregate
  key          UPPER(k)
  windows      TUMBLE size 10 s
  time column  ts, TIMESTAMP(3)
  watermark    2 s behind the highest ts of src; moves with every row; no idle timeout
  keeps        for each key (20 B and text) and open window: SUM(v) FILTER (WHERE v > 1) 8 B,
               COUNT(*) 8 B; together 16 B
  gives        each result once (append), when the watermark passes the end of its window

Sink results (json /out): k, window_start, window_end, n
  Calc: k = key$0, window_start, window_end, n = CAST(sum$0 AS BIGINT)
    where: count$1 > 2
    WindowAggregate (slice operator)
      keys: UPPER(k)
      windows: TUMBLE size 10 s
      slices: 10 s
      time column: ts
      watermark: moves with every row
      aggregates: sum$0 = SUM(v) FILTER (WHERE v > 1), count$1 = COUNT(*)
      Calc: key$0 = UPPER(k), v, sum$0.filter = v > 1, ts
        where: c LIKE 'x%' AND v + 1 <> 3
        Scan src (csv /in.csv)
          columns read: k, ts, v, c (4 of 6)
          watermark of ts: ts - INTERVAL '2' SECOND, moves with every row
";
    assert_eq!(explain(plan), expected);
}

#[test]
fn explain_works_for_queries_and_statement_sets() {
    for statement in [
        "SELECT k FROM src",
        "STATEMENT SET BEGIN INSERT INTO results (k) SELECT k FROM src; END",
        "PLAN FOR SELECT k FROM src",
    ] {
        let script = with_tables(&format!("EXPLAIN {statement}")).unwrap();
        let Action::Explain(plan) = &script.statements[0].action else { panic!() };
        let text = explain(plan);
        assert!(text.contains("Scan src (csv /in.csv)"), "{text}");
    }
    let plan = plan_of("INSERT INTO results (k) SELECT k FROM src");
    assert!(explain(&plan).starts_with("Sink results (json /out): k, window_start"), "{}", explain(&plan));
}

#[test]
fn columns_of_one_name_are_numbered_in_a_result() {
    let plan = plan_of("SELECT k, c AS k, v, v + 1 AS k0, k FROM src");
    assert_eq!(names(&plan.pipelines[0].sink.schema), ["k", "k0", "v", "k00", "k1"]);
}

#[test]
fn parentheses_in_group_by_only_group() {
    let window = "FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '1' SECOND))";
    for groups in
        ["(window_start, window_end, k)", "(window_start), ((window_end, k))", "window_start, window_end, k, ()"]
    {
        let plan = plan_of(&format!("SELECT k, COUNT(*) {window} GROUP BY {groups}"));
        assert_eq!(aggregate_of(root(&plan)).keys.len(), 1, "{groups}");
    }
}

#[test]
fn a_select_may_have_several_event_times() {
    let plan = plan_of("SELECT * FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '1' SECOND))");
    assert_eq!(names(&plan.pipelines[0].sink.schema).last(), Some(&"window_time"));
}

#[test]
fn unicode_strings_and_the_lowest_bigint_are_literals() {
    let plan = plan_of("SELECT U&'\\0041\\6F22' AS t, -9223372036854775808 AS n FROM src");
    let types: Vec<String> = plan.pipelines[0].sink.schema.fields.iter().map(|f| f.data_type.to_string()).collect();
    assert_eq!(types, ["CHAR(2) NOT NULL", "BIGINT NOT NULL"]);
}

/// The topmost Top-N of a plan.
fn rank_of(node: &Node) -> &RankSpec {
    match node {
        Node::Stage { spec, .. } => match &**spec {
            StageSpec::Rank(spec) => spec,
            other => panic!("no Top-N: {other:?}"),
        },
        other => rank_of(other.inputs().first().expect("a Top-N")),
    }
}

fn top(partition: &str, order: &str, condition: &str) -> JobPlan {
    plan_of(&format!(
        "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY {partition} ORDER BY {order}) AS rn {TUMBLE}) WHERE {condition}"
    ))
}

#[test]
fn conditions_on_a_row_number_become_the_range_of_a_top_n() {
    let cases = [
        ("rn <= 3", (1, 3)),
        ("rn < 3", (1, 2)),
        ("3 >= rn", (1, 3)),
        ("rn = 2", (2, 2)),
        ("rn BETWEEN 2 AND 3", (2, 3)),
        ("rn > 1 AND rn <= CAST(4 AS BIGINT)", (2, 4)),
        ("rn <= 3 AND v > 1 AND 5 > rn", (1, 3)),
        ("rn >= 3 AND rn <= 2", (3, 2)),
    ];
    for (condition, range) in cases {
        let plan = top("window_start, window_end", "v DESC", condition);
        let spec = rank_of(root(&plan));
        assert_eq!((spec.first, spec.last), range, "{condition}");
        assert!(!spec.numbered, "nobody reads the number");
        assert_eq!(names(&spec.input), ["k", "v", "window_start", "window_end"]);
        assert_eq!((spec.keys.as_slice(), spec.dealt_by.as_slice()), (&[][..], &[3][..]), "dealt out by window");
    }
}

#[test]
fn only_a_deduplication_by_event_time_keeps_the_last_row() {
    let keeps_last = |order: &str, condition: &str| {
        let plan = top("window_start, window_end, k", order, condition);
        let spec = rank_of(root(&plan));
        assert_eq!(spec.dealt_by, spec.keys);
        spec.last_wins
    };
    assert!(keeps_last("ts DESC", "rn = 1"));
    assert!(keeps_last("window_time DESC", "rn < 2"));
    assert!(!keeps_last("ts", "rn = 1"));
    assert!(!keeps_last("ts DESC", "rn <= 2"));
    assert!(!keeps_last("ts DESC, v", "rn = 1"));
    assert!(!keeps_last("window_end DESC", "rn = 1"));
    assert!(!keeps_last("v DESC", "rn = 1"));
}

#[test]
fn operators_of_whole_rows_are_explained() {
    let plan = plan_of(
        "SELECT k, rn FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY v DESC, k NULLS LAST) AS rn \
         FROM TABLE(SESSION(TABLE src PARTITION BY k, DESCRIPTOR(ts), INTERVAL '5' SECOND))) WHERE rn BETWEEN 2 AND 3",
    );
    let text = explain(&plan);
    for line in [
        "WindowTopN (rows 2 to 3 of each window and key)",
        "keys: none, shards share the windows",
        "order: v DESC, k NULLS LAST",
        "of equal rows: the first to arrive",
        "SessionRows (keeps rows until their session ends)",
        "windows: SESSION gap 5 s",
    ] {
        assert!(text.contains(line), "{line} in\n{text}");
    }
    let plan = plan_of(
        "SELECT k, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS rn FROM src) WHERE rn = 1",
    );
    assert!(explain(&plan).contains("Deduplicate (keeps the first row of each key)"));
}
