//! What the runner prints: one line per failure, then the sums.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::case::Case;
use super::judge::Verdict;

/// What the engine adds to the name of a feature that it does not have.
const REFUSAL: &str = " is part of Flink SQL, but not supported by Transom yet";

#[derive(Debug)]
pub struct Report {
    name_width: usize,
    show_skipped: bool,
    skip_unsupported: bool,
    /// Cases that need not pass: they are left to later.
    later: BTreeSet<String>,
    passed: usize,
    failed: usize,
    skipped: usize,
    /// Refused feature -> names of cases.
    refused: BTreeMap<String, Vec<String>>,
}

impl Report {
    pub fn new(name_width: usize, show_skipped: bool, skip_unsupported: bool, later: BTreeSet<String>) -> Self {
        Report {
            name_width,
            show_skipped,
            skip_unsupported,
            later,
            passed: 0,
            failed: 0,
            skipped: 0,
            refused: BTreeMap::new(),
        }
    }
    pub fn all_passed(&self) -> bool {
        self.failed == 0
    }

    /// Counts a verdict and prints its line, if it has one.
    pub fn add(&mut self, case: &Case, verdict: Verdict) {
        match verdict {
            Verdict::Passed if self.later.contains(&case.name) => {
                self.failed += 1;
                self.line("passes", &case.name, "is on the list of cases left to later: take it off");
            }
            Verdict::Passed => self.passed += 1,
            Verdict::Failed(why) if self.later.contains(&case.name) => self.skip(&case.name, &why),
            Verdict::Failed(why) => {
                self.failed += 1;
                self.line("failed", &case.name, &why);
            }
            Verdict::Refused(message) => {
                let feature = feature_of(&message).to_string();
                self.refused.entry(feature).or_default().push(case.name.clone());
                if self.skip_unsupported || self.later.contains(&case.name) {
                    self.skip(&case.name, &message);
                } else {
                    self.failed += 1;
                    self.line("refused", &case.name, &message);
                }
            }
        }
    }
    fn skip(&mut self, name: &str, why: &str) {
        self.skipped += 1;
        if self.show_skipped {
            self.line("skipped", name, why);
        }
    }
    fn line(&self, word: &str, name: &str, text: &str) {
        // one case, one line, whatever a message contains
        let text = text.split('\n').map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" / ");
        println!("{word:<8} {name:<width$}  {text}", width = self.name_width);
    }

    /// Prints the sums. The last line stands alone, for whoever reads it by machine.
    pub fn close(&self, elapsed: Duration) {
        if !self.refused.is_empty() {
            println!("\nRefused as not supported yet:");
            let mut features: Vec<_> = self.refused.iter().collect();
            features.sort_by_key(|(feature, cases)| (usize::MAX - cases.len(), *feature));
            for (feature, cases) in features {
                let more = if cases.len() > 1 { ", …" } else { "" };
                println!("{:>5}  {feature}  ({}{more})", cases.len(), cases[0]);
            }
        }
        println!("\n{:.1} s", elapsed.as_secs_f64());
        let tail = if self.skipped > 0 { format!(", {} skipped", self.skipped) } else { String::new() };
        println!("{} passed, {} failed{tail}", self.passed, self.failed);
    }
}

/// The feature's name in a refusal.
fn feature_of(message: &str) -> &str {
    let message = message.split_once(REFUSAL).map_or(message, |(before, _)| before);
    // drop the place in front, "job.sql:3:7: ", so that equal features meet
    match message.split_once(": ") {
        Some((place, rest)) if place.starts_with("job.sql:") => rest,
        _ => message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_grouped_by_feature_not_by_place() {
        let message = "job.sql:3:7: a window join is part of Flink SQL, but not supported by Transom yet";
        assert_eq!(feature_of(message), "a window join");
        assert_eq!(feature_of("UNNEST"), "UNNEST");
    }
}
