//! A table whose rows are dealt out to folders by the values of its partition keys: `dt=2024-01-01/region=eu`.
//!
//! The parts lie in the table's folder under hidden names (`parts`); the folders of the partitions are made at commit.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, UInt32Array};
use arrow::compute::take_record_batch;

use super::filesystem::{check_writable, create_folder, missing_folders};
use super::part::PartWriter;
use super::parts::PartFiles;
use super::{Sink, SinkWriter, part};
use crate::error::{Error, Result};
use crate::format::{CsvOptions, FormatSpec, TextEncoder, local_path};
use crate::io::durable;
use crate::io::files::Disk;
use crate::plan::{PartitionSpec, SinkSpec};
use crate::snapshot::{Closed, ClosedPart, SinkState};
use crate::types::{Schema, Type};

/// Parts that a shard keeps open; the one that was used longest ago makes room for another.
const OPEN_PARTS: usize = 32;
/// Characters that stand as %XX in the name of a folder, besides the control characters: as in Flink.
const ESCAPED: &str = "\"#%'*/:=?\\{[]^\u{7F}";

pub(super) struct Partitioned(Arc<Shared>);

struct Shared {
    format: FormatSpec,
    /// Of the table, and where its columns that go into the files stand.
    schema: Schema,
    stored: Vec<usize>,
    /// The kind of each row stands behind its columns.
    changelog: bool,
    spec: PartitionSpec,
    /// Folders that were not there before, innermost first: they go again if the job fails.
    made: Vec<PathBuf>,
    files: PartFiles,
}

impl Partitioned {
    pub fn open(
        (path, disk): (&str, &Disk),
        format: &FormatSpec,
        sink: &SinkSpec,
        spec: &PartitionSpec,
    ) -> Result<Self> {
        let schema = &sink.schema;
        let root = PathBuf::from(local_path(path)?);
        let made = missing_folders(&root);
        create_folder(&**disk, &root)?;
        let shared = Shared {
            format: format.clone(),
            stored: (0..schema.len()).filter(|index| !spec.keys.contains(index)).collect(),
            schema: schema.clone(),
            changelog: sink.changelog,
            spec: spec.clone(),
            made,
            files: PartFiles::new((root, disk), format.name()),
        };
        check_writable(&shared.files.root, &shared.files.unique)?;
        Ok(Partitioned(Arc::new(shared)))
    }
}

impl Shared {
    /// Marks folders into which parts have come.
    fn mark(&self, folders: BTreeSet<PathBuf>) -> Result<()> {
        let Some(name) = &self.spec.success_file else { return Ok(()) };
        for folder in folders {
            let mark = folder.join(name);
            self.files.disk.create(&mark).map_err(|error| Error::io("create", mark.display(), error))?;
            durable::sync_folder(&*self.files.disk, &folder)?;
        }
        Ok(())
    }
}

impl Sink for Partitioned {
    fn writer(&self, shard: usize) -> Result<Box<dyn SinkWriter>> {
        let next = self.0.files.first_number();
        Ok(Box::new(Writer {
            shared: self.0.clone(),
            shard,
            parts: HashMap::new(),
            closed: Vec::new(),
            next,
            clock: 0,
        }))
    }
    fn commit(&self) -> Result<()> {
        let published = self.0.files.all().and_then(|parts| self.0.files.publish(&parts));
        let result = published.and_then(|folders| self.0.mark(folders));
        if result.is_err() {
            self.0.files.abort();
        }
        result
    }
    fn cut_off(&self) {
        self.0.files.abort();
    }
    fn abort(&self) {
        self.0.files.abort();
        for folder in &self.0.made {
            let _ = fs::remove_dir(folder);
        }
    }
    fn hidden_files(&self) -> Option<(PathBuf, String)> {
        Some(self.0.files.prefix())
    }
    fn state(&self, closed: &[Closed]) -> SinkState {
        self.0.files.state(closed)
    }
    fn publish(&self, state: &SinkState) -> Result<()> {
        self.0.files.cover(&state.parts);
        self.0.files.publish(&state.parts).and_then(|folders| self.0.mark(folders))
    }
    fn restore(&self, state: &SinkState) -> Result<()> {
        self.0.files.restore(state, true).and_then(|folders| self.0.mark(folders))
    }
}

impl Drop for Partitioned {
    fn drop(&mut self) {
        self.0.files.abort();
    }
}

/// One shard's parts, by folder.
struct Writer {
    shared: Arc<Shared>,
    shard: usize,
    parts: HashMap<String, OpenPart>,
    /// Completed to make room, since the last cut.
    closed: Vec<ClosedPart>,
    next: u64,
    /// Counts what is written, to know what was used when.
    clock: u64,
}

struct OpenPart {
    part: ClosedPart,
    writer: Box<dyn PartWriter>,
    used: u64,
    /// It has let its file go.
    rests: bool,
}

impl Writer {
    fn begin(&mut self, folder: &str) -> Result<()> {
        let part = self.shared.files.begin((self.shard, self.next), Some(folder));
        self.next += 1;
        let stored = self.shared.stored.iter().map(|index| self.shared.schema.fields[*index].clone());
        let writer = part::create(Path::new(&part.hidden), &self.shared.format, &Schema::new(stored.collect()))?;
        self.parts.insert(folder.to_string(), OpenPart { part, writer, used: self.clock, rests: false });
        Ok(())
    }

    /// Makes room for one more open part.
    fn make_room(&mut self) -> Result<()> {
        let open = || self.parts.iter().filter(|(_, part)| !part.rests);
        if open().count() < OPEN_PARTS {
            return Ok(());
        }
        let Some(oldest) = open().min_by_key(|(_, part)| part.used).map(|(folder, _)| folder.clone()) else {
            return Ok(());
        };
        let Some(mut part) = self.parts.remove(&oldest) else { return Ok(()) };
        if part.writer.rest()? {
            part.rests = true;
            self.parts.insert(oldest, part);
            return Ok(());
        }
        // Further rows of this folder go into another file.
        self.closed.push(part.part);
        part.writer.finish()
    }

    fn write_part(&mut self, folder: &str, rows: &RecordBatch) -> Result<()> {
        self.clock += 1;
        if self.parts.get(folder).is_none_or(|part| part.rests) {
            self.make_room()?;
        }
        if !self.parts.contains_key(folder) {
            self.begin(folder)?;
        }
        let Some(part) = self.parts.get_mut(folder) else { return Ok(()) };
        (part.used, part.rests) = (self.clock, false);
        part.writer.write(rows)
    }
}

impl SinkWriter for Writer {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let mut order: Vec<(String, Vec<u32>)> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        for (row, folder) in folders(batch, &self.shared.schema, &self.shared.spec)?.into_iter().enumerate() {
            let place = *places.entry(folder).or_insert_with_key(|folder| {
                order.push((folder.clone(), Vec::new()));
                order.len() - 1
            });
            order[place].1.push(row as u32);
        }
        let mut stored = self.shared.stored.clone();
        if self.shared.changelog {
            stored.push(self.shared.schema.len());
        }
        let stored = batch.project(&stored)?;
        for (folder, rows) in order {
            let rows = take_record_batch(&stored, &UInt32Array::from(rows))?;
            self.write_part(&folder, &rows)?;
        }
        Ok(())
    }
    fn close(&mut self) -> Result<Closed> {
        for OpenPart { part, writer, .. } in std::mem::take(&mut self.parts).into_values() {
            writer.finish()?;
            self.closed.push(part);
        }
        Ok(Closed { parts: std::mem::take(&mut self.closed), next: self.next })
    }
}

/// The folder of each row.
fn folders(batch: &RecordBatch, schema: &Schema, spec: &PartitionSpec) -> Result<Vec<String>> {
    let mut folders = vec![String::new(); batch.num_rows()];
    for &key in &spec.keys {
        let field = &schema.fields[key];
        let values = texts(batch.column(key), &field.data_type.kind, schema, key)?;
        let name = escaped(&field.name);
        for (folder, value) in folders.iter_mut().zip(values) {
            if !folder.is_empty() {
                folder.push('/');
            }
            // An empty name would be read as no value.
            let value = value.filter(|value| !value.is_empty());
            let value = value.map_or_else(|| escaped(&spec.default_name), |value| escaped(&value));
            folder.push_str(&name);
            folder.push('=');
            folder.push_str(&value);
        }
    }
    Ok(folders)
}

/// The values of a column as they stand in the names of folders.
fn texts(column: &ArrayRef, kind: &Type, schema: &Schema, key: usize) -> Result<Vec<Option<String>>> {
    if let Some(texts) = column.as_string_opt::<i32>() {
        return Ok(texts.iter().map(|text| text.map(str::to_string)).collect());
    }
    let options = CsvOptions { quote: None, ..CsvOptions::default() };
    let one = Schema::new(vec![schema.fields[key].clone()]);
    let encoder: Option<TextEncoder> = FormatSpec::Csv(options).text_encoder(&one);
    let mut bytes = Vec::new();
    let batch = RecordBatch::try_new(one.to_arrow(), vec![column.clone()])?;
    encoder.ok_or_else(|| Error::internal("CSV is text"))?.encode(&batch, &mut bytes)?;
    let lines = String::from_utf8_lossy(&bytes);
    let value = |(row, line): (usize, &str)| {
        column.is_valid(row).then(|| match kind {
            Type::Timestamp(_) => as_java_time(line),
            _ => line.to_string(),
        })
    };
    Ok(lines.lines().enumerate().map(value).collect())
}

/// `2024-01-01 10:00:00.12` as `java.time` prints it: `2024-01-01T10:00:00.120`, and full minutes without seconds.
fn as_java_time(text: &str) -> String {
    let time = text.replacen(' ', "T", 1);
    match time.split_once('.') {
        Some((seconds, fraction)) => {
            let digits = fraction.trim_end_matches('0');
            let width = digits.len().div_ceil(3) * 3;
            if width == 0 { as_java_time(seconds) } else { format!("{seconds}.{digits:0<width$}") }
        }
        None => time
            .strip_suffix(":00")
            .filter(|rest| rest.ends_with(|c: char| c.is_ascii_digit()))
            .map_or_else(|| time.clone(), str::to_string),
    }
}

fn escaped(text: &str) -> String {
    let mut name = String::with_capacity(text.len());
    for character in text.chars() {
        if (character as u32) < 0x20 || ESCAPED.contains(character) {
            name.push_str(&format!("%{:02X}", character as u32));
        } else {
            name.push(character);
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_folders_are_those_of_flink() {
        assert_eq!(escaped("a b/c"), "a b%2Fc");
        assert_eq!(escaped("é=:%\n"), "é%3D%3A%25%0A");
        assert_eq!(as_java_time("2024-01-01 10:00:00.12"), "2024-01-01T10:00:00.120");
        assert_eq!(as_java_time("2024-01-01 10:00:00"), "2024-01-01T10:00");
        assert_eq!(as_java_time("2024-01-01 10:00:05.000"), "2024-01-01T10:00:05");
    }
}
