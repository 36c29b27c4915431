//! The words that mean the shell itself.

use transom::sql::{LexemeKind, lexemes, pieces};

/// A statement that the shell carries out itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    Help,
    Clear,
    Quit,
}

impl Command {
    /// `None` for anything else.
    pub fn of(statement: &str) -> Option<Command> {
        let cut = lexemes(statement);
        let mut words = cut.iter().filter(|lexeme| lexeme.kind != LexemeKind::Comment);
        let word = words.next()?;
        let command = match word.text.to_ascii_uppercase().as_str() {
            "HELP" => Command::Help,
            "CLEAR" => Command::Clear,
            "QUIT" | "EXIT" => Command::Quit,
            _ => return None,
        };
        (words.next().is_none() && word.kind == LexemeKind::Word).then_some(command)
    }
}

/// True if Enter ends the input: every statement has its semicolon, or it is a command of the shell.
pub fn is_complete(input: &str) -> bool {
    let pieces = pieces(input);
    match pieces.rest {
        Some(rest) => pieces.whole.is_empty() && Command::of(&input[rest.range]).is_some(),
        None => !pieces.open,
    }
}

/// What HELP says.
pub const HELP: &str = "\
Statements end with ';' and may take several lines. They are those of scripts:

  CREATE TABLE, CREATE VIEW, DROP, ALTER   tables and views of this session
  SHOW TABLES, DESCRIBE t, SHOW CREATE TABLE t
  SELECT ...                               prints its rows
  INSERT INTO t SELECT ...                 runs to its end, then the rows are in t
  EXPLAIN SELECT ...                       how it would run
  SET 'key' = 'value', SET, RESET          settings of this session

Of the shell itself:

  HELP      this text
  CLEAR     empties the screen
  QUIT      leaves, as do EXIT and Ctrl-D

Tab completes names. The up arrow brings back what was typed before, Ctrl-R
searches it. Ctrl-C clears what is typed, and ends a statement that runs.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_a_word_alone() {
        assert_eq!(Command::of(" quit "), Some(Command::Quit));
        assert_eq!(Command::of("/* x */ Exit -- y"), Some(Command::Quit));
        assert_eq!(Command::of("HELP me"), None);
        assert_eq!(Command::of("'help'"), None);
        assert_eq!(Command::of(""), None);
    }

    #[test]
    fn an_input_is_complete_with_its_semicolon() {
        for complete in ["", "  ", "-- a", "SELECT 1;", "SELECT 1; -- a", "SELECT 1;\nSELECT 2;\n", "quit", "HELP -- a"]
        {
            assert!(is_complete(complete), "{complete}");
        }
        for open in ["SELECT 1", "SELECT 1; SELECT", "SELECT ';", "/* ;", "SELECT 1; quit", "SELECT 1; /*"] {
            assert!(!is_complete(open), "{open}");
        }
    }
}
