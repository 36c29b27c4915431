//! `transom schema`.

use std::io::Write;

use clap::Args;
use transom::error::{Error, Result};
use transom::guess::{self, Guess, TimeColumn};
use transom::numbers::grouped as count;
use unicode_width::UnicodeWidthStr;

use super::sample::SampleArgs;
use super::say;

/// Columns that the report shows one by one.
const COLUMNS_SHOWN: usize = 60;

#[derive(Args)]
pub struct SchemaArgs {
    #[command(flatten)]
    sample: SampleArgs,
    /// Name of the table [default: made from the file's]
    #[arg(long, value_name = "NAME")]
    table: Option<String>,
    /// Print the statement only
    #[arg(short, long)]
    quiet: bool,
}

pub fn schema(args: &SchemaArgs) -> Result<()> {
    let guess = args.sample.guess()?;
    let path = &args.sample.file;
    let table = args.table.clone().unwrap_or_else(|| guess::table_name(path));
    if !args.quiet {
        say(&report(&guess));
    }
    let statement = guess::ddl(&guess, &table, path, None);
    let mut out = std::io::stdout();
    out.write_all(statement.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| Error::io("write to", "stdout", error))
}

/// What was seen and why, as aligned lines.
fn report(guess: &Guess) -> String {
    let rows = match guess.whole {
        true => format!("{}, all there are", count(guess.rows)),
        false if guess.format == "parquet" => {
            format!("{} in the file; not all times were looked at, --all looks at all of this file", count(guess.rows))
        }
        false => format!("{} looked at; there are more, and --all looks at every one", count(guess.rows)),
    };
    let mut lines = vec![("format", guess.layout.clone()), ("rows", rows)];
    for (index, line) in columns(guess).into_iter().enumerate() {
        lines.push((if index == 0 { "columns" } else { "" }, line));
    }
    lines.extend(time_lines(guess));
    lines.extend(guess.notes.iter().map(|note| ("note", note.clone())));
    lines.iter().map(|(name, value)| format!("{name:>14}  {}\n", value.trim_end())).collect()
}

/// A table: name, type, NULLs, examples or the reason.
fn columns(guess: &Guess) -> Vec<String> {
    let mut rows = vec![["name", "type", "NULLs", "examples"].map(str::to_string)];
    for column in guess.columns.iter().take(COLUMNS_SHOWN) {
        let reason = column.reason.as_ref().map_or(String::new(), |reason| format!("  ({reason})"));
        rows.push([
            one_line(&column.name),
            short(&column.kind.to_string()),
            column.absent.map_or("?".to_string(), count),
            format!("{}{reason}", column.examples.iter().map(|text| one_line(text)).collect::<Vec<_>>().join(" | ")),
        ]);
    }
    let width = |at: usize| rows.iter().map(|row| row[at].width()).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2)];
    let pad = |text: &str, width: usize| " ".repeat(width.saturating_sub(text.width()));
    let line = |[name, kind, nulls, examples]: &[String; 4]| {
        let (name_pad, kind_pad, nulls_pad) = (pad(name, widths[0]), pad(kind, widths[1]), pad(nulls, widths[2]));
        format!("{name}{name_pad}  {kind}{kind_pad}  {nulls_pad}{nulls}  {examples}")
    };
    let mut lines: Vec<String> = rows.iter().map(line).collect();
    if guess.columns.len() > COLUMNS_SHOWN {
        lines.push(format!("… and {} more", guess.columns.len() - COLUMNS_SHOWN));
    }
    lines
}

/// Without line ends and what else would upset a terminal.
fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

fn short(kind: &str) -> String {
    const CHARACTERS: usize = 40;
    if kind.chars().count() > CHARACTERS {
        format!("{}…", kind.chars().take(CHARACTERS).collect::<String>())
    } else {
        kind.to_string()
    }
}

/// The event time, the order of the rows and what the watermark waits for.
pub fn time_lines(guess: &Guess) -> Vec<(&'static str, String)> {
    let Some(time) = guess.chosen() else {
        return vec![("event time", "none found: a window needs a column with a time".to_string())];
    };
    let others: Vec<&str> =
        guess.times.iter().map(|time| time.source.as_str()).filter(|name| *name != time.source).collect();
    let others = if others.is_empty() { String::new() } else { format!("; also possible: {}", others.join(", ")) };
    let mut lines = vec![("event time", format!("{} ({}){others}", time.source, time.described))];
    lines.push(("order", order(time)));
    if let Some(bound) = guess.bound() {
        let cheaper = time.disorder.cheaper(bound).map(|(bound, late)| {
            let rows = if late == 1 { "row would lag".to_string() } else { "rows would lag".to_string() };
            format!("; with {bound}, {} {rows} behind it", count(late))
        });
        let waits = if bound.0 == 0 { "follows every row at once".to_string() } else { format!("waits {bound}") };
        lines.push(("watermark", format!("{waits}{}", cheaper.unwrap_or_default())));
    }
    lines.extend(time.notes.iter().map(|note| ("note", note.clone())));
    lines
}

fn order(time: &TimeColumn) -> String {
    let disorder = &time.disorder;
    if disorder.behind == 0 {
        return "no row lags behind an earlier one".to_string();
    }
    let lag = lasting(disorder.lag_ms);
    let hint = if disorder.is_descending() {
        "; the file runs backwards, so that no window ends before the file does"
    } else if disorder.is_unordered() {
        "; the file is in no order of time, so that few windows end before the file does"
    } else {
        ""
    };
    format!(
        "{} of {} rows lag behind an earlier one, by {lag} at most{hint}",
        count(disorder.behind),
        count(disorder.rows)
    )
}

/// A length of time, to about two digits.
fn lasting(ms: i64) -> String {
    let ms = ms as f64;
    match ms {
        ms if ms < 1e3 => format!("{ms} ms"),
        ms if ms < 120e3 => format!("{:.1} s", ms / 1e3),
        ms if ms < 7_200e3 => format!("{:.1} min", ms / 60e3),
        ms if ms < 172_800e3 => format!("{:.1} h", ms / 3_600e3),
        ms => format!("{:.1} days", ms / 86_400e3),
    }
}
