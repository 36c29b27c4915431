//! Random aggregations: of windows, in the legacy form, and without windows.

use super::aggregate::{self, Place};
use super::expression;
use super::relation::{Column, Query, Relation, Type};
use super::script::Script;
use super::window::{self, Legacy, Window};

/// What a GROUP BY gives beside the windows.
#[derive(Debug, Clone)]
struct Groups {
    /// The keys with their aliases.
    keys: Vec<(String, Column)>,
    calls: Vec<Column>,
    filter: String,
    having: String,
}

impl Groups {
    /// `fixed`: the keys must be these.
    fn draw(script: &mut Script, rows: &Relation, place: Place, fixed: Option<&[String]>) -> Self {
        let draw = &mut script.draw;
        let all = rows.keys();
        let keys: Vec<Column> = match fixed {
            Some(names) => names.iter().filter_map(|name| rows.column(name)).cloned().collect(),
            None => {
                let count = *draw.pick(&[0, 1, 1, 1, 2, 2]);
                draw.some(&all, count)
            }
        };
        let mut groups = Groups { keys: Vec::new(), calls: Vec::new(), filter: String::new(), having: String::new() };
        for key in keys {
            let alias = key.name.clone();
            let key = if fixed.is_none() && draw.chance(20) { expression::value(draw, &[key]) } else { key };
            let result = Column { name: alias, ..key.clone() };
            groups.keys.push((key.name, result));
        }
        for _ in 0..draw.between(1, 4) {
            groups.calls.push(aggregate::call(draw, rows, place));
        }
        if draw.chance(35) {
            groups.filter = format!("\nWHERE {}", expression::condition(draw, &rows.values()));
        }
        if draw.chance(20) {
            let least = *draw.pick(&["COUNT(*) > 1", "COUNT(*) < 4", "COUNT(*) BETWEEN 2 AND 6"]);
            groups.having = format!("\nHAVING {least}");
        }
        groups
    }

    fn selected(&self) -> Vec<String> {
        self.keys.iter().map(aliased).collect()
    }

    fn key_texts(&self) -> Vec<String> {
        self.keys.iter().map(|(text, _)| text.clone()).collect()
    }

    fn call_texts(&self, prefix: &str) -> Vec<String> {
        self.calls.iter().enumerate().map(|(i, call)| format!("{} AS {prefix}{i}", call.name)).collect()
    }

    fn columns(&self, between: &[(String, Column)], prefix: &str) -> Vec<Column> {
        let keys = self.keys.iter().map(|(_, column)| column.clone());
        let calls =
            self.calls.iter().enumerate().map(|(i, call)| Column { name: format!("{prefix}{i}"), ..call.clone() });
        keys.chain(between.iter().map(|(_, column)| column.clone())).chain(calls).collect()
    }
}

/// Which columns of the window a query gives. With the time, another window may follow, so the bounds get other names.
fn bounds(rows: &Relation, with_time: bool) -> Vec<(String, Column)> {
    let time = rows.time.as_ref().and_then(|time| rows.column(time)).map_or(Type::Time, |column| column.sql_type);
    let bound = |name: &str, alias: &str| (name.to_string(), Column::new(alias, Type::Time));
    if with_time {
        let time = ("window_time".to_string(), Column::new("window_time", time));
        vec![bound("window_start", "ws"), bound("window_end", "we"), time]
    } else {
        vec![bound("window_start", "window_start"), bound("window_end", "window_end")]
    }
}

/// `name AS alias`, where they differ.
fn aliased((text, column): &(String, Column)) -> String {
    if *text == column.name { text.clone() } else { format!("{text} AS {}", column.name) }
}

/// An aggregation of any window; `with_time` gives `window_time` too, and no two columns may have one name then.
pub fn windowed(script: &mut Script, rows: &Relation, with_time: bool, prefix: &str) -> Query {
    let window = window::any(&mut script.draw, &script.clock, rows);
    script.feature(window.feature);
    let groups = Groups::draw(script, rows, window.place, window.session_keys.as_deref());
    let sets = window.session_keys.is_none() && !groups.keys.is_empty() && script.draw.chance(18);
    if sets && groups.keys.iter().all(|(text, column)| *text == column.name) {
        return grouping_sets(script, rows, &window, &groups, with_time, prefix);
    }
    over(rows, &window, &groups, with_time, prefix)
}

/// The same groups of two windows that need not be the same, or of two inputs.
pub fn twice(script: &mut Script, first: &Relation, second: &Relation) -> Query {
    let sizes = |script: &mut Script, rows| {
        let sizes = window::Sizes::draw(&mut script.draw, &script.clock);
        sizes.over(&mut script.draw, rows)
    };
    let windows = [sizes(script, first), sizes(script, second)];
    script.feature("union-all");
    let groups = Groups::draw(script, first, Place::Merged, None);
    let left = over(first, &windows[0], &groups, false, "a");
    let right = over(second, &windows[1], &groups, false, "a");
    let relation = Relation { unique: Vec::new(), ..left.relation };
    Query { text: format!("{}\nUNION ALL\n{}", left.text, right.text), relation }
}

fn start_name(with_time: bool) -> String {
    if with_time { "ws" } else { "window_start" }.to_string()
}

fn over(rows: &Relation, window: &Window, groups: &Groups, with_time: bool, prefix: &str) -> Query {
    let between = bounds(rows, with_time);
    let names: Vec<String> = between.iter().map(|(text, _)| text.clone()).collect();
    let times: Vec<String> = between.iter().map(aliased).collect();
    let select = [groups.selected(), times, groups.call_texts(prefix)].concat().join(", ");
    let by = [groups.key_texts(), names].concat().join(", ");
    let text = format!("SELECT {select}\nFROM {}{}\nGROUP BY {by}{}", window.text, groups.filter, groups.having);
    let mut unique: Vec<String> = groups.keys.iter().map(|(_, column)| column.name.clone()).collect();
    unique.push(start_name(with_time));
    let relation = Relation {
        name: String::new(),
        columns: groups.columns(&between, prefix),
        time: with_time.then(|| "window_time".to_string()),
        ordered: false,
        unique,
    };
    Query { text, relation }
}

fn grouping_sets(
    script: &mut Script,
    rows: &Relation,
    window: &Window,
    groups: &Groups,
    with_time: bool,
    prefix: &str,
) -> Query {
    script.feature("grouping-sets");
    let mut between = bounds(rows, with_time);
    let names: Vec<String> = between.iter().map(|(text, _)| text.clone()).collect();
    let keys = groups.key_texts();
    let all = keys.join(", ");
    let single: Vec<String> = keys.iter().map(|key| format!("({key})")).collect();
    let sets = match script.draw.between(0, 3) {
        0 => format!("ROLLUP ({all})"),
        1 => format!("CUBE ({all})"),
        2 => format!("GROUPING SETS ({}, ())", single.join(", ")),
        _ => format!("GROUPING SETS (({all}), ())"),
    };
    between.push((format!("GROUPING_ID({all})"), Column::new("gid", Type::Bigint)));
    let times: Vec<String> = between.iter().map(aliased).collect();
    let select = [groups.selected(), times, groups.call_texts(prefix)].concat().join(", ");
    let text = format!(
        "SELECT {select}\nFROM {}{}\nGROUP BY {}, {sets}{}",
        window.text,
        groups.filter,
        names.join(", "),
        groups.having
    );
    let mut unique: Vec<String> = keys;
    unique.extend(["gid".to_string(), start_name(with_time)]);
    let relation = Relation {
        name: String::new(),
        columns: groups.columns(&between, prefix),
        time: with_time.then(|| "window_time".to_string()),
        ordered: false,
        unique,
    };
    Query { text, relation }
}

/// GROUP BY TUMBLE(ts, …) and its kin.
pub fn legacy(script: &mut Script, rows: &Relation) -> Query {
    script.feature("legacy");
    let window = Legacy::draw(&mut script.draw, &script.clock, rows);
    let groups = Groups::draw(script, rows, window.place, None);
    let (function, arguments) = (window.function, &window.arguments);
    let mut between = vec![
        (format!("{function}_START({arguments})"), Column::new("ws", Type::Time)),
        (format!("{function}_END({arguments})"), Column::new("we", Type::Time)),
    ];
    if script.draw.chance(40) {
        let time = bounds(rows, true).pop().map_or(Type::Time, |(_, column)| column.sql_type);
        between.push((format!("{function}_ROWTIME({arguments})"), Column::new("rt", time)));
    }
    let parts = between.iter().map(aliased).collect();
    let select = [groups.selected(), parts, groups.call_texts("a")].concat().join(", ");
    let by = [groups.key_texts(), vec![format!("{function}({arguments})")]].concat().join(", ");
    let text = format!("SELECT {select}\nFROM {}{}\nGROUP BY {by}{}", rows.name, groups.filter, groups.having);
    let columns = groups.columns(&between, "a");
    Query { text, relation: Relation { name: String::new(), columns, time: None, ordered: false, unique: Vec::new() } }
}

/// GROUP BY without windows, or by one bound of a window only; sometimes of such a result once more.
pub fn updating(script: &mut Script, rows: &Relation) -> Query {
    script.feature("changelog");
    let start_only = script.draw.chance(25);
    let from = if start_only {
        window::Sizes::draw(&mut script.draw, &script.clock).over(&mut script.draw, rows).text
    } else {
        rows.name.clone()
    };
    let groups = Groups::draw(script, rows, Place::Whole, None);
    let start = if start_only { vec!["window_start".to_string()] } else { Vec::new() };
    let select = [groups.selected(), start.clone(), groups.call_texts("a")].concat().join(", ");
    let by = [groups.key_texts(), start].concat();
    let by = if by.is_empty() { String::new() } else { format!("\nGROUP BY {}", by.join(", ")) };
    let text = format!("SELECT {select}\nFROM {from}{}{by}{}", groups.filter, groups.having);
    let start = Column::new("window_start", Type::Time);
    let between = if start_only { vec![(start.name.clone(), start)] } else { Vec::new() };
    let columns = groups.columns(&between, "a");
    let relation = Relation { name: String::new(), columns, time: None, ordered: false, unique: Vec::new() };
    let query = Query { text, relation };
    if script.draw.chance(25) { again(script, query) } else { query }
}

/// How often each first result occurs: its updates take rows back.
fn again(script: &mut Script, query: Query) -> Query {
    let values = query.relation.values();
    let Some(key) = values.iter().rfind(|c| c.sql_type.has_order() && c.sql_type != Type::Double) else { return query };
    let key = key.clone();
    let inner = script.view(query);
    let calls = match expression::number(&mut script.draw, &inner.values()) {
        Some(number) if number.sql_type == Type::Int => {
            format!(", SUM({x}) AS z, MAX({x}) AS y", x = number.name)
        }
        _ => String::new(),
    };
    let text = format!("SELECT {k}, COUNT(*) AS often{calls}\nFROM {}\nGROUP BY {k}", inner.name, k = key.name);
    let mut columns = vec![key, Column::new("often", Type::Bigint)];
    if !calls.is_empty() {
        columns.extend([Column::new("z", Type::Int), Column::new("y", Type::Int)]);
    }
    Query { text, relation: Relation { columns, ..inner } }
}
