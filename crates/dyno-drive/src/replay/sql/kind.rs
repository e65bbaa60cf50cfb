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
    /// It changes a setting on which reading statements here relies, or that keeps a session
    /// read-only.
    Pinned,
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
    /// EXPLAIN began it; its words are those of the explained statement.
    explains: bool,
    /// A word that the next token decides on: INSERT or REPLACE may be functions.
    pending: bool,
    after_dot: bool,
    /// A variable of the user comes next.
    after_at: bool,
    writes: bool,
    into: bool,
    file: bool,
    global: bool,
    rights: bool,
    pinned: bool,
    broken: bool,
    /// Whether `set_config` sets the application's settings only.
    pub own_config: bool,
    /// Whether a statement of the text so far makes a read-only session or transaction writable.
    pub unlocks: bool,
}

impl Words {
    pub const fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            first: Vec::new(),
            tokens: 0,
            explains: false,
            pending: false,
            after_dot: false,
            after_at: false,
            writes: false,
            into: false,
            file: false,
            global: false,
            rights: false,
            pinned: false,
            broken: false,
            own_config: false,
            unlocks: false,
        }
    }

    /// Begins the next statement.
    pub fn clear(&mut self) {
        let Self { dialect, own_config, unlocks, .. } = *self;
        *self = Self { own_config, unlocks, ..Self::new(dialect) };
    }

    /// Adds a token.
    pub fn add(&mut self, token: Token<'_>) {
        self.broken |= token == Token::Broken;
        if self.tokens == 0 && !self.begins(token) {
            return;
        }
        self.tokens += 1;
        if std::mem::take(&mut self.pending) && token != Token::Symbol("(") {
            self.writes = true;
        }
        let after_dot = std::mem::replace(&mut self.after_dot, token == Token::Symbol("."));
        let is_at = self.dialect == Dialect::Mysql && token == Token::Symbol("@");
        let after_at = std::mem::replace(&mut self.after_at, is_at);
        let (name, is_quoted) = match token {
            Token::Word(word) => (word, false),
            Token::Quoted(name) => (name.trim_matches(['"', '`']), true),
            _ => return,
        };
        if !after_at {
            self.add_name(name, after_dot);
        }
        if after_dot || is_quoted {
            return;
        }
        let word = name.to_ascii_lowercase();
        match word.as_str() {
            "insert" | "replace" => self.pending = self.tokens > 1,
            "update" | "delete" | "merge" | "share" => self.writes |= self.tokens > 1,
            "into" => self.into = true,
            "outfile" | "dumpfile" => self.file = true,
            "global" | "persist" | "persist_only" => self.global = true,
            "write" => self.unlocks |= self.begins_with(&["begin", "start", "set"]),
            _ => {}
        }
        if self.first.len() < DEPTH && self.first.len() + 1 == self.tokens {
            self.first.push(word);
        }
    }

    /// Whether a token begins the statement: parentheses do not, nor does what precedes the
    /// statement that EXPLAIN explains.
    fn begins(&mut self, token: Token<'_>) -> bool {
        let is = |words: &[&str]| match token {
            Token::Word(word) => words.iter().any(|one| one.eq_ignore_ascii_case(word)),
            _ => false,
        };
        if self.explains {
            return is(&EXPLAINED);
        }
        self.explains = is(&["explain", "describe", "desc"]);
        !self.explains && token != Token::Symbol("(")
    }

    /// Adds a name, quoted or not, that may be a setting or what changes one.
    fn add_name(&mut self, name: &str, after_dot: bool) {
        let is = |names: &[&str]| names.iter().any(|one| one.eq_ignore_ascii_case(name));
        if self.begins_with(&["set", "reset"]) {
            let name = name.to_ascii_lowercase();
            self.pinned |= PINNED.contains(&name.as_str()) || name.ends_with("read_only");
            self.pinned |= !after_dot && ENCODING.contains(&name.as_str());
            self.rights |= !after_dot && RIGHTS.contains(&name.as_str());
        } else if self.dialect == Dialect::Postgres {
            let updates = self.writes || self.begins_with(&["update"]);
            self.pinned |=
                (is(&["set_config"]) && !self.own_config) || (updates && is(&["pg_settings"]));
        }
    }

    fn begins_with(&self, words: &[&str]) -> bool {
        self.first.first().is_some_and(|first| words.contains(&first.as_str()))
    }

    /// What the statement does.
    pub fn kind(&self) -> Kind {
        if self.broken || self.file {
            return Kind::Never;
        }
        let kind = self.kind_by_words();
        if self.pinned { kind.max(Kind::Pinned) } else { kind }
    }

    fn kind_by_words(&self) -> Kind {
        let mysql = self.dialect == Dialect::Mysql;
        let early =
            |words: &[&str]| self.first.iter().skip(1).any(|word| words.contains(&word.as_str()));
        let Some(first) = self.first.first() else {
            return if self.tokens == 0 { Kind::Read } else { Kind::Never };
        };
        match first.as_str() {
            "select" | "values" | "table" | "with" | "show" => match (self.writes, self.into) {
                (true, _) => Kind::Write,
                (_, true) if !mysql => Kind::Ddl,
                _ => Kind::Read,
            },
            "start" if !early(&["transaction"]) => Kind::Never,
            "begin" if early(&["atomic"]) => Kind::Never,
            "commit" | "rollback" if early(&["prepared"]) => Kind::Never,
            "begin" | "start" | "commit" | "end" | "rollback" | "abort" | "savepoint"
            | "release" => Kind::Control,
            "set" | "reset" if self.rights || self.global => Kind::Never,
            // The text of prepared statements is opaque; a general log has each itself as well.
            "reset" | "prepare" | "execute" | "deallocate" if mysql => Kind::Never,
            "reset" | "discard" if early(&["all"]) => Kind::Pinned,
            "set" if self.writes => Kind::Write,
            "set" | "reset" | "discard" | "deallocate" | "listen" | "unlisten" | "close"
            | "fetch" | "move" => Kind::Session,
            "prepare" if early(&["transaction"]) => Kind::Never,
            "declare" | "prepare" if !mysql && !self.writes => Kind::Session,
            // In PostgreSQL, it runs a program that is a text.
            "do" if !mysql => Kind::Never,
            "insert" | "update" | "delete" | "merge" | "replace" | "call" | "do" | "execute"
            | "lock" | "unlock" | "declare" | "prepare" | "notify" => Kind::Write,
            "create" | "alter" | "drop" if GUARDED.contains(&self.object()) => Kind::Never,
            "create" | "alter" | "drop" if mysql && self.object() == "schema" => Kind::Never,
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

/// Words that begin a statement that EXPLAIN may run.
const EXPLAINED: [&str; 13] = [
    "select", "values", "table", "with", "insert", "update", "delete", "merge", "replace",
    "execute", "declare", "create", "refresh",
];

/// Settings on which reading a statement here relies; so do those that end in `read_only`.
const PINNED: [&str; 5] = [
    "standard_conforming_strings",
    "backslash_quote",
    "client_encoding",
    "character_set_client",
    "sql_mode",
];

/// SET NAMES, SET CHARACTER SET.
const ENCODING: [&str; 3] = ["names", "character", "charset"];

/// Words of SET about users; SET STATEMENT runs another statement.
const RIGHTS: [&str; 5] =
    ["role", "authorization", "session_authorization", "password", "statement"];

const MODIFIERS: [&str; 12] = [
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
    "public",
];

/// Objects that concern more than tables, or have a program as a text.
const GUARDED: [&str; 24] = [
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
    "foreign",
    "owned",
    "instance",
    "function",
    "procedure",
    "routine",
    "aggregate",
    "package",
    "event",
    "definer",
    "prepare",
];
