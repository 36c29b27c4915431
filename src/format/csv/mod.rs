//! CSV, as Flink reads and writes it with Jackson.

pub(crate) mod decode;
pub(crate) mod encode;
pub(crate) mod header;
pub(crate) mod nested;
pub(crate) mod scan;
mod special;

use crate::error::{Error, Result};
use crate::options::Options;

/// Flink's `csv.*` options, and `csv.header`, which is ours.
#[derive(Debug, Clone, PartialEq)]
pub struct CsvOptions {
    /// `csv.field-delimiter`
    pub delimiter: char,
    /// `csv.quote-character`; `None` with `csv.disable-quote-character`.
    pub quote: Option<char>,
    /// `csv.escape-character`
    pub escape: Option<char>,
    /// `csv.array-element-delimiter`, also between the fields of a ROW.
    pub element_delimiter: char,
    /// `csv.allow-comments`: lines that start with `#` are skipped, and so are blank lines.
    pub comments: bool,
    /// `csv.null-literal`
    pub null_literal: Option<String>,
    /// `csv.ignore-parse-errors`: a wrong field is NULL, a broken record is skipped.
    pub ignore_parse_errors: bool,
    /// `csv.trim-spaces`: blanks around an unquoted field do not belong to it.
    pub trim_spaces: bool,
    /// `csv.empty-string-as-null`
    pub empty_as_null: bool,
    /// `csv.ignore-trailing-unmappable`: fields behind those of the table are skipped.
    pub ignore_trailing: bool,
    /// `csv.allow-trailing-comma`: one more field passes if it is blank.
    pub trailing_delimiter: bool,
    /// `csv.fail-on-missing-columns`: a record with fewer fields is wrong even where what is missing is not read.
    pub fail_on_missing: bool,
    /// `csv.header`: the first record of each file names its fields.
    pub header: bool,
}

impl Default for CsvOptions {
    fn default() -> Self {
        CsvOptions {
            delimiter: ',',
            quote: Some('"'),
            escape: None,
            element_delimiter: ';',
            comments: false,
            null_literal: None,
            ignore_parse_errors: false,
            trim_spaces: false,
            empty_as_null: false,
            ignore_trailing: false,
            trailing_delimiter: true,
            fail_on_missing: false,
            header: false,
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
        // Flink writes decimals the same way whatever this says.
        options.take_bool("csv.write-bigdecimal-in-scientific-notation", true)?;
        let elements = character(options, "csv.array-element-delimiter", false)?;
        Ok(CsvOptions {
            delimiter: character(options, "csv.field-delimiter", true)?.unwrap_or(defaults.delimiter),
            quote: if disabled { None } else { quote.or(defaults.quote) },
            escape: character(options, "csv.escape-character", false)?,
            element_delimiter: elements.unwrap_or(defaults.element_delimiter),
            comments: options.take_bool("csv.allow-comments", false)?,
            null_literal: options.take("csv.null-literal"),
            ignore_parse_errors: options.take_bool("csv.ignore-parse-errors", false)?,
            trim_spaces: options.take_bool("csv.trim-spaces", false)?,
            empty_as_null: options.take_bool("csv.empty-string-as-null", false)?,
            ignore_trailing: options.take_bool("csv.ignore-trailing-unmappable", false)?,
            trailing_delimiter: options.take_bool("csv.allow-trailing-comma", true)?,
            fail_on_missing: options.take_bool("csv.fail-on-missing-columns", false)?,
            header: options.take_bool("csv.header", false)?,
        })
    }
}

/// An option that holds one character, with Java's escapes (`\t`, `\u0001`) where `escapes` is set.
fn character(options: &mut Options, key: &str, escapes: bool) -> Result<Option<char>> {
    let Some(value) = options.take(key) else { return Ok(None) };
    let mut characters = value.chars();
    let character = match (characters.next(), characters.as_str()) {
        (Some(c), "") => Some(c),
        (Some('\\'), rest) if escapes => unescape(rest),
        _ => None,
    };
    match character {
        Some('\n' | '\r') => Err(Error::unsupported(format!("a line end as '{key}'")).at_place(options.place_of(key))),
        // A `char` of Java.
        Some(character) if u32::from(character) <= 0xFFFF => Ok(Some(character)),
        _ => {
            let error = options.invalid(key, "a single character");
            Err(if escapes {
                error.help("a tab is '\\t', other control characters are as in '\\u0001'")
            } else {
                error
            })
        }
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
