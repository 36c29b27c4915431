//! Random queries over random tables: cases whose answers are to be asked of Flink.
//!
//! Every case follows from the seed and its number. What would make an answer a matter of chance is left out: rows that
//! are late where several inputs meet, ties in an order, and results that show in which order groups come.

mod aggregate;
mod draw;
mod expression;
mod grouping;
mod joining;
mod ranking;
mod relation;
mod script;
mod table;
mod timed;
mod window;

use std::fs;
use std::path::{Path, PathBuf};

use self::draw::Draw;
use self::script::Script;

/// What to draw and where to put it.
#[derive(Debug, Clone)]
pub struct Plan {
    pub seed: u64,
    pub count: u64,
    /// Number of the first case in its name.
    pub first: u64,
    pub folder: PathBuf,
}

/// Writes the cases, each a folder `NNN-random-sql-SEED-N` without an answer.
///
/// # Errors
/// A folder or file that cannot be written.
pub fn run(plan: &Plan) -> Result<(), String> {
    for number in 0..plan.count {
        let script = draw(plan.seed, number);
        let name = format!("{:03}-random-sql-{}-{number}", plan.first + number, plan.seed);
        let folder = plan.folder.join(name);
        write(&folder, &script, plan.seed, number).map_err(|e| format!("cannot write {}: {e}", folder.display()))?;
    }
    Ok(())
}

fn write(folder: &Path, script: &Script, seed: u64, number: u64) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    for (name, text) in script.files() {
        fs::write(folder.join(name), text)?;
    }
    let features: Vec<String> = script.features.iter().map(|name| format!("\"{name}\"")).collect();
    let doc = format!("Random query {number} of seed {seed}");
    fs::write(folder.join("meta.json"), format!("{{\"doc\": \"{doc}\", \"features\": [{}]}}\n", features.join(", ")))?;
    fs::write(folder.join("job.sql"), script.text())
}

/// One case.
fn draw(seed: u64, number: u64) -> Script {
    let mut script = Script::new(Draw::new(seed, number));
    match script.draw.between(0, 99) {
        0..=26 => {
            let rows = script.rows(true);
            let query = match script.draw.between(0, 9) {
                0 => grouping::of_window_rows(&mut script, &rows),
                1 | 2 => grouping::windowed(&mut script, &rows, true, "a"),
                _ => grouping::windowed(&mut script, &rows, false, "a"),
            };
            script.insert(query);
        }
        27..=36 => cascade(&mut script),
        37..=48 => {
            let rows = script.rows(true);
            let query = ranking::top(&mut script, &rows);
            script.insert(query);
        }
        49..=54 => {
            let rows = script.table(true);
            let query = ranking::keep_one(&mut script, &rows);
            script.insert(query);
        }
        55..=68 => {
            let query = joining::join(&mut script);
            script.insert(query);
        }
        69..=76 => {
            let rows = script.rows(true);
            let query = ranking::over(&mut script, &rows);
            script.insert(query);
        }
        77..=83 => {
            let rows = script.rows(true);
            let query = grouping::legacy(&mut script, &rows);
            script.insert(query);
        }
        84..=88 => {
            let rows = script.rows(true);
            let query = grouping::updating(&mut script, &rows);
            script.insert_updates(query);
        }
        89..=96 => several(&mut script),
        _ => {
            let rows = script.rows(true);
            let query = ranking::bare(&mut script, &rows);
            script.insert(query);
        }
    }
    script
}

/// Windows over the results of windows, two or three levels.
fn cascade(script: &mut Script) {
    script.feature("cascade");
    let rows = script.rows(true);
    let inner = grouping::windowed(script, &rows, true, "a");
    let mut rows = script.view(inner);
    if script.draw.chance(25) {
        let middle = grouping::windowed(script, &rows, true, "m");
        rows = script.view(middle);
    }
    let query = match script.draw.between(0, 4) {
        0 => ranking::top(script, &rows),
        _ => grouping::windowed(script, &rows, false, "z"),
    };
    script.insert(query);
}

/// UNION ALL before or after windows, joins without windows or by times, DISTINCT, several sinks.
fn several(script: &mut Script) {
    match script.draw.between(0, 7) {
        0 | 1 => {
            let query = joining::union_first(script);
            script.insert(query);
        }
        2 => {
            let query = joining::regular(script);
            script.insert(query);
        }
        3 => {
            let rows = script.rows(true);
            let query = grouping::distinct(script, &rows);
            script.insert(query);
        }
        4 => {
            let first = script.table(true);
            let second = if script.draw.chance(50) { script.table(true) } else { first.clone() };
            let query = grouping::twice(script, &first, &second);
            script.insert(query);
        }
        5 | 6 => {
            let query = timed::join(script);
            script.insert(query);
        }
        _ => {
            script.feature("statement-set");
            let rows = script.rows(true);
            for _ in 0..2 {
                let query = grouping::windowed(script, &rows, false, "a");
                script.insert(query);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_follows_from_its_seed_and_number() {
        assert_eq!(draw(7, 3).text(), draw(7, 3).text());
        assert_ne!(draw(7, 3).text(), draw(7, 4).text());
        assert_ne!(draw(7, 3).text(), draw(8, 3).text());
    }

    #[test]
    fn every_kind_of_query_is_drawn() {
        let drawn: std::collections::BTreeSet<&str> = (0..300).flat_map(|n| draw(1, n).features).collect();
        let wanted = [
            "TUMBLE",
            "HOP",
            "CUMULATE",
            "SESSION",
            "cascade",
            "changelog",
            "deduplication",
            "grouping-sets",
            "interval-join",
            "legacy",
            "ltz",
            "over",
            "semi-anti",
            "statement-set",
            "temporal-join",
            "top-n",
            "union-all",
            "unnest",
            "window-join",
        ];
        for feature in wanted {
            assert!(drawn.contains(feature), "{feature}");
        }
    }
}
