//! `transom savepoint`, and the doors at which a run is asked for one.

mod doors;

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use clap::Args;
use transom::error::{Error, Result};
use transom::snapshot::{CheckpointRoot, process_of};

pub use doors::Doors;

#[derive(Args)]
#[command(after_help = "Prints the path of the savepoint; transom run SCRIPT --restore PATH goes on from there.
A run that gets SIGUSR1 takes one too, and says where it is.")]
pub struct SavepointArgs {
    /// The process of a run, or the folder of its checkpoints
    #[arg(value_name = "PID|FOLDER")]
    run: String,
    /// End the job there: its tables have the rows up to the savepoint
    #[arg(long)]
    stop: bool,
    /// Folder in which the savepoint is made [default: execution.checkpointing.savepoint-dir of the script]
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
}

/// Asks, waits, and prints the path.
///
/// # Errors
/// Usage if there is no such run; Data with what the run says if there is no savepoint.
pub fn savepoint(args: &SavepointArgs) -> Result<()> {
    let process = process(&args.run)?;
    let refused = |error: std::io::Error| {
        Error::usage(format!("process {process} cannot be asked for a savepoint: {error}"))
            .help("name the process of a transom run of yours; transom sql and programs take none")
    };
    let mut door = UnixStream::connect_addr(&doors::address(process).map_err(refused)?).map_err(refused)?;
    // The run may stand in another folder.
    let folder = args.to.as_ref().map(std::path::absolute).transpose();
    let folder = folder.map_err(|error| Error::io("find", "the folder of --to", error))?;
    door.write_all(&doors::question(args.stop, folder.as_deref())).map_err(refused)?;
    door.shutdown(Shutdown::Write).map_err(refused)?;
    let mut answer = Vec::new();
    door.read_to_end(&mut answer).map_err(refused)?;
    let path = doors::answered(&answer)?;
    println_path(&path)
}

fn println_path(path: &Path) -> Result<()> {
    let written = writeln!(std::io::stdout(), "{}", path.display());
    written.map_err(|error| Error::io("write to", "stdout", error))
}

/// The process that is meant.
fn process(run: &str) -> Result<u32> {
    if let Ok(process) = run.parse() {
        return Ok(process);
    }
    let folder = Path::new(run);
    if let Some(process) = process_of(folder) {
        return Ok(process);
    }
    let live = if folder.is_dir() { CheckpointRoot::new(folder).live()? } else { Vec::new() };
    match live.as_slice() {
        [one] => process_of(one).ok_or_else(|| Error::usage(format!("the run in {} has just ended", one.display()))),
        [] => Err(Error::usage(format!("no run with checkpoints in {run} is alive"))
            .help("name the process of a run, or the folder that execution.checkpointing.dir names")),
        several => {
            let names: Vec<String> = several.iter().map(|run| run.display().to_string()).collect();
            Err(Error::usage(format!("several runs in {run} are alive"))
                .help(format!("name one: {}", names.join(", "))))
        }
    }
}
