//! Joins.

use super::*;
use crate::expr::{self, Expr};
use crate::plan::{IntervalBounds, JoinKind, JoinSpec, JoinTimes, Versions};

const KINDS: [JoinKind; 6] =
    [JoinKind::Inner, JoinKind::Left, JoinKind::Right, JoinKind::Full, JoinKind::Semi, JoinKind::Anti];

fn windows() -> JoinTimes {
    JoinTimes::Windows([0, 1].map(|_| WindowSpec::Attached { start: START, end: END }))
}

fn job(dice: &mut Dice, kind: JoinKind, times: JoinTimes) -> Job {
    let (keys, input) = (key_columns(dice), input(false));
    let fields: Vec<Field> = input.fields.iter().chain(&input.fields).cloned().collect();
    let output: Vec<usize> = (0..if kind.has_pairs() { fields.len() } else { input.len() }).collect();
    let value = |column: usize| Expr::column(column, fields[column].data_type.clone());
    let condition = expr::resolve::binary("<", value(DOUBLE), value(input.len() + DOUBLE)).unwrap();
    let spec = JoinSpec {
        kind,
        times,
        zone: None,
        null_meets_null: keys.iter().map(|_| dice.roll(2) == 0).collect(),
        keys: [keys.clone(), keys],
        condition: (dice.roll(2) == 0).then_some(condition),
        schema: Schema::new(output.iter().map(|&column| fields[column].clone()).collect()),
        output,
        inputs: [input.clone(), input.clone()],
        ordered: dice.roll(3) > 0,
    };
    let mut rows = odd_rows(dice);
    rows.truncate(80);
    let mut feeds = feeds(dice, rows, &input);
    feeds.iter_mut().for_each(|feed| feed.side = dice.roll(2) as usize);
    Job::new(dice, StageSpec::Join(spec), feeds)
}

#[test]
fn joins_of_windows_go_on_where_they_were() {
    check_all(30, |dice| {
        let kind = KINDS[dice.roll(6) as usize];
        job(dice, kind, windows())
    });
}

#[test]
fn joins_without_windows_go_on_where_they_were() {
    check_all(30, |dice| {
        let kind = [JoinKind::Inner, JoinKind::Semi][dice.roll(2) as usize];
        job(dice, kind, JoinTimes::Unbounded)
    });
}

#[test]
fn joins_of_near_times_go_on_where_they_were() {
    check_all(40, |dice| {
        let kind = KINDS[dice.roll(4) as usize];
        let (before, behind) = (dice.roll(40) * 100, dice.roll(40) * 100);
        job(dice, kind, JoinTimes::Interval(IntervalBounds { times: [TIME; 2], lower_ms: -before, upper_ms: behind }))
    });
}

#[test]
fn joins_by_version_go_on_where_they_were() {
    check_all(40, |dice| {
        let kind = [JoinKind::Inner, JoinKind::Left][dice.roll(2) as usize];
        let in_order = dice.roll(2) == 0;
        job(dice, kind, JoinTimes::Versions(Versions { times: [TIME; 2], in_order }))
    });
}
