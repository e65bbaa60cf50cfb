//! What a statement does, as far as its words show, and its class: its text without literals.
//!
//! A log is untrusted and runs with the rights of the user in the URL. So whatever is not understood
//! is not replayed. Functions are opaque: a SELECT may call one that changes data.

mod kind;
mod token;

use std::hash::{DefaultHasher, Hasher as _};

use crate::wire::Dialect;
pub use kind::Kind;
use token::{Token, Tokens};

/// Maximum bytes of a class's text that are kept.
pub const LONGEST_TEXT: usize = 2_000;

/// Reads statements; reuses its memory.
#[derive(Debug)]
pub struct Reader {
    dialect: Dialect,
    text: String,
    unlocks: bool,
}

impl Reader {
    /// For a dialect.
    pub const fn new(dialect: Dialect) -> Self {
        Self { dialect, text: String::new(), unlocks: false }
    }

    /// What a text does, and the hash of its class. [`text`](Self::text) is then the class.
    pub fn read(&mut self, sql: &str) -> (Kind, u64) {
        self.text.clear();
        let mut kind = Kind::Read;
        let mut words = kind::Words::new(self.dialect);
        let configures = ["set_config", "SET_CONFIG"].iter().any(|name| sql.contains(name));
        words.own_config = configures && sets_own(sql);
        let mut before = None;
        let mut tokens = Tokens::new(sql, self.dialect);
        while let Some(token) = tokens.next() {
            if token == Token::Symbol(";") {
                kind = kind.max(words.kind());
                words.clear();
            } else {
                words.add(token);
            }
            let signs = is_sign(token)
                && starts_number(tokens.after())
                && takes_sign(&self.text, self.dialect);
            // A sign belongs to its number.
            if !signs {
                append(&mut self.text, before, token);
                before = Some(token);
            }
        }
        kind = kind.max(words.kind());
        self.unlocks = words.unlocks;
        let ended = self.text.trim_end_matches([';', ' ']).len();
        self.text.truncate(ended);
        let mut hasher = DefaultHasher::new();
        hasher.write(self.text.as_bytes());
        (kind, hasher.finish())
    }

    /// Whether the last text makes a read-only session or transaction writable by name.
    pub const fn unlocks(&self) -> bool {
        self.unlocks
    }

    /// The class of the last text, with `?` for each literal and each list of literals.
    pub fn text(&self) -> &str {
        let mut end = self.text.len().min(LONGEST_TEXT);
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        &self.text[..end]
    }
}

/// Whether all calls of `set_config` in a text set a setting of the application, such as
/// `set_config('app.tenant', …)`.
fn sets_own(sql: &str) -> bool {
    let mut tokens = Tokens::new(sql, Dialect::Postgres);
    while let Some(token) = tokens.next() {
        let (Token::Word(name) | Token::Quoted(name)) = token else { continue };
        if !name.trim_matches('"').eq_ignore_ascii_case("set_config") {
            continue;
        }
        if tokens.next() != Some(Token::Symbol("(")) {
            return false;
        }
        let first = tokens.after().trim_start().strip_prefix('\'');
        let Some((name, after)) = first.and_then(|rest| rest.split_once('\'')) else {
            return false;
        };
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._".contains(&byte);
        if !name.contains('.')
            || !name.bytes().all(is_plain)
            || !after.trim_start().starts_with(',')
        {
            return false;
        }
    }
    true
}

/// Statements that a general log shows as something else, too.
#[derive(Debug, PartialEq, Eq)]
pub enum Aside {
    /// USE, with the database, which is like the command `Init DB`.
    Use(String),
    /// PREPARE, EXECUTE or DEALLOCATE: the statement itself follows as the command `Execute`.
    Prepared,
}

/// What a statement of MariaDB or MySQL is beside the others.
pub fn aside(sql: &str) -> Option<Aside> {
    let mut tokens = Tokens::new(sql, Dialect::Mysql);
    let Some(Token::Word(first)) = tokens.next() else { return None };
    let is = |word: &str| first.eq_ignore_ascii_case(word);
    if is("use") {
        let name = tokens.after().trim_matches(|one: char| one.is_whitespace() || one == ';');
        let quoted = name.strip_prefix('`').and_then(|name| name.strip_suffix('`'));
        let name = quoted.map_or_else(|| name.to_owned(), |name| name.replace("``", "`"));
        // Others in the same text are not aside.
        return (!name.contains(';')).then_some(Aside::Use(name));
    }
    (is("prepare") || is("execute") || is("deallocate")).then_some(Aside::Prepared)
}

/// What a SET makes of `autocommit`; `text` is its class, in which values are `?`.
pub fn autocommit(text: &str, sql: &str) -> Option<bool> {
    if !text.starts_with("set ") || !text.contains("autocommit") {
        return None;
    }
    let lower = sql.to_ascii_lowercase();
    let (_, rest) = lower.split_once("autocommit")?;
    let rest = rest.trim_start_matches(|one: char| one.is_whitespace() || "`:='\"".contains(one));
    let end = rest.find(|one: char| !one.is_ascii_alphanumeric()).unwrap_or(rest.len());
    match &rest[..end] {
        "0" | "off" | "false" => Some(false),
        "1" | "on" | "true" | "default" => Some(true),
        _ => None,
    }
}

/// What runs in place of a statement that is left out, so that its session commits when it did:
/// `autocommit` of a SET of several settings, and transactions in two phases. `text` is its class.
pub fn in_its_place(dialect: Dialect, kind: Kind, text: &str, sql: &str) -> Option<String> {
    if text.contains(';') {
        return None;
    }
    let starts = |words: &str| text.starts_with(words);
    let found = match dialect {
        Dialect::Postgres if starts("prepare transaction") => "commit",
        Dialect::Mysql if starts("xa start") || starts("xa begin") => "begin",
        Dialect::Mysql if starts("xa commit") => "commit",
        Dialect::Mysql if starts("xa rollback") => "rollback",
        Dialect::Mysql if kind == Kind::Pinned && starts("set ") => {
            return autocommit(text, sql).map(|on| format!("set autocommit = {}", u8::from(on)));
        }
        _ => return None,
    };
    Some(found.to_owned())
}

/// What a text of PostgreSQL does with a prepared statement.
#[derive(Debug, PartialEq, Eq)]
pub enum Named {
    /// It prepares one.
    Prepares(String),
    /// It drops one.
    Drops(String),
}

/// What a text does with a prepared statement of PostgreSQL; `text` is its class.
pub fn named(text: &str) -> Option<Named> {
    let plain = |name: &str| name.trim_matches('"').to_owned();
    let mut words = text.split([' ', '(']).filter(|word| !word.is_empty());
    let first = words.next()?;
    let mut name = words.next()?;
    match first {
        "prepare" if name != "transaction" => Some(Named::Prepares(plain(name))),
        "deallocate" => {
            if name == "prepare" {
                name = words.next()?;
            }
            (name != "all").then(|| Named::Drops(plain(name)))
        }
        _ => None,
    }
}

/// Whether a text of MariaDB or MySQL has `?` for the values of its parameters.
pub fn has_marks(sql: &str) -> bool {
    Tokens::new(sql, Dialect::Mysql).any(|token| matches!(token, Token::Parameter(_)))
}

/// What a text makes of its session's transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// A transaction is open after it.
    Begins,
    /// None is.
    Ends,
    /// Nothing.
    Stays,
}

/// Whether a text begins or ends a transaction; `text` is its class, in which values are `?`.
pub fn turn(text: &str) -> Turn {
    text.split(';').fold(Turn::Stays, |before, part| {
        match part.split_whitespace().next() {
            Some("begin" | "start") => Turn::Begins,
            // To a savepoint.
            Some("rollback" | "abort") if part.contains(" to ") => before,
            Some("commit" | "end" | "rollback" | "abort") => {
                if part.contains(" and chain") {
                    Turn::Begins
                } else {
                    Turn::Ends
                }
            }
            _ => before,
        }
    })
}

/// The database that the last USE in a text of several statements chooses.
pub fn last_use(sql: &str) -> Option<String> {
    let mut tokens = Tokens::new(sql, Dialect::Mysql);
    let (mut begins, mut found) = (true, None);
    while let Some(token) = tokens.next() {
        match token {
            Token::Word(word) if begins && word.eq_ignore_ascii_case("use") => {
                if let Some(Token::Word(name) | Token::Quoted(name)) = tokens.next() {
                    found = Some(name.trim_matches('`').replace("``", "`"));
                }
            }
            _ => {}
        }
        begins = token == Token::Symbol(";");
    }
    found
}

/// The highest number of a parameter `$n` of PostgreSQL in a text.
pub fn parameters(sql: &str) -> usize {
    Tokens::new(sql, Dialect::Postgres)
        .filter_map(|token| match token {
            Token::Parameter(number) => Some(number),
            _ => None,
        })
        .max()
        .unwrap_or(0)
}

/// Words after which a parenthesis stands apart.
const APART: [&str; 18] = [
    "in", "values", "and", "or", "not", "as", "from", "select", "where", "on", "using", "exists",
    "join", "by", "then", "when", "else", "into",
];

/// Words after which `-` is a sign; after others, it subtracts.
const BEFORE_SIGN: [&str; 21] = [
    "all", "and", "between", "by", "case", "default", "distinct", "else", "from", "having", "like",
    "limit", "not", "offset", "on", "or", "select", "then", "to", "when", "where",
];

fn is_sign(token: Token<'_>) -> bool {
    matches!(token, Token::Symbol("-" | "+"))
}

fn starts_number(text: &str) -> bool {
    let text = text.trim_ascii_start();
    text.strip_prefix('.').unwrap_or(text).starts_with(|one: char| one.is_ascii_digit())
}

/// Whether a sign may follow a class's text so far: an operator, a comma, a parenthesis, one of
/// [`BEFORE_SIGN`], or nothing.
fn takes_sign(text: &str, dialect: Dialect) -> bool {
    let is_name = |one: char| one.is_ascii_alphanumeric() || !one.is_ascii() || "_$".contains(one);
    let before = text.trim_end_matches(is_name);
    match &text[before.len()..] {
        "" => !text.ends_with(['?', ')', ']', '"', '`', '.']),
        // A name elsewhere.
        "interval" => dialect == Dialect::Mysql,
        word => BEFORE_SIGN.contains(&word) && !before.ends_with('.'),
    }
}

fn append(text: &mut String, before: Option<Token<'_>>, token: Token<'_>) {
    let tight = match token {
        Token::Symbol("," | ")" | "." | ";" | "::" | "]") => true,
        Token::Symbol("(" | "[") => match before {
            Some(Token::Word(word)) => !APART.iter().any(|one| one.eq_ignore_ascii_case(word)),
            Some(Token::Quoted(_)) => true,
            _ => false,
        },
        _ => false,
    };
    let glued = text.is_empty() || matches!(before, Some(Token::Symbol("(" | "." | "::" | "[")));
    if !tight && !glued {
        text.push(' ');
    }
    match token {
        Token::Word(word) => text.extend(word.chars().map(|one| one.to_ascii_lowercase())),
        Token::Quoted(name) | Token::Symbol(name) => text.push_str(name),
        Token::Literal | Token::Parameter(_) => {
            if text.ends_with("?, ") {
                text.truncate(text.len() - 2);
            } else {
                text.push('?');
            }
        }
        Token::Broken => text.push('…'),
    }
    // Rows of values: (?), (?) and so on.
    if text.ends_with("(?), (?)") {
        text.truncate(text.len() - ", (?)".len());
    }
}

#[cfg(test)]
mod tests;
