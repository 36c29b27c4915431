//! What a job has shown: the rows of all visible files as a multiset, and the hidden files beside them.

use std::collections::HashMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use arrow::util::display::{ArrayFormatter, FormatOptions};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

/// How many rows of a kind a difference names.
const NAMED: usize = 2;

/// The output of a job.
#[derive(Debug, Default)]
pub struct Output {
    /// Each row behind the table and partition that it belongs to, and how often it is there.
    rows: HashMap<String, i64>,
    /// Hidden files, which nobody will ever show.
    pub hidden: Vec<PathBuf>,
}

impl Output {
    /// All files below a folder.
    ///
    /// # Errors
    /// A file that cannot be read, in words.
    pub fn read(folder: &Path) -> Result<Output, String> {
        let mut output = Output::default();
        if folder.is_dir() {
            output.add_folder(folder, "")?;
        }
        Ok(output)
    }

    pub fn count(&self) -> i64 {
        self.rows.values().sum()
    }

    fn add_folder(&mut self, folder: &Path, place: &str) -> Result<(), String> {
        let failed = |error: std::io::Error| format!("cannot read {}: {error}", folder.display());
        for entry in fs::read_dir(folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                self.add_folder(&path, &format!("{place}{name}/"))?;
            } else if name.starts_with('.') {
                self.hidden.push(path);
            } else {
                // Part files have names that differ from run to run; a table that is one file has its own.
                let place = if name.starts_with("part-") { place.to_string() } else { format!("{place}{name}") };
                self.add_file(&path, &place).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
            }
        }
        Ok(())
    }

    fn add_file(&mut self, path: &Path, place: &str) -> Result<(), String> {
        if path.extension().is_some_and(|extension| extension == "parquet") {
            return self.add_parquet(path, place);
        }
        let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
        if !text.is_empty() && !text.ends_with('\n') {
            return Err("its last line has no end".to_string());
        }
        text.lines().for_each(|line| self.add(format!("{place}: {line}")));
        Ok(())
    }

    fn add_parquet(&mut self, path: &Path, place: &str) -> Result<(), String> {
        let file = File::open(path).map_err(|error| error.to_string())?;
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).and_then(|builder| builder.build());
        let options = FormatOptions::default().with_null("NULL");
        for batch in reader.map_err(|error| error.to_string())? {
            let batch = batch.map_err(|error| error.to_string())?;
            let columns = batch.columns().iter().map(|column| ArrayFormatter::try_new(column.as_ref(), &options));
            let columns = columns.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
            for row in 0..batch.num_rows() {
                let cells: Vec<String> = columns.iter().map(|column| column.value(row).to_string()).collect();
                self.add(format!("{place}: {}", cells.join(",")));
            }
        }
        Ok(())
    }

    fn add(&mut self, row: String) {
        *self.rows.entry(row).or_default() += 1;
    }

    /// What is other than in the output of an undisturbed run, in words; none where nothing is.
    pub fn difference(&self, expected: &Output) -> Option<String> {
        let (missing, excess) = (expected.without(self), self.without(expected));
        if missing.is_empty() && excess.is_empty() {
            return None;
        }
        let some = |what: &str, rows: &[(&str, i64)]| {
            let count: i64 = rows.iter().map(|(_, count)| count).sum();
            let named: Vec<&str> = rows.iter().take(NAMED).map(|(row, _)| *row).collect();
            format!("{count} rows {what}{}{}", if named.is_empty() { "" } else { ", as " }, named.join(" and "))
        };
        Some(format!("{}; {}", some("missing", &missing), some("too many", &excess)))
    }

    /// The rows of which `other` has fewer, and by how many; in order.
    fn without(&self, other: &Output) -> Vec<(&str, i64)> {
        let more = |(row, count): (&String, &i64)| count - other.rows.get(row).copied().unwrap_or(0);
        let mut rows: Vec<(&str, i64)> =
            self.rows.iter().map(|entry| (entry.0.as_str(), more(entry))).filter(|(_, count)| *count > 0).collect();
        rows.sort_unstable();
        rows
    }
}

/// How many visible files there are below a folder.
pub fn visible_files(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let count = |entry: fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => visible_files(&entry.path()),
        _ => usize::from(!entry.file_name().to_string_lossy().starts_with('.')),
    };
    entries.map(count).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(files: &[(&str, &str)]) -> Output {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Output::read(folder.path()).unwrap()
    }

    #[test]
    fn names_of_parts_do_not_count_and_those_of_partitions_do() {
        let one = output(&[("t/p=1/part-a-0-0.csv", "a\nb\n"), ("t/p=1/part-a-1-0.csv", "a\n")]);
        let other = output(&[("t/p=1/part-c-0-7.csv", "a\na\nb\n")]);
        assert_eq!(one.difference(&other), None);
        let moved = output(&[("t/p=2/part-c-0-7.csv", "a\na\nb\n")]);
        assert!(
            one.difference(&moved).unwrap().starts_with("3 rows missing, as t/p=2/: a and t/p=2/: b; 3 rows too many")
        );
    }

    #[test]
    fn a_row_that_is_there_twice_differs_and_a_hidden_file_is_told() {
        let once = output(&[("t.csv", "a\n")]);
        let twice = output(&[("t.csv", "a\na\n"), (".transom-x-part-0-0.csv", "a\n")]);
        assert_eq!(twice.difference(&once).unwrap(), "0 rows missing; 1 rows too many, as t.csv: a");
        assert_eq!((once.hidden.len(), twice.hidden.len(), twice.count()), (0, 1, 2));
    }
}
