//! The one error type: what went wrong, where, and what to do about it.
//!
//! Every room returns [`Error`]; the binary turns its [`ErrorKind`] into an exit code and prints
//! the place and the remedy. Programmer errors assert instead.

use std::fmt;

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// `EMFILE`, for which the standard library has no name.
const TOO_MANY_FILES: i32 = 24;

/// What kind of fault it is; decides the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The command line or an option is wrong. Exit code 2.
    Usage,
    /// The SQL script is wrong. Exit code 2.
    Script,
    /// Flink has it, Transom has not (yet). Exit code 2.
    Unsupported,
    /// A row of the input is wrong, or a computation on it fails. Exit code 1.
    Data,
    /// The operating system refused something. Exit code 1.
    Io,
    /// The user stopped the job. Exit code 130.
    Cancelled,
    /// Whoever read our output has gone away. No fault: exit code 0.
    ClosedPipe,
    /// A fault of ours. Exit code 1.
    Internal,
}

/// A place in a script or in a data file. Lines and columns count from 1, columns in characters.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// File name as the user gave it; empty until somebody who knows it fills it in.
    pub file: String,
    /// 0: unknown.
    pub line: u64,
    /// 0: unknown.
    pub column: u64,
    /// Characters to underline; 0: unknown.
    pub length: u64,
}

#[derive(Debug, Clone)]
struct Inner {
    kind: ErrorKind,
    message: String,
    place: Option<Place>,
    remedy: Option<String>,
    statement: Option<usize>,
    statement_line: Option<u64>,
}

/// An error with its place and remedy. Cheap to move (one pointer). `Debug` reads well too: a program whose `main`
/// returns an error shows it so.
#[derive(Clone)]
pub struct Error(Box<Inner>);

impl Error {
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error(Box::new(Inner {
            kind,
            message: message.into(),
            place: None,
            remedy: None,
            statement: None,
            statement_line: None,
        }))
    }
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }
    pub fn script(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Script, message)
    }
    /// `what` is Flink's name of the feature; the advice to run the job on Flink is added.
    pub fn unsupported(what: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Unsupported, format!("{what} is part of Flink SQL, but not supported by Transom yet"))
            .help("run this statement on Flink, or leave it out")
    }
    pub fn data(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Data, message)
    }
    /// `doing` completes "cannot …": `Error::io("open", path, e)`.
    pub fn io(doing: &str, path: impl fmt::Display, source: std::io::Error) -> Self {
        if source.kind() == std::io::ErrorKind::BrokenPipe {
            return Self::new(ErrorKind::ClosedPipe, format!("{path} was closed"));
        }
        let error = Self::new(ErrorKind::Io, format!("cannot {doing} {path}: {source}"));
        match source.kind() {
            std::io::ErrorKind::NotFound => error.help("check the path; relative paths start at the working directory"),
            std::io::ErrorKind::PermissionDenied => error.help("check the permissions of the file and of its folder"),
            std::io::ErrorKind::StorageFull => error.help("free some space, or write elsewhere"),
            std::io::ErrorKind::NotADirectory => error.help("a name before a '/' in the path is a file, not a folder"),
            _ if source.raw_os_error() == Some(TOO_MANY_FILES) => {
                error.help("allow the process more open files, for instance with: ulimit -n 1024")
            }
            _ => error,
        }
    }
    pub fn cancelled() -> Self {
        Self::new(ErrorKind::Cancelled, "interrupted; nothing of this statement was kept")
    }
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message).help("this is a fault of Transom; please report it with the script")
    }

    /// Says what to do. Replaces an earlier remedy.
    pub fn help(mut self, remedy: impl Into<String>) -> Self {
        self.0.remedy = Some(remedy.into());
        self
    }
    /// Sets line and column (from 1) unless the error already names a place.
    pub fn at(self, line: u64, column: u64) -> Self {
        self.at_place(Place { line, column, ..Place::default() })
    }
    /// Sets the place, if there is one to set and the error has none yet.
    pub fn at_place(mut self, place: impl Into<Option<Place>>) -> Self {
        self.0.place = self.0.place.or_else(|| place.into());
        self
    }
    /// Fills in the file name where the place lacks one.
    pub fn in_file(mut self, file: impl Into<String>) -> Self {
        let place = self.0.place.get_or_insert_with(Place::default);
        if place.file.is_empty() {
            place.file = file.into();
        }
        self
    }
    /// The statement of the script, counted from 1; kept where already set.
    pub fn in_statement(mut self, number: usize) -> Self {
        self.0.statement.get_or_insert(number);
        self
    }

    /// The line of the script where that statement starts, from 1; kept where already set.
    pub fn from_line(mut self, line: u64) -> Self {
        self.0.statement_line.get_or_insert(line);
        self
    }

    /// Says in front of the message to what it applies: `prefix: message`.
    pub fn prefixed(mut self, prefix: &str) -> Self {
        self.0.message = format!("{prefix}: {}", self.0.message);
        self
    }

    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }
    pub fn message(&self) -> &str {
        &self.0.message
    }
    pub fn place(&self) -> Option<&Place> {
        self.0.place.as_ref()
    }
    pub fn remedy(&self) -> Option<&str> {
        self.0.remedy.as_deref()
    }
    pub fn statement(&self) -> Option<usize> {
        self.0.statement
    }
    pub fn statement_line(&self) -> Option<u64> {
        self.0.statement_line
    }
    /// 2 for a wrong script or command line, 130 when cancelled, 1 for everything else.
    pub fn exit_code(&self) -> u8 {
        match self.kind() {
            ErrorKind::Usage | ErrorKind::Script | ErrorKind::Unsupported => 2,
            ErrorKind::Cancelled => 130,
            ErrorKind::ClosedPipe => 0,
            ErrorKind::Data | ErrorKind::Io | ErrorKind::Internal => 1,
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")?;
        self.remedy().map_or(Ok(()), |remedy| write!(f, "\n  help: {remedy}"))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = self.place() {
            if !place.file.is_empty() {
                write!(f, "{}:", place.file)?;
            }
            if place.line > 0 {
                write!(f, "{}:", place.line)?;
                if place.column > 0 {
                    write!(f, "{}:", place.column)?;
                }
            }
            f.write_str(" ")?;
        }
        f.write_str(self.message())
    }
}

impl std::error::Error for Error {}

impl From<arrow::error::ArrowError> for Error {
    /// Kernels are only given what they can compute, so whatever Arrow says is a fault of ours.
    fn from(error: arrow::error::ArrowError) -> Self {
        Error::internal(format!("Arrow: {error}"))
    }
}

/// The candidate nearest to `name` (edit distance, case ignored), if one is near enough to offer.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    // Every other letter is one edit away from a name of one letter; only its case may differ.
    let limit = match name.chars().count() {
        0..=2 => 0,
        length => (length / 3).max(1),
    };
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&name, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_prints_as_file_line_column() {
        let error = Error::script("no").at(3, 7).in_file("job.sql");
        assert_eq!(error.to_string(), "job.sql:3:7: no");
        assert_eq!(error.exit_code(), 2);
    }

    #[test]
    fn the_nearest_name_is_offered_only_when_near() {
        assert_eq!(nearest("windw_start", ["window_end", "window_start"]), Some("window_start"));
        assert_eq!(nearest("zzz", ["window_end", "window_start"]), None);
    }

    #[test]
    fn a_name_of_one_or_two_letters_gets_no_other_name_offered_than_itself_in_another_case() {
        assert_eq!(nearest("k", ["v", "n"]), None);
        assert_eq!(nearest("ts", ["tx", "t"]), None);
        assert_eq!(nearest("K", ["v", "k"]), Some("k"));
    }
}
