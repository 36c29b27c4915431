//! What a job that has ended had better tell.

use super::flow::Outcome;
use super::graph::StageEntry;

/// By stage, from what all shards came to.
pub(super) fn of_run(stages: &[StageEntry], outcomes: &[Outcome]) -> Vec<String> {
    let mut warnings = Vec::new();
    for (number, stage) in stages.iter().enumerate() {
        let card = &stage.card;
        let sum = |of: &dyn Fn(&Outcome) -> u64| -> u64 { outcomes.iter().map(of).sum() };
        let fired = sum(&|outcome| outcome.stages[number].counts.operator.fired);
        let before_end = sum(&|outcome| outcome.stages[number].fired_before_end);
        let unfired = sum(&|outcome| outcome.stages[number].counts.operator.unfired_at_cleanup);
        let place = format!("{}:{}", card.location.file(), card.location.line());
        if card.session_gap_ms.is_some() && fired > 1 && before_end == 0 {
            warnings.push(format!(
                "{place}: all {fired} sessions of {} ended with the input: the gap is larger than any pause of a key, or \
                 the watermark never moved",
                card.name
            ));
        }
        let open = sum(&|outcome| outcome.stages[number].counts.operator.open_windows);
        if open > 0 && card.processing_time {
            warnings.push(format!(
                "{place}: {open} windows of {} were still open when the input ended; they wait for the clock, and as in \
                 Flink they do not fire then",
                card.name
            ));
        }
        if unfired > 0 {
            warnings.push(format!(
                "{place}: {unfired} windows of {} were cleaned up with elements that no firing has seen ({})",
                card.name, card.trigger
            ));
        }
    }
    warnings
}
