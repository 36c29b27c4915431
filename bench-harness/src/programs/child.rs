//! A program in a process of its own: what to run on its stdin, what it came to in its last line.

use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::job::{By, End, Input, Job, Program, Source, records};
use super::memory::{self, Held};
use crate::engine::Tuning;
use crate::json::Json;
use crate::process;
use crate::supervise::{self, Cost, Outcome};
use crate::workload::reference::Totals;
use crate::workload::{Distribution, Spec};

/// Hidden command.
pub const COMMAND: &str = "run-program";

/// What a child does.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    pub spec: Spec,
    pub job: Job,
    pub mode: Mode,
    pub tuning: Tuning,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Mode {
    Timed(Input, End),
    /// Looks at the operator's state again and again.
    Memory,
}

/// What came of it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Answer {
    pub totals: Totals,
    pub cost: Cost,
    pub held: Held,
}

/// Runs a request in a process of its own.
///
/// # Errors
/// How it failed, or what it failed with.
pub fn run(request: &Request, time_limit: Duration) -> Result<Answer, String> {
    let answer = match supervise::run_child(COMMAND, &to_json(request), time_limit) {
        Ok(Ok(answer)) => answer,
        Ok(Err(Outcome::TimedOut)) => return Err(format!("took longer than {time_limit:?}")),
        Ok(Err(Outcome::Died(how))) => return Err(how),
        Ok(Err(other)) => return Err(format!("ended as {other:?}")),
        Err(e) => return Err(format!("cannot run a process: {e}")),
    };
    if let Some(error) = answer.get("error").and_then(Json::as_text) {
        return Err(error.to_string());
    }
    answer_from_json(&answer).ok_or_else(|| format!("the process answered nonsense: {answer}"))
}

/// # Errors
/// No request on stdin.
pub fn main() -> Result<(), String> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(|e| e.to_string())?;
    let request = from_json(&Json::parse(&text)?).ok_or("malformed request")?;
    let line = match answer(&request) {
        Ok(answer) => answer_to_json(&answer),
        Err(error) => Json::Object(vec![("error".into(), Json::Text(error.to_string().trim().to_string()))]),
    };
    println!("\n{line}");
    Ok(())
}

fn answer(request: &Request) -> transom::error::Result<Answer> {
    let Request { spec, job, mode, tuning } = request;
    let (input, end) = match mode {
        Mode::Memory => return Ok(Answer { held: memory::watch(spec, *job)?, ..Answer::default() }),
        Mode::Timed(input, end) => (input, *end),
    };
    let source = match input {
        Input::Memory => Source::Memory(Arc::new(records(spec))),
        Input::Table(file, by) => Source::Table(file.clone(), *by),
    };
    let (cpu, started) = (process::cpu_time(), Instant::now());
    let totals = Program::new(spec, *job, source, end, *tuning)?.run()?;
    let wall = started.elapsed();
    let cost = Cost { wall, cpu: process::cpu_time().saturating_sub(cpu), peak_rss_bytes: process::peak_rss_bytes() };
    Ok(Answer { totals, cost, held: Held::default() })
}

fn number(n: impl ToString) -> Json {
    Json::Number(n.to_string())
}

fn object<const N: usize>(fields: [(&str, Json); N]) -> Json {
    Json::Object(fields.into_iter().map(|(name, value)| (name.to_string(), value)).collect())
}

fn to_json(request: &Request) -> Json {
    let Request { spec, job, mode, tuning } = request;
    let count = |value: Option<usize>| value.map_or(Json::Null, number);
    let (mode, file, end) = match mode {
        Mode::Memory => ("memory", Json::Null, End::Shards),
        Mode::Timed(Input::Memory, end) => ("records", Json::Null, *end),
        Mode::Timed(Input::Table(file, by), end) => {
            let mode = if *by == By::Rows { "rows" } else { "columns" };
            (mode, Json::Text(file.display().to_string()), *end)
        }
    };
    object([
        ("rows", number(spec.rows)),
        ("keys", number(spec.keys)),
        ("distribution", Json::Text(spec.distribution.to_string())),
        ("disorder_ms", number(spec.disorder_ms)),
        ("rate_per_s", number(spec.rate_per_s)),
        ("seed", number(spec.seed)),
        ("job", Json::Text(job.to_string())),
        ("mode", mode.into()),
        ("file", file),
        ("in_order", Json::Bool(end == End::Program)),
        ("shards", count(tuning.shards)),
        ("batch_rows", count(tuning.batch_rows)),
        ("block_bytes", count(tuning.block_bytes)),
    ])
}

fn get<N: std::str::FromStr>(json: &Json, name: &str) -> Option<N> {
    match json.get(name)? {
        Json::Number(digits) => digits.parse().ok(),
        _ => None,
    }
}

fn from_json(json: &Json) -> Option<Request> {
    let text = |name: &str| json.get(name).and_then(Json::as_text);
    let distributions = [Distribution::Uniform, Distribution::Zipf, Distribution::Hot];
    let mut spec = Spec::new(get(json, "rows")?, get(json, "keys")?);
    spec.distribution = distributions.into_iter().find(|d| Some(d.to_string().as_str()) == text("distribution"))?;
    spec.disorder_ms = get(json, "disorder_ms")?;
    spec.rate_per_s = get(json, "rate_per_s")?;
    spec.seed = get(json, "seed")?;
    let end = if json.get("in_order") == Some(&Json::Bool(true)) { End::Program } else { End::Shards };
    let mode = match text("mode")? {
        "memory" => Mode::Memory,
        "records" => Mode::Timed(Input::Memory, end),
        mode => {
            let by = if mode == "rows" { By::Rows } else { By::Columns };
            Mode::Timed(Input::Table(PathBuf::from(text("file")?), by), end)
        }
    };
    let tuning = Tuning {
        shards: get(json, "shards"),
        batch_rows: get(json, "batch_rows"),
        block_bytes: get(json, "block_bytes"),
    };
    Some(Request { spec, job: Job::parse(text("job")?)?, mode, tuning })
}

fn answer_to_json(answer: &Answer) -> Json {
    let Answer { totals, cost, held } = answer;
    object([
        ("result_rows", number(totals.result_rows)),
        ("sum_of_counts", number(totals.sum_of_counts)),
        ("sum_of_sums", number(totals.sum_of_sums)),
        ("check_sum", number(totals.check_sum)),
        ("wall_ns", number(cost.wall.as_nanos())),
        ("cpu_ns", number(cost.cpu.as_nanos())),
        ("peak_rss_bytes", number(cost.peak_rss_bytes)),
        ("open_windows", number(held.open_windows)),
        ("accumulators", number(held.accumulators)),
        ("buffered_elements", number(held.buffered_elements)),
        ("state_bytes", number(held.state_bytes)),
        ("rss_bytes", number(held.rss_bytes)),
    ])
}

fn answer_from_json(json: &Json) -> Option<Answer> {
    Some(Answer {
        totals: Totals {
            result_rows: get(json, "result_rows")?,
            sum_of_counts: get(json, "sum_of_counts")?,
            sum_of_sums: get(json, "sum_of_sums")?,
            check_sum: get(json, "check_sum")?,
        },
        cost: Cost {
            wall: Duration::from_nanos(get(json, "wall_ns")?),
            cpu: Duration::from_nanos(get(json, "cpu_ns")?),
            peak_rss_bytes: get(json, "peak_rss_bytes")?,
        },
        held: Held {
            open_windows: get(json, "open_windows")?,
            accumulators: get(json, "accumulators")?,
            buffered_elements: get(json, "buffered_elements")?,
            state_bytes: get(json, "state_bytes")?,
            rss_bytes: get(json, "rss_bytes")?,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_survive_the_way_to_another_process() {
        let mut spec = Spec::new(1000, 10);
        (spec.distribution, spec.rate_per_s) = (Distribution::Hot, 0.5);
        let tuning = Tuning { shards: Some(3), ..Tuning::default() };
        let table = |by| Mode::Timed(Input::Table("a b/c.parquet".into(), by), End::Shards);
        let records = Mode::Timed(Input::Memory, End::Program);
        let modes = [Mode::Memory, records, table(By::Rows), table(By::Columns)];
        for (mode, name) in modes.into_iter().zip(Job::names()) {
            let request = Request { spec: spec.clone(), job: Job::parse(name).unwrap(), mode, tuning };
            assert_eq!(from_json(&to_json(&request)), Some(request));
        }
    }

    #[test]
    fn programs_give_what_plain_loops_give() {
        let spec = Spec::new(20_000, 50);
        for name in Job::names() {
            let job = Job::parse(name).unwrap();
            let expected = crate::programs::reference::totals(&spec, job).unwrap();
            for (end, shards) in [(End::Shards, 2), (End::Program, 1)] {
                let tuning = Tuning { shards: Some(shards), batch_rows: Some(1000), ..Tuning::default() };
                let source = Source::Memory(Arc::new(records(&spec)));
                let got = Program::new(&spec, job, source, end, tuning).unwrap().run().unwrap();
                assert_eq!(got, expected, "{name} {end:?}");
                assert!(got.result_rows > 0);
            }
        }
    }
}
