"""Tables of a bundle as series over time, the same for the figures and for the plots."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

Key = tuple[str, str, str]
"""Source, subject and metric of a sampled series."""


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
