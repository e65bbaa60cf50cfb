"""Rate files: time in seconds and transactions per second, as CSV or TOML."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dyno.config.rates import MOST_PER_S, Rate, hold
from dyno.errors import UsageError, nearest
from dyno.safety import toml

_MOST_POINTS = 50_000
_LONGEST_S = 366 * 86_400
_LAST = ("rate", "step")
"""Header of the second column: ``rate`` interpolates linearly, ``step`` holds each rate."""

Points = list[tuple[str, float, float]]
"""Position in the file, time in seconds, and rate."""


def read(path: Path) -> Rate:
    """Reads a rate file: TOML if its name ends in ``.toml``, else CSV.

    CSV has lines of ``seconds,rate``. Empty lines and lines that begin with ``#`` are ignored.
    With the header ``seconds,step`` each rate holds until the next one. TOML has ``points``, a list
    of such pairs, and may have ``between = "rate"`` or ``"step"``.

    Raises:
        UsageError: If it cannot be read or is invalid, with the line.
    """
    text = toml.text_of(path, f"--rate-file {path}").removeprefix("\ufeff")
    points, between = _toml(path, text) if path.suffix.lower() == ".toml" else _csv(path, text)
    if not points:
        raise UsageError(f"{path} has no rates; write lines of seconds,rate.")
    if len(points) > _MOST_POINTS:
        raise UsageError(f"{path} has {len(points):,} points; the maximum is {_MOST_POINTS:,}.")
    _require_order(path, points)
    pairs = [(at, rate) for _, at, rate in points]
    return Rate("rate-file", hold(pairs) if between == "step" else tuple(pairs))


def _csv(path: Path, text: str) -> tuple[Points, str]:
    points: Points = []
    between = "rate"
    first = True
    for line, row in enumerate(text.splitlines(), 1):
        cells = [cell.strip() for cell in row.split(",")]
        if not any(cells) or cells[0].startswith("#"):
            continue
        where = f"line {line}"
        if len(cells) != 2:
            raise _wrong(path, where, f"has {len(cells)} columns; write two: seconds,rate")
        if first and cells[0].lower() == "seconds":
            between = _between(path, where, cells[1].lower())
        else:
            points.append((where, *_pair(path, where, cells)))
        first = False
    return points, between


def _toml(path: Path, text: str) -> tuple[Points, str]:
    table = toml.table(text, str(path))
    for name in table:
        if name not in ("points", "between"):
            raise _wrong(path, f"'{name}'", f"is unknown. {nearest(name, ('points', 'between'))}")
    pairs: Any = table.get("points", [])
    if not isinstance(pairs, list):
        raise _wrong(
            path, "'points'", "is not a list of pairs; write it like points = [[0, 100], [60, 900]]"
        )
    points: Points = []
    for place, pair in enumerate(pairs, 1):  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        where = f"point {place}"
        if not isinstance(pair, list) or len(pair) != 2:  # pyright: ignore[reportUnknownArgumentType]
            raise _wrong(path, where, "is not a pair of seconds and rate")
        points.append((where, *_pair(path, where, pair)))  # pyright: ignore[reportUnknownArgumentType]
    return points, _between(path, "'between'", table.get("between", "rate"))


def _between(path: Path, where: str, word: object) -> str:
    if word not in _LAST:
        raise _wrong(path, where, f"says '{word}'. {nearest(str(word), _LAST)}")
    return str(word)


def _pair(path: Path, where: str, cells: Iterable[Any]) -> tuple[float, float]:
    numbers: list[float] = []
    for cell, most in zip(cells, (_LONGEST_S, MOST_PER_S), strict=True):
        try:
            number = math.nan if isinstance(cell, bool) else float(cell)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not 0 <= number <= most:
            raise _wrong(path, where, f"has '{cell}', which is not a number from 0 to {most:,.0f}")
        numbers.append(number)
    return numbers[0], numbers[1]


def _require_order(path: Path, points: Points) -> None:
    for (_, before, _), (where, at, _) in itertools.pairwise(points):
        if at < before:
            raise _wrong(path, where, f"goes back in time, from {before:g} s to {at:g} s")
    if not any(rate for _, _, rate in points):
        raise UsageError(f"{path}: every rate is 0, so no transaction would start.")


def _wrong(path: Path, where: str, what: str) -> UsageError:
    return UsageError(f"{path}: {where} {what.rstrip('.')}.")
