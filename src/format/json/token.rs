//! A pull parser for one JSON document, as strict and as lenient as Jackson in Flink's setting:
//! control characters may stand in strings, everything else is by the standard.

/// Deeper nesting is refused, as by Jackson.
const DEPTH_MAX: usize = 1_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token {
    StartObject,
    EndObject,
    StartArray,
    EndArray,
    Name,
    Text,
    Integer,
    Fraction,
    True,
    False,
    Null,
}

/// The document is broken at this offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fault {
    pub at: usize,
    pub what: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expect {
    Value,
    ValueOrEndArray,
    NameOrEndObject,
    Name,
    CommaOrEnd,
}

/// The tokens of a document.
#[derive(Debug)]
pub(crate) struct Tokens<'a> {
    text: &'a [u8],
    at: usize,
    expect: Expect,
    /// For each open container, whether it is an object.
    open: Vec<bool>,
    /// Where the current token starts.
    pub start: usize,
    /// Its text: a range, or the buffer if it held escapes.
    range: (usize, usize),
    unescaped: Vec<u8>,
    in_buffer: bool,
}

impl<'a> Tokens<'a> {
    pub fn new(text: &'a [u8], at: usize) -> Self {
        Tokens {
            text,
            at,
            expect: Expect::Value,
            open: Vec::new(),
            start: at,
            range: (at, at),
            unescaped: Vec::new(),
            in_buffer: false,
        }
    }

    /// Where the text goes on behind the current token.
    pub fn position(&self) -> usize {
        self.at
    }

    /// The current token's text; of a string, what it stands for.
    pub fn value(&self) -> &[u8] {
        if self.in_buffer { &self.unescaped } else { &self.text[self.range.0..self.range.1] }
    }

    /// The next token; `None` behind the end of the document.
    pub fn next(&mut self) -> Result<Option<Token>, Fault> {
        self.in_buffer = false;
        self.skip_blanks();
        if self.expect == Expect::CommaOrEnd {
            let Some(object) = self.open.last().copied() else { return Ok(None) };
            match self.peek() {
                Some(b',') => {
                    self.at += 1;
                    self.skip_blanks();
                    self.expect = if object { Expect::Name } else { Expect::Value };
                }
                Some(b'}') if object => return Ok(Some(self.close(Token::EndObject))),
                Some(b']') if !object => return Ok(Some(self.close(Token::EndArray))),
                Some(_) if object => return self.fault("expected ',' or '}'"),
                Some(_) => return self.fault("expected ',' or ']'"),
                None => return self.fault("the line ends inside the document"),
            }
        }
        self.start = self.at;
        let Some(byte) = self.peek() else {
            if self.open.is_empty() && self.expect == Expect::Value {
                return Ok(None);
            }
            return self.fault("the line ends inside the document");
        };
        match self.expect {
            Expect::NameOrEndObject if byte == b'}' => Ok(Some(self.close(Token::EndObject))),
            Expect::ValueOrEndArray if byte == b']' => Ok(Some(self.close(Token::EndArray))),
            Expect::NameOrEndObject | Expect::Name => self.name(byte).map(Some),
            _ => self.any_value(byte).map(Some),
        }
    }

    fn name(&mut self, byte: u8) -> Result<Token, Fault> {
        if byte != b'"' {
            return self.fault("expected a field name in double quotes");
        }
        self.string()?;
        self.skip_blanks();
        if self.peek() != Some(b':') {
            return self.fault("expected ':' behind the field name");
        }
        self.at += 1;
        self.expect = Expect::Value;
        Ok(Token::Name)
    }

    fn any_value(&mut self, byte: u8) -> Result<Token, Fault> {
        let token = match byte {
            b'{' => return self.begin(Token::StartObject),
            b'[' => return self.begin(Token::StartArray),
            b'"' => {
                self.string()?;
                Token::Text
            }
            b'-' | b'0'..=b'9' => {
                let Some((end, fraction)) = number(self.text, self.at) else {
                    return self.fault("this is not a number");
                };
                self.range = (self.at, end);
                self.at = end;
                if fraction { Token::Fraction } else { Token::Integer }
            }
            b't' => self.word(b"true", Token::True)?,
            b'f' => self.word(b"false", Token::False)?,
            b'n' => self.word(b"null", Token::Null)?,
            _ => return self.fault("expected a JSON value"),
        };
        self.expect = Expect::CommaOrEnd;
        Ok(token)
    }

    fn begin(&mut self, token: Token) -> Result<Token, Fault> {
        if self.open.len() >= DEPTH_MAX {
            return self.fault("the document is nested too deeply");
        }
        let object = token == Token::StartObject;
        self.open.push(object);
        self.expect = if object { Expect::NameOrEndObject } else { Expect::ValueOrEndArray };
        self.range = (self.at, self.at + 1);
        self.at += 1;
        Ok(token)
    }

    fn close(&mut self, token: Token) -> Token {
        self.open.pop();
        self.start = self.at;
        self.range = (self.at, self.at + 1);
        self.at += 1;
        self.expect = Expect::CommaOrEnd;
        token
    }

    fn word(&mut self, word: &[u8], token: Token) -> Result<Token, Fault> {
        let end = self.at + word.len();
        let part_of_more = self.text.get(end).is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$'));
        if !self.text[self.at..].starts_with(word) || part_of_more {
            return self.fault("expected a JSON value");
        }
        self.range = (self.at, end);
        self.at = end;
        Ok(token)
    }

    /// The string whose opening quote is at `self.at`.
    fn string(&mut self) -> Result<(), Fault> {
        let mut from = self.at + 1;
        let start = from;
        let mut at = from;
        loop {
            let Some(found) = memchr::memchr2(b'"', b'\\', &self.text[at..]) else {
                return self.fault("this string has no closing quote");
            };
            at += found;
            if self.text[at] == b'"' {
                break;
            }
            if !self.in_buffer {
                self.unescaped.clear();
                self.in_buffer = true;
            }
            self.unescaped.extend_from_slice(&self.text[from..at]);
            at = self.escape(at)?;
            from = at;
        }
        if self.in_buffer {
            self.unescaped.extend_from_slice(&self.text[from..at]);
        }
        self.range = (start, at);
        self.at = at + 1;
        Ok(())
    }

    /// Appends what the escape at `at` stands for; where it ends.
    fn escape(&mut self, at: usize) -> Result<usize, Fault> {
        let plain = match self.text.get(at + 1) {
            Some(b @ (b'"' | b'\\' | b'/')) => *b,
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'u') => return self.unicode(at),
            _ => return Err(Fault { at, what: "unknown escape in a string" }),
        };
        self.unescaped.push(plain);
        Ok(at + 2)
    }

    fn unicode(&mut self, at: usize) -> Result<usize, Fault> {
        let first = hex4(self.text, at + 2).ok_or(Fault { at, what: "expected four hexadecimal digits behind \\u" })?;
        let mut end = at + 6;
        let mut code = first;
        if (0xD800..0xDC00).contains(&first)
            && self.text[end..].starts_with(b"\\u")
            && let Some(second @ 0xDC00..=0xDFFF) = hex4(self.text, end + 2)
        {
            code = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
            end += 6;
        }
        // Half a surrogate pair has no UTF-8; Java writes a question mark for it.
        let character = char::from_u32(code).unwrap_or('?');
        self.unescaped.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        Ok(end)
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn fault<T>(&self, what: &'static str) -> Result<T, Fault> {
        Err(Fault { at: self.at, what })
    }
}

fn hex4(text: &[u8], at: usize) -> Option<u32> {
    let digits = text.get(at..at + 4)?;
    digits.iter().try_fold(0, |code, b| Some(code << 4 | (*b as char).to_digit(16)?))
}

/// Where the number at `at` ends, and whether it has a point or an exponent.
pub(crate) fn number(text: &[u8], at: usize) -> Option<(usize, bool)> {
    let digits = |from: usize| text.get(from..).map_or(0, |t| t.iter().take_while(|b| b.is_ascii_digit()).count());
    let mut end = at + usize::from(text.get(at) == Some(&b'-'));
    let whole = digits(end);
    if whole == 0 || (whole > 1 && text[end] == b'0') {
        return None;
    }
    end += whole;
    let mut fraction = false;
    if text.get(end) == Some(&b'.') {
        let count = digits(end + 1);
        if count == 0 {
            return None;
        }
        end += 1 + count;
        fraction = true;
    }
    if matches!(text.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(end + 1), Some(b'+' | b'-')));
        let count = digits(end + 1 + sign);
        if count == 0 {
            return None;
        }
        end += 1 + sign + count;
        fraction = true;
    }
    Some((end, fraction))
}

/// Skips the value whose first token is `first`; where it ends.
pub(crate) fn skip_value(tokens: &mut Tokens<'_>, first: Token) -> Result<(), Fault> {
    let mut depth = 0usize;
    let mut token = first;
    loop {
        match token {
            Token::StartObject | Token::StartArray => depth += 1,
            Token::EndObject | Token::EndArray => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return Ok(());
        }
        token = tokens.next()?.ok_or(Fault { at: tokens.position(), what: "the line ends inside the document" })?;
    }
}
