//! One constant value.

/// A constant. The unit of times follows the literal's [`crate::types::Type::to_arrow`].
#[derive(Debug, Clone, PartialEq)]
pub enum Scalar {
    Null,
    Boolean(bool),
    /// TINYINT to BIGINT, DATE (days), TIME (ms), TIMESTAMP (ms, us or ns), INTERVAL (ms or months).
    Int(i64),
    Float(f32),
    Double(f64),
    /// Unscaled value; the scale is in the type.
    Decimal(i128),
    String(String),
    Binary(Vec<u8>),
}
