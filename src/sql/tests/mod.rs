//! Scripts as a whole: what they are refused for, and what plans they become.

mod cards;
mod cases;
mod joins;
mod lints;
mod plans;
mod refusals;
mod soup;
mod statements;

use std::collections::BTreeMap;

use super::{Action, Script, ScriptOptions, compile};
use crate::error::{Error, Result};
use crate::plan::{JobPlan, Node, StageSpec, WindowAggregateSpec};

/// Tables that the tests read and write. `results` takes any window count.
const TABLES: &str = "\
CREATE TABLE src (k STRING, ts TIMESTAMP(3), v INT, c STRING, d DOUBLE, unused BIGINT, WATERMARK FOR ts AS ts - INTERVAL '2' SECOND) \
WITH ('connector' = 'filesystem', 'path' = '/in.csv', 'format' = 'csv');
CREATE TABLE plain (k STRING, ts TIMESTAMP(3), v INT) WITH ('connector' = 'filesystem', 'path' = '/in.csv', 'format' = 'csv');
CREATE TABLE instants (k STRING, ms BIGINT, ts AS TO_TIMESTAMP_LTZ(ms, 3), WATERMARK FOR ts AS ts) \
WITH ('connector' = 'filesystem', 'path' = '/in.json', 'format' = 'json');
CREATE TABLE results (k STRING, window_start TIMESTAMP(3), window_end TIMESTAMP(3), n BIGINT) \
WITH ('connector' = 'filesystem', 'path' = '/out', 'format' = 'json');
";

fn options() -> ScriptOptions {
    ScriptOptions { file: "job.sql".to_string(), ..ScriptOptions::default() }
}

/// Compiles a script that has the tables.
fn with_tables(script: &str) -> Result<Script> {
    compile(&format!("{TABLES}{script}"), &options())
}

/// The error of a script in which `«` marks where it should point. The tables stand before it.
fn refused(script: &str) -> Error {
    let text = format!("{TABLES}{script}");
    let before = text.split('«').next().unwrap();
    assert!(before.len() < text.len(), "no « in {script}");
    let line = before.matches('\n').count() as u64 + 1;
    let column = before.rsplit('\n').next().unwrap().chars().count() as u64 + 1;
    let Err(error) = compile(&text.replace('«', ""), &options()) else { panic!("accepted: {script}") };
    let place = error.place().unwrap_or_else(|| panic!("no place: {error}"));
    assert_eq!((place.line, place.column), (line, column), "{error}\n{script}");
    assert_eq!(place.file, "job.sql");
    assert!(error.statement().is_some());
    assert_eq!(error.exit_code(), 2, "{error}");
    error
}

/// The plan of the script's last statement.
fn plan_of(script: &str) -> JobPlan {
    let compiled = with_tables(script).unwrap_or_else(|error| panic!("{error} ({:?})", error.remedy()));
    match compiled.statements.into_iter().next_back().expect("a statement").action {
        Action::Insert(plan) | Action::Select { plan, .. } => plan,
        other => panic!("no job: {other:?}"),
    }
}

/// The topmost window aggregation of a plan.
fn aggregate_of(node: &Node) -> &WindowAggregateSpec {
    if let Node::Stage { spec, .. } = node
        && let StageSpec::Aggregate(spec) = &**spec
    {
        return spec;
    }
    aggregate_of(node.inputs().first().expect("a window aggregation"))
}

fn variables(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
}
