use std::fmt::Debug;

use crate::time::EventTime;
use crate::windowing::evictor::{Elements, Evictor, EvictorContext};
use crate::windowing::window::Window;

/// Checks that the evictor only removes elements, keeps the order of the others with their timestamps, does the same
/// twice, and copes with an empty window. Tries it on every beginning of `elements`, which are values with timestamps
/// in milliseconds, before and after the window function.
///
/// # Errors
/// A sentence that says which of this does not hold, or the message of [`Evictor::check`].
pub fn check_evictor<T, W, E>(evictor: &E, window: &W, elements: &[(T, EventTime)]) -> Result<(), String>
where
    T: Clone + PartialEq + Debug,
    W: Window,
    E: Evictor<T, W>,
{
    evictor.check().map_err(|error| error.message().to_string())?;
    for length in 0..=elements.len() {
        let held = &elements[..length];
        let newest = held.iter().map(|(_, timestamp)| *timestamp).max().unwrap_or(EventTime::MIN);
        let context = EvictorContext { current_watermark: newest, current_processing_time: newest };
        for after in [false, true] {
            let left = evicted(evictor, window, held, &context, after);
            let place = if after { "evict_after" } else { "evict_before" };
            if left != evicted(&evictor.clone(), window, held, &context, after) {
                return Err(format!("{place} of {length} elements leaves others when it is asked again"));
            }
            if !is_part_in_order(&left, held) {
                return Err(format!("{place} does more than remove: of {held:?} it makes {left:?}"));
            }
        }
    }
    Ok(())
}

fn evicted<T: Clone, W: Window, E: Evictor<T, W>>(
    evictor: &E,
    window: &W,
    held: &[(T, EventTime)],
    context: &EvictorContext,
    after: bool,
) -> Vec<(T, EventTime)> {
    let mut elements = Elements::default();
    held.iter().for_each(|(value, timestamp)| elements.push(value.clone(), *timestamp));
    if after {
        evictor.evict_after(&mut elements, window, context);
    } else {
        evictor.evict_before(&mut elements, window, context);
    }
    elements.values().iter().cloned().zip(elements.timestamps().iter().copied()).collect()
}

/// Whether `part` is `whole` without some of its elements.
fn is_part_in_order<X: PartialEq>(part: &[X], whole: &[X]) -> bool {
    let mut rest = whole.iter();
    part.iter().all(|element| rest.any(|other| other == element))
}
