"""Tables of a bundle as series over time, the same for the figures and for the plots."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import pyarrow as pa

Key = tuple[str, str, str]
"""Source, subject and metric of a sampled series."""

_T = TypeVar("_T")
_DISKS = ("disk", "nested_disk")
"""Where block devices are sampled: those of the second lie on some of the first."""


def of_device(series: Mapping[Key, _T], device: str, metric: str) -> _T | None:
    """What was sampled of a block device, also of one on another, such as a loop device.

    To add up devices take source ``disk`` only, which has each byte once.
    """
    found = (series.get((source, device, metric)) for source in _DISKS)
    return next((one for one in found if one is not None), None)


def readings(samples: pa.Table) -> Iterator[tuple[Key, int, float, str]]:
    """Series, time (ns since the Unix epoch), value and unit of each sample that has them."""
    table = samples.to_pydict()
    keys = zip(table["source"], table["subject"], table["metric"], strict=True)
    rest = zip(table["t_ns"], table["value"], table["unit"], strict=True)
    for key, (t_ns, value, unit) in zip(keys, rest, strict=True):
        if None not in (*key, t_ns, value) and math.isfinite(value):
            yield key, t_ns, value, unit or ""


def ended(rows: Iterable[dict[str, Any]]) -> tuple[dict[int, int], dict[int, float]]:
    """Operations that ended in each interval of ``ops`` rows: commits and prescribed rollbacks.

    Returns:
        By the start of the interval (ns since the Unix epoch): how many, and its length in s.
    """
    done: dict[int, int] = {}
    lengths: dict[int, float] = {}
    for row in rows:
        done[row["t_ns"]] = done.get(row["t_ns"], 0) + row["done"] + row["rolled_back"]
        lengths[row["t_ns"]] = row["seconds"]
    return done, lengths
