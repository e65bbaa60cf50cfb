"""Numbers with units, as people read and write them."""

from __future__ import annotations

import math

from dyno.errors import UsageError


def bytes_text(count: float) -> str:
    """Decimal units, three digits: ``1.21 GB``."""
    for unit in ("B", "kB", "MB", "GB"):
        if abs(count) < 999.5:
            return f"{digits(count)} {unit}"
        count /= 1000
    return f"{digits(count)} TB"


def digits(value: float) -> str:
    """Three significant digits, or all integer digits with thousands separators."""
    if abs(value) >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def signed(value: float) -> str:
    """Three significant digits with a sign: ``+12.3``; ``0`` has none."""
    if not math.isfinite(value):
        return "+∞" if value > 0 else "-∞"
    text = digits(abs(value))
    return text if not text.strip("0.") else f"{'-' if value < 0 else '+'}{text}"


def seconds_text(seconds: float) -> str:
    """``850 ms``, ``12.3 s``, ``3 min 20 s``, ``2 h 5 min``."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 100:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min"


MOST_SECONDS = 365 * 24 * 3600.0
"""A year, which fits a nanosecond clock."""
MOST_BYTES = 1 << 60

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def parse_bytes(text: str) -> int:
    """Bytes of ``512M``, ``2GiB``, ``1073741824`` (binary multiples).

    Raises:
        UsageError: If it is not a size above zero, or exceeds 1 EiB.
    """
    word = text.strip().upper().removesuffix("B").removesuffix("I")
    unit = word[-1:] if word[-1:] in _UNITS and word[-1:] else ""
    try:
        size = float(word.removesuffix(unit)) * _UNITS[unit]
    except ValueError:
        size = math.nan
    if not math.isfinite(size) or size < 1:
        raise UsageError(f"'{text}' is not a valid size; write it like 512M or 2GiB.")
    if size > MOST_BYTES:
        raise UsageError(f"'{text}' is too large; use a size up to 1048576T (1 EiB).")
    return int(size)


def parse_seconds(text: str, *, none: bool = False) -> float:
    """Seconds of ``30``, ``30s``, ``500ms``, ``5m``, ``1h``.

    Args:
        text: The user's input.
        none: Whether zero is valid: ``0s``.

    Raises:
        UsageError: If it is not a time above zero, or longer than a year.
    """
    factors = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
    unit = next((word for word in factors if text.endswith(word)), "")
    try:
        seconds = float(text.removesuffix(unit)) * factors.get(unit, 1.0)
    except ValueError:
        seconds = math.nan
    if none and seconds == 0:
        return 0.0
    if not math.isfinite(seconds) or seconds <= 0:
        zero = "above zero, " if seconds == 0 else ""
        raise UsageError(f"'{text}' is not a valid time; write it {zero}like 500ms, 30s, 5m or 1h.")
    if seconds > MOST_SECONDS:
        raise UsageError(f"'{text}' is too long; use a time up to 8760h (a year).")
    return seconds
