//! A look at files before a table is made of them: the same files, unpacked in the same way.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::os::fd::AsFd;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, RecvTimeoutError, bounded};

use super::{files, packed, stdin, unpack};
use crate::error::{Error, ErrorKind, Result};
use crate::format::{CsvOptions, FormatSpec, InputFile};
use crate::plan::{Codec, FilesSpec};

/// Bytes that are read at once.
const READ_BYTES: usize = 64 << 10;

/// What was looked at of stdin and the thread that reads the rest. A process has one stdin, and so one of these.
static HELD: Mutex<Option<Held>> = Mutex::new(None);

struct Held {
    start: Vec<u8>,
    rest: Receiver<io::Result<Vec<u8>>>,
}

/// The files that a path stands for, as a table lists them.
///
/// # Errors
/// Io: none there, or not to be read.
pub fn list(path: &str) -> Result<Vec<String>> {
    let found = files::find(&FilesSpec::new(path, FormatSpec::Csv(CsvOptions::default())), path)?;
    Ok(found.into_iter().map(|found| found.path).collect())
}

/// A file's bytes from its start on, unpacked.
pub struct Bytes {
    pub reader: Box<dyn Read + Send>,
    /// It is compressed: places inside cannot be read without what is before them.
    pub packed: bool,
    path: String,
    codec: Option<Codec>,
}

impl Bytes {
    /// # Errors
    /// Io, and Unsupported for an archive.
    pub fn open(path: &str) -> Result<Bytes> {
        let (_, mut file) = InputFile::open(path)?;
        let failed = |error| Error::io("read", path, error);
        let mut start = Vec::new();
        (&mut file).take(unpack::MAGIC_BYTES as u64).read_to_end(&mut start).map_err(failed)?;
        if let Some((what, command)) = unpack::foreign(path, &start) {
            return Err(Error::new(ErrorKind::Unsupported, format!("{path} is {what}, which is not read"))
                .help(format!("unpack it first: {command} {path} > FILE")));
        }
        let codec = unpack::by_ending(path).or_else(|| unpack::by_content(&start));
        let whole = Cursor::new(start).chain(file);
        let reader: Box<dyn Read + Send> = match codec {
            None => Box::new(whole),
            Some(codec) => unpack::reader(codec, BufReader::with_capacity(READ_BYTES, whole))
                .map_err(|error| packed::unpacking_failed(path, codec, &error))?,
        };
        Ok(Bytes { reader, packed: codec.is_some(), path: path.to_string(), codec })
    }

    /// Fills the buffer as far as there are bytes; their number.
    ///
    /// # Errors
    /// Io; Data, if the file is damaged.
    pub fn fill(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let mut count = 0;
        while count < buffer.len() {
            match self.reader.read(&mut buffer[count..]) {
                Ok(0) => break,
                Ok(more) => count += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    return Err(match self.codec {
                        Some(codec) => packed::unpacking_failed(&self.path, codec, &error),
                        None => Error::io("read", &self.path, error),
                    });
                }
            }
        }
        Ok(count)
    }
}

/// Looks at the start of stdin, unpacked, and whether it ends there. Reads at most about `bytes` bytes, and no longer
/// than `patience` once something has come. A job that reads stdin afterwards gets all of it.
///
/// # Errors
/// Io.
pub fn look_at_stdin(bytes: usize, patience: Option<Duration>) -> Result<(Vec<u8>, bool)> {
    let failed = |error| Error::io("read", "stdin", error);
    let rest = stdin_thread()?;
    let mut start = Vec::new();
    let mut first = None;
    let ended = loop {
        if start.len() >= bytes {
            break false;
        }
        let read = match (patience, first) {
            (Some(patience), Some(since)) => {
                let left = patience.saturating_sub(Instant::now().saturating_duration_since(since));
                rest.recv_timeout(left)
            }
            _ => rest.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match read {
            Ok(more) => start.extend_from_slice(&more.map_err(failed)?),
            Err(RecvTimeoutError::Timeout) => break false,
            Err(RecvTimeoutError::Disconnected) => break true,
        }
        first.get_or_insert_with(Instant::now);
    };
    let text = match unpack::by_content(&start) {
        None => start.clone(),
        Some(codec) => {
            let mut text = Vec::new();
            let mut reader = unpack::reader(codec, Cursor::new(start.clone())).map_err(failed)?;
            // What is cut short ends with an error; the bytes before it count. A job that reads on reports damage.
            let _ = reader.by_ref().take(bytes as u64).read_to_end(&mut text);
            text
        }
    };
    let whole = ended && text.len() < bytes;
    *HELD.lock().unwrap_or_else(PoisonError::into_inner) = Some(Held { start, rest });
    Ok((text, whole))
}

/// Stdin as nobody has looked at it.
pub(super) fn rest_of_stdin() -> Result<Box<dyn Read + Send>> {
    match HELD.lock().unwrap_or_else(PoisonError::into_inner).take() {
        Some(held) => {
            Ok(Box::new(Cursor::new(held.start).chain(Rest { rest: held.rest, last: Cursor::new(Vec::new()) })))
        }
        None => Ok(Box::new(stdin_file()?)),
    }
}

fn stdin_file() -> Result<File> {
    let owned = io::stdin().as_fd().try_clone_to_owned();
    owned.map(File::from).map_err(|error| Error::io("read", stdin::NAME, error))
}

/// Reads stdin in a thread of its own, since a reading may take forever.
fn stdin_thread() -> Result<Receiver<io::Result<Vec<u8>>>> {
    let mut input = stdin_file()?;
    let (sender, receiver) = bounded(2);
    let read = move || {
        let mut buffer = vec![0; READ_BYTES];
        loop {
            let read = match input.read(&mut buffer) {
                Ok(0) => return,
                Ok(count) => Ok(buffer[..count].to_vec()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => Err(error),
            };
            let failed = read.is_err();
            if sender.send(read).is_err() || failed {
                return;
            }
        }
    };
    let thread = std::thread::Builder::new().name("stdin".to_string()).spawn(read);
    thread.map_err(|error| Error::io("start", "a thread that reads stdin", error))?;
    Ok(receiver)
}

/// What the thread reads.
struct Rest {
    rest: Receiver<io::Result<Vec<u8>>>,
    last: Cursor<Vec<u8>>,
}

impl Read for Rest {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.last.read(buffer)? {
                0 if !buffer.is_empty() => match self.rest.recv() {
                    Ok(more) => self.last = Cursor::new(more?),
                    Err(_) => return Ok(0),
                },
                count => return Ok(count),
            }
        }
    }
}
