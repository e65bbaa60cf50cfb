"""Numbers as the verdicts of rules write them, and names in command lines."""

from __future__ import annotations

import shlex

from dyno.config.units import digits

MIB, GIB, MB, GB = 1 << 20, 1 << 30, 10**6, 10**9


def binary(size: float) -> str:
    """Memory, blocks and files of databases: ``128 MiB``."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(size) < 1023.95:
            return f"{digits(size)} {unit}"
        size /= 1024
    return f"{digits(size)} TiB"


def percent(share: float) -> str:
    """A share of 1: ``62 %``."""
    return f"{digits(round(100 * share, 1))} %"


def plural(count: int, word: str, words: str = "") -> str:
    """``1 table``, ``3 tables``."""
    return f"{count:,} {word if count == 1 else words or f'{word}s'}"


def sh(name: str) -> str:
    """A name as one word of a shell."""
    return shlex.quote(name)


def some(names: list[str], most: int = 3) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def stopped(text: str) -> str:
    """A clause with a full stop; one that ends with a statement has its own."""
    return text if text[-1:] in (";", ".") else f"{text}."
