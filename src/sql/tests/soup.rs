//! Whatever the text, the answer is a script or an error.

use proptest::prelude::*;

use super::{TABLES, options};
use crate::error::ErrorKind;
use crate::sql::compile;

const TOKENS: &[&str] = &[
    "SELECT",
    "FROM",
    "WHERE",
    "GROUP BY",
    "HAVING",
    "TABLE",
    "(",
    ")",
    ",",
    ";",
    "TUMBLE",
    "HOP",
    "SESSION",
    "CUMULATE",
    "DESCRIPTOR",
    "(ts)",
    "INTERVAL",
    "'10'",
    "SECOND",
    "'-1:30' MINUTE TO",
    "=>",
    "DATA",
    "SIZE",
    "PARTITION BY",
    "src",
    "k",
    "ts",
    "v",
    "window_start",
    "window_end",
    "COUNT(*)",
    "SUM(",
    "DISTINCT",
    "FILTER (WHERE",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "END",
    "CAST(",
    "AS",
    "INT",
    "DECIMAL(38, 2)",
    "ROW<a INT>",
    "ARRAY<",
    ">>",
    "NULL",
    "NOT",
    "AND",
    "OR",
    "IN",
    "BETWEEN",
    "LIKE",
    "IS",
    "+",
    "-",
    "*",
    "/",
    "||",
    "=",
    "<>",
    "1",
    "1.5",
    "1e9",
    "'text'",
    "`name`",
    ".",
    "UNION ALL",
    "ORDER BY",
    "LIMIT",
    "WITH",
    "CREATE TABLE",
    "CREATE VIEW",
    "x",
    "WATERMARK FOR",
    "PRIMARY KEY",
    "NOT ENFORCED",
    "('connector' = 'print')",
    "INSERT INTO",
    "results",
    "EXPLAIN",
    "EXECUTE STATEMENT SET",
    "BEGIN",
    "SET",
    "RESET",
    "'a' = 'b'",
    "DROP",
    "IF EXISTS",
    "EXTRACT(",
    "TRIM(BOTH",
    "FLOOR(",
    "TO DAY",
    "SUBSTRING(",
    "FOR",
    "POSITION(",
    "${X}",
    "--",
    "/*",
    "*/",
    "\n",
    "'",
    "`",
    "[",
    "]",
    "TIMESTAMP '2024-01-01 00:00:00'",
    "DATE",
    "MAP[",
    "JSON_VALUE(",
];

fn check(text: &str) -> Result<(), TestCaseError> {
    if let Err(error) = compile(text, &options()) {
        prop_assert_ne!(error.kind(), ErrorKind::Internal, "{}", error);
        prop_assert!(!error.message().is_empty());
        let place = error.place().cloned().unwrap_or_default();
        prop_assert!(place.line > 0, "no place: {}", error);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn token_soup_never_breaks_the_compiler(words in prop::collection::vec(prop::sample::select(TOKENS), 0..40)) {
        check(&format!("{TABLES}{}", words.join(" ")))?;
    }

    #[test]
    fn a_query_with_a_piece_missing_or_doubled_never_breaks_the_compiler(at in 0_usize..40, len in 0_usize..6, twice: bool) {
        let query = "SELECT k , window_start , SUM ( v + 1 ) FILTER ( WHERE v > 1 ) AS s FROM TABLE ( HOP ( TABLE src , \
                     DESCRIPTOR ( ts ) , INTERVAL '5' SECOND , INTERVAL '10' SECOND ) ) WHERE k LIKE 'a%' GROUP BY k , \
                     window_start , window_end HAVING COUNT ( * ) > 1";
        let mut words: Vec<&str> = query.split_whitespace().collect();
        let start = at.min(words.len());
        let end = (start + len).min(words.len());
        let piece: Vec<&str> = if twice { [&words[start..end], &words[start..end]].concat() } else { Vec::new() };
        words.splice(start..end, piece);
        check(&format!("{TABLES}{}", words.join(" ")))?;
    }

    #[test]
    fn random_text_never_breaks_the_compiler(text in "\\PC{0,200}") {
        check(&text)?;
    }

    #[test]
    fn random_bytes_never_break_the_compiler(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        check(&String::from_utf8_lossy(&bytes))?;
    }
}
