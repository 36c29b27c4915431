//! Operators that keep whole rows.

use super::*;
use crate::plan::{Frame, KeepFirstSpec, OverCall, OverFunction, OverSpec, RankSpec, SessionRowsSpec, SortKey};

fn with_columns(input: &Schema, columns: &[(&str, Type)]) -> Schema {
    let mut schema = input.clone();
    schema.fields.extend(columns.iter().map(|(name, kind)| Field::new(*name, kind.clone().not_null())));
    schema
}

fn job(dice: &mut Dice, stage: StageSpec) -> Job {
    let rows = odd_rows(dice);
    let feeds = feeds(dice, rows, &input(false));
    Job::new(dice, stage, feeds)
}

#[test]
fn ranks_go_on_where_they_were() {
    check_all(30, |dice| {
        let (keys, input) = (key_columns(dice), input(false));
        let columns: [&[usize]; 4] = [&[NUMBER], &[TEXT], &[TEXT, NUMBER], &[DOUBLE, DECIMAL]];
        let order = columns[dice.roll(4) as usize].iter().map(|&column| SortKey {
            column,
            descending: dice.roll(2) == 0,
            nulls_first: dice.roll(2) == 0,
        });
        let order = order.collect();
        let last_wins = dice.roll(4) == 0;
        let last = if last_wins { 1 } else { 1 + dice.roll(4) as u64 };
        let spec = RankSpec {
            window: WindowSpec::Attached { start: START, end: END },
            zone: None,
            dealt_by: if keys.is_empty() { vec![END] } else { keys.clone() },
            keys,
            order,
            first: if dice.roll(3) == 0 { last } else { 1 },
            last,
            last_wins,
            numbered: dice.roll(2) == 0,
            schema: input.clone(),
            input,
            ordered: dice.roll(3) > 0,
        };
        let schema = if spec.numbered { with_columns(&spec.input, &[("rn", Type::BigInt)]) } else { spec.schema };
        job(dice, StageSpec::Rank(RankSpec { schema, ..spec }))
    });
}

#[test]
fn rows_of_sessions_go_on_where_they_were() {
    check_all(30, |dice| {
        let (keys, input, time) = (key_columns(dice), input(false), Type::Timestamp(3));
        let spec = SessionRowsSpec {
            window: WindowSpec::Session { gap_ms: 1 + dice.roll(30) },
            keys,
            time: TIME,
            zone: None,
            schema: with_columns(&input, &[("s", time.clone()), ("e", time.clone()), ("t", time)]),
            input,
            ordered: dice.roll(3) > 0,
        };
        job(dice, StageSpec::SessionRows(spec))
    });
}

#[test]
fn first_rows_go_on_where_they_were() {
    check_all(30, |dice| {
        let (keys, input) = (key_columns(dice), input(false));
        let spec = KeepFirstSpec {
            keys,
            time: TIME,
            numbered: true,
            schema: with_columns(&input, &[("rn", Type::BigInt)]),
            input,
            ordered: dice.roll(3) > 0,
        };
        job(dice, StageSpec::KeepFirst(spec))
    });
}

fn over_call(dice: &mut Dice, input: &Schema) -> OverCall {
    use OverFunction::{Count, FirstValue, Lag, LastValue, Max, Min, Sum};
    let column = [NUMBER, DOUBLE, DECIMAL, TEXT][dice.roll(4) as usize];
    let number = [NUMBER, DOUBLE, DECIMAL][dice.roll(3) as usize];
    let lag = Lag(dice.roll(3) as u64);
    let (function, args) = match dice.roll(9) {
        0 => (Count, vec![]),
        1 => (Count, vec![column]),
        2 | 3 => (Sum, vec![number]),
        4 => (Min, vec![column]),
        5 => (Max, vec![column]),
        6 => (FirstValue, vec![column]),
        7 => (LastValue, vec![column]),
        _ if dice.roll(2) == 0 => (lag, vec![column]),
        _ => (lag, vec![NUMBER, NUMBER]),
    };
    let output = match function {
        Count => Type::BigInt.not_null(),
        _ => input.fields[args[0]].data_type.clone(),
    };
    let distinct = matches!(function, Count | Sum) && !args.is_empty() && dice.roll(2) == 0;
    OverCall { function, args, distinct, output }
}

#[test]
fn frames_go_on_where_they_were() {
    check_all(30, |dice| {
        let (keys, input) = (key_columns(dice), input(false));
        let frame = match dice.roll(4) {
            0 => Frame::Range(None),
            1 => Frame::Range(Some(dice.roll(40))),
            2 => Frame::Rows(None),
            _ => Frame::Rows(Some(dice.roll(5) as u64)),
        };
        let calls: Vec<OverCall> = (0..1 + dice.roll(4)).map(|_| over_call(dice, &input)).collect();
        let mut schema = input.clone();
        schema.fields.extend(calls.iter().map(|call| Field::new("o", call.output.clone())));
        job(dice, StageSpec::Over(OverSpec { keys, time: TIME, frame, calls, input, schema }))
    });
}
