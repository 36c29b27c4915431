//! A compressed file as a stream.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::stream::{Fed, Feed};
use super::unpack;
use crate::error::{Error, ErrorKind, Result};
use crate::format::InputFile;
use crate::plan::Codec;

/// Compressed bytes that are read at once.
const READ_BYTES: usize = 128 << 10;

pub(super) struct PackedFile {
    path: String,
    codec: Codec,
    /// Until the first block is wanted.
    unopened: Option<FileReader>,
    reader: Option<Box<dyn Read + Send>>,
    shared: Arc<Shared>,
    counted: u64,
}

/// What a reader under a decoder has to tell.
#[derive(Default)]
struct Shared {
    offset: AtomicU64,
    failed: Mutex<Option<Error>>,
}

/// A file from its start to its end. It may be opened for each reading, since many files may be read in turn.
struct FileReader {
    input: InputFile,
    kept: Option<File>,
    shared: Arc<Shared>,
}

impl FileReader {
    fn read_some(&self, buffer: &mut [u8]) -> Result<usize> {
        let offset = self.shared.offset.load(Ordering::Relaxed);
        let left = usize::try_from(self.input.bytes().saturating_sub(offset)).unwrap_or(usize::MAX);
        let wanted = buffer.len().min(left);
        if wanted == 0 {
            return Ok(0);
        }
        let opened = if self.kept.is_none() { Some(self.input.reopen()?) } else { None };
        let Some(file) = self.kept.as_ref().or(opened.as_ref()) else { return Ok(0) };
        let count = loop {
            match file.read_at(&mut buffer[..wanted], offset) {
                Ok(0) => return Err(super::became_shorter(self.input.path())),
                Ok(count) => break count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::io("read", self.input.path(), error)),
            }
        };
        self.shared.offset.store(offset + count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

impl Read for FileReader {
    /// The decoder above passes on an error of its own kind; what it means is kept for [`PackedFile`].
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.read_some(buffer).map_err(|error| {
            *self.shared.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            io::ErrorKind::Other.into()
        })
    }
}

impl PackedFile {
    pub fn new(input: InputFile, kept: Option<File>, codec: Codec) -> Self {
        let shared = Arc::new(Shared::default());
        PackedFile {
            path: input.path().to_string(),
            codec,
            unopened: Some(FileReader { input, kept, shared: shared.clone() }),
            reader: None,
            shared,
            counted: 0,
        }
    }

    fn failed(&self, error: &io::Error) -> Error {
        let known = self.shared.failed.lock().unwrap_or_else(PoisonError::into_inner).take();
        known.unwrap_or_else(|| unpacking_failed(&self.path, self.codec, error))
    }
}

/// The error of a stream that is damaged.
pub(super) fn unpacking_failed(path: &str, codec: Codec, error: &io::Error) -> Error {
    let name = codec.name();
    let message = match error.kind() {
        io::ErrorKind::UnexpectedEof => format!("the {name} data ends too early: it is cut short"),
        io::ErrorKind::OutOfMemory => format!("unpacking the {name} data needs more memory than is allowed"),
        _ => format!("this is no {name} data, or it is damaged ({error})"),
    };
    let check = match path {
        super::stdin::NAME => "look at what writes it".to_string(),
        _ => format!("copy the file again, or check it with: {} {path} > /dev/null", unpack::command(codec)),
    };
    let remedy = format!("{check}; for text that is not compressed set 'compression' = 'none'");
    Error::new(ErrorKind::Data, message).help(remedy)
}

impl Feed for PackedFile {
    fn read(&mut self, wanted: usize, buffer: &mut Vec<u8>) -> Result<Fed> {
        if let Some(file) = self.unopened.take() {
            let reader = unpack::reader(self.codec, BufReader::with_capacity(READ_BYTES, file));
            self.reader = Some(reader.map_err(|error| self.failed(&error))?);
        }
        let Some(reader) = &mut self.reader else { return Ok(Fed::End) };
        let mut read = 0;
        while read < wanted {
            match reader.take((wanted - read) as u64).read_to_end(buffer) {
                Ok(0) => {
                    // Frees what the decoder holds.
                    self.reader = None;
                    return Ok(Fed::End);
                }
                Ok(count) => read += count,
                Err(error) => return Err(self.failed(&error)),
            }
        }
        Ok(Fed::Some)
    }

    fn bytes_taken(&mut self) -> u64 {
        let offset = self.shared.offset.load(Ordering::Relaxed);
        offset - std::mem::replace(&mut self.counted, offset)
    }
}
