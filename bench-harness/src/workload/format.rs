//! Writing made rows as Parquet, CSV or JSON lines.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray, TimestampMillisecondArray};
use arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use clap::ValueEnum;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::generate::{CHUNK_ROWS, Chunk, Generator};
use super::{CHANNELS, Spec};
use crate::stamp::civil_from_days;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// zstd, row groups of 500,000 rows.
    Parquet,
    /// No header line.
    Csv,
    /// One object per line.
    Json,
}

impl Format {
    pub fn extension(self) -> &'static str {
        match self {
            Format::Parquet => "parquet",
            Format::Csv => "csv",
            Format::Json => "json",
        }
    }
}

/// Writes the rows of a specification into one file per format, all at once. A file that is there already
/// is kept: its name says what is in it. Returns the paths.
///
/// # Errors
/// The operating system's.
pub fn write(spec: &Spec, formats: &[Format], folder: &Path) -> io::Result<Vec<PathBuf>> {
    fs::create_dir_all(folder)?;
    let path = |format: &Format| folder.join(format!("{}.{}", spec.stem(), format.extension()));
    let mut files = Vec::new();
    for format in formats.iter().filter(|format| !path(format).exists()) {
        files.push((path(format), Target::create(*format, &partial(&path(format)))?));
    }
    if !files.is_empty() {
        for chunk in Generator::new(spec).chunks() {
            files.iter_mut().try_for_each(|(_, target)| target.write(&chunk))?;
        }
    }
    for (path, target) in files {
        target.finish()?;
        fs::rename(partial(&path), path)?;
    }
    Ok(formats.iter().map(path).collect())
}

/// The name of a file while it is being written.
fn partial(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".partial");
    name.into()
}

enum Target {
    Parquet(Box<ArrowWriter<File>>, Arc<Schema>),
    Text(Format, BufWriter<File>),
}

impl Target {
    fn create(format: Format, path: &Path) -> io::Result<Self> {
        let file = File::create(path)?;
        if format != Format::Parquet {
            return Ok(Target::Text(format, BufWriter::with_capacity(1 << 20, file)));
        }
        let schema = Arc::new(Schema::new(vec![
            Field::new("ts", DataType::Timestamp(TimeUnit::Millisecond, None), true),
            Field::new("key", DataType::Int64, true),
            Field::new("value", DataType::Int64, true),
            Field::new("channel", DataType::Utf8, true),
        ]));
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_max_row_group_row_count(Some(CHUNK_ROWS as usize))
            .build();
        let writer = ArrowWriter::try_new(file, schema.clone(), Some(properties)).map_err(io::Error::other)?;
        Ok(Target::Parquet(Box::new(writer), schema))
    }

    fn write(&mut self, chunk: &Chunk) -> io::Result<()> {
        match self {
            Target::Parquet(writer, schema) => {
                let channels = chunk.channel.iter().map(|&channel| CHANNELS[usize::from(channel)]);
                let columns: Vec<ArrayRef> = vec![
                    Arc::new(TimestampMillisecondArray::from(chunk.ts.clone())),
                    Arc::new(Int64Array::from(chunk.key.clone())),
                    Arc::new(Int64Array::from(chunk.value.clone())),
                    Arc::new(StringArray::from_iter_values(channels)),
                ];
                let batch = RecordBatch::try_new(schema.clone(), columns).map_err(io::Error::other)?;
                writer.write(&batch).map_err(io::Error::other)
            }
            Target::Text(format, writer) => write_text(*format, chunk, writer),
        }
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Target::Parquet(writer, _) => writer.close().map(drop).map_err(io::Error::other),
            Target::Text(_, mut writer) => writer.flush(),
        }
    }
}

fn write_text(format: Format, chunk: &Chunk, writer: &mut impl Write) -> io::Result<()> {
    let punctuation: [&[u8]; 5] = match format {
        Format::Json => [b"{\"ts\":\"", b"\",\"key\":", b",\"value\":", b",\"channel\":\"", b"\"}\n"],
        _ => [b"", b",", b",", b",", b"\n"],
    };
    let mut line = Vec::with_capacity(128);
    let mut dates = DateText::default();
    for row in 0..chunk.ts.len() {
        line.clear();
        line.extend_from_slice(punctuation[0]);
        dates.push_stamp(&mut line, chunk.ts[row]);
        line.extend_from_slice(punctuation[1]);
        push_digits(&mut line, chunk.key[row] as u64, 1);
        line.extend_from_slice(punctuation[2]);
        push_digits(&mut line, chunk.value[row] as u64, 1);
        line.extend_from_slice(punctuation[3]);
        line.extend_from_slice(CHANNELS[usize::from(chunk.channel[row])].as_bytes());
        line.extend_from_slice(punctuation[4]);
        writer.write_all(&line)?;
    }
    Ok(())
}

/// At least `width` digits, zeros in front.
fn push_digits(out: &mut Vec<u8>, mut number: u64, width: usize) {
    let mut digits = [b'0'; 20];
    let mut at = digits.len();
    while number > 0 {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
    }
    out.extend_from_slice(&digits[at.min(digits.len() - width)..]);
}

/// Remembers the text of the last day: nearly every row has the same one.
#[derive(Default)]
struct DateText {
    days: Option<i64>,
    text: Vec<u8>,
}

impl DateText {
    /// `YYYY-MM-DD HH:MM:SS.mmm`
    fn push_stamp(&mut self, out: &mut Vec<u8>, millis: i64) {
        let days = millis.div_euclid(86_400_000);
        if self.days != Some(days) {
            let (year, month, day) = civil_from_days(days);
            self.days = Some(days);
            self.text = format!("{year:04}-{month:02}-{day:02} ").into_bytes();
        }
        out.extend_from_slice(&self.text);
        let rest = millis.rem_euclid(86_400_000) as u64;
        for (part, end) in [(rest / 3_600_000, b':'), (rest / 60_000 % 60, b':'), (rest / 1000 % 60, b'.')] {
            push_digits(out, part, 2);
            out.push(end);
        }
        push_digits(out, rest % 1000, 3);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stamp::format_millis;

    #[test]
    fn fast_text_is_the_same_as_slow_text() {
        let mut dates = DateText::default();
        for millis in [1_704_067_200_000, 1_704_067_199_999, 1_704_153_599_007, 0, 86_399_999] {
            let mut out = Vec::new();
            dates.push_stamp(&mut out, millis);
            assert_eq!(String::from_utf8(out).unwrap(), format_millis(millis));
        }
        let mut out = Vec::new();
        push_digits(&mut out, 0, 1);
        push_digits(&mut out, 45, 3);
        push_digits(&mut out, u64::MAX, 1);
        assert_eq!(String::from_utf8(out).unwrap(), format!("0045{}", u64::MAX));
    }
}
