//! One constant value.

/// A constant. The unit of times follows the literal's [`crate::types::Type::to_arrow`].
#[derive(Debug, Clone, PartialEq)]
pub enum Scalar {
    Null,
    Boolean(bool),
    /// TINYINT to BIGINT, DATE (days), TIME (ms), TIMESTAMP(0) to TIMESTAMP(6) (ms or us), INTERVAL (ms or months).
    Int(i64),
    Float(f32),
    Double(f64),
    /// Unscaled value; the scale is in the type. Also the nanoseconds of TIMESTAMP(7) to TIMESTAMP(9).
    Decimal(i128),
    String(String),
    Binary(Vec<u8>),
}
