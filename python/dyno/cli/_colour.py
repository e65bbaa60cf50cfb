"""Colours the verdict of a summary on a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from dyno.report.kit.formats import VERDICTS
from dyno.safety.text import plain

_COLOURS = {"valid": "green", "disturbed": "magenta", "invalid": "red", None: "yellow"}


def coloured(lines: Sequence[str]) -> str:
    """Lines of summaries, safe for a terminal, with coloured verdicts.

    No colours if NO_COLOR is set or stdout is not a terminal.
    """
    lines = [plain(line) for text in lines for line in text.split("\n")]
    if os.environ.get("NO_COLOR") or not sys.stdout.isatty():
        return "\n".join(lines)
    return "\n".join(map(_coloured, lines))


def _coloured(line: str) -> str:
    for verdict, word in VERDICTS.items():
        if line.startswith(f"{word}  "):
            return click.style(word, fg=_COLOURS[verdict], bold=True) + line[len(word) :]
    return line
