//! `transom window`.

use std::io::Write;
use std::path::Path;

use clap::Args;
use transom::error::{Error, ErrorKind, Place, Result};
use transom::guess::{self, Bound, Fragment, Given, Guess, Key, Query, Windows, duration_ms, quoted, unknown_column};
use transom::sql::{self, Action, ScriptOptions};
use transom::types::Schema;

use super::run::{RunFlags, execute};
use super::sample::SampleArgs;
use super::schema::time_lines;
use super::{Failed, Loaded, note};

/// What messages call the script that the command line stands for; `--show-sql` prints it.
const SCRIPT_NAME: &str = "the script of --show-sql";

#[derive(Args)]
#[command(group = clap::ArgGroup::new("windows").required(true).args(["tumble", "hop", "cumulate", "session"]))]
pub struct WindowArgs {
    #[command(flatten)]
    sample: SampleArgs,
    /// A column to group by, or an expression; may be given several times
    #[arg(short, long = "key", value_name = "COLUMN")]
    keys: Vec<String>,
    /// The column with the event time [default: the likeliest one]
    #[arg(short, long, value_name = "COLUMN")]
    time: Option<String>,
    /// Windows one after the other, for example 1m
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = positive)]
    tumble: Option<i64>,
    /// Windows that overlap, for example 5m/1m
    #[arg(long, value_name = "SIZE/SLIDE", allow_hyphen_values = true, value_parser = pair)]
    hop: Option<(i64, i64)>,
    /// Windows that grow up to a size, for example 1d/1h
    #[arg(long, value_name = "SIZE/STEP", allow_hyphen_values = true, value_parser = pair)]
    cumulate: Option<(i64, i64)>,
    /// Windows that end when nothing came for a while, for example 30m
    #[arg(long, value_name = "GAP", allow_hyphen_values = true, value_parser = positive)]
    session: Option<i64>,
    /// Shift the start of windows, for example 30m
    #[arg(long, value_name = "LENGTH", allow_hyphen_values = true, value_parser = duration_ms, conflicts_with = "session")]
    offset: Option<i64>,
    /// What to compute of each window, in SQL, with commas between
    #[arg(short, long = "agg", value_name = "LIST", default_value = "count(*)")]
    aggregates: String,
    /// Take only rows for which this condition of SQL is true
    #[arg(short, long = "where", value_name = "CONDITION", value_parser = condition)]
    filter: Option<String>,
    /// Wait so long for rows that come late [default: as measured]
    #[arg(long, value_name = "LENGTH", allow_hyphen_values = true, value_parser = duration_ms, conflicts_with = "schema")]
    delay: Option<i64>,
    /// Time zone in which windows start, if the event time is an instant [default: UTC]
    #[arg(long, value_name = "ZONE")]
    timezone: Option<String>,
    /// The table instead of a guess: a CREATE TABLE statement, or a file with one
    #[arg(long, value_name = "SQL", conflicts_with_all = ["format", "rows", "all"])]
    schema: Option<String>,
    /// Write the rows to a file instead; its ending says the format: csv, json, jsonl or parquet
    #[arg(long, value_name = "FILE")]
    to: Option<String>,
    /// Print the script that this command stands for, and stop
    #[arg(long)]
    show_sql: bool,
    #[command(flatten)]
    run: RunFlags,
}

fn positive(text: &str) -> Result<i64, String> {
    match duration_ms(text)? {
        0 => Err("a length of time above zero is needed".to_string()),
        ms => Ok(ms),
    }
}

fn condition(text: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        return Err(
            "a condition of SQL is needed, for example 'amount > 10'; leave the flag out to take all rows".to_string()
        );
    }
    Ok(text.to_string())
}

/// A size and the step into which it is divided.
fn pair(text: &str) -> Result<(i64, i64), String> {
    let (size, step) = text.split_once('/').ok_or("two lengths of time are needed, for example 5m/1m")?;
    let (size, step) = (positive(size)?, positive(step)?);
    if size < step {
        return Err(format!("the first length must be a multiple of the second; '{text}' may be the wrong way round"));
    }
    if size % step != 0 {
        return Err("the first length must be a multiple of the second, for example 6m/2m or 1d/6h".to_string());
    }
    Ok((size, step))
}

/// The table, as it was guessed or given.
struct Table {
    ddl: String,
    name: String,
    time: String,
    columns: Vec<String>,
    guess: Option<Guess>,
}

pub fn window(args: &WindowArgs) -> Result<(), Failed> {
    let table = match &args.schema {
        Some(schema) => args.given(schema)?,
        None => args.guessed()?,
    };
    let mut query = args.query(&table)?;
    if let Some(path) = &args.to {
        query.sink = Some(args.sink(&query, path)?);
    }
    let (text, fragments) = query.script()?;
    if args.show_sql {
        let written = std::io::stdout().write_all(text.as_bytes());
        return Ok(written.map_err(|error| Error::io("write to", "stdout", error))?);
    }
    if let (Some(guess), false) = (&table.guess, args.run.quiet) {
        args.tell(guess);
    }
    if args.to.is_none() && !args.run.quiet {
        tell_whole_averages(&text);
    }
    let loaded = Loaded { text, options: options() };
    execute(&args.run, &loaded).map_err(|error| args.explain(error, &loaded.text, &fragments, &table))
}

fn options() -> ScriptOptions {
    ScriptOptions { file: SCRIPT_NAME.to_string(), ..ScriptOptions::default() }
}

impl WindowArgs {
    fn guessed(&self) -> Result<Table> {
        let mut guess = self.sample.guess()?;
        if let Some(time) = &self.time {
            guess.choose_time(time)?;
        }
        let Some(time) = guess.time_name() else {
            let help = "name one with --time, or give the table yourself: transom schema FILE > t.sql, add a WATERMARK, \
                        and then --schema t.sql";
            let why = guess.notes.first().map_or(String::new(), |note| format!("; {note}"));
            return Err(Error::usage(format!("no column of {} holds an event time{why}", self.sample.file)).help(help));
        };
        let name = guess::table_name(&self.sample.file);
        Ok(Table {
            ddl: guess::ddl(&guess, &name, &self.sample.file, self.delay.map(Bound)),
            name,
            time,
            columns: guess.column_names(),
            guess: Some(guess),
        })
    }

    fn given(&self, schema: &str) -> Result<Table> {
        let text = if Path::new(schema).is_file() {
            std::fs::read_to_string(schema).map_err(|error| Error::io("read", schema, error))?
        } else {
            schema.to_string()
        };
        let given = Given::new(&text, &self.sample.file)?;
        let script = format!("{}SELECT * FROM {};", given.text, quoted(&given.table));
        let options = ScriptOptions { file: "--schema".to_string(), ..ScriptOptions::default() };
        let columns = columns_of(&script, &options)?.fields.into_iter().map(|field| field.name).collect();
        let time = self.time.clone().or(given.time).ok_or_else(|| {
            Error::usage("--schema: the table has no WATERMARK, so that nothing says which column is the event time")
                .help("add a line such as: WATERMARK FOR ts AS ts - INTERVAL '5' SECOND")
        })?;
        Ok(Table { ddl: given.text, name: given.table, time, columns, guess: None })
    }

    fn query(&self, table: &Table) -> Result<Query> {
        let windows = match (self.tumble, self.hop, self.cumulate, self.session) {
            (Some(size), ..) => Windows::Tumble { size },
            (_, Some((size, slide)), ..) => Windows::Hop { size, slide },
            (_, _, Some((size, step)), _) => Windows::Cumulate { size, step },
            (_, _, _, Some(gap)) => Windows::Session { gap },
            _ => return Err(Error::internal("a window command without windows")),
        };
        let mut keys = Vec::new();
        for text in &self.keys {
            self.add_keys(text, table, &mut keys)?;
        }
        Ok(Query {
            ddl: table.ddl.clone(),
            table: table.name.clone(),
            time: table.time.clone(),
            columns: table.columns.clone(),
            keys,
            windows,
            offset: self.offset,
            aggregates: self.aggregates.clone(),
            filter: self.filter.clone(),
            time_zone: self.timezone.clone(),
            sink: None,
        })
    }

    /// A column, several with commas between, or an expression.
    fn add_keys(&self, text: &str, table: &Table, keys: &mut Vec<Key>) -> Result<()> {
        let known = |name: &str| table.columns.iter().find(|column| *column == name || quoted(column) == name);
        if let Some(name) = known(text.trim()) {
            keys.push(Key::Column(name.clone()));
            return Ok(());
        }
        let parts: Vec<&str> = text.split(',').map(str::trim).collect();
        let names: Option<Vec<&String>> = parts.iter().map(|part| known(part)).collect();
        if let Some(names) = names {
            keys.extend(names.into_iter().map(|name| Key::Column(name.clone())));
            return Ok(());
        }
        let is_plain = |part: &&str| part.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | ' ' | '-'));
        if parts.iter().all(is_plain) {
            let unknown = parts.iter().find(|part| known(part).is_none()).copied().unwrap_or(text);
            return Err(unknown_column("--key", unknown, &table.columns));
        }
        keys.push(Key::Expression(text.to_string()));
        Ok(())
    }

    /// The table that takes the rows, by the types that the query has.
    fn sink(&self, query: &Query, path: &str) -> Result<(String, String)> {
        let format = match Path::new(path).extension().and_then(|ending| ending.to_str()) {
            Some("csv") => "csv",
            Some("json" | "jsonl" | "ndjson") => "json",
            Some("parquet") => "parquet",
            _ => {
                return Err(Error::usage(format!("--to: the ending of '{path}' says no format"))
                    .help("end the name in .csv, .json, .jsonl or .parquet"));
            }
        };
        let (text, fragments) = query.script()?;
        let schema = columns_of(&text, &options()).map_err(|error| placed(error, &fragments).0)?;
        let column = |field: &transom::types::Field| format!("  {} {}", quoted(&field.name), field.data_type.kind);
        let columns: Vec<String> = schema.fields.iter().map(column).collect();
        let header = if format == "csv" { ", 'csv.header' = 'true'" } else { "" };
        let name = if query.table == "results" { "results_2" } else { "results" };
        let ddl = format!(
            "CREATE TABLE {name} (\n{}\n) WITH ('connector' = 'filesystem', 'path' = '{}', 'format' = '{format}'{header});\n",
            columns.join(",\n"),
            path.replace('\'', "''")
        );
        Ok((ddl, name.to_string()))
    }

    /// What was guessed.
    fn tell(&self, guess: &Guess) {
        for (name, line) in time_lines(guess) {
            let line = match (name, self.delay) {
                ("watermark", Some(delay)) => format!("waits {}, as --delay says", Bound(delay)),
                _ => line,
            };
            match name {
                "order" => {}
                "note" => note(&line),
                name => note(&format!("{name}: {line}")),
            }
        }
        let zoned = guess.chosen().is_some_and(|time| time.zoned);
        if self.timezone.is_some() && !zoned {
            note("--timezone has no effect: the event time is what a clock showed, without a zone");
        }
        guess.notes.iter().for_each(|text| note(text));
    }

    /// The error in terms of the command line.
    fn explain(&self, error: Error, script: &str, fragments: &[Fragment], table: &Table) -> Failed {
        let (error, shown) = placed(error, fragments);
        let Some(guess) = table.guess.as_ref().filter(|_| error.kind() == ErrorKind::Data) else {
            let text = shown.unwrap_or_else(|| script.to_string());
            return Failed { error, script: Some(Loaded { text, options: options() }) };
        };
        if error.message().starts_with("the event time") {
            let help = "--quarantine FILE sets such rows aside and goes on; or repair them in the file first";
            return Failed { error: error.help(help), script: None };
        }
        let column = error.message().strip_prefix("column `").and_then(|rest| rest.split_once('`'));
        let Some((column, _)) = column.filter(|(name, _)| guess.columns.iter().any(|column| column.name == *name))
        else {
            return Failed { error, script: None };
        };
        let help = format!(
            "the types are guessed from {} rows; to widen the column: transom schema {} > t.sql, make {} a STRING there, \
             and add --schema t.sql; or look at every row with --all",
            guess.rows,
            self.sample.file,
            quoted(column)
        );
        Failed { error: error.help(help), script: None }
    }
}

/// Who asks for an average expects a fraction, which SQL does not give for whole numbers.
fn tell_whole_averages(script: &str) {
    let Ok(schema) = columns_of(script, &options()) else { return };
    for field in schema.fields.iter().filter(|field| field.data_type.kind.is_integer()) {
        if field.name.starts_with("avg_") {
            note(&format!(
                "{} is a whole number, as the AVG of whole numbers is in Flink; avg(CAST(… AS DOUBLE)) keeps the fraction",
                field.name
            ));
        }
    }
}

/// The columns of the SELECT that a script ends with.
fn columns_of(script: &str, options: &ScriptOptions) -> Result<Schema> {
    let compiled = sql::compile(script, options)?;
    match compiled.statements.into_iter().next_back().map(|statement| statement.action) {
        Some(Action::Select { schema, .. }) => Ok(schema),
        _ => Err(Error::internal("a script that ends with no SELECT")),
    }
}

/// The error at its place in the flag that the text came from, with this text.
fn placed(error: Error, fragments: &[Fragment]) -> (Error, Option<String>) {
    let Some(place) = error.place().cloned() else { return (error, None) };
    let within = |fragment: &&Fragment| {
        let end = fragment.column + fragment.text.chars().count() as u64;
        place.line == fragment.line && (fragment.column..=end).contains(&place.column)
    };
    let Some(fragment) = fragments.iter().find(within) else { return (error, None) };
    let place = Place {
        file: fragment.flag.to_string(),
        line: 1,
        column: place.column - fragment.column + 1,
        length: place.length,
    };
    let moved = Error::new(error.kind(), error.message()).at_place(place);
    let moved = match error.remedy() {
        Some(remedy) => moved.help(remedy),
        None => moved,
    };
    (moved, Some(fragment.text.clone()))
}
