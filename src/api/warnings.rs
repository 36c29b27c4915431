//! What had better be told of a program, before it runs and after.

use std::panic::Location;

use super::explain::OperatorCard;
use super::flow::Outcome;
use super::graph::{Edges, Graph, StageEntry};
use crate::shard::Producer;

/// A warning, and where in the program; a line each.
pub(super) fn placed(what: &str, at: &Location<'_>) -> String {
    format!("{what}\n  --> {}:{}", at.file(), at.line())
}

/// A third line has the remedy.
fn text(what: &str, at: &Location<'_>, remedy: &str) -> String {
    format!("{}\n  help: {remedy}", placed(what, at))
}

/// What a window operator's parts say of themselves.
#[derive(Debug, Clone, Copy)]
pub(super) struct WindowFacts {
    /// Elements are kept whole.
    pub buffers: bool,
    /// There is an evictor.
    pub evicts: bool,
    pub may_leave_unfired: bool,
    /// Windows have an end, at which they are cleaned up.
    pub ends: bool,
}

/// Of a window operator, by its settings.
pub(super) fn of_window(card: &OperatorCard, facts: WindowFacts) -> Vec<String> {
    let mut warnings = Vec::new();
    let assigner = &card.assigner;
    let mut warn = |what: String, remedy: &str| warnings.push(text(&what, card.location, remedy));
    if card.unkeyed {
        let what = format!("{assigner} has no key: one shard does all the work");
        warn(what, "key the stream, or aggregate by key first and put the results together in a second window");
    }
    if facts.buffers {
        let what = if facts.evicts {
            format!(
                "{assigner} keeps elements whole until {} takes them out or their window is cleaned up",
                card.evictor
            )
        } else {
            format!("{assigner} keeps every element until its window is cleaned up: its function wants all of them")
        };
        warn(what, "an aggregate without an evictor keeps one accumulator in their place");
    }
    if !card.event_time && (card.allowed_lateness_ms > 0 || card.late_side_output.is_some()) {
        warn(
            format!(
                "no element is ever late for {assigner}: its lateness and its side output for late data do nothing"
            ),
            "leave them out, or use windows of event time",
        );
    }
    if card.never_fires {
        warn(
            format!("{assigner} never fires: its trigger is {}", card.trigger),
            "give it a trigger, for example `.trigger(CountTrigger::of(100))`",
        );
    } else if facts.may_leave_unfired && facts.ends {
        warn(
            format!(
                "{} is the only trigger of {assigner}: elements that no firing has seen are dropped with their window",
                card.trigger
            ),
            "EarlyCountTrigger fires once more at the end of the window",
        );
    }
    warnings
}

/// Of the graph as a whole: sources without watermarks before windows of event time.
pub(super) fn of_graph(graph: &Graph, edges: &Edges) -> Vec<String> {
    let silent = graph.branches.iter().enumerate().filter(|(_, branch)| branch.is_used() && !branch.has_watermarks());
    silent
        .filter_map(|(number, branch)| {
            let stage = first_event_time(graph, edges, Producer::Branch(number))?;
            let (card, source) = (&graph.stages[stage].card, branch.card());
            let remedy = format!(
                "give the source ({}:{}) a strategy, for example \
                 WatermarkStrategy::for_bounded_out_of_orderness(Duration::from_secs(5))",
                source.location.file(),
                source.location.line()
            );
            let what =
                format!("{} fires only when the input ends: source `{}` has no watermarks", card.assigner, source.name);
            Some(text(&what, card.location, &remedy))
        })
        .collect()
}

/// The first stage of event time that records of a producer reach. Stages feed later ones only.
fn first_event_time(graph: &Graph, edges: &Edges, from: Producer) -> Option<usize> {
    let mut reached = vec![false; graph.stages.len()];
    for stage in 0..reached.len() {
        reached[stage] = edges.ports.iter().any(|port| {
            let fed = match port.from {
                Producer::Stage(before) => reached.get(before) == Some(&true),
                branch => branch == from,
            };
            port.stage == stage && fed
        });
        if reached[stage] && graph.stages[stage].card.event_time {
            return Some(stage);
        }
    }
    None
}

/// By stage, from what all shards came to.
pub(super) fn of_run(stages: &[StageEntry], outcomes: &[Outcome]) -> Vec<String> {
    let mut warnings = Vec::new();
    for (number, stage) in stages.iter().enumerate() {
        let card = &stage.card;
        let sum = |of: &dyn Fn(&Outcome) -> u64| -> u64 { outcomes.iter().map(of).sum() };
        let fired = sum(&|outcome| outcome.stages[number].operator.fired);
        let before_end = sum(&|outcome| outcome.stages[number].fired_before_end);
        let unfired = sum(&|outcome| outcome.stages[number].operator.unfired_at_cleanup);
        if card.session_gap_ms.is_some() && fired > 1 && before_end == 0 {
            warnings.push(text(
                &format!(
                    "all {fired} sessions of {} ended with the input: the gap is larger than any pause of a key, or the \
                     watermark never moved",
                    card.name
                ),
                card.location,
                "choose a shorter gap, or look at the timestamps and watermarks of the input",
            ));
        }
        let open = sum(&|outcome| outcome.stages[number].operator.open_windows);
        let waiting = open > 0 && card.processing_time;
        if waiting {
            warnings.push(text(
                &format!(
                    "{open} {} of {} waited for the clock when the input ended, and as in Flink did not fire",
                    if open == 1 { "window" } else { "windows" },
                    card.name
                ),
                card.location,
                "processing time is for inputs that go on; for files, use windows of event time",
            ));
        }
        // Of one that never fires, and of those that wait for the clock, was told before.
        if unfired > 0 && !card.never_fires && !waiting {
            warnings.push(text(
                &format!(
                    "{unfired} {} of {} went with elements that no firing has seen ({})",
                    if unfired == 1 { "window" } else { "windows" },
                    card.name,
                    card.trigger
                ),
                card.location,
                "EarlyCountTrigger fires once more at the end of the window",
            ));
        }
    }
    warnings
}
