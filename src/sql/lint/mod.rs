//! What a script says that is allowed, and hardly what its author means: each finding with its place, what it means for
//! the result or the cost, and what to write instead.
//!
//! Binding notes what only the syntax tells; [`rules`] then looks over each bound query.

mod joins;
mod options;
mod rules;
mod times;

use std::fmt;

pub(super) use options::{Unused, of_options, of_settings};
pub(super) use rules::{of_query, of_time_key};
pub(super) use times::{of_frame, of_sizes};

use crate::error::Place;

/// Something to look at in a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lint {
    pub rule: Rule,
    /// Where in the script; `None` where the command line says it.
    pub place: Option<Place>,
    /// What it means for the result or the cost: a sentence without its capital and full stop.
    pub message: String,
    /// What to write instead, likewise.
    pub remedy: String,
}

/// What there is to find. The names are stable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    ConstantOrder,
    DelayWithoutEffect,
    GroupWithoutWindow,
    GroupWithoutWindowEnd,
    GroupWithoutWindowStart,
    HopWithGaps,
    JoinOfDifferentWindows,
    JoinWithoutKey,
    JoinWithoutWindow,
    JoinWithoutWindowEnd,
    JoinWithoutWindowStart,
    LatenessWithoutEffect,
    LongWindow,
    ManyWindows,
    MillisecondsAsSeconds,
    NullEventTimes,
    OptionWithoutEffect,
    OrderWithoutEffect,
    OuterJoinUndone,
    ProcessingTimeWindow,
    RowNumberWithoutLimit,
    SettingWithoutEffect,
    StateKeptForGood,
    TimeKeyWithoutWindow,
    TimesInWrongUnit,
    UnknownSetting,
    WatermarkFarBehind,
    WindowWithoutKey,
}

impl Rule {
    pub fn name(self) -> &'static str {
        match self {
            Rule::ConstantOrder => "constant-order",
            Rule::DelayWithoutEffect => "delay-without-effect",
            Rule::GroupWithoutWindow => "group-without-window",
            Rule::GroupWithoutWindowEnd => "group-without-window-end",
            Rule::GroupWithoutWindowStart => "group-without-window-start",
            Rule::HopWithGaps => "hop-with-gaps",
            Rule::JoinOfDifferentWindows => "join-of-different-windows",
            Rule::JoinWithoutKey => "join-without-key",
            Rule::JoinWithoutWindow => "join-without-window",
            Rule::JoinWithoutWindowEnd => "join-without-window-end",
            Rule::JoinWithoutWindowStart => "join-without-window-start",
            Rule::LatenessWithoutEffect => "lateness-without-effect",
            Rule::LongWindow => "long-window",
            Rule::ManyWindows => "many-windows",
            Rule::MillisecondsAsSeconds => "milliseconds-as-seconds",
            Rule::NullEventTimes => "null-event-times",
            Rule::OptionWithoutEffect => "option-without-effect",
            Rule::OrderWithoutEffect => "order-without-effect",
            Rule::OuterJoinUndone => "outer-join-undone",
            Rule::ProcessingTimeWindow => "processing-time-window",
            Rule::RowNumberWithoutLimit => "row-number-without-limit",
            Rule::SettingWithoutEffect => "setting-without-effect",
            Rule::StateKeptForGood => "state-kept-for-good",
            Rule::TimeKeyWithoutWindow => "time-key-without-window",
            Rule::TimesInWrongUnit => "times-in-wrong-unit",
            Rule::UnknownSetting => "unknown-setting",
            Rule::WatermarkFarBehind => "watermark-far-behind",
            Rule::WindowWithoutKey => "window-without-key",
        }
    }

    /// Whether a run says it too, not only `explain`: something that was asked for is not done.
    pub fn warns(self) -> bool {
        matches!(
            self,
            Rule::DelayWithoutEffect
                | Rule::JoinOfDifferentWindows
                | Rule::JoinWithoutWindowEnd
                | Rule::JoinWithoutWindowStart
                | Rule::LatenessWithoutEffect
                | Rule::OrderWithoutEffect
                | Rule::ProcessingTimeWindow
                | Rule::StateKeptForGood
                | Rule::UnknownSetting
        )
    }
}

impl Lint {
    pub(super) fn new(rule: Rule, place: Option<Place>, message: impl Into<String>, remedy: impl Into<String>) -> Lint {
        Lint { rule, place, message: message.into(), remedy: remedy.into() }
    }

    /// `job.sql:12:8`, without a file `12:8`.
    pub fn location(&self) -> String {
        match &self.place {
            None => "command line".to_string(),
            Some(place) if place.file.is_empty() => format!("{}:{}", place.line, place.column),
            Some(place) => format!("{}:{}:{}", place.file, place.line, place.column),
        }
    }

    pub(super) fn in_file(mut self, file: &str) -> Lint {
        if let Some(place) = self.place.as_mut().filter(|place| place.file.is_empty()) {
            place.file = file.to_string();
        }
        self
    }
}

/// In one line, as a run says it.
impl fmt::Display for Lint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.location(), self.message, self.remedy)
    }
}

/// In the order of their places, each once. A key that is accepted without effect is not spoken of twice.
pub(super) fn in_order(mut lints: Vec<Lint>) -> Vec<Lint> {
    let at = |lint: &Lint| lint.place.as_ref().map(|place| (place.line, place.column));
    let spoken: Vec<_> = lints.iter().filter(|lint| lint.rule != Rule::SettingWithoutEffect).map(at).collect();
    lints.retain(|lint| lint.rule != Rule::SettingWithoutEffect || !spoken.contains(&at(lint)));
    lints.sort_by(|a, b| (at(a), a.rule, &a.message).cmp(&(at(b), b.rule, &b.message)));
    lints.dedup();
    lints
}
