//! Which windows a time falls in, for the stages that assign windows without aggregating.

use crate::plan::WindowSpec;
use crate::time::{EventTime, window_start};

/// Calls `visit` with start and end of every window of `time`, the latest start first for HOP (Flink's
/// order), the shortest window first for CUMULATE. Session and attached windows have no static windows.
pub fn for_each_window(window: &WindowSpec, time: EventTime, visit: &mut dyn FnMut(EventTime, EventTime)) {
    match *window {
        WindowSpec::Tumble { size_ms, offset_ms } => {
            let start = window_start(time, offset_ms, size_ms);
            visit(start, start.saturating_add(size_ms));
        }
        WindowSpec::Hop { size_ms, slide_ms, offset_ms } => {
            let mut start = window_start(time, offset_ms, slide_ms);
            while start > time.saturating_sub(size_ms) {
                visit(start, start.saturating_add(size_ms));
                start = start.saturating_sub(slide_ms);
            }
        }
        WindowSpec::Cumulate { size_ms, step_ms, offset_ms } => {
            let start = window_start(time, offset_ms, size_ms);
            let mut end = window_start(time, start, step_ms).saturating_add(step_ms);
            let last = start.saturating_add(size_ms);
            while end < last {
                visit(start, end);
                end = end.saturating_add(step_ms);
            }
            visit(start, last);
        }
        WindowSpec::Session { .. } | WindowSpec::Attached { .. } => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn windows(window: &WindowSpec, time: EventTime) -> Vec<(EventTime, EventTime)> {
        let mut all = Vec::new();
        for_each_window(window, time, &mut |start, end| all.push((start, end)));
        all
    }

    #[test]
    fn a_slide_that_does_not_divide_the_size_still_gives_each_window_once() {
        let hop = WindowSpec::Hop { size_ms: 1_600, slide_ms: 700, offset_ms: 0 };
        let base = 1_709_315_000_000;
        assert_eq!(windows(&hop, base + 512_577), [(base + 512_100, base + 513_700), (base + 511_400, base + 513_000)]);
    }

    #[test]
    fn cumulate_gives_the_windows_that_grow_to_the_full_size() {
        let cumulate = WindowSpec::Cumulate { size_ms: 30, step_ms: 10, offset_ms: 0 };
        assert_eq!(windows(&cumulate, 12), [(0, 20), (0, 30)]);
        assert_eq!(windows(&cumulate, -1), [(-30, 0)]);
        assert_eq!(windows(&cumulate, i64::MAX).last().map(|window| window.1), Some(i64::MAX));
    }
}
