//! What `schema` and `window` look at of a file, and the guess that they make from it.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use clap::{Args, ValueEnum};
use transom::error::{Error, Result};
use transom::guess::{self, Begin, Format, Guess, Input, Piece, Sample};
use transom::source::peek::{self, Bytes};

/// Files up to this size together are read whole.
const WHOLE_BYTES: u64 = 16 << 20;
/// Of larger ones: files that are looked at, the start of each, and places inside.
const FILES: usize = 8;
const START_BYTES: usize = 2 << 20;
const PLACES: u64 = 24;
const PLACE_BYTES: usize = 256 << 10;
/// Bytes that are read at once where all are read.
const CHUNK_BYTES: usize = 1 << 20;
/// Stdin is looked at for so long once something has come, unless a number of rows is asked for.
const PATIENCE: Duration = Duration::from_secs(2);
/// Bytes of stdin that are looked at.
const STDIN_BYTES: usize = 1 << 20;
/// Memory for stdin where more rows are asked for.
const STDIN_BYTES_MAX: usize = 1 << 30;

#[derive(Args)]
pub struct SampleArgs {
    /// A file, folder or glob in CSV, JSON lines or Parquet; - reads stdin
    pub file: String,
    /// What the file is, if its name and content do not tell
    #[arg(long, value_enum)]
    format: Option<FormatArg>,
    /// Guess from the first N rows
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    rows: Option<u64>,
    /// Guess from every row instead of a sample
    #[arg(long, conflicts_with = "rows")]
    all: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum FormatArg {
    Csv,
    Json,
    Parquet,
}

impl SampleArgs {
    fn format(&self) -> Option<Format> {
        self.format.map(|format| match format {
            FormatArg::Csv => Format::Csv,
            FormatArg::Json => Format::Json,
            FormatArg::Parquet => Format::Parquet,
        })
    }

    /// Guesses the table in the file.
    pub fn guess(&self) -> Result<Guess> {
        if self.file == "-" {
            return self.guess_stdin();
        }
        let files = self.files()?;
        let mut guess = self.guess_files(&files)?;
        guess::partitions(&self.file, &files, &mut guess);
        Ok(guess)
    }

    fn guess_files(&self, files: &[String]) -> Result<Guess> {
        let Some(first) = files.first() else { return Err(Error::internal("a list of files without a file")) };
        let mut start = [0; 4];
        let is_parquet = match self.format() {
            Some(format) => format == Format::Parquet,
            None => {
                let count = Bytes::open(first).and_then(|mut bytes| bytes.fill(&mut start)).unwrap_or(0);
                start[..count] == *b"PAR1" || Format::by_name(first) == Some(Format::Parquet)
            }
        };
        if is_parquet {
            let mut guess = guess::parquet(first, self.all)?;
            if files.len() > 1 {
                guess.whole = false;
                guess.notes.push(format!("only the first of {} files was looked at: {first}", files.len()));
            }
            return Ok(guess);
        }
        if self.all || self.rows.is_some() {
            return guess::text(first, self.format(), self.rows, &mut Files { files: files.to_vec() });
        }
        guess::text(first, self.format(), None, &mut sample(files)?)
    }

    fn files(&self) -> Result<Vec<String>> {
        if let Err(error) = std::fs::metadata(&self.file)
            && !self.file.contains(['*', '?', '['])
        {
            return Err(Error::io("read", &self.file, error));
        }
        peek::list(&self.file)
    }

    fn guess_stdin(&self) -> Result<Guess> {
        if self.format() == Some(Format::Parquet) {
            return Err(Error::usage("Parquet cannot be read from stdin: its end says where things are")
                .help("write it into a file first"));
        }
        let reads_on = self.all || self.rows.is_some();
        let bytes = match self.rows {
            _ if self.all => STDIN_BYTES_MAX,
            // Rows of a thousand bytes are long.
            Some(rows) => usize::try_from(rows).unwrap_or(usize::MAX).saturating_mul(1_000).min(STDIN_BYTES_MAX),
            None => STDIN_BYTES,
        };
        let (text, whole) = peek::look_at_stdin(bytes, (!reads_on).then_some(PATIENCE))?;
        if text.starts_with(b"PAR1") {
            return Err(Error::usage(
                "this is Parquet, which cannot be read from stdin: its end says where things are",
            )
            .help("write it into a file first"));
        }
        let mut sample = Sample { pieces: vec![(text, Begin::File, whole)], whole };
        guess::text("-", self.format(), self.rows, &mut sample)
    }
}

/// All files or, of large ones, some of their bytes.
fn sample(files: &[String]) -> Result<Sample> {
    let size = |path: &String| std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    let mut sample = Sample { pieces: Vec::new(), whole: true };
    let total: u64 = files.iter().map(size).sum();
    let step = files.len().div_ceil(if total <= WHOLE_BYTES { files.len().max(1) } else { FILES }).max(1);
    let looked_at = files.len().div_ceil(step);
    sample.whole = looked_at == files.len();
    for path in files.iter().step_by(step) {
        let mut bytes = Bytes::open(path)?;
        let room = match (total <= WHOLE_BYTES, bytes.packed) {
            (true, false) => WHOLE_BYTES as usize,
            (true, true) => WHOLE_BYTES as usize / looked_at,
            (false, false) => START_BYTES / looked_at,
            (false, true) => WHOLE_BYTES as usize / 2 / looked_at,
        };
        // One byte more tells whether there is more.
        let mut start = vec![0; room + 1];
        let count = bytes.fill(&mut start)?;
        start.truncate(count.min(room));
        let ends = count <= room;
        sample.pieces.push((start, Begin::File, ends));
        if !ends {
            sample.whole = false;
            if !bytes.packed {
                places(path, room as u64, PLACES / looked_at as u64, &mut sample)?;
            }
        }
    }
    Ok(sample)
}

/// Pieces of a file, at even distances behind `from`.
fn places(path: &str, from: u64, count: u64, sample: &mut Sample) -> Result<()> {
    let failed = |error| Error::io("read", path, error);
    let file = File::open(path).map_err(failed)?;
    let size = file.metadata().map_err(failed)?.len();
    let step = size.saturating_sub(from) / count.max(1);
    for place in 0..count {
        let at = (from + (place + 1) * step).saturating_sub(PLACE_BYTES as u64).max(from);
        let mut bytes = vec![0; PLACE_BYTES];
        let mut filled = 0;
        while filled < bytes.len() {
            match file.read_at(&mut bytes[filled..], at + filled as u64).map_err(failed)? {
                0 => break,
                more => filled += more,
            }
        }
        bytes.truncate(filled);
        let ends = at + filled as u64 >= size;
        sample.pieces.push((bytes, Begin::Gap, ends));
    }
    Ok(())
}

/// Files from their start to their end.
struct Files {
    files: Vec<String>,
}

impl Input for Files {
    fn pieces(&mut self, take: &mut dyn FnMut(Piece<'_>) -> Result<bool>) -> Result<()> {
        for path in &self.files {
            let mut bytes = Bytes::open(path)?;
            let (mut piece, mut next) = (vec![0; CHUNK_BYTES], vec![0; CHUNK_BYTES]);
            let mut count = bytes.fill(&mut piece)?;
            let mut begin = Begin::File;
            loop {
                let more = if count < CHUNK_BYTES { 0 } else { bytes.fill(&mut next)? };
                if !take(Piece { bytes: &piece[..count], begin, ends: more == 0 })? {
                    return Ok(());
                }
                if more == 0 {
                    break;
                }
                std::mem::swap(&mut piece, &mut next);
                count = more;
                begin = Begin::Next;
            }
        }
        Ok(())
    }

    fn is_whole(&self) -> bool {
        true
    }
}
