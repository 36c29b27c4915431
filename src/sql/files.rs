//! The options of the filesystem connector.

use super::catalog::{Table, take_ignored};
use crate::error::{Error, ErrorKind, Result, nearest};
use crate::format::{FormatSpec, local_path};
use crate::plan::{Codec, Compression, FilesSpec, Options, STANDARD_STREAM, SinkConnector};

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
        for key in ["source.monitor-interval", "source.path.regex-pattern"] {
            refuse_option(options, key)?;
        }
        let compression = compression(options)?;
        if compression != Compression::Auto && is_columnar(&format) {
            return Err(Error::script(format!("'compression' of {} is for formats of text", options.owner))
                .at_place(options.place_of("compression"))
                .help(format!("remove the option: {} files say themselves how they are compressed", format.name())));
        }
        Ok(FilesSpec { compression, ..FilesSpec::new(path, format) })
    }

    /// The files of a table that is written.
    pub(super) fn write_files(&self, options: &mut Options, ignored: &mut dyn FnMut(&str)) -> Result<SinkConnector> {
        for key in ["source.monitor-interval", "source.path.regex-pattern"] {
            options.take(key);
        }
        let (path, format) = self.file(options, ignored)?;
        if let Compression::Codec(codec) = compression(options)? {
            let message =
                format!("{} cannot be written: its option 'compression' is '{}'", options.owner, codec.name());
            return Err(Error::new(ErrorKind::Unsupported, message).at_place(options.place_of("compression")).help(
                "write the files as they are, and compress them afterwards; Parquet files are compressed inside",
            ));
        }
        if path == STANDARD_STREAM {
            return Ok(SinkConnector::Stdout { format });
        }
        Ok(SinkConnector::Filesystem { path, format })
    }

    fn file(&self, options: &mut Options, ignored: &mut dyn FnMut(&str)) -> Result<(String, FormatSpec)> {
        let (path, place) = (options.require("path")?, options.place_of("path"));
        if path.is_empty() {
            return Err(Error::script("the option 'path' is empty").at_place(place));
        }
        let path = local_path(&path).map_err(|error| error.at_place(place.clone()))?.to_string();
        let format = FormatSpec::from_options(options, &self.physical())?;
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

fn refuse_option(options: &mut Options, key: &str) -> Result<()> {
    match options.take(key) {
        None => Ok(()),
        Some(_) => {
            Err(Error::unsupported(format!("the option '{key}'")).at_place(options.place_of(key)).help("remove it"))
        }
    }
}
