"""Names for statements: the verb, and the table if there is one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

_WORD = re.compile(r"[a-z0-9_]+|\"[^\"]*\"|`[^`]*`")
_TABLE_AFTER = frozenset({"from", "into", "update", "join", "table"})
_NO_TABLE = frozenset({"select", "set", "only", "lateral"})
_LONGEST = 36


def name_of(text: str) -> str:
    """A name such as ``select_accounts`` for a statement in lower case; ``empty`` for none."""
    words = [word.strip('"`').lower() for word in _WORD.findall(text)]
    verb = words[0] if words else "empty"
    pairs = pairwise(words)
    found = (after for word, after in pairs if word in _TABLE_AFTER and after not in _NO_TABLE)
    table = next(found, "")
    plain = re.sub(r"[^a-z0-9_]+", "_", f"{verb}_{table}" if table else verb)[:_LONGEST].strip("_")
    return plain if plain[:1].isalpha() else f"s_{plain}"


def distinct(names: Iterable[str]) -> list[str]:
    """The names, with a number where one occurred before."""
    taken: set[str] = set()
    made: list[str] = []
    for name in names:
        number, unique = 1, name
        while unique in taken:
            number += 1
            unique = f"{name}_{number}"
        taken.add(unique)
        made.append(unique)
    return made
