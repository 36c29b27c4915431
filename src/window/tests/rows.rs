//! Operators that keep whole rows: random jobs against one row at a time.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use arrow::datatypes::{Decimal128Type, Int64Type};

use super::random::{Dice, rows};
use super::twin::fired;
use super::*;
use crate::plan::{KeepFirstSpec, RankSpec, SessionRowsSpec, SortKey};
use crate::random::Random;

type Key = (Option<i64>, Option<String>);

/// What an operator gives: the numbers of rows, each with what stands behind it, and how many rows were late.
type Given = (Vec<(i128, Vec<i64>)>, u64);

fn key_of(keys: &[usize], row: &Row) -> Key {
    (row.key.filter(|_| keys.contains(&KEY)), row.name.clone().filter(|_| keys.contains(&NAME)))
}

/// Rows whose decimal is their number.
fn numbered(dice: &mut Dice) -> Vec<Row> {
    let count = dice.roll(200);
    let mut rows = rows(dice, count);
    for (at, row) in rows.iter_mut().enumerate() {
        row.decimal = Some(at as i128);
        // Here all windows that end together start together.
        row.bounds.0 = row.bounds.1 - 10;
    }
    rows
}

/// Runs an operator; what stands behind the columns of the input is shown.
fn given(stage: &StageSpec, input: &Schema, rows: &[Row], delay: i64, batch_rows: usize) -> Given {
    let mut given = Vec::new();
    let mut times = Vec::new();
    let mut show = |emitted: Emitted| {
        let batch = &emitted.rows;
        let ids = batch.column(DECIMAL).as_primitive::<Decimal128Type>();
        for row in 0..batch.num_rows() {
            let value = |column: &ArrayRef| match column.as_primitive_opt::<Int64Type>() {
                Some(numbers) => numbers.value(row),
                None => column.as_primitive::<TimestampMillisecondType>().value(row),
            };
            given.push((ids.value(row), batch.columns()[input.len()..].iter().map(value).collect()));
            times.push(emitted.times.get(row).copied().unwrap_or(emitted.time));
        }
        Ok(())
    };
    let operator = drive(stage, input, rows, (delay, batch_rows), &mut show);
    assert!(times.is_sorted(), "rows out of order: {times:?}");
    (given, operator.late_rows())
}

/// The watermark after each row.
fn watermarks(rows: &[Row], delay: i64) -> impl Iterator<Item = (&Row, i64)> {
    rows.iter().scan(0, move |highest: &mut i64, row| {
        let before = *highest;
        *highest = before.max(row.time - delay);
        Some((row, before))
    })
}

fn compare(key: &SortKey, a: &Row, b: &Row) -> Ordering {
    let by = |ordering: Ordering| if key.descending { ordering.reverse() } else { ordering };
    let nulls = |a: bool, b: bool| if key.nulls_first { b.cmp(&a) } else { a.cmp(&b) };
    match key.column {
        NUMBER => match (a.number, b.number) {
            (Some(a), Some(b)) => by(a.cmp(&b)),
            (a, b) => nulls(a.is_none(), b.is_none()),
        },
        _ => match (&a.text, &b.text) {
            (Some(a), Some(b)) => by(a.cmp(b)),
            (a, b) => nulls(a.is_none(), b.is_none()),
        },
    }
}

fn rank_twin(spec: &RankSpec, rows: &[Row], delay: i64) -> Given {
    let mut open: BTreeMap<(i64, Key), Vec<&Row>> = BTreeMap::new();
    let mut late = 0;
    for (row, watermark) in watermarks(rows, delay) {
        match fired(row.bounds.1, watermark) {
            true => late += 1,
            false => open.entry((row.bounds.1, key_of(&spec.keys, row))).or_default().push(row),
        }
    }
    let mut given = Vec::new();
    for mut rows in open.into_values() {
        if spec.last_wins {
            rows.reverse();
        }
        rows.sort_by(|a, b| {
            spec.order.iter().map(|key| compare(key, a, b)).find(|by| by.is_ne()).unwrap_or(Ordering::Equal)
        });
        let wanted = rows.iter().zip(1..).filter(|&(_, at)| (spec.first as i64..=spec.last as i64).contains(&at));
        given.extend(wanted.map(|(row, at)| (row.decimal.unwrap(), vec![at])));
    }
    given.sort();
    (given, late)
}

fn keys(dice: &mut Dice) -> Vec<usize> {
    [vec![], vec![KEY], vec![NAME], vec![KEY, NAME]][dice.roll(4) as usize].clone()
}

fn with_columns(input: &Schema, columns: &[(&str, Type)]) -> Schema {
    let mut schema = input.clone();
    schema.fields.extend(columns.iter().map(|(name, kind)| Field::new(*name, kind.clone().not_null())));
    schema
}

#[test]
fn ranks_agree_with_the_twin_on_random_jobs() {
    for seed in 0..300 {
        let dice = &mut Dice(Random::new(seed));
        let (keys, input) = (keys(dice), input(false));
        let columns = [vec![NUMBER], vec![TEXT], vec![TEXT, NUMBER]][dice.roll(3) as usize].clone();
        let order = columns.into_iter().map(|column| SortKey {
            column,
            descending: dice.roll(2) == 0,
            nulls_first: dice.roll(2) == 0,
        });
        let order = order.collect();
        let last_wins = dice.roll(4) == 0;
        let last = if last_wins { 1 } else { 1 + dice.roll(5) as u64 * dice.roll(5) as u64 };
        let spec = RankSpec {
            window: WindowSpec::Attached { start: START, end: END },
            zone: None,
            dealt_by: if keys.is_empty() { vec![END] } else { keys.clone() },
            keys,
            order,
            first: if dice.roll(3) == 0 { last.div_ceil(2) } else { 1 },
            last,
            last_wins,
            numbered: true,
            schema: with_columns(&input, &[("rn", Type::BigInt)]),
            input,
            ordered: dice.roll(2) == 0,
        };
        let (rows, delay) = (numbered(dice), dice.roll(40));
        let expected = rank_twin(&spec, &rows, delay);
        let stage = StageSpec::Rank(spec.clone());
        for batch_rows in [1, 7, 8192] {
            let mut got = given(&stage, &spec.input, &rows, delay, batch_rows);
            got.0.sort();
            assert_eq!(got, expected, "seed {seed}, batches of {batch_rows}, delay {delay}, {:?}", spec.order);
        }
    }
}

#[test]
fn the_rows_of_sessions_agree_with_the_twin_on_random_jobs() {
    for seed in 0..300 {
        let dice = &mut Dice(Random::new(seed));
        let (keys, input, gap_ms) = (keys(dice), input(false), 1 + dice.roll(20));
        let time = Type::Timestamp(3);
        let spec = SessionRowsSpec {
            window: WindowSpec::Session { gap_ms },
            keys,
            time: TIME,
            zone: None,
            schema: with_columns(&input, &[("s", time.clone()), ("e", time.clone()), ("t", time)]),
            input,
            ordered: dice.roll(2) == 0,
        };
        let (rows, delay) = (numbered(dice), dice.roll(40));
        let expected = session_twin(&spec.keys, gap_ms, &rows, delay);
        let stage = StageSpec::SessionRows(spec.clone());
        for batch_rows in [1, 7, 8192] {
            let (mut got, late) = given(&stage, &spec.input, &rows, delay, batch_rows);
            let in_order = got.chunk_by(|a, b| a.1 == b.1).all(|rows| !spec.keys.is_empty() || rows.is_sorted());
            assert!(in_order, "seed {seed}: the rows of a session are not in the order of arrival");
            got.sort();
            assert_eq!((got, late), expected, "seed {seed}, batches of {batch_rows}, gap {gap_ms}, delay {delay}");
        }
    }
}

fn session_twin(keys: &[usize], gap: i64, rows: &[Row], delay: i64) -> Given {
    let mut sessions: Vec<(Key, i64, i64, Vec<i128>)> = Vec::new();
    let (mut given, mut late) = (Vec::new(), 0);
    let mut give = |(_, start, end, ids): (Key, i64, i64, Vec<i128>)| {
        given.extend(ids.into_iter().map(|id| (id, vec![start, end, end - 1])));
    };
    for (row, watermark) in watermarks(rows, delay) {
        sessions.extract_if(.., |session| fired(session.2, watermark)).for_each(&mut give);
        let (key, mut start, mut end) = (key_of(keys, row), row.time, row.time + gap);
        let touches = |session: &(Key, i64, i64, Vec<i128>)| {
            session.0 == key && session.1 <= row.time + gap && row.time <= session.2
        };
        if !sessions.iter().any(touches) && fired(end, watermark) {
            late += 1;
            continue;
        }
        let mut ids = vec![row.decimal.unwrap()];
        for (_, from, to, others) in sessions.extract_if(.., |session| touches(session)) {
            (start, end) = (start.min(from), end.max(to));
            ids.extend(others);
        }
        sessions.push((key, start, end, ids));
    }
    sessions.into_iter().for_each(&mut give);
    given.sort();
    (given, late)
}

#[test]
fn the_first_rows_of_keys_agree_with_the_twin_on_random_jobs() {
    for seed in 0..300 {
        let dice = &mut Dice(Random::new(seed));
        let (keys, input) = (keys(dice), input(false));
        let spec = KeepFirstSpec {
            keys,
            time: TIME,
            numbered: true,
            schema: with_columns(&input, &[("rn", Type::BigInt)]),
            input,
            ordered: dice.roll(2) == 0,
        };
        let (rows, delay) = (numbered(dice), dice.roll(40));
        let mut firsts: BTreeMap<Key, (i64, i128)> = BTreeMap::new();
        for (row, watermark) in watermarks(&rows, delay) {
            // Behind the watermark no row is taken, at it one is.
            if !fired(row.time + 2, watermark) {
                let first = firsts.entry(key_of(&spec.keys, row)).or_insert((i64::MAX, 0));
                *first = (*first).min((row.time, row.decimal.unwrap()));
            }
        }
        let mut expected: Vec<_> = firsts.into_values().map(|(_, id)| (id, vec![1])).collect();
        expected.sort();
        let stage = StageSpec::KeepFirst(spec.clone());
        for batch_rows in [1, 7, 8192] {
            let mut got = given(&stage, &spec.input, &rows, delay, batch_rows).0;
            got.sort();
            assert_eq!(got, expected, "seed {seed}, batches of {batch_rows}, delay {delay}");
        }
    }
}

#[test]
fn rows_that_nobody_wants_are_let_go() {
    let input = input(false);
    let spec = RankSpec {
        window: WindowSpec::Attached { start: START, end: END },
        zone: None,
        keys: vec![KEY],
        dealt_by: vec![KEY],
        order: vec![SortKey { column: NUMBER, descending: true, nulls_first: false }],
        first: 1,
        last: 2,
        last_wins: false,
        numbered: false,
        schema: input.clone(),
        input,
        ordered: false,
    };
    // Each row is better than those before.
    let row = |i: i64| Row { key: Some(i % 3), number: Some(i as i32), bounds: (0, 10), ..Row::default() };
    let rows: Vec<Row> = (0..100_000).map(row).collect();
    let mut operator = operator(&StageSpec::Rank(spec.clone()), &context()).unwrap();
    let mut most = 0;
    for rows in rows.chunks(100) {
        let rows = batch_of(rows, &spec.input);
        let mut hashes = Vec::new();
        hash_keys(&rows, &[KEY], &mut hashes).unwrap();
        operator.process(0, &EventBatch { rows, hashes, marks: Vec::new() }, &mut |_| Ok(())).unwrap();
        most = most.max(operator.state_bytes());
    }
    assert!(most < 1 << 20, "{most} bytes for six rows");
    let mut numbers = Vec::new();
    let mut take = |emitted: Emitted| {
        let column = emitted.rows.column(NUMBER).as_primitive::<arrow::datatypes::Int32Type>().clone();
        numbers.extend(column.values().iter().copied());
        Ok(())
    };
    operator.advance(Watermark::MAX, &mut take).unwrap();
    numbers.sort_unstable();
    assert_eq!(numbers, [99_994, 99_995, 99_996, 99_997, 99_998, 99_999]);
}
