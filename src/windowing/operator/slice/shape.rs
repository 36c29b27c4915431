//! Slices by number, and the windows that are made of them.

use crate::time::{EventTime, Grid, Watermark};
use crate::windowing::window::TimeWindow;

/// Slice `n` holds the times `[offset + n * slice, offset + (n + 1) * slice)`. A window is a run of slices; it is known
/// by its end, the number of the first slice behind it. Windows that do not lie within the times of an `i64` do not
/// exist.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    slice: i64,
    offset: i64,
    /// Slices of a window; of the longest, for cumulating ones.
    length: i64,
    /// From one end to the next.
    step: i64,
    cumulates: bool,
    /// The ends of the first and the last window that there are.
    bounds: (i64, i64),
}

impl Shape {
    pub fn new(grid: Grid) -> Self {
        let step = if grid.cumulates { 1 } else { grid.slide / grid.slice };
        let Grid { slice, cumulates, .. } = grid;
        // The same grid, with an offset that is not negative.
        let offset = grid.offset.rem_euclid(grid.slide);
        let grid = Grid { offset, ..grid };
        Shape { slice, offset, length: grid.size / slice, step, cumulates, bounds: bounds(grid) }
    }

    pub fn cumulates(&self) -> bool {
        self.cumulates
    }
    /// No slice is in two windows that begin at different times.
    pub fn is_disjoint(&self) -> bool {
        self.cumulates || self.step >= self.length
    }
    /// From the end of a window to that of the next.
    pub fn step(&self) -> i64 {
        self.step
    }

    /// The slice that holds a time. `i64::MIN` for times before the offset's like at the beginning of time: no window
    /// is there.
    #[inline]
    pub fn number(&self, time: EventTime) -> i64 {
        time.checked_sub(self.offset).map_or(i64::MIN, |time| time.div_euclid(self.slice))
    }
    /// Where a slice starts.
    pub fn time(&self, number: i64) -> EventTime {
        let time = i128::from(number) * i128::from(self.slice) + i128::from(self.offset);
        time.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
    }

    /// The ends of the first and the last window that have the slice; `None` if none has it.
    pub fn ends(&self, number: i64) -> Option<(i64, i64)> {
        let last = match self.cumulates {
            true => number.div_euclid(self.length).saturating_add(1).saturating_mul(self.length),
            false => number.div_euclid(self.step).saturating_mul(self.step).saturating_add(self.length),
        };
        let (first, last) = (self.end_after(number).max(self.bounds.0), last.min(self.bounds.1));
        (number < first && first <= last && number > i64::MIN).then_some((first, last))
    }
    /// The first end of a window behind the start of slice `number`.
    pub fn end_after(&self, number: i64) -> i64 {
        if self.cumulates {
            return number.saturating_add(1);
        }
        let before = number.saturating_sub(self.length).div_euclid(self.step);
        before.saturating_add(1).saturating_mul(self.step).saturating_add(self.length)
    }
    /// The first slice of the window with this end.
    pub fn start(&self, end: i64) -> i64 {
        if self.cumulates {
            return end.saturating_sub(1).div_euclid(self.length).saturating_mul(self.length);
        }
        end.saturating_sub(self.length)
    }
    pub fn window(&self, end: i64) -> TimeWindow {
        TimeWindow { start: self.time(self.start(end)), end: self.time(end) }
    }

    /// The last slice boundary that the watermark closes: windows that end there or before are complete.
    pub fn horizon(&self, watermark: Watermark) -> i64 {
        if watermark == Watermark::MAX {
            return i64::MAX;
        }
        self.number(watermark.0 + 1)
    }
    /// The watermark at which the horizon lies behind `number`.
    pub fn closed_at(&self, number: i64) -> Watermark {
        Watermark(self.time(number.saturating_add(1)).saturating_sub(1))
    }

    /// Where the halves of a window meet. Windows that overlap are put together from the end of one block of `length`
    /// slices and the beginning of the next: every window has the start of exactly one block in it (or at its own).
    pub fn seam(&self, end: i64) -> i64 {
        let start = self.start(end);
        if self.is_disjoint() {
            return start;
        }
        start.saturating_add(self.length - 1).div_euclid(self.length).saturating_mul(self.length)
    }
}

/// The ends of the first and the last window that lie within the times of an `i64`.
fn bounds(grid: Grid) -> (i64, i64) {
    let [min, max, size, slide, offset, slice] =
        [i64::MIN, i64::MAX, grid.size, grid.slide, grid.offset, grid.slice].map(i128::from);
    let first_start = -(offset - min).div_euclid(slide) * slide;
    let first = first_start + if grid.cumulates { slice } else { size };
    // Of a cumulating grid's last stretch only the windows up to the end of time are there.
    let last = match grid.cumulates {
        true => (max - offset).div_euclid(slice) * slice,
        false => (max - offset - size).div_euclid(slide) * slide + size,
    };
    let number = |end: i128| (end / slice).clamp(min, max) as i64;
    (number(first), number(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shapes() -> Vec<(Grid, Shape)> {
        let sliding = [(10, 5, 0), (10, 10, 3), (16, 7, 0), (6, 4, -1), (3, 7, 2), (12, 1, 0), (10, 15, 4)];
        let cumulating = [(12, 3, 0), (10, 5, -2), (4, 4, 1)];
        let grids = sliding.iter().map(|&(size, slide, offset)| Grid::sliding(size, slide, offset));
        let grids = grids.chain(cumulating.iter().map(|&(size, step, offset)| Grid::cumulating(size, step, offset)));
        grids.map(|grid| (grid, Shape::new(grid))).collect()
    }

    #[test]
    fn it_agrees_with_the_grid() {
        for (grid, shape) in shapes() {
            for time in -60..60 {
                let number = shape.number(time);
                let slice = grid.slice_of(time);
                assert_eq!(shape.time(number), slice);
                let ends = shape.ends(number).map(|(first, last)| (shape.time(first), shape.time(last)));
                assert_eq!(ends, grid.first_end(slice).zip(grid.last_end(slice)), "{grid:?} {time}");
                if let Some((first, last)) = shape.ends(number) {
                    for end in (first..=last).step_by(shape.step() as usize) {
                        let seam = shape.seam(end);
                        assert!(shape.start(end) <= seam && seam < end && shape.start(end) <= number);
                    }
                }
                let horizon = shape.horizon(Watermark(time));
                assert!(shape.time(horizon) - 1 <= time && shape.time(horizon + 1) - 1 > time);
                assert_eq!(shape.closed_at(horizon).0, shape.time(horizon + 1) - 1);
            }
        }
    }

    #[test]
    fn at_the_limits_of_time_there_are_the_windows_that_fit() {
        for (grid, shape) in shapes() {
            for time in [i64::MIN, i64::MIN + 7, i64::MIN + 40, i64::MAX - 40, i64::MAX - 7, i64::MAX] {
                let number = shape.number(time);
                if let Some((first, last)) = shape.ends(number) {
                    assert!(shape.time(number) <= time);
                    for end in (first..=last).step_by(shape.step() as usize) {
                        let window = shape.window(end);
                        assert!(window.start <= time && time < window.end, "{grid:?} {time}");
                        assert!(grid.cumulates || window.end - window.start == grid.size, "{grid:?} {window:?}");
                    }
                }
                shape.closed_at(shape.horizon(Watermark(time)));
            }
        }
    }
}
