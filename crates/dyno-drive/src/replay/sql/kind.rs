//! What statements do, by their words.

use serde::Serialize;

use super::token::Token;
use crate::wire::Dialect;

/// What a statement does, the more serious the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// It reads.
    Read,
    /// It begins or ends a transaction.
    Control,
    /// It changes its session only: a setting, a cursor.
    Session,
    /// It changes or locks rows, or runs a procedure that may.
    Write,
    /// It changes tables.
    Ddl,
    /// It is never replayed: files, users, rights, the server itself, or not understood.
    Never,
}

/// Words at the start of a statement that decide its kind.
const DEPTH: usize = 5;

/// The words of a statement that decide what it does.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools)] // each is a word that was seen
pub struct Words {
    dialect: Dialect,
    first: Vec<String>,
    tokens: usize,
    /// A word that the next token decides on: INSERT or REPLACE may be functions.
    pending: bool,
    after_dot: bool,
    writes: bool,
    into: bool,
    file: bool,
    global: bool,
    fixed: bool,
    broken: bool,
}

impl Words {
    pub const fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            first: Vec::new(),
            tokens: 0,
            pending: false,
            after_dot: false,
            writes: false,
            into: false,
            file: false,
            global: false,
            fixed: false,
            broken: false,
        }
    }

    /// Begins the next statement.
    pub fn clear(&mut self) {
        *self = Self::new(self.dialect);
    }

    /// Adds a token.
    pub fn add(&mut self, token: Token<'_>) {
        if self.tokens == 0 && token == Token::Symbol("(") {
            return;
        }
        self.tokens += 1;
        if std::mem::take(&mut self.pending) && token != Token::Symbol("(") {
            self.writes = true;
        }
        self.broken |= token == Token::Broken;
        let after_dot = std::mem::replace(&mut self.after_dot, token == Token::Symbol("."));
        let Token::Word(word) = token else { return };
        if after_dot {
            return;
        }
        let word = word.to_ascii_lowercase();
        match word.as_str() {
            "insert" | "replace" => self.pending = self.tokens > 1,
            "update" | "delete" | "merge" | "share" => self.writes |= self.tokens > 1,
            "into" => self.into = true,
            "outfile" | "dumpfile" => self.file = true,
            "global" | "persist" | "persist_only" => self.global = true,
            // Settings on which reading a statement here relies.
            "standard_conforming_strings"
            | "default_transaction_read_only"
            | "transaction_read_only"
            | "backslash_quote" => self.fixed = true,
            _ => {}
        }
        if self.first.len() < DEPTH && self.first.len() + 1 == self.tokens {
            self.first.push(word);
        }
    }

    /// What the statement does.
    pub fn kind(&self) -> Kind {
        if self.broken {
            return Kind::Never;
        }
        let mysql = self.dialect == Dialect::Mysql;
        let early =
            |words: &[&str]| self.first.iter().skip(1).any(|word| words.contains(&word.as_str()));
        let reading = || match (self.file, self.writes, self.into && !mysql) {
            (true, ..) => Kind::Never,
            (_, true, _) => Kind::Write,
            (.., true) => Kind::Ddl,
            _ => Kind::Read,
        };
        let Some(first) = self.first.first() else {
            return if self.tokens == 0 { Kind::Read } else { Kind::Never };
        };
        match first.as_str() {
            "select" | "values" | "table" | "with" | "explain" | "show" | "describe" | "desc" => {
                reading()
            }
            "start" if !early(&["transaction"]) => Kind::Never,
            "commit" | "rollback" | "prepare" if early(&["prepared", "transaction"]) => Kind::Never,
            "begin" | "start" | "commit" | "end" | "rollback" | "abort" | "savepoint"
            | "release" => Kind::Control,
            "set" | "reset"
                if self.fixed || self.global || early(&["role", "authorization", "password"]) =>
            {
                Kind::Never
            }
            "set" | "reset" | "discard" | "deallocate" | "use" | "listen" | "unlisten"
            | "close" | "fetch" | "move" => Kind::Session,
            "declare" | "prepare" if !mysql && !self.writes => Kind::Session,
            "insert" | "update" | "delete" | "merge" | "replace" | "call" | "do" | "execute"
            | "lock" | "unlock" | "declare" | "prepare" | "notify" => Kind::Write,
            "create" | "alter" | "drop" if GUARDED.contains(&self.object()) => Kind::Never,
            "rename" if early(&["user"]) => Kind::Never,
            "create" | "alter" | "drop" | "truncate" | "comment" | "reindex" | "cluster"
            | "vacuum" | "analyze" | "refresh" | "rename" | "optimize" => Kind::Ddl,
            _ => Kind::Never,
        }
    }

    /// The kind of object of CREATE, ALTER or DROP.
    fn object(&self) -> &str {
        let named = self.first.iter().skip(1).find(|word| !MODIFIERS.contains(&word.as_str()));
        named.map_or("", String::as_str)
    }
}

const MODIFIERS: [&str; 13] = [
    "or",
    "replace",
    "temp",
    "temporary",
    "global",
    "local",
    "unique",
    "unlogged",
    "trusted",
    "procedural",
    "default",
    "foreign",
    "public",
];

/// Objects that concern more than tables.
const GUARDED: [&str; 16] = [
    "user",
    "role",
    "group",
    "database",
    "tablespace",
    "system",
    "server",
    "extension",
    "subscription",
    "publication",
    "language",
    "privileges",
    "policy",
    "data",
    "owned",
    "instance",
];
