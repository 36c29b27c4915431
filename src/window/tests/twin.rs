//! One row at a time, every window a list of rows.

use std::collections::{BTreeMap, BTreeSet};

use super::*;

type Keys = (Option<i64>, Option<String>);

/// The evaluator: windows by (end, start, key).
pub(super) fn evaluate(spec: &WindowAggregateSpec, rows: &[Row], delay: i64) -> Answer {
    let mut open: BTreeMap<(i64, i64, Keys), Vec<Row>> = BTreeMap::new();
    let (mut out, mut late, mut watermark) = (Vec::new(), 0, 0);
    for row in rows {
        let key = key_of(spec, row);
        if let WindowSpec::Session { gap_ms } = spec.window {
            late += session(&mut open, key, row, gap_ms, watermark);
        } else {
            let windows = windows_of(&spec.window, row);
            late += u64::from(windows.iter().all(|&(_, end)| fired(end, watermark)));
            for (start, end) in windows.into_iter().filter(|&(_, end)| !fired(end, watermark)) {
                open.entry((end, start, key.clone())).or_default().push(row.clone());
            }
        }
        watermark = watermark.max(row.time.saturating_sub(delay));
        fire(spec, &mut open, watermark, &mut out);
    }
    fire(spec, &mut open, i64::MAX, &mut out);
    Answer { rows: out, late }
}

pub(super) fn fired(end: i64, watermark: i64) -> bool {
    watermark > 0 && watermark >= end.saturating_sub(1)
}

fn key_of(spec: &WindowAggregateSpec, row: &Row) -> Keys {
    (row.key.filter(|_| spec.keys.contains(&KEY)), row.name.clone().filter(|_| spec.keys.contains(&NAME)))
}

fn windows_of(window: &WindowSpec, row: &Row) -> Vec<(i64, i64)> {
    let floor = |offset: i64, size: i64| row.time - (row.time - offset).rem_euclid(size);
    match *window {
        WindowSpec::Tumble { size_ms, offset_ms } => {
            let start = floor(offset_ms, size_ms);
            vec![(start, start + size_ms)]
        }
        WindowSpec::Hop { size_ms, slide_ms, offset_ms } => {
            let last = floor(offset_ms, slide_ms);
            let starts = (0..).map(|i| last - i * slide_ms).take_while(|start| start + size_ms > row.time);
            starts.map(|start| (start, start + size_ms)).collect()
        }
        WindowSpec::Cumulate { size_ms, step_ms, offset_ms } => {
            let start = floor(offset_ms, size_ms);
            let ends = (1..=size_ms / step_ms).map(|i| start + i * step_ms);
            ends.filter(|&end| end > row.time).map(|end| (start, end)).collect()
        }
        WindowSpec::Attached { .. } => vec![row.bounds],
        WindowSpec::Session { .. } => Vec::new(),
    }
}

/// 1 if the row is late.
fn session(open: &mut BTreeMap<(i64, i64, Keys), Vec<Row>>, key: Keys, row: &Row, gap: i64, watermark: i64) -> u64 {
    let (mut start, mut end) = (row.time, row.time + gap);
    let touches = |&(to, from, ref k): &(i64, i64, Keys)| *k == key && from <= row.time + gap && row.time <= to;
    let touched: Vec<_> = open.keys().filter(|window| touches(window)).cloned().collect();
    for window in &touched {
        (start, end) = (start.min(window.1), end.max(window.0));
    }
    if fired(end, watermark) {
        return 1;
    }
    let mut rows: Vec<Row> = touched.iter().flat_map(|window| open.remove(window).unwrap()).collect();
    rows.push(row.clone());
    open.insert((end, start, key), rows);
    0
}

fn fire(
    spec: &WindowAggregateSpec,
    open: &mut BTreeMap<(i64, i64, Keys), Vec<Row>>,
    watermark: i64,
    out: &mut Vec<String>,
) {
    while let Some(window) = open.first_entry() {
        let (end, start, key) = window.key().clone();
        if !fired(end, watermark) {
            break;
        }
        let rows = window.remove();
        let mut cells = Vec::new();
        if spec.keys.contains(&KEY) {
            cells.push(key.0.map_or("NULL".into(), |key| key.to_string()));
        }
        if spec.keys.contains(&NAME) {
            cells.push(key.1.unwrap_or("NULL".into()));
        }
        cells.extend(spec.aggregates.iter().map(|call| aggregate(call, &rows)));
        out.push(format!("{} | {start} {end} {}", cells.join(" "), end - 1));
    }
}

fn aggregate(call: &AggregateCall, rows: &[Row]) -> String {
    let rows = rows.iter().filter(|row| call.filter.is_none() || row.condition == Some(true));
    let shown = |value: Option<String>| value.unwrap_or("NULL".into());
    match call.args.first() {
        None => rows.count().to_string(),
        Some(&NUMBER) => {
            let mut values: Vec<i32> = rows.filter_map(|row| row.number).collect();
            if call.distinct {
                values = values.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
            }
            let sum = || values.iter().map(|&v| i64::from(v)).sum::<i64>();
            match call.kind {
                AggregateKind::Count => values.len().to_string(),
                AggregateKind::Sum => shown((!values.is_empty()).then(|| (sum() as i32).to_string())),
                AggregateKind::Avg => shown((!values.is_empty()).then(|| (sum() / values.len() as i64).to_string())),
                AggregateKind::Min => shown(values.iter().min().map(i32::to_string)),
                _ => shown(values.iter().max().map(i32::to_string)),
            }
        }
        Some(&DOUBLE) => {
            let values: Vec<f64> = rows.filter_map(|row| row.double).collect();
            let sum: f64 = values.iter().sum();
            shown((!values.is_empty()).then(|| format!("{sum:?}")))
        }
        Some(&TEXT) => {
            let values: BTreeSet<&String> = rows.filter_map(|row| row.text.as_ref()).collect();
            match call.kind {
                AggregateKind::Count => values.len().to_string(),
                AggregateKind::Min => shown(values.first().map(|&text| text.clone())),
                _ => shown(values.last().map(|&text| text.clone())),
            }
        }
        column => panic!("no twin for column {column:?}"),
    }
}
