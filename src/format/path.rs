//! Paths as Flink's `path` option spells them.

use crate::error::{Error, Result};

/// The path without `file://`; other schemes are refused.
///
/// # Errors
/// Unsupported, for the file system of another scheme.
pub fn local_path(path: &str) -> Result<&str> {
    let Some((scheme, rest)) = path.split_once(':') else { return Ok(path) };
    if scheme.eq_ignore_ascii_case("file") {
        // file:/a, file:///a and file://localhost/a are one and the same.
        let rest = match rest.strip_prefix("//") {
            Some(rest) => rest.strip_prefix("localhost").unwrap_or(rest),
            None => rest,
        };
        return Ok(rest);
    }
    if rest.starts_with("//") {
        return Err(Error::unsupported(format!("the file system of '{path}'"))
            .help("use files on this machine and give their local path"));
    }
    Ok(path)
}
