"""What is wanted: words with units, from ``--want`` and from a TOML file with the same words."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from dyno.config.units import parse_seconds
from dyno.errors import UsageError, unknown
from dyno.safety import toml

MOST = 1e12
MOST_GROWTH, MOST_YEARS = 10.0, 50.0
_TB = {"": 1.0, "MB": 1e-6, "GB": 1e-3, "TB": 1.0, "PB": 1e3}


@dataclass(frozen=True)
class Wants:
    """What is wanted; None for what is not.

    Attributes:
        users: Users at once.
        tps: Transactions per second: commits and prescribed rollbacks of the whole mix.
        queries_per_h: Queries per hour.
        tb: Data on disk with its indexes, TB (10^12 bytes).
        growth: Growth of load and data a year, as a share: 0.2 is 20 %.
        years: Years of that growth.
        p95_ms: Limit for the 95th percentile of the main operation's response time, ms.
        mean_ms: Limit for the mean response time of all operations, ms.
        think_s: Time that a user thinks between transactions, s.
        io_per_tx: Reads and writes of a transaction at the devices, in place of measured ones.
        device_tb: Usable TB of a device, in place of the profiled volume's size.
        raid: RAID level of the devices: ``10``.
        cpu: Largest CPU utilisation, as a share.
        fill: Largest fill of a device, as a share.
        share: The database's share of the profiled rate, in place of a measured or published one.
    """

    users: float | None = None
    tps: float | None = None
    queries_per_h: float | None = None
    tb: float | None = None
    growth: float | None = None
    years: float | None = None
    p95_ms: float | None = None
    mean_ms: float | None = None
    think_s: float | None = None
    io_per_tx: float | None = None
    device_tb: float | None = None
    raid: str | None = None
    cpu: float | None = None
    fill: float | None = None
    share: float | None = None

    @property
    def factor(self) -> float:
        """Growth of load and data over all years, as a factor."""
        return 1.0 if self.growth is None or self.years is None else (1 + self.growth) ** self.years


@dataclass(frozen=True)
class Word:
    """A word of ``--want``.

    Attributes:
        field: The attribute of :class:`Wants`.
        example: A valid value.
        about: What it means.
        read: Reads its text; None if it is not valid.
    """

    field: str
    example: str
    about: str
    read: Callable[[str], float | str | None]


def _number(most: float = MOST) -> Callable[[str], float | None]:
    def read(text: str) -> float | None:
        try:
            value = float(text)
        except ValueError:
            return None
        return value if 0 < value <= most else None

    return read


def _percent(most: float) -> Callable[[str], float | None]:
    def read(text: str) -> float | None:
        value = _number(100 * most)(text.removesuffix("%")) if text.endswith("%") else None
        return None if value is None else value / 100

    return read


def _time(factor: float) -> Callable[[str], float | None]:
    def read(text: str) -> float | None:
        if not text.endswith(("s", "m", "h")):
            return None
        try:
            return factor * parse_seconds(text)
        except UsageError:
            return None

    return read


def _size(text: str) -> float | None:
    found = re.fullmatch(r"([0-9.eE+]+) ?(MB|GB|TB|PB)?", text)
    value = None if found is None else _number()(found[1])
    return None if found is None or value is None else value * _TB[found[2] or ""]


def _level(text: str) -> str | None:
    found = re.fullmatch(r"(?:raid[ -]?)?(0|1|5|6|10|50|60)", text.lower())
    return None if found is None else found[1]


WORDS = {
    "users": Word("users", "500", "users at once", _number()),
    "tps": Word("tps", "1200", "transactions per second, all of the mix", _number()),
    "queries_per_h": Word("queries_per_h", "3600", "queries per hour", _number()),
    "tb": Word("tb", "4", "data on disk with indexes, TB", _size),
    "growth": Word("growth", "20%", "growth of load and data a year", _percent(MOST_GROWTH)),
    "years": Word("years", "3", "years of that growth", _number(MOST_YEARS)),
    "p95": Word("p95_ms", "500ms", "limit of the main operation's p95", _time(1000)),
    "mean": Word("mean_ms", "200ms", "limit of the mean response time", _time(1000)),
    "think": Word("think_s", "12s", "think time of a user", _time(1)),
    "io_per_tx": Word("io_per_tx", "3.1", "device I/Os of a transaction", _number(1e6)),
    "device_tb": Word("device_tb", "6.4", "usable TB of a device", _size),
    "raid": Word("raid", "10", "RAID level: 0, 1, 5, 6, 10, 50, 60", _level),
    "cpu": Word("cpu", "80%", "largest CPU utilisation", _percent(1.0)),
    "fill": Word("fill", "70%", "largest fill of a device", _percent(1.0)),
    "share": Word("share", "78%", "database's share of the profiled rate", _percent(1.0)),
}
"""By word."""


def pairs(texts: Iterable[str], what: str) -> dict[str, str]:
    """Splits ``NAME=VALUE`` texts; a text may have several, with spaces between them.

    Raises:
        UsageError: If one has no value, or a name is given twice.
    """
    found: dict[str, str] = {}
    for text in (part for whole in texts for part in whole.split()):
        name, mark, value = text.partition("=")
        if not mark or not name or not value:
            raise UsageError(f"{what} {text}: write NAME=VALUE, such as {what} tps=1200.")
        if name in found:
            raise UsageError(f"{what} {name} is given twice.")
        found[name] = value
    return found


def of_file(content: str, what: str) -> dict[str, str]:
    """The words of a TOML file, as texts.

    Raises:
        UsageError: If it is not TOML, or a value is neither a number nor a text.
    """
    found: dict[str, str] = {}
    for name, value in toml.table(content, what).items():
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise UsageError(f"{what}: {name} must be a number or a text, such as p95 = '500ms'.")
        found[name] = str(value)
    return found


def read(texts: Mapping[str, str], what: str = "--want") -> Wants:
    """Reads what is wanted.

    Raises:
        UsageError: For an unknown word, a missing unit, or a value that is not above zero.
    """
    given: dict[str, Any] = {}
    for name, text in texts.items():
        word = WORDS.get(name)
        if word is None:
            raise unknown("want", name, WORDS)
        value = word.read(text.strip())
        if value is None:
            raise UsageError(f"{what} {name}={text}: {_fault(name, word, text.strip())}")
        given[word.field] = value
    return Wants(**given)


def _fault(name: str, word: Word, text: str) -> str:
    """Why a value is not valid, with a valid example."""
    example = f"write it like {name}={word.example}."
    try:
        number = float(text)
    except ValueError:
        return f"not a valid value ({word.about}); {example}"
    if not math.isfinite(number) or number <= 0:
        return f"the value must be above zero; {example}"
    if word.read(word.example.rstrip("%hms")) is None:
        return f"the unit is missing; {example}"
    return f"the value is out of range; {example}"
