//! The findings of a script in the text of `explain`.

use super::words::paragraph;
use crate::sql::Lint;

/// A section with each finding: its place and rule, what it means, and what to write instead. Nothing where there is
/// none.
pub fn findings(lints: &[Lint]) -> String {
    if lints.is_empty() {
        return String::new();
    }
    let width = lints.iter().map(|lint| lint.location().chars().count()).max().unwrap_or(0);
    let mut text = "Lint:\n".to_string();
    for lint in lints {
        text.push_str(&format!("  {:<width$}  {}\n", lint.location(), lint.rule.name()));
        paragraph(&mut text, "    ", &lint.message);
        paragraph(&mut text, "    instead: ", &lint.remedy);
    }
    text
}
