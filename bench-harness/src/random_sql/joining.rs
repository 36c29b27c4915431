//! Random window joins.

use super::expression;
use super::grouping;
use super::relation::{Column, Query, Relation, Type};
use super::script::Script;
use super::window::Sizes;

/// Two windowed inputs without late rows, joined.
pub fn join(script: &mut Script) -> Query {
    script.feature("window-join");
    let sizes = Sizes::draw(&mut script.draw, &script.clock);
    let sides = [side(script, &sizes), side(script, &sizes)];
    match script.draw.between(0, 9) {
        0..=2 => half(script, &sides),
        3 => grouped(script, &sides),
        _ => pairs(script, &sides),
    }
}

/// An aggregation above an inner join.
fn grouped(script: &mut Script, [left, right]: &[Relation; 2]) -> Query {
    let text = format!(
        "SELECT L.k AS k, R.k AS c, L.id AS id, L.v AS v, R.v AS g, L.window_start, L.window_end\nFROM {} L\n\
         JOIN {} R\nON {}",
        left.name,
        right.name,
        condition(script)
    );
    let names = [("k", Type::Text), ("c", Type::Text), ("id", Type::Int), ("v", Type::Int), ("g", Type::Int)];
    let columns = names.into_iter().map(|(name, sql_type)| Column::new(name, sql_type)).collect();
    let joined = result(columns, text);
    let rows = script.view(joined);
    grouping::attached(script, &rows)
}

/// A join without windows, of all rows.
pub fn regular(script: &mut Script) -> Query {
    let (left, right) = (script.table(false), script.table(false));
    let mut condition =
        (*script.draw.pick(&["L.k = R.k", "L.k = R.k AND L.g = R.g", "L.v = R.v", "L.id = R.id"])).to_string();
    script.feature("regular-join");
    if script.draw.chance(30) {
        condition.push_str(" AND L.v < R.v");
    }
    let text = format!(
        "SELECT L.id AS lid, L.k AS lk, L.v AS lv, R.id AS rid, R.k AS rk, R.v AS rv\nFROM {} L\nJOIN {} R\nON {condition}",
        left.name, right.name
    );
    let names = [("lid", Type::Int), ("lk", Type::Text), ("lv", Type::Int)];
    let other = [("rid", Type::Int), ("rk", Type::Text), ("rv", Type::Int)];
    let columns = names.into_iter().chain(other).map(|(name, sql_type)| Column::new(name, sql_type));
    result(columns.collect(), text)
}

/// A view of rows with windows, filtered or not.
fn side(script: &mut Script, sizes: &Sizes) -> Relation {
    let rows = script.table(false);
    let window = sizes.over(&mut script.draw, &rows);
    script.feature(window.feature);
    let filter = if script.draw.chance(25) {
        format!("\nWHERE {}", expression::condition(&mut script.draw, &rows.values()))
    } else {
        String::new()
    };
    let grouped = script.draw.chance(25);
    let text = if grouped {
        format!(
            "SELECT k, MIN(id) AS id, SUM(v) AS v, window_start, window_end\nFROM {}{filter}\n\
             GROUP BY k, window_start, window_end",
            window.text
        )
    } else {
        format!("SELECT * FROM {}{filter}", window.text)
    };
    let columns = ["k", "id", "v"].iter().filter_map(|name| rows.column(name)).cloned().collect();
    script.view(Query { text, relation: Relation { columns, time: None, ordered: false, ..rows } })
}

fn condition(script: &mut Script) -> String {
    let mut parts = match script.draw.between(0, 9) {
        0 => Vec::new(),
        1 => vec!["L.k IS NOT DISTINCT FROM R.k".to_string()],
        2 => vec!["L.k = R.k".to_string(), "L.v = R.v".to_string()],
        _ => vec!["L.k = R.k".to_string()],
    };
    parts.extend(["L.window_start = R.window_start".to_string(), "L.window_end = R.window_end".to_string()]);
    if script.draw.chance(35) {
        script.feature("residual-condition");
        parts.push(
            (*script.draw.pick(&["L.v < R.v", "L.v + R.v > 5", "L.id <> R.id", "R.v > 3", "L.v IS NOT NULL"]))
                .to_string(),
        );
    }
    parts.join(" AND ")
}

/// INNER, LEFT, RIGHT and FULL.
fn pairs(script: &mut Script, [left, right]: &[Relation; 2]) -> Query {
    let kind = *script.draw.pick(&["INNER JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT OUTER JOIN"]);
    let condition = condition(script);
    let filter = *script.draw.pick(&["", "", "", "\nWHERE L.v IS NULL OR L.v > 0", "\nWHERE R.id IS NULL OR R.id > 4"]);
    let text = format!(
        "SELECT L.id AS lid, L.k AS lk, L.v AS lv, R.id AS rid, R.k AS rk, R.v AS rv, L.window_start AS lws, \
         R.window_start AS rws, COALESCE(L.window_end, R.window_end) AS we\nFROM {} L\n{kind} {} R\nON {condition}{filter}",
        left.name, right.name
    );
    let names = [("lid", Type::Int), ("lk", Type::Text), ("lv", Type::Int)];
    let other = [("rid", Type::Int), ("rk", Type::Text), ("rv", Type::Int)];
    let times = [("lws", Type::Time), ("rws", Type::Time), ("we", Type::Time)];
    let columns = [names, other, times].concat().into_iter().map(|(name, sql_type)| Column::new(name, sql_type));
    result(columns.collect(), text)
}

/// SEMI and ANTI joins, as they are written.
fn half(script: &mut Script, [left, right]: &[Relation; 2]) -> Query {
    script.feature("semi-anti");
    let not = if script.draw.chance(50) { "NOT " } else { "" };
    let condition = condition(script);
    let head = format!("SELECT L.id, L.k, L.v, L.window_start, L.window_end\nFROM {} L\nWHERE ", left.name);
    let text = if not.is_empty() && script.draw.chance(35) {
        let windows = "R.window_start = L.window_start AND R.window_end = L.window_end";
        format!("{head}L.k IN (\n  SELECT R.k FROM {} R WHERE {windows})", right.name)
    } else {
        format!("{head}{not}EXISTS (\n  SELECT * FROM {} R WHERE {condition})", right.name)
    };
    let names = [("id", Type::Int), ("k", Type::Text), ("v", Type::Int)];
    let times = [("window_start", Type::Time), ("window_end", Type::Time)];
    let columns = names.into_iter().chain(times).map(|(name, sql_type)| Column::new(name, sql_type));
    result(columns.collect(), text)
}

fn result(columns: Vec<Column>, text: String) -> Query {
    let relation = Relation { name: String::new(), columns, time: None, ordered: false, unique: Vec::new() };
    Query { text, relation }
}

/// Rows of two tables, one after the other, in windows.
pub fn union_first(script: &mut Script) -> Query {
    script.feature("union-all");
    let (left, right) = (script.table(false), script.table(false));
    let columns: Vec<Column> = left.columns.iter().filter(|column| column.sql_type.has_order()).cloned().collect();
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let names = names.join(", ");
    let text = format!("SELECT {names} FROM {}\nUNION ALL\nSELECT {names} FROM {}", left.name, right.name);
    let relation = Relation { columns, ordered: false, unique: Vec::new(), ..left };
    let rows = script.view(Query { text, relation });
    grouping::windowed(script, &rows, false, "a")
}
