//! Aggregates of windows, of windows that fire early or late, and without windows.

use super::*;
use crate::plan::{EmitSpec, EmittingAggregateSpec, GroupAggregateSpec};
use crate::types::RowKind;

fn window(dice: &mut Dice) -> WindowSpec {
    let (step_ms, many, offset_ms) = (1 + dice.roll(20), 1 + dice.roll(9), dice.roll(15) - 7);
    match dice.roll(6) {
        0 => WindowSpec::Tumble { size_ms: step_ms, offset_ms },
        1 | 2 => WindowSpec::Hop { size_ms: step_ms * many, slide_ms: step_ms, offset_ms },
        3 => WindowSpec::Cumulate { size_ms: step_ms * many, step_ms, offset_ms },
        4 => WindowSpec::Attached { start: START, end: END },
        _ => WindowSpec::Session { gap_ms: step_ms },
    }
}

/// A call of every accumulator.
pub(in crate::window::tests) fn all_calls() -> Vec<AggregateCall> {
    fn one(name: &str) -> impl Fn(usize) -> AggregateCall {
        move |column| call(name, Some(column))
    }
    let fractions = |list| Setting::Fractions { values: vec![0.25, 0.9], list };
    let mut calls = vec![
        call("COUNT", None),
        call_of("PERCENTILE", &[NUMBER], fractions(false)),
        call_of("PERCENTILE", &[DOUBLE, KEY], fractions(true)),
        call_of("APPROX_PERCENTILE", &[DOUBLE], fractions(true)),
        call_of("HISTOGRAM", &[NUMBER], Setting::Bins { low: -2.0, high: 3.0, count: 3 }),
        call_of("ARRAY_AGG", &[NUMBER], Setting::IgnoreNulls),
    ];
    for name in ["COUNT", "SUM", "AVG", "DISTINCT COUNT", "DISTINCT SUM", "STDDEV_POP", "VAR_SAMP"] {
        calls.extend([NUMBER, DOUBLE, DECIMAL].map(one(name)));
    }
    for name in ["MIN", "MAX", "FIRST_VALUE", "LAST_VALUE", "ARRAY_AGG", "COLLECT", "APPROX_COUNT_DISTINCT"] {
        calls.extend([NUMBER, DOUBLE, DECIMAL, TEXT].map(one(name)));
    }
    calls.extend(["MIN", "MAX"].into_iter().flat_map(|name| [TIME, CONDITION].map(one(name))));
    for name in ["LISTAGG", "DISTINCT LISTAGG", "DISTINCT ARRAY_AGG", "DISTINCT COLLECT", "JSON_ARRAYAGG"] {
        calls.push(call(name, Some(TEXT)));
    }
    calls
}

fn calls(dice: &mut Dice, fits: impl Fn(&AggregateCall) -> bool) -> Vec<AggregateCall> {
    let all: Vec<AggregateCall> = all_calls().into_iter().filter(fits).collect();
    let pick = |dice: &mut Dice| {
        let call = all[dice.roll(all.len() as i64) as usize].clone();
        AggregateCall { filter: (dice.roll(3) == 0).then_some(CONDITION), ..call }
    };
    (0..1 + dice.roll(4)).map(|_| pick(dice)).collect()
}

#[test]
fn windows_go_on_where_they_were() {
    check_all(40, |dice| {
        let (window, keys) = (window(dice), key_columns(dice));
        let simple = dice.roll(4) == 0;
        let integers = |call: &AggregateCall| call.args.iter().all(|&arg| arg == NUMBER) && !call.depends_on_order();
        let calls = calls(dice, |call| {
            !simple || integers(call) && matches!(call.kind, AggregateKind::Count | AggregateKind::Sum)
        });
        let mut spec = spec(window, &keys, &calls);
        spec.ordered = dice.roll(3) > 0;
        spec.oldest_first = dice.roll(4) == 0;
        let rows = odd_rows(dice);
        let feeds = feeds(dice, rows, &spec.input);
        Job::new(dice, StageSpec::Aggregate(spec), feeds)
    });
}

/// What HOP puts together of slices is not saved: it must follow from the slices to the last digit.
#[test]
fn sums_of_floats_do_not_depend_on_when_slices_were_put_together() {
    check_all(30, |dice| {
        let slide_ms = 4 + dice.roll(8);
        let window = WindowSpec::Hop { size_ms: slide_ms * (4 + dice.roll(9)), slide_ms, offset_ms: 0 };
        let keys: &[usize] = [&[][..], &[KEY]][dice.roll(2) as usize];
        let calls = ["SUM", "AVG", "VAR_SAMP", "MAX"].map(|name| call(name, Some(DOUBLE)));
        let mut spec = spec(window, keys, &calls);
        spec.ordered = true;
        let rows = odd_rows(dice);
        let feeds = feeds(dice, rows, &spec.input);
        Job::new(dice, StageSpec::Aggregate(spec), feeds)
    });
}

#[test]
fn windows_that_fire_early_or_late_go_on_where_they_were() {
    check_all(24, |dice| {
        let size_ms = 1 + dice.roll(20);
        let window = match dice.roll(2) {
            0 => WindowSpec::Tumble { size_ms, offset_ms: 0 },
            _ => WindowSpec::Hop { size_ms: size_ms * 3, slide_ms: size_ms, offset_ms: 0 },
        };
        let keys = key_columns(dice);
        let mut aggregate = spec(window, &keys, &calls(dice, |_| true));
        aggregate.ordered = dice.roll(3) > 0;
        aggregate.schema.fields.push(RowKind::field());
        let emit = EmitSpec { early: dice.roll(2) == 0, late_ms: dice.roll(2) * dice.roll(60) };
        let rows = odd_rows(dice);
        let feeds = feeds(dice, rows, &aggregate.input);
        Job::new(dice, StageSpec::Emitting(EmittingAggregateSpec { aggregate, emit }), feeds)
    });
}

/// Rows of which some are taken out again.
fn changing(dice: &mut Dice, schema: &Schema) -> Vec<Feed> {
    let (mut there, mut changes): (Vec<Row>, Vec<(Row, i8)>) = (Vec::new(), Vec::new());
    for row in odd_rows(dice) {
        if dice.roll(3) == 0 && !there.is_empty() {
            let row = there.swap_remove(dice.roll(there.len() as i64) as usize);
            changes.push((row, [1, 3][dice.roll(2) as usize]));
        }
        there.push(row.clone());
        changes.push((row, [0, 2][dice.roll(2) as usize]));
    }
    let feed = |changes: Vec<(Row, i8)>| {
        let (rows, kinds): (Vec<Row>, Vec<i8>) = changes.into_iter().unzip();
        let mut columns = batch_of(&rows, schema).columns().to_vec();
        columns.push(Arc::new(arrow::array::Int8Array::from(kinds)));
        let mut with_kind = schema.clone();
        with_kind.fields.push(RowKind::field());
        Feed {
            side: 0,
            rows: RecordBatch::try_new(with_kind.to_arrow(), columns).unwrap(),
            times: rows.iter().map(|row| row.time).collect(),
        }
    };
    pieces(dice, changes).into_iter().map(feed).collect()
}

#[test]
fn groups_without_windows_go_on_where_they_were() {
    check_all(40, |dice| {
        let (keys, changes) = (key_columns(dice), dice.roll(2) == 0);
        let takes_back = |call: &AggregateCall| call.kind.takes_rows_back();
        let aggregates = calls(dice, |call| !changes || takes_back(call));
        let mut input = input(false);
        let feeds = if changes {
            changing(dice, &input)
        } else {
            let rows = odd_rows(dice);
            feeds(dice, rows, &input)
        };
        let mut fields: Vec<Field> = keys.iter().map(|&key| input.fields[key].clone()).collect();
        fields.extend(aggregates.iter().map(|call| Field::new("a", call.output.clone())));
        fields.push(RowKind::field());
        let kind = changes.then_some(input.len());
        if changes {
            input.fields.push(RowKind::field());
        }
        let (repeats, ordered) = (dice.roll(4) == 0, dice.roll(3) > 0);
        let spec = GroupAggregateSpec { keys, aggregates, kind, input, schema: Schema::new(fields), repeats, ordered };
        Job::new(dice, StageSpec::Group(spec), feeds)
    });
}
