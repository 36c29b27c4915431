//! Random rows, windows, keys, delays and batch sizes: equal to the twin.

use super::*;
use crate::random::Random;

/// The cases stay the same whatever a library does.
pub(super) struct Dice(pub(super) Random);

impl Dice {
    pub(super) fn roll(&mut self, sides: i64) -> i64 {
        self.0.below(sides as u64) as i64
    }
    fn maybe<T>(&mut self, value: T) -> Option<T> {
        (self.roll(6) > 0).then_some(value)
    }
}

fn window(dice: &mut Dice) -> WindowSpec {
    let step_ms = 1 + dice.roll(20);
    let many = 1 + dice.roll(9);
    let offset_ms = dice.roll(15) - 7;
    match dice.roll(6) {
        0 => WindowSpec::Tumble { size_ms: step_ms, offset_ms },
        1 => WindowSpec::Hop { size_ms: step_ms * many, slide_ms: step_ms, offset_ms },
        2 => WindowSpec::Hop { size_ms: step_ms + many, slide_ms: 1 + dice.roll(step_ms + many), offset_ms },
        3 => WindowSpec::Cumulate { size_ms: step_ms * many, step_ms, offset_ms },
        4 => WindowSpec::Attached { start: START, end: END },
        _ => WindowSpec::Session { gap_ms: step_ms },
    }
}

pub(super) fn rows(dice: &mut Dice, count: i64) -> Vec<Row> {
    let (disorder, keys, stretch) = (1 + dice.roll(60), 1 + dice.roll(9), 1 + dice.roll(4));
    let base = if dice.roll(3) == 0 { -count * stretch / 2 } else { dice.roll(1000) };
    let mut row = |i: i64| {
        let time = base + i * stretch - dice.roll(disorder);
        let start = (time - 3 * dice.roll(2)).div_euclid(10) * 10;
        let key = dice.roll(keys);
        let name: String = "xyzäö".chars().take(key as usize % 5).collect();
        let number = (dice.roll(9) as i32 - 4).wrapping_mul(if dice.roll(9) == 0 { 900_000_000 } else { 1 });
        let (double, condition) = (dice.roll(9) as f64, dice.roll(2) == 0);
        let text = ["", "a", "b", "ab", "é"][dice.roll(5) as usize].to_owned();
        Row {
            time,
            key: dice.maybe(key),
            name: dice.maybe(name),
            number: dice.maybe(number),
            double: dice.maybe(double),
            text: dice.maybe(text),
            condition: dice.maybe(condition),
            decimal: None,
            bounds: (start, start + 10 + 5 * dice.roll(2)),
        }
    };
    (0..count).map(&mut row).collect()
}

fn calls(dice: &mut Dice) -> Vec<AggregateCall> {
    let all = [
        call("COUNT", None),
        call("COUNT", Some(NUMBER)),
        call("SUM", Some(NUMBER)),
        filtered("COUNT", None),
        filtered("SUM", Some(NUMBER)),
        // From here on not invertible.
        call("MIN", Some(NUMBER)),
        call("MAX", Some(NUMBER)),
        call("SUM", Some(DOUBLE)),
        call("MIN", Some(TEXT)),
        call("MAX", Some(TEXT)),
        call("DISTINCT COUNT", Some(NUMBER)),
        call("DISTINCT SUM", Some(NUMBER)),
        call("DISTINCT COUNT", Some(TEXT)),
        filtered("MAX", Some(TEXT)),
    ];
    let pool = if dice.roll(2) == 0 { 5 } else { all.len() as i64 };
    (0..1 + dice.roll(5)).map(|_| all[dice.roll(pool) as usize].clone()).collect()
}

#[test]
fn operators_agree_with_the_twin_on_random_jobs() {
    for seed in 0..1500 {
        let dice = &mut Dice(Random::new(seed));
        let keys: &[usize] = [&[][..], &[KEY], &[NAME], &[KEY, NAME]][dice.roll(4) as usize];
        let mut spec = spec(window(dice), keys, &calls(dice));
        spec.ordered = dice.roll(2) == 0;
        let count = dice.roll(200);
        let (rows, delay) = (rows(dice, count), dice.roll(40));
        let expected = twin::evaluate(&spec, &rows, delay).sorted();
        for batch_rows in [1, 7, 8192] {
            let got = run(&spec, &rows, delay, batch_rows).sorted();
            assert_eq!(got, expected, "seed {seed}, batches of {batch_rows}, {:?}, delay {delay}", spec.window);
        }
    }
}

#[test]
fn the_order_of_a_window_depends_on_its_keys_alone() {
    let dice = &mut Dice(Random::new(7));
    let rows = rows(dice, 500);
    let mut spec = spec(WindowSpec::Tumble { size_ms: 1000, offset_ms: 0 }, &[KEY, NAME], &[call("COUNT", None)]);
    spec.ordered = true;
    let forth = run(&spec, &rows, 5000, 8192);
    let back: Vec<Row> = rows.into_iter().rev().collect();
    assert_eq!(forth.rows, run(&spec, &back, 5000, 100).rows);
}

#[test]
fn many_keys_over_many_windows_come_and_go() {
    // Enough for tables to grow, for the running window to be rebuilt and for session keys to be forgotten.
    let row = |i: i64| Row { time: i / 20, key: Some(i / 3), number: Some((i % 7) as i32), ..Row::default() };
    let rows: Vec<Row> = (0..60_000).map(row).collect();
    for window in [
        WindowSpec::Hop { size_ms: 500, slide_ms: 100, offset_ms: 0 },
        WindowSpec::Session { gap_ms: 50 },
        WindowSpec::Cumulate { size_ms: 500, step_ms: 100, offset_ms: 0 },
    ] {
        for calls in [vec![call("COUNT", None), call("SUM", Some(NUMBER))], vec![call("MAX", Some(NUMBER))]] {
            let spec = spec(window.clone(), &[KEY], &calls);
            let expected = twin::evaluate(&spec, &rows, 10).sorted();
            assert!(run(&spec, &rows, 10, 8192).sorted() == expected, "{window:?}");
        }
    }
}
