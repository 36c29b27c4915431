//! Programs of the DataStream API beside SQL: speed on the same rows, and what they hold in memory.

pub mod child;
pub mod job;
pub mod memory;
pub mod reference;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use comfy_table::{CellAlignment, Table, presets};
use transom::numbers::grouped;

use crate::engine::Tuning;
use crate::number::short_count;
use crate::supervise::Cost;
use crate::throughput::{self, SinkKind, Spread};
use crate::workload::Spec;
use crate::workload::format::{self, Format};
use crate::workload::reference::{Query, Totals};
use child::{Mode, Request};
use job::{By, End, Input, Job};

#[derive(Debug, Clone)]
pub struct Plan {
    pub spec: Spec,
    pub jobs: Vec<Job>,
    pub tuning: Tuning,
    pub repeat: usize,
    /// Where made data is kept for the next time.
    pub folder: PathBuf,
    pub time_limit: Duration,
}

/// One way to the answer.
#[derive(Debug, Clone, PartialEq)]
enum Way {
    Sql(Query),
    Program(Input, End),
}

impl Way {
    fn name(&self) -> &'static str {
        match self {
            Way::Sql(_) => "SQL, Parquet -> blackhole",
            Way::Program(Input::Table(_, By::Rows), End::Shards) => "API, Parquet by rows -> shards",
            Way::Program(Input::Table(_, By::Rows), End::Program) => "API, Parquet by rows -> program",
            Way::Program(Input::Table(_, By::Columns), End::Shards) => "API, Parquet by columns -> shards",
            Way::Program(Input::Table(_, By::Columns), End::Program) => "API, Parquet by columns -> program",
            Way::Program(Input::Memory, End::Shards) => "API, memory -> shards",
            Way::Program(Input::Memory, End::Program) => "API, memory -> program",
        }
    }
}

/// Times the jobs in every way that they have, in turn, and prints a table. A time counts only if the answer is right.
///
/// # Errors
/// No data, a failed job, a wrong answer.
pub fn run(plan: &Plan) -> Result<(), String> {
    if plan.spec.late_share > 0.0 {
        return Err("late rows: the plain loops that check programs know none; leave out --late-share".into());
    }
    let io = |e: std::io::Error| format!("cannot make the data: {e}");
    let files = format::write(&plan.spec, &[Format::Parquet], &plan.folder).map_err(io)?;
    let file = files[0].canonicalize().map_err(io)?;
    // From here on the file is in the page cache, for the first run as for the last.
    std::io::copy(&mut File::open(&file).map_err(io)?, &mut std::io::sink()).map_err(io)?;
    println!("{}\n", head(plan));
    let mut table = new_table(&["job", "way", "wall s", "spread", "M rows/s", "CPU ns/row", "RSS MiB", "x SQL"], 2);
    for &job in &plan.jobs {
        let ways = ways(job, &file);
        let answer = reference::totals(&plan.spec, job)?;
        if let Some(query) = job.query() {
            // Nothing is left of what is timed, so its answer is looked at before.
            let checked = throughput::run_once(&sql_plan(plan, query), &file, SinkKind::Csv, &answer);
            checked.map_err(|e| format!("{job}, SQL: {e}"))?;
        }
        let mut costs = vec![Vec::new(); ways.len()];
        for _ in 0..plan.repeat {
            for (way, costs) in ways.iter().zip(&mut costs) {
                let cost = run_once(plan, job, way, &file, &answer);
                costs.push(cost.map_err(|e| format!("{job}, {}: {e}", way.name()))?);
            }
        }
        add_rows(&mut table, plan, job, &ways, &costs);
    }
    println!("{table}");
    Ok(())
}

fn head(plan: &Plan) -> String {
    let shards = plan.tuning.shards.map_or("one shard per core".to_string(), |n| format!("{n} shards"));
    format!(
        "{} rows, {} keys {}, {shards}, {} runs of each in turn: medians, and the slowest minus the fastest\n\
         `shards`: results are added up where they are; `program`: they come to the program's thread in order. Each answer \
         was checked.\n\
         `by rows`: a function makes a record of each row; `by columns`: of whole columns.\n\
         Records in memory are made before the clock starts, and count in the memory.",
        short_count(plan.spec.rows),
        short_count(plan.spec.keys),
        plan.spec.distribution,
        plan.repeat,
    )
}

fn ways(job: Job, file: &Path) -> Vec<Way> {
    let table = |by| Way::Program(Input::Table(file.to_path_buf(), by), End::Shards);
    let mut ways = Vec::new();
    ways.extend(job.query().map(Way::Sql));
    ways.extend([table(By::Rows), table(By::Columns), Way::Program(Input::Memory, End::Shards)]);
    if let Job::Planned(_) = job {
        ways.push(Way::Program(Input::Memory, End::Program));
    }
    ways
}

fn sql_plan(plan: &Plan, query: Query) -> throughput::Plan {
    throughput::Plan {
        spec: plan.spec.clone(),
        format: Format::Parquet,
        query,
        sink: SinkKind::Blackhole,
        tuning: plan.tuning,
        repeat: 1,
        folder: plan.folder.clone(),
        time_limit: plan.time_limit,
        json: false,
    }
}

fn run_once(plan: &Plan, job: Job, way: &Way, file: &Path, answer: &Totals) -> Result<Cost, String> {
    match way {
        Way::Sql(query) => throughput::run_once(&sql_plan(plan, *query), file, SinkKind::Blackhole, answer),
        Way::Program(input, end) => {
            let mode = Mode::Timed(input.clone(), *end);
            let request = Request { spec: plan.spec.clone(), job, mode, tuning: plan.tuning };
            let got = child::run(&request, plan.time_limit)?;
            if got.totals != *answer {
                return Err(format!("wrong answer\n  expected {answer:?}\n  got      {:?}", got.totals));
            }
            Ok(got.cost)
        }
    }
}

fn add_rows(table: &mut Table, plan: &Plan, job: Job, ways: &[Way], costs: &[Vec<Cost>]) {
    let rows = plan.spec.rows as f64;
    let median = |costs: &[Cost], of: fn(&Cost) -> f64| Spread::of(costs.iter().map(of).collect());
    let sql = matches!(ways[0], Way::Sql(_)).then(|| median(&costs[0], |cost| cost.wall.as_secs_f64()).median);
    for (number, (way, costs)) in ways.iter().zip(costs).enumerate() {
        let wall = median(costs, |cost| cost.wall.as_secs_f64());
        table.add_row(vec![
            if number == 0 { job.doc() } else { String::new() },
            way.name().to_string(),
            format!("{:.3}", wall.median),
            format!("{:.3}", wall.max - wall.min),
            format!("{:.2}", rows / wall.median.max(1e-9) / 1e6),
            format!("{:.0}", median(costs, |cost| cost.cpu.as_nanos() as f64).median / rows),
            format!("{:.0}", median(costs, |cost| cost.peak_rss_bytes as f64).median / f64::from(1 << 20)),
            sql.map_or(String::new(), |sql| format!("{:.2}", wall.median / sql)),
        ]);
    }
}

fn new_table(header: &[&str], texts: usize) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header.to_vec());
    for column in table.column_iter_mut().skip(texts) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// Prints what the operators of the jobs hold at most.
///
/// # Errors
/// A failed job.
pub fn run_memory(plan: &Plan) -> Result<(), String> {
    println!(
        "{} rows, {} keys {}, one thread: the most that was held at the end of a minute of event time, and by how much \
         the process grew\n",
        short_count(plan.spec.rows),
        short_count(plan.spec.keys),
        plan.spec.distribution,
    );
    let header = ["job", "open windows", "accumulators", "elements", "state MiB", "bytes/window", "RSS MiB"];
    let mut table = new_table(&header, 1);
    for &job in &plan.jobs {
        let request = Request { spec: plan.spec.clone(), job, mode: Mode::Memory, tuning: plan.tuning };
        let held = child::run(&request, plan.time_limit).map_err(|e| format!("{job}: {e}"))?.held;
        let mebibytes = |bytes: u64| format!("{:.1}", bytes as f64 / f64::from(1 << 20));
        table.add_row(vec![
            job.doc(),
            grouped(held.open_windows),
            grouped(held.accumulators),
            grouped(held.buffered_elements),
            mebibytes(held.state_bytes),
            format!("{:.1}", held.state_bytes as f64 / held.open_windows.max(1) as f64),
            mebibytes(held.rss_bytes),
        ]);
    }
    println!("{table}");
    Ok(())
}
