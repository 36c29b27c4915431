//! Which rows of a batch need a mark.

use arrow::array::RecordBatch;

use super::grids::grid_of;
use super::rows::{local_times, times};
use super::zone::Scale;
use crate::error::{Error, Result};
use crate::plan::{Lateness, WindowSpec};
use crate::time::{Grid, Watermark};

/// Says, for each row, the horizon from which on a window that would take it may have fired.
///
/// For whoever builds an [`EventBatch`](crate::batch::EventBatch): row `i`, before which the watermark was `w`, gets a
/// mark exactly if `deadlines[i] <= horizon(w)`. Watermarks ascend, so a batch whose smallest deadline is above the
/// horizon of its last watermark has no mark at all.
#[derive(Debug, Clone)]
pub struct Deadlines {
    kind: Kind,
    time: usize,
    scale: Scale,
    in_zone: bool,
    /// How long windows take rows after they have fired.
    allowed_ms: i64,
}

#[derive(Debug, Clone)]
enum Kind {
    Grid(Grid),
    /// A session that ends at the row's own time would still merge with it.
    Session {
        gap: i64,
    },
    Attached(usize),
    /// The row's own time counts; `every`: every row gets a mark.
    RowTime {
        every: bool,
    },
    /// All watermarks are marked.
    Watermarks,
    Never,
}

impl Deadlines {
    /// # Errors
    /// As [`operator`](super::operator).
    pub fn new(lateness: Lateness<'_>) -> Result<Self> {
        let (window, time, zone, allowed_ms) = match lateness {
            Lateness::Windows { window, time, zone, allowed_ms } => (window, time, zone, allowed_ms),
            Lateness::RowTime { time, every } => {
                return Ok(Deadlines {
                    kind: Kind::RowTime { every },
                    time,
                    scale: Scale::new(None)?,
                    in_zone: false,
                    allowed_ms: 0,
                });
            }
            Lateness::EveryWatermark | Lateness::Never => {
                let every = matches!(lateness, Lateness::EveryWatermark);
                return Ok(Deadlines {
                    kind: if every { Kind::Watermarks } else { Kind::Never },
                    time: 0,
                    scale: Scale::new(None)?,
                    in_zone: false,
                    allowed_ms: 0,
                });
            }
        };
        let kind = match (window, grid_of(window)?) {
            (_, Some(grid)) => Kind::Grid(grid),
            (WindowSpec::Attached { end, .. }, None) => Kind::Attached(*end),
            (WindowSpec::Session { gap_ms }, None) => Kind::Session { gap: *gap_ms },
            (_, None) => return Err(Error::internal("a window of no kind")),
        };
        Ok(Deadlines { kind, time, scale: Scale::new(zone)?, in_zone: zone.is_some(), allowed_ms })
    }

    /// All windows that end at or before it have fired at this watermark.
    pub fn horizon(&mut self, watermark: Watermark) -> i64 {
        self.scale.horizon(watermark)
    }

    /// Whether every watermark is marked, also where no row of the batch comes under it.
    pub fn wants_watermarks(&self) -> bool {
        matches!(self.kind, Kind::Watermarks)
    }

    /// Whether any row of a batch may need a mark, by its lowest time and the watermark after it: cheaper than
    /// looking at every row, and never false where one does.
    pub fn may_be_behind(&self, lowest_time: i64, watermark: Watermark) -> bool {
        let first_end = match self.kind {
            // The rows' own windows decide; their ends are not known from a time.
            Kind::Attached(_) | Kind::RowTime { every: true } | Kind::Watermarks => return true,
            Kind::RowTime { every: false } => lowest_time.saturating_add(1),
            Kind::Never => return false,
            Kind::Grid(grid) if !self.in_zone => grid.next_end(lowest_time),
            // No window that holds an instant ends before it, whatever the zone does to its clocks.
            Kind::Grid(_) | Kind::Session { .. } => lowest_time,
        };
        watermark.closes(first_end)
    }

    /// Appends one deadline a row: the end of the first window that would take it.
    ///
    /// # Errors
    /// Internal if the time column is missing or of another type, data if it has NULLs.
    pub fn of(&mut self, rows: &RecordBatch, out: &mut Vec<i64>) -> Result<()> {
        match self.kind {
            Kind::Attached(end) => out.extend_from_slice(&times(rows, end)?),
            Kind::Never => out.resize(out.len() + rows.num_rows(), i64::MAX),
            Kind::Session { .. } => out.extend_from_slice(&local_times(rows, self.time, &mut self.scale)?),
            Kind::RowTime { every: true } | Kind::Watermarks => out.resize(out.len() + rows.num_rows(), i64::MIN),
            Kind::RowTime { every: false } => {
                out.extend(times(rows, self.time)?.iter().map(|time| time.saturating_add(1)));
            }
            Kind::Grid(grid) => {
                let times = local_times(rows, self.time, &mut self.scale)?;
                let (mut slice, mut deadline) = (i64::MAX, i64::MAX);
                out.extend(times.iter().map(|&time| {
                    if time < slice || time >= slice.saturating_add(grid.slice) {
                        slice = grid.slice_of(time);
                        deadline = grid.first_end(slice).unwrap_or(i64::MAX);
                    }
                    deadline
                }));
            }
        }
        Ok(())
    }

    /// One time a row: the row is late where that is at or before the horizon. A row that may yet join a session that
    /// is open is not, so of sessions these are the earliest such times. Nothing for rows that carry their windows, and
    /// where the operator alone knows.
    ///
    /// # Errors
    /// As [`Deadlines::of`].
    pub fn last_ends(&mut self, rows: &RecordBatch) -> Result<Vec<i64>> {
        if matches!(self.kind, Kind::Attached(_) | Kind::Never | Kind::Watermarks | Kind::RowTime { every: true }) {
            return Ok(Vec::new());
        }
        let times = local_times(rows, self.time, &mut self.scale)?;
        Ok(match self.kind {
            Kind::Grid(grid) => {
                let last = |time: i64| grid.last_end(grid.slice_of(time)).unwrap_or(i64::MAX);
                times.iter().map(|&time| last(time).saturating_add(self.allowed_ms)).collect()
            }
            Kind::Session { gap } => times.iter().map(|&time| time.saturating_add(gap)).collect(),
            Kind::RowTime { .. } => times.iter().map(|&time| time.saturating_add(1)).collect(),
            Kind::Attached(_) | Kind::Watermarks | Kind::Never => Vec::new(),
        })
    }
}
