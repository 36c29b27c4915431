//! The filesystem connector, read: which files a table stands for and what is around their rows.

use crate::format::FormatSpec;
use crate::types::{DataType, Type};

/// The path that stands for stdin in a table that is read, and for stdout in one that is written.
pub const STANDARD_STREAM: &str = "-";

/// The filesystem connector, read.
#[derive(Debug, Clone)]
pub struct FilesSpec {
    /// A file, a folder or a glob, as the user wrote it; or [`STANDARD_STREAM`].
    pub path: String,
    pub format: FormatSpec,
    pub compression: Compression,
    /// `source.path.regex-pattern`: what the whole of a file's absolute path must match.
    pub path_pattern: Option<String>,
    /// The columns whose values the names of folders say (`dt=2024-01-01`), outermost first.
    pub partition_keys: Vec<String>,
    /// `partition.default-name`: stands for NULL in the name of a folder.
    pub default_partition: String,
    /// Columns that are the same for all rows of a file: they follow those that the format decodes.
    pub columns: Vec<FileColumn>,
}

/// Flink's default of `partition.default-name`.
pub const DEFAULT_PARTITION: &str = "__DEFAULT_PARTITION__";

/// A column that is the same for all rows of a file.
#[derive(Debug, Clone)]
pub struct FileColumn {
    pub name: String,
    pub data_type: DataType,
    pub value: FileValue,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileValue {
    /// Of the partition key with this index.
    Partition(usize),
    Metadata(FileMetadata),
}

/// Flink's metadata of the filesystem connector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileMetadata {
    Path,
    Name,
    Size,
    ModificationTime,
}

impl FileMetadata {
    /// By Flink's names.
    pub const ALL: [(&str, FileMetadata); 4] = [
        ("file.path", FileMetadata::Path),
        ("file.name", FileMetadata::Name),
        ("file.size", FileMetadata::Size),
        ("file.modification-time", FileMetadata::ModificationTime),
    ];

    pub fn data_type(self) -> DataType {
        match self {
            FileMetadata::Path | FileMetadata::Name => Type::string().not_null(),
            FileMetadata::Size => Type::BigInt.not_null(),
            FileMetadata::ModificationTime => Type::TimestampLtz(3).not_null(),
        }
    }
}

/// How a table that is written is dealt out to folders.
#[derive(Debug, Clone)]
pub struct PartitionSpec {
    /// Columns of the sink's schema, outermost folder first; they are not in the files.
    pub keys: Vec<usize>,
    /// See [`FilesSpec::default_partition`].
    pub default_name: String,
    /// The empty file that marks a folder as complete, by `sink.partition-commit.policy.kind`.
    pub success_file: Option<String>,
}

/// How the text of files is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compression {
    /// By the ending of the name as in Flink; where that says nothing, by how the file begins.
    #[default]
    Auto,
    /// Not at all, whatever the name.
    None,
    Codec(Codec),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Codec {
    Gzip,
    Zstd,
    Bzip2,
    Xz,
    /// A stream of zlib, which Flink calls deflate.
    Deflate,
}

impl Codec {
    pub const ALL: [Codec; 5] = [Codec::Gzip, Codec::Zstd, Codec::Bzip2, Codec::Xz, Codec::Deflate];

    /// As the option `compression` and messages call it.
    pub fn name(self) -> &'static str {
        match self {
            Codec::Gzip => "gzip",
            Codec::Zstd => "zstd",
            Codec::Bzip2 => "bzip2",
            Codec::Xz => "xz",
            Codec::Deflate => "deflate",
        }
    }
}

impl FilesSpec {
    /// All that a path stands for, without further options.
    pub fn new(path: impl Into<String>, format: FormatSpec) -> Self {
        FilesSpec {
            path: path.into(),
            format,
            compression: Compression::Auto,
            path_pattern: None,
            partition_keys: Vec::new(),
            default_partition: DEFAULT_PARTITION.to_string(),
            columns: Vec::new(),
        }
    }

    /// The rows come from stdin.
    pub fn is_stdin(&self) -> bool {
        self.path == STANDARD_STREAM
    }
}
