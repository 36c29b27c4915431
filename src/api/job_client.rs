//! A job that runs by itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Instant;

use super::flow::Read;
use super::graph::Graph;
use super::result::JobExecutionResult;
use super::run::{JobProgress, Settings, Watcher, run};
use crate::error::{Error, Result};

/// A job that was begun with `execute_async`. Dropping it leaves the job running.
#[must_use = "the job goes on, but nobody hears of its errors: wait for it"]
pub struct JobClient {
    thread: JoinHandle<Result<JobExecutionResult>>,
    cancel: Arc<AtomicBool>,
    read: Arc<Read>,
    started: Instant,
}

impl JobClient {
    pub(super) fn begin(graph: Graph, mut settings: Settings) -> Result<Self> {
        let (cancel, read) = (Arc::new(AtomicBool::new(false)), Arc::<Read>::default());
        settings.options.cancel = cancel.clone();
        let counted = read.clone();
        let body = move || {
            let notices = std::cell::RefCell::new(Vec::new());
            let notice = |text: &str| notices.borrow_mut().push(text.to_string());
            let watcher = Watcher { notice: &notice, progress: &|_| {}, checkpoint: &|_| Ok(()), read: counted };
            let mut result = run(graph, &settings, &watcher)?;
            result.warnings = notices.take();
            Ok(result)
        };
        let thread = std::thread::Builder::new().name("job".to_string()).spawn(body);
        let thread = thread.map_err(|error| Error::io("start", "a thread", error))?;
        Ok(JobClient { thread, cancel, read, started: Instant::now() })
    }

    /// Asks the job to end soon, without the rest of its input: [`wait`](Self::wait) then gives an error of kind
    /// Cancelled.
    pub fn cancel(&self) {
        self.cancel.store(true, Ordering::Relaxed);
    }

    pub fn is_finished(&self) -> bool {
        self.thread.is_finished()
    }

    pub fn progress(&self) -> JobProgress {
        JobProgress::new(&self.read, self.started)
    }

    /// Waits until the job has ended. Warnings are in the result.
    ///
    /// # Errors
    /// As [`execute`](super::StreamExecutionEnvironment::execute); kind Cancelled after [`cancel`](Self::cancel).
    pub fn wait(self) -> Result<JobExecutionResult> {
        self.thread.join().unwrap_or_else(|_| Err(Error::internal("the job's thread panicked")))
    }
}
