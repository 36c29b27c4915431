//! Results that change: GROUP BY without a window, and who takes them.

use super::binder::Binder;
use super::catalog::Table;
use super::lint::{Lint, Rule};
use super::logical::{Call, ColumnId, GroupAggregate, Rel, Role, WindowId};
use super::text::place_of;
use crate::error::{Error, Place, Result};
use crate::expr::Expr;
use crate::plan::SinkConnector;

impl Binder<'_> {
    /// Groups without a window. `parts`: the columns of windows among the keys; `place`: where GROUP BY stands.
    pub(super) fn group_aggregate(
        &mut self,
        input: Rel,
        keys: Vec<(ColumnId, Expr)>,
        calls: Vec<Call>,
        (parts, place): (&[(WindowId, Role)], Option<Place>),
    ) -> Rel {
        let lacks = Lacks::of(parts, &input);
        let repeats = self.settings.state_expires();
        if repeats {
            let key = "table.exec.state.ttl";
            let message = format!("'{key}': the state of GROUP BY without a window is kept for good here");
            let remedy = "group by a window, whose state goes when it ends";
            self.lints.push(Lint::new(Rule::StateKeptForGood, self.settings.place_of(key), message, remedy));
        }
        let kind = self.kind_column();
        Rel::Group(Box::new(GroupAggregate { input, keys, calls, kind, repeats, lacks, place }))
    }
}

/// What a GROUP BY lacks to be a window aggregation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lacks {
    WindowEnd,
    WindowStart,
    /// Its rows are those of windows.
    Both,
    Window,
}

impl Lacks {
    fn of(parts: &[(WindowId, Role)], input: &Rel) -> Lacks {
        let has = |role: Role| parts.iter().any(|(_, other)| *other == role);
        match (has(Role::Start), has(Role::End)) {
            (true, false) => Lacks::WindowEnd,
            (false, true) => Lacks::WindowStart,
            _ if input.open_window().is_some() || has(Role::Time) => Lacks::Both,
            _ => Lacks::Window,
        }
    }

    /// What to do about it.
    pub fn advice(self) -> &'static str {
        match self {
            Lacks::WindowEnd => "group by window_end as well as window_start",
            Lacks::WindowStart => "group by window_start as well as window_end",
            Lacks::Both => "group by window_start and window_end too",
            Lacks::Window => {
                "read from a window function, FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)), and \
                 group by window_start and window_end too"
            }
        }
    }
}

/// Refuses a sink that does not take the changes of a result. `exprs`: what fills its columns.
pub(super) fn check_takes_changes(table: &Table, connector: &SinkConnector, rel: &Rel, exprs: &[Expr]) -> Result<()> {
    let format = match connector {
        SinkConnector::Filesystem { format, .. } | SinkConnector::Stdout { format } => format,
        SinkConnector::Print { .. } => return check_key(table, rel, exprs),
        SinkConnector::Blackhole | SinkConnector::Collect => return Ok(()),
    };
    if format.takes_changes() {
        return Ok(());
    }
    let (name, format) = (&table.name, format.name());
    let error = Error::script(format!(
        "table sink '{name}' doesn't support consuming update changes, which this query gives: format '{format}' takes \
         only rows that are added"
    ));
    let group = rel.changes();
    let advice = group.map(|group| format!("{}, so that each result is given once; or ", group.lacks.advice()));
    let error = error.help(format!(
        "{}write to a table with 'format' = 'debezium-json' or 'connector' = 'print'",
        advice.unwrap_or_default()
    ));
    Err(error.at_place(group.and_then(|group| group.place.clone())))
}

/// The rows of a table with a primary key are told apart by it, so what tells the query's rows apart must be the same.
fn check_key(table: &Table, rel: &Rel, exprs: &[Expr]) -> Result<()> {
    let primary = &table.definition.primary_key;
    let Some(first) = primary.first() else { return Ok(()) };
    let schema = table.physical();
    let filled = primary.iter().map(|name| match exprs.get(schema.index_of(&name.value)?)? {
        Expr::Column { index, .. } => rel.origin(*index),
        _ => None,
    });
    let filled: Vec<Option<ColumnId>> = filled.collect();
    let Some(key) = rel.upsert_key() else { return Ok(()) };
    if key.len() == filled.len() && filled.iter().all(|column| column.is_some_and(|column| key.contains(&column))) {
        return Ok(());
    }
    let names: Vec<&str> = primary.iter().map(|name| name.value.as_str()).collect();
    let error = Error::script(format!(
        "the query has an upsert key that differs from the primary key of the sink table {}: [{}]",
        table.name,
        names.join(", ")
    ));
    let error = error.help("declare the columns of GROUP BY as the PRIMARY KEY, or leave it out");
    Err(error.at_place(place_of(first.span)))
}
