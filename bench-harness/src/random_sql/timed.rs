//! Random interval and temporal joins.

use super::grouping;
use super::relation::{Column, Query, Relation, Type};
use super::script::Script;

/// Rows near in time, perhaps with windows above, or rows with the version of their time.
pub fn join(script: &mut Script) -> Query {
    match script.draw.between(0, 2) {
        0 => temporal(script),
        1 => interval(script),
        _ => above(script),
    }
}

/// The event time of one side between two shifts of that of the other.
pub fn interval(script: &mut Script) -> Query {
    let kind = *script.draw.pick(&["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"]);
    let text =
        format!("SELECT L.id AS lid, L.k AS lk, L.v AS lv, R.id AS rid, R.k AS rk, R.v AS rv\n{}", near(script, kind));
    let names = [("lid", Type::Int), ("lk", Type::Text), ("lv", Type::Int)];
    let other = [("rid", Type::Int), ("rk", Type::Text), ("rv", Type::Int)];
    result(&[names, other].concat(), text, None)
}

/// FROM an interval join of two new tables.
fn near(script: &mut Script, kind: &str) -> String {
    script.feature("interval-join");
    let (left, right) = (script.table(false), script.table(false));
    let keys = *script.draw.pick(&["L.k = R.k AND ", "L.k = R.k AND ", "L.g = R.g AND ", ""]);
    let (before, after) = (script.draw.between(-2, 5), script.draw.between(0, 6));
    let (before, after) = (script.clock.interval(before), script.clock.interval(after));
    let bounds = match script.draw.between(0, 3) {
        0 => format!("R.ts >= L.ts - {before} AND R.ts < L.ts + {after}"),
        1 => format!("L.ts > R.ts - {after} AND L.ts - {before} <= R.ts"),
        _ => format!("L.ts BETWEEN R.ts - {before} AND R.ts + {after}"),
    };
    let rest = *script.draw.pick(&["", "", " AND L.v < R.v", " AND L.v + R.g > 5", " AND R.b"]);
    format!("FROM {} L\n{kind} {} R\nON {keys}{bounds}{rest}", left.name, right.name)
}

/// Windows over the result, by the event time of the side whose rows are all there.
fn above(script: &mut Script) -> Query {
    let (kind, side) = *script.draw.pick(&[("JOIN", "L"), ("JOIN", "R"), ("LEFT JOIN", "L"), ("RIGHT JOIN", "R")]);
    let from = near(script, kind);
    let text = format!("SELECT L.k AS k, R.k AS c, {side}.id AS id, L.v AS v, R.v AS g, {side}.ts AS ts\n{from}");
    let time = if script.clock.ltz { Type::Instant } else { Type::Time };
    let names = [("k", Type::Text), ("c", Type::Text), ("id", Type::Int), ("v", Type::Int), ("g", Type::Int)];
    let joined = result(&[names.as_slice(), &[("ts", time)]].concat(), text, Some("ts".to_string()));
    let rows = script.view(joined);
    grouping::windowed(script, &rows, false, "a")
}

/// The last row of each key, or a table that is told by its key.
fn temporal(script: &mut Script) -> Query {
    script.feature("temporal-join");
    let (left, right) = (script.table(false), script.table(false));
    let order = *script.draw.pick(&["DESC", "DESC", "DESC", "ASC"]);
    let key = *script.draw.pick(&["k", "k", "g", "k, g"]);
    let last = Query {
        text: format!(
            "SELECT id, k, g, v, ts FROM (\n  SELECT *, ROW_NUMBER() OVER (PARTITION BY {key} ORDER BY ts {order}) AS rn\n  \
             FROM {}\n) WHERE rn = 1",
            right.name
        ),
        relation: right,
    };
    let versions = script.view(last);
    let kind = *script.draw.pick(&["JOIN", "LEFT JOIN", "LEFT JOIN"]);
    let keys: Vec<String> = key.split(", ").map(|name| format!("L.{name} = R.{name}")).collect();
    let rest = *script.draw.pick(&["", "", " AND L.v < R.v", " AND R.id > 4", " AND L.b"]);
    let filter = *script.draw.pick(&["", "", "\nWHERE L.v > 0", "\nWHERE R.v IS NULL OR R.v > L.v"]);
    let text = format!(
        "SELECT L.id AS lid, L.k AS lk, L.v AS lv, R.id AS rid, R.v AS rv\nFROM {} L\n\
         {kind} {} FOR SYSTEM_TIME AS OF L.ts AS R\nON {}{rest}{filter}",
        left.name,
        versions.name,
        keys.join(" AND ")
    );
    let names = [("lid", Type::Int), ("lk", Type::Text), ("lv", Type::Int), ("rid", Type::Int), ("rv", Type::Int)];
    result(&names, text, None)
}

fn result(columns: &[(&str, Type)], text: String, time: Option<String>) -> Query {
    let columns = columns.iter().map(|(name, sql_type)| Column::new(*name, *sql_type)).collect();
    Query { text, relation: Relation { name: String::new(), columns, time, ordered: false, unique: Vec::new() } }
}
