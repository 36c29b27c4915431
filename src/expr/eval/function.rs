//! The kernels' names.

/// A kernel: what [`super::super::Expr::Call`] computes. The resolver chose the types of its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    Arithmetic(Arithmetic),
    Negate,
    /// Both sides have the same type, or one is DECIMAL and the other DOUBLE.
    Compare(Compare),
    /// IS DISTINCT FROM; `negated`: IS NOT DISTINCT FROM.
    Distinct {
        negated: bool,
    },
    And,
    Or,
    Not,
    /// `negated`: IS NOT NULL.
    IsNull {
        negated: bool,
    },
    /// IS TRUE or IS FALSE; `negated`: IS NOT …
    Is {
        value: bool,
        negated: bool,
    },
    Like,
    Similar,
    /// x, then the list; all of the same type.
    In,
    Coalesce,
    Greatest,
    Least,
    Text(Text),
    Math(Math),
    Code(Code),
    Random(Random),
    Time(Time),
    Nested(Nested),
    Hash(Hash),
    Json(Json),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compare {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Compare {
    /// Whether a comparison holds for operands of that order.
    pub fn holds(self, order: std::cmp::Ordering) -> bool {
        match self {
            Compare::Equal => order.is_eq(),
            Compare::NotEqual => order.is_ne(),
            Compare::Less => order.is_lt(),
            Compare::LessOrEqual => order.is_le(),
            Compare::Greater => order.is_gt(),
            Compare::GreaterOrEqual => order.is_ge(),
        }
    }
}

/// Functions of strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Text {
    Upper,
    Lower,
    Trim,
    TrimStart,
    TrimEnd,
    Length,
    Substring,
    Left,
    Right,
    PadStart,
    PadEnd,
    Repeat,
    Replace,
    Reverse,
    Concat,
    ConcatWithSeparator,
    /// POSITION and LOCATE.
    Locate,
    Instr,
    InitCap,
    Ascii,
    Chr,
    Overlay,
    SplitIndex,
    StartsWith,
    EndsWith,
    Regexp,
    RegexpExtract,
    RegexpReplace,
    RegexpCount,
    RegexpInstr,
    RegexpSubstr,
    RegexpExtractAll,
    Translate,
    IsAlpha,
    IsDigit,
    IsDecimal,
    /// PARSE_URL(url, part[, key]).
    ParseUrl,
    /// A format, then arguments of any type.
    Printf,
}

impl Text {
    /// Whether the second argument is a regular expression.
    pub(super) fn is_pattern(self) -> bool {
        use Text::{Regexp, RegexpCount, RegexpExtract, RegexpExtractAll, RegexpInstr, RegexpReplace, RegexpSubstr};
        matches!(
            self,
            Regexp | RegexpCount | RegexpExtract | RegexpExtractAll | RegexpInstr | RegexpReplace | RegexpSubstr
        )
    }
}

/// Functions of codes: integers come as BIGINT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    HexOfNumber,
    /// Of a string's UTF-8.
    HexOfText,
    Unhex,
    Bin,
    ToBase64,
    FromBase64,
    Encode,
    Decode,
    UrlEncode,
    UrlDecode,
    InetAton,
    InetNtoa,
}

/// Functions that give another value with every row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Random {
    Uuid,
    /// A DOUBLE from 0 up to 1.
    Unit,
    /// An INT from 0 up to the argument.
    Below,
}

/// Functions of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Math {
    Abs,
    Sign,
    Ceil,
    Floor,
    Round,
    Truncate,
    Power,
    Sqrt,
    Ln,
    Log10,
    Log2,
    /// LOG(base, x).
    LogBase,
    Exp,
    Pi,
    E,
    Sin,
    Cos,
    Tan,
    Cot,
    Sinh,
    Cosh,
    Tanh,
    Asin,
    Acos,
    Atan,
    Atan2,
    Degrees,
    Radians,
}

/// Constructors, parts and functions of ROW, ARRAY and MAP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nested {
    /// The field of that number.
    Field(usize),
    /// `array[index]`
    Element,
    /// `map[key]`
    Lookup,
    Row,
    Array,
    /// Keys and values in turn.
    Map,
    Cardinality,
    /// ELEMENT
    Single,
    Contains,
    Position,
    Distinct,
    Remove,
    Slice,
    /// Array, ascending, NULLs first.
    Sort,
    Min,
    Max,
    Append,
    Prepend,
    Concat,
    Intersect,
    Except,
    Union,
    Reverse,
    Join,
    Keys,
    Values,
    Entries,
    FromArrays,
    MapUnion,
    TextToMap,
    SplitText,
}

/// Functions of JSON texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Json {
    /// Document, path.
    Exists(OnExists),
    /// Document, path, default where there is nothing, default where there is an error: ON EMPTY, ON ERROR.
    Value(OnValue, OnValue),
    /// Document, path.
    Query {
        wrapper: Wrapper,
        on_empty: OnQuery,
        on_error: OnQuery,
    },
    Is(JsonShape),
    /// JSON_STRING
    Text,
    Quote,
    Unquote,
    /// Names and values in turn; `absent`: NULLs are left out.
    Object {
        absent: bool,
    },
    Array {
        absent: bool,
    },
    /// JSON(text), as a value of the two before.
    Parsed,
}

/// ON ERROR of JSON_EXISTS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnExists {
    True,
    False,
    Unknown,
    Error,
}

/// ON EMPTY and ON ERROR of JSON_VALUE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnValue {
    Null,
    Error,
    Default,
}

/// ON EMPTY and ON ERROR of JSON_QUERY.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnQuery {
    Null,
    Error,
    EmptyArray,
    EmptyObject,
}

/// When JSON_QUERY puts its result into an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrapper {
    Never,
    /// Unless it is one.
    Conditional,
    Always,
}

/// What IS JSON asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonShape {
    Value,
    Object,
    Array,
    Scalar,
}

/// Digests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hash {
    Md5,
    Sha1,
    Sha224,
    Sha256,
    Sha384,
    Sha512,
    /// With the number of bits as second argument.
    Sha2,
}

/// Functions of dates, times and intervals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Time {
    Extract(Unit),
    Floor(Unit),
    Ceil(Unit),
    /// TIMESTAMPDIFF(unit, from, to).
    Difference(Unit),
    /// The interval from the first to the second, in the unit of its type.
    Between,
    /// A date, time or timestamp plus (or minus) an interval.
    Shift {
        minus: bool,
    },
    DateFormat,
    ToDate,
    ToTimestamp,
    ToTimestampLtz,
    FromUnixTime,
    UnixTimestamp,
    ConvertTz,
    CurrentDate,
    CurrentTime,
    CurrentTimestamp,
    LocalTimestamp,
}

/// A unit of time, as in EXTRACT and FLOOR.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Millennium,
    Century,
    Decade,
    Year,
    Quarter,
    Month,
    Week,
    Day,
    DayOfYear,
    DayOfWeek,
    IsoDayOfWeek,
    IsoYear,
    Hour,
    Minute,
    Second,
    Millisecond,
    Microsecond,
    Nanosecond,
    Epoch,
}

impl Unit {
    /// By its SQL name, any case; plural and singular.
    pub fn parse(text: &str) -> Option<Unit> {
        let name = text.trim().to_ascii_uppercase();
        let name = name.strip_prefix("SQL_TSI_").unwrap_or(&name);
        Some(match name {
            "MILLENNIUM" => Unit::Millennium,
            "CENTURY" => Unit::Century,
            "DECADE" => Unit::Decade,
            "YEAR" | "YEARS" => Unit::Year,
            "QUARTER" | "QUARTERS" => Unit::Quarter,
            "MONTH" | "MONTHS" => Unit::Month,
            "WEEK" | "WEEKS" => Unit::Week,
            "DAY" | "DAYS" => Unit::Day,
            "DOY" => Unit::DayOfYear,
            "DOW" => Unit::DayOfWeek,
            "ISODOW" => Unit::IsoDayOfWeek,
            "ISOYEAR" => Unit::IsoYear,
            "HOUR" | "HOURS" => Unit::Hour,
            "MINUTE" | "MINUTES" => Unit::Minute,
            "SECOND" | "SECONDS" => Unit::Second,
            "MILLISECOND" | "MILLISECONDS" => Unit::Millisecond,
            "MICROSECOND" | "MICROSECONDS" => Unit::Microsecond,
            "NANOSECOND" | "NANOSECONDS" => Unit::Nanosecond,
            "EPOCH" => Unit::Epoch,
            _ => return None,
        })
    }

    /// Milliseconds of units from a week down to a millisecond.
    pub fn millis(self) -> Option<i64> {
        Some(match self {
            Unit::Week => 604_800_000,
            Unit::Day => 86_400_000,
            Unit::Hour => 3_600_000,
            Unit::Minute => 60_000,
            Unit::Second => 1_000,
            Unit::Millisecond => 1,
            _ => return None,
        })
    }
}
