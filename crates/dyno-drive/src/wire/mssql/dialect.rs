//! Translates a statement to T-SQL.

use dyno_record::{Error, ErrorKind, Result};

use super::lexed::{bare, commands};
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
/// `usage` if it cannot be translated.
pub fn command(statement: &Statement, babelfish: bool) -> Result<Command> {
    let wrong = || {
        let message = format!(
            "statement {} cannot be translated to T-SQL: give it the key `sqlserver` with a text \
             of its own",
            statement.name
        );
        Error::new(ErrorKind::Usage, message)
    };
    let mut commands = commands(&statement.sql);
    if let [sql] = &mut commands[..]
        && let Some(executed) = executed(sql)
    {
        *sql = executed;
    }
    if let [sql] = &commands[..]
        && let Some(call) = call(statement, sql)
    {
        return Ok(call);
    }
    let mut numbers = Vec::new();
    let translated = |sql: &String| {
        let sql = limited(&locking(&returning(sql, babelfish)?)?)?;
        named(&substring(&sql), &mut numbers)
    };
    let texts = commands.iter().map(translated).collect::<Option<Vec<_>>>().ok_or_else(wrong)?;
    // A parameter that is left would be a sum of money to the server.
    let left = |number: usize| !numbers.contains(&number) && mentions(&statement.sql, number);
    if (1..=statement.params.len()).any(left) {
        return Err(wrong());
    }
    Ok(Command::Text(texts.join(AND_THEN)))
}

/// A statement that calls a procedure with all its parameters in order, and perhaps with a further
/// `$n output` for each of its results.
fn call(statement: &Statement, sql: &str) -> Option<Command> {
    let (_, called) = sql
        .split_at_checked("exec ".len())
        .filter(|(word, _)| word.eq_ignore_ascii_case("exec "))?;
    let (name, arguments) = called.split_once(' ')?;
    let mut all: Vec<String> =
        (1..=statement.params.len()).map(|number| format!("${number}")).collect();
    if arguments == all.join(", ") {
        return Some(Command::Call(name.to_owned()));
    }
    let next = all.len() + 1;
    all.extend((next..next + statement.returns.len()).map(|number| format!("${number} output")));
    let same = arguments.eq_ignore_ascii_case(&all.join(", "));
    same.then(|| Command::CallWithOutputs(name.to_owned()))
}

/// `call p(a, b)` is `exec p a, b`. `None` if it is something else.
fn executed(sql: &str) -> Option<String> {
    let bare = bare(sql);
    let called = bare.strip_prefix("call ")?.strip_suffix(')')?;
    let open = "call ".len() + called.find('(')?;
    let (name, arguments) = (&sql["call ".len()..open], &sql[open + 1..sql.len() - 1]);
    Some(format!("exec {} {}", name.trim(), arguments.trim()).trim_end().to_owned())
}

/// Whether a text only reads.
pub fn reads(sql: &str) -> bool {
    first_word(sql).eq_ignore_ascii_case("select") && !sql.contains(AND_THEN)
}

/// Whether a text is one statement, which without a transaction commits itself.
pub fn is_one(sql: &str) -> bool {
    const VERBS: [&str; 6] = ["select", "insert", "update", "delete", "merge", "with"];
    let word = first_word(sql);
    VERBS.iter().any(|verb| word.eq_ignore_ascii_case(verb)) && !sql.contains(AND_THEN)
}

fn first_word(sql: &str) -> &str {
    sql.split(|character: char| !character.is_ascii_alphabetic()).next().unwrap_or_default()
}

/// `update … where … returning a, b` has `output inserted.a, inserted.b` before its condition.
///
/// Babelfish returns old values if the update had to wait for a lock. There a query with the same
/// condition follows: a transaction sees its own changes and holds the locks of what it changed. No
/// statement changes what its condition compares. `None` if it is another change, or without a
/// condition.
fn returning(sql: &str, babelfish: bool) -> Option<String> {
    const RETURNING: &str = " returning ";
    let bare = bare(sql);
    let Some(at) = bare.find(RETURNING) else { return Some(sql.to_owned()) };
    let (change, columns) = (&sql[..at], &sql[at + RETURNING.len()..]);
    let prefix = match first_word(&bare) {
        "update" => "inserted.",
        "delete" => "deleted.",
        _ => return None,
    };
    let (before, condition) = change.split_at(outer(&bare[..at]).find(" where ")?);
    if babelfish && prefix == "inserted." {
        let table = change.split(' ').nth(1)?;
        return Some(format!("{change}{AND_THEN}select {columns} from {table}{condition}"));
    }
    let bare = &bare[at + RETURNING.len()..];
    let mut names = Vec::new();
    let mut start = 0;
    for (comma, _) in outer(bare).match_indices(',').chain([(bare.len(), "")]) {
        let column = columns[start..comma].trim_start();
        let name = column.split(|character: char| !is_of_name(character)).next()?;
        // Only a column at the start of an expression gets the prefix.
        let after = column[name.len()..].trim_start();
        let begins = !name.is_empty() && !name.starts_with(|first: char| first.is_ascii_digit());
        if column != "*" && (!begins || after.starts_with(['(', '.'])) {
            return None;
        }
        names.push(format!("{prefix}{column}"));
        start = comma + 1;
    }
    Some(format!("{before} output {}{condition}", names.join(", ")))
}

fn is_of_name(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// A text with spaces in place of parentheses and what is in them, of the same length.
fn outer(sql: &str) -> String {
    let mut depth = 0i32;
    let mut text = String::with_capacity(sql.len());
    for character in sql.chars() {
        depth += i32::from(character == '(');
        let kept = if depth == 0 { character } else { ' ' };
        // Spaces for all bytes of a character.
        (0..if depth == 0 { 1 } else { character.len_utf8() }).for_each(|_| text.push(kept));
        depth -= i32::from(character == ')');
    }
    text
}

/// `select … from t where … for update` has a hint after its table. `None` if there is no
/// condition, or more than one table.
fn locking(sql: &str) -> Option<String> {
    const LOCK: &str = " for update";
    let bare = bare(sql);
    let Some(query) = bare.strip_suffix(LOCK) else { return Some(sql.to_owned()) };
    let outer = outer(query);
    let end = outer.find(" where ")?;
    let tables = &outer[outer[..end].find(" from ")?..end];
    if tables.contains(',') || tables.contains(" join ") || tables.contains(" apply ") {
        return None;
    }
    let (table, condition) = sql[..query.len()].split_at(end);
    Some(format!("{table} with (updlock){condition}"))
}

/// `select … limit n`, also in parentheses, is `select top (n) …`. `None` if a limit is of another
/// form, or of more than one query.
fn limited(sql: &str) -> Option<String> {
    const LIMIT: &str = " limit ";
    let mut sql = sql.to_owned();
    loop {
        let bare = bare(&sql);
        let Some(at) = bare.find(LIMIT) else { return Some(sql) };
        let tail = &sql[at + LIMIT.len()..];
        let sign = usize::from(tail.starts_with('$'));
        let digits = tail[sign..].bytes().take_while(u8::is_ascii_digit).count();
        let (number, after) = tail.split_at(sign + digits);
        if digits == 0 || !matches!(after.trim_start().chars().next(), None | Some(')')) {
            return None;
        }
        let start = start_of_query(&bare[..at]);
        let query = &bare[start..at];
        let space = query.len() - query.trim_start().len();
        let select = ["select distinct ", "select all ", "select "];
        let select = select.into_iter().find(|words| query[space..].starts_with(words))?;
        if joins(&query[space..]) {
            return None;
        }
        let (head, rest) = sql[..at].split_at(start + space + select.len());
        sql = format!("{head}top ({number}) {rest}{after}");
    }
}

/// Whether a text is several queries, whose limit is that of their common result.
fn joins(query: &str) -> bool {
    let outer = outer(query);
    [" union ", " except ", " intersect "].iter().any(|word| outer.contains(word))
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

/// `substr(…)` is `substring(…)`.
fn substring(sql: &str) -> String {
    const FUNCTION: &str = "substr(";
    let bare = bare(sql);
    let mut text = String::with_capacity(sql.len());
    let mut copied = 0;
    for (at, _) in bare.match_indices(FUNCTION) {
        if !bare[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_') {
            text.push_str(&sql[copied..at]);
            text.push_str("substring(");
            copied = at + FUNCTION.len();
        }
    }
    text.push_str(&sql[copied..]);
    text
}

/// Replaces `$1`, `$2` … with `@p1`, `@p2` …, except in quotes, and adds their numbers. `None` for
/// an invalid number.
fn named(sql: &str, numbers: &mut Vec<usize>) -> Option<String> {
    let bare = bare(sql);
    let mut text = String::with_capacity(sql.len());
    let mut copied = 0;
    for (at, _) in bare.match_indices('$') {
        let digits = &bare[at + 1..];
        let digits = &digits[..digits.bytes().take_while(u8::is_ascii_digit).count()];
        if !digits.starts_with(|first: char| matches!(first, '1'..='9')) {
            return None;
        }
        numbers.push(digits.parse().ok()?);
        text.push_str(&sql[copied..at]);
        text.push_str("@p");
        copied = at + 1;
    }
    text.push_str(&sql[copied..]);
    Some(text)
}

/// Whether a parameter occurs in a text, be it in quotes.
fn mentions(sql: &str, number: usize) -> bool {
    let parameter = format!("${number}");
    sql.match_indices(&parameter)
        .any(|(at, _)| !sql[at + parameter.len()..].starts_with(|next: char| next.is_ascii_digit()))
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
        assert_eq!(command(&wrong, false).unwrap_err().kind, ErrorKind::Usage);
    }

    #[test]
    fn no_parameter_stays() {
        let of = |sql: &'static str| {
            let params = &[Type::Int];
            command(&Statement { name: "x", sql: sql.into(), params, returns: &[] }, false)
        };
        for sql in [
            "select a from t -- it's\n where a = $1",
            "select a from t /* it's */ where a = $1",
            "SELECT a\n\tFROM t\n\twhere a = $1",
        ] {
            let Command::Text(text) = of(sql).unwrap() else { panic!("{sql}") };
            assert!(text.eq_ignore_ascii_case("select a from t where a = @p1"), "{text}");
        }
        // A text for this dialect may leave out a parameter, but not hide it.
        of("select a from t").unwrap();
        of("select '$10' from t").unwrap();
        assert_eq!(of("select '$1' from t").unwrap_err().kind, ErrorKind::Usage);
    }

    #[test]
    fn words_may_be_on_any_line_and_in_any_case() {
        assert_eq!(
            text("SELECT a\nFROM t\nORDER BY b\nLIMIT 5"),
            "SELECT top (5) a FROM t ORDER BY b"
        );
        assert_eq!(
            text("select a from t\n where b = $1\n  FOR  UPDATE"),
            "select a from t with (updlock) where b = @p1"
        );
        assert_eq!(
            text("Update t\nset a = $1\nwhere c = $2\nreturning a,\n  e"),
            "Update t set a = @p1 output inserted.a, inserted.e where c = @p2"
        );
        assert_eq!(
            text("select SUBSTR(a, 1, 2), xsubstr(b)"),
            "select substring(a, 1, 2), xsubstr(b)"
        );
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
    fn only_columns_of_what_was_changed_are_returned() {
        let of = |columns: &str| {
            let change = "update t set a = 1 where b in (select c from u where d = 2)";
            let sql = format!("{change} returning {columns}").into();
            command(&Statement { name: "x", sql, params: &[], returns: &[] }, false)
        };
        let Command::Text(text) = of("a + f(b, 2), b").unwrap() else { panic!() };
        assert_eq!(
            text,
            "update t set a = 1 output inserted.a + f(b, 2), inserted.b where b in (select c from \
             u where d = 2)"
        );
        assert!(of("*").is_ok());
        for columns in ["coalesce(a, 0), b", "2 * a", "t.a", "(a)", "a, 'x'"] {
            assert_eq!(of(columns).unwrap_err().kind, ErrorKind::Usage, "{columns}");
        }
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
        assert_eq!(
            text("select a from ( select b as a from t limit $2 ) as x limit $1"),
            "select top (@p1) a from ( select top (@p2) b as a from t ) as x"
        );
    }

    #[test]
    fn limits_of_other_forms_are_refused() {
        for sql in [
            "select a from t limit 5 offset 2",
            "select a from t limit 2, 5",
            "select a from t limit all",
            "select a from t union all select b from u order by 1 limit 5",
            "with x as (select a from t) select a from x limit 5",
        ] {
            let wrong = Statement { name: "x", sql: sql.into(), params: &[], returns: &[] };
            let error = command(&wrong, false).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Usage, "{sql}");
            assert!(error.message.contains("`sqlserver`"), "{error}");
        }
        // The limit of one of several queries.
        assert_eq!(
            text("(select a from t limit 1) union (select b from u limit 2)"),
            "(select top (1) a from t) union (select top (2) b from u)"
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
        assert_eq!(
            text("select (select c from u where d = 1) from t as x where b = 2 for update"),
            "select (select c from u where d = 1) from t as x with (updlock) where b = 2"
        );
        for tables in ["t, u", "t join u on t.a = u.a", "(select 1 as a from t, u) as x, y"] {
            let sql = format!("select 1 from {tables} where b = 1 for update").into();
            let wrong = Statement { name: "x", sql, params: &[], returns: &[] };
            assert_eq!(command(&wrong, false).unwrap_err().kind, ErrorKind::Usage, "{tables}");
        }
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
        assert_eq!(call("CALL dbo.p( $1, $2 )"), Command::Call("dbo.p".to_owned()));
        assert_eq!(call("call p(f($2), $1)"), Command::Text("exec p f(@p2), @p1".to_owned()));
        assert_eq!(text("call p()"), "exec p");
    }

    #[test]
    fn one_statement_commits_itself() {
        for sql in ["select a from t", "UPDATE t set a = 1", "with x as (select 1) select 2"] {
            assert!(is_one(sql), "{sql}");
        }
        for sql in ["exec p", "update t set a = 1;\nselect a from t", "begin transaction"] {
            assert!(!is_one(sql), "{sql}");
        }
    }

    #[test]
    fn only_queries_read() {
        assert!(reads("select a from t"));
        for sql in ["update t set a = 1", "exec p", "select 1;\ndelete from t"] {
            assert!(!reads(sql), "{sql}");
        }
    }
}
