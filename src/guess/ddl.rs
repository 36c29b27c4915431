//! CREATE TABLE statements: written for a guess, and taken from a user.

use super::Guess;
use super::disorder::Bound;
use super::names::{literal, plain, quoted};
use super::tokens::{Kind, Token, tokens};
use crate::error::{Error, Result};

/// The statement for a guess. `bound`: how long the watermark waits; `None`: as long as was measured.
pub fn ddl(guess: &Guess, table: &str, path: &str, bound: Option<Bound>) -> String {
    let mut lines: Vec<String> = Vec::new();
    for column in &guess.columns {
        let definition = match &column.expression {
            Some(expression) => format!("AS {expression}"),
            None => column.kind.to_string(),
        };
        lines.push(format!("{} {definition}", quoted(&column.name)));
    }
    if let (Some(time), Some(name)) = (guess.chosen(), guess.time_name()) {
        let name = quoted(&name);
        if let Some(expression) = &time.expression {
            lines.push(format!("{name} AS {expression}"));
        }
        let bound = bound.or_else(|| guess.bound()).unwrap_or(Bound(0));
        let wait = if bound.0 > 0 { format!(" - {}", bound.interval()) } else { String::new() };
        lines.push(format!("WATERMARK FOR {name} AS {name}{wait}"));
    }
    let mut options = vec![
        ("connector".to_string(), "filesystem".to_string()),
        ("path".to_string(), path.to_string()),
        ("format".to_string(), guess.format.to_string()),
    ];
    options.extend(guess.options.iter().cloned());
    let options: Vec<String> =
        options.iter().map(|(key, value)| format!("  {} = {}", literal(key), literal(value))).collect();
    let keys: Vec<String> = guess.partitions.iter().map(|key| quoted(key)).collect();
    let keys = if keys.is_empty() { String::new() } else { format!(" PARTITIONED BY ({})", keys.join(", ")) };
    format!(
        "CREATE TABLE {} (\n  {}\n){keys} WITH (\n{}\n);\n",
        quoted(table),
        lines.join(",\n  "),
        options.join(",\n")
    )
}

/// A name for the table in a file, made from the file's.
pub fn table_name(path: &str) -> String {
    let file = path.trim_end_matches('/').rsplit('/').next().unwrap_or(path);
    let stem = file.split('.').find(|part| !part.is_empty()).unwrap_or_default();
    let name = plain(stem);
    match name.chars().next() {
        None => "events".to_string(),
        Some(first) if first.is_ascii_digit() => format!("t_{name}"),
        Some(_) => name,
    }
}

/// A CREATE TABLE statement that the user gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// The statement, with the path of the file in it, and a semicolon.
    pub text: String,
    pub table: String,
    /// The column of its WATERMARK.
    pub time: Option<String>,
}

impl Given {
    /// Reads a statement and puts the path of a file into it.
    ///
    /// # Errors
    /// Usage, if the text is no CREATE TABLE statement of the filesystem connector.
    pub fn new(text: &str, path: &str) -> Result<Given> {
        let wrong = |what: &str| {
            Error::usage(format!("--schema: {what}"))
                .help("give a CREATE TABLE statement, or a file with one, as transom schema FILE prints it")
        };
        let found = tokens(text);
        let mut words = found.iter().copied();
        if !words.next().is_some_and(|word| word.is_word("create")) {
            return Err(wrong("this is no CREATE TABLE statement"));
        }
        let table = table_of(words).ok_or_else(|| wrong("this is no CREATE TABLE statement"))?;
        let end = found.iter().position(|token| token.kind == Kind::Mark(';')).unwrap_or(found.len());
        if found.len() > end + 1 {
            return Err(wrong("there is more than one statement"));
        }
        let value = option_value(&found[..end], "path");
        let value = value.ok_or_else(|| wrong("the table has no option 'path' to put the file into"))?;
        let (before, rest) = text.split_at(value.at);
        let text = format!("{before}{}{}", literal(path), &rest[value.text.len()..]);
        let text = format!("{};\n", text.trim_end().trim_end_matches(';').trim_end());
        let watermark = found.windows(3).find(|three| three[0].is_word("watermark") && three[1].is_word("for"));
        let time = watermark.and_then(|three| three[2].name());
        Ok(Given { text, table, time })
    }
}

/// The name behind CREATE [TEMPORARY] TABLE [IF NOT EXISTS].
fn table_of<'a>(words: impl Iterator<Item = Token<'a>>) -> Option<String> {
    let mut words = words.skip_while(|word| word.is_word("temporary"));
    if !words.next()?.is_word("table") {
        return None;
    }
    words.find(|word| !["if", "not", "exists"].iter().any(|skipped| word.is_word(skipped)))?.name()
}

/// The value behind `'key' =`.
fn option_value<'a>(found: &[Token<'a>], key: &str) -> Option<Token<'a>> {
    let has_key = |three: &&[Token<'_>]| {
        three[0].literal().is_some_and(|text| text == key)
            && three[1].kind == Kind::Mark('=')
            && three[2].kind == Kind::Text
    };
    found.windows(3).find(has_key).map(|three| three[2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_named_after_their_files() {
        for (path, name) in [
            ("data/My Trips-2024.csv.gz", "my_trips_2024"),
            ("2024.csv", "t_2024"),
            ("-", "events"),
            ("logs/", "logs"),
            ("data/*.csv", "events"),
        ] {
            assert_eq!(table_name(path), name, "{path}");
        }
    }

    #[test]
    fn a_given_statement_gets_the_path_of_the_file() {
        let text =
            "CREATE TABLE IF NOT EXISTS `my t` (v INT, WATERMARK FOR ts AS ts) WITH ('path' = 'x', 'format'='csv')\n";
        let given = Given::new(text, "it's.csv").expect("a table");
        assert_eq!((given.table.as_str(), given.time.as_deref()), ("my t", Some("ts")));
        assert!(given.text.ends_with("WITH ('path' = 'it''s.csv', 'format'='csv');\n"), "{}", given.text);
        for wrong in [
            "SELECT 1",
            "CREATE VIEW v AS SELECT 1",
            "CREATE TABLE t (a INT)",
            "CREATE TABLE t (a INT) WITH ('path'='x'); SELECT 1",
        ] {
            assert!(Given::new(wrong, "f").is_err(), "{wrong}");
        }
    }
}
