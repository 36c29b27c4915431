//! What the values of JSON objects have in common, at any depth.

use serde_json::Value;

use super::evidence::Evidence;
use crate::format::TimestampStyle;
use crate::types::{DataType, Field, Type};

/// Objects with more different names than this, of which each has few, are maps.
const NAMES_MAX: usize = 40;
/// More names than this are not remembered.
const NAMES_KEPT: usize = 1_000;
/// Deeper values are read as text.
const DEPTH_MAX: usize = 12;

/// What one field held.
#[derive(Debug, Clone, Default)]
pub(crate) struct Node {
    /// Times it was there, NULL or not.
    pub seen: u64,
    pub nulls: u64,
    pub strings: Evidence,
    pub numbers: Evidence,
    booleans: u64,
    arrays: u64,
    objects: u64,
    element: Option<Box<Node>>,
    /// In the order of their first appearance.
    pub fields: Vec<(String, Node)>,
}

impl Node {
    pub fn observe(&mut self, value: &Value) {
        self.observe_at(value, 0);
    }

    fn observe_at(&mut self, value: &Value, depth: usize) {
        self.seen += 1;
        match value {
            Value::Null => self.nulls += 1,
            Value::Bool(_) => self.booleans += 1,
            Value::Number(number) => self.numbers.present(&number.to_string()),
            Value::String(text) => self.strings.present(text),
            Value::Array(values) => {
                self.arrays += 1;
                if depth < DEPTH_MAX {
                    let element = self.element.get_or_insert_with(Box::default);
                    values.iter().for_each(|value| element.observe_at(value, depth + 1));
                }
            }
            Value::Object(values) => {
                self.objects += 1;
                if depth < DEPTH_MAX {
                    self.observe_fields(values, depth);
                }
            }
        }
    }

    fn observe_fields(&mut self, values: &serde_json::Map<String, Value>, depth: usize) {
        for (place, (name, value)) in values.iter().enumerate() {
            // Objects of one file mostly have their fields in one order.
            let at = match self.fields.get(place) {
                Some((known, _)) if known == name => Some(place),
                _ => self.fields.iter().position(|(known, _)| known == name),
            };
            let at = match at {
                Some(at) => at,
                None if self.fields.len() < NAMES_KEPT => {
                    self.fields.push((name.clone(), Node::default()));
                    self.fields.len() - 1
                }
                None => continue,
            };
            self.fields[at].1.observe_at(value, depth + 1);
        }
    }

    /// The type for these values, and why where that is no matter of course.
    pub fn decide(&self, name: &str, style: TimestampStyle) -> (Type, Option<String>) {
        let kinds = [self.strings.values, self.numbers.values, self.booleans, self.arrays, self.objects];
        let several = kinds.iter().filter(|count| **count > 0).count();
        if several > 1 {
            return (Type::string(), Some("values of several types".to_string()));
        }
        if several == 0 {
            return (Type::string(), Some("no value was seen".to_string()));
        }
        if self.booleans > 0 {
            return (Type::Boolean, None);
        }
        if self.numbers.values > 0 {
            return self.numbers.decide(name, Some(style));
        }
        if self.strings.values > 0 {
            return self.decide_strings(name, style);
        }
        if self.arrays > 0 {
            let element = self.element.as_deref().map(|element| element.decide(name, style).0);
            return (Type::Array(Box::new(element.unwrap_or(Type::string()).nullable())), None);
        }
        if self.fields.is_empty() || self.is_map() {
            return (self.map(name, style), Some("the names differ from object to object".to_string()));
        }
        let field = |(name, node): &(String, Node)| Field::new(name.clone(), node.decide(name, style).0.nullable());
        (Type::Row(self.fields.iter().map(field).collect()), None)
    }

    /// Who wrote a number as a string meant a code, or a decimal that must not lose digits.
    fn decide_strings(&self, name: &str, style: TimestampStyle) -> (Type, Option<String>) {
        match self.strings.decide(name, Some(style)) {
            (kind @ (Type::Double | Type::Decimal(..)), reason) if self.strings.has_decimals() => {
                (kind, reason.or_else(|| Some("numbers written as strings".to_string())))
            }
            (kind @ (Type::Date | Type::Timestamp(_) | Type::TimestampLtz(_)), reason) => (kind, reason),
            (Type::VarChar(_), reason) => (Type::string(), reason),
            _ => (Type::string(), None),
        }
    }

    fn is_map(&self) -> bool {
        let filled: u64 = self.fields.iter().map(|(_, node)| node.seen).sum();
        let sparse = filled * 4 < self.objects * self.fields.len() as u64;
        let numbered =
            self.fields.len() > 2 && self.fields.iter().all(|(name, _)| name.bytes().all(|b| b.is_ascii_digit()));
        numbered || (self.fields.len() > NAMES_MAX && sparse)
    }

    fn map(&self, name: &str, style: TimestampStyle) -> Type {
        let mut kinds: Vec<Type> = self.fields.iter().map(|(_, node)| node.decide(name, style).0).collect();
        kinds.dedup();
        let value: DataType = match kinds.as_slice() {
            [one] => one.clone().nullable(),
            kinds if !kinds.is_empty() && kinds.iter().all(|kind| matches!(kind, Type::BigInt | Type::Double)) => {
                Type::Double.nullable()
            }
            _ => Type::string().nullable(),
        };
        Type::Map(Box::new(Type::string().nullable()), Box::new(value))
    }

    /// The first values, for the report.
    pub fn examples(&self) -> Vec<String> {
        [&self.numbers, &self.strings].iter().flat_map(|evidence| evidence.examples.iter().cloned()).collect()
    }

    /// The texts of this field, if all its values are strings, or all are numbers.
    pub fn evidence(&self) -> Option<&Evidence> {
        match (self.strings.values, self.numbers.values) {
            (0, 0) => None,
            (_, 0) => Some(&self.strings),
            (0, _) => Some(&self.numbers),
            _ => None,
        }
    }
}

/// The text of a scalar at the end of a path.
pub(crate) fn text_at<'a>(value: &'a Value, path: &[String]) -> Option<std::borrow::Cow<'a, str>> {
    match (path, value) {
        ([name, rest @ ..], Value::Object(fields)) => text_at(fields.get(name)?, rest),
        ([], Value::String(text)) => Some(text.as_str().into()),
        ([], Value::Number(number)) => Some(number.to_string().into()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(lines: &[&str]) -> String {
        let mut node = Node::default();
        for line in lines {
            node.observe(&serde_json::from_str(line).expect("JSON"));
        }
        node.decide("", TimestampStyle::Iso).0.to_string()
    }

    #[test]
    fn objects_become_rows_and_keep_the_order_of_their_fields() {
        let lines = ["{\"b\":1,\"a\":{\"x\":[true],\"y\":null}}", "{\"c\":\"t\",\"b\":2.5}"];
        assert_eq!(decided(&lines), "ROW<`b` DOUBLE, `a` ROW<`x` ARRAY<BOOLEAN>, `y` STRING>, `c` STRING>");
    }

    #[test]
    fn strings_stay_strings_unless_they_are_times_or_decimals() {
        let line = "{\"id\":\"17\",\"price\":\"1.50\",\"t\":\"2024-01-31T10:00:00Z\",\"s\":\"2024-01-31 10:00:00\"}";
        assert_eq!(decided(&[line]), "ROW<`id` STRING, `price` DECIMAL(18, 2), `t` TIMESTAMP_LTZ(3), `s` STRING>");
    }

    #[test]
    fn objects_whose_names_are_data_become_maps() {
        assert_eq!(decided(&["{\"1\":5,\"2\":6,\"3\":7}"]), "MAP<STRING, BIGINT>");
        assert_eq!(decided(&["{}"]), "MAP<STRING, STRING>");
        let lines: Vec<String> = (0..200).map(|n| format!("{{\"k{n}\":1.5}}")).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        assert_eq!(decided(&lines), "MAP<STRING, DOUBLE>");
    }

    #[test]
    fn mixed_values_become_text() {
        assert_eq!(decided(&["{\"a\":1}", "{\"a\":\"x\"}", "{\"a\":{}}"]), "ROW<`a` STRING>");
    }
}
