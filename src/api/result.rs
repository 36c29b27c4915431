//! What a job came to, as data and as text.

use std::fmt;
use std::time::Duration;

use crate::numbers::grouped;
use crate::windowing::operator::OperatorCounts;

/// What a window operator came to. All shards together.
#[derive(Debug, Clone)]
pub struct OperatorSummary {
    pub name: String,
    pub counts: OperatorCounts,
    /// Elements that reached it: those in its windows, and those that were too late.
    pub records_in: u64,
    /// Results that it gave, without its side outputs.
    pub records_out: u64,
}

/// What a job came to. Its text is a summary over some lines.
#[derive(Debug, Clone)]
pub struct JobExecutionResult {
    pub elapsed: Duration,
    /// Of all sources.
    pub records_read: u64,
    /// Left out by sources because they could not be read: not among those that were.
    pub records_malformed: u64,
    /// Removed by `filter`.
    pub records_filtered: u64,
    /// By window operator, in the order in which the program made them.
    pub operators: Vec<OperatorSummary>,
    pub warnings: Vec<String>,
}

impl JobExecutionResult {
    /// Late elements that no side output took (Flink's `numLateRecordsDropped`), of all operators.
    pub fn late_records_dropped(&self) -> u64 {
        self.operators.iter().map(|operator| operator.counts.late_dropped).sum()
    }
}

impl OperatorSummary {
    /// Elements that were added to their windows.
    pub fn records_in_windows(&self) -> u64 {
        let OperatorCounts { late_dropped, late_side_output, without_window, .. } = self.counts;
        self.records_in.saturating_sub(late_dropped + late_side_output + without_window)
    }

    /// Label and number of each line; the indented ones add up to the one before them.
    fn lines(&self) -> Vec<(&'static str, u64)> {
        let counts = &self.counts;
        let mut lines = vec![("records in", self.records_in), ("  in windows", self.records_in_windows())];
        let rarely = [
            ("  late, dropped", counts.late_dropped),
            ("  late, to the side output", counts.late_side_output),
            ("  in a gap between windows", counts.without_window),
        ];
        lines.extend(rarely.into_iter().filter(|(_, number)| *number > 0));
        lines.extend([("firings", counts.fired), ("results", self.records_out)]);
        if counts.open_windows > 0 {
            lines.push(("windows still open", counts.open_windows));
        }
        lines
    }
}

impl fmt::Display for JobExecutionResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = vec![(None, vec![("records read", self.records_read)])];
        if self.records_malformed > 0 {
            parts[0].1.push(("malformed, left out", self.records_malformed));
        }
        if self.records_filtered > 0 {
            parts[0].1.push(("removed by filters", self.records_filtered));
        }
        parts.extend(self.operators.iter().map(|operator| (Some(&operator.name), operator.lines())));
        let lines = || parts.iter().flat_map(|(_, lines)| lines);
        let label = lines().map(|(label, _)| label.len()).max().unwrap_or(0);
        let number = lines().map(|(_, number)| grouped(*number).len()).max().unwrap_or(0);
        for (name, lines) in &parts {
            if let Some(name) = name {
                writeln!(f, "{name}")?;
            }
            let indent = if name.is_some() { "  " } else { "" };
            let label = label + 2 - indent.len();
            for (what, count) in lines {
                writeln!(f, "{indent}{what:<label$}  {:>number$}", grouped(*count))?;
            }
        }
        let seconds = self.elapsed.as_secs_f64();
        write!(f, "in {seconds:.3} s")?;
        if seconds > 0.0 && self.records_read > 0 {
            write!(f, ", {} records/s", grouped((self.records_read as f64 / seconds) as u64))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_is_aligned_and_adds_up() {
        let counts = OperatorCounts { late_dropped: 34, fired: 12, ..OperatorCounts::default() };
        let operator = OperatorSummary { name: "minutes".into(), counts, records_in: 1_234_000, records_out: 12 };
        let result = JobExecutionResult {
            elapsed: Duration::from_millis(500),
            records_read: 1_234_567,
            records_malformed: 0,
            records_filtered: 567,
            operators: vec![operator],
            warnings: Vec::new(),
        };
        let expected = "\
records read          1,234,567
removed by filters          567
minutes
  records in          1,234,000
    in windows        1,233,966
    late, dropped            34
  firings                    12
  results                    12
in 0.500 s, 2,469,134 records/s";
        assert_eq!(result.to_string(), expected);
    }
}
