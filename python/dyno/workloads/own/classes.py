"""Names for statements: the verb, and the table if there is one."""

from __future__ import annotations

import re
from collections.abc import Iterable

_VERB = re.compile(r"[\W_]*([a-z0-9_]+)")
_PART = r"(?:\"[^\"]*\"|`[^`]*`|[\w$]+)"
_TABLE = re.compile(
    rf"\b(?:from|into|update|join|table)\s+(?:only\s+)?(?!select\b|set\b|lateral\b)"
    rf"(?:{_PART}\s*\.\s*)*({_PART})"
)
_LONGEST = 36


def name_of(text: str) -> str:
    """A name such as ``select_accounts`` for a statement in lower case; ``empty`` for none."""
    first, table = _VERB.match(text), _TABLE.search(text)
    verb = first[1] if first else "empty"
    words = f"{verb}_{table[1]}" if table else verb
    plain = re.sub(r"[^a-z0-9_]+", "_", words.lower())[:_LONGEST].strip("_")
    plain = re.sub(r"_{2,}", "_", plain)
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
