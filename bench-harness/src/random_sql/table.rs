//! Random tables: a schema, a watermark and rows as CSV.

use super::draw::Draw;
use super::relation::{Column, Relation, Type};
use crate::stamp;

/// What all tables of a case share.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    /// SECOND or MINUTE.
    pub unit: &'static str,
    pub unit_ms: i64,
    /// Milliseconds since 1970 at which event times begin.
    pub base: i64,
    /// Event times are TIMESTAMP_LTZ.
    pub ltz: bool,
    pub zone: &'static str,
}

/// Begin of event times: ordinary days, a leap day, before 1970, and changes of clocks.
const BASES: [i64; 4] = [1_704_067_200_000, 1_709_164_780_000, 1_625_126_407_000, -30_000];
/// Before clocks go forward in Berlin and New York. Where they go back, Flink loses rows.
const CHANGES: [i64; 2] = [1_711_846_780_000, 1_710_053_980_000];

impl Clock {
    pub fn draw(draw: &mut Draw) -> Self {
        let (unit, unit_ms) = *draw.pick(&[("SECOND", 1000), ("SECOND", 1000), ("MINUTE", 60_000)]);
        let ltz = draw.chance(25);
        let base = if ltz && draw.chance(40) { *draw.pick(&CHANGES) } else { *draw.pick(&BASES) };
        let zone = if ltz { *draw.pick(&["UTC", "Europe/Berlin", "America/New_York"]) } else { "UTC" };
        Clock { unit, unit_ms, base, ltz, zone }
    }

    pub fn interval(&self, units: i64) -> String {
        format!("INTERVAL '{units}' {}", self.unit)
    }
}

/// A table of CSV.
#[derive(Debug, Clone)]
pub struct Table {
    pub relation: Relation,
    pub csv: String,
    watermark: String,
}

impl Table {
    /// Without `late`, no row is behind its watermark.
    pub fn draw(draw: &mut Draw, name: &str, clock: &Clock, late: bool) -> Self {
        let jitter = *draw.pick(&[0, 2, 6, 15]);
        let delay = if late { *draw.pick(&[0, 0, 1, 3, 10]) } else { jitter + 1 };
        let watermark = if delay == 0 { "ts".to_string() } else { format!("ts - {}", clock.interval(delay)) };
        let csv = rows(draw, clock, jitter);
        let time = if clock.ltz { Type::Instant } else { Type::Time };
        let columns = vec![
            Column::new("id", Type::Int),
            Column::new("k", Type::Text),
            Column::new("g", Type::Int),
            Column::new("ts", time),
            Column::new("v", Type::Int),
            Column::new("n", Type::Bigint),
            Column::new("m", Type::Decimal(10, 2)),
            Column::new("d", Type::Double),
            Column::new("c", Type::Text),
            Column::new("b", Type::Boolean),
            Column::new("xs", Type::Ints),
        ];
        let relation = Relation {
            name: name.to_string(),
            columns,
            time: Some("ts".to_string()),
            ordered: true,
            unique: vec!["id".to_string()],
        };
        Table { relation, csv, watermark }
    }

    pub fn statement(&self) -> String {
        let columns: Vec<String> =
            self.relation.columns.iter().map(|column| format!("{} {}", column.name, column.sql_type)).collect();
        format!(
            "CREATE TABLE {name} (\n  {},\n  WATERMARK FOR ts AS {}\n) WITH (\n  'connector' = 'filesystem',\n  \
             'path' = '${{DATA}}/{name}.csv',\n  'format' = 'csv',\n  'csv.null-literal' = 'NULL'\n);\n",
            columns.join(", "),
            self.watermark,
            name = self.relation.name,
        )
    }
}

/// Lines of CSV; event times go up by steps, each moved back by less than `jitter` units.
fn rows(draw: &mut Draw, clock: &Clock, jitter: i64) -> String {
    let count = if draw.chance(4) { 0 } else { draw.between(8, 60) };
    let keys = draw.between(1, 5);
    let mut at = 0;
    let mut text = String::new();
    for id in 0..count {
        at += *draw.pick(&[0, 0, 1, 200, 1000, 1000, 3000, 3000, 12_000]) * clock.unit_ms / 1000;
        let back = if jitter > 0 { draw.between(0, jitter * clock.unit_ms - 1).min(at) } else { 0 };
        let ts = time_text(clock.base + at - back, clock.ltz);
        let key = *draw.pick(&["a", "b", "cc", "D", "é"][..keys as usize]);
        let key = or_null(draw, 4, key.to_string());
        let small = draw.between(0, 3).to_string();
        let g = or_null(draw, 5, small);
        let number = draw.between(-20, 40).to_string();
        let v = or_null(draw, 12, number);
        let long = (draw.between(-9, 9) * 1_000_000_007).to_string();
        let n = or_null(draw, 10, long);
        let (whole, cents) = (draw.between(-99, 999), draw.between(0, 99));
        let m = or_null(draw, 10, format!("{whole}.{cents:02}"));
        let eighths = draw.between(-99, 99) as f64 / 8.0;
        let d = or_null(draw, 10, eighths.to_string());
        let letter = (*draw.pick(&["p", "q", "", "Q r"])).to_string();
        let c = or_null(draw, 10, letter);
        let truth = draw.chance(50).to_string();
        let b = or_null(draw, 15, truth);
        let elements: Vec<String> = (0..draw.between(1, 4)).map(|_| draw.between(0, 5).to_string()).collect();
        let xs = or_null(draw, 10, elements.join(";"));
        text.push_str(&format!("{id},{key},{g},{ts},{v},{n},{m},{d},{c},{b},{xs}\n"));
    }
    text
}

fn or_null(draw: &mut Draw, percent: u64, value: String) -> String {
    if draw.chance(percent) { "NULL".to_string() } else { value }
}

fn time_text(millis: i64, ltz: bool) -> String {
    let text = stamp::format_millis(millis);
    if ltz { format!("{text}Z") } else { text }
}
