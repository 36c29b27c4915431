//! CSV once more, slow and obvious: one character after the other, one record after the other, from
//! the start of the file. The fast reader must agree with it on any text.

use proptest::prelude::*;

use super::read_in_all_ways;
use crate::types::Type;

#[derive(Debug, Clone, Copy)]
struct Dialect {
    delimiter: char,
    quote: Option<char>,
    escape: Option<char>,
    comments: bool,
    trim: bool,
}

struct Twin {
    text: Vec<char>,
    at: usize,
    dialect: Dialect,
}

enum End {
    Field,
    Record,
}

struct Broken;

impl Twin {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }
    fn next(&mut self) -> Option<char> {
        let c = self.peek();
        self.at += usize::from(c.is_some());
        c
    }
    /// What ends a field, given that `c` was just taken.
    fn end(&mut self, c: Option<char>) -> End {
        if c == Some(self.dialect.delimiter) {
            return End::Field;
        }
        if c == Some('\r') && self.peek() == Some('\n') {
            self.at += 1;
        }
        End::Record
    }
    fn unescaped(&mut self) -> Result<char, Broken> {
        Ok(match self.next().ok_or(Broken)? {
            '0' => '\0',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            other => other,
        })
    }
    /// Whether `c` ends an unquoted field, or is the end of the text.
    fn ends(&self, c: Option<char>) -> bool {
        c.is_none_or(|c| c == self.dialect.delimiter || c == '\n' || c == '\r')
    }
    fn skip_blanks(&mut self) {
        while self.dialect.trim && self.peek().is_some_and(|c| c <= ' ') && !self.ends(self.peek()) {
            self.at += 1;
        }
    }
    fn field(&mut self) -> Result<(String, End), Broken> {
        let mut value = String::new();
        self.skip_blanks();
        if self.peek().is_some() && self.peek() == self.dialect.quote {
            self.at += 1;
            loop {
                let c = self.next().ok_or(Broken)?;
                if Some(c) == self.dialect.quote {
                    if self.peek() != self.dialect.quote {
                        break;
                    }
                    self.at += 1;
                    value.push(c);
                } else if Some(c) == self.dialect.escape {
                    value.push(self.unescaped()?);
                } else {
                    value.push(c);
                }
            }
            loop {
                let c = self.next();
                match c {
                    _ if self.ends(c) => return Ok((value, self.end(c))),
                    Some(blank) if blank <= ' ' => {}
                    _ => return Err(Broken),
                }
            }
        }
        loop {
            let c = self.next();
            match c {
                _ if self.ends(c) => {
                    while self.dialect.trim && value.ends_with(|c| c <= ' ') {
                        value.pop();
                    }
                    return Ok((value, self.end(c)));
                }
                _ if c == self.dialect.escape => value.push(self.unescaped()?),
                c => value.extend(c),
            }
        }
    }
    fn skip_to_record(&mut self) {
        while let Some(c) = self.peek() {
            let start = self.at;
            self.skip_blanks();
            match c {
                ' ' | '\n' | '\r' if self.dialect.comments => self.at = start + 1,
                '#' if self.dialect.comments => {
                    while self.peek().is_some_and(|c| c != '\n' && c != '\r') {
                        self.at += 1;
                    }
                }
                _ if self.at == start => break,
                _ => {}
            }
        }
    }
    /// The fields of one record, or nothing if it is broken.
    fn record(&mut self, columns: usize) -> Option<Vec<Option<String>>> {
        let mut fields = Vec::new();
        loop {
            match self.field() {
                Ok((value, End::Field)) => fields.push(value),
                Ok((value, End::Record)) => {
                    fields.push(value);
                    break;
                }
                Err(Broken) => {
                    // Goes on as if a field started here, up to the end of the record.
                    while self.at < self.text.len() {
                        if let Ok((_, End::Record)) = self.field() {
                            break;
                        }
                    }
                    return None;
                }
            }
        }
        if fields.len() == columns + 1 && fields[columns].chars().all(|c| c <= ' ') {
            fields.pop();
        }
        if fields.len() > columns {
            return None;
        }
        let mut row: Vec<_> = fields.into_iter().map(Some).collect();
        row.resize(columns, None);
        Some(row)
    }
}

fn rows(text: &str, dialect: Dialect, names: &[&str]) -> (Vec<String>, u64) {
    let mut twin = Twin { text: text.chars().collect(), at: 0, dialect };
    let (mut rows, mut malformed) = (Vec::new(), 0);
    loop {
        twin.skip_to_record();
        if twin.at >= twin.text.len() {
            return (rows, malformed);
        }
        match twin.record(names.len()) {
            Some(row) => {
                let object: serde_json::Map<_, _> =
                    names.iter().zip(row).map(|(name, value)| (name.to_string(), value.into())).collect();
                rows.push(serde_json::Value::Object(object).to_string());
            }
            None => malformed += 1,
        }
    }
}

fn dialects() -> impl Strategy<Value = Dialect> {
    let narrow = (
        Just(','),
        prop_oneof![Just(Some('"')), Just(None), Just(Some('\''))],
        prop_oneof![Just(None), Just(Some('\\'))],
    );
    // Characters of two and three bytes that begin alike.
    let wide = (
        prop_oneof![Just(','), Just('§'), Just('→')],
        prop_oneof![Just(Some('"')), Just(Some('«')), Just(Some('‘'))],
        prop_oneof![Just(None), Just(Some('¿')), Just(Some('\\'))],
    );
    (prop_oneof![narrow, wide], any::<bool>(), prop_oneof![3 => Just(false), 1 => Just(true)])
        .prop_map(|((delimiter, quote, escape), comments, trim)| Dialect { delimiter, quote, escape, comments, trim })
}

fn agrees(text: &str, dialect: Dialect) {
    let delimiter = dialect.delimiter.to_string();
    let escape = dialect.escape.map(String::from);
    let quote = dialect.quote.map(String::from);
    let mut options =
        vec![("format", "csv"), ("csv.ignore-parse-errors", "true"), ("csv.field-delimiter", delimiter.as_str())];
    match &quote {
        Some(quote) => options.push(("csv.quote-character", quote)),
        None => options.push(("csv.disable-quote-character", "true")),
    }
    if let Some(escape) = &escape {
        options.push(("csv.escape-character", escape));
    }
    if dialect.comments {
        options.push(("csv.allow-comments", "true"));
    }
    if dialect.trim {
        options.push(("csv.trim-spaces", "true"));
    }
    let columns = [("a", Type::string()), ("b", Type::string())];
    let (found, malformed) = read_in_all_ways(text.as_bytes(), &options, &columns, &[0, 1]).expect("readable");
    let found: Vec<_> =
        found.iter().map(|row| serde_json::from_str::<serde_json::Value>(row).expect("JSON").to_string()).collect();
    assert_eq!((found, malformed), rows(text, dialect, &["a", "b"]), "{text:?} {dialect:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_reads_as_its_twin_does(
        text in proptest::collection::vec(
            prop_oneof![
                4 => Just(','), 4 => Just('"'), 3 => Just('\n'), 1 => Just('\r'), 2 => Just('\\'), 1 => Just('#'),
                1 => Just(' '), 1 => Just('\t'), 1 => Just('\''), 6 => Just('a'), 1 => Just('n'), 1 => Just('é'),
                1 => Just('§'), 1 => Just('«'), 1 => Just('¿'), 1 => Just('→'), 1 => Just('‘'), 1 => Just('†')
            ],
            0..60,
        ),
        dialect in dialects(),
    ) {
        agrees(&text.into_iter().collect::<String>(), dialect);
    }

    #[test]
    fn well_formed_text_reads_as_its_twin_does(
        fields in proptest::collection::vec("[a-z,\"\n\r# é]{0,12}", 0..40),
        dialect in dialects(),
    ) {
        let mut text = String::new();
        for pair in fields.chunks(2) {
            let quoted: Vec<_> = pair.iter().map(|field| format!("\"{}\"", field.replace('"', "\"\""))).collect();
            text.push_str(&quoted.join(","));
            text.push('\n');
        }
        agrees(&text, dialect);
    }
}

#[test]
fn corners_read_as_their_twin_does() {
    let texts = [
        "",
        "\n",
        "\r\n",
        "a",
        "a,",
        ",",
        "a,b\r\n\r\nc,d",
        "\"a\"\"b\",c\n",
        "\"a\" \t,b\n",
        "\"a\"x,b\nc,d\n",
        "\"",
        "\"a\nb",
        "a,b,\n",
        "a,b,c\nd,e\n",
        "a\\,b,c\n",
        "\"a\\\"b\",c\n",
        "a\\",
        "# x\na,b\n  # y\n c,d\n",
        "#\n#",
        "\"a\",\"b\"\r\"c\",\"d\"",
        "a,b\n\"c\"\"\",\"\"\n",
        "x\"y\"z,1\n",
        "\"\"é\"\n,",
        "\"a\"€\"b\n\",c\nd,e\n",
        "\"\"\"\",\"\"\n",
    ];
    for text in texts {
        for quote in [Some('"'), None] {
            for escape in [None, Some('\\')] {
                for (comments, trim) in [(false, false), (true, false), (false, true), (true, true)] {
                    agrees(text, Dialect { delimiter: ',', quote, escape, comments, trim });
                }
            }
        }
    }
}
