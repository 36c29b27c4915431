use std::collections::BTreeSet;

use crate::time::{EventTime, Grid};
use crate::windowing::assigner::{AssignerContext, MergeWindows, WindowAssigner};
use crate::windowing::trigger::Trigger;
use crate::windowing::window::{TimeWindow, Window};

/// Checks that an assigner gives an element the same windows whenever it is asked, each once; that time windows hold
/// the time of the element; that they are those of the grid, or as long as the gap, where the assigner names one; and
/// that windows which merge are covered by what they become, in any order.
///
/// `elements`: values with timestamps, `processing_time`: the clock, both in milliseconds and far from the ends of
/// time.
///
/// # Errors
/// A sentence that says which of this does not hold, or the message of an error of the assigner.
pub fn check_assigner<T, A>(assigner: &A, elements: &[(T, EventTime)], processing_time: EventTime) -> Result<(), String>
where
    A: WindowAssigner<T>,
{
    assigner.check().map_err(|error| error.message().to_string())?;
    if assigner.merging().is_some() && !assigner.default_trigger().can_merge() {
        return Err(String::from("windows merge, but the default trigger cannot"));
    }
    let context = AssignerContext { processing_time };
    let mut all = Vec::new();
    for (element, timestamp) in elements {
        let assign = |assigner: &A| {
            let mut windows = Vec::new();
            let assigned = assigner.assign_windows(element, *timestamp, &context, &mut windows);
            assigned.map(|()| windows).map_err(|error| error.message().to_string())
        };
        let windows = assign(assigner)?;
        if assign(&assigner.clone())? != windows {
            return Err(format!("the element at {timestamp} gets other windows when it is asked for again"));
        }
        let time = if assigner.is_event_time() { *timestamp } else { processing_time };
        check_windows(&windows, time)?;
        if let Some(grid) = assigner.grid() {
            check_grid(&windows, time, grid)?;
        }
        if let Some(gap) = assigner.session_gap() {
            check_gap(&windows, time, gap)?;
        }
        all.extend(windows);
    }
    assigner.merging().map_or(Ok(()), |merge| check_merging(&all, merge))
}

fn check_windows<W: Window>(windows: &[W], time: EventTime) -> Result<(), String> {
    if windows.iter().collect::<BTreeSet<_>>().len() != windows.len() {
        return Err(format!("an element at {time} gets a window twice: {windows:?}"));
    }
    for window in windows {
        if window.max_timestamp() < time {
            return Err(format!("{window:?} ends before the element at {time} that it holds"));
        }
        if let Some(span) = window.as_time_window()
            && !(span.start <= time && time < span.end)
        {
            return Err(format!("{window:?} does not hold the time {time} of its element"));
        }
    }
    Ok(())
}

/// The ends of the windows are those that the grid names.
fn check_grid<W: Window>(windows: &[W], time: EventTime, grid: Grid) -> Result<(), String> {
    let mut ends: Vec<EventTime> =
        windows.iter().filter_map(|window| window.as_time_window()).map(|window| window.end).collect();
    ends.sort_unstable();
    let slice = grid.slice_of(time);
    if (ends.first().copied(), ends.last().copied()) != (grid.first_end(slice), grid.last_end(slice)) {
        return Err(format!("the windows of an element at {time} are not those of {grid:?}: {windows:?}"));
    }
    let step = if grid.cumulates { grid.slice } else { grid.slide };
    if ends.windows(2).any(|pair| pair[1] - pair[0] != step) {
        return Err(format!("the windows of an element at {time} leave out some of {grid:?}: {windows:?}"));
    }
    Ok(())
}

fn check_gap<W: Window>(windows: &[W], time: EventTime, gap: i64) -> Result<(), String> {
    let session = TimeWindow::new(time, time.saturating_add(gap));
    if windows.len() == 1 && windows[0].as_time_window() == Some(session) {
        return Ok(());
    }
    Err(format!("an element at {time} is in {windows:?}, not in the one session of the gap {gap}"))
}

fn check_merging<W: Window>(windows: &[W], merge: MergeWindows<W>) -> Result<(), String> {
    let merges = merge(windows);
    let mut left: BTreeSet<W> = windows.iter().cloned().collect();
    for one in &merges {
        if one.merged.len() < 2 {
            return Err(format!("{:?} is said to come of a merge of {:?} alone", one.result, one.merged));
        }
        for window in &one.merged {
            if !left.remove(window) {
                return Err(format!("{window:?} merges twice, or was never there"));
            }
            let (whole, part) = (one.result.as_time_window(), window.as_time_window());
            if whole.zip(part).is_some_and(|(whole, part)| whole.cover(&part) != whole) {
                return Err(format!("{:?} does not cover {window:?}, which became part of it", one.result));
            }
        }
    }
    left.extend(merges.iter().map(|one| one.result.clone()));
    let again = merge(&left.iter().cloned().collect::<Vec<_>>());
    if let Some(one) = again.first() {
        return Err(format!("windows are left that still merge: {:?}", one.merged));
    }
    let mut backwards: Vec<W> = windows.to_vec();
    backwards.reverse();
    let results = |merges: Vec<crate::windowing::assigner::Merge<W>>| -> BTreeSet<W> {
        merges.into_iter().map(|one| one.result).collect()
    };
    if results(merge(&backwards)) != results(merges) {
        return Err(String::from("what windows become depends on the order in which they are given"));
    }
    Ok(())
}
