//! Timed runs over made data. A time is printed only when the answer was right.

pub mod results;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ValueEnum;
use comfy_table::{CellAlignment, Table, presets};
use transom::numbers::grouped;

use crate::engine::{Request, Tuning};
use crate::json::Json;
use crate::number::short_count;
use crate::supervise::{self, Cost, Outcome, Work};
use crate::workload::Spec;
use crate::workload::format::{self, Format};
use crate::workload::reference::{self, Answer, Query, Totals};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SinkKind {
    /// Result rows are encoded as CSV and written to a local folder.
    Csv,
    /// Result rows are counted and forgotten.
    Blackhole,
}

#[derive(Debug, Clone)]
pub struct Plan {
    pub spec: Spec,
    pub format: Format,
    pub query: Query,
    pub sink: SinkKind,
    pub tuning: Tuning,
    pub repeat: usize,
    /// Where made data is kept for the next time, and results are written.
    pub folder: PathBuf,
    pub time_limit: Duration,
    /// Also print one JSON object with the raw figures.
    pub json: bool,
}

/// # Errors
/// No data, a failed job, a wrong answer.
pub fn run(plan: &Plan) -> Result<(), String> {
    let io = |e: std::io::Error| format!("cannot make the data: {e}");
    let files = format::write(&plan.spec, &[plan.format], &plan.folder).map_err(io)?;
    let input = files[0].canonicalize().map_err(io)?;
    // from here on the file is in the page cache, for the first run as for the last
    std::io::copy(&mut File::open(&input).map_err(io)?, &mut std::io::sink()).map_err(io)?;
    let answer = reference::answer(&plan.spec, plan.query)?;

    let mut costs = Vec::new();
    if plan.sink == SinkKind::Blackhole {
        run_once(plan, &input, SinkKind::Csv, &answer.totals)?;
    }
    for _ in 0..plan.repeat {
        costs.push(run_once(plan, &input, plan.sink, &answer.totals)?);
    }
    let bytes = fs::metadata(&input).map_err(io)?.len();
    print_report(plan, &answer, &costs, bytes);
    Ok(())
}

/// Runs the job in a process of its own and checks what it wrote.
///
/// # Errors
/// A failed job, a wrong answer.
pub fn run_once(plan: &Plan, input: &Path, sink: SinkKind, answer: &Totals) -> Result<Cost, String> {
    let out = tempfile::Builder::new().prefix("results-").tempdir_in(&plan.folder);
    let out = out.map_err(|e| format!("cannot make a folder for the results: {e}"))?;
    let results = out.path().canonicalize().map_err(|e| e.to_string())?.join("results");
    let request = Request {
        text: script(plan, input, sink, &results),
        file: "throughput.sql".into(),
        variables: BTreeMap::new(),
        tuning: plan.tuning,
        restores: None,
    };
    let cost = match supervise::measure(&Work::Script(request), plan.time_limit) {
        (Outcome::Done, Some(cost)) => cost,
        (Outcome::Done, None) => return Err("the job did not say what it cost".into()),
        (Outcome::Failed { message, .. } | Outcome::Differs(message) | Outcome::Died(message), _) => {
            return Err(format!("the job failed: {message}"));
        }
        (Outcome::TimedOut, _) => return Err(format!("the job took longer than {:?}", plan.time_limit)),
    };
    if sink == SinkKind::Csv {
        let totals = results::read_totals(&results, plan.query)?;
        if totals != *answer {
            return Err(format!("wrong answer\n  expected {answer:?}\n  got      {totals:?}"));
        }
    }
    Ok(cost)
}

/// The job, in the SQL that Flink runs too.
pub fn script(plan: &Plan, input: &Path, sink: SinkKind, results: &Path) -> String {
    let (column, key, comma) = if plan.query.has_key() { ("`key` BIGINT, ", "`key`", ", ") } else { ("", "", "") };
    let sink = match sink {
        SinkKind::Csv => format!("'connector' = 'filesystem', 'path' = '{}', 'format' = 'csv'", results.display()),
        SinkKind::Blackhole => "'connector' = 'blackhole'".to_string(),
    };
    format!(
        "SET 'pipeline.auto-watermark-interval' = '0';
CREATE TABLE events (
  ts TIMESTAMP(3), `key` BIGINT, `value` BIGINT, channel STRING,
  WATERMARK FOR ts AS ts - {bound}
) WITH ('connector' = 'filesystem', 'path' = '{input}', 'format' = '{format}');
CREATE TABLE results (
  {column}window_start TIMESTAMP(3), window_end TIMESTAMP(3), n BIGINT, s BIGINT
) WITH ({sink});
INSERT INTO results
SELECT {key}{comma}window_start, window_end, COUNT(*), SUM(`value`)
FROM TABLE({window})
GROUP BY {key}{comma}window_start, window_end;
",
        bound = plan.spec.watermark_bound(),
        input = input.display(),
        format = plan.format.extension(),
        window = plan.query.window_function(),
    )
}

/// Figures of one run.
struct Figures {
    wall_s: f64,
    rows_per_s: f64,
    cpu_ns_per_row: f64,
    peak_rss_mib: f64,
}

impl Figures {
    fn new(cost: &Cost, rows: u64) -> Self {
        let wall_s = cost.wall.as_secs_f64();
        Figures {
            wall_s,
            rows_per_s: rows as f64 / wall_s.max(1e-9),
            cpu_ns_per_row: cost.cpu.as_nanos() as f64 / rows as f64,
            peak_rss_mib: cost.peak_rss_bytes as f64 / f64::from(1 << 20),
        }
    }
}

fn print_report(plan: &Plan, answer: &Answer, costs: &[Cost], bytes: u64) {
    let figures: Vec<Figures> = costs.iter().map(|cost| Figures::new(cost, plan.spec.rows)).collect();
    let column = |pick: fn(&Figures) -> f64| Spread::of(figures.iter().map(pick).collect());
    let columns = [
        column(|f| f.wall_s),
        column(|f| f.rows_per_s / 1e6),
        column(|f| f.cpu_ns_per_row),
        column(|f| f.peak_rss_mib),
    ];
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(vec!["run", "wall s", "M rows/s", "CPU ns/row", "peak RSS MiB"]);
    let cells = |label: String, values: [f64; 4]| {
        let digits = [3, 2, 1, 0];
        std::iter::once(label)
            .chain(values.iter().zip(digits).map(|(value, n)| format!("{value:.n$}")))
            .collect::<Vec<_>>()
    };
    for (run, f) in figures.iter().enumerate() {
        let values = [f.wall_s, f.rows_per_s / 1e6, f.cpu_ns_per_row, f.peak_rss_mib];
        table.add_row(cells((run + 1).to_string(), values));
    }
    table.add_row(cells("median".into(), std::array::from_fn(|i| columns[i].median)));
    table.add_row(cells("spread".into(), std::array::from_fn(|i| columns[i].max - columns[i].min)));
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }

    let shards = plan.tuning.shards.map_or("one shard per core".to_string(), |n| format!("{n} shards"));
    println!(
        "{:?}: {} rows, {} keys {}, {} ({:.1} MiB), {shards}",
        plan.query,
        short_count(plan.spec.rows),
        short_count(plan.spec.keys),
        plan.spec.distribution,
        plan.format.extension(),
        bytes as f64 / f64::from(1 << 20),
    );
    println!("{}", measured_path(plan));
    println!(
        "answer checked: {} result rows, sum of counts {}, {} rows dropped as late\n",
        grouped(answer.totals.result_rows),
        grouped(answer.totals.sum_of_counts),
        grouped(answer.late_rows),
    );
    println!("{table}");
    if plan.json {
        println!("{}", raw_line(plan, answer, &figures));
    }
}

fn measured_path(plan: &Plan) -> String {
    let end = match plan.sink {
        SinkKind::Csv => "encoding and writing the result rows as CSV to a local folder, commit",
        SinkKind::Blackhole => "result rows into blackhole (the answer was checked in a run before, with a CSV sink)",
    };
    format!(
        "measured: planning, reading the file from the page cache, decoding, watermark, windows, {end};\n\
         not measured: making the data, start of the process (each run has its own), checking the answer"
    )
}

/// The raw figures as one JSON object.
fn raw_line(plan: &Plan, answer: &Answer, figures: &[Figures]) -> Json {
    let number = |value: String| Json::Number(value);
    let list = |pick: fn(&Figures) -> f64, digits: usize| {
        Json::List(figures.iter().map(|f| Json::Number(format!("{:.digits$}", pick(f)))).collect())
    };
    let text = |text: String| Json::Text(text.to_lowercase());
    let fields = [
        ("query", text(format!("{:?}", plan.query))),
        ("data", Json::Text(plan.spec.stem())),
        ("format", text(plan.format.extension().into())),
        ("sink", text(format!("{:?}", plan.sink))),
        ("shards", plan.tuning.shards.map_or(Json::Null, |n| number(n.to_string()))),
        ("rows", number(plan.spec.rows.to_string())),
        ("result_rows", number(answer.totals.result_rows.to_string())),
        ("late_rows", number(answer.late_rows.to_string())),
        ("wall_s", list(|f| f.wall_s, 4)),
        ("rows_per_s", list(|f| f.rows_per_s, 0)),
        ("cpu_ns_per_row", list(|f| f.cpu_ns_per_row, 2)),
        ("peak_rss_mib", list(|f| f.peak_rss_mib, 1)),
    ];
    Json::Object(fields.into_iter().map(|(name, value)| (name.to_string(), value)).collect())
}

/// Of several runs.
pub struct Spread {
    pub min: f64,
    pub median: f64,
    pub max: f64,
}

impl Spread {
    /// Of one value at least.
    pub fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let middle = values.len() / 2;
        let median =
            if values.len().is_multiple_of(2) { (values[middle - 1] + values[middle]) / 2.0 } else { values[middle] };
        Spread { min: values[0], median, max: values[values.len() - 1] }
    }
}
