//! What `explain` says of a window operator.

use std::fmt::Write as _;
use std::panic::Location;

/// Which operator serves a window stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperatorKind {
    /// Windows on a grid, put together from slices: one accumulator per key and slice.
    Slice,
    /// Sessions: one accumulator per key and open session.
    Session,
    /// Anything: contents, trigger state and timers per key and window.
    General,
}

impl OperatorKind {
    fn name(self) -> &'static str {
        match self {
            OperatorKind::Slice => "slice",
            OperatorKind::Session => "session",
            OperatorKind::General => "general",
        }
    }
}

/// A window operator, as the program set it up.
#[derive(Debug, Clone)]
pub struct OperatorCard {
    pub name: String,
    pub assigner: String,
    pub trigger: String,
    pub evictor: String,
    pub allowed_lateness_ms: i64,
    /// Name of the side output for late elements; `None`: they are dropped and counted.
    pub late_side_output: Option<String>,
    pub operator: OperatorKind,
    /// Why not a faster operator.
    pub because: String,
    /// What is kept in state.
    pub holds: String,
    /// All elements have one key: one shard does the work.
    pub unkeyed: bool,
    /// Windows of event time.
    pub event_time: bool,
    /// Windows or trigger follow the clock: the job takes its input in the order of arrival.
    pub processing_time: bool,
    /// Of sessions whose gap is the same for all elements, milliseconds.
    pub session_gap_ms: Option<i64>,
    pub(super) location: &'static Location<'static>,
}

impl OperatorCard {
    pub(super) fn write(&self, number: usize, out: &mut String) {
        let late = match &self.late_side_output {
            Some(tag) => format!("side output `{tag}`"),
            None => String::from("dropped and counted"),
        };
        let lines = [
            ("window", self.assigner.clone()),
            ("trigger", self.trigger.clone()),
            ("evictor", self.evictor.clone()),
            ("allowed lateness", format!("{} ms, later elements: {late}", self.allowed_lateness_ms)),
            ("operator", format!("{}: {}", self.operator.name(), self.because)),
            ("state", self.holds.clone()),
            ("written at", self.location.to_string()),
        ];
        let _ = writeln!(out, "window operator {}: {}", number + 1, self.name);
        for (what, text) in lines {
            let _ = writeln!(out, "  {what:<17} {text}");
        }
    }
}
