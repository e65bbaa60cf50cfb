"""Reads small text files of the kernel, any of which may be missing.

Every reader of Dyno takes ``root``, the folder that holds ``proc`` and ``sys``: ``/`` on a live
machine, a folder of captured texts in a test.
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path("/")


def read_text(path: Path) -> str | None:
    """The text of ``path`` without blanks at its ends; None if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None


def read_int(path: Path) -> int | None:
    """The whole number in ``path``; None if it cannot be read or holds something else."""
    text = read_text(path)
    try:
        return None if text is None else int(text)
    except ValueError:
        return None


def children(path: Path) -> list[str]:
    """Sorted names in a folder; none if it cannot be read."""
    try:
        return sorted(entry.name for entry in path.iterdir())
    except OSError:
        return []


def chosen(text: str | None) -> str | None:
    """The word in brackets of a choice such as ``always [madvise] never``.

    A text of one word without brackets is its own choice (``none`` of a scheduler).
    """
    if text is None:
        return None
    for word in text.split():
        if word.startswith("[") and word.endswith("]"):
            return word[1:-1]
    return text if text and " " not in text else None
