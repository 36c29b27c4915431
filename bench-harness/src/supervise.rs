//! Runs scripts and cases so that one that hangs or panics takes nobody down with it.

use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use transom::error::ErrorKind;

use crate::engine::{self, Request, Restores, Tuning};
use crate::json::Json;
use crate::process;
use crate::timeline::script::Script;
use crate::timeline::{self, Problem};

/// As deep as a main thread's, and then some: plans are trees.
const STACK_BYTES: usize = 16 << 20;
const POLL: Duration = Duration::from_millis(2);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Done,
    Failed {
        kind: ErrorKind,
        message: String,
    },
    /// It ran, and gave something else than it must: what.
    Differs(String),
    /// A panic, or with isolation the end of the process.
    Died(String),
    TimedOut,
}

#[derive(Debug, Clone, Copy)]
pub struct Supervisor {
    pub time_limit: Duration,
    /// Each script in a process of its own: slower, but survives an abort and really ends a hang.
    pub isolate: bool,
}

/// What is run and watched.
#[derive(Debug, Clone)]
pub enum Work {
    Script(Request),
    /// A timeline case, which is judged where it runs.
    Timeline {
        file: PathBuf,
        tuning: Tuning,
        /// Break its runs off, go on, and count how often.
        restores: Option<Restores>,
    },
}

impl Supervisor {
    pub fn run(&self, work: Work) -> Outcome {
        if self.isolate { measure(&work, self.time_limit).0 } else { run_thread(work, self.time_limit) }
    }
}

/// Runs on this thread.
pub fn run_here(work: &Work) -> Outcome {
    let run = || match work {
        Work::Script(request) => outcome_of(engine::run(request)),
        Work::Timeline { file, tuning, restores } => match Script::load(file).map(|script| match restores {
            None => timeline::judge(&script, *tuning),
            Some(restores) => timeline::judge_restored(&script, restores),
        }) {
            Err(message) => Outcome::Died(message),
            Ok(Ok(())) => Outcome::Done,
            Ok(Err(Problem::Differs(what))) => Outcome::Differs(what),
            Ok(Err(Problem::Failed(error))) => outcome_of(Err(error)),
        },
    };
    catch_unwind(AssertUnwindSafe(run))
        .unwrap_or_else(|panic| Outcome::Died(format!("panicked: {}", panic_text(panic.as_ref()))))
}

fn outcome_of(result: transom::error::Result<()>) -> Outcome {
    match result {
        Ok(()) => Outcome::Done,
        Err(error) => Outcome::Failed { kind: error.kind(), message: error.to_string().trim().to_string() },
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

/// A thread that hangs is left behind; it ends with the process.
fn run_thread(work: Work, time_limit: Duration) -> Outcome {
    let (sender, receiver) = mpsc::channel();
    let thread = std::thread::Builder::new().name("script".into()).stack_size(STACK_BYTES).spawn(move || {
        let _ = sender.send(run_here(&work));
    });
    match thread {
        Ok(_) => receiver.recv_timeout(time_limit).unwrap_or(Outcome::TimedOut),
        Err(e) => Outcome::Died(format!("cannot start a thread: {e}")),
    }
}

/// What work cost in a process of its own, the start of the process left out.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cost {
    pub wall: Duration,
    /// User and system time of all threads.
    pub cpu: Duration,
    pub peak_rss_bytes: u64,
}

/// Runs in a process of its own. The cost is there only if the process lived to tell it.
pub fn measure(work: &Work, time_limit: Duration) -> (Outcome, Option<Cost>) {
    let answer = match run_child(CHILD_COMMAND, &work_to_json(work), time_limit) {
        Ok(Ok(answer)) => answer,
        Ok(Err(outcome)) => return (outcome, None),
        Err(e) => return (Outcome::Died(format!("cannot run a process: {e}")), None),
    };
    match outcome_from_json(&answer) {
        Some(outcome) => (outcome, cost_from_json(&answer)),
        None => (Outcome::Died(format!("the process answered nonsense: {answer}")), None),
    }
}

/// Runs this program again with a hidden command and its input on stdin. The child's answer, or how it ended without one.
///
/// # Errors
/// No process can be started, or talked to.
pub fn run_child(command: &str, input: &Json, time_limit: Duration) -> std::io::Result<Result<Json, Outcome>> {
    let mut child = Command::new(std::env::current_exe()?)
        .arg(command)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input.to_string().as_bytes())?;
    }
    // a script that prints a lot must not wait for a reader
    let stdout = child.stdout.take();
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        stdout.map(|mut stdout| stdout.read_to_end(&mut text));
        text
    });
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if started.elapsed() > time_limit {
            child.kill()?;
            child.wait()?;
            return Ok(Err(Outcome::TimedOut));
        }
        std::thread::sleep(POLL);
    };
    // the script may print too; the answer is the last line
    let text = String::from_utf8_lossy(&reader.join().unwrap_or_default()).into_owned();
    let answer = text.lines().last().and_then(|line| Json::parse(line).ok());
    Ok(answer.ok_or_else(|| Outcome::Died(format!("the process died: {status}"))))
}

/// Hidden command: work as JSON on stdin, the answer as JSON in the last line of stdout.
pub const CHILD_COMMAND: &str = "run-script";

/// # Errors
/// No work on stdin.
pub fn child_main() -> Result<(), String> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(|e| e.to_string())?;
    let work = work_from_json(&Json::parse(&text)?).ok_or("malformed request")?;
    let (cpu, started) = (process::cpu_time(), Instant::now());
    let outcome = run_here(&work);
    let wall = started.elapsed();
    let cost = Cost { wall, cpu: process::cpu_time().saturating_sub(cpu), peak_rss_bytes: process::peak_rss_bytes() };
    let Json::Object(mut answer) = outcome_to_json(&outcome) else { return Err("no answer".into()) };
    let number = |n: u128| Json::Number(n.to_string());
    answer.push(("wall_ns".into(), number(cost.wall.as_nanos())));
    answer.push(("cpu_ns".into(), number(cost.cpu.as_nanos())));
    answer.push(("peak_rss_bytes".into(), number(cost.peak_rss_bytes.into())));
    println!("\n{}", Json::Object(answer));
    Ok(())
}

fn cost_from_json(json: &Json) -> Option<Cost> {
    let number = |name: &str| match json.get(name)? {
        Json::Number(digits) => digits.parse::<u64>().ok(),
        _ => None,
    };
    Some(Cost {
        wall: Duration::from_nanos(number("wall_ns")?),
        cpu: Duration::from_nanos(number("cpu_ns")?),
        peak_rss_bytes: number("peak_rss_bytes")?,
    })
}

fn object(fields: Vec<(&str, Json)>) -> Json {
    Json::Object(fields.into_iter().map(|(name, value)| (name.to_string(), value)).collect())
}

fn tuning_fields(tuning: Tuning) -> [(&'static str, Json); 3] {
    let count = |value: Option<usize>| value.map_or(Json::Null, |n| Json::Number(n.to_string()));
    [
        ("shards", count(tuning.shards)),
        ("batch_rows", count(tuning.batch_rows)),
        ("block_bytes", count(tuning.block_bytes)),
    ]
}

pub fn work_to_json(work: &Work) -> Json {
    match work {
        Work::Script(request) => request_to_json(request),
        Work::Timeline { file, tuning, .. } => {
            let file = [("timeline", Json::Text(file.display().to_string()))];
            object(file.into_iter().chain(tuning_fields(*tuning)).collect())
        }
    }
}

fn request_to_json(request: &Request) -> Json {
    let variables = request.variables.iter().map(|(name, value)| (name.clone(), Json::from(value.as_str())));
    let fields = [
        ("text", request.text.as_str().into()),
        ("file", request.file.as_str().into()),
        ("variables", Json::Object(variables.collect())),
    ];
    object(fields.into_iter().chain(tuning_fields(request.tuning)).collect())
}

pub fn work_from_json(json: &Json) -> Option<Work> {
    match json.get("timeline").and_then(Json::as_text) {
        Some(file) => Some(Work::Timeline { file: file.into(), tuning: tuning_from_json(json), restores: None }),
        None => request_from_json(json).map(Work::Script),
    }
}

fn tuning_from_json(json: &Json) -> Tuning {
    let count = |name: &str| match json.get(name) {
        Some(Json::Number(digits)) => digits.parse().ok(),
        _ => None,
    };
    Tuning { shards: count("shards"), batch_rows: count("batch_rows"), block_bytes: count("block_bytes") }
}

fn request_from_json(json: &Json) -> Option<Request> {
    let variables = json.get("variables")?.as_fields().iter();
    Some(Request {
        text: json.get("text")?.as_text()?.to_string(),
        file: json.get("file")?.as_text()?.to_string(),
        variables: variables
            .map(|(name, value)| Some((name.clone(), value.as_text()?.to_string())))
            .collect::<Option<_>>()?,
        tuning: tuning_from_json(json),
        restores: None,
    })
}

const KINDS: [(ErrorKind, &str); 7] = [
    (ErrorKind::Usage, "usage"),
    (ErrorKind::Script, "script"),
    (ErrorKind::Unsupported, "unsupported"),
    (ErrorKind::Data, "data"),
    (ErrorKind::Io, "io"),
    (ErrorKind::Cancelled, "cancelled"),
    (ErrorKind::Internal, "internal"),
];

pub fn outcome_to_json(outcome: &Outcome) -> Json {
    match outcome {
        Outcome::Done => object(vec![("outcome", "done".into())]),
        Outcome::Failed { kind, message } => {
            let name = KINDS.iter().find(|(k, _)| k == kind).map_or("internal", |(_, name)| name);
            object(vec![("outcome", name.into()), ("message", message.as_str().into())])
        }
        Outcome::Differs(what) => object(vec![("outcome", "differs".into()), ("message", what.as_str().into())]),
        Outcome::Died(message) => object(vec![("outcome", "died".into()), ("message", message.as_str().into())]),
        Outcome::TimedOut => object(vec![("outcome", "timed out".into())]),
    }
}

pub fn outcome_from_json(json: &Json) -> Option<Outcome> {
    let message = || json.get("message").and_then(Json::as_text).unwrap_or_default().to_string();
    Some(match json.get("outcome")?.as_text()? {
        "done" => Outcome::Done,
        "differs" => Outcome::Differs(message()),
        "died" => Outcome::Died(message()),
        "timed out" => Outcome::TimedOut,
        name => Outcome::Failed { kind: KINDS.iter().find(|(_, n)| *n == name)?.0, message: message() },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_and_outcomes_survive_the_way_to_another_process() {
        let request = Request {
            text: "SELECT 'ä\n\"';".into(),
            file: "job.sql".into(),
            variables: [("OUT".to_string(), "/x y".to_string())].into(),
            tuning: Tuning { shards: Some(3), ..Tuning::default() },
            restores: None,
        };
        let timeline = Work::Timeline { file: "a/b.json".into(), tuning: request.tuning, restores: None };
        for work in [Work::Script(request), timeline] {
            let back = work_from_json(&Json::parse(&work_to_json(&work).to_string()).unwrap()).unwrap();
            assert_eq!(format!("{back:?}"), format!("{work:?}"));
        }
        for (kind, _) in KINDS {
            let outcome = Outcome::Failed { kind, message: "a\nb".into() };
            assert_eq!(outcome_from_json(&outcome_to_json(&outcome)), Some(outcome));
        }
    }
}
