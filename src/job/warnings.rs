//! What a job says at its end of data and results that are no error, but hardly what was meant.

use super::Running;
use super::units::{time, wrong_unit};
use crate::metrics::Totals;
use crate::numbers::grouped as count;
use crate::plan::{SinkSpec, WindowSpec};
use crate::shard::columns::findings::{Findings, find_move};
use crate::shard::columns::program::{Branch, Program};
use crate::shard::columns::scan::ScanContext;
use crate::time::Watermark;

/// A row is far ahead if it moves the watermark by so many windows; rows that are merely out of order do not.
const FAR_AHEAD_WINDOWS: i64 = 10;
/// Or by this long and two windows, where windows are long themselves.
const FAR_AHEAD_MS: i64 = 3_600_000;
/// Smaller inputs are read in no time.
const SMALL_INPUT_BYTES: u64 = 64 << 20;

/// What a job that has ended well came to.
pub(super) struct Ended<'a> {
    pub running: &'a Running<'a>,
    pub findings: &'a Findings,
    pub totals: &'a Totals,
    /// By sink.
    pub written: &'a [u64],
}

/// One line each, with numbers and what to do.
pub(super) fn warnings(ended: &Ended<'_>) -> Vec<String> {
    let mut found = Vec::new();
    let branches = &ended.running.program.branches;
    for (index, branch) in branches.iter().enumerate() {
        // A table that is read several times is spoken of once.
        let again = branches[..index].iter().any(|earlier| earlier.scan.table == branch.scan.table);
        if !again && branch.ports().next().is_some() {
            found.extend(ended.wrong_unit(index, branch));
            found.extend(ended.still_watermark(index, branch));
        }
    }
    found.extend(ended.row_from_the_future());
    found.extend(ended.no_output());
    found.extend(ended.idle_shards());
    found
}

impl Ended<'_> {
    fn watermark_of(&self, branch: usize) -> i64 {
        let splits = self.running.splits.iter().enumerate().filter(|(_, entry)| entry.branch == branch);
        splits.map(|(split, _)| self.findings.peaks(split).first).max().unwrap_or(Watermark::SQL_START.0)
    }

    fn wrong_unit(&self, index: usize, branch: &Branch) -> Option<String> {
        let (lowest, highest) = (self.findings.lowest_time(index)?, self.watermark_of(index));
        let (message, remedy) = wrong_unit(&branch.scan, lowest, highest)?;
        Some(format!("{message}; {remedy}"))
    }

    fn still_watermark(&self, index: usize, branch: &Branch) -> Option<String> {
        let lowest = self.findings.lowest_time(index)?;
        if self.watermark_of(index) > Watermark::SQL_START.0 {
            return None;
        }
        let watermark = branch.scan.watermark.as_ref()?;
        Some(format!(
            "the watermark of table {} ({}) never moved: no row brought it past 1970-01-01 00:00:00, where it starts, so \
             nothing was late and all windows fired at the end of the input; the event times start at {}: check the \
             time column and the expression",
            branch.scan.table,
            watermark.text,
            time(lowest)
        ))
    }

    /// One row that moved the watermark far ahead, so that most of the late rows are late.
    fn row_from_the_future(&self) -> Option<String> {
        let splits = self.running.splits;
        let name = |split: usize| splits[split].split.name();
        let file = |split: usize| (0..split).find(|&first| name(first) == name(split)).unwrap_or(split);
        let (cost, (split, value), origin) = self.findings.costliest(&file)?;
        let late = self.findings.late(&|other| file(other) == split).min(self.totals.rows_late);
        if late == 0 || cost < 2 || cost * 2 < late {
            return None;
        }
        let entry = &splits[split];
        let program = self.running.program;
        let branch = &program.branches[entry.branch];
        let schema = branch.scan.schema.to_arrow();
        let scan = ScanContext { spec: &branch.scan, schema: &schema, context: &program.context };
        let found = find_move(entry, &scan, &origin, value).ok().flatten();
        // What is known without reading a stream again, which cannot be done.
        let from = found.map_or(origin.before.max(origin.second).0, |found| found.from);
        // Before the first row there is nothing to compare it with but the rows that come later.
        let from = if from == Watermark::SQL_START.0 { self.findings.peaks(split).second } else { from };
        let jump = value.saturating_sub(from);
        let window = window_ms(program, branch)?;
        let enough = window.saturating_mul(FAR_AHEAD_WINDOWS).min(window.saturating_mul(2).max(FAR_AHEAD_MS));
        if jump < enough {
            return None;
        }
        let name = entry.split.name();
        let place = match found.map(|found| found.place) {
            Some((line, Some(_))) => format!("{name}:{line}: this row alone"),
            Some((row, None)) => format!("row {row} of {name}: this row alone"),
            None => format!("{name}: one row alone"),
        };
        let session = matches!(window_of(program, branch), Some(WindowSpec::Session { .. }));
        Some(format!(
            "{place} moved the watermark {} ahead, from {} to {}, and made {}{} of the {} late rows{} late; \
             repair it, or let the watermark pass it by: WATERMARK FOR {column} AS CASE WHEN {column} < TIMESTAMP '…' \
             THEN {} END (WHERE comes too late for that)",
            duration(jump),
            time(from),
            time(value),
            if session { "up to " } else { "" },
            count(cost.min(late)),
            count(late),
            if splits.iter().all(|other| other.split.name() == entry.split.name()) { "" } else { " of this file" },
            branch.scan.watermark.as_ref().map_or("", |watermark| watermark.text.as_str()),
            column = time_column(branch),
        ))
    }

    /// Tables that got no row.
    fn no_output(&self) -> Vec<String> {
        let sinks = self.running.program.sinks.iter().zip(self.written);
        let empty: Vec<&SinkSpec> = sinks.filter(|(_, rows)| **rows == 0).map(|(sink, _)| sink).collect();
        let totals = self.totals;
        if empty.is_empty() {
            return Vec::new();
        }
        if totals.rows_read() == 0 {
            let files = self.running.splits.len();
            return vec![format!(
                "no output: the input has no rows ({}); check the tables' 'path'",
                plural(files as u64, "file")
            )];
        }
        if empty.len() < self.written.len() {
            let warn = |sink: &SinkSpec| {
                format!(
                    "no row was written to {}: none passed the filters of its query (WHERE, HAVING) in time",
                    sink.table
                )
            };
            return empty.into_iter().map(warn).collect();
        }
        let fired = totals.windows_fired;
        let why = if totals.rows_used() == 0 {
            let parts = [
                (
                    totals.rows_filtered,
                    if self.running.program.unnests() {
                        "do not pass WHERE or have no elements"
                    } else {
                        "do not pass WHERE"
                    },
                ),
                (totals.rows_late, "came late"),
                (totals.rows_malformed, "are malformed"),
                (totals.rows_quarantined(), "are in quarantine"),
            ];
            let parts = parts.iter().filter(|(rows, _)| *rows > 0);
            let parts: Vec<String> = parts.map(|(rows, what)| format!("{} {what}", count(*rows))).collect();
            format!("of {} read {}", plural(totals.rows_read(), "row"), parts.join(", "))
        } else if fired > 0 {
            format!("HAVING or a later filter removed all of the {}", plural(fired, "result"))
        } else {
            format!("none of the {} falls in a window", plural(totals.rows_used(), "row"))
        };
        vec![format!("no output: {why}")]
    }

    /// A large input of fewer blocks than shards.
    fn idle_shards(&self) -> Option<String> {
        let (shards, splits) = (self.running.shards, self.running.splits);
        let blocks = splits.iter().map(|entry| entry.split.extent().blocks).fold(0, usize::saturating_add);
        if shards <= blocks || self.totals.bytes_read < SMALL_INPUT_BYTES {
            return None;
        }
        Some(format!(
            "{} of {shards} shards had nothing to read: the input comes in {} that cannot be divided; \
             write Parquet with smaller row groups, or more files",
            shards - blocks,
            plural(blocks as u64, "part")
        ))
    }
}

fn window_of<'a>(program: &'a Program, branch: &Branch) -> Option<&'a WindowSpec> {
    let port = branch.ports().next()?;
    program.stages[program.ports[port].stage].spec.window()
}

/// Size or gap.
fn window_ms(program: &Program, branch: &Branch) -> Option<i64> {
    match *window_of(program, branch)? {
        WindowSpec::Tumble { size_ms, .. } | WindowSpec::Hop { size_ms, .. } | WindowSpec::Cumulate { size_ms, .. } => {
            Some(size_ms)
        }
        WindowSpec::Session { gap_ms } => Some(gap_ms),
        WindowSpec::Attached { .. } => None,
    }
}

fn time_column(branch: &Branch) -> &str {
    let time = branch.scan.watermark.as_ref().and_then(|watermark| branch.scan.schema.fields.get(watermark.time));
    time.map_or("", |field| field.name.as_str())
}

/// In the two largest units that it has.
fn duration(ms: i64) -> String {
    const UNITS: [(i64, &str); 5] = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s"), (1, "ms")];
    let mut rest = ms.max(0);
    let mut parts = Vec::new();
    for (size, unit) in UNITS {
        if rest >= size && parts.len() < 2 {
            parts.push(format!("{} {unit}", rest / size));
            rest %= size;
        }
    }
    if parts.is_empty() { "0 ms".to_string() } else { parts.join(" ") }
}

fn plural(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(number), if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_durations_read_well() {
        assert_eq!(duration(86_400_000), "1 d");
        assert_eq!(duration(90_061_001), "1 d 1 h");
        assert_eq!([duration(0), duration(1_500)], ["0 ms", "1 s 500 ms"]);
        assert_eq!(time(1_714_564_801_500), "2024-05-01 12:00:01.5");
        assert_eq!(time(1_714_564_801_000_000), "1714564801000000 ms since 1970");
        assert_eq!([count(7), count(1_234), count(123_456)], ["7", "1,234", "123,456"]);
    }
}
