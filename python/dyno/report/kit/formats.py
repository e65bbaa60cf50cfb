"""Formats numbers, names and times."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from dyno.bundle.model import Estimate, Outcome, Run
from dyno.bundle.phases.oltp import OltpDetail
from dyno.config.rates import recorded

_NARROW = "\N{NARROW NO-BREAK SPACE}"


VERDICTS: dict[Outcome | None, str] = {
    "valid": "VALID",
    "disturbed": "DISTURBED",
    "invalid": "INVALID",
    None: "NO VERDICT",
}
"""Verdicts at the start of a terminal summary."""


def rounded(value: float | None) -> str:
    """Three significant digits, all integer digits, thousands separators; ``–`` for None."""
    if value is None:
        return "–"
    size = abs(value)
    if size >= 100 or value == int(value):
        return f"{value:,.0f}"
    decimals = 1 if size >= 10 else 2 if size >= 1 else 3
    return f"{value:.{decimals}f}" if size >= 0.0005 else f"{value:.1g}"


def fixed(value: float | None, decimals: int) -> str:
    """A fixed number of decimals, for columns; ``–`` for None."""
    return "–" if value is None else f"{value:,.{decimals}f}"


def with_unit(value: float | None, unit: str) -> str:
    """A value and its unit, without a line break."""
    return "–" if value is None else f"{rounded(value)}{_NARROW}{unit}".rstrip()


def spanned(found: Estimate | None, written: Callable[[float], str], unit: str = "") -> str:
    """A value with its unit and its interval, if any; ``–`` for None.

    Args:
        found: The estimate.
        written: Formats a value.
        unit: With a leading space.
    """
    if found is None:
        return "–"
    text = f"{written(found.value)}{unit}"
    if found.low is None or found.high is None:
        return text
    return f"{text} ({written(found.low)} to {written(found.high)})"


def joined(text: str) -> str:
    """A text without a line break between its last two words."""
    first, _, last = text.rpartition(" ")
    return f"{first}{_NARROW}{last}" if first else last


def bytes_text(count: float | None) -> str:
    """Binary units, for memory and blocks: ``24 GiB``."""
    if count is None:
        return "–"
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(count) < 1024:
            return with_unit(count, unit)
        count /= 1024
    return with_unit(count, "TiB")


def decimal_bytes(count: float | None) -> str:
    """Decimal units, for data and disks: ``1.06 GB``."""
    if count is None:
        return "–"
    for unit in ("B", "kB", "MB", "GB"):
        if abs(count) < 999.5:
            return with_unit(count, unit)
        count /= 1000
    return with_unit(count, "TB")


def seconds(value: float | None) -> str:
    """``850 ms``, ``12.3 s``, ``3 min 20 s``, ``2 h 5 min``."""
    if value is None:
        return "–"
    if value < 1:
        return with_unit(value * 1000, "ms")
    if value < 100:
        return with_unit(value, "s")
    minutes, rest = divmod(round(value), 60)
    if minutes < 60:
        return f"{minutes}{_NARROW}min {rest}{_NARROW}s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours}{_NARROW}h {minutes}{_NARROW}min"


def moment(unix_ns: int) -> str:
    """``2026-11-20 14:00:00 UTC``."""
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(unix_ns / 1e9))
    except (OverflowError, OSError, ValueError):
        return "at an unknown time"


def clock(unix_ns: int) -> str:
    """The time of day, ``14:00:00 UTC``."""
    found = moment(unix_ns)
    return found[11:].replace(" ", _NARROW) if found[:1].isdigit() else found


def target_title(run: Run, name: str | None) -> str:
    """The product name of a target, such as ``PostgreSQL``; several of one have numbers."""
    facts = run.targets.get(name or "")
    _, at, number = str(name).partition("@")
    return f"{facts.product}{at}{number}" if facts and facts.product else str(name)


def operation_title(name: str) -> str:
    """``new_order`` → ``New-Order``."""
    return "-".join(part.capitalize() for part in name.split("_"))


def query_title(name: str) -> str:
    """``q05`` → ``Q5``."""
    number = re.fullmatch(r"q0*(\d+)", name)
    return f"Q{number[1]}" if number else name


def users_title(detail: OltpDetail | None, level: str) -> str:
    """``16 users``, ``100 to 900/s over 32 users``; by default the level's name."""
    if detail is None or detail.users is None:
        return level
    users = detail.users
    text = f"{users:g} user{'' if users == 1 else 's'}"
    if detail.databases is not None:
        text += f" in {detail.databases:g} databases"
    if detail.database is not None:
        text += f", database {detail.database:g}"
    if detail.is_replay:
        speed = detail.loop.speed if detail.loop else None
        return f"{users:g} session{'' if users == 1 else 's'} of a log, speed {speed or 1:g}"
    rate = recorded(detail.rate_per_s)
    again = f", {detail.label}" if detail.label else ""
    again += "" if detail.window is None else f", window {detail.window:g}"
    return f"{text if rate is None else f'{rate.title} over {text}'}{again}"
