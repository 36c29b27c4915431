//! Avro schemas: those of files, read from their JSON, and Flink's schema of a table, written as JSON.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use crate::types::{DataType, MAX_LENGTH, Schema, Type};

/// The schema of a file. Types refer to each other by index, for a record may contain itself.
#[derive(Debug)]
pub(super) struct FileSchema {
    nodes: Vec<Node>,
    root: usize,
}

/// One type of a file's schema.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    Null,
    Boolean,
    Int(Option<Logical>),
    Long(Option<Logical>),
    Float,
    Double,
    /// With the scale and precision of a decimal.
    Bytes(Option<Decimal>),
    Text,
    Fixed(usize, Option<Decimal>),
    Enum(Vec<String>),
    Array(usize),
    Map(usize),
    Union(Vec<usize>),
    Record(Vec<(String, usize)>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Decimal {
    pub precision: u8,
    pub scale: u8,
}

/// What an integer stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Logical {
    Date,
    /// Ticks of the day; how many there are in a second.
    Time(i64),
    /// Ticks since 1970; how many there are in a second, and whether they name an instant.
    Timestamp(i64, bool),
}

/// Units of time by the end of their names.
const UNITS: [(&str, i64); 3] = [("millis", 1_000), ("micros", 1_000_000), ("nanos", 1_000_000_000)];

/// Objects and lists of a schema in each other; our reader of JSON takes no more.
const LEVELS_MAX: usize = 127;

/// How deep the objects and lists of a JSON text lie in each other.
fn levels(json: &str) -> usize {
    let (mut depth, mut most, mut quoted, mut escaped) = (0usize, 0, false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' | b'[' if !quoted => {
                depth += 1;
                most = most.max(depth);
            }
            b'}' | b']' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    most
}

/// What is the matter with a schema that nests too deep.
pub(super) fn too_deep(json: &str) -> Option<String> {
    (levels(json) > LEVELS_MAX).then(|| {
        format!(
            "its types lie too deep in each other (the schema may have {LEVELS_MAX} levels of JSON; a ROW takes up to \
             four, an ARRAY or MAP two)"
        )
    })
}

impl FileSchema {
    /// Reads the JSON of a file's header; the error says what is wrong with it.
    pub fn parse(json: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(json).map_err(|error| format!("it is no JSON: {error}"))?;
        let mut parser = Parser { nodes: Vec::new(), names: HashMap::new() };
        let root = parser.parse(&value, "")?;
        Ok(FileSchema { nodes: parser.nodes, root })
    }

    pub fn node(&self, id: usize) -> &Node {
        &self.nodes[id]
    }

    pub fn root(&self) -> &Node {
        self.node(self.root)
    }

    /// The type as messages name it.
    pub fn name(&self, id: usize) -> String {
        let logical = |name: &str, logical: &Option<Logical>| match logical {
            Some(logical) => format!("{name} ({})", logical.name()),
            None => name.to_string(),
        };
        let decimal = |name: String, decimal: &Option<Decimal>| match decimal {
            Some(Decimal { precision, scale }) => format!("{name} (decimal({precision}, {scale}))"),
            None => name,
        };
        match self.node(id) {
            Node::Null => "null".to_string(),
            Node::Boolean => "boolean".to_string(),
            Node::Int(kind) => logical("int", kind),
            Node::Long(kind) => logical("long", kind),
            Node::Float => "float".to_string(),
            Node::Double => "double".to_string(),
            Node::Bytes(kind) => decimal("bytes".to_string(), kind),
            Node::Text => "string".to_string(),
            Node::Fixed(length, kind) => decimal(format!("fixed({length})"), kind),
            Node::Enum(_) => "enum".to_string(),
            Node::Array(_) => "array".to_string(),
            Node::Map(_) => "map".to_string(),
            Node::Union(branches) => {
                let names: Vec<_> = branches.iter().map(|branch| self.name(*branch)).collect();
                format!("union of {}", names.join(", "))
            }
            Node::Record(_) => "record".to_string(),
        }
    }

    /// The type that a table may declare for a column of the file.
    pub fn flink_type(&self, id: usize) -> Option<Type> {
        Some(match self.node(id) {
            Node::Boolean => Type::Boolean,
            Node::Int(None) => Type::Int,
            Node::Int(Some(Logical::Date)) => Type::Date,
            Node::Int(Some(Logical::Time(_))) | Node::Long(Some(Logical::Time(_))) => Type::Time(3),
            Node::Long(Some(Logical::Timestamp(per_second, _))) => Type::Timestamp(match *per_second {
                1_000 => 3,
                1_000_000 => 6,
                _ => 9,
            }),
            Node::Long(_) => Type::BigInt,
            Node::Float => Type::Float,
            Node::Double => Type::Double,
            Node::Bytes(Some(decimal)) | Node::Fixed(_, Some(decimal)) => {
                Type::Decimal(decimal.precision, decimal.scale)
            }
            Node::Bytes(None) | Node::Fixed(_, None) => Type::VarBinary(MAX_LENGTH),
            Node::Text | Node::Enum(_) => Type::string(),
            Node::Union(branches) => {
                let mut values = branches.iter().filter(|id| *self.node(**id) != Node::Null);
                return match (values.next(), values.next()) {
                    (Some(only), None) if branches.len() > 1 => self.flink_type(*only),
                    _ => None,
                };
            }
            _ => return None,
        })
    }
}

impl Logical {
    fn name(self) -> String {
        let unit = |per_second| UNITS.iter().find(|(_, each)| *each == per_second).map_or("seconds", |(name, _)| *name);
        match self {
            Logical::Date => "date".to_string(),
            Logical::Time(per_second) => format!("time-{}", unit(per_second)),
            Logical::Timestamp(per_second, true) => format!("timestamp-{}", unit(per_second)),
            Logical::Timestamp(per_second, false) => format!("local-timestamp-{}", unit(per_second)),
        }
    }

    fn parse(name: &str) -> Option<Self> {
        let unit = |end: &str| UNITS.iter().find(|(name, _)| *name == end).map(|(_, per_second)| *per_second);
        if let Some(end) = name.strip_prefix("local-timestamp-") {
            return Some(Logical::Timestamp(unit(end)?, false));
        }
        if let Some(end) = name.strip_prefix("timestamp-") {
            return Some(Logical::Timestamp(unit(end)?, true));
        }
        match name.strip_prefix("time-") {
            Some(end) => Some(Logical::Time(unit(end)?)),
            None => (name == "date").then_some(Logical::Date),
        }
    }
}

struct Parser {
    nodes: Vec<Node>,
    names: HashMap<String, usize>,
}

impl Parser {
    fn add(&mut self, node: Node) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn parse(&mut self, value: &Value, namespace: &str) -> Result<usize, String> {
        match value {
            Value::String(name) => self.named(name, namespace),
            Value::Array(branches) => {
                let branches = branches.iter().map(|branch| self.parse(branch, namespace));
                let branches = branches.collect::<Result<_, _>>()?;
                Ok(self.add(Node::Union(branches)))
            }
            Value::Object(object) => self.object(object, namespace),
            other => Err(format!("{other} is no type")),
        }
    }

    fn named(&mut self, name: &str, namespace: &str) -> Result<usize, String> {
        if let Some(node) = primitive(name, &Map::new()) {
            return Ok(self.add(node));
        }
        let known = self.names.get(&full_name(name, namespace)).or_else(|| self.names.get(name));
        known.copied().ok_or_else(|| format!("the type '{name}' is not known"))
    }

    fn object(&mut self, object: &Map<String, Value>, namespace: &str) -> Result<usize, String> {
        let Some(kind) = object.get("type") else { return Err("a type has no 'type'".to_string()) };
        let Value::String(kind) = kind else { return self.parse(kind, namespace) };
        if let Some(node) = primitive(kind, object) {
            return Ok(self.add(node));
        }
        let part = |key: &str| object.get(key).ok_or_else(|| format!("the {kind} has no '{key}'"));
        match kind.as_str() {
            "array" => {
                let items = self.parse(part("items")?, namespace)?;
                Ok(self.add(Node::Array(items)))
            }
            "map" => {
                let values = self.parse(part("values")?, namespace)?;
                Ok(self.add(Node::Map(values)))
            }
            "enum" => {
                let symbols = part("symbols")?.as_array().into_iter().flatten();
                let symbols = symbols.map(|symbol| symbol.as_str().unwrap_or_default().to_string()).collect();
                self.define(object, namespace, Node::Enum(symbols)).map(|(id, _)| id)
            }
            "fixed" => {
                let size = part("size")?.as_u64().and_then(|size| usize::try_from(size).ok());
                let size = size.ok_or("the size of a fixed is no number")?;
                self.define(object, namespace, Node::Fixed(size, decimal(object))).map(|(id, _)| id)
            }
            "record" | "error" => {
                // Known before its fields, which may refer to it.
                let (id, inner) = self.define(object, namespace, Node::Record(Vec::new()))?;
                let mut fields = Vec::new();
                for field in part("fields")?.as_array().into_iter().flatten() {
                    let name = field.get("name").and_then(Value::as_str).ok_or("a field has no 'name'")?;
                    let kind = field.get("type").ok_or_else(|| format!("the field '{name}' has no 'type'"))?;
                    fields.push((name.to_string(), self.parse(kind, &inner)?));
                }
                self.nodes[id] = Node::Record(fields);
                Ok(id)
            }
            name => self.named(name, namespace),
        }
    }

    /// Adds a type that has a name; with its namespace.
    fn define(&mut self, object: &Map<String, Value>, outer: &str, node: Node) -> Result<(usize, String), String> {
        let name = object.get("name").and_then(Value::as_str).ok_or("a record, enum or fixed has no 'name'")?;
        let namespace = object.get("namespace").and_then(Value::as_str).unwrap_or(outer);
        let full = full_name(name, namespace);
        let inner = full.rsplit_once('.').map_or("", |(namespace, _)| namespace).to_string();
        let id = self.add(node);
        self.names.insert(full, id);
        Ok((id, inner))
    }
}

fn full_name(name: &str, namespace: &str) -> String {
    if name.contains('.') || namespace.is_empty() { name.to_string() } else { format!("{namespace}.{name}") }
}

fn primitive(name: &str, object: &Map<String, Value>) -> Option<Node> {
    let logical = || object.get("logicalType").and_then(Value::as_str).and_then(Logical::parse);
    Some(match name {
        "null" => Node::Null,
        "boolean" => Node::Boolean,
        "int" => Node::Int(logical().filter(|logical| matches!(logical, Logical::Date | Logical::Time(1_000)))),
        "long" => Node::Long(logical().filter(|logical| !matches!(logical, Logical::Date | Logical::Time(1_000)))),
        "float" => Node::Float,
        "double" => Node::Double,
        "bytes" => Node::Bytes(decimal(object)),
        "string" => Node::Text,
        _ => return None,
    })
}

/// A decimal that our types can hold; any other is bytes, as the specification has it for what a reader does not know.
fn decimal(object: &Map<String, Value>) -> Option<Decimal> {
    if object.get("logicalType")?.as_str()? != "decimal" {
        return None;
    }
    let number = |key: &str| object.get(key).map_or(Some(0), Value::as_u64);
    let precision = u8::try_from(number("precision")?).ok().filter(|precision| (1..=38).contains(precision))?;
    let scale = u8::try_from(number("scale")?).ok().filter(|scale| *scale <= precision)?;
    Some(Decimal { precision, scale })
}

/// Flink's name of a table's record.
const RECORD: &str = "record";
const NAMESPACE: &str = "org.apache.flink.avro.generated";

/// The schema that Flink writes a table with. `legacy`: TIMESTAMP is written as an instant.
pub(super) fn of_table(schema: &Schema, legacy: bool) -> String {
    let fields = schema.fields.iter().map(|field| (field.name.as_str(), &field.data_type));
    let mut value = record(fields, RECORD, legacy);
    value["namespace"] = json!(NAMESPACE);
    value.to_string()
}

fn record<'a>(fields: impl Iterator<Item = (&'a str, &'a DataType)>, name: &str, legacy: bool) -> Value {
    let fields: Vec<Value> = fields
        .map(|(field, data_type)| {
            let kind = of_type(data_type, &format!("{name}_{field}"), legacy);
            if data_type.nullable {
                json!({"name": field, "type": kind, "default": null})
            } else {
                json!({"name": field, "type": kind})
            }
        })
        .collect();
    json!({"type": "record", "name": name, "fields": fields})
}

/// `name`: of the record, if it is one; each needs its own.
fn of_type(data_type: &DataType, name: &str, legacy: bool) -> Value {
    let timestamp = |digits: u8, instant: bool| {
        let unit = match digits {
            0..=3 => "millis",
            4..=6 => "micros",
            _ => "nanos",
        };
        let local = if instant { "" } else { "local-" };
        json!({"type": "long", "logicalType": format!("{local}timestamp-{unit}")})
    };
    let kind = match &data_type.kind {
        Type::Null => json!("null"),
        Type::Boolean => json!("boolean"),
        Type::TinyInt | Type::SmallInt | Type::Int | Type::IntervalYearMonth => json!("int"),
        Type::BigInt | Type::IntervalDaySecond => json!("long"),
        Type::Float => json!("float"),
        Type::Double => json!("double"),
        Type::Decimal(precision, scale) => {
            json!({"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale})
        }
        Type::Char(_) | Type::VarChar(_) => json!("string"),
        Type::Binary(_) | Type::VarBinary(_) => json!("bytes"),
        Type::Date => json!({"type": "int", "logicalType": "date"}),
        Type::Time(_) => json!({"type": "int", "logicalType": "time-millis"}),
        Type::Timestamp(digits) => timestamp(*digits, legacy),
        Type::TimestampLtz(digits) => timestamp(*digits, true),
        Type::Array(element) => json!({"type": "array", "items": of_type(element, name, legacy)}),
        Type::Map(_, value) => json!({"type": "map", "values": of_type(value, name, legacy)}),
        Type::Multiset(_) => json!({"type": "map", "values": "int"}),
        Type::Row(fields) => record(fields.iter().map(|field| (field.name.as_str(), &field.data_type)), name, legacy),
    };
    if data_type.nullable { json!(["null", kind]) } else { kind }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Field;

    #[test]
    fn a_table_gets_flinks_schema() {
        let row = Type::Row(vec![Field::new("x", Type::Int.not_null())]);
        let schema = Schema::new(vec![
            Field::new("id", Type::BigInt.not_null()),
            Field::new("ts", Type::Timestamp(3).nullable()),
            Field::new("r", row.nullable()),
        ]);
        let legacy: Value = serde_json::from_str(&of_table(&schema, true)).unwrap();
        let timestamp = json!({"type": "long", "logicalType": "timestamp-millis"});
        let expected = json!({"type": "record", "name": "record", "namespace": "org.apache.flink.avro.generated",
            "fields": [
                {"name": "id", "type": "long"},
                {"name": "ts", "type": ["null", timestamp], "default": null},
                {"name": "r", "type": ["null", {"type": "record", "name": "record_r",
                    "fields": [{"name": "x", "type": "int"}]}], "default": null}]});
        assert_eq!(legacy, expected);
        assert!(of_table(&schema, false).contains("local-timestamp-millis"));
        assert!(FileSchema::parse(&of_table(&schema, true)).is_ok());
    }

    #[test]
    fn a_record_may_contain_itself() {
        let list = r#"{"type": "record", "name": "a.List", "fields": [{"name": "next", "type": ["null", "List"]}]}"#;
        let schema = FileSchema::parse(list).unwrap();
        let Node::Record(fields) = schema.root() else { panic!("a record") };
        assert_eq!(schema.node(fields[0].1), &Node::Union(vec![1, 0]));
    }

    #[test]
    fn a_wrong_schema_is_refused_with_its_fault() {
        let cases = [
            ("{", "it is no JSON"),
            (r#""nothing""#, "the type 'nothing' is not known"),
            (r#"{"type": "array"}"#, "the array has no 'items'"),
            (r#"{"type": "fixed", "name": "f", "size": -1}"#, "the size of a fixed is no number"),
            ("7", "7 is no type"),
        ];
        for (json, expected) in cases {
            let error = FileSchema::parse(json).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
