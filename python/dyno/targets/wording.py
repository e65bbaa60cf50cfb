"""How engines write values of settings, as neutral values and back."""

from __future__ import annotations

import re
from collections.abc import Callable

from dyno.contracts.advice import Value

_SIZES = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_TIMES = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_ON, _OFF = {"on", "1", "yes", "true"}, {"off", "0", "no", "false"}
_NUMBER = re.compile(r"\s*(-?\d{1,25}(?:\.\d{1,9})?)\s*([a-zA-Z]*)\s*")


def number(text: str) -> float | None:
    """A plain number."""
    found = _NUMBER.fullmatch(text)
    return float(found[1]) if found and not found[2] else None


def size(text: str) -> float | None:
    """``128MB``, ``1.5 GiB``, ``8192``: bytes, in binary multiples as databases count."""
    found = _NUMBER.fullmatch(text)
    unit = found[2].lower() if found else "?"
    unit = unit if unit == "b" else unit.removesuffix("b").removesuffix("i")
    return float(found[1]) * _SIZES[unit] if found and unit in _SIZES else None


def seconds(text: str) -> float | None:
    """``5min``, ``30s``, ``300``."""
    found = _NUMBER.fullmatch(text)
    return float(found[1]) * _TIMES[found[2]] if found and found[2] in _TIMES else None


def switch(text: str) -> bool | None:
    """``on``, ``OFF``, ``1``."""
    word = text.strip().lower()
    return True if word in _ON else False if word in _OFF else None


def times(factor: float) -> Callable[[str], Value | None]:
    """A plain number in units of ``factor``."""

    def found(text: str) -> Value | None:
        value = number(text)
        return None if value is None else value * factor

    return found


def among(*words: str) -> Callable[[str], Value | None]:
    """Whether the text is one of ``words``."""
    return lambda text: text.strip().lower() in words


def word(text: str) -> Value | None:
    """A word in lower case."""
    return text.strip().lower() or None


def mib(value: Value) -> str:
    """Bytes as whole mebibytes: ``128MB``."""
    return f"{max(1, round(float(value) / (1 << 20)))}MB"


def whole(value: Value) -> str:
    """A whole number."""
    return str(round(float(value)))


def on_off(value: Value) -> str:
    """A switch as ``on`` or ``off``; a word as it is."""
    return ("on" if value else "off") if isinstance(value, bool) else str(value)
