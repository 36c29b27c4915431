//! One case, run and judged.

use std::collections::BTreeMap;
use std::path::Path;

use transom::error::ErrorKind;

use super::case::{Expected, Phase, SinkExpectation, SqlCase, TimelineCase};
use super::{compare, rows};
use crate::engine::{Request, Restores, Tuning};
use crate::supervise::{Outcome, Supervisor, Work};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Passed,
    /// What differs.
    Failed(String),
    /// The engine says that it cannot do this yet: its message.
    Refused(String),
}

/// Runs the case into a fresh folder and compares.
pub fn judge(case: &SqlCase, (tuning, restores): (Tuning, Option<Restores>), supervisor: &Supervisor) -> Verdict {
    let out = match tempfile::Builder::new().prefix("conformance-").tempdir() {
        Ok(out) => out,
        Err(e) => return Verdict::Failed(format!("cannot make a folder for the results: {e}")),
    };
    let outcome = supervisor.run(Work::Script(Request { restores, ..request(case, out.path(), tuning) }));
    let verdict = verdict(case, &outcome, out.path());
    if outcome == Outcome::TimedOut {
        // whoever hangs may still write there
        let _ = out.keep();
    }
    verdict
}

/// Runs the case in every form and way of feeding it, and compares.
pub fn judge_timeline(
    case: &TimelineCase,
    (tuning, restores): (Tuning, Option<Restores>),
    supervisor: &Supervisor,
) -> Verdict {
    match supervisor.run(Work::Timeline { file: case.file.clone(), tuning, restores }) {
        Outcome::Done => Verdict::Passed,
        Outcome::TimedOut => Verdict::Failed("timed out".into()),
        Outcome::Failed { kind: ErrorKind::Unsupported, message } => Verdict::Refused(message),
        Outcome::Failed { message, .. } | Outcome::Differs(message) | Outcome::Died(message) => {
            Verdict::Failed(message)
        }
    }
}

fn request(case: &SqlCase, out: &Path, tuning: Tuning) -> Request {
    let path = |path: &Path| path.display().to_string();
    Request {
        text: case.script.clone(),
        file: "job.sql".into(),
        variables: BTreeMap::from([("DATA".into(), path(&case.folder)), ("OUT".into(), path(out))]),
        tuning,
        restores: None,
    }
}

fn verdict(case: &SqlCase, outcome: &Outcome, out: &Path) -> Verdict {
    match outcome {
        Outcome::TimedOut => return Verdict::Failed("timed out".into()),
        Outcome::Died(how) | Outcome::Differs(how) => return Verdict::Failed(how.clone()),
        Outcome::Failed { kind: ErrorKind::Internal | ErrorKind::Cancelled, message } => {
            return Verdict::Failed(message.clone());
        }
        Outcome::Done | Outcome::Failed { .. } => {}
    }
    match (&case.expected, outcome) {
        (Expected::Sinks(sinks), Outcome::Done) => compare_sinks(sinks, out),
        (Expected::Sinks(_), Outcome::Failed { kind: ErrorKind::Unsupported, message }) => {
            Verdict::Refused(message.clone())
        }
        (Expected::Sinks(_), Outcome::Failed { message, .. }) => Verdict::Failed(message.clone()),
        (Expected::Failure { .. }, _) if case.has("flink-limitation") => Verdict::Passed,
        (Expected::Failure { message, .. }, Outcome::Done) => Verdict::Failed(format!("must fail: {message}")),
        (Expected::Failure { phase, .. }, Outcome::Failed { kind, message }) => {
            failed_rightly(*phase, *kind, message, out)
        }
        (_, Outcome::TimedOut | Outcome::Died(_) | Outcome::Differs(_)) => {
            Verdict::Failed("did not end by itself".into())
        }
    }
}

fn failed_rightly(phase: Phase, kind: ErrorKind, message: &str, out: &Path) -> Verdict {
    match phase {
        Phase::Plan if !matches!(kind, ErrorKind::Script | ErrorKind::Unsupported | ErrorKind::Usage) => {
            Verdict::Failed(format!("must be refused before it runs, failed while running: {message}"))
        }
        Phase::Plan if !is_empty(out) => Verdict::Failed(format!("refused after it had written something: {message}")),
        // the job should have started
        Phase::Run if kind == ErrorKind::Unsupported => Verdict::Refused(message.to_string()),
        Phase::Plan | Phase::Run => Verdict::Passed,
    }
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}

fn compare_sinks(sinks: &[SinkExpectation], out: &Path) -> Verdict {
    for sink in sinks {
        let both = rows::read_file(&sink.file, &sink.columns)
            .and_then(|expected| Ok((expected, rows::read_sink(&out.join(&sink.sink), &sink.columns)?)));
        let problem = match both {
            Ok((expected, actual)) => {
                compare::difference(&expected, &actual, &sink.columns).map(|d| d.describe(&sink.columns))
            }
            Err(e) => Some(e),
        };
        if let Some(problem) = problem {
            return Verdict::Failed(format!("{}: {problem}", sink.sink));
        }
    }
    Verdict::Passed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failing_case(phase: Phase, features: &[&str]) -> SqlCase {
        SqlCase {
            name: "x".into(),
            folder: ".".into(),
            script: String::new(),
            features: features.iter().map(ToString::to_string).collect(),
            expected: Expected::Failure { phase, message: "no".into() },
        }
    }
    fn failure(kind: ErrorKind) -> Outcome {
        Outcome::Failed { kind, message: "m".into() }
    }

    #[test]
    fn a_script_to_refuse_must_be_refused_before_it_writes() {
        let out = tempfile::tempdir().unwrap();
        let case = failing_case(Phase::Plan, &[]);
        assert_eq!(verdict(&case, &failure(ErrorKind::Script), out.path()), Verdict::Passed);
        assert_eq!(verdict(&case, &failure(ErrorKind::Unsupported), out.path()), Verdict::Passed);
        for outcome in [Outcome::Done, Outcome::TimedOut, failure(ErrorKind::Data), failure(ErrorKind::Internal)] {
            assert!(matches!(verdict(&case, &outcome, out.path()), Verdict::Failed(_)), "{outcome:?}");
        }
        std::fs::create_dir(out.path().join("results")).unwrap();
        assert!(matches!(verdict(&case, &failure(ErrorKind::Script), out.path()), Verdict::Failed(_)));
    }

    #[test]
    fn a_job_to_fail_may_fail_by_its_data_but_not_by_what_is_missing() {
        let out = tempfile::tempdir().unwrap();
        let case = failing_case(Phase::Run, &[]);
        assert_eq!(verdict(&case, &failure(ErrorKind::Data), out.path()), Verdict::Passed);
        assert_eq!(verdict(&case, &failure(ErrorKind::Unsupported), out.path()), Verdict::Refused("m".into()));
    }

    #[test]
    fn where_flink_has_a_weakness_success_is_right_too() {
        let out = tempfile::tempdir().unwrap();
        let case = failing_case(Phase::Plan, &["flink-limitation"]);
        assert_eq!(verdict(&case, &Outcome::Done, out.path()), Verdict::Passed);
        assert_eq!(verdict(&case, &failure(ErrorKind::Unsupported), out.path()), Verdict::Passed);
        assert!(matches!(verdict(&case, &failure(ErrorKind::Internal), out.path()), Verdict::Failed(_)));
    }
}
