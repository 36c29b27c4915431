//! How a run hears of those who want a savepoint: by SIGUSR1, or by a connection to a socket that has the number of its
//! process as name. Both are looked at by the thread that runs the job, so nothing has to be kept apart from it; and both
//! go with the process.
//!
//! A question is `take` or `stop`, a line break, and the path of a folder or nothing. The answer is `ok` or `error`, a
//! line break, and the path, or message and advice with a zero byte between.

use std::ffi::OsStr;
use std::io::{self, ErrorKind, Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
use transom::error::{Error, Result};
use transom::job::SavepointRequest;

use super::super::note;

/// More is no question.
const QUESTION_BYTES: usize = 1 << 16;

/// The name of the socket of a process; it is in no folder.
pub fn address(process: u32) -> io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(format!("transom/{process}"))
}

pub fn question(stop: bool, folder: Option<&Path>) -> Vec<u8> {
    let what: &[u8] = if stop { b"stop\n" } else { b"take\n" };
    [what, folder.map_or(b"", |folder| folder.as_os_str().as_bytes())].concat()
}

/// What a run has answered.
///
/// # Errors
/// Data, with what it says; or if it has said nothing, which it does when it is killed.
pub fn answered(answer: &[u8]) -> Result<PathBuf> {
    if let Some(path) = answer.strip_prefix(b"ok\n") {
        return Ok(PathBuf::from(OsStr::from_bytes(path)));
    }
    let told = answer.strip_prefix(b"error\n").map(String::from_utf8_lossy);
    let told = told.unwrap_or_else(|| "the process ended before a savepoint was complete".into());
    let (message, advice) = told.split_once('\0').unwrap_or((&*told, ""));
    let error = Error::data(message);
    Err(if advice.is_empty() { error } else { error.help(advice) })
}

/// Where a run is asked. A door that cannot be opened stays shut: a job needs none.
pub struct Doors {
    signals: Option<SignalFd>,
    listener: Option<UnixListener>,
    /// They have not said all yet.
    asking: Vec<(UnixStream, Vec<u8>)>,
}

impl Doors {
    /// To be called before there is a second thread: from now on SIGUSR1 waits until it is looked at.
    pub fn open() -> Doors {
        let mut mask = SigSet::empty();
        mask.add(Signal::SIGUSR1);
        let flags = SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC;
        let signals = mask.thread_block().and_then(|()| SignalFd::with_flags(&mask, flags)).ok();
        let listener = address(std::process::id()).and_then(|address| UnixListener::bind_addr(&address));
        let listener = listener.and_then(|listener| listener.set_nonblocking(true).map(|()| listener));
        Doors { signals, listener: listener.ok(), asking: Vec::new() }
    }

    /// The next one who wants a savepoint.
    pub fn next(&mut self) -> Option<SavepointRequest> {
        if self.signals.as_ref().and_then(|signals| signals.read_signal().ok().flatten()).is_some() {
            return Some(SavepointRequest::new(None, false, |result| match result {
                Ok(path) => note(&format!("savepoint {}", path.display())),
                Err(error) => note(&format!("no savepoint: {}", told(&error, ". "))),
            }));
        }
        while let Some((stream, _)) = self.listener.as_ref().and_then(|listener| listener.accept().ok()) {
            if may_ask(&stream) && stream.set_nonblocking(true).is_ok() {
                self.asking.push((stream, Vec::new()));
            }
        }
        for at in (0..self.asking.len()).rev() {
            let (stream, question) = &mut self.asking[at];
            match listen(stream, question) {
                Heard::More => {}
                Heard::All => {
                    let (stream, question) = self.asking.swap_remove(at);
                    return request(stream, &question);
                }
                Heard::Nonsense => drop(self.asking.swap_remove(at)),
            }
        }
        None
    }
}

/// The socket has no permissions of its own.
fn may_ask(stream: &UnixStream) -> bool {
    let own = nix::unistd::geteuid().as_raw();
    getsockopt(stream, PeerCredentials).is_ok_and(|peer| peer.uid() == own || peer.uid() == 0)
}

enum Heard {
    More,
    All,
    Nonsense,
}

fn listen(stream: &mut UnixStream, question: &mut Vec<u8>) -> Heard {
    let mut piece = [0; 4096];
    loop {
        match stream.read(&mut piece) {
            Ok(0) => return Heard::All,
            Ok(bytes) => question.extend_from_slice(&piece[..bytes]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Heard::More,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return Heard::Nonsense,
        }
        if question.len() > QUESTION_BYTES {
            return Heard::Nonsense;
        }
    }
}

fn request(mut stream: UnixStream, question: &[u8]) -> Option<SavepointRequest> {
    let (what, folder) = question.split_at_checked(5)?;
    let stop = match what {
        b"stop\n" => true,
        b"take\n" => false,
        _ => return None,
    };
    let folder =
        Some(folder).filter(|folder| !folder.is_empty()).map(|folder| PathBuf::from(OsStr::from_bytes(folder)));
    Some(SavepointRequest::new(folder, stop, move |result| {
        let answer = match result {
            Ok(path) => [b"ok\n", path.as_os_str().as_bytes()].concat(),
            Err(error) => [b"error\n", told(&error, "\0").as_bytes()].concat(),
        };
        // Whoever asked may have gone.
        let _ = stream.set_nonblocking(false).and_then(|()| stream.write_all(&answer));
    }))
}

fn told(error: &Error, between: &str) -> String {
    let message = error.message();
    error.remedy().map_or_else(|| message.to_string(), |remedy| format!("{message}{between}{remedy}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_understood_and_answered() {
        let (asks, hears) = UnixStream::pair().unwrap();
        let question = question(true, Some(Path::new("/tmp/a\nb")));
        let heard = request(hears, &question).unwrap();
        assert!(heard.stop && heard.folder.as_deref() == Some(Path::new("/tmp/a\nb")));
        drop(heard);
        let mut answer = Vec::new();
        (&asks).read_to_end(&mut answer).unwrap();
        let error = answered(&answer).unwrap_err();
        assert!(error.to_string().contains("the job ended before") && error.remedy().is_some());
        assert_eq!(answered(b"ok\n/x").unwrap(), Path::new("/x"));
        assert!(answered(b"").unwrap_err().to_string().contains("the process ended"));
        let (_asks, hears) = UnixStream::pair().unwrap();
        assert!(request(hears, b"jump\n").is_none());
    }
}
