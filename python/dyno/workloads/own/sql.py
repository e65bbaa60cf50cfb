"""Statements as users write them: ``:name`` for parameters, which become ``$1``, ``$2`` …"""

from __future__ import annotations

import re
from dataclasses import dataclass

from dyno.errors import UsageError, closest

LONGEST = 65_536
VERBS = ("select", "insert", "update", "delete", "with", "values", "replace", "merge", "call")
"""A file of others must not create, grant, drop or copy anything."""
_TOKEN = re.compile(
    r"""(?P<hint>/\*[+!].*?\*/)
    | (?P<comment>--[^\n]*|/\*.*?(?:\*/|$))
    | (?P<quoted>'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)|`[^`]*(?:`|$)
       |\$(?P<tag>[A-Za-z_]\w*)?\$.*?(?:\$(?P=tag)\$|\$\$|$))
    | (?P<cast>::)
    | (?<![\w:]):(?P<name>[A-Za-z_]\w*)
    | (?P<number>\$\d+)
    | (?P<end>;)""",
    re.DOTALL | re.VERBOSE,
)


@dataclass(frozen=True)
class Parsed:
    """A statement for the driver.

    Attributes:
        sql: With parameters ``$1``, ``$2`` …, without comments.
        names: Their names, in order; each once.
    """

    sql: str
    names: tuple[str, ...]

    @property
    def reads(self) -> bool:
        """Whether it is a SELECT."""
        return self.sql[:6].lower() == "select"


def parsed(text: str, where: str) -> Parsed:
    """Translates the parameters of a statement.

    Args:
        text: SQL; one statement.
        where: What it is called, for messages.

    Raises:
        UsageError: If it is empty, too long, more than one statement, or neither queries nor
            changes rows.
    """
    if len(text) > LONGEST:
        raise UsageError(f"{where} is longer than {LONGEST:,} characters.")
    names: list[str] = []
    ended = False

    def replaced(found: re.Match[str]) -> str:
        nonlocal ended
        if found["comment"] is not None:
            return " "
        if found["number"] is not None:
            raise UsageError(f"{where} has {found['number']}; write parameters as :name.")
        if found["end"] is not None:
            ended = True
            if text[found.end() :].strip():
                raise UsageError(f"{where} has several statements; list each on its own.")
            return ""
        if (name := found["name"]) is None:
            return found[0]
        if name not in names:
            names.append(name)
        return f"${names.index(name) + 1}"

    sql = _TOKEN.sub(replaced, text).strip()
    word = re.match(r"[A-Za-z]*", sql.lstrip("( \n"))
    verb = word[0].lower() if word else ""
    if verb in {"begin", "start", "commit", "end", "rollback"}:
        raise UsageError(
            f"{where} is {verb.upper()}; transactions begin and end by themselves. Remove it."
        )
    if verb not in VERBS:
        near = closest(verb, VERBS) if verb else None
        hint = f" Did you mean '{near.upper()}'?" if near else ""
        raise UsageError(
            f"{where} begins with '{verb or sql[:10]}'; a statement must be one of "
            f"{', '.join(VERBS).upper()}.{hint}"
        )
    return Parsed(sql, tuple(names))
