//! Finding and reading cases.

use std::fs;
use std::path::{Path, PathBuf};

use crate::json::Json;
use crate::timeline::script::Script;

#[derive(Debug, Clone)]
pub struct Case {
    /// Name of its folder or file, without extension.
    pub name: String,
    pub kind: Kind,
}

#[derive(Debug, Clone)]
pub enum Kind {
    Sql(Box<SqlCase>),
    /// A script for the window operator.
    Timeline(Box<TimelineCase>),
}

#[derive(Debug, Clone)]
pub struct TimelineCase {
    pub file: PathBuf,
    pub script: Script,
}

#[derive(Debug, Clone)]
pub struct SqlCase {
    pub name: String,
    /// What `${DATA}` stands for.
    pub folder: PathBuf,
    pub script: String,
    pub features: Vec<String>,
    pub expected: Expected,
}

#[derive(Debug, Clone)]
pub enum Expected {
    Sinks(Vec<SinkExpectation>),
    Failure { phase: Phase, message: String },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The script is refused before anything is written.
    Plan,
    Run,
}

/// The rows that one sink must hold.
#[derive(Debug, Clone)]
pub struct SinkExpectation {
    pub sink: String,
    pub columns: Columns,
    pub file: PathBuf,
}

/// Names and SQL types, in the order of the sink.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Columns(pub Vec<(String, String)>);

impl Columns {
    /// # Errors
    /// Not an object of names and types.
    pub fn from_json(json: &Json) -> Result<Self, String> {
        let column = |(name, sql_type): &(String, Json)| {
            let sql_type = sql_type.as_text().ok_or_else(|| format!("column {name} has no type"))?;
            Ok((name.clone(), sql_type.to_string()))
        };
        json.as_fields().iter().map(column).collect::<Result<_, String>>().map(Columns)
    }
}

impl SqlCase {
    pub fn has(&self, feature: &str) -> bool {
        self.features.iter().any(|f| f == feature)
    }

    /// # Errors
    /// A missing or malformed file, with its path.
    pub fn load(folder: &Path) -> Result<Self, String> {
        let meta_path = folder.join("meta.json");
        let meta = Json::parse(&read(&meta_path)?).map_err(|e| format!("{}: {e}", meta_path.display()))?;
        let wrong = |what: &str| format!("{}: {what}", meta_path.display());
        let features = meta.get("features").map_or(&[][..], Json::as_list).iter().filter_map(Json::as_text);
        let features: Vec<String> = features.map(str::to_string).collect();
        // Where Flink contradicts its own definition, what it answered stays beside the rows that are right.
        let rows = if features.iter().any(|feature| feature == "flink-bug") { "right" } else { "expected" };
        let expected = match (meta.get("error").and_then(Json::as_text), meta.get("columns")) {
            (Some(message), _) => {
                let phase = match meta.get("error_phase").and_then(Json::as_text) {
                    Some("plan") => Phase::Plan,
                    Some("run") => Phase::Run,
                    _ => return Err(wrong("error_phase must be plan or run")),
                };
                Expected::Failure { phase, message: message.to_string() }
            }
            (None, Some(sinks)) => {
                let sink = |(name, columns): &(String, Json)| {
                    let file = if name == "results" { format!("{rows}.jsonl") } else { format!("{rows}.{name}.jsonl") };
                    let columns = Columns::from_json(columns).map_err(|e| wrong(&e))?;
                    Ok(SinkExpectation { sink: name.clone(), columns, file: folder.join(file) })
                };
                Expected::Sinks(sinks.as_fields().iter().map(sink).collect::<Result<_, String>>()?)
            }
            (None, None) => return Err(wrong("neither columns nor error")),
        };
        Ok(SqlCase {
            name: file_name(folder),
            folder: folder.to_path_buf(),
            script: read(&folder.join("job.sql"))?,
            features,
            expected,
        })
    }
}

/// All cases below the paths, in the order of the paths, then of their names.
///
/// # Errors
/// A path that does not exist or holds no case; a case that cannot be read.
pub fn find(paths: &[PathBuf]) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for path in paths {
        let before = cases.len();
        if !path.exists() {
            return Err(format!("{} does not exist", path.display()));
        }
        collect(path, &mut cases)?;
        if cases.len() == before {
            return Err(format!(
                "no case in {}; a case is a folder with job.sql, or a timeline .json file",
                path.display()
            ));
        }
    }
    Ok(cases)
}

fn collect(path: &Path, cases: &mut Vec<Case>) -> Result<(), String> {
    if path.is_file() {
        // a script starts with its fields, and only timeline cases have steps
        if path.extension().is_some_and(|e| e == "json") && read(path)?.contains("\"steps\"") {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let timeline = TimelineCase { file: path.to_path_buf(), script: Script::load(path)? };
            cases.push(Case { name, kind: Kind::Timeline(Box::new(timeline)) });
        }
        return Ok(());
    }
    if path.join("job.sql").is_file() {
        // a path such as "." has no name of its own
        let path = path.canonicalize().map_err(|e| format!("cannot open {}: {e}", path.display()))?;
        let sql = SqlCase::load(&path)?;
        cases.push(Case { name: sql.name.clone(), kind: Kind::Sql(Box::new(sql)) });
        return Ok(());
    }
    let entries = fs::read_dir(path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
    let mut children: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|e| e.path())).collect();
    children.retain(|child| !file_name(child).starts_with('.'));
    children.sort();
    children.iter().try_for_each(|child| collect(child, cases))
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|e| format!("cannot read {}: {e}", path.display()))
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Whether a name matches a pattern in which `*` stands for any text and `?` for any character.
pub fn matches(pattern: &str, name: &str) -> bool {
    fn inner(pattern: &[char], name: &[char]) -> bool {
        match pattern.split_first() {
            None => name.is_empty(),
            Some(('*', rest)) => (0..=name.len()).any(|skip| inner(rest, &name[skip..])),
            Some(('?', rest)) => !name.is_empty() && inner(rest, &name[1..]),
            Some((c, rest)) => name.first() == Some(c) && inner(rest, &name[1..]),
        }
    }
    let chars = |text: &str| text.chars().collect::<Vec<_>>();
    inner(&chars(pattern), &chars(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_flink_is_wrong_other_rows_are_right() {
        let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../datasets/conformance/sql");
        for case in find(&[cases]).unwrap() {
            let Kind::Sql(case) = case.kind else { continue };
            let Expected::Sinks(sinks) = &case.expected else { continue };
            for SinkExpectation { file, .. } in sinks.iter().filter(|_| case.has("flink-bug")) {
                let answered = file.with_file_name(file_name(file).replacen("right", "expected", 1));
                assert_ne!(read(file).unwrap(), read(&answered).unwrap(), "{}", case.name);
            }
        }
    }

    #[test]
    fn patterns_match_whole_names() {
        assert!(matches("0*-hop-*", "011-hop-basic"));
        assert!(matches("01?-hop-basic", "011-hop-basic"));
        assert!(!matches("hop", "011-hop-basic"));
        assert!(matches("*", ""));
    }
}
