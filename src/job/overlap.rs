//! Files that would be lost: written twice by one script, or read by the job that replaces them. And stdin, which can
//! be read once.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::format::local_path;
use crate::plan::{Config, JobPlan, ScanSpec, SinkSpec};
use crate::sink::replaced_file;

/// The files that the statements of a script have claimed so far.
#[derive(Debug, Default)]
pub struct Claims {
    /// By path: the table and the number of the statement.
    files: HashMap<PathBuf, (String, usize)>,
    /// What reads stdin.
    stdin: Option<String>,
}

impl Claims {
    /// Claims stdin for the script itself.
    pub fn script_from_stdin(&mut self) {
        self.stdin = Some("the script itself".to_string());
    }

    /// Claims stdin where a plan reads it.
    ///
    /// # Errors
    /// Kind Script, if it is read already.
    pub fn add_stdin(&mut self, plan: &JobPlan, statement: usize) -> Result<()> {
        let mut scans: Vec<(usize, &ScanSpec)> = Vec::new();
        let by_pipeline = plan.pipelines.iter().enumerate();
        let by_pipeline =
            by_pipeline.map(|(at, pipeline)| pipeline.root.stdin_scans().into_iter().map(move |scan| (at, scan)));
        for (pipeline, scan) in by_pipeline.flatten() {
            // One reading serves several queries, but each only once.
            let shares = |&(of, known): &(usize, &ScanSpec)| of != pipeline && known.reads_the_same(scan);
            let shared = scans.iter().any(shares) && !scans.iter().any(|&(of, _)| of == pipeline);
            scans.push((pipeline, scan));
            if shared {
                continue;
            }
            let reader = format!("table `{}` in statement {statement}", scan.table);
            if let Some(earlier) = self.stdin.replace(reader.clone()) {
                let what = if earlier == reader { "twice" } else { "too" };
                return Err(Error::script(format!("stdin can be read once, by {earlier}: {reader} reads it {what}"))
                    .help("copy the data into a file and give its path"));
            }
        }
        Ok(())
    }

    /// Forgets the files that were claimed: statements that are given one by one may replace each other's files.
    pub fn forget_files(&mut self) {
        self.files.clear();
    }

    /// Claims the files of a plan; `statement` is its number in the script.
    ///
    /// # Errors
    /// Kind Script, if one of them would be replaced by the rows of another INSERT.
    pub fn add(&mut self, plan: &JobPlan, statement: usize) -> Result<()> {
        for sink in plan.pipelines.iter().map(|pipeline| &pipeline.sink) {
            let Some(file) = replaced_file(sink) else { continue };
            let claim = (sink.table.clone(), statement);
            let Some((table, earlier)) = self.files.insert(identity(&file), claim) else { continue };
            let by = if earlier == statement {
                "another INSERT of the same statement set".to_string()
            } else {
                format!("statement {earlier}")
            };
            return Err(Error::script(format!(
                "{} would be written twice: table `{}` would replace what {by} writes to `{table}`",
                file.display(),
                sink.table
            ))
            .help("combine the queries with UNION ALL, write to different files, or to a folder: a path without extension"));
        }
        Ok(())
    }
}

/// Refuses a sink that would replace one of the files that its job reads.
///
/// # Errors
/// Kind Script, naming the file.
pub(super) fn check_sources<'a>(sinks: &[SinkSpec], sources: impl Iterator<Item = &'a str>) -> Result<()> {
    let targets: Vec<(PathBuf, &SinkSpec)> =
        sinks.iter().filter_map(|sink| Some((identity(&replaced_file(sink)?), sink))).collect();
    if targets.is_empty() {
        return Ok(());
    }
    for source in sources {
        let read = identity(Path::new(source));
        if let Some((_, sink)) = targets.iter().find(|(file, _)| *file == read) {
            let message = format!("table `{}` would replace {source}, which this statement reads", sink.table);
            return Err(Error::script(message).help("write to another file"));
        }
    }
    Ok(())
}

/// Refuses a quarantine, and a file of late rows, that its job reads or writes otherwise.
///
/// # Errors
/// Kind Script, naming the file.
pub(super) fn check_asides<'a, F: Iterator<Item = &'a str>>(
    config: &Config,
    sinks: &[SinkSpec],
    sources: impl Fn() -> F,
) -> Result<()> {
    if let Some(quarantine) = &config.quarantine {
        check_aside(("transom.quarantine.path", &quarantine.path, "the quarantine"), sinks, sources())?;
    }
    let Some(late) = &config.late_rows else { return Ok(()) };
    if let Some(quarantine) = &config.quarantine
        && identity(Path::new(local_path(&quarantine.path)?)) == identity(Path::new(local_path(&late.path)?))
    {
        let message = format!("'transom.late-rows.path' and 'transom.quarantine.path' are both {}", late.path);
        return Err(Error::script(message).help("give each a file of its own"));
    }
    check_aside(("transom.late-rows.path", &late.path, "the late rows"), sinks, sources())
}

fn check_aside<'a>(
    (setting, path, what): (&str, &str, &str),
    sinks: &[SinkSpec],
    mut sources: impl Iterator<Item = &'a str>,
) -> Result<()> {
    let file = identity(Path::new(local_path(path)?));
    let written = sinks.iter().filter_map(replaced_file).any(|sink| identity(&sink) == file);
    if written || sources.any(|source| identity(Path::new(source)) == file) {
        let does = if written { "writes" } else { "reads" };
        let message = format!("'{setting}' would replace {path}, which this statement {does}");
        return Err(Error::script(message).help(format!("give {what} a file of its own")));
    }
    Ok(())
}

/// The path without detours, also of a file that is not there yet.
fn identity(file: &Path) -> PathBuf {
    if let Ok(path) = file.canonicalize() {
        return path;
    }
    let folder = match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    match (folder.canonicalize(), file.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => file.to_path_buf(),
    }
}
