//! `transom checkpoint`.

mod show;
mod table;

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use transom::error::{Error, ErrorKind, Result};
use transom::numbers::bytes;
use transom::snapshot::{CheckpointRoot, METADATA, Manifest};

use table::{Align, aligned};

#[derive(Subcommand)]
pub enum CheckpointCommand {
    /// List the checkpoints below a folder, the newest first, then the savepoints in it
    Ls {
        /// The folder that execution.checkpointing.dir names, that of one run, or one with savepoints
        root: PathBuf,
    },
    /// Tell what is in a checkpoint: how far it has read, the state of each operator, the files of sinks
    Show {
        /// A folder chk-N
        path: PathBuf,
    },
    /// Look at every byte of checkpoints
    #[command(after_help = "Exit codes: 0 all are as they were written, 1 one is damaged, 2 one is not there")]
    Verify {
        /// Folders chk-N
        #[arg(required = true, value_name = "PATH")]
        paths: Vec<PathBuf>,
    },
}

pub fn checkpoint(command: &CheckpointCommand) -> Result<()> {
    match command {
        CheckpointCommand::Ls { root } => print(&list(root)?),
        CheckpointCommand::Show { path } => show::show(&folder_of(path)?),
        CheckpointCommand::Verify { paths } => verify(paths),
    }
}

fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|error| Error::io("write to", "stdout", error))
}

/// The folder of a checkpoint, which may also be named by its manifest.
fn folder_of(path: &Path) -> Result<PathBuf> {
    let is_manifest = path.file_name().is_some_and(|name| name == METADATA);
    let folder = if is_manifest { path.parent().unwrap_or(path) } else { path };
    if folder.join(METADATA).is_file() {
        return Ok(folder.to_path_buf());
    }
    let message = format!("{} is no checkpoint: it has no file {METADATA}", folder.display());
    Err(Error::usage(message).help("name a folder chk-N that has one; transom checkpoint ls ROOT lists them"))
}

fn list(root: &Path) -> Result<String> {
    if !root.is_dir() {
        return Err(Error::usage(format!("{} is no folder", root.display()))
            .help("name the folder that execution.checkpointing.dir names in the script"));
    }
    let header = ["checkpoint", "script", "statement", "written", "shards", "size", "state"];
    let mut rows = vec![header.map(str::to_string)];
    let root_folder = CheckpointRoot::new(root);
    for (folder, manifest) in root_folder.all()?.into_iter().chain(root_folder.savepoints()?) {
        let whole = manifest.and_then(|manifest| manifest.check_sizes(&folder).map(|()| manifest));
        let folder = folder.display().to_string();
        rows.push(match whole {
            Ok(manifest) => [
                folder,
                manifest.script.clone(),
                manifest.statement.to_string(),
                written(&manifest),
                manifest.shards.to_string(),
                bytes(size(&manifest)),
                "complete".to_string(),
            ],
            Err(error) => unknown(folder, error.to_string()),
        });
    }
    for folder in root_folder.incomplete()? {
        rows.push(unknown(folder.display().to_string(), "not complete".to_string()));
    }
    if rows.len() == 1 {
        return Ok(format!("no checkpoints below {}\n", root.display()));
    }
    use Align::{Left, Right};
    Ok(aligned(&rows, [Left, Left, Right, Left, Right, Right, Left]))
}

/// A line of the list that has no figures.
fn unknown(folder: String, state: String) -> [String; 7] {
    let none = String::new;
    [folder, none(), none(), none(), none(), none(), state]
}

fn written(manifest: &Manifest) -> String {
    let time = jiff::Timestamp::from_millisecond(manifest.created_ms);
    time.map_or_else(|_| manifest.created_ms.to_string(), |time| format!("{time:.0}"))
}

/// Of the files of state.
fn size(manifest: &Manifest) -> u64 {
    manifest.files.iter().map(|file| file.bytes).sum()
}

/// Says of each checkpoint whether it is as it was written.
fn verify(paths: &[PathBuf]) -> Result<()> {
    let (mut damaged, mut missing) = (0, 0);
    for path in paths {
        let line = match folder_of(path) {
            Ok(folder) => match faults(&folder) {
                Ok(told) => format!("OK       {}: {told}\n", folder.display()),
                Err(faults) => {
                    damaged += 1;
                    faults.iter().map(|fault| format!("DAMAGED  {fault}\n")).collect()
                }
            },
            Err(error) => {
                missing += 1;
                format!("MISSING  {}\n", error.message())
            }
        };
        print(&line)?;
    }
    let of = |number: usize| format!("{number} of {}", paths.len());
    match (missing, damaged) {
        (0, 0) => Ok(()),
        (0, damaged) => Err(Error::new(ErrorKind::Data, format!("damaged: {}", of(damaged))).help(
            "restore another one: transom checkpoint ls ROOT lists them; --restore latest passes damaged ones over",
        )),
        (missing, _) => Err(Error::usage(format!("not there: {}", of(missing)))
            .help("name folders chk-N that have a file _metadata; transom checkpoint ls ROOT lists them")),
    }
}

/// What was looked at; else what is damaged, a fault for each file.
fn faults(folder: &Path) -> std::result::Result<String, Vec<Error>> {
    let metadata = folder.join(METADATA);
    let manifest = Manifest::read(&metadata).map_err(|error| vec![error])?;
    let opened = manifest.files.iter().map(|entry| manifest.open_file(folder, entry));
    let faults: Vec<Error> = opened.filter_map(Result::err).collect();
    if faults.is_empty() {
        let files = manifest.files.len();
        let plural = if files == 1 { "" } else { "s" };
        Ok(format!("the manifest and {files} file{plural} of state, {}", bytes(size(&manifest))))
    } else {
        Err(faults)
    }
}
