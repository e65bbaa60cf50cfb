"""Tables of a bundle as time series, shared by metrics and plots."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from dyno.bundle.machines import at

if TYPE_CHECKING:
    import pyarrow as pa

Key = tuple[str, str, str]
"""Source, subject and metric of a sampled series."""

_T = TypeVar("_T")
_DISKS = ("disk", "nested_disk")
"""Sources of block devices. Devices of the second are on devices of the first."""


def of_device(series: Mapping[Key, _T], device: str, metric: str, machine: str = "") -> _T | None:
    """Returns the series of a block device, including nested ones such as loop devices.

    To sum devices use source ``disk`` only, which counts each byte once. ``machine`` is empty for
    this one.
    """
    found = (series.get((at(source, machine), device, metric)) for source in _DISKS)
    return next((one for one in found if one is not None), None)


def readings(samples: pa.Table) -> Iterator[tuple[Key, int, float, str]]:
    """Yields series, time (ns since the Unix epoch), value and unit of each complete sample."""
    table = samples.to_pydict()
    keys = zip(table["source"], table["subject"], table["metric"], strict=True)
    rest = zip(table["t_ns"], table["value"], table["unit"], strict=True)
    for key, (t_ns, value, unit) in zip(keys, rest, strict=True):
        if None not in (*key, t_ns, value) and math.isfinite(value):
            yield key, t_ns, value, unit or ""


def ended(rows: Iterable[dict[str, Any]]) -> tuple[dict[int, int], dict[int, float]]:
    """Counts completed operations per interval of ``ops`` rows: commits and prescribed rollbacks.

    Returns:
        By interval start (ns since the Unix epoch): the count, and the length in s.
    """
    done: dict[int, int] = {}
    lengths: dict[int, float] = {}
    for row in rows:
        done[row["t_ns"]] = done.get(row["t_ns"], 0) + row["done"] + row["rolled_back"]
        lengths[row["t_ns"]] = row["seconds"]
    return done, lengths
