//! Random Top-N, deduplication, OVER, and windows without an aggregation.

use super::aggregate::{self, Place};
use super::expression;
use super::grouping;
use super::relation::{Column, Query, Relation, Type};
use super::script::Script;
use super::window;

/// Every row with its windows.
pub fn bare(script: &mut Script, rows: &Relation) -> Query {
    let window = window::any(&mut script.draw, &script.clock, rows);
    script.feature(window.feature);
    let time = rows.time.clone().unwrap_or_default();
    let time = if script.draw.chance(50) { time } else { "window_time".to_string() };
    let filter = if script.draw.chance(30) {
        format!("\nWHERE {}", expression::condition(&mut script.draw, &rows.values()))
    } else {
        String::new()
    };
    let text = format!("SELECT id, k, v, window_start, window_end, {time}\nFROM {}{filter}", window.text);
    finish(rows, &["id", "k", "v"], &["window_start", "window_end"], Some(&time), text)
}

/// The columns of a relation by name, then TIMESTAMPs, then an event time.
fn finish(rows: &Relation, kept: &[&str], bounds: &[&str], time: Option<&str>, text: String) -> Query {
    let event = rows.time.as_ref().and_then(|time| rows.column(time)).map_or(Type::Time, |column| column.sql_type);
    let kept = kept.iter().filter_map(|name| rows.column(name)).cloned();
    let bounds = bounds.iter().map(|name| Column::new(*name, Type::Time));
    let time_column = time.map(|name| Column::new(name, event));
    let relation = Relation {
        name: String::new(),
        columns: kept.chain(bounds).chain(time_column).collect(),
        time: time.map(str::to_string),
        ordered: false,
        unique: Vec::new(),
    };
    Query { text, relation }
}

/// The limit of a Top-N, most often a number that cuts.
fn limit(script: &mut Script) -> String {
    let n = script.draw.between(1, 3);
    match script.draw.between(0, 7) {
        0 => format!("rn < {}", n + 1),
        1 => format!("rn = {n}"),
        2 => format!("rn BETWEEN 2 AND {}", n + 1),
        3 => format!("{n} >= rn"),
        4 => format!("rn <= {} AND rn > 1", n + 1),
        _ => format!("rn <= {n}"),
    }
}

fn direction(script: &mut Script) -> &'static str {
    *script.draw.pick(&["", " DESC", " DESC", " ASC NULLS LAST", " DESC NULLS FIRST", " DESC NULLS LAST"])
}

/// The first rows of each window, over rows or over an aggregation.
pub fn top(script: &mut Script, rows: &Relation) -> Query {
    script.feature("top-n");
    if script.draw.chance(50) { top_groups(script, rows) } else { top_rows(script, rows) }
}

fn top_rows(script: &mut Script, rows: &Relation) -> Query {
    let window = window::any(&mut script.draw, &script.clock, rows);
    script.feature(window.feature);
    let order = script.draw.pick(&rows.values()).name.clone();
    let (direction, limit) = (direction(script), limit(script));
    let by = partition(script, rows, window.session_keys.as_deref());
    // rows that are told apart by nothing have an order of arrival, but not one that a result may show
    let last = if rows.unique.is_empty() { "id, x".to_string() } else { rows.unique.join(", ") };
    let number =
        format!("ROW_NUMBER() OVER (PARTITION BY window_start, window_end{by} ORDER BY {order}{direction}, {last})");
    let shown: Vec<&str> =
        rows.columns.iter().map(|c| c.name.as_str()).filter(|c| Some(*c) != rows.time.as_deref()).collect();
    let shown = &shown[..shown.len().min(4)];
    let kept = format!("{}, window_start, window_end", shown.join(", "));
    let text = if script.draw.chance(15) {
        script.feature("qualify");
        format!("SELECT {kept}, {number} AS rn\nFROM {}\nQUALIFY {limit}", window.text)
    } else {
        format!("SELECT {kept}, rn\nFROM (SELECT *, {number} AS rn\n  FROM {})\nWHERE {limit}", window.text)
    };
    let mut query = finish(rows, shown, &["window_start", "window_end"], None, text);
    query.relation.columns.push(Column::new("rn", Type::Bigint));
    query
}

fn partition(script: &mut Script, rows: &Relation, session: Option<&[String]>) -> String {
    let keys: Vec<String> = rows.keys().into_iter().map(|column| column.name).collect();
    let keys = match session {
        Some(keys) => keys.to_vec(),
        None => {
            let count = *script.draw.pick(&[0, 1, 1, 2]);
            script.draw.some(&keys, count)
        }
    };
    keys.iter().map(|key| format!(", {key}")).collect()
}

fn top_groups(script: &mut Script, rows: &Relation) -> Query {
    let inner = grouping::windowed(script, rows, false, "a");
    let mut relation = inner.relation;
    let ordered: Vec<&Column> = relation
        .columns
        .iter()
        .filter(|c| c.sql_type.has_order() && c.name != "window_start" && c.name != "window_end")
        .collect();
    let order = script.draw.pick(&ordered_or_start(&ordered)).clone();
    let direction = direction(script);
    let limit = limit(script);
    let last = relation.unique.join(", ");
    let names: Vec<&str> = relation.columns.iter().map(|column| column.name.as_str()).collect();
    let text = format!(
        "SELECT {names}, rn\nFROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end \
         ORDER BY {order}{direction}, {last}) AS rn\n  FROM (\n{})\n)\nWHERE {limit}",
        inner.text,
        names = names.join(", ")
    );
    relation.columns.push(Column::new("rn", Type::Bigint));
    Query { text, relation }
}

fn ordered_or_start(columns: &[&Column]) -> Vec<String> {
    if columns.is_empty() {
        return vec!["window_start".to_string()];
    }
    columns.iter().map(|column| column.name.clone()).collect()
}

/// The first or last row of each key, in windows or of all.
pub fn keep_one(script: &mut Script, rows: &Relation) -> Query {
    script.feature("deduplication");
    let time = rows.time.clone().unwrap_or_default();
    if script.draw.chance(35) {
        let key = *script.draw.pick(&["k", "g", "k, c"]);
        let text = format!(
            "SELECT id, k, v, {time}\nFROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY {key} ORDER BY {time}) AS rn\n  \
             FROM {})\nWHERE rn = 1",
            rows.name
        );
        return finish(rows, &["id", "k", "v"], &[], Some(&time), text);
    }
    let window = window::any(&mut script.draw, &script.clock, rows);
    script.feature(window.feature);
    let by = partition(script, rows, window.session_keys.as_deref());
    let direction = *script.draw.pick(&["", " DESC"]);
    let text = format!(
        "SELECT id, k, v, window_start, window_end\nFROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, \
         window_end{by} ORDER BY {time}{direction}) AS rn\n  FROM {})\nWHERE rn = 1",
        window.text
    );
    finish(rows, &["id", "k", "v"], &["window_start", "window_end"], None, text)
}

/// Aggregates over the rows before each row.
pub fn over(script: &mut Script, rows: &Relation) -> Query {
    script.feature("over");
    let time = rows.time.clone().unwrap_or_default();
    let by = *script.draw.pick(&["", "PARTITION BY k ", "PARTITION BY k ", "PARTITION BY g, c "]);
    let n = script.draw.between(1, 6);
    let frame = match script.draw.between(0, 4) {
        0 => "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW".to_string(),
        1 => "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW".to_string(),
        2 => format!("ROWS BETWEEN {n} PRECEDING AND CURRENT ROW"),
        _ => format!("RANGE BETWEEN {} PRECEDING AND CURRENT ROW", script.clock.interval(n)),
    };
    let calls: Vec<Column> = (0..script.draw.between(1, 3)).map(|_| over_call(script, rows)).collect();
    let named = script.draw.chance(50);
    let window = format!("{by}ORDER BY {time} {frame}");
    let place = if named { "w".to_string() } else { format!("({window})") };
    let texts: Vec<String> =
        calls.iter().enumerate().map(|(i, call)| format!("{} OVER {place} AS a{i}", call.name)).collect();
    let tail = if named { format!("\nWINDOW w AS ({window})") } else { String::new() };
    let filter = if script.draw.chance(25) {
        format!("\nWHERE {}", expression::condition(&mut script.draw, &rows.values()))
    } else {
        String::new()
    };
    let text = format!("SELECT id, k, v, {}\nFROM {}{filter}{tail}", texts.join(", "), rows.name);
    let mut query = finish(rows, &["id", "k", "v"], &[], None, text);
    let results = calls.into_iter().enumerate().map(|(i, call)| Column { name: format!("a{i}"), ..call });
    query.relation.columns.extend(results);
    query
}

fn over_call(script: &mut Script, rows: &Relation) -> Column {
    if script.draw.chance(25) {
        let function = *script.draw.pick(&["FIRST_VALUE", "LAST_VALUE"]);
        let values: Vec<Column> = rows.values().into_iter().filter(|c| c.sql_type != Type::Boolean).collect();
        let value = script.draw.pick(&values).clone();
        return Column::new(format!("{function}({})", value.name), value.sql_type);
    }
    aggregate::call(&mut script.draw, rows, Place::Over)
}
