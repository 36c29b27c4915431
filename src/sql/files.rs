//! The options of the filesystem connector.

use std::collections::BTreeSet;

use sqlparser::ast::Ident;

use super::catalog::{Table, TableColumn, take_ignored};
use super::ddl::MetadataDef;
use super::text::place_of;
use crate::error::{Error, ErrorKind, Result, nearest};
use crate::expr::{Expr, resolve};
use crate::format::{FormatSpec, local_path};
use crate::plan::{
    Codec, Compression, DEFAULT_PARTITION, FileColumn, FileMetadata, FileValue, FilesSpec, Options, PartitionSpec,
    STANDARD_STREAM, SinkConnector, SourceSpec,
};
use crate::types::{Field, Schema, Type};

/// Options of Flink's filesystem sink that say when files are rolled: one run writes whole files.
const IGNORED_FILE_OPTIONS: &[&str] = &[
    "auto-compaction",
    "compaction.file-size",
    "compaction.parallelism",
    "sink.parallelism",
    "sink.rolling-policy.check-interval",
    "sink.rolling-policy.file-size",
    "sink.rolling-policy.inactivity-interval",
    "sink.rolling-policy.rollover-interval",
    "sink.shuffle-by-partition.enable",
];

/// And those that say when a folder of a partition is complete: here all are, when the job has ended.
const IGNORED_PARTITION_OPTIONS: &[&str] = &[
    "partition.time-extractor.class",
    "partition.time-extractor.kind",
    "partition.time-extractor.timestamp-formatter",
    "partition.time-extractor.timestamp-pattern",
    "sink.partition-commit.delay",
    "sink.partition-commit.trigger",
    "sink.partition-commit.watermark-time-zone",
];
const POLICY: &str = "sink.partition-commit.policy.kind";
const SUCCESS_FILE: &str = "sink.partition-commit.success-file.name";
/// Flink's default of that option.
const SUCCESS_FILE_DEFAULT: &str = "_SUCCESS";
const DEFAULT_NAME: &str = "partition.default-name";
const PATTERN: &str = "source.path.regex-pattern";
const INTERVAL: &str = "source.monitor-interval";

/// How the option `compression`, which is ours, says that the files decide.
const AUTO: &str = "auto";
const NONE: &str = "none";

impl Table {
    /// The files of a table that is read.
    pub(super) fn read_files(&self, options: &mut Options, ignored: &mut dyn FnMut(&str)) -> Result<FilesSpec> {
        let (path, format) = self.file(options, ignored)?;
        if !format.is_readable() {
            return Err(Error::unsupported(format!("reading the format '{}'", format.name()))
                .at_place(options.place_of("format"))
                .help("it can be written; read tables in csv, json, raw, parquet or avro"));
        }
        if options.take(INTERVAL).is_some() {
            return Err(Error::unsupported(format!("the option '{INTERVAL}', which looks for new files for ever,"))
                .at_place(options.place_of(INTERVAL))
                .help("remove it: a job reads the files that are there when it begins"));
        }
        let path_pattern = path_pattern(options)?;
        self.partitions(options, ignored)?;
        let default_partition = options.take(DEFAULT_NAME).unwrap_or_else(|| DEFAULT_PARTITION.to_string());
        let compression = compression(options)?;
        if compression != Compression::Auto && is_columnar(&format) {
            return Err(Error::script(format!("'compression' of {} is for formats of text", options.owner))
                .at_place(options.place_of("compression"))
                .help(format!("remove the option: {} files say themselves how they are compressed", format.name())));
        }
        let partition_keys = self.definition.partition_keys.iter().map(|key| key.value.clone()).collect();
        let files = FilesSpec::new(path, format);
        if files.is_stdin() && !self.definition.partition_keys.is_empty() {
            return Err(no_partitions_in_a_stream(options));
        }
        Ok(FilesSpec { compression, path_pattern, partition_keys, default_partition, ..files })
    }

    /// The files of a table that is written.
    pub(super) fn write_files(&self, options: &mut Options, ignored: &mut dyn FnMut(&str)) -> Result<SinkConnector> {
        for key in [INTERVAL, PATTERN] {
            options.take(key);
        }
        if let Some(column) = self.definition.columns.iter().find(|column| column.is_written_metadata()) {
            let error = Error::script(format!("the metadata column '{}' cannot be written", column.name.value))
                .help("add VIRTUAL behind METADATA: then it is read only, and an INSERT leaves it out");
            return Err(at(error, &column.name));
        }
        let (path, format) = self.file(options, ignored)?;
        if let Compression::Codec(codec) = compression(options)? {
            let message =
                format!("{} cannot be written: its option 'compression' is '{}'", options.owner, codec.name());
            return Err(Error::new(ErrorKind::Unsupported, message).at_place(options.place_of("compression")).help(
                "write the files as they are, and compress them afterwards; Parquet files are compressed inside",
            ));
        }
        let partitions = self.partitions(options, ignored)?;
        if path != STANDARD_STREAM {
            return Ok(SinkConnector::Filesystem { path, format, partitions });
        }
        match partitions {
            None => Ok(SinkConnector::Stdout { format }),
            Some(_) => Err(no_partitions_in_a_stream(options)),
        }
    }

    /// How the rows are dealt out to folders; takes the options of partitions.
    fn partitions(&self, options: &mut Options, ignored: &mut dyn FnMut(&str)) -> Result<Option<PartitionSpec>> {
        take_ignored(options, IGNORED_PARTITION_OPTIONS, ignored);
        let default_name = options.take(DEFAULT_NAME).unwrap_or_else(|| DEFAULT_PARTITION.to_string());
        let file = options.take(SUCCESS_FILE).unwrap_or_else(|| SUCCESS_FILE_DEFAULT.to_string());
        let mut success_file = None;
        for policy in options.take(POLICY).unwrap_or_default().split(',').map(str::trim) {
            match policy {
                // There is no metastore that would have to know.
                "" | "metastore" => {}
                "success-file" => success_file = Some(file.clone()),
                "custom" => {
                    return Err(Error::unsupported(format!("'{POLICY}' = 'custom'")).at_place(options.place_of(POLICY)));
                }
                _ => {
                    return Err(options
                        .invalid(POLICY, "success-file")
                        .help("success-file marks each complete folder"));
                }
            }
        }
        let schema = self.physical();
        let keys = self.definition.partition_keys.iter().filter_map(|key| schema.index_of(&key.value));
        let keys: Vec<usize> = keys.collect();
        Ok((!keys.is_empty()).then_some(PartitionSpec { keys, default_name, success_file }))
    }

    /// The columns that the files themselves hold.
    pub(super) fn file_schema(&self) -> Schema {
        let columns = self.columns.iter().filter(|column| self.is_in_file(column));
        Schema::new(columns.map(|column| Field::new(&column.name, column.data_type.clone())).collect())
    }

    fn is_in_file(&self, column: &TableColumn) -> bool {
        column.computed.is_none() && self.file_value(column).is_none()
    }

    /// What a column has from the place of the file.
    fn file_value(&self, column: &TableColumn) -> Option<FileValue> {
        let key = || self.definition.partition_keys.iter().position(|key| key.value == column.name);
        column.metadata.map(FileValue::Metadata).or_else(|| key().map(FileValue::Partition))
    }

    /// How the columns with these indices, none of them computed, are read from `source`.
    pub(super) fn reading(&self, mut source: SourceSpec, given: &BTreeSet<usize>) -> Result<Reading> {
        let in_file = |index: usize| self.columns[..index].iter().filter(|column| self.is_in_file(column)).count();
        let stored = |index: &&usize| self.is_in_file(&self.columns[**index]);
        let mut projection: Vec<usize> = given.iter().filter(stored).map(|index| in_file(*index)).collect();
        if projection.is_empty() {
            // Rows without columns could not be counted.
            projection.push(0);
        }
        let mut inputs = Vec::new();
        let mut columns = Vec::new();
        for (index, column) in self.columns.iter().enumerate() {
            let declared = column.data_type.clone();
            inputs.push(match self.file_value(column).filter(|_| given.contains(&index)) {
                Some(value) => {
                    let data_type = match value {
                        FileValue::Partition(_) => declared.clone(),
                        FileValue::Metadata(metadata) => metadata.data_type(),
                    };
                    let input = Expr::column(projection.len() + columns.len(), data_type.clone());
                    columns.push(FileColumn { name: column.name.clone(), data_type, value });
                    resolve::cast(input, declared, false)?
                }
                None => {
                    let decoded = projection.iter().position(|stored| *stored == in_file(index));
                    Expr::column(decoded.unwrap_or(usize::MAX), declared)
                }
            });
        }
        if let SourceSpec::Files(files) = &mut source {
            files.columns = columns;
        }
        Ok(Reading { source, projection, inputs })
    }

    /// What a METADATA column stands for.
    pub(super) fn file_metadata(&self, name: &Ident, metadata: &MetadataDef) -> Result<FileMetadata> {
        let place = place_of(metadata.span).unwrap_or_default();
        let connector = self.options.clone().take("connector").unwrap_or_default();
        if connector != "filesystem" {
            return Err(Error::unsupported(format!("a METADATA column of the connector '{connector}'")).at_place(place));
        }
        let key = metadata.key.as_ref().unwrap_or(&name.value);
        let known = || FileMetadata::ALL.into_iter().map(|(name, _)| name);
        if let Some((_, found)) = FileMetadata::ALL.into_iter().find(|(name, _)| name == key) {
            return match self.columns.iter().find(|column| column.metadata == Some(found)) {
                None => Ok(found),
                Some(other) => {
                    let message =
                        format!("two columns have the metadata '{key}': '{}' and '{}'", other.name, name.value);
                    let remedy = format!("make one of them computed: {} AS {}", name.value, other.name);
                    Err(Error::script(message).at_place(place).help(remedy))
                }
            };
        }
        let error = Error::script(format!("files have no metadata '{key}'")).at_place(place);
        Err(match nearest(key, known()) {
            Some(near) => error.help(format!("did you mean METADATA FROM '{near}'?")),
            None => error.help(format!("write METADATA FROM one of {}", known().collect::<Vec<_>>().join(", "))),
        })
    }

    /// Checks `PARTITIONED BY`.
    pub(super) fn check_partition_keys(&self) -> Result<()> {
        let keys = &self.definition.partition_keys;
        for (index, key) in keys.iter().enumerate() {
            let stored = |column: &&TableColumn| column.computed.is_none() && column.metadata.is_none();
            let Some(column) = self.columns.iter().filter(stored).find(|column| column.name == key.value) else {
                let error = Error::script(format!(
                    "table {} is partitioned by '{}', which it does not store",
                    self.name, key.value
                ));
                return Err(at(error.help("name columns of the table that are not computed and no metadata"), key));
            };
            if keys[..index].iter().any(|other| other.value == key.value) {
                return Err(at(Error::script(format!("the partition key '{}' is named twice", key.value)), key));
            }
            if !can_be_partition(&column.data_type.kind) {
                let what = format!("the type {} of the partition key '{}'", column.data_type.kind, key.value);
                return Err(at(Error::unsupported(what).help("declare it as STRING"), key));
            }
        }
        match keys.first() {
            Some(key) if self.file_schema().is_empty() => {
                let error = Error::script(format!("all columns of table {} are partition keys", self.name));
                Err(at(error.help("leave at least one column for the files"), key))
            }
            _ => Ok(()),
        }
    }

    fn file(&self, options: &mut Options, ignored: &mut dyn FnMut(&str)) -> Result<(String, FormatSpec)> {
        let (path, place) = (options.require("path")?, options.place_of("path"));
        if path.is_empty() {
            return Err(Error::script("the option 'path' is empty").at_place(place));
        }
        let path = match local_path(&path).map_err(|error| error.at_place(place.clone()))? {
            "/dev/stdin" | "/dev/stdout" => STANDARD_STREAM.to_string(),
            path => path.to_string(),
        };
        let format = FormatSpec::from_options(options, &self.file_schema())?;
        if path == STANDARD_STREAM && is_columnar(&format) {
            let message = format!("the format {} cannot be read from stdin or written to stdout", format.name());
            return Err(Error::script(message)
                .at_place(place)
                .help("its files are not read from the start to the end: use a format of text, or give a file"));
        }
        take_ignored(options, IGNORED_FILE_OPTIONS, ignored);
        Ok((path, format))
    }
}

/// How columns of a table are read.
pub(super) struct Reading {
    pub source: SourceSpec,
    /// Of the columns that files hold.
    pub projection: Vec<usize>,
    /// By column of the table: how it is had from the decoded ones.
    pub inputs: Vec<Expr>,
}

fn at(error: Error, name: &Ident) -> Error {
    error.at_place(place_of(name.span))
}

fn no_partitions_in_a_stream(options: &Options) -> Error {
    Error::script(format!("{} has partitions, but its path is '-'", options.owner))
        .at_place(options.place_of("path"))
        .help("give the path of a folder, or leave out PARTITIONED BY")
}

/// Whose values can be told from the name of a folder.
fn can_be_partition(kind: &Type) -> bool {
    matches!(
        kind,
        Type::Char(_)
            | Type::VarChar(_)
            | Type::Boolean
            | Type::TinyInt
            | Type::SmallInt
            | Type::Int
            | Type::BigInt
            | Type::Float
            | Type::Double
            | Type::Decimal(..)
            | Type::Date
            | Type::Timestamp(_)
    )
}

fn path_pattern(options: &mut Options) -> Result<Option<String>> {
    let Some(pattern) = options.take(PATTERN) else { return Ok(None) };
    match regex::Regex::new(&pattern) {
        Ok(_) => Ok(Some(pattern)),
        Err(_) => Err(options.invalid(PATTERN, "a regular expression").help(
            "it must match the whole absolute path of a file, for example '.*/2024-.*\\.csv'; look-around and back \
             references are not supported",
        )),
    }
}

/// A format whose files are not read from the start to the end.
fn is_columnar(format: &FormatSpec) -> bool {
    matches!(format, FormatSpec::Parquet(_) | FormatSpec::Avro(_))
}

fn compression(options: &mut Options) -> Result<Compression> {
    let Some(name) = options.take("compression") else { return Ok(Compression::Auto) };
    let known = name.to_ascii_lowercase();
    if let Some(codec) = Codec::ALL.into_iter().find(|codec| codec.name() == known) {
        return Ok(Compression::Codec(codec));
    }
    match known.as_str() {
        AUTO => Ok(Compression::Auto),
        NONE => Ok(Compression::None),
        _ => {
            let names: Vec<&str> = Codec::ALL.into_iter().map(Codec::name).chain([NONE, AUTO]).collect();
            let error = options.invalid("compression", &format!("one of {}", names.join(", ")));
            Err(match nearest(&name, names.iter().copied()) {
                Some(near) => error.help(format!("did you mean '{near}'?")),
                None => error.help("leave it out: the file's ending or its first bytes tell"),
            })
        }
    }
}
