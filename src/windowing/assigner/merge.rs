//! Which time windows are to be one.

use crate::windowing::assigner::Merge;
use crate::windowing::window::TimeWindow;

/// Time windows that overlap or touch become the smallest window that covers them, and so do chains of such. Equal
/// windows count as one. `merged` is in ascending order.
pub fn merge_time_windows(windows: &[TimeWindow]) -> Vec<Merge<TimeWindow>> {
    let mut sorted = windows.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let mut merges: Vec<Merge<TimeWindow>> = Vec::new();
    for window in sorted {
        match merges.last_mut() {
            Some(last) if last.result.intersects(&window) => {
                last.result = last.result.cover(&window);
                last.merged.push(window);
            }
            _ => merges.push(Merge { result: window, merged: vec![window] }),
        }
    }
    merges.retain(|merge| merge.merged.len() > 1);
    merges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_that_overlap_or_touch_become_one() {
        let window = TimeWindow::new;
        let merges = merge_time_windows(&[window(20, 30), window(0, 5), window(5, 9), window(8, 12), window(14, 15)]);
        assert_eq!(merges.len(), 1);
        assert_eq!(merges[0].result, window(0, 12));
        assert_eq!(merges[0].merged, [window(0, 5), window(5, 9), window(8, 12)]);
    }

    #[test]
    fn a_window_does_not_merge_with_itself() {
        assert!(merge_time_windows(&[TimeWindow::new(0, 5), TimeWindow::new(0, 5)]).is_empty());
        assert!(merge_time_windows(&[]).is_empty());
    }
}
