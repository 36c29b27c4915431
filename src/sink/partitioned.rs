//! A table whose rows are dealt out to folders by the values of its partition keys: `dt=2024-01-01/region=eu`.
//!
//! The parts lie in the table's folder under hidden names; the folders of the partitions are made at commit.

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, UInt32Array};
use arrow::compute::take_record_batch;

use super::filesystem::{check_writable, create_folder, missing_folders, rename, sync, unique_name};
use super::{Sink, SinkWriter, part};
use crate::error::{Error, Result};
use crate::format::{CsvOptions, FormatSpec, TextEncoder, local_path};
use crate::plan::{PartitionSpec, SinkSpec};
use crate::types::{Schema, Type};

/// Parts that a shard keeps open; the one that was used longest ago makes room for another.
const OPEN_PARTS: usize = 32;
/// Characters that stand as %XX in the name of a folder, besides the control characters: as in Flink.
const ESCAPED: &str = "\"#%'*/:=?\\{[]^\u{7F}";

pub(super) struct Partitioned(Arc<Shared>);

struct Shared {
    root: PathBuf,
    format: FormatSpec,
    /// Of the table, and where its columns that go into the files stand.
    schema: Schema,
    stored: Vec<usize>,
    /// The kind of each row stands behind its columns.
    changelog: bool,
    spec: PartitionSpec,
    unique: String,
    /// Folders that were not there before, innermost first: they go again if the job fails.
    made: Vec<PathBuf>,
    parts: Mutex<Vec<Part>>,
}

/// A part that was begun.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Part {
    shard: usize,
    number: usize,
    /// Below the root.
    folder: String,
}

impl Partitioned {
    pub fn open(path: &str, format: &FormatSpec, sink: &SinkSpec, spec: &PartitionSpec) -> Result<Self> {
        let schema = &sink.schema;
        let root = PathBuf::from(local_path(path)?);
        let made = missing_folders(&root);
        create_folder(&root)?;
        let shared = Shared {
            format: format.clone(),
            stored: (0..schema.len()).filter(|index| !spec.keys.contains(index)).collect(),
            schema: schema.clone(),
            changelog: sink.changelog,
            spec: spec.clone(),
            unique: unique_name(),
            made,
            parts: Mutex::new(Vec::new()),
            root,
        };
        check_writable(&shared.root, &shared.unique)?;
        Ok(Partitioned(Arc::new(shared)))
    }
}

impl Shared {
    fn hidden(&self, part: &Part) -> PathBuf {
        let (shard, number) = (part.shard, part.number);
        self.root.join(format!(".transom-{}-part-{shard}-{number}.{}", self.unique, self.format.name()))
    }

    fn taken(&self) -> Vec<Part> {
        std::mem::take(&mut *self.parts.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn remove_parts(&self) {
        for part in self.taken() {
            let _ = fs::remove_file(self.hidden(&part));
        }
    }

    fn commit(&self, parts: &[Part]) -> Result<()> {
        let mut folders = BTreeSet::new();
        for part in parts {
            let folder = self.root.join(&part.folder);
            if folders.insert(folder.clone()) {
                create_folder(&folder)?;
            }
            let name = format!("part-{}-{}-{}.{}", self.unique, part.shard, part.number, self.format.name());
            rename(&self.hidden(part), &folder.join(name))?;
        }
        for folder in &folders {
            if let Some(name) = &self.spec.success_file {
                let mark = folder.join(name);
                File::create(&mark).map_err(|error| Error::io("create", mark.display(), error))?;
            }
            sync(folder);
        }
        sync(&self.root);
        Ok(())
    }
}

impl Sink for Partitioned {
    fn writer(&self, shard: usize) -> Result<Box<dyn SinkWriter>> {
        Ok(Box::new(Writer { shared: self.0.clone(), shard, parts: HashMap::new(), begun: 0, clock: 0 }))
    }
    fn commit(&self) -> Result<()> {
        let mut parts = self.0.taken();
        parts.sort_unstable();
        let result = self.0.commit(&parts);
        if result.is_err() {
            for part in &parts {
                let _ = fs::remove_file(self.0.hidden(part));
            }
        }
        result
    }
    fn abort(&self) {
        self.0.remove_parts();
        for folder in &self.0.made {
            let _ = fs::remove_dir(folder);
        }
    }
}

impl Drop for Partitioned {
    fn drop(&mut self) {
        self.0.remove_parts();
    }
}

/// One shard's parts, by folder.
struct Writer {
    shared: Arc<Shared>,
    shard: usize,
    parts: HashMap<String, OpenPart>,
    begun: usize,
    /// Counts what is written, to know what was used when.
    clock: u64,
}

struct OpenPart {
    writer: Box<dyn SinkWriter>,
    used: u64,
    /// It has let its file go.
    rests: bool,
}

impl Writer {
    fn begin(&mut self, folder: &str) -> Result<()> {
        let part = Part { shard: self.shard, number: self.begun, folder: folder.to_string() };
        let stored = self.shared.stored.iter().map(|index| self.shared.schema.fields[*index].clone());
        let path = self.shared.hidden(&part);
        self.shared.parts.lock().unwrap_or_else(PoisonError::into_inner).push(part);
        let writer = part::create(&path, &self.shared.format, &Schema::new(stored.collect()))?;
        self.begun += 1;
        self.parts.insert(folder.to_string(), OpenPart { writer, used: self.clock, rests: false });
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
    fn finish(self: Box<Self>) -> Result<()> {
        self.parts.into_values().try_for_each(|part| part.writer.finish())
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
