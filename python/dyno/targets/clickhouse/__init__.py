"""ClickHouse, a column store, through chdb: an optional extra (``dyno-bench[clickhouse]``).

``clickhouse:///absolute/directory``, ``clickhouse:relative/directory``, or a private one as
``embedded:clickhouse``. ClickHouse servers over the network are not supported.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path

from dyno.contracts.target import LimitedPlace, Limits, Target, TargetUrl

SCHEMES = ("clickhouse",)
EXAMPLE = "clickhouse:///absolute/directory"
EMBEDDED = True
LIMITED: Mapping[str, LimitedPlace] = {"embedded": "server", "clickhouse": "server"}
STORE = "column store"
# Estimate: it compresses, but merging needs both copies.
EXPANSION = 1.0


def lacks() -> str | None:
    """What must be installed first. Looks up chdb without importing it: it has 500 MB."""
    if importlib.util.find_spec("chdb") is not None:
        return None
    return "ClickHouse needs chdb, an optional dependency: pip install 'dyno-bench[clickhouse]'"


def leads_to(url: TargetUrl) -> tuple[str, ...]:
    """The directory of ``url``, with links resolved."""
    from dyno.targets.clickhouse.place import locate

    return (str(locate(url, Path()).resolve()),)


def open_target(url: TargetUrl, out: Path, limits: Limits) -> Target:
    """The directory of ``url``, or ``out/engines/clickhouse``."""
    from dyno.targets.clickhouse.target import ClickhouseTarget

    return ClickhouseTarget(url, out, limits)
