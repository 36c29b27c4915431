//! What the jobs read: two tables in several files, some of them packed, with rows that come late. All from the seed.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::workload::random::Random;

/// Event time of a file passes in this time, however many rows it has.
const SPAN_MS: u64 = 2 * 60 * 60 * 1000;
/// From midnight; the latest rows of all come before this.
const START_MS: u64 = 60 * 60 * 1000;
const DISORDER_MS: u64 = 2000;
const LATE_MS: u64 = 60_000;
const LATE_PERCENT: u64 = 1;
const KEYS: u64 = 200;

/// A file's name, and whether it is packed.
type Packing = (&'static str, bool);

/// Of the table of events.
const EVENTS: &[Packing] =
    &[("part-0.csv", false), ("part-1.csv.gz", true), ("part-2.csv", false), ("part-3.csv.gz", true)];
/// Of the other side of joins; it has a tenth of the rows.
const RATES: &[Packing] = &[("rates-0.json", false), ("rates-1.json.gz", true)];

/// Writes `events/` and `rates/` into a folder.
///
/// # Errors
/// A folder or file that cannot be written.
pub fn write(folder: &Path, rows: u64, seed: u64) -> io::Result<()> {
    write_table(&folder.join("events"), EVENTS, (rows, event), (seed, 0))?;
    write_table(&folder.join("rates"), RATES, (rows / 10, rate), (seed, EVENTS.len() as u64))
}

/// `stream`: the first of as many streams of random numbers as there are files.
fn write_table(
    folder: &Path,
    files: &[Packing],
    (rows, line): (u64, Line),
    (seed, stream): (u64, u64),
) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let share = (rows / files.len() as u64).max(1);
    for ((name, is_packed), stream) in files.iter().zip(stream..) {
        let mut random = Random::new(seed, stream);
        let mut file = BufWriter::new(File::create(folder.join(name))?);
        if *is_packed {
            let mut out = GzEncoder::new(file, Compression::fast());
            write_rows(&mut out, (share, line), &mut random)?;
            out.finish()?.flush()?;
        } else {
            write_rows(&mut file, (share, line), &mut random)?;
            file.flush()?;
        }
    }
    Ok(())
}

/// A row of this time, which draws the rest.
type Line = fn(&str, &mut Random) -> String;

fn write_rows(out: &mut dyn Write, (rows, line): (u64, Line), random: &mut Random) -> io::Result<()> {
    for row in 0..rows {
        let late = if random.below(100) < LATE_PERCENT { LATE_MS } else { 0 };
        let time = START_MS + row * SPAN_MS / rows + random.below(DISORDER_MS) - late;
        let text = line(&stamp(time), random);
        out.write_all(text.as_bytes())?;
    }
    Ok(())
}

fn event(time: &str, random: &mut Random) -> String {
    format!("{time},k{},{},{}\n", random.below(KEYS), random.below(1000), random.below(50))
}

fn rate(time: &str, random: &mut Random) -> String {
    format!("{{\"ts\":\"{time}\",\"k\":\"k{}\",\"w\":{}}}\n", random.below(KEYS), random.below(1000))
}

/// Milliseconds from the midnight of a day, as SQL writes a timestamp.
fn stamp(ms: u64) -> String {
    let seconds = ms / 1000;
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("2024-01-01 {hour:02}:{minute:02}:{second:02}.{:03}", ms % 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_files() {
        let read = |seed| {
            let folder = tempfile::tempdir().unwrap();
            write(folder.path(), 400, seed).unwrap();
            let tables = [("events", EVENTS), ("rates", RATES)];
            let files = tables.iter().flat_map(|(table, files)| files.iter().map(move |(name, _)| (table, name)));
            files.map(|(table, name)| fs::read(folder.path().join(table).join(name)).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(read(1), read(1));
        assert_ne!(read(1), read(2));
        assert!(read(1).iter().all(|file| !file.is_empty()));
    }
}
