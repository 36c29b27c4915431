//! Tables by themselves: the DDL of one table as what a program reads or writes.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::catalog::{Entry, Table};
use super::lint::Unused;
use super::logical::Arena;
use super::lower::Lowering;
use super::session::Session;
use super::statement::{self, Statement};
use super::{on_deep_stack, text};
use crate::error::{Error, Result};
use crate::plan::{Config, ScanSpec, SinkSpec};

/// The name of a DDL in messages, which has no file.
const DDL: &str = "DDL";

/// A table that is read with all its columns.
#[derive(Debug, Clone)]
pub struct SourceTable {
    pub scan: ScanSpec,
    /// `table.local-time-zone`.
    pub time_zone: String,
    /// Options that do not do what their author may think, one sentence each.
    pub warnings: Vec<String>,
}

/// The last table of a DDL, for reading. Before it, `SET` gives settings and `CREATE TABLE` what it may be `LIKE`.
///
/// # Errors
/// Kind Script or Unsupported, with line and column.
pub fn source(ddl: &str) -> Result<SourceTable> {
    on_deep_stack(DDL, || {
        let (table, config, mut warnings) = last_table(ddl)?;
        let arena = Arena::default();
        let mut lowering = Lowering { arena: &arena, config: &config, ordered: false, ignored: Vec::new() };
        let scan = lowering.table(&table)?;
        warnings.extend(without_effect(&lowering.ignored));
        Ok(SourceTable { scan, time_zone: config.time_zone.clone(), warnings })
    })
}

/// The last table of a DDL, for writing, and warnings; as [`source`].
///
/// # Errors
/// As [`source`].
pub fn sink(ddl: &str) -> Result<(SinkSpec, Vec<String>)> {
    on_deep_stack(DDL, || {
        let (table, _, mut warnings) = last_table(ddl)?;
        let mut ignored = Vec::new();
        let connector = table.sink(&mut |key| ignored.push(table.unused(key)))?;
        warnings.extend(without_effect(&ignored));
        Ok((SinkSpec { table: table.name.clone(), connector, schema: table.physical(), changelog: false }, warnings))
    })
}

fn without_effect(options: &[Unused]) -> Option<String> {
    let keys: Vec<&str> = options.iter().map(|option| option.key.as_str()).collect();
    (!keys.is_empty()).then(|| format!("options that mean nothing on one machine: {}", keys.join(", ")))
}

fn last_table(ddl: &str) -> Result<(Rc<Table>, Config, Vec<String>)> {
    let mut session = Session::new(ddl, &[])?;
    let mut last = None;
    for tokens in text::statements(ddl, &BTreeMap::new())? {
        let at = |error: Error| error.at(tokens.line, 1);
        let statement = statement::parse(&tokens.tokens).map_err(at)?;
        match &statement {
            Statement::CreateTable(table) => last = Some(table.name.value.clone()),
            Statement::Set { .. } => {}
            _ => {
                return Err(at(Error::script("the DDL of a table has no other statements than CREATE TABLE and SET")
                    .help("run queries with `transom run`, or write them as a program over the table's stream")));
            }
        }
        session.execute(&statement, &tokens.tokens).map_err(at)?;
    }
    let table = last.and_then(|name| session.catalog.entries.get(&name).cloned());
    let Some(Entry::Table(table)) = table else {
        return Err(Error::script("the DDL has no CREATE TABLE").help("write CREATE TABLE name (…) WITH (…)"));
    };
    let config = session.settings.config.clone();
    let refused = [
        (config.quarantine.is_some(), "transom.quarantine.path"),
        (config.late_rows.is_some(), "transom.late-rows.path"),
        (config.watermark_interval_ms > 0, "pipeline.auto-watermark-interval"),
    ];
    match refused.iter().find(|(is_set, _)| *is_set) {
        Some((_, setting)) => {
            Err(Error::script(format!("the setting '{setting}' is for scripts, not for a program"))
                .help("leave it out"))
        }
        None => {
            let lints = session.settings.lints().into_iter().filter(|lint| lint.rule.warns());
            let warnings = session.warnings.into_iter().chain(lints.map(|lint| lint.to_string())).collect();
            Ok((table, config, warnings))
        }
    }
}
