//! What the jobs that SQL does not have must answer, by plain loops over the made rows. No row is late.

use std::collections::BTreeMap;

use super::job::Job;
use crate::workload::Spec;
use crate::workload::generate::Generator;
use crate::workload::reference::{self, ResultRow, Totals};

/// Of `count-trigger`: a result every so many elements of a key and minute.
pub const EARLY_COUNT: u64 = 2;
/// Elements of a window of `count-window`.
pub const COUNT_WINDOW: usize = 100;
/// Elements that the evictor leaves in a window.
pub const KEPT: usize = 2;
const MINUTE_MS: i64 = 60_000;

/// # Errors
/// More keys than the check has memory for.
pub fn totals(spec: &Spec, job: Job) -> Result<Totals, String> {
    if let Some(query) = job.query() {
        return Ok(reference::answer(spec, query)?.totals);
    }
    let mut answer = Totals::default();
    match job {
        Job::CountWindow => count_windows(spec, &mut answer),
        Job::CountTrigger => minutes(spec, &mut answer, |cell, row, answer| {
            cell.count += 1;
            cell.sum += row.sum;
            if cell.count.is_multiple_of(EARLY_COUNT) {
                answer.add(ResultRow { count: cell.count, sum: cell.sum, ..row });
            }
        }),
        _ => minutes(spec, &mut answer, |cell, row, _| {
            cell.count += 1;
            cell.last[(cell.count % KEPT as u64) as usize] = row.sum;
        }),
    }
    Ok(answer)
}

/// What is known of a key's minute.
#[derive(Debug, Clone, Default)]
struct Cell {
    count: u64,
    sum: i64,
    last: [i64; KEPT],
}

/// Shows each row (with its value as the sum) to its key's minute. What `last` holds at the end is a result.
fn minutes(spec: &Spec, answer: &mut Totals, mut take: impl FnMut(&mut Cell, ResultRow, &mut Totals)) {
    let mut open: BTreeMap<i64, Vec<Cell>> = BTreeMap::new();
    for chunk in Generator::new(spec).chunks() {
        for ((&ts, &key), &value) in chunk.ts.iter().zip(&chunk.key).zip(&chunk.value) {
            let start_ms = ts.div_euclid(MINUTE_MS) * MINUTE_MS;
            let cells = open.entry(start_ms).or_insert_with(|| vec![Cell::default(); spec.keys as usize]);
            let row = ResultRow { key, start_ms, end_ms: start_ms + MINUTE_MS, count: 1, sum: value };
            take(&mut cells[key as usize], row, answer);
        }
        // Disorder is less than a chunk of time.
        while open.len() > 3 {
            close(open.pop_first(), answer);
        }
    }
    while let Some(minute) = open.pop_first() {
        close(Some(minute), answer);
    }
}

fn close(minute: Option<(i64, Vec<Cell>)>, answer: &mut Totals) {
    let Some((start_ms, cells)) = minute else { return };
    for (key, cell) in cells.iter().enumerate().filter(|(_, cell)| cell.last != [0; KEPT]) {
        let (count, sum) = (cell.count.min(KEPT as u64), cell.last.iter().sum());
        answer.add(ResultRow { key: key as i64, start_ms, end_ms: start_ms + MINUTE_MS, count, sum });
    }
}

fn count_windows(spec: &Spec, answer: &mut Totals) {
    let mut cells = vec![(0, 0); spec.keys as usize];
    for chunk in Generator::new(spec).chunks() {
        for (&key, &value) in chunk.key.iter().zip(&chunk.value) {
            let (count, sum) = &mut cells[key as usize];
            *count += 1;
            *sum += value;
            if *count == COUNT_WINDOW {
                answer.add(ResultRow { key, start_ms: 0, end_ms: 0, count: COUNT_WINDOW as u64, sum: *sum });
                (*count, *sum) = (0, 0);
            }
        }
    }
}
