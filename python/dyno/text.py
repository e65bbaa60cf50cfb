"""Text of others as it may be shown."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

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


def plain(text: str) -> str:
    """Text without control and formatting characters, which a terminal or a reader would obey."""
    return "".join(
        "\N{REPLACEMENT CHARACTER}" if unicodedata.category(char)[0] == "C" else char
        for char in text
    )
