"""How fresh the data of queries was while transactions changed it (``contracts.freshness``)."""

from __future__ import annotations

import statistics

from dyno.analyse.rows import rows
from dyno.bundle import metrics
from dyno.bundle.model import Estimate
from dyno.bundle.reader import Bundle
from dyno.safety.plainjson import finite

_SOURCE = "queries table: read before each query"


def freshness(bundle: Bundle) -> list[Estimate]:
    """``dss.<target>.freshness_ms`` and ``.newest_age_ms``, of the queries that measured them."""
    behind: dict[str, list[float]] = {}
    ages: dict[str, list[float]] = {}
    for row in rows(bundle, "queries"):
        for column, found in (("freshness_ms", behind), ("newest_age_ms", ages)):
            if (value := finite(row[column])) is not None:
                found.setdefault(row["target"], []).append(value)
    return [
        *(
            metrics.Queries(target).freshness_ms.estimate(
                max(values), f"{_SOURCE}; the longest of {len(values):,}"
            )
            for target, values in behind.items()
        ),
        *(
            metrics.Queries(target).newest_age_ms.estimate(
                statistics.median(values), f"{_SOURCE}; the median of {len(values):,}"
            )
            for target, values in ages.items()
        ),
    ]
