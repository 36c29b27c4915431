//! The script that `transom window` stands for.

use super::disorder::interval;
use super::names::{is_reserved, plain, quoted, unused};
use super::tokens::{Kind, Token, tokens};
use crate::error::{Error, Result};

/// Words that give an expression its form; never taken for the name of a column.
const STRUCTURE: &str = "and as between case cast distinct else end escape exists filter false from in interval is like \
    not null or over then true unknown when where";

/// Columns that window functions add.
const ADDED: [&str; 3] = ["window_start", "window_end", "window_time"];

/// The windows of a query. Milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Windows {
    Tumble { size: i64 },
    Hop { size: i64, slide: i64 },
    Cumulate { size: i64, step: i64 },
    Session { gap: i64 },
}

/// What rows are grouped by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    Column(String),
    Expression(String),
}

/// A window query over one table.
#[derive(Debug, Clone)]
pub struct Query {
    /// The CREATE TABLE statement.
    pub ddl: String,
    pub table: String,
    /// The time attribute.
    pub time: String,
    /// The names of the columns.
    pub columns: Vec<String>,
    pub keys: Vec<Key>,
    pub windows: Windows,
    /// Milliseconds.
    pub offset: Option<i64>,
    /// Aggregates with commas between them, as the user wrote them.
    pub aggregates: String,
    pub filter: Option<String>,
    pub time_zone: Option<String>,
    /// Statements between the tables and the query, and the name of the table that takes the rows.
    pub sink: Option<(String, String)>,
}

/// Where a user's own text stands in the script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fragment {
    /// The flag that gave it.
    pub flag: &'static str,
    pub text: String,
    /// From 1, in characters.
    pub line: u64,
    pub column: u64,
}

/// A script under construction.
#[derive(Default)]
struct Writer {
    text: String,
    fragments: Vec<Fragment>,
}

impl Writer {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn fragment(&mut self, flag: &'static str, text: &str) {
        let line = 1 + self.text.matches('\n').count() as u64;
        let last = self.text.rsplit('\n').next().unwrap_or_default();
        let column = 1 + last.chars().count() as u64;
        self.fragments.push(Fragment { flag, text: text.to_string(), line, column });
        self.push(text);
    }
}

impl Query {
    /// The script, and where it holds what the user wrote.
    ///
    /// # Errors
    /// Usage, for brackets or quotes that are not closed.
    pub fn script(&self) -> Result<(String, Vec<Fragment>)> {
        let mut out = Writer::default();
        if let Some(zone) = &self.time_zone {
            out.push(&format!("SET 'table.local-time-zone' = '{}';\n\n", zone.replace('\'', "''")));
        }
        out.push(&self.ddl);
        out.push("\n");
        let keys = self.named_keys()?;
        let source = self.view(&keys, &mut out)?;
        if let Some((statements, table)) = &self.sink {
            out.push(&format!("{statements}\nINSERT INTO {}\n", quoted(table)));
        }
        let names: Vec<String> = keys.iter().map(|(name, _)| quoted(name)).collect();
        let comma = |names: &[String]| names.iter().map(|name| format!("{name}, ")).collect::<String>();
        out.push(&format!("SELECT {}window_start, window_end", comma(&names)));
        let mut taken: Vec<String> = keys.iter().map(|(name, _)| name.clone()).collect();
        taken.extend(["window_start", "window_end"].map(str::to_string));
        for aggregate in split("--agg", &self.aggregates)? {
            out.push(",\n  ");
            let text = with_quotes(&aggregate, &self.columns);
            out.fragment("--agg", &text);
            if !has_alias(&text) {
                let name = match plain(&aggregate) {
                    name if name.is_empty() => "result".to_string(),
                    name => name,
                };
                let name = unused(&name, |name| taken.iter().any(|other| other == name));
                out.push(&format!(" AS {}", quoted(&name)));
                taken.push(name);
            }
        }
        out.push(&format!("\nFROM TABLE({})\n", self.window_function(&source, &names)));
        out.push(&format!("GROUP BY {}window_start, window_end;\n", comma(&names)));
        Ok((out.text, out.fragments))
    }

    /// What a column is called below the window function, which adds columns of its own.
    fn inner_name(&self, column: &str) -> String {
        if !ADDED.contains(&column) {
            return column.to_string();
        }
        unused(&format!("file_{column}"), |name| self.columns.iter().any(|other| other == name))
    }

    /// Each key with its name and, unless it is a column, its expression.
    fn named_keys(&self) -> Result<Vec<(String, Option<String>)>> {
        let mut keys: Vec<(String, Option<String>)> = Vec::new();
        for key in &self.keys {
            keys.push(match key {
                Key::Column(name) => (self.inner_name(name), None),
                Key::Expression(text) => {
                    let text = with_quotes(&one_line(text), &self.columns);
                    check_closed("--key", &text)?;
                    let (text, name) = match alias(&text) {
                        Some((expression, name)) => (expression, name),
                        None => {
                            let name = if plain(&text).is_empty() { "key".to_string() } else { plain(&text) };
                            (text, name)
                        }
                    };
                    let taken = |name: &str| {
                        self.columns.iter().any(|column| column == name) || keys.iter().any(|(other, _)| other == name)
                    };
                    (unused(&name, taken), Some(text))
                }
            });
        }
        Ok(keys)
    }

    /// What the window function reads: the table, or a view over it that filters and computes keys.
    fn view(&self, keys: &[(String, Option<String>)], out: &mut Writer) -> Result<String> {
        let computed: Vec<(&String, &String)> =
            keys.iter().filter_map(|(name, text)| text.as_ref().map(|text| (name, text))).collect();
        let renames = self.columns.iter().any(|column| ADDED.contains(&column.as_str()));
        if computed.is_empty() && self.filter.is_none() && !renames {
            return Ok(quoted(&self.table));
        }
        let view = unused("picked", |name| name == self.table);
        let renamed = |column: &String| match self.inner_name(column) {
            same if same == *column => quoted(column),
            name => format!("{} AS {}", quoted(column), quoted(&name)),
        };
        let columns = match renames {
            true => self.columns.iter().map(renamed).collect::<Vec<_>>().join(", "),
            false => "*".to_string(),
        };
        out.push(&format!("CREATE TEMPORARY VIEW {view} AS\nSELECT {columns}"));
        for (name, text) in computed {
            out.push(",\n  ");
            out.fragment("--key", text);
            out.push(&format!(" AS {}", quoted(name)));
        }
        out.push(&format!("\nFROM {}", quoted(&self.table)));
        if let Some(filter) = &self.filter {
            let filter = with_quotes(&one_line(filter), &self.columns);
            check_closed("--where", &filter)?;
            out.push("\nWHERE ");
            out.fragment("--where", &filter);
        }
        out.push(";\n\n");
        Ok(view)
    }

    fn window_function(&self, source: &str, keys: &[String]) -> String {
        let time = format!("DESCRIPTOR({})", quoted(&self.inner_name(&self.time)));
        let offset =
            self.offset.filter(|offset| *offset != 0).map_or(String::new(), |ms| format!(", {}", interval(ms)));
        match self.windows {
            Windows::Tumble { size } => format!("TUMBLE(TABLE {source}, {time}, {}{offset})", interval(size)),
            Windows::Hop { size, slide } => {
                format!("HOP(TABLE {source}, {time}, {}, {}{offset})", interval(slide), interval(size))
            }
            Windows::Cumulate { size, step } => {
                format!("CUMULATE(TABLE {source}, {time}, {}, {}{offset})", interval(step), interval(size))
            }
            Windows::Session { gap } => {
                let partition =
                    if keys.is_empty() { String::new() } else { format!(" PARTITION BY ({})", keys.join(", ")) };
                format!("SESSION(TABLE {source}{partition}, {time}, {})", interval(gap))
            }
        }
    }
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ").trim().to_string()
}

/// The parts between commas outside of brackets.
fn split(flag: &str, text: &str) -> Result<Vec<String>> {
    let text = one_line(text);
    check_closed(flag, &text)?;
    let mut parts = Vec::new();
    let (mut depth, mut from) = (0i32, 0);
    for token in tokens(&text) {
        match token.kind {
            Kind::Mark('(' | '[') => depth += 1,
            Kind::Mark(')' | ']') => depth -= 1,
            Kind::Mark(',') if depth == 0 => {
                parts.push(text[from..token.at].trim().to_string());
                from = token.at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[from..].trim().to_string());
    if parts.iter().any(String::is_empty) {
        return Err(Error::usage(format!("{flag}: nothing between two commas in '{text}'"))
            .help("write for example --agg 'count(*), sum(amount) AS total'"));
    }
    Ok(parts)
}

/// A bracket or quote left open would swallow the rest of the script.
fn check_closed(flag: &str, text: &str) -> Result<()> {
    let mut depth = 0i32;
    let mut fault = None;
    for token in tokens(text) {
        match token.kind {
            Kind::Mark('(') => depth += 1,
            Kind::Mark(')') => depth -= 1,
            Kind::Mark(';') => fault = Some("a semicolon"),
            Kind::Text | Kind::Quoted if token.text.len() < 2 || !token.text.ends_with(&token.text[..1]) => {
                fault = Some("a quote that is not closed");
            }
            _ => {}
        }
        if depth < 0 {
            fault = Some("a closing bracket too many");
            break;
        }
    }
    if depth > 0 {
        fault = Some("a bracket that is not closed");
    }
    if text.contains("--") || text.contains("/*") {
        fault = Some("a comment");
    }
    match fault {
        None => Ok(()),
        Some(fault) => Err(Error::usage(format!("{flag}: {fault} in '{text}'")).help("give one expression of SQL")),
    }
}

/// The expression and the name of `expression AS name`.
fn alias(text: &str) -> Option<(String, String)> {
    let found = tokens(text);
    let [.., word, name] = found.as_slice() else { return None };
    let name = name.name()?;
    word.is_word("as").then(|| (text[..word.at].trim().to_string(), name))
}

fn has_alias(text: &str) -> bool {
    alias(text).is_some()
}

/// The text with backquotes around names of columns that are words of SQL: `sum(value)`.
fn with_quotes(text: &str, columns: &[String]) -> String {
    let found = tokens(text);
    let is_column = |index: usize, token: &Token<'_>| {
        let word = token.text.to_ascii_lowercase();
        let called = found.get(index + 1).is_some_and(|next| matches!(next.kind, Kind::Mark('(') | Kind::Text));
        token.kind == Kind::Word
            && !called
            && is_reserved(&word)
            && !STRUCTURE.split_ascii_whitespace().any(|keyword| keyword == word)
            && columns.iter().any(|column| column == token.text)
    };
    let mut out = String::new();
    let mut from = 0;
    for (index, token) in found.iter().enumerate() {
        if is_column(index, token) {
            out.push_str(&text[from..token.at]);
            out.push_str(&quoted(token.text));
            from = token.at + token.text.len();
        }
    }
    out.push_str(&text[from..]);
    out
}

/// A length of time such as `500ms`, `5s`, `1m`, `1h30m` or `1d`, in milliseconds.
///
/// # Errors
/// A sentence for the parser of the command line.
pub fn duration_ms(text: &str) -> Result<i64, String> {
    let wrong = || format!("'{text}' is no length of time; write for example 500ms, 5s, 1m, 1h30m or 1d");
    if text.trim_start().starts_with('-') {
        return Err(format!("'{text}' is below zero; write a length of time such as 5s or 1h30m"));
    }
    let mut total: i64 = 0;
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err(wrong());
    }
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let number: i64 = rest[..digits].parse().map_err(|_| wrong())?;
        rest = rest[digits..].trim_start();
        let letters = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        let factor = match &rest[..letters] {
            "ms" => 1,
            "s" | "sec" => 1_000,
            "m" | "min" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            "w" => 7 * 86_400_000,
            _ => return Err(wrong()),
        };
        total = number.checked_mul(factor).and_then(|ms| total.checked_add(ms)).ok_or_else(wrong)?;
        rest = rest[letters..].trim_start();
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query() -> Query {
        Query {
            ddl: "CREATE TABLE t (…);\n".to_string(),
            table: "t".to_string(),
            time: "ts".to_string(),
            columns: ["user", "value", "ts"].map(str::to_string).to_vec(),
            keys: vec![Key::Column("user".to_string())],
            windows: Windows::Tumble { size: 60_000 },
            offset: None,
            aggregates: "count(*), sum(value), max(value) AS top".to_string(),
            filter: None,
            time_zone: None,
            sink: None,
        }
    }

    #[test]
    fn the_script_reads_as_if_written_by_hand() {
        let (script, fragments) = query().script().expect("a script");
        assert_eq!(
            script,
            "CREATE TABLE t (…);\n\n\
             SELECT `user`, window_start, window_end,\n  \
               count(*) AS `count`,\n  \
               sum(`value`) AS sum_value,\n  \
               max(`value`) AS top\n\
             FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE))\n\
             GROUP BY `user`, window_start, window_end;\n"
        );
        assert_eq!((fragments[1].line, fragments[1].column, fragments[1].text.as_str()), (5, 3, "sum(`value`)"));
    }

    #[test]
    fn filters_and_computed_keys_go_into_a_view() {
        let keys = vec![Key::Expression("upper(user) as u".to_string())];
        let windows = Windows::Session { gap: 1_800_000 };
        let query = Query { keys, windows, filter: Some("value > 1".to_string()), ..query() };
        let (script, _) = query.script().expect("a script");
        assert!(
            script.contains(
                "CREATE TEMPORARY VIEW picked AS\nSELECT *,\n  upper(`user`) AS u\nFROM t\nWHERE `value` > 1;\n"
            ),
            "{script}"
        );
        assert!(
            script.contains("SESSION(TABLE picked PARTITION BY (u), DESCRIPTOR(ts), INTERVAL '30' MINUTE)"),
            "{script}"
        );
    }

    #[test]
    fn columns_that_are_called_as_those_of_windows_get_other_names() {
        let columns = ["window_start", "v"].map(str::to_string).to_vec();
        let aggregates = "max(v)".to_string();
        let query = Query { columns, time: "window_start".to_string(), keys: Vec::new(), aggregates, ..query() };
        let (script, _) = query.script().expect("a script");
        assert!(script.contains("SELECT window_start AS file_window_start, v\nFROM t;"), "{script}");
        assert!(script.contains("TUMBLE(TABLE picked, DESCRIPTOR(file_window_start), "), "{script}");
    }

    #[test]
    fn what_would_break_the_script_is_refused() {
        for aggregates in ["count(*", "count(*))", "'x", "a; b", "a,,b", "", "count(*) -- x"] {
            assert!(Query { aggregates: aggregates.to_string(), ..query() }.script().is_err(), "{aggregates}");
        }
    }

    #[test]
    fn columns_are_quoted_only_where_they_are_meant() {
        let columns = ["date", "end", "value"].map(str::to_string);
        for (text, expected) in [
            ("max(date)", "max(`date`)"),
            ("date > DATE '2024-01-01'", "`date` > DATE '2024-01-01'"),
            ("date '2024-01-01'", "date '2024-01-01'"),
            ("case when value > 1 then 1 else 0 end", "case when `value` > 1 then 1 else 0 end"),
            ("'value'", "'value'"),
        ] {
            assert_eq!(with_quotes(text, &columns), expected);
        }
    }

    #[test]
    fn lengths_of_time_are_read_with_their_units() {
        let read = ["500ms", "5s", "1m", "1h30m", "1d", "2 h"].map(|text| duration_ms(text).expect("a length"));
        assert_eq!(read, [500, 5_000, 60_000, 5_400_000, 86_400_000, 7_200_000]);
        for wrong in ["", "5", "m", "1y", "-1s", "99999999999999999d"] {
            assert!(duration_ms(wrong).is_err(), "{wrong}");
        }
    }
}
