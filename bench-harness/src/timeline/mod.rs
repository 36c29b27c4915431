//! Recorded scripts for the window operator of the DataStream API, run through the engine's public API.

pub mod compare;
pub mod play;
pub mod program;
pub mod restored;
pub mod script;

use transom::error::Error;

use crate::engine::{Restores, Tuning};
use crate::json::Json;
use compare::Place;
use play::Played;
use script::{At, Expected, Script};

/// The ways in which a program is executed where the tuning does not say: shards and records per block.
const EXECUTIONS: [(usize, usize); 3] = [(1, 8192), (2, 3), (7, 1)];

/// Behind how many steps a run goes on in a fresh program.
const STEPS_BETWEEN: [usize; 2] = [1, 3];

/// Why a script does not pass.
#[derive(Debug)]
pub enum Problem {
    /// What differs, and where.
    Differs(String),
    Failed(Error),
}

/// Runs a script in every form of its program and in every way of feeding it, and compares with Flink's answer.
///
/// # Errors
/// The first difference, or the engine's error.
pub fn judge(script: &Script, tuning: Tuning) -> Result<(), Problem> {
    for &form in program::forms(script.function) {
        let name = format!("{form:?}, step by step");
        let stepwise = judge_run(script, &name, play::step_by_step(script, form), Place::OfStep)?;
        let name = format!("{form:?}, consecutive elements as one batch");
        let batched = judge_run(script, &name, play::in_batches(script, form), Place::OfBatch)?;
        same_order(&name, stepwise.as_ref(), batched.as_ref())?;
        for (shards, block_rows) in executions(tuning) {
            let name = format!("{form:?}, executed on {shards} shards in blocks of {block_rows}");
            let executed = play::executed(script, form, shards, block_rows);
            let executed = judge_run(script, &name, executed, Place::OfRun)?;
            same_order(&name, stepwise.as_ref(), executed.as_ref())?;
        }
    }
    Ok(())
}

/// Runs a script in every form, broken off behind every step, behind every few, and as a job at every checkpoint, each
/// time going on in a fresh program; compares with Flink's answer.
///
/// # Errors
/// As [`judge`].
pub fn judge_restored(script: &Script, restores: &Restores) -> Result<(), Problem> {
    for &form in program::forms(script.function) {
        let mut first = None;
        for every in STEPS_BETWEEN {
            let name = format!("{form:?}, broken off behind every {every} steps");
            let run = restored::step_by_step(script, form, every, restores);
            let played = judge_run(script, &name, run, Place::OfStep)?;
            same_order(&name, first.as_ref(), played.as_ref())?;
            first = first.or(played);
        }
        let name = format!("{form:?}, executed, broken off at every checkpoint");
        let executed = judge_run(script, &name, restored::executed(script, form, restores), Place::OfRun)?;
        same_order(&name, first.as_ref(), executed.as_ref())?;
    }
    Ok(())
}

fn executions(tuning: Tuning) -> Vec<(usize, usize)> {
    match (tuning.shards, tuning.batch_rows) {
        (None, None) => EXECUTIONS.to_vec(),
        (shards, rows) => vec![(shards.unwrap_or(EXECUTIONS[0].0), rows.unwrap_or(EXECUTIONS[0].1))],
    }
}

/// `None`: rejected, as it must be.
fn judge_run(script: &Script, name: &str, run: Result<Played, Error>, place: Place) -> Result<Option<Played>, Problem> {
    let differs = |what: String| Problem::Differs(format!("{name}: {what}"));
    match (&script.expected, run) {
        (Expected::Rejection(_), Err(error)) if is_fault_of_ours(&error) => Err(Problem::Failed(error)),
        (Expected::Rejection(_), Err(_)) => Ok(None),
        (Expected::Rejection(message), Ok(_)) => Err(differs(format!("must be rejected: {message}"))),
        (Expected::Outputs { .. }, Err(error)) => Err(Problem::Failed(error)),
        (Expected::Outputs { outputs, late_dropped }, Ok(played)) => {
            if let Some(what) = compare::difference(script, outputs, &played.outputs, place) {
                return Err(differs(what));
            }
            if !script.side_output_late && played.late_dropped != *late_dropped {
                let what = format!("{} elements dropped as late, expected {late_dropped}", played.late_dropped);
                return Err(differs(what));
            }
            Ok(Some(played))
        }
    }
}

fn is_fault_of_ours(error: &Error) -> bool {
    use transom::error::ErrorKind::{Cancelled, Internal, Io, Unsupported};
    matches!(error.kind(), Cancelled | Internal | Io | Unsupported)
}

/// However a program is fed, its results come in the same order.
fn same_order(name: &str, stepwise: Option<&Played>, other: Option<&Played>) -> Result<(), Problem> {
    let (Some(stepwise), Some(other)) = (stepwise, other) else { return Ok(()) };
    match compare::first_out_of_order(&stepwise.outputs, &other.outputs) {
        Some(what) => Err(Problem::Differs(format!("{name}: {what}"))),
        None => Ok(()),
    }
}

/// What the program gives step by step, as `{"expected": […], "late_dropped": n}` or `{"expected_error": "…"}`: the form
/// of a case. On the side, each step with what was expected and what was got.
pub fn print(script: &Script) -> (Json, String) {
    let form = program::forms(script.function)[0];
    match play::step_by_step(script, form) {
        Err(error) => {
            let message = error.to_string().trim().to_string();
            let side = format!("got: {message}\nexpected: {}\n", script.expected);
            (Json::Object(vec![("expected_error".into(), Json::Text(message))]), side)
        }
        Ok(played) => {
            let number = |n: String| Json::Number(n);
            let outputs = played.outputs.iter().map(script::Output::to_json).collect();
            let json = Json::Object(vec![
                ("expected".into(), Json::List(outputs)),
                ("late_dropped".into(), number(played.late_dropped.to_string())),
            ]);
            (json, side_by_side(script, &played))
        }
    }
}

fn side_by_side(script: &Script, played: &Played) -> String {
    let expected = match &script.expected {
        Expected::Outputs { outputs, .. } => outputs.as_slice(),
        Expected::Rejection(message) => return format!("must be rejected: {message}\n"),
    };
    let mut text = String::new();
    let places = (0..script.steps.len()).map(At::Step).chain([At::End]);
    for at in places {
        let what = match at {
            At::Step(number) => format!("{number}: {}", script.steps[number]),
            At::End => String::from("end"),
        };
        text.push_str(&format!("{what}\n"));
        for (who, outputs) in [("expected", expected), ("got     ", &played.outputs)] {
            for output in outputs.iter().filter(|output| output.at == at) {
                text.push_str(&format!("    {who} {output}\n"));
            }
        }
        if let Some(what) = compare::difference_at(script, expected, &played.outputs, at) {
            text.push_str(&format!("    DIFFERS: {what}\n"));
        }
    }
    text
}
