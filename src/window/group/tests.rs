use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int8Array, Int64Array, RecordBatch};
use arrow::datatypes::{Int8Type, Int64Type};

use super::*;
use crate::aggregate::{AggregateCall, AggregateKind, Setting};
use crate::state::hash_keys;
use crate::types::{Field, Schema, Type};

/// COUNT(*), SUM(v) and MAX(v) by k, over rows that change.
fn spec() -> GroupAggregateSpec {
    let number = Type::BigInt.nullable();
    let column = |name: &str| Field::new(name, number.clone());
    let call = |kind, args: Vec<usize>| AggregateCall {
        kind,
        distinct: false,
        inputs: args.iter().map(|_| number.clone()).collect(),
        args,
        filter: None,
        setting: Setting::None,
        output: number.clone(),
    };
    GroupAggregateSpec {
        keys: vec![0],
        aggregates: vec![
            call(AggregateKind::Count, Vec::new()),
            call(AggregateKind::Sum, vec![1]),
            call(AggregateKind::Max, vec![1]),
        ],
        kind: Some(2),
        input: Schema::new(vec![column("k"), column("v"), RowKind::field()]),
        schema: Schema::new(vec![column("k"), column("n"), column("s"), column("m"), RowKind::field()]),
        repeats: false,
        ordered: true,
    }
}

type Change = (i8, i64, i64, i64, i64);

/// The changes that rows (kind, k, v) give, in batches of so many.
fn changes(rows: &[(i8, i64, i64)], batch_rows: usize) -> Vec<Change> {
    let mut operator = GroupOperator::new(&spec()).expect("a plain specification");
    let mut given = Vec::new();
    let mut emit = |emitted: Emitted| {
        let number = |column: usize, row: usize| emitted.rows.column(column).as_primitive::<Int64Type>().value(row);
        for row in 0..emitted.rows.num_rows() {
            let kind = emitted.rows.column(4).as_primitive::<Int8Type>().value(row);
            given.push((kind, number(0, row), number(1, row), number(2, row), number(3, row)));
        }
        Ok(())
    };
    for (i, rows) in rows.chunks(batch_rows).enumerate() {
        let numbers =
            |f: fn(&(i8, i64, i64)) -> i64| Arc::new(Int64Array::from_iter_values(rows.iter().map(f))) as ArrayRef;
        let kinds: ArrayRef = Arc::new(Int8Array::from_iter_values(rows.iter().map(|row| row.0)));
        let first = (i * batch_rows) as i64;
        let places: ArrayRef = Arc::new(Int64Array::from_iter_values(first..first + rows.len() as i64));
        let columns = [("k", numbers(|row| row.1)), ("v", numbers(|row| row.2)), ("kind", kinds), ("place", places)];
        let rows = RecordBatch::try_from_iter(columns).expect("columns of one length");
        let mut hashes = Vec::new();
        hash_keys(&rows, &[0], &mut hashes).expect("numbers are keys");
        operator.process(0, &EventBatch { rows, hashes, marks: Vec::new() }, &mut emit).expect("taken");
    }
    operator.advance(Watermark(0), &mut emit).expect("given");
    given
}

/// The same by one row at a time, from the rows of each key.
fn twin(rows: &[(i8, i64, i64)]) -> Vec<Change> {
    let mut groups: HashMap<i64, Vec<i64>> = HashMap::new();
    let result =
        |values: &Vec<i64>| values.iter().max().map(|max| (values.len() as i64, values.iter().sum::<i64>(), *max));
    let mut given = Vec::new();
    for &(kind, key, value) in rows {
        let values = groups.entry(key).or_default();
        let before = result(values);
        if RowKind::of_code(kind).is_added() {
            values.push(value);
        } else if let Some(at) = values.iter().position(|other| *other == value) {
            values.remove(at);
        }
        let mut give = |kind: RowKind, (n, s, m): (i64, i64, i64)| given.push((kind.code(), key, n, s, m));
        match (before, result(values)) {
            (None, Some(after)) => give(RowKind::Insert, after),
            (Some(before), None) => give(RowKind::Delete, before),
            (Some(before), Some(after)) if before != after => {
                give(RowKind::UpdateBefore, before);
                give(RowKind::UpdateAfter, after);
            }
            _ => {}
        }
    }
    given
}

#[test]
fn changes_are_those_of_one_row_at_a_time() {
    let mut state = 7_u64;
    let mut dice = |sides: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % sides
    };
    for _ in 0..200 {
        let mut there: Vec<(i64, i64)> = Vec::new();
        let mut rows = Vec::new();
        for _ in 0..60 {
            if dice(5) < 2 && !there.is_empty() {
                let (key, value) = there.swap_remove(dice(there.len() as u64) as usize);
                rows.push((if dice(2) == 0 { 1 } else { 3 }, key, value));
            } else {
                let row = (dice(3) as i64, dice(4) as i64 - 2);
                there.push(row);
                rows.push((if dice(2) == 0 { 0 } else { 2 }, row.0, row.1));
            }
        }
        let expected = twin(&rows);
        for batch_rows in [1, 7, 60] {
            assert_eq!(changes(&rows, batch_rows), expected, "{rows:?} in batches of {batch_rows}");
        }
    }
}

#[test]
fn a_row_that_is_taken_out_of_an_unknown_group_is_left_alone() {
    assert_eq!(changes(&[(3, 1, 5), (0, 1, 2)], 2), [(0, 1, 1, 2, 2)]);
}
