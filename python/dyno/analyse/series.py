"""Time series: probe samples, and throughput per interval."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dyno.analyse.rows import columns
from dyno.bundle import observed
from dyno.bundle.observed import Series
from dyno.bundle.reader import Bundle
from dyno.bundle.series import Key, ended
from dyno.errors import UsageError

_MOST_INTERVALS = 10_000_000


def sampled(bundle: Bundle) -> dict[Key, Series]:
    """Returns all sampled series in order of first appearance."""
    return observed.sampled(columns(bundle, "samples"))


@dataclass(frozen=True)
class Throughput:
    """Operations per second in equal intervals.

    Attributes:
        start_ns, end_ns: Bounds of the measurement window, ns since the Unix epoch.
        interval_s: The interval length.
        values: Operations per second of each complete interval; zero if nothing completed.
    """

    start_ns: int
    end_ns: int
    interval_s: float
    values: tuple[float, ...]


def throughput(rows: Iterable[dict[str, Any]], seconds: float | None = None) -> Throughput | None:
    """Throughput of measured ``ops`` rows: commits and prescribed rollbacks.

    A partial last interval is left out, because its rate varies more.

    Args:
        rows: The rows.
        seconds: The measured duration, if known; it includes idle time after the last row.

    Raises:
        UsageError: If the times of the rows are absurd.
    """
    done, lengths = ended(rows)
    interval = max(lengths.values(), default=0.0)
    if not interval > 0:
        return None
    step = max(1, round(interval * 1e9))
    start, last = min(done), max(done)
    length = max(last - start + round(lengths[last] * 1e9), round((seconds or 0.0) * 1e9))
    if length // step > _MOST_INTERVALS:
        raise UsageError("The bundle is damaged: its operations have impossible times.")
    # The driver's clock and the stored times differ by some nanoseconds of rounding.
    whole = [0.0] * max(1, math.floor(length / step + 1e-3))
    for t_ns, count in done.items():
        place = round((t_ns - start) / step)
        if place < len(whole):
            whole[place] += count / interval
    return Throughput(start, start + length, interval, tuple(whole))
