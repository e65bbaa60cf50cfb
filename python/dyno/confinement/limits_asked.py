"""The limits of ``--limit WORD=VALUE``: parsing and checks against this machine."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from dyno.config.settings import assigned, bytes_text
from dyno.config.units import parse_bytes
from dyno.errors import UsageError, unknown

Controller = Literal["cpu", "memory", "io"]
Kind = Literal["processors", "share", "bytes", "rate"]

LEAST_CPU = 0.05
"""Minimum CPU quota. With less, a server does not respond within the startup timeout."""

LEAST_MEMORY = 32 << 20
LEAST_SHARED_MEMORY = 256 << 20
"""Minimum memory if Dyno itself uses part of it."""


@dataclass(frozen=True)
class Word:
    """A limit by name.

    Attributes:
        controller: Its cgroup controller; None for what a process may set for itself.
    """

    name: str
    kind: Kind
    meaning: str
    controller: Controller | None


WORDS = {
    word.name: word
    for word in (
        Word("cpus", "processors", "processors by number, as 0-1 or 0,2", None),
        Word("cpu", "share", "processors' worth of time, as 0.9 or 2", "cpu"),
        Word("memory", "bytes", "memory with the page cache, as 512MB", "memory"),
        Word("read_iops", "rate", "reads a second on each of the engine's devices", "io"),
        Word("write_iops", "rate", "writes a second on each", "io"),
        Word("read_bytes", "bytes", "bytes read a second on each, as 100MB", "io"),
        Word("write_bytes", "bytes", "bytes written a second on each", "io"),
    )
}


@dataclass(frozen=True)
class Bound:
    """A limit and its value.

    Attributes:
        text: As the user wrote it.
        value: A number of CPUs, bytes, or a rate per second; for a CPU list its length.
        processors: The CPU numbers.
    """

    word: Word
    text: str
    value: float
    processors: frozenset[int] = frozenset()


def parse(texts: Sequence[str]) -> list[Bound]:
    """Parses the limits, in the order of :data:`WORDS`.

    Raises:
        UsageError: One line with the invalid limit, naming the nearest one.
    """
    asked = assigned("limit", texts, "cpu=0.9 or memory=512MB")
    for name in asked:
        if name not in WORDS:
            raise unknown("limit", name, WORDS)
    return [_read(word, asked[name]) for name, word in WORDS.items() if name in asked]


def as_record(asked: Sequence[Bound]) -> dict[str, str]:
    """The limits as text, for the plan in a bundle."""
    return {bound.word.name: bound.text for bound in asked}


def require(
    asked: Sequence[Bound],
    *,
    shared: bool,
    usable: Collection[int] | None = None,
    memory_bytes: int | None = None,
) -> None:
    """Rejects limits beyond this machine, or too small to work with.

    Args:
        asked: The limits.
        shared: Whether they apply to Dyno's own process.
        usable: Usable CPU numbers; by default this process's.
        memory_bytes: The machine's memory; None if unknown.

    Raises:
        UsageError: With what is available.
    """
    usable = os.sched_getaffinity(0) if usable is None else usable
    bounds = {bound.word.name: bound for bound in asked}
    if (cpus := bounds.get("cpus")) and not cpus.processors <= set(usable):
        raise UsageError(
            f"cpus={cpus.text}: this machine lets Dyno use the processors {numbers_text(usable)}."
        )
    if (cpu := bounds.get("cpu")) is not None:
        most = len(cpus.processors) if cpus else len(usable)
        if not LEAST_CPU <= cpu.value <= most:
            raise UsageError(f"cpu={cpu.text}: give from {LEAST_CPU:g} to {most}, processors.")
    if (memory := bounds.get("memory")) is not None:
        least = LEAST_SHARED_MEMORY if shared else LEAST_MEMORY
        if memory.value < least:
            why = ": the engine works in Dyno's own process" if shared else ""
            raise UsageError(f"memory={memory.text}: give {bytes_text(least)} at least{why}.")
        if memory_bytes is not None and memory.value > memory_bytes:
            there = bytes_text(memory_bytes >> 20 << 20)
            raise UsageError(f"memory={memory.text}: this machine has {there} of memory.")


def threads(asked: Sequence[Bound], usable: int) -> int:
    """The CPUs an engine should assume, out of ``usable``: a quota counts in whole CPUs."""
    values = [bound.value for bound in asked if bound.word.name in {"cpus", "cpu"}]
    return max(1, int(min([usable, *values])))


def memory_bytes(asked: Sequence[Bound], usable: int) -> int:
    """The memory that an engine should assume, out of ``usable`` bytes."""
    values = [int(bound.value) for bound in asked if bound.word.name == "memory"]
    return min([usable, *values])


def numbers_text(numbers: Collection[int]) -> str:
    """CPU numbers in the kernel's format: ``0-2,5``."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ",".join(f"{p[0]}-{p[-1]}" if len(p) > 1 else str(p[0]) for p in parts)


def _read(word: Word, text: str) -> Bound:
    match word.kind:
        case "processors":
            numbers = _numbers(text)
            return Bound(word, text, len(numbers), numbers)
        case "share":
            return Bound(word, text, _number(word, text, "processors, as 0.9"))
        case "rate":
            value = _number(word, text, "a whole number a second, as 2000")
            if value != int(value) or value < 1:
                raise UsageError(f"{word.name}={text}: give a whole number a second, as 2000.")
            return Bound(word, text, value)
        case "bytes":
            try:
                return Bound(word, text, parse_bytes(text))
            except UsageError:
                raise UsageError(
                    f"{word.name}={text}: give a size like 64MB or 4GiB (1 kB is 1024 bytes)."
                ) from None


def _number(word: Word, text: str, form: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value <= 0:
        raise UsageError(f"{word.name}={text}: give {form}.")
    return value


def _numbers(text: str) -> frozenset[int]:
    found: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        ends = (first, last if dash else first)
        if not all(end.isascii() and end.isdigit() and len(end) <= 4 for end in ends):
            raise UsageError(f"cpus={text}: give numbers of processors, as 0-1 or 0,2.")
        if int(ends[1]) < int(ends[0]):
            raise UsageError(f"cpus={text}: {part.strip()} ends before it begins.")
        found |= set(range(int(ends[0]), int(ends[1]) + 1))
    return frozenset(found)
