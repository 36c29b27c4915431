//! Columns whose values stand in the names of folders: `day=2024-01-31`.

use super::evidence::Evidence;
use super::{Column, Guess};
use crate::types::Type;

/// The folders of NULL: Flink's, and Hive's.
const NULLS: [&str; 2] = ["__DEFAULT_PARTITION__", "__HIVE_DEFAULT_PARTITION__"];

/// Columns that the folders between `root` and the files are named after, one `key=value` below the other. DATE,
/// INT or BIGINT where every value is one, else STRING.
pub fn partitions(root: &str, files: &[String], guess: &mut Guess) {
    let folders: Vec<Vec<(&str, &str)>> = files.iter().map(|file| pairs(root, file)).collect();
    let keys: Vec<&str> = folders.first().into_iter().flatten().map(|(key, _)| *key).collect();
    let alike = |pairs: &Vec<(&str, &str)>| pairs.iter().map(|(key, _)| *key).eq(keys.iter().copied());
    if keys.is_empty() || !folders.iter().all(alike) {
        return;
    }
    if let Some(name) = keys.iter().find(|key| guess.columns.iter().any(|column| column.name == **key)) {
        guess.notes.push(format!(
            "the folders are named after values of {}, but {name} is in the files as well: no column is taken from the \
             names of folders",
            keys.join(", ")
        ));
        return;
    }
    for (index, key) in keys.iter().enumerate() {
        let mut evidence = Evidence::default();
        let values = || folders.iter().filter_map(|pairs| pairs.get(index)).map(|(_, value)| *value);
        values().filter(|value| !NULLS.contains(value)).for_each(|value| evidence.present(value));
        guess.columns.push(Column {
            name: (*key).to_string(),
            kind: match evidence.decide(key, None).0 {
                Type::BigInt if values().all(|value| NULLS.contains(&value) || value.parse::<i32>().is_ok()) => {
                    Type::Int
                }
                kind @ (Type::BigInt | Type::Date) => kind,
                _ => Type::string(),
            },
            expression: None,
            absent: (!values().any(|value| NULLS.contains(&value))).then_some(0),
            examples: evidence.examples,
            reason: Some("from the names of the folders".to_string()),
        });
        guess.partitions.push((*key).to_string());
    }
    if folders.iter().flatten().any(|(_, value)| *value == NULLS[1]) {
        guess.options.push(("partition.default-name".to_string(), NULLS[1].to_string()));
    }
}

/// The pairs in the names of the folders below `root`; none if any name is no pair.
fn pairs<'a>(root: &str, file: &'a str) -> Vec<(&'a str, &'a str)> {
    let Some(rest) = file.strip_prefix(root.trim_end_matches('/')) else { return Vec::new() };
    let Some((folders, _)) = rest.trim_start_matches('/').rsplit_once('/') else { return Vec::new() };
    folders.split('/').map(|name| name.split_once('=')).collect::<Option<Vec<_>>>().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_of_pairs_count() {
        assert_eq!(pairs("in/", "in/a=1/b=x=y/f.csv"), [("a", "1"), ("b", "x=y")]);
        assert_eq!(pairs("in", "in/f.csv"), []);
        assert_eq!(pairs("in", "in/a=1/other/f.csv"), []);
    }
}
