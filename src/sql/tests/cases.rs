//! Compiles every script of a folder of cases that real Flink ran.

use std::path::Path;

use super::variables;
use crate::error::ErrorKind;
use crate::sql::{ScriptOptions, compile};

/// A case of the folder: its script, and whether Flink refused to plan it.
struct Case {
    name: String,
    script: String,
    refused: bool,
    limitation: bool,
}

fn cases(folder: &Path) -> Vec<Case> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut cases: Vec<Case> = entries.filter_map(|entry| read_case(&entry.ok()?.path())).collect();
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    cases
}

fn read_case(folder: &Path) -> Option<Case> {
    let script = std::fs::read_to_string(folder.join("job.sql")).ok()?;
    let meta: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(folder.join("meta.json")).ok()?).ok()?;
    let features = meta["features"].as_array().cloned().unwrap_or_default();
    Some(Case {
        name: folder.file_name()?.to_string_lossy().into_owned(),
        script,
        refused: meta["error_phase"] == "plan",
        limitation: features.iter().any(|feature| feature == "flink-limitation"),
    })
}

/// What is wrong with the answer to a case, if anything.
fn judge(case: &Case) -> Option<String> {
    let options = ScriptOptions {
        file: "job.sql".to_string(),
        variables: variables(&[("DATA", "/data"), ("OUT", "/out")]),
        ..ScriptOptions::default()
    };
    match compile(&case.script, &options) {
        Ok(_) if case.refused && !case.limitation => Some(format!("{}: Flink refuses it", case.name)),
        Ok(_) => None,
        Err(error) if error.place().is_none() => Some(format!("{}: no place: {error}", case.name)),
        Err(error) if error.kind() == ErrorKind::Script && !case.refused => {
            Some(format!("{}: Flink takes it: {error}", case.name))
        }
        Err(error) if matches!(error.kind(), ErrorKind::Script | ErrorKind::Unsupported) => None,
        Err(error) => Some(format!("{}: {error}", case.name)),
    }
}

#[test]
fn every_case_compiles_or_is_refused_by_name() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("datasets/conformance/sql");
    let cases = cases(&folder);
    assert!(!cases.is_empty(), "no cases in {}", folder.display());
    let faults: Vec<String> = cases.iter().filter_map(judge).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
