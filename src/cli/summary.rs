//! The closing figures of a job, and how numbers and times read.

use std::time::Duration;

use transom::job::JobSummary;
use transom::numbers::{bytes, grouped as count};
use unicode_width::UnicodeWidthStr;

/// A block of aligned lines.
pub fn text(job: &JobSummary) -> String {
    aligned(&lines(job))
}

/// Of the block, what became of the rows that were read.
pub fn brief(job: &JobSummary) -> String {
    let mut lines = lines(job);
    lines.retain(|(name, _)| ["rows read", "quarantined", "late", "partly late", "late copies"].contains(name));
    aligned(&lines)
}

fn aligned(lines: &[(&str, String)]) -> String {
    lines.iter().map(|(name, value)| format!("{name:>14}  {}\n", wrapped(value))).collect()
}

fn lines(job: &JobSummary) -> Vec<(&'static str, String)> {
    let totals = &job.totals;
    let mut parts = vec![
        (totals.rows_used(), "used"),
        (totals.rows_filtered, "filtered"),
        (totals.rows_late, "late"),
        (totals.rows_malformed, "malformed"),
    ];
    if job.quarantine.is_some() {
        parts.push((totals.rows_quarantined(), "quarantined"));
    }
    let parts: Vec<String> = parts.iter().map(|(rows, what)| format!("{} {what}", count(*rows))).collect();
    let again = match totals.rows_repeated {
        0 => String::new(),
        rows => format!(" + {} for further queries", count(rows)),
    };
    let mut lines = vec![("rows read", format!("{}{again} = {}", count(totals.rows_read()), parts.join(" + ")))];
    if let Some(path) = job.quarantine.as_ref().filter(|_| totals.rows_quarantined() > 0) {
        let reasons = [(totals.rows_unreadable, "unreadable"), (totals.rows_without_time, "event time NULL")];
        let reasons: Vec<String> = reasons
            .iter()
            .filter(|(rows, _)| *rows > 0)
            .map(|(rows, reason)| format!("{} {reason}", count(*rows)))
            .collect();
        lines.push(("quarantined", format!("{}, to {path}", reasons.join(" + "))));
    }
    if totals.rows_late > 0 {
        let share = 100.0 * totals.rows_late as f64 / totals.rows_read() as f64;
        let why = "came after all their windows had fired; a larger bound in WATERMARK FOR waits longer";
        let to = job.late_rows.as_ref().map_or(String::new(), |path| format!("; see {path}"));
        lines.push(("late", format!("{share:.1} % of the rows {why}{to}")));
    }
    if let Some(path) = job.late_rows.as_ref().filter(|_| job.rows_partly_late > 0) {
        let rows = plural(job.rows_partly_late as usize, "row");
        lines.push(("partly late", format!("{rows} came after some of their windows had fired; see {path}")));
    }
    if totals.copies_late > 0 {
        lines.push((
            "late copies",
            format!("{} of rows in several windows or with several elements", count(totals.copies_late)),
        ));
    }
    if job.has_windows {
        lines.push(("windows fired", count(totals.windows_fired)));
    }
    let to: Vec<String> = job.sinks.iter().map(|(sink, rows)| format!("{} to {sink}", count(*rows))).collect();
    lines.push(("rows written", to.join(", ")));
    if let Some(rule) = &job.watermark_rule {
        lines.push(("watermark", rule.clone()));
    }
    lines.push((
        "time",
        format!(
            "{}, {} rows/s on {} from {}{}",
            duration(job.elapsed),
            count(job.rows_per_second() as u64),
            plural(job.shards, "shard"),
            plural(job.files, "file"),
            if job.readings > job.files { format!(" in {} readings", job.readings) } else { String::new() }
        ),
    ));
    if job.has_windows {
        let spilled = match totals.state_bytes_spilled {
            0 => String::new(),
            moved => format!(" in memory, {} moved to the disk", bytes(moved)),
        };
        lines.push(("peak state", bytes(totals.state_bytes_peak) + &spilled));
    }
    if let Some(last) = &job.checkpoints.last {
        let count = count(job.checkpoints.count);
        lines.push(("checkpoints", format!("{count}, the last of {} in {}", bytes(last.bytes), duration(last.took))));
        let pauses = &job.checkpoints.pauses;
        let at = |percent: f64| pause(pauses.percentile(percent));
        lines.push((
            "pauses",
            format!("{} of a shard at most, p99 {}, p50 {}", pause(pauses.longest()), at(99.0), at(50.0)),
        ));
    }
    lines
}

/// Columns of a terminal.
const WIDTH: usize = 80;
/// Columns in front of a value.
const MARGIN: usize = 16;

/// The value in lines that fit beside its name.
fn wrapped(value: &str) -> String {
    let (mut out, mut column) = (String::new(), MARGIN);
    for word in value.split(' ') {
        let width = word.width();
        if column > MARGIN && column + 1 + width > WIDTH {
            out.push_str(&format!("\n{:MARGIN$}", ""));
            column = MARGIN;
        } else if column > MARGIN {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += width;
    }
    out
}

fn plural(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// A short time.
fn pause(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}

pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        s if s < 1.0 => format!("{:.0} ms", s * 1e3),
        s if s < 60.0 => format!("{s:.2} s"),
        s => format!("{} min {:.0} s", (s / 60.0).floor(), s % 60.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_value_goes_on_below_itself() {
        let text = wrapped(&"word ".repeat(20));
        assert!(text.lines().all(|line| line.trim_end().len() <= WIDTH), "{text}");
        assert!(text.lines().skip(1).all(|line| line.starts_with(&" ".repeat(MARGIN))), "{text}");
        assert_eq!(wrapped("a b"), "a b");
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!([count(0), count(999), count(1_000), count(12_345_678)], ["0", "999", "1,000", "12,345,678"]);
        assert_eq!([bytes(17), bytes(1_536), bytes(5 << 30)], ["17 B", "1.5 KiB", "5.0 GiB"]);
        assert_eq!(duration(Duration::from_millis(61_500)), "1 min 2 s");
    }
}
