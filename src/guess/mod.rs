//! From the bytes of a file to a table: format, columns, types, the event time and how long its watermark must wait.
//!
//! Nothing here opens a text file: callers hand in its pieces ([`Input`]), all or a sample of them. What was seen, and
//! why the guess is what it is, stays in [`Guess`] for a report.

mod ddl;
mod disorder;
mod evidence;
mod form;
mod input;
mod logs;
mod names;
mod nested;
mod parquet;
mod partitions;
mod pattern;
mod query;
mod records;
mod sniff;
mod text;
mod times;
mod tokens;

pub use ddl::{Given, ddl, table_name};
pub use disorder::{Bound, Disorder};
pub use input::{Begin, Input, Piece, Sample};
pub use names::quoted;
pub use parquet::parquet;
pub use partitions::partitions;
pub use query::{Fragment, Key, Query, Windows, duration_ms};
pub use text::text;

use crate::error::{Error, Result, nearest};
use crate::types::Type;

/// A format that a table can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Csv,
    Json,
    Parquet,
}

impl Format {
    /// By the ending of a name, a compression's ending left away.
    pub fn by_name(name: &str) -> Option<Format> {
        match ending(name).as_str() {
            "csv" | "tsv" | "tab" | "psv" => Some(Format::Csv),
            "json" | "jsonl" | "ndjson" => Some(Format::Json),
            "parquet" | "pq" => Some(Format::Parquet),
            _ => None,
        }
    }
}

/// The ending of a file's name in lower case, without that of a compression.
fn ending(name: &str) -> String {
    let name = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
    let packed = [".gz", ".gzip", ".bz2", ".zst", ".xz", ".deflate"];
    let name = packed.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(&name);
    name.rsplit_once('.').map(|(_, ending)| ending.to_string()).unwrap_or_default()
}

/// A table that was guessed.
#[derive(Debug, Clone)]
pub struct Guess {
    /// As the option `format` names it.
    pub format: &'static str,
    /// Further options of the format.
    pub options: Vec<(String, String)>,
    pub columns: Vec<Column>,
    /// Those whose values stand in the names of folders.
    pub partitions: Vec<String>,
    /// What may be the event time, best first.
    pub times: Vec<TimeColumn>,
    /// Which of them it is.
    pub time: Option<usize>,
    /// Rows looked at.
    pub rows: u64,
    /// These are all rows.
    pub whole: bool,
    /// What the format is, for the report.
    pub layout: String,
    /// What a user should know before using the table, one sentence each.
    pub notes: Vec<String>,
}

/// A column of the file.
#[derive(Debug, Clone)]
pub struct Column {
    pub name: String,
    pub kind: Type,
    /// An expression, for a column that the file does not have.
    pub expression: Option<String>,
    /// Rows without a value, if known.
    pub absent: Option<u64>,
    /// The first different values.
    pub examples: Vec<String>,
    /// Why it has this type, where that is no matter of course.
    pub reason: Option<String>,
}

/// What may be the event time.
#[derive(Debug, Clone)]
pub struct TimeColumn {
    /// The columns that it is made from, as a user would name them.
    pub source: String,
    /// How it is written in the file.
    pub described: String,
    /// An expression of type TIMESTAMP(3) or TIMESTAMP_LTZ(3); `None`: the column itself is one.
    pub expression: Option<String>,
    /// It is an instant (TIMESTAMP_LTZ), else a time on a wall clock.
    pub zoned: bool,
    pub disorder: Disorder,
    /// What a user should know about it.
    pub notes: Vec<String>,
}

impl Guess {
    /// Takes another column for the event time.
    ///
    /// # Errors
    /// Usage, if there is no such column or it holds no times.
    pub fn choose_time(&mut self, name: &str) -> Result<()> {
        let known = |time: &TimeColumn| time.source == name || names::quoted(&time.source) == name;
        if let Some(index) = self.times.iter().position(known) {
            self.time = Some(index);
            return Ok(());
        }
        let possible: Vec<&str> = self.times.iter().map(|time| time.source.as_str()).collect();
        let possible = match possible.as_slice() {
            [] => "no column could be read as a time".to_string(),
            names => format!("these could be read as times: {}", names.join(", ")),
        };
        let Some(column) = self.columns.iter().find(|column| column.name == name) else {
            return Err(self.unknown_column("--time", name));
        };
        let example = column.examples.first().map_or(String::new(), |example| format!(", for example '{example}'"));
        let absent = column.absent.filter(|absent| *absent > 0);
        let absent = absent.map_or(String::new(), |absent| format!(", with {absent} NULLs"));
        Err(Error::usage(format!("--time: column `{name}` is {}{example}{absent}: no event time", column.kind)).help(
            format!(
                "{possible}; or give the table yourself: transom schema FILE > t.sql, edit it, and add --schema t.sql"
            ),
        ))
    }

    /// The names of the columns that a query may use.
    pub fn column_names(&self) -> Vec<String> {
        self.columns.iter().map(|column| column.name.clone()).chain(self.computed_name()).collect()
    }

    /// The error for a name that no column has.
    pub fn unknown_column(&self, flag: &str, name: &str) -> Error {
        let names = self.column_names();
        unknown_column(flag, name, &names)
    }

    /// The event time.
    pub fn chosen(&self) -> Option<&TimeColumn> {
        self.time.and_then(|index| self.times.get(index))
    }

    /// The name of the time attribute.
    pub fn time_name(&self) -> Option<String> {
        let time = self.chosen()?;
        Some(self.computed_name().unwrap_or_else(|| time.source.clone()))
    }

    /// The name of the column that is computed for the event time, if it is.
    fn computed_name(&self) -> Option<String> {
        self.chosen()?.expression.as_ref()?;
        Some(names::unused("event_time", |name| self.columns.iter().any(|column| column.name == name)))
    }

    /// How long the watermark waits.
    pub fn bound(&self) -> Option<Bound> {
        self.chosen().map(|time| time.disorder.bound(self.whole))
    }
}

/// The error for a name that no column has. `flag`: where it was given.
pub fn unknown_column(flag: &str, name: &str, names: &[String]) -> Error {
    const NAMES_SHOWN: usize = 30;
    let error = Error::usage(format!("{flag}: the file has no column '{name}'"));
    if let Some(near) = nearest(name, names.iter().map(String::as_str)) {
        return error.help(format!("did you mean '{near}'?"));
    }
    let shown: Vec<&str> = names.iter().take(NAMES_SHOWN).map(String::as_str).collect();
    let more = if names.len() > NAMES_SHOWN { ", …" } else { "" };
    error.help(format!("its columns are: {}{more}", shown.join(", ")))
}
