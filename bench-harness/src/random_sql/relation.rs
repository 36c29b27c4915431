//! What the generator knows about rows that a query may read.

use std::fmt;

/// The types that tables and results are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    Int,
    Bigint,
    Decimal(u8, u8),
    Double,
    Text,
    Boolean,
    Time,
    /// TIMESTAMP_LTZ.
    Instant,
    /// ARRAY<INT>.
    Ints,
    /// ARRAY<STRING>.
    Texts,
    /// MULTISET<STRING>.
    Bag,
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Int => f.write_str("INT"),
            Type::Bigint => f.write_str("BIGINT"),
            Type::Decimal(precision, scale) => write!(f, "DECIMAL({precision}, {scale})"),
            Type::Double => f.write_str("DOUBLE"),
            Type::Text => f.write_str("STRING"),
            Type::Boolean => f.write_str("BOOLEAN"),
            Type::Time => f.write_str("TIMESTAMP(3)"),
            Type::Instant => f.write_str("TIMESTAMP_LTZ(3)"),
            Type::Ints => f.write_str("ARRAY<INT>"),
            Type::Texts => f.write_str("ARRAY<STRING>"),
            Type::Bag => f.write_str("MULTISET<STRING>"),
        }
    }
}

impl Type {
    pub fn is_number(self) -> bool {
        matches!(self, Type::Int | Type::Bigint | Type::Decimal(..) | Type::Double)
    }

    /// Whether rows may be ordered by it.
    pub fn has_order(self) -> bool {
        !matches!(self, Type::Ints | Type::Texts | Type::Bag)
    }
}

/// A column, or an expression that becomes one.
#[derive(Debug, Clone)]
pub struct Column {
    pub name: String,
    pub sql_type: Type,
    /// False where Flink's type is NOT NULL.
    pub nullable: bool,
}

impl Column {
    pub fn new(name: impl Into<String>, sql_type: Type) -> Self {
        Column { name: name.into(), sql_type, nullable: true }
    }
}

/// Rows with a name: a table or a view.
#[derive(Debug, Clone)]
pub struct Relation {
    pub name: String,
    pub columns: Vec<Column>,
    /// The event time, where there is one.
    pub time: Option<String>,
    /// The order in which rows arrive follows from the input, so that aggregates may depend on it.
    pub ordered: bool,
    /// Columns whose values tell any two rows apart; empty: none do.
    pub unique: Vec<String>,
}

impl Relation {
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// Columns that rows are grouped by: few values each, and NULL.
    pub fn keys(&self) -> Vec<Column> {
        let is_key = |c: &&Column| ["k", "g", "c", "b", "x"].contains(&c.name.as_str());
        self.columns.iter().filter(is_key).cloned().collect()
    }

    /// Columns that are read as values: all but the event time and what tells rows apart.
    pub fn values(&self) -> Vec<Column> {
        let is_value = |c: &&Column| Some(&c.name) != self.time.as_ref() && c.sql_type.has_order();
        self.columns.iter().filter(is_value).cloned().collect()
    }
}

/// A query before it has a name. The relation has no name.
#[derive(Debug, Clone)]
pub struct Query {
    pub text: String,
    pub relation: Relation,
}
