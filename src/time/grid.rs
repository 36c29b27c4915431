//! The arithmetic of windows that lie on a fixed grid.

use super::window_start;

/// Windows `[start, start + size)` for every start on the grid `offset + k * slide`, in slices of `slice`
/// milliseconds that no window cuts. A cumulating grid has, for every such window (slide = size), also its beginnings
/// of 1, 2, ... slices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    pub size: i64,
    pub slide: i64,
    pub offset: i64,
    pub slice: i64,
    pub cumulates: bool,
}

impl Grid {
    /// Windows of `size` every `slide` milliseconds, tumbling ones where both are equal.
    ///
    /// # Panics
    /// If either is below 1.
    pub fn sliding(size: i64, slide: i64, offset: i64) -> Self {
        assert!(size > 0 && slide > 0, "a window of {size} ms every {slide} ms");
        Grid { size, slide, offset, slice: gcd(size, slide), cumulates: false }
    }

    /// Windows that grow by `step` until they are `size` milliseconds long.
    ///
    /// # Panics
    /// If either is below 1, or the size is no multiple of the step.
    pub fn cumulating(size: i64, step: i64, offset: i64) -> Self {
        assert!(size > 0 && step > 0 && size % step == 0, "a window of {size} ms that grows by {step} ms");
        Grid { size, slide: size, offset, slice: step, cumulates: true }
    }

    /// Whether windows have slices in common with others, or are made of several; else each is one slice.
    pub fn shares_slices(&self) -> bool {
        self.size != self.slice
    }

    /// Start of the slice that holds a time.
    #[inline]
    pub fn slice_of(&self, time: i64) -> i64 {
        window_start(time, self.offset, self.slice)
    }

    /// Start of the last window that starts at or before a time.
    #[inline]
    pub fn last_start(&self, time: i64) -> i64 {
        window_start(time, self.offset, self.slide)
    }

    /// End of the first window that has the slice; `None` if it lies in a gap between windows.
    #[inline]
    pub fn first_end(&self, slice: i64) -> Option<i64> {
        self.last_end(slice)?;
        if self.cumulates {
            return Some(slice.saturating_add(self.slice));
        }
        let before = self.last_start(slice.saturating_sub(self.size));
        Some(before.saturating_add(self.slide).saturating_add(self.size))
    }

    /// End of the last window that has the slice; `None` if it lies in a gap between windows.
    #[inline]
    pub fn last_end(&self, slice: i64) -> Option<i64> {
        let end = self.last_start(slice).saturating_add(self.size);
        (end > slice).then_some(end)
    }

    /// The first window end after a time.
    #[inline]
    pub fn next_end(&self, time: i64) -> i64 {
        if self.cumulates {
            return self.slice_of(time).saturating_add(self.slice);
        }
        let before = self.last_start(time.saturating_sub(self.size));
        before.saturating_add(self.slide).saturating_add(self.size)
    }

    /// Number of a slice, in order.
    #[inline]
    pub fn number(&self, slice: i64) -> i64 {
        slice.saturating_sub(self.offset).div_euclid(self.slice)
    }

    /// Start of the slice of a number.
    #[inline]
    pub fn start(&self, number: i64) -> i64 {
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
        Grid::sliding(size_ms, slide_ms, offset_ms)
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
        for grid in [hop(10, 5, 3), Grid::cumulating(30, 10, 0)] {
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
