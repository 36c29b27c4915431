//! A small reader of SQL expressions, so that tests can be written as text. The real one is the SQL binder.

use crate::error::{Error, Result};
use crate::expr::Expr;
use crate::expr::resolve::{self, *};
use crate::types::{Schema, Type};

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Word(String),
    Number(String),
    Text(String),
    Sign(String),
}

fn tokens(text: &str) -> Vec<Token> {
    let chars: Vec<char> = text.chars().collect();
    let mut all = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let c = chars[at];
        let start = at;
        if c.is_whitespace() {
            at += 1;
        } else if c == '\'' {
            let mut value = String::new();
            at += 1;
            loop {
                if chars[at] == '\'' && chars.get(at + 1) == Some(&'\'') {
                    value.push('\'');
                    at += 2;
                } else if chars[at] == '\'' {
                    at += 1;
                    break;
                } else {
                    value.push(chars[at]);
                    at += 1;
                }
            }
            all.push(Token::Text(value));
        } else if c.is_ascii_digit() || (c == '.' && chars.get(at + 1).is_some_and(char::is_ascii_digit)) {
            while at < chars.len() && (chars[at].is_ascii_digit() || chars[at] == '.') {
                at += 1;
            }
            if at < chars.len() && matches!(chars[at], 'e' | 'E') {
                at += 1;
                while at < chars.len() && (chars[at].is_ascii_digit() || matches!(chars[at], '-' | '+')) {
                    at += 1;
                }
            }
            all.push(Token::Number(chars[start..at].iter().collect()));
        } else if c.is_alphabetic() || c == '_' {
            while at < chars.len() && (chars[at].is_alphanumeric() || chars[at] == '_') {
                at += 1;
            }
            all.push(Token::Word(chars[start..at].iter().collect()));
        } else {
            let two: String = chars[at..(at + 2).min(chars.len())].iter().collect();
            let sign = if ["||", "<>", "<=", ">=", "!="].contains(&two.as_str()) { two } else { c.to_string() };
            at += sign.chars().count();
            all.push(Token::Sign(sign));
        }
    }
    all
}

/// Reads an expression over the columns of `schema`.
pub(super) fn expression(text: &str, schema: &Schema) -> Result<Expr> {
    let mut reader = Reader { tokens: tokens(text), at: 0, schema };
    let expr = reader.or()?;
    if reader.at < reader.tokens.len() {
        return Err(Error::internal(format!("not read: {:?}", &reader.tokens[reader.at..])));
    }
    Ok(expr)
}

struct Reader<'a> {
    tokens: Vec<Token>,
    at: usize,
    schema: &'a Schema,
}

impl Reader<'_> {
    fn is(&self, word: &str) -> bool {
        self.is_at(0, word)
    }

    fn is_at(&self, ahead: usize, word: &str) -> bool {
        match self.tokens.get(self.at + ahead) {
            Some(Token::Word(text)) => text.eq_ignore_ascii_case(word),
            Some(Token::Sign(text)) => text == word,
            _ => false,
        }
    }

    fn skip(&mut self, word: &str) -> bool {
        let found = self.is(word);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, word: &str) -> Result<()> {
        if self.skip(word) {
            return Ok(());
        }
        Err(Error::internal(format!("expected {word} at {:?}", self.tokens.get(self.at))))
    }

    fn next(&mut self) -> Result<Token> {
        let token = self.tokens.get(self.at).cloned().ok_or_else(|| Error::internal("the text ends"))?;
        self.at += 1;
        Ok(token)
    }

    fn word(&mut self) -> Result<String> {
        match self.next()? {
            Token::Word(word) => Ok(word.to_ascii_uppercase()),
            other => Err(Error::internal(format!("{other:?} is no word"))),
        }
    }

    fn text(&mut self) -> Result<String> {
        match self.next()? {
            Token::Text(text) => Ok(text),
            other => Err(Error::internal(format!("{other:?} is no text"))),
        }
    }

    fn or(&mut self) -> Result<Expr> {
        let mut left = self.and()?;
        while self.skip("OR") {
            left = binary("OR", left, self.and()?)?;
        }
        Ok(left)
    }

    fn and(&mut self) -> Result<Expr> {
        let mut left = self.not()?;
        while self.skip("AND") {
            left = binary("AND", left, self.not()?)?;
        }
        Ok(left)
    }

    fn not(&mut self) -> Result<Expr> {
        if self.skip("NOT") { unary("NOT", self.not()?) } else { self.predicate() }
    }

    fn predicate(&mut self) -> Result<Expr> {
        let mut left = self.sum()?;
        loop {
            if let Some(Token::Sign(sign)) = self.tokens.get(self.at).cloned()
                && ["=", "<>", "!=", "<", "<=", ">", ">="].contains(&sign.as_str())
            {
                self.at += 1;
                left = binary(&sign, left, self.sum()?)?;
            } else if self.skip("IS") {
                let negated = self.skip("NOT");
                left = match self.word()?.as_str() {
                    "NULL" => is_null(left, negated)?,
                    "TRUE" => is_true(left, negated)?,
                    "FALSE" => is_false(left, negated)?,
                    "UNKNOWN" => is_unknown(left, negated)?,
                    _ => {
                        self.expect("FROM")?;
                        let operator = if negated { "IS NOT DISTINCT FROM" } else { "IS DISTINCT FROM" };
                        binary(operator, left, self.sum()?)?
                    }
                };
            } else if ["BETWEEN", "IN", "LIKE", "SIMILAR"]
                .iter()
                .any(|word| self.is(word) || (self.is("NOT") && self.is_at(1, word)))
            {
                let negated = self.skip("NOT");
                left = self.range(left, negated)?;
            } else {
                return Ok(left);
            }
        }
    }

    fn range(&mut self, left: Expr, negated: bool) -> Result<Expr> {
        match self.word()?.as_str() {
            "BETWEEN" => {
                let low = self.sum()?;
                self.expect("AND")?;
                between(left, low, self.sum()?, negated)
            }
            "IN" => {
                self.expect("(")?;
                in_list(left, self.list()?, negated)
            }
            kind => {
                let like_it = kind == "LIKE";
                if !like_it {
                    self.expect("TO")?;
                }
                let pattern = self.sum()?;
                let escape = if self.skip("ESCAPE") { Some(self.sum()?) } else { None };
                if like_it { like(left, pattern, escape, negated) } else { similar(left, pattern, escape, negated) }
            }
        }
    }

    fn sum(&mut self) -> Result<Expr> {
        let mut left = self.product()?;
        while let Some(sign) = ["+", "-", "||"].iter().find(|sign| self.is(sign)) {
            self.at += 1;
            left = binary(sign, left, self.product()?)?;
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Expr> {
        let mut left = self.signed()?;
        while let Some(sign) = ["*", "/", "%"].iter().find(|sign| self.is(sign)) {
            self.at += 1;
            left = binary(sign, left, self.signed()?)?;
        }
        Ok(left)
    }

    fn signed(&mut self) -> Result<Expr> {
        if self.skip("-") {
            return unary("-", self.signed()?);
        }
        if self.skip("+") {
            return unary("+", self.signed()?);
        }
        self.primary()
    }

    /// Arguments up to the closing parenthesis.
    fn list(&mut self) -> Result<Vec<Expr>> {
        let mut all = Vec::new();
        if self.skip(")") {
            return Ok(all);
        }
        loop {
            all.push(self.or()?);
            if self.skip(")") {
                return Ok(all);
            }
            self.expect(",")?;
        }
    }

    fn primary(&mut self) -> Result<Expr> {
        match self.next()? {
            Token::Number(text) => literal_number(&text),
            Token::Text(text) => Ok(literal_string(&text)),
            Token::Sign(sign) if sign == "(" => {
                let expr = self.or()?;
                self.expect(")")?;
                Ok(expr)
            }
            Token::Sign(sign) => Err(Error::internal(format!("unexpected {sign}"))),
            Token::Word(word) => {
                let is_text = matches!(self.tokens.get(self.at), Some(Token::Text(_)));
                match word.to_ascii_uppercase().as_str() {
                    "TRUE" => Ok(literal_bool(true)),
                    "FALSE" => Ok(literal_bool(false)),
                    "NULL" => Ok(literal_null()),
                    "DATE" if is_text => literal_date(&self.text()?),
                    "TIME" if is_text => literal_time(&self.text()?),
                    "TIMESTAMP" if is_text => literal_timestamp(&self.text()?),
                    "INTERVAL" => self.interval(),
                    "CASE" => self.case(),
                    name @ ("CAST" | "TRY_CAST") => {
                        let safe = name == "TRY_CAST";
                        self.expect("(")?;
                        let input = self.or()?;
                        self.expect("AS")?;
                        let kind = self.kind()?;
                        self.expect(")")?;
                        cast(input, kind.nullable(), safe)
                    }
                    name if self.is("(") => self.call(name),
                    name => match self.schema.index_of(&word) {
                        Some(index) => Ok(Expr::column(index, self.schema.fields[index].data_type.clone())),
                        None => resolve::function(name, Vec::new()),
                    },
                }
            }
        }
    }

    fn case(&mut self) -> Result<Expr> {
        let operand = if self.is("WHEN") { None } else { Some(self.or()?) };
        let mut branches = Vec::new();
        while self.skip("WHEN") {
            let mut when = self.or()?;
            if let Some(operand) = &operand {
                when = binary("=", operand.clone(), when)?;
            }
            self.expect("THEN")?;
            branches.push((when, self.or()?));
        }
        let otherwise = if self.skip("ELSE") { Some(self.or()?) } else { None };
        self.expect("END")?;
        case(branches, otherwise)
    }

    fn call(&mut self, name: &str) -> Result<Expr> {
        self.expect("(")?;
        let mut args = Vec::new();
        match name {
            "EXTRACT" => {
                args.push(literal_string(&self.word()?));
                self.expect("FROM")?;
            }
            "TIMESTAMPDIFF" | "TIMESTAMPADD" => {
                args.push(literal_string(&self.word()?));
                self.expect(",")?;
            }
            "TRIM" => {
                let side = ["LEADING", "TRAILING", "BOTH"].into_iter().find(|side| self.skip(side));
                let what = if self.is("FROM") { None } else { Some(self.or()?) };
                if self.skip("FROM") {
                    let name = match side {
                        Some("LEADING") => "LTRIM",
                        Some("TRAILING") => "RTRIM",
                        _ => "TRIM",
                    };
                    args.push(self.or()?);
                    args.extend(what);
                    self.expect(")")?;
                    return resolve::function(name, args);
                }
                args.extend(what);
                if self.skip(")") {
                    return resolve::function(name, args);
                }
                self.expect(",")?;
            }
            "POSITION" => {
                args.push(self.sum()?);
                self.expect("IN")?;
            }
            _ => {}
        }
        if self.skip(")") {
            return resolve::function(name, args);
        }
        loop {
            args.push(self.or()?);
            if self.skip(")") {
                return resolve::function(name, args);
            }
            if self.skip("TO") {
                args.push(literal_string(&self.word()?));
                self.expect(")")?;
                return resolve::function(name, args);
            }
            if !["FROM", "FOR", "PLACING"].iter().any(|word| self.skip(word)) {
                self.expect(",")?;
            }
        }
    }

    /// `'1' DAY`, `'1-2' YEAR TO MONTH`, `'3 04:05:06.7' DAY TO SECOND(3)`.
    fn interval(&mut self) -> Result<Expr> {
        let text = self.text()?;
        let unit = self.word()?;
        let range = self.skip("TO");
        if range {
            self.word()?;
        }
        if self.skip("(") {
            self.next()?;
            self.expect(")")?;
        }
        let number = |text: &str| text.parse::<f64>().map_err(|_| Error::internal("no number"));
        if range && unit == "YEAR" {
            let (years, months) = text.split_once('-').unwrap_or((&text, "0"));
            return Ok(literal_interval_year_month((number(years)? * 12.0 + number(months)?) as i32));
        }
        if range {
            let (days, clock) = text.split_once(' ').unwrap_or(("0", &text));
            let mut millis = number(days)? * 86_400_000.0;
            for (part, unit) in clock.split(':').zip([3_600_000.0, 60_000.0, 1000.0]) {
                millis += number(part)? * unit;
            }
            return Ok(literal_interval_day_second(millis.round() as i64));
        }
        let value = number(&text)?;
        Ok(match unit.as_str() {
            "YEAR" => literal_interval_year_month((value * 12.0) as i32),
            "MONTH" => literal_interval_year_month(value as i32),
            "DAY" => literal_interval_day_second((value * 86_400_000.0) as i64),
            "HOUR" => literal_interval_day_second((value * 3_600_000.0) as i64),
            "MINUTE" => literal_interval_day_second((value * 60_000.0) as i64),
            _ => literal_interval_day_second((value * 1000.0).round() as i64),
        })
    }

    fn kind(&mut self) -> Result<Type> {
        let name = self.word()?;
        let mut sizes = Vec::new();
        if self.skip("(") {
            while !self.skip(")") {
                if let Token::Number(size) = self.next()? {
                    sizes.push(size.parse::<u32>().unwrap_or(0));
                }
            }
        }
        super::recorded::kind_of_name(&name, &sizes).ok_or_else(|| Error::unsupported(format!("the type {name}")))
    }
}
