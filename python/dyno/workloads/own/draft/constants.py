"""The constants of a statement: they become parameters, so that a draft has no value of a user."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

import sqlglot
from sqlglot import Token, TokenType, exp
from sqlglot.errors import SqlglotError
from sqlglot.parser import Parser

from dyno.contracts.captured import Captured

Known = str | int | None
"""A value of an example; None if it is unknown, or if its text is not its value."""

_EXACT = {
    TokenType.STRING, TokenType.NUMBER, TokenType.NATIONAL_STRING, TokenType.RAW_STRING,
    TokenType.HEREDOC_STRING,
}  # fmt: skip
_CONSTANTS = _EXACT | {
    TokenType.BYTE_STRING, TokenType.HEX_STRING, TokenType.BIT_STRING, TokenType.UNICODE_STRING,
    TokenType.NATIONAL_RAW_STRING,
}  # fmt: skip
_TIGHT_AFTER = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.DOT, TokenType.DCOLON}
_TIGHT_BEFORE = {
    TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.DOT, TokenType.DCOLON, TokenType.COMMA,
}  # fmt: skip
_NEAR = re.compile(r"[\w:]")
_BEFORE_SIGN = {
    TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.COMMA, TokenType.EQ, TokenType.NEQ,
    TokenType.LT, TokenType.LTE, TokenType.GT, TokenType.GTE, TokenType.PLUS, TokenType.DASH,
    TokenType.STAR, TokenType.SLASH, TokenType.SELECT, TokenType.WHERE, TokenType.AND, TokenType.OR,
    TokenType.BETWEEN, TokenType.WHEN, TokenType.THEN, TokenType.ELSE,
}  # fmt: skip
"""After these a minus is a sign; names that are keywords elsewhere are not among them."""
_COMPARISONS = {"=", "<", ">", "<=", ">=", "<>", "!="}
_ARROWS = {TokenType.ARROW, TokenType.DARROW}
_WITHOUT_CASTS = {"timestamp": "datetime"}
_POSITION = re.compile(r"[0-9]{1,4}")
_UNITS = (
    r"(?:microsecond|millisecond|second|minute|hour|day|week|month|quarter|year|decade|century"
    r"|millennium)s?"
)
_UNIT = re.compile(_UNITS, re.IGNORECASE)
_BEFORE = re.compile(
    rf"\b(?P<type>interval|date|time|timestamp|timestamptz)\s+(?P<name>:p\d+)\b"
    rf"(?:\s+{_UNITS}\b(?P<to>\s+to\b)?)?",
    re.IGNORECASE,
)
_OF_UNITS = {"date_trunc", "date_part"}
_ZONED = re.compile(r"timestamp|time", re.IGNORECASE)
_HINT = re.compile(r"/\*\+.*?\*/", re.DOTALL)
_LEFT = re.compile(r"""['"]|\$\w*\$|\b0x|\b[0-9]{6}""", re.IGNORECASE)


class LeftOutError(Exception):
    """A statement that cannot be drafted; the message is a clause."""


STAYS = "it has a literal where no parameter may be"


def tokens_of(text: str, grammar: str) -> list[Token]:
    """The tokens of a text, without semicolons at its end."""
    found = sqlglot.tokenize(text, read=grammar)
    while found and found[-1].token_type == TokenType.SEMICOLON:
        found.pop()
    return found


def statements_in(text: str, grammar: str) -> list[list[Token]]:
    """The statements of a text as tokens; none if it cannot be read."""
    try:
        found = sqlglot.tokenize(text, read=grammar)
    except SqlglotError:
        return []
    ends = [at for at, one in enumerate(found) if one.token_type == TokenType.SEMICOLON]
    parts = zip([0, *(at + 1 for at in ends)], [*ends, len(found)], strict=True)
    return [found[begin:end] for begin, end in parts if begin < end]


def harmless(tree: exp.Expr) -> set[tuple[int, str]]:
    """Numbers that are positions of columns, lengths of types or options: where, and their texts.

    The grammar wants these numbers where they are, and they tell nothing of a row.
    """
    return {
        (int(one.meta["start"]), str(one.this))
        for one in tree.find_all(exp.Literal)
        if not one.is_string and "start" in one.meta and _is_harmless(one)
    }


def _is_harmless(found: exp.Literal) -> bool:
    # The places of what a hint has are those in the hint.
    if found.find_ancestor(exp.Hint) is not None:
        return False
    if isinstance(found.parent, exp.Ordered | exp.Group):
        return _POSITION.fullmatch(str(found.this)) is not None
    return found.find_ancestor(exp.DataType, exp.QueryOption) is not None


def parametrised(
    text: str, kept: Collection[tuple[int, str]], server: Captured, first: int
) -> tuple[str, dict[str, Known]]:
    """The text with ``:p7``, ``:p8`` … for its constants, and their values.

    All else stays as it is: other words may mean something else, or nothing, to the server.

    Args:
        text: The statement.
        kept: Where constants begin that stay, and their texts.
        server: Whose statement it is.
        first: The number of the first parameter.

    Raises:
        LeftOutError: If a constant cannot be replaced.
    """
    tokens = tokens_of(text, server.grammar)
    made: list[str] = []
    known: dict[str, Known] = {}
    done = at = 0
    while at < len(tokens):
        if not _is_constant(tokens, at, kept):
            at += 1
            continue
        name = f"p{first + len(known)}"
        begin, end, kind = at, _last(tokens, at), ""
        value = _value(tokens[begin : end + 1])
        if _has_sign(tokens, at) and value is not None:
            # A class does not tell -5 from 5: the sign belongs to the value.
            begin, value = at - 1, -value if isinstance(value, int) else f"-{value}"
        elif tokens[at - 1].token_type == TokenType.INTRODUCER:
            begin -= 1
        else:
            begin, kind = _typed(tokens, at, text)
        if kind == "interval":
            if server.castable is None:
                begin, kind = at, ""
            elif end + 1 < len(tokens) and _UNIT.fullmatch(tokens[end + 1].text):
                end += 1
                value = None if value is None else f"{value} {tokens[end].text}"
                if end + 1 < len(tokens) and tokens[end + 1].text.lower() == "to":
                    raise LeftOutError(STAYS)
        if server.castable is None:
            kind = _WITHOUT_CASTS.get(kind.lower(), kind)
        known[name] = value
        place = f"CAST(:{name} AS {kind})" if kind else f":{name}"
        apart = begin > 0 and _NEAR.match(text, tokens[begin].start - 1)
        made += [text[done : tokens[begin].start], " " if apart else "", place]
        done = tokens[end].end + 1
        made.append(" " if _NEAR.match(text, done) else "")
        at = end + 1
    return "".join([*made, text[done:]]), known


def with_casts(text: str) -> str:
    """A counted text of PostgreSQL with casts of ``:p1`` in place of a type before it.

    Raises:
        LeftOutError: If a period has a unit that such a text cannot have.
    """

    def cast(found: re.Match[str]) -> str:
        if found["to"]:
            raise LeftOutError(STAYS)
        return f"CAST({found['name']} AS {found['type']})"

    return _BEFORE.sub(cast, text)


def _is_constant(tokens: Sequence[Token], at: int, kept: Collection[tuple[int, str]]) -> bool:
    token = tokens[at]
    if token.token_type not in _CONSTANTS or (token.start, token.text) in kept:
        return False
    of_units = at > 1 and tokens[at - 2].text.lower() in _OF_UNITS
    return not (of_units and _UNIT.fullmatch(token.text))


def _has_sign(tokens: Sequence[Token], at: int) -> bool:
    signed = at > 1 and tokens[at].token_type == TokenType.NUMBER
    minus = signed and tokens[at - 1].token_type == TokenType.DASH
    return minus and tokens[at - 2].token_type in _BEFORE_SIGN


def _last(tokens: Sequence[Token], at: int) -> int:
    """The last of texts that follow one another: a server joins them."""
    text = tokens[at].token_type != TokenType.NUMBER
    while text and at + 1 < len(tokens) and tokens[at + 1].token_type == TokenType.STRING:
        at += 1
    return at


def _value(tokens: Sequence[Token]) -> Known:
    if any(one.token_type not in _EXACT for one in tokens):
        return None
    text = "".join(one.text for one in tokens)
    whole = tokens[0].token_type == TokenType.NUMBER and text.isdigit()
    return int(text) if whole else text


def _typed(tokens: Sequence[Token], at: int, text: str) -> tuple[int, str]:
    """Where the type before a constant begins, and its name: ``date '…'``; a parameter has none."""
    before = tokens[max(at - 4, 0) : at]
    words = [one.text.lower() for one in before]
    if len(words) == 4 and words[2:] == ["time", "zone"] and _ZONED.fullmatch(words[0]):
        return at - 4, text[before[0].start : before[-1].end + 1]
    if before and before[-1].token_type in Parser.TYPE_TOKENS - {TokenType.VAR}:
        kind = text[before[-1].start : before[-1].end + 1]
        is_text = tokens[at].token_type != TokenType.NUMBER or kind.lower() == "interval"
        if is_text and before[-1].token_type != TokenType.IDENTIFIER:
            return at - 1, kind.lower() if kind.lower() == "interval" else kind
    return at, ""


def require_replaceable(tree: exp.Expr, server: Captured) -> None:
    """Refuses a parameter where the server takes literals only.

    Raises:
        LeftOutError: If there is one.
    """
    for place in tree.find_all(exp.Placeholder):
        if isinstance(place.parent, exp.GroupConcat) and server.castable is None:
            raise LeftOutError(STAYS)
        if place.find_ancestor(exp.DataType, exp.Hint) is not None:
            raise LeftOutError(STAYS)


def placed(mark: str, before: Token, server: Captured) -> str:
    """A parameter behind a token.

    Raises:
        LeftOutError: If the server takes a literal only there.
    """
    if before.token_type in _ARROWS and server.castable is None:
        raise LeftOutError(STAYS)
    return f"({mark})" if before.token_type == TokenType.TOP else mark


def pieces(text: str, tokens: Sequence[Token]) -> Iterator[tuple[Token, str]]:
    """The tokens, each with what stands before it: a space, a hint or nothing, but no comment.

    Raises:
        LeftOutError: If the text has a comment that some servers run.
    """
    for at, token in enumerate(tokens):
        before = tokens[at - 1] if at else None
        gap = text[0 if before is None else before.end + 1 : token.start]
        if "/*!" in gap or "/*M!" in gap:
            raise LeftOutError("it has a comment that some servers run")
        hints = " ".join(_HINT.findall(gap))
        if before is None:
            yield token, hints
        elif hints:
            yield token, f" {hints} "
        elif before.token_type in _TIGHT_AFTER or token.token_type in _TIGHT_BEFORE:
            yield token, ""
        else:
            beside = before.text in _COMPARISONS or token.text in _COMPARISONS
            words = all(one.text in _COMPARISONS or _is_word(one) for one in (before, token))
            yield token, " " if gap or (beside and words and before.text != token.text) else ""


def _is_word(token: Token) -> bool:
    return token.text[:1].isalnum() or token.token_type == TokenType.COLON


def require_none(text: str, server: Captured) -> None:
    """Refuses a finished text that still has a constant.

    Raises:
        LeftOutError: If it has.
    """
    mark = re.escape(server.quote)
    name = rf"{mark}(?:[^{mark}]|{mark}{mark})*{mark}"
    if _LEFT.search(re.sub(rf"{name}|'{_UNITS}'", " ", text, flags=re.IGNORECASE)):
        raise LeftOutError(STAYS)
