//! The filesystem connector, read: which files a table stands for and what is around their rows.

use crate::format::FormatSpec;

/// The path that stands for stdin in a table that is read, and for stdout in one that is written.
pub const STANDARD_STREAM: &str = "-";

/// The filesystem connector, read.
#[derive(Debug, Clone)]
pub struct FilesSpec {
    /// A file, a folder or a glob, as the user wrote it; or [`STANDARD_STREAM`].
    pub path: String,
    pub format: FormatSpec,
    pub compression: Compression,
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
        FilesSpec { path: path.into(), format, compression: Compression::Auto }
    }

    /// The rows come from stdin.
    pub fn is_stdin(&self) -> bool {
        self.path == STANDARD_STREAM
    }
}
