//! PRINTF: the conversions of `java.util.Formatter`.

use arrow::array::ArrayRef;
use arrow::datatypes::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    Time32MillisecondType,
};

use super::cast::moments;
use super::print;
use super::value::{Read, Value, build_texts, flags, numbers, texts};
use crate::error::{Error, Result};
use crate::types::Type;

/// Widths and precisions beyond this are taken for a mistake.
const WIDTH_MAX: usize = 1 << 20;

/// One argument.
#[derive(Debug, Clone, PartialEq)]
enum Argument {
    Null,
    Truth(bool),
    /// With the bits of its type.
    Integer(i64, u32),
    /// With the text that `%s` prints.
    Double(f64, String),
    Text(String),
}

type ArgumentOf<'a> = Box<dyn Fn(usize) -> Argument + 'a>;

/// PRINTF(format, arguments…); NULL where Java refuses the format.
pub(super) fn printf(values: &[Value], kinds: &[&Type], count: usize) -> Result<ArrayRef> {
    let [format, rest @ ..] = values else {
        return Err(Error::internal("PRINTF without a format"));
    };
    let format = texts(format)?;
    let readers = rest.iter().zip(&kinds[1..]).map(|(value, kind)| reader(value, kind)).collect::<Result<Vec<_>>>()?;
    build_texts(count, |row| {
        let Some(format) = format.read(row) else {
            return Ok(None);
        };
        let arguments: Vec<Argument> = readers.iter().map(|read| read(row)).collect();
        Ok(print_format(format, &arguments))
    })
}

fn reader<'a>(value: &'a Value, kind: &Type) -> Result<ArgumentOf<'a>> {
    macro_rules! column {
        ($values:expr, $make:expr) => {{
            let values = $values;
            Box::new(move |row| values.read(row).map_or(Argument::Null, $make))
        }};
    }
    Ok(match kind {
        Type::Null => Box::new(|_| Argument::Null),
        Type::Boolean => column!(flags(value)?, Argument::Truth),
        Type::TinyInt => column!(numbers::<Int8Type>(value)?, |n| Argument::Integer(n.into(), 8)),
        Type::SmallInt => column!(numbers::<Int16Type>(value)?, |n| Argument::Integer(n.into(), 16)),
        Type::Int | Type::IntervalYearMonth => {
            column!(numbers::<Int32Type>(value)?, |n| Argument::Integer(n.into(), 32))
        }
        Type::BigInt | Type::IntervalDaySecond => column!(numbers::<Int64Type>(value)?, |n| Argument::Integer(n, 64)),
        // Days and milliseconds are plain numbers to Flink's PRINTF.
        Type::Date => column!(numbers::<Date32Type>(value)?, |n| Argument::Integer(n.into(), 32)),
        Type::Time(_) => column!(numbers::<Time32MillisecondType>(value)?, |n| Argument::Integer(n.into(), 32)),
        Type::Float => column!(numbers::<Float32Type>(value)?, |x| Argument::Double(x.into(), print::float(x))),
        Type::Double => column!(numbers::<Float64Type>(value)?, |x| Argument::Double(x, print::double(x))),
        Type::Decimal(_, scale) => {
            let scale = *scale;
            column!(numbers::<Decimal128Type>(value)?, move |x| Argument::Text(print::decimal(x, scale)))
        }
        Type::Char(_) | Type::VarChar(_) => column!(texts(value)?, |text: &str| Argument::Text(text.to_owned())),
        Type::Timestamp(_) | Type::TimestampLtz(_) => {
            let moments = moments(value, kind)?;
            Box::new(move |row| {
                moments(row).map_or(Argument::Null, |moment| Argument::Text(print::timestamp_iso(moment)))
            })
        }
        other => return Err(Error::internal(format!("PRINTF of {other}"))),
    })
}

/// `%[index$][flags][width][.precision]conversion`.
#[derive(Debug, Default)]
struct Spec {
    /// From 1; 0: that of the conversion before.
    index: Option<usize>,
    flags: String,
    width: Option<usize>,
    precision: Option<usize>,
    conversion: char,
}

impl Spec {
    fn has(&self, flag: char) -> bool {
        self.flags.contains(flag)
    }
    /// Whether the flags are all among those.
    fn only(&self, allowed: &str) -> Option<()> {
        self.flags.chars().all(|flag| allowed.contains(flag)).then_some(())
    }
    /// Flags that Java refuses together or without a width.
    fn consistent(&self) -> Option<()> {
        let twice = self.flags.chars().enumerate().any(|(at, flag)| self.flags[at + 1..].contains(flag));
        let clash = (self.has('-') && self.has('0')) || (self.has('+') && self.has(' '));
        let bare = self.width.is_none() && (self.has('-') || self.has('0'));
        (!twice && !clash && !bare).then_some(())
    }
    fn justified(&self, text: &str) -> String {
        let missing = self.width.unwrap_or(0).saturating_sub(text.encode_utf16().count());
        if self.has('-') { format!("{text}{}", " ".repeat(missing)) } else { format!("{}{text}", " ".repeat(missing)) }
    }
    /// Cut to the precision, then justified.
    fn text(&self, text: &str) -> String {
        match self.precision {
            Some(most) => self.justified(&text.chars().take(most).collect::<String>()),
            None => self.justified(text),
        }
    }
}

fn print_format(format: &str, arguments: &[Argument]) -> Option<String> {
    let mut out = String::new();
    let mut rest = format;
    let (mut ordinary, mut last) = (0, None);
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        let (spec, after) = parse(&rest[at + 1..])?;
        rest = after;
        spec.consistent()?;
        match spec.conversion {
            'n' => {
                let plain = spec.width.is_none() && spec.precision.is_none() && spec.flags.is_empty();
                out.push_str(if plain { "\n" } else { return None });
                continue;
            }
            '%' => {
                spec.only("-")?;
                out.push_str(&spec.justified("%"));
                continue;
            }
            _ => {}
        }
        let index = match spec.index {
            Some(0) => last?,
            Some(index) => index - 1,
            None => {
                ordinary += 1;
                ordinary - 1
            }
        };
        last = Some(index);
        let text = convert(&spec, arguments.get(index)?)?;
        out.push_str(&if spec.conversion.is_ascii_uppercase() { text.to_uppercase() } else { text });
    }
    out.push_str(rest);
    Some(out)
}

fn parse(text: &str) -> Option<(Spec, &str)> {
    let mut spec = Spec::default();
    let mut rest = text;
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let number = |text: &str| text.parse::<usize>().ok().filter(|number| *number <= WIDTH_MAX);
    if let Some(after) = rest.strip_prefix('<') {
        (spec.index, rest) = (Some(0), after);
    } else if let (count @ 1.., false) = (digits(rest), rest.starts_with('0'))
        && let Some(after) = rest[count..].strip_prefix('$')
    {
        (spec.index, rest) = (Some(number(&rest[..count])?), after);
    }
    let flags = rest.bytes().take_while(|byte| b"-#+ 0,(".contains(byte)).count();
    (spec.flags, rest) = (rest[..flags].to_string(), &rest[flags..]);
    let count = digits(rest);
    if count > 0 {
        (spec.width, rest) = (Some(number(&rest[..count])?), &rest[count..]);
    }
    if let Some(after) = rest.strip_prefix('.') {
        let count = digits(after);
        (spec.precision, rest) = (Some(number(&after[..count])?), &after[count..]);
    }
    spec.conversion = rest.chars().next()?;
    Some((spec, &rest[rest.chars().next()?.len_utf8()..]))
}

fn convert(spec: &Spec, argument: &Argument) -> Option<String> {
    match (spec.conversion, argument) {
        ('b' | 'B', argument) => {
            spec.only("-")?;
            let truth = match argument {
                Argument::Null => false,
                Argument::Truth(truth) => *truth,
                _ => true,
            };
            Some(spec.text(if truth { "true" } else { "false" }))
        }
        ('s' | 'S', argument) => {
            spec.only("-")?;
            Some(spec.text(&match argument {
                Argument::Null => "null".to_string(),
                Argument::Truth(truth) => truth.to_string(),
                Argument::Integer(number, _) => number.to_string(),
                Argument::Double(_, text) | Argument::Text(text) => text.clone(),
            }))
        }
        ('c' | 'C', argument) => {
            spec.only("-")?;
            let character = match argument {
                Argument::Null => "null".to_string(),
                Argument::Integer(code, ..=32) => char::from_u32(u32::try_from(*code).ok()?)?.to_string(),
                _ => return None,
            };
            spec.precision.is_none().then(|| spec.justified(&character))
        }
        ('d' | 'o' | 'x' | 'X' | 'e' | 'E' | 'f' | 'g' | 'G', Argument::Null) => Some(spec.text("null")),
        ('d' | 'o' | 'x' | 'X', Argument::Integer(..)) if spec.precision.is_some() => None,
        ('d', Argument::Integer(number, _)) => {
            spec.only("-+ 0,(")?;
            Some(signed(spec, *number < 0, &grouped(spec, &number.unsigned_abs().to_string())))
        }
        ('o' | 'x' | 'X', Argument::Integer(number, bits)) => {
            spec.only("-#0")?;
            let value = (*number as u64) & (u64::MAX >> (64 - bits));
            let (prefix, digits) =
                if spec.conversion == 'o' { ("0", format!("{value:o}")) } else { ("0x", format!("{value:x}")) };
            let prefix = if spec.has('#') { prefix } else { "" };
            let missing = spec.width.unwrap_or(0).saturating_sub(prefix.len() + digits.len());
            let zeros = if spec.has('0') { "0".repeat(missing) } else { String::new() };
            Some(spec.justified(&format!("{prefix}{zeros}{digits}")))
        }
        ('f' | 'e' | 'E' | 'g' | 'G', Argument::Double(number, text)) => floating(spec, *number, text),
        _ => None,
    }
}

/// With a comma between groups of three digits of the whole part, if the flag says so.
fn grouped(spec: &Spec, digits: &str) -> String {
    if !spec.has(',') {
        return digits.to_string();
    }
    let (whole, fraction) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let mut out = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out + fraction
}

/// With its sign, and zeros or blanks to the width.
fn signed(spec: &Spec, negative: bool, digits: &str) -> String {
    let (before, after) = match (negative, spec.has('(')) {
        (true, true) => ("(", ")"),
        (true, false) => ("-", ""),
        _ if spec.has('+') => ("+", ""),
        _ if spec.has(' ') => (" ", ""),
        _ => ("", ""),
    };
    let missing = spec.width.unwrap_or(0).saturating_sub(before.len() + digits.len() + after.len());
    let zeros = if spec.has('0') { "0".repeat(missing) } else { String::new() };
    spec.justified(&format!("{before}{zeros}{digits}{after}"))
}

fn floating(spec: &Spec, number: f64, text: &str) -> Option<String> {
    spec.only(match spec.conversion {
        'f' => "-#+ 0,(",
        'e' | 'E' => "-#+ 0(",
        _ => "-+ 0,(",
    })?;
    if !number.is_finite() {
        let plain = Spec { flags: spec.flags.replace('0', ""), width: spec.width, ..Spec::default() };
        return Some(if number.is_nan() { plain.justified("NaN") } else { signed(&plain, number < 0.0, "Infinity") });
    }
    let negative = number.is_sign_negative();
    let decimal = Decimal::parse(text);
    let precision = spec.precision.unwrap_or(6);
    let digits = match spec.conversion {
        'f' => decimal.fixed(precision),
        'e' | 'E' => decimal.scientific(precision),
        _ => {
            let precision = precision.max(1);
            let rounded = decimal.rounded(precision as i64);
            if number == 0.0 || (-4..precision as i64).contains(&(rounded.point - 1)) {
                let kept = if number == 0.0 { 1 } else { rounded.point };
                rounded.fixed(usize::try_from(precision as i64 - kept).unwrap_or(0))
            } else {
                rounded.scientific(precision - 1)
            }
        }
    };
    let pointless = !digits.contains('.');
    let digits = grouped(spec, &digits);
    Some(signed(spec, negative, &if spec.has('#') && pointless { format!("{digits}.") } else { digits }))
}

/// A number as its shortest digits: 0.DIGITS times ten to the power of `point`.
struct Decimal {
    digits: Vec<u8>,
    point: i64,
}

impl Decimal {
    /// From what Double.toString prints.
    fn parse(text: &str) -> Decimal {
        let text = text.trim_start_matches('-');
        let (mantissa, exponent) = text.split_once('E').unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).map(|byte| byte.wrapping_sub(b'0')).collect();
        let zeros = digits.iter().take_while(|digit| **digit == 0).count();
        let point = whole.len() as i64 - zeros as i64 + exponent.parse::<i64>().unwrap_or(0);
        if zeros == digits.len() {
            Decimal { digits: Vec::new(), point: 0 }
        } else {
            Decimal { digits: digits[zeros..].to_vec(), point }
        }
    }

    /// Cut to so many digits, half up.
    fn rounded(&self, count: i64) -> Decimal {
        if count >= self.digits.len() as i64 {
            return Decimal { digits: self.digits.clone(), point: self.point };
        }
        let Ok(kept) = usize::try_from(count) else {
            return Decimal { digits: Vec::new(), point: self.point };
        };
        let mut digits = self.digits[..kept].to_vec();
        let mut point = self.point;
        if self.digits[kept] >= 5 {
            let nines = digits.iter().rev().take_while(|digit| **digit == 9).count();
            digits.truncate(kept - nines);
            match digits.last_mut() {
                Some(last) => *last += 1,
                None => {
                    digits.push(1);
                    point += 1;
                }
            }
        }
        Decimal { digits, point }
    }

    fn digit(&self, at: i64) -> char {
        let digit = usize::try_from(at).ok().and_then(|at| self.digits.get(at)).copied().unwrap_or(0);
        char::from(b'0' + digit)
    }

    /// `123.450`, with so many fractional digits.
    fn fixed(&self, precision: usize) -> String {
        let number = self.rounded(self.point.saturating_add(precision as i64));
        let mut text: String = match number.point {
            ..=0 => "0".to_string(),
            whole => (0..whole).map(|at| number.digit(at)).collect(),
        };
        if precision > 0 {
            text.push('.');
            text.extend((0..precision as i64).map(|at| number.digit(number.point + at)));
        }
        text
    }

    /// `1.2345e+02`, with so many fractional digits.
    fn scientific(&self, precision: usize) -> String {
        let number = self.rounded(precision as i64 + 1);
        let exponent = if number.digits.is_empty() { 0 } else { number.point - 1 };
        let mut text = number.digit(0).to_string();
        if precision > 0 {
            text.push('.');
            text.extend((1..=precision as i64).map(|at| number.digit(at)));
        }
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{text}e{sign}{:02}", exponent.abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(format: &str, arguments: &[Argument]) -> Option<String> {
        print_format(format, arguments)
    }
    fn int(number: i64) -> Argument {
        Argument::Integer(number, 32)
    }
    fn double(number: f64) -> Argument {
        Argument::Double(number, print::double(number))
    }
    fn text(text: &str) -> Argument {
        Argument::Text(text.to_string())
    }

    #[test]
    fn formats_print_as_in_java() {
        for (format, arguments, expected) in [
            ("%s-%05d", vec![text("a"), int(-2)], "a--0002"),
            ("%s-%05d", vec![Argument::Null, Argument::Null], "null- null"),
            ("%x %X %o", vec![int(255), int(255), int(8)], "ff FF 10"),
            ("%08.3f|%-10s|%10s", vec![double(2.71964), text("ab"), text("cd")], "0002.720|ab        |        cd"),
            ("%+d|%,d|%(d|% d", vec![int(5), int(1_234_567), int(-5), int(5)], "+5|1,234,567|(5)| 5"),
            (
                "%e|%g|%.1e",
                vec![double(12345.678), double(0.00012), double(12345.6)],
                "1.234568e+04|0.000120000|1.2e+04",
            ),
            ("%c%b %n %%", vec![int(65), Argument::Truth(true)], "Atrue \n %"),
            ("%2$s %1$s %<s", vec![text("a"), text("b")], "b a a"),
            ("%.3s|%S|%#x", vec![text("abcdef"), text("abc"), int(255)], "abc|ABC|0xff"),
            ("%.2f|%10.1f", vec![Argument::Null, Argument::Null], "nu|         n"),
            ("%x", vec![Argument::Integer(-1, 8)], "ff"),
            ("%.2f|%.0f|%f", vec![double(1.005), double(0.5), double(0.0)], "1.01|1|0.000000"),
            ("%.3f|%.1f", vec![double(0.0004), double(9.96)], "0.000|10.0"),
            ("%g|%g|%g", vec![double(0.0), double(123456.7), double(1e10)], "0.00000|123457|1.00000e+10"),
            ("%5.1f|%+.1f", vec![double(f64::NAN), double(f64::INFINITY)], "  NaN|+Infinity"),
        ] {
            assert_eq!(shown(format, &arguments).as_deref(), Some(expected), "{format}");
        }
    }

    #[test]
    fn what_java_refuses_is_null() {
        for (format, arguments) in [
            ("%s %s", vec![text("a")]),
            ("%d", vec![text("a")]),
            ("%", vec![]),
            ("%.2f", vec![text("1.005")]),
            ("%d", vec![double(1.0)]),
            ("%c", vec![text("x")]),
            ("%-d", vec![int(1)]),
            ("%q", vec![int(1)]),
        ] {
            assert_eq!(shown(format, &arguments), None, "{format}");
        }
    }
}
