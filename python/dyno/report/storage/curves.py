"""The curves of a storage profile and their best values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dyno.bundle.metrics import Curve as CurveMetrics
from dyno.bundle.metrics import StorageLoad
from dyno.bundle.metrics.io import Rate
from dyno.profiles.volume_sets import Load
from dyno.report.kit.formats import bytes_text, joined, rounded

UNITS: dict[Rate, str] = {"iops": "IOPS", "mbps": "MB/s"}


@dataclass(frozen=True)
class Best:
    """The best of a curve's loads.

    Attributes:
        low, high: 95 % interval, if repeated.
        load: None in bundles without it.
        latency_ms: The latency that the ceiling applies to, of the slowest side.
        confirmed: Confirming windows after a search; None if it was not searched.
        stopped: Why the search ended, the engine's code; empty if unknown.
    """

    value: float
    low: float | None
    high: float | None
    load: Load | None
    latency_ms: float | None
    confirmed: int | None
    stopped: str = ""

    @property
    def search(self) -> str:
        """``, confirmed twice``; empty if the load was not searched."""
        if self.confirmed is None:
            return ""
        times = {0: "not confirmed", 1: "confirmed once", 2: "confirmed twice"}
        words = ["", times.get(self.confirmed, f"confirmed {self.confirmed} times")]
        # If the load could not grow, the true best may be higher.
        words += {"most": ["the largest load allowed"], "saturated": ["saturated"]}.get(
            self.stopped, []
        )
        return ", ".join(words)


@dataclass(frozen=True)
class Curve:
    """A curve, its loads, and the best of them.

    Attributes:
        metrics: The keys of its metrics.
        pattern, read_percent, block_bytes: None if its jobs differ, or blocks are mixed.
        metric: Its metric: ``iops`` within the ceiling, or ``mbps``.
        loads: In ascending order.
        jobs: The concurrent jobs; empty for a single one.
        volumes: The concurrent volumes; empty for a single one.
        synced: Writes per sync; None without syncs.
        settled: Whether a curve that is repeated until steady settled; None for others.
        best: None if every load exceeded the ceiling or had failed I/Os.
        alike: Whether another curve differs in name only.
    """

    name: str
    metrics: CurveMetrics
    pattern: str | None
    read_percent: int | None
    block_bytes: int | None
    metric: Rate
    loads: tuple[Load, ...]
    jobs: tuple[str, ...] = ()
    volumes: tuple[str, ...] = ()
    synced: int | None = None
    settled: bool | None = None
    best: Best | None = None
    alike: bool = False

    @property
    def value(self) -> float | None:
        """Its best value."""
        return None if self.best is None else self.best.value

    @property
    def depth(self) -> int | None:
        """The queue depth at its best."""
        return None if self.best is None or self.best.load is None else self.best.load.depth

    @property
    def kind(self) -> str:
        """``Sequential read``, ``Random 70/30 mix``; its name if jobs differ."""
        if self.pattern is None or self.read_percent is None:
            return self.name.replace("_", " ")
        words = [self.pattern.replace("_", " ").capitalize(), self.what, "mix" * self.is_mix]
        return " ".join(filter(None, [*words, self._which]))

    @property
    def _which(self) -> str:
        """What distinguishes it from others of its kind: an open loop, or its name."""
        return f"({self.name})" if self.alike else "at a rate" * self.is_open

    @property
    def what(self) -> str:
        """``read``, ``write``, ``synced write``, ``write, 8 per sync`` or ``70/30``."""
        if self.read_percent is None:
            return "work"
        mix = f"{self.read_percent}/{100 - self.read_percent}"
        write = "write"
        if self.synced is not None:
            write = "synced write" if self.synced == 1 else f"write, {self.synced} per sync"
        return {100: "read", 0: write}.get(self.read_percent, mix)

    @property
    def is_mix(self) -> bool:
        """Whether it has reads and writes."""
        return self.read_percent is not None and 0 < self.read_percent < 100

    @property
    def is_open(self) -> bool:
        """Whether its loads are rates."""
        return any(load.by_rate for load in self.loads)

    @property
    def size(self) -> str:
        """``8 KiB`` or ``mixed sizes``."""
        return "mixed sizes" if self.block_bytes is None else bytes_text(self.block_bytes)

    @property
    def size_word(self) -> str:
        """``8K`` or ``mixed``."""
        kib = (self.block_bytes or 0) / 1024
        return "mixed" if not kib else f"{kib / 1024:g}M" if kib >= 1024 else f"{kib:g}K"

    @property
    def title(self) -> str:
        """``Random read, 8 KiB``; its name and its jobs' names if jobs differ."""
        if self.jobs:
            return f"{self.kind} ({' + '.join(self.jobs)})"
        return f"{self.kind}, {self.size}"

    @property
    def short(self) -> str:
        """``8K random read``, for columns of text."""
        if self.pattern is None:
            return self.kind
        # Logs need no qualifier.
        shown = {"sequential": "" if self.synced else "seq."}
        pattern = shown.get(self.pattern, self.pattern.replace("_", " "))
        words = " ".join(filter(None, [self.size_word, pattern, self.what]))
        return f"{words} ({self.name})" if self.alike else f"{words}{', rate' * self.is_open}"

    @property
    def unit(self) -> str:
        """The unit of its best value."""
        return UNITS[self.metric]

    def at(self, load: Load) -> StorageLoad:
        """The metrics of a load."""
        return self.metrics.load(load.name)


@dataclass(frozen=True)
class Matrix:
    """Best values by kind and block size.

    Attributes:
        curves: By kind and block size; a profile need not have all.
    """

    metric: Rate
    kinds: tuple[str, ...]
    blocks: tuple[int, ...]
    curves: dict[tuple[str, int], Curve]

    @property
    def unit(self) -> str:
        """The unit of all values."""
        return UNITS[self.metric]


def rates(curves: Iterable[Curve]) -> list[Rate]:
    """The distinct metrics of the curves, in order."""
    found: dict[Rate, None] = dict.fromkeys(curve.metric for curve in curves)
    return list(found)


def load_title(load: Load) -> str:
    """``queue depth 8``, ``5,000/s``."""
    if load.by_rate and load.rate is not None:
        return f"{rounded(load.rate)}/s"
    return f"queue depth {load.depth}"


def short_load(load: Load) -> str:
    """``depth 8`` without a line break; ``5,000/s``."""
    return joined(load_title(load).removeprefix("queue "))


def matrices(found: Iterable[Curve]) -> list[Matrix]:
    """The curves as matrices, one per metric, if block sizes vary."""
    listed = [curve for curve in found if curve.block_bytes is not None and not curve.jobs]
    made: list[Matrix] = []
    for about in rates(listed):
        cells: dict[tuple[str, int], Curve] = {}
        for curve in listed:
            if curve.metric == about and curve.block_bytes is not None:
                cells.setdefault((curve.kind, curve.block_bytes), curve)
        blocks = tuple(sorted({block for _, block in cells}))
        if len(blocks) > 1:
            kinds = tuple(dict.fromkeys(kind for kind, _ in cells))
            made.append(Matrix(about, kinds, blocks, cells))
    return made


def is_grid(found: Sequence[Curve]) -> bool:
    """Whether block sizes vary within a kind of curve."""
    sizes: dict[str, set[int | None]] = {}
    for curve in found:
        sizes.setdefault(curve.kind, set()).add(curve.block_bytes)
    return any(len(own) > 1 for own in sizes.values())


def headlines(found: Sequence[Curve]) -> list[Curve]:
    """The headline curves: MB/s before IOPS, reads before writes.

    If block sizes vary within a kind, only the best one.
    """
    highest: dict[tuple[str, str], Curve] = {}
    for curve in found:
        key = (curve.kind, curve.metric)
        if curve.value is not None and curve.value > (
            highest[key].value or 0 if key in highest else 0
        ):
            highest[key] = curve
    order = {"mbps": 0, "iops": 1}
    return sorted(highest.values(), key=lambda one: (order[one.metric], -(one.read_percent or 0)))
