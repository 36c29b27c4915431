//! Rows that come too late: counted and, where somebody asks, written down.

use arrow::array::RecordBatch;

use super::assigner;
use super::rows::{local_times, times};
use super::zone::Scale;
use crate::error::Result;
use crate::plan::{Lateness, WindowSpec};
use crate::snapshot::Archive;
use crate::time::Watermark;

/// A row that an operator does without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LateRow {
    /// Its number in the batch.
    pub row: u32,
    /// All its windows had fired; else some of them.
    pub dropped: bool,
}

/// The late rows of an operator.
#[derive(Debug, Default)]
pub struct Late {
    dropped: u64,
    rows: Option<Vec<LateRow>>,
}

impl Late {
    /// From now on the rows are written down, those too that miss only some of their windows.
    pub fn write_down(&mut self) {
        self.rows.get_or_insert_default();
    }

    /// Those written down since the last time.
    pub fn take(&mut self) -> Vec<LateRow> {
        self.rows.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Rows dropped so far.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Names what was counted.
    pub(super) fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        archive.numbers([&mut self.dropped])
    }

    /// Takes over what another has counted.
    pub(super) fn take_over(&mut self, other: &Late) {
        self.dropped += other.dropped;
    }

    /// Counts rows all of whose windows have fired.
    pub(super) fn drop_rows(&mut self, rows: impl Iterator<Item = usize>) {
        match &mut self.rows {
            None => self.dropped += rows.count() as u64,
            Some(written) => {
                let before = written.len();
                written.extend(rows.map(|row| LateRow { row: row as u32, dropped: true }));
                self.dropped += (written.len() - before) as u64;
            }
        }
    }

    /// Writes down rows that some of their windows still take.
    pub(super) fn miss_some(&mut self, rows: impl Iterator<Item = usize>) {
        if let Some(written) = &mut self.rows {
            written.extend(rows.map(|row| LateRow { row: row as u32, dropped: false }));
        }
    }
}

/// The windows that a late row missed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Missed {
    /// Start and end on the clock that windows are cut on, in order of their ends; at most [`Missed::SHOWN`].
    pub windows: Vec<(i64, i64)>,
    /// All that it missed.
    pub count: u64,
    /// All that it has; 0 where rows have none.
    pub of: u64,
}

impl Missed {
    /// Windows that are named one by one.
    pub const SHOWN: usize = 10;
}

/// Says which windows the late rows of an operator missed.
#[derive(Debug)]
pub struct Misses {
    window: Option<WindowSpec>,
    time: usize,
    /// How long windows take rows after they have fired, in milliseconds.
    allowed: i64,
    scale: Scale,
}

impl Misses {
    /// # Errors
    /// Script for an unknown zone.
    pub fn new(lateness: Lateness<'_>) -> Result<Self> {
        Ok(match lateness {
            Lateness::Windows { window, time, zone, allowed_ms } => {
                Misses { window: Some(window.clone()), time, allowed: allowed_ms, scale: Scale::new(zone)? }
            }
            Lateness::RowTime { .. } | Lateness::EveryWatermark | Lateness::Never => {
                Misses { window: None, time: 0, allowed: 0, scale: Scale::new(None)? }
            }
        })
    }

    /// The windows of a row that took no more rows at this watermark.
    ///
    /// # Errors
    /// Internal if the columns of the time or the window are not there.
    pub fn of(&mut self, rows: &RecordBatch, row: usize, watermark: Watermark) -> Result<Missed> {
        let Some(window) = &self.window else { return Ok(Missed::default()) };
        if let WindowSpec::Attached { start, end } = window {
            let bounds = (times(rows, *start)?[row], times(rows, *end)?[row]);
            return Ok(Missed { windows: vec![bounds], count: 1, of: 1 });
        }
        let time = local_times(&rows.slice(row, 1), self.time, &mut self.scale)?[0];
        if let WindowSpec::Session { gap_ms } = window {
            return Ok(Missed { windows: vec![(time, time.saturating_add(*gap_ms))], count: 1, of: 1 });
        }
        let (horizon, allowed) = (self.scale.horizon(watermark), self.allowed);
        let mut missed = Missed::default();
        assigner::for_each_window(window, time, &mut |start, end| {
            missed.of += 1;
            if end.saturating_add(allowed) <= horizon {
                missed.windows.push((start, end));
            }
        });
        missed.windows.sort_unstable_by_key(|&(start, end)| (end, start));
        missed.count = missed.windows.len() as u64;
        missed.windows.truncate(Missed::SHOWN);
        Ok(missed)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, TimestampMillisecondArray};

    use super::*;

    #[test]
    fn of_many_windows_the_first_ten_are_named() {
        let window = WindowSpec::Hop { size_ms: 100, slide_ms: 5, offset_ms: 0 };
        let column: ArrayRef = Arc::new(TimestampMillisecondArray::from(vec![102]));
        let rows = RecordBatch::try_from_iter([("ts", column)]).unwrap();
        let mut misses =
            Misses::new(Lateness::Windows { window: &window, time: 0, zone: None, allowed_ms: 0 }).unwrap();
        let missed = misses.of(&rows, 0, Watermark(179)).unwrap();
        assert_eq!((missed.count, missed.of, missed.windows.len()), (16, 20, Missed::SHOWN));
        assert_eq!(missed.windows[0], (5, 105));
        assert_eq!(misses.of(&rows, 0, Watermark(109)).unwrap().windows, [(5, 105), (10, 110)]);
    }

    #[test]
    fn rows_are_written_down_only_where_somebody_asks() {
        let mut late = Late::default();
        late.drop_rows(0..2);
        late.miss_some(0..2);
        assert_eq!((late.take(), late.dropped()), (Vec::new(), 2));
        late.write_down();
        late.drop_rows(3..4);
        late.miss_some(5..6);
        assert_eq!(late.take(), [LateRow { row: 3, dropped: true }, LateRow { row: 5, dropped: false }]);
        assert_eq!((late.take(), late.dropped()), (Vec::new(), 3));
    }
}
