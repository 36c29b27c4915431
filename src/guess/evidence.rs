//! What the values of one column have in common.

use std::collections::BTreeMap;

use super::form::{Form, fraction_digits};
use super::names::quoted;
use crate::format::{TimestampStyle, csv_time};
use crate::types::Type;

/// Words for a value that is absent, each of which `csv.null-literal` may be.
const ABSENT: [&str; 16] =
    ["", "NULL", "null", "Null", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "None", "none", "\\N", "-", "--", "?"];
/// Examples that the report shows, and the longest shown in full.
const EXAMPLES_MAX: usize = 3;
const EXAMPLE_CHARACTERS: usize = 40;
/// Sums of money get this precision at least, so that larger sums than those seen fit as well.
const MONEY_DIGITS: u8 = 18;
const MONEY_SCALE_MAX: u32 = 4;
const MONEY: [&str; 20] = [
    "price",
    "amount",
    "amt",
    "cost",
    "total",
    "subtotal",
    "fee",
    "fees",
    "fare",
    "tip",
    "tax",
    "balance",
    "revenue",
    "salary",
    "payment",
    "paid",
    "usd",
    "eur",
    "gbp",
    "surcharge",
];

/// What the texts of one column, or one field of JSON objects, looked like.
#[derive(Debug, Clone, Default)]
pub(crate) struct Evidence {
    /// Values that are there.
    pub values: u64,
    /// How often each word for an absent value stood there.
    pub absent: BTreeMap<&'static str, u64>,
    /// The first different values.
    pub examples: Vec<String>,
    booleans: u64,
    integers: u64,
    /// Whole numbers beyond BIGINT.
    big: u64,
    /// Numbers such as 007, which are codes.
    zero_led: u64,
    decimals: u64,
    /// With an exponent, or Infinity.
    floats: u64,
    /// Such as `1.234,50`, and how many of them may not be whole numbers in groups of three: `1,234`.
    commas: u64,
    sure_commas: u64,
    /// Some have points between groups of three.
    grouped: bool,
    times_of_day: u64,
    digits: u32,
    scale: u32,
    fraction: u8,
    /// The first value that is no number.
    odd: Option<String>,
    /// The forms of time that have read every value; `None` before the first.
    forms: Option<Vec<Form>>,
}

impl Evidence {
    pub fn observe(&mut self, text: &str) {
        if let Some(word) = ABSENT.into_iter().find(|word| *word == text) {
            *self.absent.entry(word).or_default() += 1;
            return;
        }
        self.present(text);
    }

    /// A value that is there, whatever it says: a string of JSON.
    pub fn present(&mut self, text: &str) {
        self.values += 1;
        if self.examples.len() < EXAMPLES_MAX {
            let shown = shown(text);
            if !self.examples.contains(&shown) {
                self.examples.push(shown);
            }
        }
        self.classify(text.trim());
        match &mut self.forms {
            None => self.forms = Some(Form::all(text)),
            Some(forms) => forms.retain_mut(|form| form.read(text).is_some() || form.widen(text)),
        }
        if self.forms.as_ref().is_some_and(|forms| !forms.is_empty()) {
            self.fraction = self.fraction.max(fraction_digits(text));
        }
    }

    fn classify(&mut self, text: &str) {
        let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
        let (whole, fraction) = match unsigned.split_once('.') {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (unsigned, None),
        };
        let is_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        let plain = is_digits(whole) && fraction.is_none_or(is_digits);
        let has_digit = !whole.is_empty() || fraction.is_some_and(|fraction| !fraction.is_empty());
        if plain && has_digit {
            let significant = whole.trim_start_matches('0').len() as u32;
            self.digits = self.digits.max(significant);
            self.scale = self.scale.max(fraction.map_or(0, |fraction| fraction.len() as u32));
            self.zero_led += u64::from(whole.len() > 1 && whole.starts_with('0'));
            match fraction {
                Some(_) => self.decimals += 1,
                None if text.parse::<i64>().is_ok() => self.integers += 1,
                None => self.big += 1,
            }
        } else if text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false") {
            self.booleans += 1;
        } else if is_float(unsigned) {
            self.floats += 1;
        } else {
            self.decimal_comma(unsigned);
            self.times_of_day += u64::from(text.contains(':') && csv_time(text.as_bytes(), 3).is_some());
            self.odd.get_or_insert_with(|| shown(text));
        }
    }

    fn decimal_comma(&mut self, unsigned: &str) {
        let Some((whole, fraction)) = unsigned.split_once(',') else { return };
        let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let groups: Vec<&str> = whole.split('.').collect();
        if is_digits(fraction) && groups.iter().all(|group| is_digits(group)) {
            self.commas += 1;
            self.sure_commas += u64::from(fraction.len() != 3 || groups.len() > 1);
            self.grouped |= groups.len() > 1;
            self.scale = self.scale.max(fraction.len() as u32);
        }
    }

    /// What makes numbers of texts with decimal commas.
    fn with_points(&self, name: &str) -> Option<String> {
        if self.sure_commas == 0 || self.commas + self.integers != self.values {
            return None;
        }
        let name = quoted(name);
        let plain = if self.grouped { format!("REPLACE({name}, '.', '')") } else { name };
        let scale = self.scale.min(u32::from(MONEY_DIGITS));
        Some(format!(
            "looks like a decimal comma: CAST(REPLACE({plain}, ',', '.') AS DECIMAL({MONEY_DIGITS}, {scale}))"
        ))
    }

    /// The type for these values, and why where that is no matter of course.
    pub fn decide(&self, name: &str, json: Option<TimestampStyle>) -> (Type, Option<String>) {
        let all = |count: u64| self.values > 0 && count == self.values;
        let numbers = self.integers + self.big + self.decimals;
        let because = |reason: &str| Some(reason.to_string());
        if self.values == 0 {
            return (Type::string(), because("no value was seen"));
        }
        if all(self.booleans) {
            return (Type::Boolean, None);
        }
        if self.zero_led > 0 && all(numbers) {
            return (Type::string(), because("numbers that begin with 0 are codes"));
        }
        if all(self.integers) {
            return (Type::BigInt, None);
        }
        if all(self.integers + self.big) {
            return match u8::try_from(self.digits) {
                Ok(digits @ ..=38) => (Type::Decimal(digits, 0), because("too large for BIGINT")),
                _ => (Type::string(), because("numbers of more than 38 digits")),
            };
        }
        if all(numbers) && is_money(name) && self.scale <= MONEY_SCALE_MAX && self.digits + self.scale <= 38 {
            let precision = (self.digits + self.scale) as u8;
            return (Type::Decimal(precision.max(MONEY_DIGITS), self.scale as u8), because("an amount, by its name"));
        }
        if all(numbers + self.floats) {
            return (Type::Double, None);
        }
        if let Some(kind) = self.forms().iter().find_map(|form| form.column_type(json, self.fraction)) {
            return (kind, None);
        }
        if all(self.times_of_day) {
            return (Type::Time(0), None);
        }
        if let Some(reason) = self.with_points(name) {
            return (Type::string(), Some(reason));
        }
        let odd = self.values - (numbers + self.floats);
        if odd * 20 < self.values {
            let first = self.odd.as_deref().unwrap_or_default();
            return (
                Type::string(),
                Some(format!("{odd} of {} values are no numbers, such as '{first}'", self.values)),
            );
        }
        (Type::string(), None)
    }

    /// The forms of time that read every value, likely ones first.
    pub fn forms(&self) -> &[Form] {
        self.forms.as_deref().unwrap_or_default()
    }

    pub fn absent_count(&self) -> u64 {
        self.absent.values().sum()
    }

    /// Whether every value is a whole number, possibly led by zeros.
    pub fn is_whole(&self) -> bool {
        self.values > 0 && self.integers == self.values
    }

    /// Whether every value is a time of the day.
    pub fn is_time_of_day(&self) -> bool {
        self.values > 0 && self.times_of_day == self.values
    }

    /// Whether any number has a point.
    pub fn has_decimals(&self) -> bool {
        self.decimals > 0
    }
}

fn is_float(text: &str) -> bool {
    if matches!(text, "Infinity" | "NaN") {
        return true;
    }
    text.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && text.ends_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'-' | b'+'))
        && text.parse::<f64>().is_ok()
}

fn is_money(name: &str) -> bool {
    words(name).iter().any(|word| MONEY.contains(&word.as_str()))
}

/// The words of a name in lower case: of `tipAmount`, `tip_amount` and `Tip amount` the same.
pub(crate) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut before_is_lower = false;
    for c in name.chars() {
        let splits = !c.is_alphanumeric() || (c.is_uppercase() && before_is_lower);
        if splits && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
        before_is_lower = c.is_lowercase() || c.is_numeric();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// A value for the report, on one line and not too long.
fn shown(text: &str) -> String {
    let line: String = text.chars().take(EXAMPLE_CHARACTERS).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().count() > EXAMPLE_CHARACTERS { format!("{line}…") } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(name: &str, texts: &[&str]) -> String {
        let mut evidence = Evidence::default();
        texts.iter().for_each(|text| evidence.observe(text));
        evidence.decide(name, None).0.to_string()
    }

    #[test]
    fn types_are_the_narrowest_that_are_safe() {
        for (name, texts, expected) in [
            ("n", &["1", "-20", "+3"][..], "BIGINT"),
            ("n", &["1", "99999999999999999999"], "DECIMAL(20, 0)"),
            ("n", &["1", "2.5"], "DOUBLE"),
            ("n", &["1e-5", "NaN", "Infinity"], "DOUBLE"),
            ("price", &["1", "2.50"], "DECIMAL(18, 2)"),
            ("tipAmount", &["0.25"], "DECIMAL(18, 2)"),
            ("enterprise", &["0.25"], "DOUBLE"),
            ("zip", &["01234", "99999"], "STRING"),
            ("b", &["true", "False"], "BOOLEAN"),
            ("d", &["2024-01-31", "2024-02-29"], "DATE"),
            ("t", &["10:00:05", "10:00"], "TIME(0)"),
            ("ts", &["2024-01-31 10:00:00", "2024-01-31 10:00:00.5"], "TIMESTAMP(3)"),
            ("ts", &["2024-01-31 10:00:00.123456"], "TIMESTAMP(6)"),
            ("ts", &["2024-01-31 10:00:00Z"], "TIMESTAMP_LTZ(3)"),
            ("ts", &["2024-01-31T10:00:00Z"], "STRING"),
            ("x", &["1", "a"], "STRING"),
            ("x", &["", "NA"], "STRING"),
            ("v", &["1", "", "NA"], "BIGINT"),
            ("v", &["1e", "-"], "STRING"),
        ] {
            assert_eq!(decided(name, texts), expected, "{name}: {texts:?}");
        }
    }

    #[test]
    fn decimal_commas_come_with_what_makes_numbers_of_them() {
        let reason = |texts: &[&str]| {
            let mut evidence = Evidence::default();
            texts.iter().for_each(|text| evidence.observe(text));
            evidence.decide("x", None).1
        };
        let said = reason(&["-1.234,50", "12,5", "7"]);
        assert_eq!(
            said.as_deref(),
            Some("looks like a decimal comma: CAST(REPLACE(REPLACE(x, '.', ''), ',', '.') AS DECIMAL(18, 2))")
        );
        assert_eq!(reason(&["1,234", "12,500"]), None);
        assert_eq!(reason(&["1,5", "a"]), None);
    }

    #[test]
    fn absent_values_are_counted_by_their_word() {
        let mut evidence = Evidence::default();
        ["", "NA", "NA", "1"].iter().for_each(|text| evidence.observe(text));
        assert_eq!(evidence.absent, BTreeMap::from([("", 1), ("NA", 2)]));
        assert_eq!((evidence.values, evidence.absent_count()), (1, 3));
    }

    #[test]
    fn names_fall_into_words_in_every_spelling() {
        assert_eq!(words("tipAmount"), ["tip", "amount"]);
        assert_eq!(words("Tip amount (USD)"), ["tip", "amount", "usd"]);
        assert_eq!(words("event_time"), ["event", "time"]);
    }
}
