//! Flink's logical types, and how each lies in Arrow memory.

mod row_kind;

use std::fmt;
use std::sync::Arc;

use arrow::datatypes::{
    DataType as ArrowType, Field as ArrowField, Fields, Schema as ArrowSchema, SchemaRef, TimeUnit,
};

pub use row_kind::{ROW_KIND, RowKind};

/// STRING is `VARCHAR(2147483647)`.
pub const MAX_LENGTH: u32 = i32::MAX as u32;

/// A logical type without its nullability.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Type {
    /// The type of a bare NULL literal.
    Null,
    Boolean,
    TinyInt,
    SmallInt,
    Int,
    BigInt,
    Float,
    Double,
    /// Precision 1..=38, scale 0..=precision.
    Decimal(u8, u8),
    Char(u32),
    VarChar(u32),
    Binary(u32),
    VarBinary(u32),
    Date,
    /// Fractional digits 0..=9 (Flink keeps milliseconds at most).
    Time(u8),
    /// Fractional digits 0..=9, without a time zone.
    Timestamp(u8),
    /// Fractional digits 0..=9; an instant, shown in `table.local-time-zone`.
    TimestampLtz(u8),
    IntervalYearMonth,
    IntervalDaySecond,
    Array(Box<DataType>),
    Map(Box<DataType>, Box<DataType>),
    /// Elements with how often each is there.
    Multiset(Box<DataType>),
    Row(Vec<Field>),
}

/// A logical type with its nullability.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DataType {
    pub kind: Type,
    pub nullable: bool,
}

/// A named column.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Field {
    pub name: String,
    pub data_type: DataType,
}

/// Named columns in order. Names may repeat in intermediate results, never in tables.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Schema {
    pub fields: Vec<Field>,
}

impl Type {
    pub fn nullable(self) -> DataType {
        DataType { kind: self, nullable: true }
    }
    pub fn not_null(self) -> DataType {
        DataType { kind: self, nullable: false }
    }
    pub fn string() -> Type {
        Type::VarChar(MAX_LENGTH)
    }
    pub fn is_string(&self) -> bool {
        matches!(self, Type::Char(_) | Type::VarChar(_))
    }
    pub fn is_integer(&self) -> bool {
        matches!(self, Type::TinyInt | Type::SmallInt | Type::Int | Type::BigInt)
    }
    pub fn is_numeric(&self) -> bool {
        self.is_integer() || matches!(self, Type::Float | Type::Double | Type::Decimal(..))
    }
    pub fn is_timestamp(&self) -> bool {
        matches!(self, Type::Timestamp(_) | Type::TimestampLtz(_))
    }
    /// Made of values of other types.
    pub fn is_nested(&self) -> bool {
        matches!(self, Type::Array(_) | Type::Map(..) | Type::Multiset(_) | Type::Row(_))
    }
    /// What the keys and the values of a MAP are; of a MULTISET, the elements and their counts.
    pub fn entries(&self) -> Option<(&Type, &Type)> {
        match self {
            Type::Map(key, value) => Some((&key.kind, &value.kind)),
            Type::Multiset(element) => Some((&element.kind, &Type::Int)),
            _ => None,
        }
    }
    /// TIMESTAMP or TIMESTAMP_LTZ of more than 6 fractional digits, which lies in memory as a decimal.
    pub fn is_wide_timestamp(&self) -> bool {
        matches!(self, Type::Timestamp(7..) | Type::TimestampLtz(7..))
    }

    /// The Arrow type that holds this type's values.
    ///
    /// TIMESTAMP and TIMESTAMP_LTZ count milliseconds up to 3 digits and microseconds up to 6, where
    /// LTZ carries the zone "UTC" as its mark. Beyond that they are seconds with nine decimal digits,
    /// which reach all years: nanoseconds in 64 bits would end in 1677 and 2262. What they are
    /// (TIMESTAMP, LTZ or DECIMAL) only the logical type tells then. TIME counts milliseconds, DATE
    /// days, INTERVAL DAY TO SECOND milliseconds in 64 bits, INTERVAL YEAR TO MONTH months in 32 bits.
    /// A MULTISET is a map from its elements to how often each is there.
    pub fn to_arrow(&self) -> ArrowType {
        match self {
            Type::Null => ArrowType::Null,
            Type::Boolean => ArrowType::Boolean,
            Type::TinyInt => ArrowType::Int8,
            Type::SmallInt => ArrowType::Int16,
            Type::Int | Type::IntervalYearMonth => ArrowType::Int32,
            Type::BigInt | Type::IntervalDaySecond => ArrowType::Int64,
            Type::Float => ArrowType::Float32,
            Type::Double => ArrowType::Float64,
            Type::Decimal(precision, scale) => ArrowType::Decimal128(*precision, *scale as i8),
            Type::Char(_) | Type::VarChar(_) => ArrowType::Utf8,
            Type::Binary(_) | Type::VarBinary(_) => ArrowType::Binary,
            Type::Date => ArrowType::Date32,
            Type::Time(_) => ArrowType::Time32(TimeUnit::Millisecond),
            Type::Timestamp(precision @ 0..=6) => ArrowType::Timestamp(time_unit(*precision), None),
            Type::TimestampLtz(precision @ 0..=6) => ArrowType::Timestamp(time_unit(*precision), Some("UTC".into())),
            Type::Timestamp(_) | Type::TimestampLtz(_) => ArrowType::Decimal128(38, 9),
            Type::Array(element) => {
                ArrowType::List(Arc::new(ArrowField::new("element", element.kind.to_arrow(), true)))
            }
            Type::Map(key, value) => map_to_arrow(&key.kind, &value.kind),
            Type::Multiset(element) => map_to_arrow(&element.kind, &Type::Int),
            Type::Row(fields) => ArrowType::Struct(
                fields.iter().map(|f| ArrowField::new(&f.name, f.data_type.kind.to_arrow(), true)).collect(),
            ),
        }
    }
}

fn map_to_arrow(key: &Type, value: &Type) -> ArrowType {
    let entries = Fields::from(vec![
        ArrowField::new("key", key.to_arrow(), false),
        ArrowField::new("value", value.to_arrow(), true),
    ]);
    ArrowType::Map(Arc::new(ArrowField::new("entries", ArrowType::Struct(entries), false)), false)
}

fn time_unit(precision: u8) -> TimeUnit {
    match precision {
        0..=3 => TimeUnit::Millisecond,
        _ => TimeUnit::Microsecond,
    }
}

impl fmt::Display for Type {
    /// Flink's spelling, as in `DESCRIBE`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Null => f.write_str("NULL"),
            Type::Boolean => f.write_str("BOOLEAN"),
            Type::TinyInt => f.write_str("TINYINT"),
            Type::SmallInt => f.write_str("SMALLINT"),
            Type::Int => f.write_str("INT"),
            Type::BigInt => f.write_str("BIGINT"),
            Type::Float => f.write_str("FLOAT"),
            Type::Double => f.write_str("DOUBLE"),
            Type::Decimal(precision, scale) => write!(f, "DECIMAL({precision}, {scale})"),
            Type::Char(length) => write!(f, "CHAR({length})"),
            Type::VarChar(MAX_LENGTH) => f.write_str("STRING"),
            Type::VarChar(length) => write!(f, "VARCHAR({length})"),
            Type::Binary(length) => write!(f, "BINARY({length})"),
            Type::VarBinary(MAX_LENGTH) => f.write_str("BYTES"),
            Type::VarBinary(length) => write!(f, "VARBINARY({length})"),
            Type::Date => f.write_str("DATE"),
            Type::Time(precision) => write!(f, "TIME({precision})"),
            Type::Timestamp(precision) => write!(f, "TIMESTAMP({precision})"),
            Type::TimestampLtz(precision) => write!(f, "TIMESTAMP_LTZ({precision})"),
            Type::IntervalYearMonth => f.write_str("INTERVAL YEAR TO MONTH"),
            Type::IntervalDaySecond => f.write_str("INTERVAL DAY TO SECOND(3)"),
            Type::Array(element) => write!(f, "ARRAY<{element}>"),
            Type::Map(key, value) => write!(f, "MAP<{key}, {value}>"),
            Type::Multiset(element) => write!(f, "MULTISET<{element}>"),
            Type::Row(fields) => {
                f.write_str("ROW<")?;
                for (i, field) in fields.iter().enumerate() {
                    let comma = if i > 0 { ", " } else { "" };
                    write!(f, "{comma}`{}` {}", field.name, field.data_type)?;
                }
                f.write_str(">")
            }
        }
    }
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.kind, if self.nullable { "" } else { " NOT NULL" })
    }
}

impl Field {
    pub fn new(name: impl Into<String>, data_type: DataType) -> Self {
        Field { name: name.into(), data_type }
    }
}

impl Schema {
    pub fn new(fields: Vec<Field>) -> Self {
        Schema { fields }
    }
    pub fn len(&self) -> usize {
        self.fields.len()
    }
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }
    /// The first column of that name (exact case, as in Flink).
    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.name == name)
    }
    /// All columns are nullable in Arrow: constraints are checked where rows enter, not here.
    pub fn to_arrow(&self) -> SchemaRef {
        let field = |f: &Field| ArrowField::new(&f.name, f.data_type.kind.to_arrow(), true);
        Arc::new(ArrowSchema::new(self.fields.iter().map(field).collect::<Vec<_>>()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_print_in_flinks_spelling() {
        let row = Type::Row(vec![Field::new("a", Type::Int.nullable()), Field::new("b", Type::string().not_null())]);
        assert_eq!(row.to_string(), "ROW<`a` INT, `b` STRING NOT NULL>");
        assert_eq!(Type::TimestampLtz(3).nullable().to_string(), "TIMESTAMP_LTZ(3)");
    }
}
