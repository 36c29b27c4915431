//! Tables and views of the catalog as the statements that make them again.

use super::catalog::{Table, View};
use super::ddl::{ColumnDef, ColumnKind};
use super::inquiry::{CATALOG, DATABASE};
use super::text::quoted;

fn name(text: &str) -> String {
    quoted(text, '`')
}

fn text(text: &str) -> String {
    quoted(text, '\'')
}

fn heading(kind: &str, temporary: bool, own: &str) -> String {
    let temporary = if temporary { "TEMPORARY " } else { "" };
    format!("CREATE {temporary}{kind} {}.{}.{}", name(CATALOG), name(DATABASE), name(own))
}

fn comment(comment: Option<&String>) -> String {
    comment.map(|comment| format!("COMMENT {}", text(comment))).unwrap_or_default()
}

/// What a column that is not simply stored has behind its name; `None` for one that is.
pub(super) fn extras(column: &ColumnDef) -> Option<String> {
    match &column.kind {
        ColumnKind::Physical(_) => None,
        ColumnKind::Computed(_) => Some(format!("AS {}", column.spelling)),
        ColumnKind::Metadata(metadata) => {
            let key = metadata.key.as_ref().map(|key| format!(" FROM {}", text(key))).unwrap_or_default();
            Some(format!("METADATA{key}{}", if metadata.is_virtual { " VIRTUAL" } else { "" }))
        }
    }
}

/// `CREATE TABLE`, in Flink's layout; expressions are as they were written.
pub(super) fn table(table: &Table) -> String {
    let definition = &table.definition;
    let mut elements = Vec::new();
    for (column, defined) in table.columns.iter().zip(&definition.columns) {
        let mut element = format!("{} ", name(&column.name));
        match &defined.kind {
            ColumnKind::Physical(_) => element.push_str(&column.data_type.to_string()),
            ColumnKind::Computed(_) => element.push_str(&extras(defined).unwrap_or_default()),
            ColumnKind::Metadata(_) => {
                element.push_str(&format!("{} {}", column.data_type, extras(defined).unwrap_or_default()));
            }
        }
        if defined.comment.is_some() {
            element.push_str(&format!(" {}", comment(defined.comment.as_ref())));
        }
        elements.push(element);
    }
    if let Some(watermark) = &definition.watermark {
        let column: Vec<String> = watermark.column.iter().map(|part| name(&part.value)).collect();
        elements.push(format!("WATERMARK FOR {} AS {}", column.join("."), watermark.spelling));
    }
    if !definition.primary_key.is_empty() {
        let key: Vec<&str> = definition.primary_key.iter().map(|part| part.value.as_str()).collect();
        let constraint = definition.key_name.clone().unwrap_or_else(|| format!("PK_{}", key.join("_")));
        let key: Vec<String> = key.into_iter().map(name).collect();
        elements.push(format!("CONSTRAINT {} PRIMARY KEY ({}) NOT ENFORCED", name(&constraint), key.join(", ")));
    }
    let mut statement =
        format!("{} (\n  {}\n)", heading("TABLE", definition.temporary, &table.name), elements.join(",\n  "));
    if definition.comment.is_some() {
        statement.push_str(&format!("\n{}", comment(definition.comment.as_ref())));
    }
    if !definition.partition_keys.is_empty() {
        let keys: Vec<String> = definition.partition_keys.iter().map(|key| name(&key.value)).collect();
        statement.push_str(&format!("\nPARTITIONED BY ({})", keys.join(", ")));
    }
    let mut options: Vec<(&str, &str)> =
        definition.options.iter().map(|option| (option.key.as_str(), option.value.as_str())).collect();
    options.sort_unstable();
    if !options.is_empty() {
        let options: Vec<String> =
            options.into_iter().map(|(key, value)| format!("{} = {}", text(key), text(value))).collect();
        statement.push_str(&format!("\nWITH (\n  {}\n)", options.join(",\n  ")));
    }
    statement
}

/// `CREATE VIEW`, in Flink's layout; the query is as it was written. `columns`: the names of its columns.
pub(super) fn view(own: &str, view: &View, columns: &[String]) -> String {
    let columns: Vec<String> = columns.iter().map(|column| name(column)).collect();
    let mut statement = format!("{} (\n  {}\n)", heading("VIEW", view.temporary, own), columns.join(",\n  "));
    if view.comment.is_some() {
        statement.push_str(&format!("\n{}", comment(view.comment.as_ref())));
    }
    statement.push_str(&format!("\nAS {}", view.spelling));
    statement
}
