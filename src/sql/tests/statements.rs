//! SHOW, DESCRIBE, ALTER, USE and CREATE TABLE … LIKE.

use arrow::array::AsArray;
use arrow::util::display::array_value_to_string;

use super::{options, with_tables};
use crate::error::{Error, ErrorKind};
use crate::sql::{Action, Answer, compile};

const EVENTS: &str = "\
CREATE TABLE events (id BIGINT COMMENT 'the id', k STRING, v DECIMAL(10, 2) COMMENT 'it''s v', ms BIGINT,
 rt AS TO_TIMESTAMP_LTZ(ms,  3) COMMENT 'computed', `odd``name` ROW<a INT, b STRING NOT NULL>, up AS UPPER(k) || 'a  b''',
 CONSTRAINT pk PRIMARY KEY (id, k) NOT ENFORCED, WATERMARK FOR rt AS rt - INTERVAL '5' SECOND) COMMENT 'a table'
WITH ('connector' = 'filesystem', 'path' = '/in', 'format' = 'json');
CREATE TEMPORARY TABLE tmp (a INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'print');
CREATE VIEW v1 AS SELECT id, k, up, rt FROM events WHERE k <> 'it''s';
CREATE TEMPORARY VIEW v2 (x, y) COMMENT 'a view' AS SELECT k, COUNT(*)
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(rt), INTERVAL '5' SECOND)) GROUP BY k, window_start, window_end;
";

fn answers(script: &str) -> Vec<Answer> {
    let compiled = compile(&format!("{EVENTS}{script}"), &options());
    let script = compiled.unwrap_or_else(|error| panic!("{error} ({:?})", error.remedy()));
    let answer = |action| match action {
        Action::Answer(answer) => answer,
        other => panic!("{other:?}"),
    };
    script.statements.into_iter().map(|statement| answer(statement.action)).collect()
}

/// The last answer: rows with their values between bars, the names of the columns first.
fn answer(script: &str) -> Vec<String> {
    let answer = answers(script).pop().expect("an answer");
    let names: Vec<&str> = answer.schema.fields.iter().map(|field| field.name.as_str()).collect();
    let mut lines = vec![names.join("|")];
    for row in 0..answer.rows.num_rows() {
        let cells: Vec<String> =
            answer.rows.columns().iter().map(|column| array_value_to_string(column, row).expect("a text")).collect();
        lines.push(cells.join("|"));
    }
    lines
}

fn text(script: &str) -> String {
    let answer = answers(script).pop().expect("an answer");
    assert_eq!((answer.rows.num_rows(), answer.schema.fields[0].name.as_str()), (1, "result"));
    answer.rows.column(0).as_string::<i32>().value(0).to_string()
}

fn refused(script: &str) -> Error {
    compile(&format!("{EVENTS}{script}"), &options()).expect_err("an error")
}

#[test]
fn describe_shows_what_flink_shows() {
    assert_eq!(
        answer("DESCRIBE events"),
        [
            "name|type|null|key|extras|watermark|comment",
            "id|BIGINT|false|PRI(id, k)||| the id",
            "k|STRING|false|PRI(id, k)|||",
            "v|DECIMAL(10, 2)|true||||it's v",
            "ms|BIGINT|true||||",
            "rt|TIMESTAMP_LTZ(3) *ROWTIME*|true||AS TO_TIMESTAMP_LTZ(ms, 3)|rt - INTERVAL '5' SECOND|computed",
            "odd`name|ROW<`a` INT, `b` STRING NOT NULL>|true||||",
            "up|STRING|true||AS UPPER(k) || 'a  b'''||",
        ]
        .map(|line| line.replace("| the id", "|the id"))
    );
    assert_eq!(answer("DESC EXTENDED tmp"), answer("DESCRIBE tmp"));
    assert_eq!(answer("DESCRIBE tmp")[0], "name|type|null|key|extras|watermark");
    assert_eq!(answer("DESCRIBE v2")[1..], ["x|STRING|false|||", "y|BIGINT|false|||"]);
    assert_eq!(answer("DESCRIBE v1")[4], "rt|TIMESTAMP_LTZ(3) *ROWTIME*|true|||");
    assert_eq!(answer("SHOW COLUMNS FROM tmp LIKE 't%'")[1..], ["ts|TIMESTAMP(3) *ROWTIME*|true|||ts"]);
}

#[test]
fn show_lists_names_in_their_order() {
    assert_eq!(answer("SHOW TABLES"), ["table name", "events", "tmp", "v1", "v2"]);
    assert_eq!(answer("SHOW TABLES FROM default_database NOT LIKE '%v%'"), ["table name", "tmp"]);
    assert_eq!(answer("SHOW VIEWS LIKE 'v_'"), ["view name", "v1", "v2"]);
    assert_eq!(answer("SHOW CATALOGS"), ["catalog name", "default_catalog"]);
    assert_eq!(answer("SHOW DATABASES LIKE 'x%'"), ["database name"]);
    assert_eq!(answer("SHOW CURRENT CATALOG"), ["current catalog name", "default_catalog"]);
    assert_eq!(answer("SHOW CURRENT DATABASE"), ["current database name", "default_database"]);
    assert_eq!(answer("SHOW MODULES"), ["module name", "core"]);
    assert_eq!(answer("SHOW FULL MODULES"), ["module name|used", "core|true"]);
    assert_eq!(answer("SHOW JARS"), ["jars"]);
    assert_eq!(answer("SHOW USER FUNCTIONS"), ["function name"]);
    assert_eq!(answer("SHOW FUNCTIONS ILIKE 'up%'"), ["function name", "UPPER"]);
    assert_eq!(
        answer("USE CATALOG default_catalog; USE default_catalog.default_database; SHOW TABLES LIKE 'tmp'")[1],
        "tmp"
    );
}

#[test]
fn show_create_gives_a_statement_that_reads_back() {
    let created = text("SHOW CREATE TABLE events");
    assert_eq!(
        created,
        "CREATE TABLE `default_catalog`.`default_database`.`events` (\n  `id` BIGINT NOT NULL COMMENT 'the id',\n  \
         `k` STRING NOT NULL,\n  `v` DECIMAL(10, 2) COMMENT 'it''s v',\n  `ms` BIGINT,\n  \
         `rt` AS TO_TIMESTAMP_LTZ(ms, 3) COMMENT 'computed',\n  `odd``name` ROW<`a` INT, `b` STRING NOT NULL>,\n  \
         `up` AS UPPER(k) || 'a  b''',\n  WATERMARK FOR `rt` AS rt - INTERVAL '5' SECOND,\n  \
         CONSTRAINT `pk` PRIMARY KEY (`id`, `k`) NOT ENFORCED\n)\nCOMMENT 'a table'\nWITH (\n  \
         'connector' = 'filesystem',\n  'format' = 'json',\n  'path' = '/in'\n)"
    );
    assert_eq!(text(&format!("DROP TABLE events; {created}; SHOW CREATE TABLE events")), created);
    let view = text("SHOW CREATE VIEW v2");
    assert!(view.starts_with("CREATE TEMPORARY VIEW `default_catalog`.`default_database`.`v2` (\n  `x`,\n  `y`\n)\n"));
    assert_eq!(text(&format!("DROP VIEW v2; {view}; SHOW CREATE VIEW v2")), view);
    assert!(refused("SHOW CREATE TABLE v1").remedy().is_some_and(|help| help.contains("SHOW CREATE VIEW v1")));
    assert!(refused("SHOW CREATE VIEW tmp").remedy().is_some_and(|help| help.contains("SHOW CREATE TABLE tmp")));
}

#[test]
fn a_variable_in_an_expression_reads_back_as_its_value() {
    let script = "CREATE TABLE t (a INT, b AS a ${OPS}) WITH ('connector' = 'print'); SHOW CREATE TABLE t";
    let mut options = options();
    options.variables = super::variables(&[("OPS", "+ 1 * CASE WHEN a > 1 THEN 2 END")]);
    let Action::Answer(answer) = compile(script, &options).unwrap().statements.remove(0).action else { panic!() };
    let created = answer.rows.column(0).as_string::<i32>().value(0);
    assert!(compile(created, &super::options()).is_ok(), "{created}");
}

#[test]
fn altering_a_table_changes_its_name_and_options() {
    let script = "ALTER TABLE events SET ('path' = '/y', 'sink.parallelism' = '2'); ALTER TABLE events RENAME TO e2;
                  ALTER TABLE e2 RESET ('sink.parallelism'); ALTER TABLE IF EXISTS nope RENAME TO x; SHOW CREATE TABLE e2";
    let created = text(script);
    assert!(created.contains("`e2`") && created.contains("'path' = '/y'") && !created.contains("parallelism"));
    assert_eq!(
        answer("ALTER VIEW v1 RENAME TO v9; ALTER VIEW v9 AS SELECT ms FROM events; DESCRIBE v9")[1..],
        ["ms|BIGINT|true|||"]
    );
    for (script, says) in [
        ("ALTER TABLE tmp RENAME TO x", "temporary"),
        ("ALTER TABLE events RENAME TO v1", "exists already"),
        ("ALTER TABLE nope RENAME TO x", "does not exist"),
        ("ALTER TABLE v1 RENAME TO x", "does not exist"),
        ("ALTER TABLE events RESET ('connector')", "connector"),
    ] {
        let error = refused(script);
        assert_eq!(error.kind(), ErrorKind::Script, "{script}: {error}");
        assert!(error.message().contains(says) && error.place().is_some(), "{script}: {error}");
    }
    assert_eq!(refused("ALTER TABLE events ADD (n INT)").kind(), ErrorKind::Unsupported);
}

#[test]
fn a_table_like_another_takes_over_what_it_is_told_to() {
    let columns = |script: &str| {
        answer(script)[1..].iter().map(|row| row.split('|').next().unwrap().to_string()).collect::<Vec<_>>()
    };
    let all = ["id", "k", "v", "ms", "rt", "odd`name", "up"];
    assert_eq!(columns("CREATE TABLE l LIKE events; DESCRIBE l"), all);
    assert_eq!(
        columns("CREATE TABLE l (x INT, y AS x + 1) WITH ('format' = 'csv') LIKE events; DESCRIBE l"),
        [&all[..], &["x", "y"]].concat()
    );
    let created =
        text("CREATE TABLE l WITH ('format' = 'csv') LIKE events (EXCLUDING CONSTRAINTS); SHOW CREATE TABLE l");
    assert!(created.contains("'format' = 'csv'") && created.contains("'path' = '/in'"), "{created}");
    assert!(!created.contains("PRIMARY KEY") && !created.contains("a table"), "{created}");
    let created = text(
        "CREATE TABLE l (up AS LOWER(k)) WITH ('connector' = 'print') LIKE events (EXCLUDING ALL INCLUDING GENERATED OVERWRITING GENERATED); SHOW CREATE TABLE l",
    );
    assert!(
        created.contains("`up` AS LOWER(k)") && !created.contains("path") && !created.contains("WATERMARK"),
        "{created}"
    );
    let created = text(
        "CREATE TABLE l (x INT) LIKE events (EXCLUDING OPTIONS EXCLUDING GENERATED EXCLUDING WATERMARKS); SHOW CREATE TABLE l",
    );
    assert!(!created.contains("`rt`") && !created.contains("WITH"), "{created}");
    for (script, says) in [
        ("CREATE TABLE l (v INT) LIKE events", "has a column 'v'"),
        ("CREATE TABLE l (up AS LOWER(k)) LIKE events", "has a column 'up' already"),
        ("CREATE TABLE l (WATERMARK FOR rt AS rt) LIKE events", "has a WATERMARK already"),
        ("CREATE TABLE l WITH ('path' = 'x') LIKE events (INCLUDING OPTIONS)", "has an option 'path' already"),
        ("CREATE TABLE l LIKE v1", "v1 is a view"),
        ("CREATE TABLE l LIKE nope", "does not exist"),
        ("CREATE TABLE l WITH ('connector' = 'print')", "columns of the table, or LIKE"),
        ("CREATE TABLE l LIKE tmp (OVERWRITING PARTITIONS)", "after OVERWRITING"),
    ] {
        let error = refused(script);
        assert!(error.message().contains(says) && error.place().is_some(), "{script}: {error}");
    }
}

#[test]
fn what_is_not_there_is_refused_by_name() {
    for (script, says) in [
        ("USE nope", "the only database"),
        ("USE CATALOG nope", "the only catalog"),
        ("SHOW TABLES FROM nope", "the only database"),
        ("DESCRIBE evnts", "'evnts' does not exist"),
        ("SHOW TABELS", "expected TABLES, VIEWS"),
    ] {
        let error = refused(script);
        assert!(error.message().contains(says) && error.remedy().is_some(), "{script}: {error}");
    }
    for (script, says) in [
        ("SHOW PARTITIONS events", "SHOW PARTITIONS"),
        ("SHOW CREATE CATALOG c", "SHOW CREATE CATALOG"),
        ("DESCRIBE CATALOG c", "DESCRIBE CATALOG"),
        ("CREATE TEMPORARY SYSTEM FUNCTION f AS 'x'", "CREATE FUNCTION"),
        ("ADD JAR 'x.jar'", "ADD"),
    ] {
        let error = refused(script);
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{script}");
        assert!(error.message().contains(says), "{script}: {error}");
    }
    assert!(with_tables("SHOW TABLES LIKE").is_err());
}
