//! Joins against a twin that compares every row with every other.

use std::sync::Arc;

use arrow::array::{Array, AsArray, Int64Array, RecordBatch, TimestampMillisecondArray};
use arrow::datatypes::Int64Type;

use super::super::tests::context;
use super::*;
use crate::batch::{EventBatch, Mark};
use crate::expr::{Expr, resolve};
use crate::key::KeyGroups;
use crate::plan::{JoinKind, JoinTimes, WindowSpec};
use crate::state::hash_keys;
use crate::time::Watermark;
use crate::types::{Field, Schema, Type};

mod timed;

const KINDS: [JoinKind; 6] =
    [JoinKind::Inner, JoinKind::Left, JoinKind::Right, JoinKind::Full, JoinKind::Semi, JoinKind::Anti];

/// Key, value, end of its window of 10 ms.
type Row = (Option<i64>, i64, i64);

/// Numbers that depend on the seed alone.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
    fn rows(&mut self, count: u64) -> Vec<Row> {
        let row = |dice: &mut Dice| {
            let key = (dice.below(5) > 0).then(|| dice.below(4) as i64);
            (key, dice.below(6) as i64, 10 + 10 * dice.below(3) as i64)
        };
        (0..count).map(|_| row(self)).collect()
    }
}

struct Question {
    kind: JoinKind,
    keyed: bool,
    null_meets_null: bool,
    /// The left value is less than the right one.
    condition: bool,
    windowed: bool,
}

impl Question {
    fn spec(&self) -> JoinSpec {
        let time = || Type::Timestamp(3).not_null();
        let input = Schema::new(vec![
            Field::new("k", Type::BigInt.nullable()),
            Field::new("v", Type::BigInt.nullable()),
            Field::new("s", time()),
            Field::new("e", time()),
        ]);
        let output = if self.kind.has_pairs() { vec![0, 1, 4, 5] } else { vec![0, 1] };
        let value = |at: usize| Expr::column(at, Type::BigInt.nullable());
        let keys = if self.keyed { vec![0] } else { Vec::new() };
        JoinSpec {
            kind: self.kind,
            times: match self.windowed {
                true => JoinTimes::Windows([0, 1].map(|_| WindowSpec::Attached { start: 2, end: 3 })),
                false => JoinTimes::Unbounded,
            },
            zone: None,
            null_meets_null: keys.iter().map(|_| self.null_meets_null).collect(),
            keys: [keys.clone(), keys],
            condition: self.condition.then(|| resolve::binary("<", value(1), value(5)).unwrap()),
            inputs: [input.clone(), input.clone()],
            schema: Schema::new(output.iter().map(|&at| input.fields[at % 4].clone()).collect()),
            output,
            ordered: true,
        }
    }

    fn pair(&self, l: &Row, r: &Row) -> bool {
        let keys = match (l.0, r.0) {
            _ if !self.keyed => true,
            (Some(a), Some(b)) => a == b,
            (a, b) => a == b && self.null_meets_null,
        };
        keys && (!self.windowed || l.2 == r.2) && (!self.condition || l.1 < r.1)
    }

    fn twin(&self, left: &[Row], right: &[Row]) -> Vec<String> {
        let show = |row: Option<&Row>| row.map_or_else(|| "- -".to_string(), |(k, v, _)| format!("{} {v}", text(*k)));
        let mut rows = Vec::new();
        for l in left {
            let partners: Vec<&Row> = right.iter().filter(|r| self.pair(l, r)).collect();
            match self.kind {
                JoinKind::Semi | JoinKind::Anti => {
                    if partners.is_empty() == (self.kind == JoinKind::Anti) {
                        rows.push(show(Some(l)));
                    }
                }
                _ => rows.extend(partners.iter().map(|r| format!("{} {}", show(Some(l)), show(Some(r))))),
            }
            if partners.is_empty() && self.kind.keeps(0) {
                rows.push(format!("{} {}", show(Some(l)), show(None)));
            }
        }
        for r in right.iter().filter(|_| self.kind.keeps(1)) {
            if !left.iter().any(|l| self.pair(l, r)) {
                rows.push(format!("{} {}", show(None), show(Some(r))));
            }
        }
        rows.sort();
        rows
    }
}

fn text(value: Option<i64>) -> String {
    value.map_or_else(|| "-".to_string(), |value| value.to_string())
}

fn batch(rows: &[Row], spec: &JoinSpec, side: usize, marks: Vec<Mark>) -> EventBatch {
    let times = |f: fn(&Row) -> i64| Arc::new(rows.iter().map(f).map(Some).collect::<TimestampMillisecondArray>());
    let keys: Int64Array = rows.iter().map(|row| row.0).collect();
    let values: Int64Array = rows.iter().map(|row| Some(row.1)).collect();
    let rows = RecordBatch::try_new(
        spec.inputs[side].to_arrow(),
        vec![Arc::new(keys), Arc::new(values), times(|row| row.2 - 10), times(|row| row.2)],
    )
    .unwrap();
    let mut hashes = Vec::new();
    if !spec.keys[side].is_empty() {
        hash_keys(&rows, &spec.keys[side], &mut hashes).unwrap();
    }
    EventBatch { rows, hashes, marks }
}

/// What comes out, by time; `size`: rows of a batch.
fn run(spec: &JoinSpec, sides: [&[Row]; 2], size: usize) -> Vec<(i64, String)> {
    let mut operator = operator(spec, &context()).unwrap();
    let mut out = Vec::new();
    let mut emit = |emitted: super::super::Emitted| {
        let columns: Vec<_> = emitted.rows.columns().iter().map(|c| c.as_primitive::<Int64Type>().clone()).collect();
        for row in 0..emitted.rows.num_rows() {
            let cells = columns.iter().map(|c| text(c.is_valid(row).then(|| c.value(row))));
            out.push((emitted.time, cells.collect::<Vec<_>>().join(" ")));
        }
        Ok(())
    };
    for (side, rows) in sides.into_iter().enumerate() {
        for rows in rows.chunks(size) {
            operator.process(side, &batch(rows, spec, side, Vec::new()), &mut emit).unwrap();
        }
        operator.advance(Watermark(0), &mut emit).unwrap();
    }
    operator.advance(Watermark::MAX, &mut emit).unwrap();
    assert_eq!(operator.open_windows(), 0);
    assert!(spec.windows().is_none() || operator.state_bytes() == 0);
    out
}

fn check(question: &Question, seed: u64) {
    let mut dice = Dice(seed);
    let (left, right) = (dice.rows(1 + seed % 40), dice.rows(seed % 37));
    let spec = question.spec();
    let whole = run(&spec, [&left, &right], 100);
    let mut rows: Vec<String> = whole.iter().map(|(_, row)| row.clone()).collect();
    rows.sort();
    let about = || {
        let Question { kind, keyed, null_meets_null, condition, windowed } = question;
        format!("{kind:?} {keyed} {null_meets_null} {condition} {windowed}, seed {seed}")
    };
    assert_eq!(rows, question.twin(&left, &right), "{}", about());
    assert_eq!(whole, run(&spec, [&left, &right], 1), "{}", about());
    if !question.keyed {
        return;
    }
    // Two shards, one after the other at each time, give the same sequence.
    let groups = KeyGroups::new(128, 2);
    let mut parts: Vec<(i64, String)> = Vec::new();
    for shard in 0..2 {
        let own = |side: usize, rows: &[Row]| -> Vec<Row> {
            let hashes = batch(rows, &spec, side, Vec::new()).hashes;
            let rows = rows.iter().zip(hashes).filter(|(_, hash)| groups.owner_of(*hash) == shard);
            rows.map(|(row, _)| *row).collect()
        };
        parts.extend(run(&spec, [&own(0, &left), &own(1, &right)], 100));
    }
    parts.sort_by_key(|(time, _)| *time);
    assert_eq!(whole, parts, "{}", about());
}

#[test]
fn every_kind_of_join_pairs_and_pads_as_its_twin() {
    for seed in 0..60 {
        for kind in KINDS {
            for bits in 0..8 {
                let (keyed, null_meets_null, condition) = (bits & 1 == 0, bits & 2 == 0, bits & 4 == 0);
                check(&Question { kind, keyed, null_meets_null, condition, windowed: true }, seed);
                if matches!(kind, JoinKind::Inner | JoinKind::Semi) {
                    check(&Question { kind, keyed, null_meets_null, condition, windowed: false }, seed);
                }
            }
        }
    }
}

#[test]
fn rows_behind_the_end_of_their_window_are_dropped_and_counted() {
    let question =
        Question { kind: JoinKind::Left, keyed: true, null_meets_null: false, condition: false, windowed: true };
    let spec = question.spec();
    let mut operator = operator(&spec, &context()).unwrap();
    let mut rows = 0;
    let mut emit = |emitted: super::super::Emitted| {
        rows += emitted.rows.num_rows();
        Ok(())
    };
    let marks = vec![Mark { row: 1, watermark: Watermark(9) }];
    let left = batch(&[(Some(1), 1, 20), (Some(1), 2, 10), (Some(1), 3, 20)], &spec, 0, marks);
    operator.process(0, &left, &mut emit).unwrap();
    assert_eq!(operator.late_rows(), 1);
    operator.advance(Watermark(19), &mut emit).unwrap();
    operator.process(1, &batch(&[(Some(1), 1, 20)], &spec, 1, Vec::new()), &mut emit).unwrap();
    operator.advance(Watermark::MAX, &mut emit).unwrap();
    assert_eq!(operator.late_rows(), 2);
    assert_eq!((rows, operator.fired_windows()), (2, 1));
}

#[test]
fn many_candidates_are_given_in_several_batches() {
    let question =
        Question { kind: JoinKind::Full, keyed: false, null_meets_null: false, condition: true, windowed: true };
    let rows: Vec<Row> = (0..300).map(|value| (None, value % 7, 10)).collect();
    let out = run(&question.spec(), [&rows, &rows], 64);
    let mut got: Vec<String> = out.into_iter().map(|(_, row)| row).collect();
    got.sort();
    assert_eq!(got, question.twin(&rows, &rows));
    assert!(got.len() > pairs::CANDIDATES_MAX);
}
