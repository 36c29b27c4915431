//! The arithmetic of windows that lie on a fixed grid.

use crate::error::{Error, Result};
use crate::plan::WindowSpec;
use crate::time::window_start;

/// Windows `[start, start + size)` for every start on the grid `offset + k * slide`, in slices of `slice`
/// milliseconds that no window cuts. A cumulating grid has, for every such window (slide = size), also its beginnings
/// of 1, 2, ... slices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Grid {
    pub size: i64,
    pub slide: i64,
    pub offset: i64,
    pub slice: i64,
    pub cumulates: bool,
}

impl Grid {
    /// `None` for windows that are not on a grid.
    ///
    /// # Errors
    /// Internal for sizes below 1, which the front end refuses.
    pub(super) fn of(window: &WindowSpec) -> Result<Option<Self>> {
        let (size, slide, offset, cumulates) = match *window {
            WindowSpec::Tumble { size_ms, offset_ms } => (size_ms, size_ms, offset_ms, false),
            WindowSpec::Hop { size_ms, slide_ms, offset_ms } => (size_ms, slide_ms, offset_ms, false),
            WindowSpec::Cumulate { size_ms, step_ms, offset_ms } => (size_ms, step_ms, offset_ms, true),
            WindowSpec::Session { .. } | WindowSpec::Attached { .. } => return Ok(None),
        };
        if size < 1 || slide < 1 || (cumulates && size % slide != 0) {
            return Err(Error::internal(format!("a window of {size} ms every {slide} ms")));
        }
        Ok(Some(if cumulates {
            Grid { size, slide: size, offset, slice: slide, cumulates }
        } else {
            Grid { size, slide, offset, slice: gcd(size, slide), cumulates }
        }))
    }

    /// Start of the slice that holds a time.
    pub(super) fn slice_of(&self, time: i64) -> i64 {
        window_start(time, self.offset, self.slice)
    }

    /// Start of the last window that starts at or before a time.
    pub(super) fn last_start(&self, time: i64) -> i64 {
        window_start(time, self.offset, self.slide)
    }

    /// End of the first window that has the slice; `None` if it lies in a gap between windows.
    pub(super) fn first_end(&self, slice: i64) -> Option<i64> {
        self.last_end(slice)?;
        if self.cumulates {
            return Some(slice.saturating_add(self.slice));
        }
        let before = self.last_start(slice.saturating_sub(self.size));
        Some(before.saturating_add(self.slide).saturating_add(self.size))
    }

    /// End of the last window that has the slice; `None` if it lies in a gap between windows.
    pub(super) fn last_end(&self, slice: i64) -> Option<i64> {
        let end = self.last_start(slice).saturating_add(self.size);
        (end > slice).then_some(end)
    }

    /// The first window end after a time.
    pub(super) fn next_end(&self, time: i64) -> i64 {
        if self.cumulates {
            return self.slice_of(time).saturating_add(self.slice);
        }
        let before = self.last_start(time.saturating_sub(self.size));
        before.saturating_add(self.slide).saturating_add(self.size)
    }

    /// Number of a slice, in order.
    pub(super) fn number(&self, slice: i64) -> i64 {
        slice.saturating_sub(self.offset).div_euclid(self.slice)
    }

    /// Start of the slice of a number.
    pub(super) fn start(&self, number: i64) -> i64 {
        number.saturating_mul(self.slice).saturating_add(self.offset)
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hop(size_ms: i64, slide_ms: i64, offset_ms: i64) -> Grid {
        Grid::of(&WindowSpec::Hop { size_ms, slide_ms, offset_ms }).unwrap().unwrap()
    }

    #[test]
    fn first_and_last_windows_of_a_slice_agree_with_a_search() {
        for (size, slide, offset) in [(10, 5, 0), (10, 10, 3), (1600, 700, 0), (6, 4, -1), (3, 7, 2), (12, 1, 0)] {
            let grid = hop(size, slide, offset);
            for time in -40..40 {
                let slice = grid.slice_of(time);
                let starts = (-9000..9000).map(|k| k * slide + offset);
                let ends: Vec<i64> =
                    starts.filter(|&start| start <= time && time < start + size).map(|start| start + size).collect();
                assert_eq!(grid.first_end(slice), ends.first().copied(), "{grid:?} {time}");
                assert_eq!(grid.last_end(slice), ends.last().copied(), "{grid:?} {time}");
                let next = (-9000..9000).map(|k| k * slide + offset + size).find(|&end| end > time).unwrap();
                assert_eq!(grid.next_end(time), next);
                assert_eq!(grid.start(grid.number(slice)), slice);
            }
        }
    }

    #[test]
    fn field_case_43_far_from_the_origin_and_slide_not_dividing_size() {
        let grid = hop(1600, 700, 0);
        let slice = grid.slice_of(1_709_315_512_577);
        assert_eq!(grid.first_end(slice), Some(1_709_315_513_000));
        assert_eq!(grid.last_end(slice), Some(1_709_315_513_700));
    }

    #[test]
    fn the_limits_of_time_saturate() {
        let cumulate = WindowSpec::Cumulate { size_ms: 30, step_ms: 10, offset_ms: 0 };
        for grid in [hop(10, 5, 3), Grid::of(&cumulate).unwrap().unwrap()] {
            for time in [i64::MIN, i64::MIN + 7, i64::MAX - 7, i64::MAX] {
                let slice = grid.slice_of(time);
                assert!(slice <= time);
                grid.first_end(slice);
                grid.next_end(time);
                grid.number(slice);
            }
        }
    }
}
