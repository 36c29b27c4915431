//! What may come next where the cursor is: keywords, tables, columns, functions, settings.

use transom::sql::{Lexeme, LexemeKind, Relation, function_names, is_wordy, lexemes, setting_names};

/// The words of statements, and of the shell itself.
const STARTS: &[&str] = &[
    "ALTER", "BEGIN", "CLEAR", "CREATE", "DESCRIBE", "DROP", "EXECUTE", "EXIT", "EXPLAIN", "HELP", "INSERT", "QUIT",
    "RESET", "SELECT", "SET", "SHOW", "USE", "VALUES", "WITH",
];

/// The words that go on.
const KEYWORDS: &[&str] = &[
    "ALL",
    "AND",
    "ARRAY",
    "AS",
    "ASC",
    "BETWEEN",
    "BIGINT",
    "BOOLEAN",
    "BY",
    "BYTES",
    "CASE",
    "CAST",
    "CATALOG",
    "CATALOGS",
    "CHAR",
    "COLUMNS",
    "COMMENT",
    "CROSS",
    "CUBE",
    "CUMULATE",
    "DATABASE",
    "DATABASES",
    "DATE",
    "DAY",
    "DECIMAL",
    "DESC",
    "DESCRIPTOR",
    "DISTINCT",
    "DOUBLE",
    "ELSE",
    "END",
    "ENFORCED",
    "ESCAPE",
    "EXCLUDING",
    "EXISTS",
    "FALSE",
    "FILTER",
    "FLOAT",
    "FOR",
    "FROM",
    "FULL",
    "FUNCTIONS",
    "GROUP",
    "GROUPING",
    "HAVING",
    "HOP",
    "HOUR",
    "IF",
    "IN",
    "INCLUDING",
    "INNER",
    "INT",
    "INTERVAL",
    "INTO",
    "IS",
    "JARS",
    "JOIN",
    "KEY",
    "LEFT",
    "LIKE",
    "LIMIT",
    "MAP",
    "METADATA",
    "MINUTE",
    "MODULES",
    "MONTH",
    "NOT",
    "NULL",
    "ON",
    "OR",
    "ORDER",
    "OVER",
    "PARTITION",
    "PARTITIONED",
    "PLAN",
    "PRECISION",
    "PRIMARY",
    "RANGE",
    "RENAME",
    "RIGHT",
    "ROLLUP",
    "ROW",
    "ROWS",
    "SECOND",
    "SESSION",
    "SETS",
    "SIMILAR",
    "SMALLINT",
    "STATEMENT",
    "STRING",
    "TABLE",
    "TABLES",
    "TEMPORARY",
    "THEN",
    "TIME",
    "TIMESTAMP",
    "TIMESTAMP_LTZ",
    "TINYINT",
    "TO",
    "TRUE",
    "TUMBLE",
    "UNION",
    "UNNEST",
    "VALUES",
    "VARBINARY",
    "VARCHAR",
    "VIEW",
    "VIEWS",
    "VIRTUAL",
    "WATERMARK",
    "WHEN",
    "WHERE",
    "WITHIN",
    "WITHOUT",
    "YEAR",
    "ZONE",
];

/// The words that a table or view follows.
const BEFORE_RELATION: &[&str] = &["DESC", "DESCRIBE", "FROM", "INTO", "JOIN", "LIKE", "TABLE", "VIEW"];

/// What may follow them too.
const AFTER_FROM: &[&str] = &["CUMULATE", "HOP", "IF", "SESSION", "TABLE", "TUMBLE"];

/// True for a word of the language, in any case.
pub fn is_keyword(word: &str) -> bool {
    let word = word.to_ascii_uppercase();
    KEYWORDS.binary_search(&word.as_str()).is_ok() || STARTS.contains(&word.as_str())
}

/// What may replace the text from `start` to the cursor.
#[derive(Debug, PartialEq, Eq)]
pub struct Completions {
    pub start: usize,
    pub candidates: Vec<String>,
}

/// The completions at byte `cursor` of a text.
pub fn complete(text: &str, cursor: usize, relations: &[Relation]) -> Completions {
    let before = &text[..cursor];
    let cut = lexemes(before);
    let open = cut.last().filter(|last| last.kind == LexemeKind::Comment && last.end() == cursor || !last.closed);
    if let Some(last) = open {
        return within(last, &cut);
    }
    let start =
        before.rfind(|c| !is_wordy(c)).map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
    let typed = &before[start..];
    let earlier: Vec<&Lexeme<'_>> = cut.iter().filter(|lexeme| lexeme.end() <= start).collect();
    let mut candidates = match earlier.last() {
        Some(dot) if dot.text == "." && dot.end() == start => columns_of(&earlier, &lexemes(text), relations),
        Some(last) if last.text != ";" => {
            let mut all: Vec<String> = relations.iter().map(|relation| quoted(&relation.name)).collect();
            let words: &[&[&str]] = match BEFORE_RELATION.iter().any(|word| last.is(word)) {
                _ if typed.is_empty() => &[],
                true => &[AFTER_FROM],
                false => {
                    all.extend(columns(&lexemes(text), relations));
                    all.extend(function_names().iter().map(|name| cased(name, typed) + "("));
                    &[KEYWORDS, STARTS]
                }
            };
            all.extend(words.concat().iter().map(|word| cased(word, typed)));
            all
        }
        _ => STARTS.iter().map(|word| cased(word, typed)).collect(),
    };
    candidates.retain(|candidate| starts_with(candidate.trim_start_matches('`'), typed));
    candidates.sort();
    candidates.dedup();
    Completions { start, candidates }
}

/// Within a quote or comment: the keys of SET and RESET, else nothing.
fn within(open: &Lexeme<'_>, cut: &[Lexeme<'_>]) -> Completions {
    let start = open.start + 1;
    let before = cut.len().checked_sub(2).map(|index| &cut[index]);
    let key = open.kind == LexemeKind::Text && before.is_some_and(|word| word.is("SET") || word.is("RESET"));
    let typed = open.text.get(1..).unwrap_or_default();
    let mut candidates: Vec<String> = Vec::new();
    if key {
        candidates.extend(setting_names().filter(|name| starts_with(name, typed)).map(|name| format!("{name}'")));
        candidates.sort();
    }
    Completions { start, candidates }
}

/// The columns of the table, or of the table of that alias, before the dot at the end of `earlier`.
fn columns_of(earlier: &[&Lexeme<'_>], all: &[Lexeme<'_>], relations: &[Relation]) -> Vec<String> {
    let Some(owner) = earlier.len().checked_sub(2).map(|index| bare(earlier[index].text)) else { return Vec::new() };
    let named = |name: &str| relations.iter().find(|relation| relation.name == name);
    // `table alias` or `table AS alias`.
    let aliased = |(index, lexeme): (usize, &Lexeme<'_>)| {
        let table = all[..index].iter().rev().find(|lexeme| !lexeme.is("AS"))?;
        named(bare(table.text)).filter(|_| bare(lexeme.text) == owner)
    };
    let relation = named(owner).or_else(|| all.iter().enumerate().find_map(aliased));
    relation.into_iter().flat_map(|relation| relation.columns.iter().map(|name| quoted(name))).collect()
}

/// The columns of the tables that the text names; of all tables, if it names none yet.
fn columns(all: &[Lexeme<'_>], relations: &[Relation]) -> Vec<String> {
    let is_named = |relation: &&Relation| all.iter().any(|lexeme| bare(lexeme.text) == relation.name);
    let named: Vec<&Relation> = relations.iter().filter(is_named).collect();
    let of = if named.is_empty() { relations.iter().collect() } else { named };
    let windows = ["window_start", "window_end", "window_time"].map(str::to_string);
    of.into_iter().flat_map(|relation| relation.columns.iter().map(|name| quoted(name))).chain(windows).collect()
}

/// In lower case, if what is typed is.
fn cased(word: &str, typed: &str) -> String {
    if typed.chars().any(char::is_lowercase) { word.to_ascii_lowercase() } else { word.to_string() }
}

fn starts_with(candidate: &str, typed: &str) -> bool {
    candidate.get(..typed.len()).is_some_and(|start| start.eq_ignore_ascii_case(typed))
}

fn bare(name: &str) -> &str {
    name.trim_matches('`')
}

/// The name as it can stand in a statement.
fn quoted(name: &str) -> String {
    let plain = name.chars().all(is_wordy) && !name.starts_with(|c: char| c.is_ascii_digit()) && !is_keyword(name);
    if plain { name.to_string() } else { format!("`{}`", name.replace('`', "``")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relations() -> Vec<Relation> {
        let relation = |name: &str, columns: &[&str]| Relation {
            name: name.to_string(),
            columns: columns.iter().map(|name| name.to_string()).collect(),
        };
        vec![relation("bids", &["bidder", "price", "bid time"]), relation("people", &["id", "name"])]
    }

    /// The completions where `|` stands.
    fn at(text: &str) -> Vec<String> {
        let cursor = text.find('|').unwrap();
        complete(&text.replace('|', ""), cursor, &relations()).candidates
    }

    #[test]
    fn the_keywords_are_in_order() {
        assert!(KEYWORDS.is_sorted() && STARTS.is_sorted());
    }

    #[test]
    fn a_statement_starts_with_a_statements_word() {
        assert_eq!(at("cr|"), ["create"]);
        assert_eq!(at("SELECT 1; SH|"), ["SHOW"]);
        assert_eq!(at("HE|"), ["HELP"]);
    }

    #[test]
    fn tables_follow_the_words_before_tables() {
        assert_eq!(at("SELECT * FROM |"), ["bids", "people"]);
        assert_eq!(at("INSERT INTO p|"), ["people"]);
        assert_eq!(at("describe B|"), ["bids"]);
        assert_eq!(at("SELECT * FROM tu|"), ["tumble"]);
    }

    #[test]
    fn columns_are_those_of_the_named_tables() {
        let found = at("SELECT pri|, b FROM bids");
        assert!(found.contains(&"price".to_string()), "{found:?}");
        assert!(!at("SELECT na| FROM bids").contains(&"name".to_string()));
        assert!(at("SELECT na|").contains(&"name".to_string()));
        assert_eq!(at("SELECT bids.| FROM bids"), ["`bid time`", "bidder", "price"]);
        assert_eq!(at("SELECT p.n| FROM people AS p"), ["name"]);
        assert_eq!(at("SELECT p.n| FROM people p"), ["name"]);
        assert_eq!(at("SELECT x.| FROM people p"), Vec::<String>::new());
    }

    #[test]
    fn functions_open_their_bracket() {
        assert!(at("SELECT coun|").contains(&"count(".to_string()));
        assert!(at("SELECT COUN|").contains(&"COUNT(".to_string()));
    }

    #[test]
    fn nothing_is_offered_in_strings_and_comments_but_settings() {
        assert_eq!(at("SELECT 'se|"), Vec::<String>::new());
        assert_eq!(at("-- se|"), Vec::<String>::new());
        assert_eq!(at("SET 'table.local|"), ["table.local-time-zone'"]);
        assert_eq!(at("SET 'ü|"), Vec::<String>::new());
    }

    #[test]
    fn letters_of_several_bytes_do_no_harm() {
        assert_eq!(at("SELECT ü|"), Vec::<String>::new());
        assert_eq!(at("SELECT 漢 |"), ["bids", "people"]);
        assert_eq!(at("SELECT 'ü', pri| FROM bids"), ["price", "primary", "printf("]);
    }
}
