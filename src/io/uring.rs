//! Pinned threads with an io_uring executor each: the only file that names glommio.
//!
//! A shard is a synchronous state machine, so its executor runs one future that never leaves the
//! thread. Where io_uring is missing or forbidden (old kernels, many containers) the same body runs
//! on a plain thread, pinned all the same where the machine allows it.

use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;

use glommio::{LocalExecutorBuilder, Placement};

/// Enough for a ring that carries no file operations; glommio's default reserves 10 MiB a thread.
const IO_MEMORY_BYTES: usize = 64 << 10;

/// Files and the like that an executor keeps open, and what the job needs beside them.
const FILES_PER_SHARD: usize = 12;
const FILES_BESIDE: usize = 32;

/// Which kind of thread shards run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Executor {
    /// io_uring where it works, else plain threads with a notice.
    #[default]
    Auto,
    /// Plain threads, even where io_uring works.
    Threads,
}

/// Why io_uring cannot be used here; None where it can.
///
/// Asks the kernel before glommio does, which panics where it is refused.
pub fn why_not(shards: usize) -> Option<String> {
    if let Some(most) = super::limits::open_files().filter(|most| *most < FILES_BESIDE + FILES_PER_SHARD * shards) {
        return Some(format!("only {most} files may be open at once"));
    }
    let asked = io_uring::IoUring::new(8).and_then(|ring| ring.submitter().register_probe(&mut io_uring::Probe::new()));
    if let Err(error) = asked {
        return Some(error.to_string());
    }
    let executor = LocalExecutorBuilder::new(Placement::Unbound).io_memory(IO_MEMORY_BYTES).make();
    executor.err().map(|error| error.to_string())
}

/// Starts one thread a body. `uring`: with an executor each.
///
/// # Errors
/// A thread cannot be started; those already started run on.
pub fn spawn_shards<R, F>(bodies: Vec<F>, uring: bool) -> io::Result<Vec<JoinHandle<R>>>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    let cores = Arc::new(core_affinity::get_core_ids().unwrap_or_default());
    let pin = bodies.len() <= cores.len();
    let mut handles = Vec::with_capacity(bodies.len());
    for (shard, body) in bodies.into_iter().enumerate() {
        let core = if pin { Some(cores[shard]) } else { None };
        let run = move || match core {
            _ if !uring => on_plain_thread(core, body),
            Some(core) => on_executor(Placement::Fixed(core.id), Some(core), body),
            None => on_executor(Placement::Unbound, None, body),
        };
        handles.push(std::thread::Builder::new().name(format!("shard-{shard}")).spawn(run)?);
    }
    Ok(handles)
}

fn on_executor<R>(placement: Placement, core: Option<core_affinity::CoreId>, body: impl FnOnce() -> R) -> R {
    match LocalExecutorBuilder::new(placement).io_memory(IO_MEMORY_BYTES).make() {
        Ok(executor) => executor.run(async move { body() }),
        // The process may have reached a limit that the check before did not.
        Err(_) => on_plain_thread(core, body),
    }
}

fn on_plain_thread<R>(core: Option<core_affinity::CoreId>, body: impl FnOnce() -> R) -> R {
    if let Some(core) = core {
        // Not allowed to pin: the scheduler places the thread, the answer is the same.
        let _ = core_affinity::set_for_current(core);
    }
    body()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_run_on_both_kinds_of_threads() {
        for uring in [false, why_not(3).is_none()] {
            let bodies: Vec<_> = (0..3).map(|number| move || number * 2).collect();
            let handles = spawn_shards(bodies, uring).unwrap();
            let results: Vec<i32> = handles.into_iter().map(|handle| handle.join().unwrap()).collect();
            assert_eq!(results, [0, 2, 4]);
        }
    }
}
