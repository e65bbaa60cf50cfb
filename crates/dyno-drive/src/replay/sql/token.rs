//! Splits SQL into tokens, as the servers' own scanners do where literals and comments begin and end.

use crate::wire::Dialect;

/// A token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token<'a> {
    /// A keyword or name.
    Word(&'a str),
    /// A quoted name, with its quotes.
    Quoted(&'a str),
    /// A number or a text.
    Literal,
    /// `$n` of PostgreSQL, or `?`, with its number (0 for `?`).
    Parameter(usize),
    /// An operator or a punctuation mark.
    Symbol(&'a str),
    /// A literal or comment without an end, or what servers read in different ways.
    Broken,
}

/// The tokens of a text, without comments.
#[derive(Debug)]
pub struct Tokens<'a> {
    sql: &'a str,
    at: usize,
    mysql: bool,
}

impl<'a> Tokens<'a> {
    /// Splits `sql`.
    pub fn new(sql: &'a str, dialect: Dialect) -> Self {
        Self { sql, at: 0, mysql: dialect == Dialect::Mysql }
    }

    fn rest(&self) -> &'a [u8] {
        &self.sql.as_bytes()[self.at.min(self.sql.len())..]
    }

    /// The text after the last token.
    pub fn after(&self) -> &'a str {
        &self.sql[self.at..]
    }

    /// Skips white space and comments. False for a comment without an end, or of unknown meaning.
    fn skip(&mut self) -> bool {
        loop {
            match self.rest() {
                [byte, ..] if byte.is_ascii_whitespace() || *byte == 0x0b => self.at += 1,
                [b'-', b'-', after @ ..] if !self.mysql || starts_blank(after) => self.skip_line(),
                [b'#', ..] if self.mysql => self.skip_line(),
                // `/*!50003 … */`, `/*M! … */`: the server's product and version decide whether it
                // executes them.
                [b'/', b'*', b'!', ..] | [b'/', b'*', b'M', b'!', ..] if self.mysql => {
                    return false;
                }
                [b'/', b'*', ..] => {
                    if !self.skip_comment() {
                        return false;
                    }
                }
                _ => return true,
            }
        }
    }

    fn skip_line(&mut self) {
        let ends = |byte: &u8| *byte == b'\n' || (*byte == b'\r' && !self.mysql);
        let end = self.rest().iter().position(ends);
        self.at = end.map_or(self.sql.len(), |end| self.at + end + 1);
    }

    /// PostgreSQL's comments nest.
    fn skip_comment(&mut self) -> bool {
        let mut depth = 0;
        loop {
            match self.rest() {
                [b'/', b'*', ..] if depth == 0 || !self.mysql => {
                    depth += 1;
                    self.at += 2;
                }
                [b'*', b'/', ..] => {
                    depth -= 1;
                    self.at += 2;
                    if depth == 0 {
                        return true;
                    }
                }
                [] => return false,
                _ => self.at += 1,
            }
        }
    }

    /// Skips a quoted text that begins at the current byte; false without an end.
    fn skip_quoted(&mut self, quote: u8, escapes: bool) -> bool {
        self.at += 1;
        loop {
            match self.rest() {
                [] => return false,
                [b'\\', _, ..] if escapes => self.at += 2,
                [one, two, ..] if *one == quote && *two == quote => self.at += 2,
                [one, ..] if *one == quote => {
                    self.at += 1;
                    return true;
                }
                _ => self.at += 1,
            }
        }
    }

    /// `$tag$ … $tag$` of PostgreSQL, or None if there is no tag.
    fn skip_dollars(&mut self) -> Option<bool> {
        let rest = self.rest();
        let end = 1 + rest[1..].iter().position(|byte| !is_word(*byte) || *byte == b'$')?;
        if rest[end] != b'$' || rest[1].is_ascii_digit() {
            return None;
        }
        let tag = &rest[..=end];
        let body = &rest[end + 1..];
        let close = body.windows(tag.len()).position(|part| part == tag);
        self.at = close.map_or(self.sql.len(), |close| self.at + end + 1 + close + tag.len());
        Some(close.is_some())
    }

    fn literal(&mut self, quote: u8, escapes: bool) -> Token<'a> {
        if !self.skip_quoted(quote, escapes) {
            return self.broken();
        }
        // PostgreSQL continues `E'…'` with a text on the next line, in which escapes count too.
        let goes_on =
            !self.mysql && escapes && (!self.skip() || self.rest().first() == Some(&b'\''));
        if goes_on { self.broken() } else { Token::Literal }
    }

    const fn broken(&mut self) -> Token<'a> {
        self.at = self.sql.len();
        Token::Broken
    }

    fn name(&mut self, quote: u8) -> Token<'a> {
        let start = self.at;
        if self.skip_quoted(quote, false) {
            Token::Quoted(&self.sql[start..self.at])
        } else {
            self.broken()
        }
    }

    fn word(&mut self) -> Token<'a> {
        let start = self.at;
        self.at += self.rest().iter().take_while(|byte| is_word(**byte)).count();
        let word = &self.sql[start..self.at];
        if self.rest().first() == Some(&b'\'') {
            // A prefix of a text: E'…' with escapes, B, X, N, _utf8mb4.
            let escapes = self.mysql || word.eq_ignore_ascii_case("e");
            let prefix = word.starts_with('_') && self.mysql
                || ["e", "b", "x", "n"].iter().any(|one| word.eq_ignore_ascii_case(one));
            if prefix {
                return self.literal(b'\'', escapes);
            }
        }
        // `U&"…"` has the characters of a name as escapes.
        if !self.mysql && word.eq_ignore_ascii_case("u") && self.rest().starts_with(b"&\"") {
            return self.broken();
        }
        Token::Word(word)
    }

    fn number(&mut self) -> Token<'a> {
        let mut before = 0;
        while let [byte, after @ ..] = self.rest() {
            let sign = matches!(byte, b'+' | b'-')
                && matches!(before, b'e' | b'E')
                && after.first().is_some_and(u8::is_ascii_digit);
            if !(byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_') || sign) {
                break;
            }
            before = *byte;
            self.at += 1;
        }
        // Before version 15, PostgreSQL reads `1e'…'` and `1a$b$` as 1 and what follows it.
        if !self.mysql && matches!(self.rest().first(), Some(b'\'' | b'$')) {
            return self.broken();
        }
        Token::Literal
    }

    fn symbol(&mut self, length: usize) -> Token<'a> {
        let start = self.at;
        self.at += length;
        Token::Symbol(&self.sql[start..self.at])
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        if !self.skip() {
            return Some(self.broken());
        }
        let token = match self.rest() {
            [] => return None,
            [b'\'', ..] => self.literal(b'\'', self.mysql),
            [b'"', ..] if self.mysql => self.literal(b'"', true),
            [b'"', ..] => self.name(b'"'),
            [b'`', ..] => self.name(b'`'),
            [b'$', digit, ..] if !self.mysql && digit.is_ascii_digit() => {
                self.at += 1;
                let start = self.at;
                self.at += self.rest().iter().take_while(|byte| byte.is_ascii_digit()).count();
                Token::Parameter(self.sql[start..self.at].parse().unwrap_or(usize::MAX))
            }
            [b'$', ..] if !self.mysql => match self.skip_dollars() {
                Some(true) => Token::Literal,
                Some(false) => Token::Broken,
                None => self.symbol(1),
            },
            [b'?', ..] if self.mysql => {
                self.at += 1;
                Token::Parameter(0)
            }
            [b'.', digit, ..] if digit.is_ascii_digit() => self.number(),
            [digit, ..] if digit.is_ascii_digit() => self.number(),
            [byte, ..] if is_word(*byte) => self.word(),
            [b'-', b'>', b'>', ..] => self.symbol(3),
            [b'<', b'=' | b'>', ..]
            | [b'>' | b'!', b'=', ..]
            | [b'|', b'|', ..]
            | [b'-', b'>', ..]
            | [b'@', b'@', ..]
            | [b':', b'=' | b':', ..] => self.symbol(2),
            _ => self.symbol(1),
        };
        Some(token)
    }
}

/// Letters, digits, `_`, and all bytes of characters outside ASCII; `$` within a word.
const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80
}

/// MySQL's `--` begins a comment only before a blank, a control character or the end.
fn starts_blank(after: &[u8]) -> bool {
    after.first().is_none_or(|byte| byte.is_ascii_whitespace() || byte.is_ascii_control())
}
