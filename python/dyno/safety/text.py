"""Untrusted text, made safe for a terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from dyno.errors import UsageError

NO_BREAK = "\N{NO-BREAK SPACE}"
"""Where no line may be broken: textwrap takes it for a letter."""


def sentence(text: str) -> str:
    """A note as a sentence: with a capital and a full stop; empty stays empty."""
    text = text.strip()
    stop = "" if not text or text[-1] in ".!?" else "."
    return f"{text[:1].upper()}{text[1:]}{stop}"


def clauses(sentences: Iterable[str]) -> str:
    """Sentences one after the other, parted by semicolons, and without a stop at the end."""
    return "; ".join(one.removesuffix(".") for one in sentences)


_OBEYED = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
"""Categories: control, format (writing direction and no width too), halves, private, none, ends."""


def plain(text: str) -> str:
    """Text without control and formatting characters, which a terminal or a reader would obey."""
    return "".join(
        "\N{REPLACEMENT CHARACTER}" if unicodedata.category(char) in _OBEYED else char
        for char in text
    )


def shown(text: str) -> str:
    """Lines as a terminal may have them: each of them :func:`plain`."""
    return "\n".join(plain(line) for line in text.split("\n"))


def require_text(*names: str) -> None:
    """Refuses names that are not UTF-8: Linux takes any bytes, JSON and databases do not.

    Raises:
        UsageError: Naming the first of them.
    """
    for name in names:
        if any("\ud800" <= char <= "\udfff" for char in name):
            raise UsageError(
                f"{plain(name)} is not valid UTF-8, which Dyno's records need. Rename it, or "
                "use another name."
            )
