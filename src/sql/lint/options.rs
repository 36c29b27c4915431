//! Options and settings that are accepted without effect.

use super::{Lint, Rule};
use crate::error::Place;

/// Settings whose effect may be missed, by how they begin: what is so instead, and what to do.
const MISSED: &[(&str, &str, &str)] = &[
    ("execution.checkpointing.mode", "every row counts exactly once", "it may stay for Flink"),
    ("execution.savepoint.path", BEGINS.0, BEGINS.1),
    ("execution.state-recovery.path", BEGINS.0, BEGINS.1),
    (
        "restart-strategy",
        "a job that fails is not run again by itself",
        "it may stay for Flink; transom run --restore latest goes on from the last checkpoint",
    ),
    (
        "table.exec.mini-batch.",
        "a row gives its changes at once",
        "group by a window, which gives each result once; or take the last change of each key",
    ),
    (
        "table.exec.source.idle-timeout",
        "an input without new rows holds back the watermark until it ends",
        "for files it makes no difference, and it may stay for Flink",
    ),
    (
        "table.exec.state.ttl",
        "the state of a window goes when it ends, any other is kept for good",
        "it may stay for Flink, if all state is that of windows",
    ),
];
const BEGINS: (&str, &str) =
    ("a script begins anew unless the command line says otherwise", "transom run --restore PATH, with a path of here");

/// Settings of which a shell heeds some, and the one that all scripts of clusters have.
const UNSPOKEN: &[&str] =
    &["execution.result-mode", "parallelism.default", "sql-client.", "table.display.", "table.dml-sync"];

/// What is set and does nothing here: one finding for each setting that may be missed, one for all others.
pub(in crate::sql) fn of_settings<'a>(ignored: impl Iterator<Item = (&'a String, &'a Place)>) -> Vec<Lint> {
    let mut found = Vec::new();
    let mut others: Vec<(&str, &Place)> = Vec::new();
    for (key, place) in ignored.filter(|(key, _)| !UNSPOKEN.iter().any(|start| key.starts_with(start))) {
        match MISSED.iter().find(|(start, ..)| key.starts_with(start)) {
            Some((_, instead, remedy)) => {
                let message = format!("'{key}' has no effect: {instead}");
                found.push(Lint::new(Rule::SettingWithoutEffect, Some(place.clone()), message, *remedy));
            }
            None => others.push((key, place)),
        }
    }
    found.extend(without_effect(Rule::SettingWithoutEffect, &mut others, ""));
    found
}

/// An option of a table that is accepted without effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::sql) struct Unused {
    pub key: String,
    pub table: String,
    pub place: Place,
}

/// One finding for each table.
pub(in crate::sql) fn of_options(unused: &[Unused]) -> Vec<Lint> {
    let mut tables: Vec<&str> = unused.iter().map(|option| option.table.as_str()).collect();
    tables.sort_unstable();
    tables.dedup();
    let of_table = |table: &str| {
        let own = unused.iter().filter(|option| option.table == table);
        let mut own: Vec<(&str, &Place)> = own.map(|option| (option.key.as_str(), &option.place)).collect();
        without_effect(Rule::OptionWithoutEffect, &mut own, &format!(" of table {table}"))
    };
    tables.into_iter().filter_map(of_table).collect()
}

/// One finding for all of them, at the first.
fn without_effect(rule: Rule, keys: &mut Vec<(&str, &Place)>, of: &str) -> Option<Lint> {
    keys.sort_by_key(|(key, place)| (place.line, place.column, *key));
    keys.dedup();
    let place = keys.first().map(|(_, place)| (*place).clone())?;
    let (verb, keep) = if keys.len() == 1 { ("has", "it") } else { ("have", "they") };
    let names: Vec<String> = keys.iter().map(|(key, _)| format!("'{key}'")).collect();
    let message = format!("{}{of} {verb} no effect on one machine", names.join(", "));
    Some(Lint::new(rule, Some(place), message, format!("{keep} may stay for Flink")))
}
