//! The words of a statement: where it is quoted, and its text in one line.

use std::iter::Peekable;
use std::str::Chars;

/// The commands of a statement, each without comments and with single spaces outside of quotes and
/// brackets.
pub fn commands(sql: &str) -> Vec<String> {
    let (mut all, mut text) = (Vec::new(), String::new());
    let mut rest = sql.chars().peekable();
    let mut before = None;
    while let Some(character) = rest.next() {
        match (character, rest.peek()) {
            ('\'' | '"' | '[', _) => {
                text.push(character);
                put_quoted(&mut text, end_of(character), &mut rest);
            }
            ('-', Some('-')) => {
                rest.by_ref().find(|next| *next == '\n');
                put_space(&mut text);
            }
            ('/', Some('*')) => {
                skip_comment(&mut rest);
                put_space(&mut text);
            }
            ('\n', _) if before == Some(';') => {
                text.pop();
                all.push(trimmed(&mut text));
            }
            _ if character.is_whitespace() => put_space(&mut text),
            _ => text.push(character),
        }
        before = Some(character);
    }
    all.push(trimmed(&mut text));
    all
}

/// Takes a command without spaces at its end.
fn trimmed(text: &mut String) -> String {
    text.truncate(text.trim_end().len());
    std::mem::take(text)
}

/// A space between words, but not two.
fn put_space(text: &mut String) {
    if !text.is_empty() && !text.ends_with(' ') {
        text.push(' ');
    }
}

const fn end_of(quote: char) -> char {
    if quote == '[' { ']' } else { quote }
}

/// Copies up to the end of what is quoted. A doubled end is a character of it.
fn put_quoted(text: &mut String, end: char, rest: &mut Peekable<Chars<'_>>) {
    while let Some(character) = rest.next() {
        text.push(character);
        if character == end {
            if rest.next_if_eq(&end).is_none() {
                return;
            }
            text.push(end);
        }
    }
}

/// Skips the rest of a comment after its slash. Comments may have others inside.
fn skip_comment(rest: &mut Peekable<Chars<'_>>) {
    rest.next();
    let mut depth = 1u32;
    while let Some(character) = rest.next() {
        match character {
            '/' if rest.next_if_eq(&'*').is_some() => depth += 1,
            '*' if rest.next_if_eq(&'/').is_some() => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return;
        }
    }
}

/// A text of [`commands`] with as many bytes, in lower case, in which nothing is quoted.
pub fn bare(sql: &str) -> String {
    let mut text = String::with_capacity(sql.len());
    let mut rest = sql.chars().peekable();
    let mut quoted = String::new();
    while let Some(character) = rest.next() {
        text.push(character.to_ascii_lowercase());
        if matches!(character, '\'' | '"' | '[') {
            quoted.clear();
            put_quoted(&mut quoted, end_of(character), &mut rest);
            text.extend(std::iter::repeat_n('_', quoted.len()));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::AND_THEN;
    use proptest::prelude::{any, prop_assert_eq, proptest};

    #[test]
    fn a_command_is_one_line_without_comments() {
        assert_eq!(commands("select\n  a,\tb\r\n from t "), ["select a, b from t"]);
        assert_eq!(commands("select a -- it's\n from /* 'x /* y */ */ t"), ["select a from t"]);
        assert_eq!(commands("select 1 - 2 / 3 --"), ["select 1 - 2 / 3"]);
        for quoted in ["'a  --\n'", "'it''s  /*'", "\"a\n\"", "[a]]  b\n]"] {
            let sql = format!("select {quoted}, 1");
            assert_eq!(commands(&sql), [sql]);
        }
    }

    #[test]
    fn commands_are_split_where_nothing_is_quoted() {
        let sql = format!("select ';\n'{AND_THEN}delete from t");
        assert_eq!(commands(&sql), ["select ';\n'", "delete from t"]);
        assert_eq!(commands("select 1; "), ["select 1;"]);
    }

    #[test]
    fn what_is_quoted_is_blank() {
        assert_eq!(bare("SELECT 'it''s' + [ü]]"), "select '______ + [____");
    }

    proptest! {
        #[test]
        fn a_bare_text_has_as_many_bytes(sql in any::<String>()) {
            prop_assert_eq!(bare(&sql).len(), sql.len());
            for command in commands(&sql) {
                prop_assert_eq!(commands(&command), [command.clone()]);
            }
        }
    }
}
