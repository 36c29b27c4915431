//! Accumulators that are fed in bulk and row by row, in turns, as windows do that take late rows.

use super::random::Dice;
use super::restored::{all_calls, odd_rows};
use super::*;
use crate::aggregate::Run;
use crate::random::Random;
use crate::state::accumulators;
use crate::state::table::Inputs;

const GROUPS: [u32; 3] = [0, 1, 2];

#[test]
fn rows_in_bulk_and_rows_one_by_one_make_the_same_results() {
    for seed in 0..10 {
        let rows = odd_rows(&mut Dice(Random::new(seed)));
        let batch = batch_of(&rows, &input(false));
        for call in all_calls() {
            let calls = [call];
            let [mut bulk, mut mixed] = [0, 1].map(|_| accumulators(&calls).unwrap().remove(0));
            [&mut bulk, &mut mixed].into_iter().for_each(|accumulator| accumulator.resize(GROUPS.len()));
            for (turn, from) in (0..rows.len()).step_by(7).enumerate() {
                let length = 7.min(rows.len() - from);
                let groups: Vec<u32> = (from..from + length).map(|row| row as u32 % 3).collect();
                let mut inputs = Inputs::of(&calls, batch.slice(from, length).columns(), length).unwrap();
                let (args, filter) = inputs.columns.remove(0);
                bulk.update(&groups, &args, filter.as_ref()).unwrap();
                match turn % 2 {
                    0 => mixed.update(&groups, &args, filter.as_ref()).unwrap(),
                    _ => drop(mixed.run(&Run { groups: &groups, args: &args, filter: None, steps: &[] }).unwrap()),
                }
                let [expected, got] = [&bulk, &mixed].map(|accumulator| accumulator.result(&GROUPS).unwrap());
                // Bits decide: NaN is not equal to itself.
                assert_eq!(format!("{got:?}"), format!("{expected:?}"), "seed {seed}, {calls:?}");
            }
        }
    }
}
