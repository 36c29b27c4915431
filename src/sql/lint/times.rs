//! Lengths of time that are likely in the wrong unit.

use sqlparser::ast::{DateTimeField, Expr as Ast, Interval, Spanned};

use super::{Lint, Rule};
use crate::error::Place;
use crate::plan::WindowSpec;
use crate::sql::explain::duration;
use crate::sql::interval::{IntervalValue, evaluate, is_literal};
use crate::sql::text::place_of;

/// Longer windows are hardly meant.
const LONG_MS: i64 = 366 * 86_400_000;
/// From so many seconds on, a whole number of thousands is likely one of milliseconds.
const MANY_SECONDS: i64 = 1_000;
const HOUR_SECONDS: i64 = 3_600;
/// A watermark more windows behind is likely in another unit than they are: a day of hours is not.
const FAR_BEHIND_WINDOWS: i64 = 24;

/// The sizes of a window function: the arguments behind its time column, at their place if they have one.
pub(in crate::sql) fn of_sizes<'a>(
    name: &str,
    window: &WindowSpec,
    sizes: impl Iterator<Item = &'a Ast>,
    place: Option<&Place>,
) -> Vec<Lint> {
    let mut found: Vec<Lint> = sizes.filter_map(|ast| of_literals(ast, place)).collect();
    let long = length(window).filter(|length| *length > LONG_MS);
    if let (Some(long), true) = (long, found.is_empty()) {
        let message = format!("a window of {name} lasts {}, and gives nothing before it ends", duration(long));
        found.push(Lint::new(Rule::LongWindow, place.cloned(), message, "check the unit of the interval"));
    }
    found
}

/// The interval of a RANGE.
pub(in crate::sql) fn of_frame(ast: &Ast) -> Option<Lint> {
    of_literals(ast, None)
}

/// The first interval in an expression that is likely one of milliseconds. `place`: where it is, if it does not say.
pub(super) fn of_literals(ast: &Ast, place: Option<&Place>) -> Option<Lint> {
    match ast {
        Ast::Interval(interval) => of_seconds(interval, place_of(ast.span()).or_else(|| place.cloned())),
        Ast::Nested(inner) => of_literals(inner, place),
        Ast::BinaryOp { left, right, .. } => of_literals(left, place).or_else(|| of_literals(right, place)),
        _ => None,
    }
}

fn of_seconds(interval: &Interval, place: Option<Place>) -> Option<Lint> {
    if interval.leading_field != Some(DateTimeField::Second) || !is_literal(interval) {
        return None;
    }
    let Ok(IntervalValue::Milliseconds(value)) = evaluate(interval) else { return None };
    let seconds = value / 1_000;
    let thousands = value % 1_000 == 0 && seconds >= MANY_SECONDS && seconds % MANY_SECONDS == 0;
    if !thousands || seconds % HOUR_SECONDS == 0 {
        return None;
    }
    let message = format!("{seconds} seconds are {}: the number looks like milliseconds", in_words(seconds));
    let remedy = format!("write INTERVAL '{}' SECOND, or the larger unit that is meant", seconds / MANY_SECONDS);
    Some(Lint::new(Rule::MillisecondsAsSeconds, place, message, remedy))
}

/// Of the two largest units.
fn in_words(seconds: i64) -> String {
    let (days, hours, minutes) = (seconds / 86_400, seconds / HOUR_SECONDS % 24, seconds / 60 % 60);
    match (days, hours) {
        (0, 0) => format!("{minutes} min {} s", seconds % 60),
        (0, hours) => format!("{hours} h {minutes} min"),
        (days, hours) => format!("{days} d {hours} h"),
    }
}

/// A watermark that stays far behind its windows.
pub(super) fn of_delay(delay_ms: i64, window: &WindowSpec, place: Option<Place>) -> Option<Lint> {
    let (what, each) = match *window {
        WindowSpec::Hop { size_ms, slide_ms, .. } => ("size", size_ms.max(slide_ms)),
        WindowSpec::Session { gap_ms } => ("gap", gap_ms),
        _ => ("size", length(window)?),
    };
    if delay_ms / FAR_BEHIND_WINDOWS <= each {
        return None;
    }
    let message = format!(
        "the watermark stays {} behind, the windows on it have a {what} of {}: results come so much later, and about {} \
         windows of a key are open at a time",
        duration(delay_ms),
        duration(each),
        delay_ms / each + 1,
    );
    let remedy = "check the units: the delay needs to be as long as rows really come late, and no longer";
    Some(Lint::new(Rule::WatermarkFarBehind, place, message, remedy))
}

/// Size or gap in milliseconds.
fn length(window: &WindowSpec) -> Option<i64> {
    match *window {
        WindowSpec::Tumble { size_ms, .. } | WindowSpec::Hop { size_ms, .. } | WindowSpec::Cumulate { size_ms, .. } => {
            Some(size_ms)
        }
        WindowSpec::Session { gap_ms } => Some(gap_ms),
        WindowSpec::Attached { .. } => None,
    }
}
