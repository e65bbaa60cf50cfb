"""What ``--limit WORD=VALUE`` can ask, and what may be asked of this machine."""

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
"""Processors' worth. With less a server does not answer within the time that a start has."""

LEAST_MEMORY = 32 << 20
LEAST_SHARED_MEMORY = 256 << 20
"""Where Dyno itself needs a part of it."""


@dataclass(frozen=True)
class Word:
    """One word.

    Attributes:
        controller: Of control groups; None for what every process may do to its own.
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
        Word("read_iops", "rate", "reads a second on the data's device", "io"),
        Word("write_iops", "rate", "writes a second on it", "io"),
        Word("read_bytes", "bytes", "bytes read a second on it, as 100MB", "io"),
        Word("write_bytes", "bytes", "bytes written a second on it", "io"),
    )
}


@dataclass(frozen=True)
class Bound:
    """A word and what is asked of it.

    Attributes:
        text: As the user wrote it.
        value: Processors' worth, bytes, or a number a second; of processors how many they are.
        processors: Their numbers.
    """

    word: Word
    text: str
    value: float
    processors: frozenset[int] = frozenset()


def parse(texts: Sequence[str]) -> list[Bound]:
    """What is asked, in the order of :data:`WORDS`.

    Raises:
        UsageError: One line on what cannot be, naming the nearest word.
    """
    asked = assigned("limit", texts, "cpu=0.9 or memory=512MB")
    for name in asked:
        if name not in WORDS:
            raise unknown("limit", name, WORDS)
    return [_read(word, asked[name]) for name, word in WORDS.items() if name in asked]


def as_record(asked: Sequence[Bound]) -> dict[str, str]:
    """What was asked, for the plan in a bundle."""
    return {bound.word.name: bound.text for bound in asked}


def require(
    asked: Sequence[Bound],
    *,
    shared: bool,
    usable: Collection[int] | None = None,
    memory_bytes: int | None = None,
) -> None:
    """Refuses what this machine does not have, or what nothing could work in.

    Args:
        asked: The limits.
        shared: Whether Dyno's own process is what they hold for.
        usable: Numbers of processors that may be used; by default this process's.
        memory_bytes: The memory that there is; None if that is not known.

    Raises:
        UsageError: Saying what there is.
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
    """Processors that an engine should count on, of so many usable ones: whole ones of a quota."""
    values = [bound.value for bound in asked if bound.word.name in {"cpus", "cpu"}]
    return max(1, int(min([usable, *values])))


def memory_bytes(asked: Sequence[Bound], usable: int) -> int:
    """The memory that an engine should count on, of so much that there is."""
    values = [int(bound.value) for bound in asked if bound.word.name == "memory"]
    return min([usable, *values])


def numbers_text(numbers: Collection[int]) -> str:
    """Numbers of processors as the kernel writes them: ``0-2,5``."""
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
