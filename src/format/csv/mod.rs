//! CSV, as Flink reads and writes it with Jackson.

pub(crate) mod decode;
pub(crate) mod encode;
pub(crate) mod scan;

use crate::error::{Error, Result};
use crate::options::Options;

/// Flink's `csv.*` options.
#[derive(Debug, Clone, PartialEq)]
pub struct CsvOptions {
    /// `csv.field-delimiter`
    pub delimiter: u8,
    /// `csv.quote-character`; `None` with `csv.disable-quote-character`.
    pub quote: Option<u8>,
    /// `csv.escape-character`
    pub escape: Option<u8>,
    /// `csv.allow-comments`: lines that start with `#` are skipped, and so are blank lines.
    pub comments: bool,
    /// `csv.null-literal`
    pub null_literal: Option<String>,
    /// `csv.ignore-parse-errors`: a wrong field is NULL, a broken record is skipped.
    pub ignore_parse_errors: bool,
}

impl Default for CsvOptions {
    fn default() -> Self {
        CsvOptions {
            delimiter: b',',
            quote: Some(b'"'),
            escape: None,
            comments: false,
            null_literal: None,
            ignore_parse_errors: false,
        }
    }
}

impl CsvOptions {
    pub(crate) fn from_options(options: &mut Options) -> Result<Self> {
        let defaults = CsvOptions::default();
        let disabled = options.take_bool("csv.disable-quote-character", false)?;
        let quote = character(options, "csv.quote-character", false)?;
        if disabled && quote.is_some() {
            return Err(options
                .invalid("csv.quote-character", "none, because 'csv.disable-quote-character' is true")
                .help("leave out one of the two"));
        }
        // For nested columns, which are refused; accepted so that scripts run unchanged.
        character(options, "csv.array-element-delimiter", false)?;
        // Flink writes decimals the same way whatever this says.
        options.take_bool("csv.write-bigdecimal-in-scientific-notation", true)?;
        Ok(CsvOptions {
            delimiter: character(options, "csv.field-delimiter", true)?.unwrap_or(defaults.delimiter),
            quote: if disabled { None } else { quote.or(defaults.quote) },
            escape: character(options, "csv.escape-character", false)?,
            comments: options.take_bool("csv.allow-comments", false)?,
            null_literal: options.take("csv.null-literal"),
            ignore_parse_errors: options.take_bool("csv.ignore-parse-errors", false)?,
        })
    }
}

/// An option that holds one character, with Java's escapes (`\t`, `\u0001`) where `escapes` is set.
fn character(options: &mut Options, key: &str, escapes: bool) -> Result<Option<u8>> {
    let Some(value) = options.take(key) else { return Ok(None) };
    let mut characters = value.chars();
    let character = match (characters.next(), characters.as_str()) {
        (Some(c), "") => Some(c),
        (Some('\\'), rest) if escapes => unescape(rest),
        _ => None,
    };
    let Some(character) = character else { return Err(options.invalid(key, "one character")) };
    match u8::try_from(u32::from(character)) {
        Ok(byte) if byte.is_ascii() && byte != b'\n' && byte != b'\r' => Ok(Some(byte)),
        _ => Err(Error::unsupported(format!("'{key}' = '{value}' (a character beyond ASCII or a line end)"))
            .at_place(options.place_of(key))),
    }
}

fn unescape(rest: &str) -> Option<char> {
    match rest {
        "t" => Some('\t'),
        "b" => Some('\u{8}'),
        "f" => Some('\u{c}'),
        "n" => Some('\n'),
        "r" => Some('\r'),
        "\\" | "'" | "\"" => rest.chars().next(),
        _ => {
            let octal = rest.len() <= 3 && !rest.is_empty() && rest.bytes().all(|b| (b'0'..=b'7').contains(&b));
            let code = match rest.trim_start_matches('u') {
                _ if octal => u32::from_str_radix(rest, 8).ok()?,
                hex if rest.starts_with('u') && hex.len() == 4 => u32::from_str_radix(hex, 16).ok()?,
                _ => return None,
            };
            char::from_u32(code)
        }
    }
}

pub(crate) fn syntax_of(options: &CsvOptions) -> scan::Syntax {
    scan::Syntax::new(options.delimiter, options.quote, options.escape, options.comments)
}
