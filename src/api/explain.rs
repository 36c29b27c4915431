//! What `explain` says of a program: its sources, window operators, sinks, faults, and what it had better be told.

use std::fmt::Write as _;
use std::panic::Location;

use super::graph::Graph;
use super::warnings;
use crate::shard::{Port, Producer};

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

/// A source, as the program set it up.
#[derive(Debug, Clone)]
pub struct SourceCard {
    pub name: String,
    /// How watermarks come into being.
    pub watermarks: String,
    /// Where timestamps come from.
    pub timestamps: String,
    /// What happens while the source gives nothing.
    pub idleness: String,
    pub(super) location: &'static Location<'static>,
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
    pub(super) never_fires: bool,
    pub(super) location: &'static Location<'static>,
}

/// A sink, as the program set it up.
#[derive(Debug, Clone)]
pub struct SinkCard {
    /// The method that made it.
    pub name: String,
    pub(super) location: &'static Location<'static>,
}

/// Where lines are broken, characters.
const WIDTH: usize = 100;
/// Where what is said of a thing begins.
const COLUMN: usize = 20;

/// A thing with what is to be said of it.
struct Block<'a> {
    out: &'a mut String,
}

impl<'a> Block<'a> {
    fn new(out: &'a mut String, title: &str) -> Self {
        if !out.is_empty() {
            out.push('\n');
        }
        wrap(out, title, 0, 2);
        Block { out }
    }

    fn line(&mut self, what: &str, text: &str) {
        let _ = write!(self.out, "  {what:<filled$}", filled = COLUMN - 2);
        wrap(self.out, text, COLUMN, COLUMN);
    }
}

/// Writes a text in lines of at most [`WIDTH`]: the first goes on at `column`, the others are indented by `indent`.
fn wrap(out: &mut String, text: &str, column: usize, indent: usize) {
    let (mut at, mut first) = (column, true);
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if !first && at + 1 + length > WIDTH {
            let _ = write!(out, "\n{:indent$}", "");
            (at, first) = (indent, true);
        }
        let blank = if first { "" } else { " " };
        let _ = write!(out, "{blank}{word}");
        at += blank.len() + length;
        first = false;
    }
    out.push('\n');
}

impl SourceCard {
    fn write(&self, number: usize, feeds: &str, out: &mut String) {
        let mut block = Block::new(out, &format!("source {}: {}", number + 1, self.name));
        block.line("watermarks", &self.watermarks);
        block.line("timestamps", &self.timestamps);
        block.line("idleness", &self.idleness);
        block.line("feeds", feeds);
        block.line("written at", &self.location.to_string());
    }
}

impl OperatorCard {
    fn write(&self, number: usize, takes: &str, out: &mut String) {
        let late = match &self.late_side_output {
            Some(tag) => format!("go to side output `{tag}`"),
            None => String::from("are dropped and counted"),
        };
        let lateness = duration(self.allowed_lateness_ms);
        let mut block = Block::new(out, &format!("window operator {}: {}", number + 1, self.name));
        block.line("takes", takes);
        block.line("key", if self.unkeyed { "none: one shard does all the work" } else { "each key on one shard" });
        block.line("window", &self.assigner);
        block.line("trigger", &self.trigger);
        if self.processing_time {
            block.line("time", "that of the clock: the job takes its input in the order in which it comes");
        }
        block.line("evictor", &self.evictor);
        if self.event_time {
            block.line("allowed lateness", &format!("{lateness}; elements that come later {late}"));
        }
        block.line("operator", &format!("{}: {}", self.operator.name(), self.because));
        block.line("state", &self.holds);
        block.line("written at", &self.location.to_string());
    }
}

impl SinkCard {
    fn write(&self, number: usize, takes: &str, out: &mut String) {
        let mut block = Block::new(out, &format!("sink {}: {}", number + 1, self.name));
        block.line("takes", takes);
        block.line("written at", &self.location.to_string());
    }
}

/// The whole program. Sources that nobody takes are left out.
pub(super) fn program(graph: &Graph) -> String {
    let edges = graph.edges();
    let used: Vec<usize> = (0..graph.branches.len()).filter(|branch| graph.branches[*branch].is_used()).collect();
    let source = |branch| used.iter().position(|number| *number == branch).map_or(0, |number| number + 1);
    let name = |producer: &Producer| match producer {
        Producer::Branch(branch) => format!("source {}", source(*branch)),
        Producer::Stage(stage) => format!("window operator {}", stage + 1),
    };
    let mut out = String::new();
    for branch in &used {
        let from = Producer::Branch(*branch);
        let stages = edges.ports.iter().filter(|port| port.from == from).map(stage_name);
        let sinks = edges.gives.iter().filter(|give| give.from == from).map(|give| format!("sink {}", give.sink + 1));
        graph.branches[*branch].card().write(source(*branch) - 1, &listed(stages.chain(sinks)), &mut out);
    }
    for (number, stage) in graph.stages.iter().enumerate() {
        let from = edges.ports.iter().filter(|port| port.stage == number).map(|port| name(&port.from));
        stage.card.write(number, &listed(from), &mut out);
    }
    for (number, card) in graph.sink_cards.iter().enumerate() {
        let from = edges.gives.iter().filter(|give| give.sink == number).map(|give| match &give.side {
            Some(tag) => format!("side output `{tag}` of {}", name(&give.from)),
            None => name(&give.from),
        });
        card.write(number, &listed(from), &mut out);
    }
    for fault in &graph.faults {
        let mut block = Block::new(&mut out, &format!("fault: {}", fault.message()));
        if let Some(place) = fault.place() {
            block.line("-->", &format!("{}:{}", place.file, place.line));
        }
        if let Some(remedy) = fault.remedy() {
            block.line("help:", remedy);
        }
    }
    for warning in graph.warnings.iter().cloned().chain(warnings::of_graph(graph, &edges)) {
        let mut lines = warning.lines();
        let mut block = Block::new(&mut out, &format!("warning: {}", lines.next().unwrap_or_default()));
        lines.for_each(|line| {
            let (what, text) = line.trim().split_once(' ').unwrap_or((line, ""));
            block.line(what, text);
        });
    }
    out
}

fn stage_name(port: &Port) -> String {
    format!("window operator {}", port.stage + 1)
}

/// What is named, once each.
fn listed(names: impl Iterator<Item = String>) -> String {
    let mut known: Vec<String> = Vec::new();
    for name in names {
        if !known.contains(&name) {
            known.push(name);
        }
    }
    if known.is_empty() { String::from("nobody") } else { known.join(", ") }
}

/// A length of time in the largest unit in which it is whole.
pub(super) fn duration(ms: i64) -> String {
    let units = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s")];
    let whole = units.iter().find(|(unit, _)| ms != 0 && ms % unit == 0);
    whole.map_or_else(|| format!("{ms} ms"), |(unit, name)| format!("{} {name}", ms / unit))
}
