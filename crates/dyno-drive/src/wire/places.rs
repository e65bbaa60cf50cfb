//! Finds the parameters in a statement's text.

/// Replaces each `$1`, `$2` … by what `write` appends for its number. Quoted text and comments stay
/// unchanged.
pub fn with_places(sql: &str, mut write: impl FnMut(u32, &mut String)) -> String {
    let mut out = String::with_capacity(sql.len());
    let mut rest = sql;
    while let Some(at) = rest.find(['$', '\'', '"', '`', '-', '/']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let digits = rest[1..].find(|next: char| !next.is_ascii_digit());
        let digits = digits.unwrap_or(rest.len() - 1);
        let length = match &rest[..1] {
            "$" => match rest[1..=digits].parse() {
                Ok(number) => {
                    write(number, &mut out);
                    rest = &rest[1 + digits..];
                    continue;
                }
                Err(_) => 1,
            },
            "-" if rest.starts_with("--") => ended(rest, 2, "\n"),
            "/" if rest.starts_with("/*") => ended(rest, 2, "*/"),
            "-" | "/" => 1,
            // A doubled quote ends one text and begins the next.
            quote => ended(rest, 1, quote),
        };
        out.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    out.push_str(rest);
    out
}

/// The length of a text that begins with `opening` bytes and ends with `end` or at the end of
/// `text`.
fn ended(text: &str, opening: usize, end: &str) -> usize {
    text[opening..].find(end).map_or(text.len(), |at| opening + at + end.len())
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    #[test]
    fn only_parameters_are_replaced() {
        for (sql, expected) in [
            ("set a = $2 where b = $12 and c=$1", "set a = <2> where b = <12> and c=<1>"),
            ("select '$1', \"$2\", `$3`, $4", "select '$1', \"$2\", `$3`, <4>"),
            ("select 'it''s $1' || $1", "select 'it''s $1' || <1>"),
            ("select 'ü$1' || $1 || 'ß", "select 'ü$1' || <1> || 'ß"),
            ("select $1 -- isn't $2\n, $3", "select <1> -- isn't $2\n, <3>"),
            ("select $1 /* isn't $2 */ - $3 / $4", "select <1> /* isn't $2 */ - <3> / <4>"),
            ("select $x, $$, $99999999999, $", "select $x, $$, $99999999999, $"),
            ("", ""),
        ] {
            let replaced = with_places(sql, |number, out| write!(out, "<{number}>").unwrap());
            assert_eq!(replaced, expected);
        }
    }
}
