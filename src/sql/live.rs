//! A session that takes its statements one by one, as a shell gets them, and knows which names there are.

use std::borrow::Cow;

use super::catalog::Entry;
use super::session::Session;
use super::split::Piece;
use super::text;
use super::{Action, Lint, Rule, ScriptOptions, Statement, deep_stack, statement};
use crate::error::{Error, Result};
use crate::expr::resolve;

/// Tables, views and settings that live from statement to statement. Bound to its thread.
pub struct LiveSession {
    session: Session<'static>,
    options: ScriptOptions,
}

/// What a statement came to before anything runs.
#[derive(Debug)]
pub struct Prepared {
    /// What is to be run; `None` if the statement has taken effect.
    pub statement: Option<Statement>,
    /// What its author may not expect, one sentence each.
    pub warnings: Vec<String>,
}

/// A table or view with the names of its columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relation {
    pub name: String,
    pub columns: Vec<String>,
}

impl LiveSession {
    /// Gives `work` a new session, on a thread with stack enough to bind statements. The `overrides` are what the
    /// settings start from; SET may change them, RESET brings them back.
    ///
    /// # Errors
    /// Kind Usage for settings that cannot be; whatever `work` fails with.
    pub fn with<R: Send>(
        options: &ScriptOptions,
        work: impl FnOnce(&mut LiveSession) -> Result<R> + Send,
    ) -> Result<R> {
        deep_stack(|| {
            let mut session = Session::new("", &options.overrides)?;
            session.settings.overrides_yield = true;
            work(&mut LiveSession { session, options: options.clone() })
        })
    }

    /// Names the file of the statements that follow, for the places of findings.
    pub fn in_file(&mut self, file: &str) {
        self.session.file = file.to_string();
    }

    /// Parses and checks a statement, and carries it out as far as it runs no job. `number`: which statement it is,
    /// from 1. Places of errors are those in `text`.
    ///
    /// # Errors
    /// Kind Script or Unsupported, with line and column; the session stays as it was.
    pub fn prepare(&mut self, text: &str, piece: &Piece, number: usize) -> Result<Prepared> {
        // White space before it gives its tokens the places that they have in the whole text.
        let lines = "\n".repeat(piece.line.saturating_sub(1) as usize);
        let columns = " ".repeat(piece.column.saturating_sub(1) as usize);
        let placed = format!("{lines}{columns}{}", &text[piece.range.clone()]);
        let action = self.carry_out(&placed).map_err(|error| error.at(piece.line, piece.column));
        let mut warnings = std::mem::take(&mut self.session.warnings);
        let lints = std::mem::take(&mut self.session.lints).into_iter();
        let lints: Vec<Lint> = lints.map(|lint| lint.in_file(&self.session.file)).collect();
        let action = action?;
        let is_told = |lint: &&Lint| match action {
            None => lint.rule.warns(),
            // Its text has its own.
            Some(Action::Explain(_)) => false,
            // A setting is spoken of where it is set.
            Some(_) => lint.rule.warns() && lint.rule != Rule::UnknownSetting,
        };
        warnings.extend(lints.iter().filter(is_told).map(Lint::to_string));
        Ok(Prepared { statement: action.map(|action| Statement { number, line: piece.line, action, lints }), warnings })
    }

    fn carry_out(&mut self, text: &str) -> Result<Option<Action>> {
        let statements = text::tokenize(text, &self.options.variables)?;
        self.session.text = Cow::Owned(text.to_string());
        match statements.as_slice() {
            [tokens] => {
                let parsed = statement::parse(&tokens.tokens)?;
                self.session.execute(&parsed, &tokens.tokens)
            }
            [] => Ok(None),
            // A variable brings a semicolon with it.
            [_, second, ..] => Err(Error::script("a second statement begins here, inside of the first")
                .at(second.line, 1)
                .help("give a variable a value without ';'")),
        }
    }

    /// The value of a setting, if it is set.
    pub fn setting(&self, key: &str) -> Option<&str> {
        self.session.settings.value(key)
    }

    /// The tables and views by name.
    pub fn relations(&mut self) -> Vec<Relation> {
        let warnings = std::mem::take(&mut self.session.warnings);
        let entries: Vec<(String, Entry)> =
            self.session.catalog.entries.iter().map(|(name, entry)| (name.clone(), entry.clone())).collect();
        let relation = |(name, entry): (String, Entry)| {
            let columns = self.session.column_names(&entry);
            Relation { name, columns }
        };
        let relations = entries.into_iter().map(relation).collect();
        self.session.warnings = warnings;
        relations
    }
}

/// The names of all functions, upper case, in their order.
pub fn function_names() -> Vec<&'static str> {
    let mut names: Vec<&str> = crate::aggregate::names().chain(resolve::names().iter().copied()).collect();
    names.sort_unstable();
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::pieces;

    fn with(overrides: &[(&str, &str)], work: impl FnOnce(&mut LiveSession) + Send) {
        let overrides = overrides.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        let options = ScriptOptions { overrides, ..ScriptOptions::default() };
        let done = LiveSession::with(&options, |session| {
            work(session);
            Ok(())
        });
        done.unwrap();
    }

    fn prepare(session: &mut LiveSession, text: &str) -> Result<Prepared> {
        let pieces = pieces(text);
        let last = pieces.rest.or_else(|| pieces.whole.last().cloned()).unwrap();
        session.prepare(text, &last, 1)
    }

    const TABLE: &str = "CREATE TABLE t (a INT, `b c` STRING) WITH ('connector' = 'datagen', 'number-of-rows' = '1');";

    #[test]
    fn tables_and_settings_live_from_statement_to_statement() {
        with(&[], |session| {
            assert!(prepare(session, TABLE).unwrap().statement.is_none());
            prepare(session, "SET 'table.local-time-zone' = 'Asia/Tokyo'").unwrap();
            prepare(session, "CREATE VIEW v AS SELECT a + 1 AS d FROM t;").unwrap();
            assert!(prepare(session, "SELECT * FROM v").unwrap().statement.is_some());
            assert_eq!(session.setting("table.local-time-zone"), Some("Asia/Tokyo"));
            let relation = |name: &str, columns: &[&str]| Relation {
                name: name.to_string(),
                columns: columns.iter().map(|name| name.to_string()).collect(),
            };
            assert_eq!(session.relations(), [relation("t", &["a", "b c"]), relation("v", &["d"])]);
        });
    }

    #[test]
    fn a_fault_has_its_place_in_the_whole_text_and_leaves_the_session() {
        with(&[], |session| {
            prepare(session, TABLE).unwrap();
            let error = prepare(session, "SET 'a' = 'b';\n\n  SELECT a; SELECT a,\n x FROM t;").unwrap_err();
            assert_eq!(error.place().map(|place| (place.line, place.column)), Some((4, 2)));
            let error = prepare(session, "-- a\n  SELECT 'b").unwrap_err();
            assert_eq!(error.place().map(|place| (place.line, place.column)), Some((2, 10)));
            prepare(session, "SET 'pipeline.max-parallelism' = '0'").unwrap_err();
            assert_eq!(session.setting("pipeline.max-parallelism"), None);
            prepare(session, "RESET").unwrap();
            prepare(session, "SELECT a FROM t").unwrap();
        });
    }

    #[test]
    fn set_changes_what_the_session_began_with_and_reset_brings_it_back() {
        let key = "table.local-time-zone";
        with(&[(key, "Asia/Tokyo")], |session| {
            prepare(session, "SET 'table.local-time-zone' = 'Europe/Paris'").unwrap();
            assert_eq!(session.setting(key), Some("Europe/Paris"));
            prepare(session, "RESET 'table.local-time-zone'").unwrap();
            assert_eq!(session.setting(key), Some("Asia/Tokyo"));
        });
    }

    #[test]
    fn the_old_name_of_the_result_mode_is_taken_with_a_word() {
        with(&[("no.such.key", "1")], |session| {
            let warnings = prepare(session, "SET execution.result-mode = changelog").unwrap().warnings;
            assert!(warnings.len() == 2 && warnings[0].contains("no.such.key"), "{warnings:?}");
            assert_eq!(session.setting(crate::sql::RESULT_MODE), Some("changelog"));
            assert!(prepare(session, TABLE).unwrap().warnings.is_empty());
        });
    }
}
