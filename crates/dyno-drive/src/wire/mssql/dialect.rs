//! Translates a statement to T-SQL.

use dyno_record::{Error, ErrorKind, Result};

use crate::wire::{AND_THEN, Statement};

/// A statement in the server's dialect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// A text to prepare, with parameters `@p1`, `@p2` …
    Text(String),
    /// A procedure with this name and all parameters, in order; it returns a row.
    Call(String),
    /// A procedure with this name and all parameters, in order, then its results as output
    /// parameters.
    CallWithOutputs(String),
}

/// Translates a statement for SQL Server, or for `babelfish`.
///
/// # Errors
/// `internal` if it cannot be translated.
pub fn command(statement: &Statement, babelfish: bool) -> Result<Command> {
    let wrong = || {
        let message = format!("statement {} cannot be translated to T-SQL", statement.name);
        Error::new(ErrorKind::Internal, message)
    };
    if let Some(call) = call(statement) {
        return Ok(call);
    }
    let parts = statement.sql.split(AND_THEN).map(|sql| {
        let sql = locking(&returning(sql, babelfish));
        named(&limited(&sql)?.replace("substr(", "substring("))
    });
    let parts = parts.collect::<Option<Vec<_>>>().ok_or_else(wrong)?;
    Ok(Command::Text(parts.join(AND_THEN)))
}

/// A statement that calls a procedure with all its parameters in order, and perhaps with a further
/// `$n output` for each of its results.
fn call(statement: &Statement) -> Option<Command> {
    let (name, arguments) = statement.sql.strip_prefix("exec ")?.split_once(' ')?;
    let mut all: Vec<String> =
        (1..=statement.params.len()).map(|number| format!("${number}")).collect();
    if arguments == all.join(", ") {
        return Some(Command::Call(name.to_owned()));
    }
    let next = all.len() + 1;
    all.extend((next..next + statement.returns.len()).map(|number| format!("${number} output")));
    (arguments == all.join(", ")).then(|| Command::CallWithOutputs(name.to_owned()))
}

/// Whether a text only reads.
pub fn reads(sql: &str) -> bool {
    let text = sql.trim_start().to_ascii_lowercase();
    text.starts_with("select ") && !text.contains(AND_THEN)
}

/// `update … where … returning a, b` has `output inserted.a, inserted.b` before its condition.
///
/// Babelfish returns old values if the update had to wait for a lock. There a query with the same
/// condition follows: a transaction sees its own changes and holds the locks of what it changed. No
/// statement changes what its condition compares.
fn returning(sql: &str, babelfish: bool) -> String {
    let translated = || {
        let (change, columns) = sql.split_once(" returning ")?;
        let prefix = match change.split(' ').next()? {
            "update" => "inserted.",
            "delete" => "deleted.",
            _ => return None,
        };
        let (before, condition) = change.split_once(" where ")?;
        if babelfish && prefix == "inserted." {
            let table = change.split(' ').nth(1)?;
            return Some(format!(
                "{change}{AND_THEN}select {columns} from {table} where {condition}"
            ));
        }
        let columns: Vec<String> =
            columns.split(", ").map(|column| format!("{prefix}{column}")).collect();
        Some(format!("{before} output {} where {condition}", columns.join(", ")))
    };
    translated().unwrap_or_else(|| sql.to_owned())
}

/// `select … from t where … for update` has a hint after its table.
fn locking(sql: &str) -> String {
    let translated = || {
        let query = sql.strip_suffix(" for update")?;
        let (table, condition) = query.split_once(" where ")?;
        Some(format!("{table} with (updlock) where {condition}"))
    };
    translated().unwrap_or_else(|| sql.to_owned())
}

/// `select … limit n`, also in parentheses, is `select top (n) …`. `None` if there is no query
/// before a limit.
fn limited(sql: &str) -> Option<String> {
    const LIMIT: &str = " limit ";
    let mut sql = sql.to_owned();
    loop {
        let unquoted = without_quoted(&sql);
        let Some(at) = unquoted.find(LIMIT) else { break };
        let tail = &sql[at + LIMIT.len()..];
        let digits = tail.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            return None;
        }
        let (number, after) = tail.split_at(digits);
        let start = start_of_query(&unquoted[..at]);
        let query = &sql[start..at];
        let select = ["select distinct ", "select all ", "select "];
        let select = select.into_iter().find(|words| query.starts_with(words))?;
        let rest = &query[select.len()..];
        sql = format!("{}{select}top ({number}) {rest}{after}", &sql[..start]);
    }
    Some(sql)
}

/// A text with as many bytes, in which nothing is quoted.
fn without_quoted(sql: &str) -> String {
    let blank = |(character, quoted): (char, bool)| {
        if quoted { "_".repeat(character.len_utf8()) } else { character.to_string() }
    };
    quoting(sql).map(blank).collect()
}

/// The characters of a text, and whether each is in quotes or brackets.
fn quoting(sql: &str) -> impl Iterator<Item = (char, bool)> {
    sql.chars().scan(None, |end, character| {
        let quoted = end.is_some();
        *end = match (*end, character) {
            (None, '\'' | '"') => Some(character),
            (None, '[') => Some(']'),
            (Some(last), _) if last == character => None,
            (open, _) => open,
        };
        Some((character, quoted))
    })
}

/// Where the query begins that `sql` ends in: after the parenthesis that is still open.
fn start_of_query(sql: &str) -> usize {
    let mut depth = 0u32;
    for (at, character) in sql.char_indices().rev() {
        match character {
            ')' => depth += 1,
            '(' if depth == 0 => return at + 1,
            '(' => depth -= 1,
            _ => {}
        }
    }
    0
}

/// Replaces `$1`, `$2` … with `@p1`, `@p2` …, except in quotes. `None` for an invalid number.
fn named(sql: &str) -> Option<String> {
    let mut text = String::with_capacity(sql.len());
    let mut rest = quoting(sql).peekable();
    while let Some(next) = rest.next() {
        match next {
            ('$', false) if matches!(rest.peek(), Some(('1'..='9', _))) => text.push_str("@p"),
            ('$', false) => return None,
            (character, _) => text.push(character),
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Type;

    fn text(sql: &'static str) -> String {
        let statement = Statement { name: "x", sql: sql.into(), params: &[], returns: &[] };
        match command(&statement, false).unwrap() {
            Command::Text(text) => text,
            call => panic!("{call:?}"),
        }
    }

    #[test]
    fn parameters_are_named() {
        assert_eq!(
            text("select '$1', [a$2] from t where a = $2 and b = $10"),
            "select '$1', [a$2] from t where a = @p2 and b = @p10"
        );
        let wrong = Statement { name: "x", sql: "select $".into(), params: &[], returns: &[] };
        assert_eq!(command(&wrong, false).unwrap_err().kind, ErrorKind::Internal);
    }

    #[test]
    fn what_a_change_returns_comes_before_its_condition() {
        assert_eq!(
            text("update t set a = a + $1 where c = $2 returning a - 1, e"),
            "update t set a = a + @p1 output inserted.a - 1, inserted.e where c = @p2"
        );
        assert_eq!(
            text("delete from t where c = $1 returning e"),
            "delete from t output deleted.e where c = @p1"
        );
    }

    #[test]
    fn babelfish_queries_what_it_changed() {
        let sql = "update t set a = a + $1 where c = $2 returning a - 1, e";
        let statement = Statement { name: "x", sql: sql.into(), params: &[], returns: &[] };
        let expected = "update t set a = a + @p1 where c = @p2;\n\
                        select a - 1, e from t where c = @p2";
        assert_eq!(command(&statement, true).unwrap(), Command::Text(expected.to_owned()));
    }

    #[test]
    fn limits_come_first() {
        assert_eq!(
            text("select a from t order by b limit 10"),
            "select top (10) a from t order by b"
        );
        assert_eq!(
            text("select a from (select b as a from t where c in (1) limit 3) as x limit 5"),
            "select top (5) a from (select top (3) b as a from t where c in (1)) as x"
        );
        assert_eq!(
            text("select distinct a from (select all b as a from t limit 3) as x limit 5"),
            "select distinct top (5) a from (select all top (3) b as a from t) as x"
        );
    }

    #[test]
    fn quoted_words_are_no_limits() {
        assert_eq!(
            text("select ' limit ü', [ limit 2] from t where a = '(' limit 3"),
            "select top (3) ' limit ü', [ limit 2] from t where a = '('"
        );
    }

    #[test]
    fn locks_are_hints() {
        assert_eq!(
            text("select a from t where b = $1 for update"),
            "select a from t with (updlock) where b = @p1"
        );
    }

    #[test]
    fn calls_with_all_parameters_are_by_name() {
        let call = |sql: &'static str| {
            let params = &[Type::Int, Type::Int];
            let returns = &[Type::Int];
            command(&Statement { name: "x", sql: sql.into(), params, returns }, false).unwrap()
        };
        assert_eq!(call("exec p $1, $2"), Command::Call("p".to_owned()));
        let outputs = "exec p $1, $2, $3 output";
        assert_eq!(call(outputs), Command::CallWithOutputs("p".to_owned()));
        assert_eq!(call("exec p $2, $1"), Command::Text("exec p @p2, @p1".to_owned()));
    }

    #[test]
    fn only_queries_read() {
        assert!(reads("select a from t"));
        for sql in ["update t set a = 1", "exec p", "select 1;\ndelete from t"] {
            assert!(!reads(sql), "{sql}");
        }
    }
}
