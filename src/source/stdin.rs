//! Stdin as a stream: a thread of its own waits for bytes, so that no shard has to.

use std::io::{self, BufReader, Cursor, Read};
use std::sync::Arc;

use crossbeam::channel::{Receiver, Sender, TryRecvError, bounded};

use super::packed::unpacking_failed;
use super::stream::{Fed, Feed};
use super::{Wake, peek, unpack};
use crate::error::{Error, ErrorKind, Result};
use crate::plan::{Codec, Compression};

pub const NAME: &str = "<stdin>";
/// Bytes that are read at once.
const READ_BYTES: usize = 64 << 10;
/// Readings that wait for a shard.
const READINGS: usize = 32;

pub(super) struct Stdin {
    compression: Compression,
    readings: Option<Receiver<Result<Vec<u8>>>>,
    taken: u64,
}

impl Stdin {
    pub fn new(compression: Compression) -> Self {
        Stdin { compression, readings: None, taken: 0 }
    }

    fn readings(&mut self, wake: &Wake) -> Result<Receiver<Result<Vec<u8>>>> {
        if let Some(readings) = &self.readings {
            return Ok(readings.clone());
        }
        let (sender, readings) = bounded(READINGS);
        let (compression, wake) = (self.compression, wake.clone());
        // Nobody waits for the thread: it may sit in a read that never returns, and ends with the process at the latest.
        std::thread::Builder::new()
            .name("stdin".to_string())
            .spawn(move || {
                if let Err(error) = pump(compression, &sender, &wake) {
                    let _ = sender.send(Err(error));
                }
                drop(sender);
                wake();
            })
            .map_err(|error| Error::io("start", "a thread that reads stdin", error))?;
        self.readings = Some(readings.clone());
        Ok(readings)
    }
}

impl Feed for Stdin {
    fn read(&mut self, wanted: usize, buffer: &mut Vec<u8>) -> Result<Fed> {
        let nobody: Wake = Arc::new(|| {});
        let readings = self.readings(&nobody)?;
        let before = buffer.len();
        while buffer.len() - before < wanted {
            match readings.try_recv() {
                Ok(bytes) => buffer.extend_from_slice(&bytes?),
                Err(_) if buffer.len() > before => break,
                Err(TryRecvError::Empty) => return Ok(Fed::Nothing),
                Err(TryRecvError::Disconnected) => return Ok(Fed::End),
            }
        }
        self.taken += (buffer.len() - before) as u64;
        Ok(Fed::Some)
    }

    fn bytes_taken(&mut self) -> u64 {
        std::mem::take(&mut self.taken)
    }

    fn start(&mut self, wake: &Wake) -> bool {
        // Where no thread can be started, the first reading says so.
        let _ = self.readings(wake);
        true
    }
}

/// Reads stdin to its end, or until nobody takes the bytes.
fn pump(compression: Compression, sender: &Sender<Result<Vec<u8>>>, wake: &Wake) -> Result<()> {
    let failed = |error: io::Error| Error::io("read", "stdin", error);
    let mut input = peek::rest_of_stdin()?;
    let (codec, start) = match compression {
        Compression::None => (None, Vec::new()),
        Compression::Codec(codec) => (Some(codec), Vec::new()),
        Compression::Auto => recognise(&mut input)?,
    };
    match codec {
        None => copy(&mut Cursor::new(start).chain(input), sender, wake, &failed),
        Some(codec) => {
            let broken = |error: io::Error| unpacking_failed(NAME, codec, &error);
            let packed = BufReader::with_capacity(READ_BYTES, Cursor::new(start).chain(input));
            copy(&mut unpack::reader(codec, packed).map_err(broken)?, sender, wake, &broken)
        }
    }
}

/// The codec that the first bytes tell, and these bytes. Reads no more than it takes to know.
fn recognise(input: &mut dyn Read) -> Result<(Option<Codec>, Vec<u8>)> {
    let mut start = Vec::new();
    let mut codec = None;
    while codec.is_none() && unpack::may_be_packed(&start) {
        let mut bytes = [0; unpack::MAGIC_BYTES];
        let room = unpack::MAGIC_BYTES - start.len();
        match input.read(&mut bytes[..room]) {
            Ok(0) => break,
            Ok(count) => start.extend_from_slice(&bytes[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Error::io("read", "stdin", error)),
        }
        codec = unpack::by_content(&start);
    }
    if let (None, Some((what, command))) = (codec, unpack::foreign("", &start)) {
        let message = format!("stdin is {what}, which is not read");
        return Err(Error::new(ErrorKind::Unsupported, message).help(format!("unpack it first: {command} FILE | …")));
    }
    Ok((codec, start))
}

fn copy(
    input: &mut dyn Read,
    sender: &Sender<Result<Vec<u8>>>,
    wake: &Wake,
    failed: &dyn Fn(io::Error) -> Error,
) -> Result<()> {
    let mut buffer = vec![0; READ_BYTES];
    loop {
        match input.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => {
                if sender.send(Ok(buffer[..count].to_vec())).is_err() {
                    return Ok(());
                }
                wake();
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(failed(error)),
        }
    }
}
