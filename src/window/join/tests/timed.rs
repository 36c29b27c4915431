//! Interval and temporal joins: what is late, what is padded, and that shards and batches make no difference.

use super::*;
use crate::plan::{IntervalBounds, Versions};

/// Key, value, time.
type Timed = (i64, i64, i64);

/// Rows of a side that come one after the other.
type Block = (usize, Vec<Timed>);

fn spec(kind: JoinKind, times: JoinTimes) -> JoinSpec {
    let fields = ["k", "v"].map(|name| Field::new(name, Type::BigInt.nullable()));
    let mut input = Schema::new(fields.to_vec());
    input.fields.push(Field::new("t", Type::Timestamp(3).nullable()));
    JoinSpec {
        kind,
        times,
        zone: None,
        keys: [vec![0], vec![0]],
        null_meets_null: vec![false],
        condition: None,
        schema: Schema::new([1, 1].map(|at: usize| input.fields[at].clone()).to_vec()),
        inputs: [input.clone(), input],
        output: vec![1, 4],
        ordered: true,
    }
}

fn interval(kind: JoinKind, lower_ms: i64, upper_ms: i64) -> JoinSpec {
    spec(kind, JoinTimes::Interval(IntervalBounds { times: [2, 2], lower_ms, upper_ms }))
}

fn temporal(kind: JoinKind, in_order: bool) -> JoinSpec {
    spec(kind, JoinTimes::Versions(Versions { times: [2, 2], in_order }))
}

fn rows(spec: &JoinSpec, rows: &[Timed]) -> (RecordBatch, Vec<u64>) {
    let keys: Int64Array = rows.iter().map(|row| Some(row.0)).collect();
    let values: Int64Array = rows.iter().map(|row| Some(row.1)).collect();
    let times: TimestampMillisecondArray = rows.iter().map(|row| Some(row.2)).collect();
    let batch =
        RecordBatch::try_new(spec.inputs[0].to_arrow(), vec![Arc::new(keys), Arc::new(values), Arc::new(times)]);
    let (batch, mut hashes) = (batch.unwrap(), Vec::new());
    hash_keys(&batch, &[0], &mut hashes).unwrap();
    (batch, hashes)
}

/// What comes out block by block, one shard after the other in order. The watermark follows the highest time of the
/// side whose rows come, `delay` behind, and ends with the last block.
fn play(spec: &JoinSpec, blocks: &[Block], delay: i64, (shards, size): (usize, usize)) -> Vec<Vec<String>> {
    let groups = KeyGroups::new(128, shards as u32);
    let mut operators: Vec<_> = (0..shards).map(|_| operator(spec, &context()).unwrap()).collect();
    let (mut watermark, mut played) = (Watermark::MIN, Vec::new());
    for (number, (side, block)) in blocks.iter().enumerate() {
        let mut out: Vec<(i64, String)> = Vec::new();
        let start = watermark;
        for (shard, operator) in operators.iter_mut().enumerate() {
            let mut emit = |emitted: super::super::super::Emitted| {
                let columns = emitted.rows.columns().iter().map(|c| c.as_primitive::<Int64Type>().clone());
                let columns: Vec<_> = columns.collect();
                for row in 0..emitted.rows.num_rows() {
                    let cells = columns.iter().map(|c| text(c.is_valid(row).then(|| c.value(row))));
                    let before = text(emitted.before.get(row).copied().flatten());
                    let order = emitted.times.get(row).copied().unwrap_or(emitted.time);
                    out.push((order, format!("{} after {before}", cells.collect::<Vec<_>>().join(" "))));
                }
                Ok(())
            };
            watermark = start;
            for chunk in block.chunks(size) {
                let (all, hashes) = rows(spec, chunk);
                let own: Vec<usize> =
                    (0..chunk.len()).filter(|&row| groups.owner_of(hashes[row]) as usize == shard).collect();
                let mut marks: Vec<Mark> = Vec::new();
                for (row, &(_, _, time)) in chunk.iter().enumerate() {
                    if watermark != Watermark::MIN {
                        let row = own.iter().filter(|&&other| other < row).count() as u32;
                        marks.push(Mark { row, watermark });
                    }
                    if number > 0 {
                        watermark = watermark.max(Watermark(time - delay));
                    }
                }
                let picked = arrow::array::UInt32Array::from_iter_values(own.iter().map(|&row| row as u32));
                let rows = arrow::compute::take_record_batch(&all, &picked).unwrap();
                let hashes = own.iter().map(|&row| hashes[row]).collect();
                operator.process(*side, &EventBatch { rows, hashes, marks }, &mut emit).unwrap();
            }
            if number + 1 == blocks.len() {
                watermark = Watermark::MAX;
            }
            operator.advance(watermark, &mut emit).unwrap();
        }
        out.sort_by_key(|(order, _)| *order);
        played.push(out.into_iter().map(|(_, row)| row).collect());
    }
    played
}

/// All rows that come out, without what the operator had handed on by then.
fn pairs(spec: &JoinSpec, blocks: &[Block], delay: i64) -> Vec<String> {
    let all = play(spec, blocks, delay, (1, 100)).concat();
    let mut rows: Vec<String> = all.iter().map(|row| row.split(" after").next().unwrap().to_string()).collect();
    rows.sort();
    rows
}

/// As Flink answers where the versions are all there first.
#[test]
fn a_late_row_meets_the_versions_that_are_left() {
    let versions = [(2_000, 10), (5_000, 20), (9_500, 30), (11_000, 40)];
    let right = versions.map(|(time, value)| (1, value, time)).to_vec();
    let times = [4_000, 9_000, 5_000, 2_000, 10_000, 11_000, 3_000, 3_000, 12_000];
    let left: Vec<Timed> = times.iter().zip(1..).map(|(&time, value)| (1, value, time)).collect();
    for delay in [0, 2_000] {
        let got = pairs(&temporal(JoinKind::Left, false), &[(1, right.clone()), (0, left.clone())], delay);
        assert_eq!(got, ["1 10", "2 20", "3 20", "4 -", "5 30", "6 40", "7 -", "8 -", "9 40"], "{delay}");
    }
}

#[test]
fn versions_out_of_order_count_unless_a_view_passes_them_over() {
    let blocks =
        [(0, vec![(1, 1, 3), (1, 2, 5), (1, 3, 7)]), (1, vec![(1, 10, 6), (1, 11, 2), (1, 12, 4), (1, 13, 9)])];
    assert_eq!(pairs(&temporal(JoinKind::Left, false), &blocks, 50), ["1 11", "2 12", "3 10"]);
    assert_eq!(pairs(&temporal(JoinKind::Left, true), &blocks, 50), ["1 -", "2 -", "3 10"]);
    assert_eq!(pairs(&temporal(JoinKind::Inner, true), &blocks, 50), ["3 10"]);
}

#[test]
fn rows_in_time_meet_all_that_are_near() {
    for seed in 1..30 {
        let mut dice = Dice(seed);
        let mut draw = |count: u64| -> Vec<Timed> {
            (0..count).map(|at| (dice.below(4) as i64, at as i64, 1_000 + dice.below(60) as i64)).collect()
        };
        let (left, right) = (draw(40), draw(30));
        for (lower, upper) in [(-3, 5), (2, 9), (-7, -2), (0, 0), (4, 1)] {
            let mut expected: Vec<String> = Vec::new();
            let meet = |l: &Timed, r: &Timed| l.0 == r.0 && (lower..=upper).contains(&(l.2 - r.2));
            for l in &left {
                expected.extend(right.iter().filter(|r| meet(l, r)).map(|r| format!("{} {}", l.1, r.1)));
            }
            expected.extend(left.iter().filter(|l| !right.iter().any(|r| meet(l, r))).map(|l| format!("{} -", l.1)));
            expected.extend(right.iter().filter(|r| !left.iter().any(|l| meet(l, r))).map(|r| format!("- {}", r.1)));
            expected.sort();
            let blocks = [(0, left.clone()), (1, right.clone())];
            assert_eq!(
                pairs(&interval(JoinKind::Full, lower, upper), &blocks, 100),
                expected,
                "{seed} {lower} {upper}"
            );
        }
    }
}

#[test]
fn shards_and_batches_make_no_difference() {
    for seed in 1..40 {
        let mut dice = Dice(seed);
        let mut block = |side: usize| -> Block {
            let row = |at: i64, dice: &mut Dice| (dice.below(5) as i64, at, 1 + at * 2 + dice.below(30) as i64);
            (side, (0..40).map(|at| row(at, &mut dice)).collect())
        };
        let blocks: Vec<Block> = [0, 1, 0, 1, 1, 0].map(&mut block).to_vec();
        for spec in [
            interval(JoinKind::Full, -4, 6),
            interval(JoinKind::Left, 1, 9),
            temporal(JoinKind::Left, false),
            temporal(JoinKind::Left, true),
        ] {
            let one = play(&spec, &blocks, 5, (1, 100));
            assert_eq!(one, play(&spec, &blocks, 5, (1, 1)), "{seed}");
            assert_eq!(one, play(&spec, &blocks, 5, (3, 100)), "{seed}");
            assert_eq!(one, play(&spec, &blocks, 5, (3, 7)), "{seed}");
            assert!(one.concat().len() > 40);
        }
    }
}

#[test]
fn rows_that_are_given_up_leave_memory() {
    let block = |side: usize, at: i64| -> Block { (side, (0..500).map(|i| (i % 3, i, at * 500 + i)).collect()) };
    let blocks: Vec<Block> = (1..200).map(|at| block((at % 2) as usize, at)).collect();
    for spec in [interval(JoinKind::Full, -4, 6), temporal(JoinKind::Left, false)] {
        let mut operator = operator(&spec, &context()).unwrap();
        let mut most = 0;
        for (side, block) in &blocks {
            let (rows, hashes) = rows(&spec, block);
            let watermark = Watermark(block[0].2);
            operator.process(*side, &EventBatch { rows, hashes, marks: Vec::new() }, &mut |_| Ok(())).unwrap();
            operator.advance(watermark, &mut |_| Ok(())).unwrap();
            most = most.max(operator.state_bytes());
        }
        assert!(most < 2_000_000, "{most}");
    }
}
