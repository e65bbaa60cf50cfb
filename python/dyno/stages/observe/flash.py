"""Probe of a target: what the caches on flash in front of its files did.

A daemon reports its counters once a second (``status.json`` in the folder of the cache); see
``bundle/flash.py`` for the metrics.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from dyno.accelerate.attach import folder
from dyno.bundle.flash import ALL, SOURCE, Flash
from dyno.contracts.probe import Sample
from dyno.errors import UsageError

_COUNTERS = (
    *("hits", "misses", "scanned", "written_bytes"),
    *("flash_requests", "flash_ns", "origin_requests", "origin_ns"),
)
_NS_PER_MS = 1e6

Counts = Mapping[str, Counter[str]]
"""Counters by kind of files."""


class FlashProbe:
    """Reads the reports of the daemons; a kind of files of several caches is one subject."""

    name = SOURCE
    period_s = 1.0
    deadline_s = 2.0

    def __init__(self, caches: Iterable[Path]) -> None:
        """Opens nothing.

        Args:
            caches: The folders of the caches.
        """
        self._caches = list(caches)
        self._before: dict[Path, tuple[tuple[float, int], Counts]] = {}

    def read(self, now_ns: int) -> Sequence[Sample]:  # noqa: ARG002
        """Returns what was done since the previous reports; nothing without a new one."""
        grown: dict[str, Counter[str]] = {}
        seconds = 0.0
        for cache in self._caches:
            told = _told(cache)
            if told is None:
                continue
            (time_s, daemon), counts = told
            before = self._before.get(cache)
            self._before[cache] = told
            # A daemon that replaces another counts from zero.
            if before is None or before[0][1] != daemon or time_s <= before[0][0]:
                continue
            seconds = max(seconds, time_s - before[0][0])
            for kind, now in counts.items():
                growth = Counter(now)
                growth.subtract(before[1].get(kind, Counter()))
                grown.setdefault(kind, Counter()).update(growth)
        return [sample for kind, one in grown.items() for sample in _samples(kind, one, seconds)]

    def close(self) -> None:
        """Has nothing to release."""


def _told(cache: Path) -> tuple[tuple[float, int], Counts] | None:
    """Time and daemon of the last report, and its counters; None if it cannot be read."""
    try:
        found = folder.status(cache)
    except (OSError, UsageError):
        return None
    if found is None:
        return None
    counts: dict[str, Counter[str]] = {ALL: Counter()}
    for kind in found.told["kinds"]:
        own = Counter({name: int(kind[name]) for name in _COUNTERS})
        if kind["cached"]:
            counts[ALL].update(own)
            counts.setdefault(str(kind["kind"]), Counter()).update(own)
    return (float(found.told["time"]), int(found.told["pid"])), counts


def _samples(kind: str, grown: Counter[str], seconds: float) -> Iterable[Sample]:
    def sample(metric: Flash, value: float) -> Sample:
        return Sample(SOURCE, kind, metric, value, metric.unit)

    def rate(metric: Flash, counted: float) -> Sample:
        return sample(metric, counted / seconds)

    blocks = grown["hits"] + grown["misses"]
    if kind != ALL and not blocks and not grown["written_bytes"]:
        return
    yield rate(Flash.blocks, blocks)
    yield rate(Flash.hits, grown["flash_requests"])
    yield rate(Flash.misses, grown["origin_requests"])
    yield rate(Flash.scanned, grown["scanned"])
    yield rate(Flash.written, grown["written_bytes"] / 1e6)
    if blocks:
        yield sample(Flash.hit_ratio, 100 * grown["hits"] / blocks)
    for metric, count, total in (
        (Flash.hit, "flash_requests", "flash_ns"),
        (Flash.miss, "origin_requests", "origin_ns"),
    ):
        if grown[count] > 0:
            yield sample(metric, grown[total] / grown[count] / _NS_PER_MS)
