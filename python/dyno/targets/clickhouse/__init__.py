"""ClickHouse, a column store, through chdb: an optional extra (``dyno-bench[clickhouse]``).

``clickhouse:///absolute/directory``, ``clickhouse:relative/directory``, or Dyno's own as
``embedded:clickhouse``. A ClickHouse server over the network is not spoken to.
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
# Not measured: it compresses, and needs both copies while it merges.
EXPANSION = 1.0


def lacks() -> str | None:
    """What has to be installed first. chdb is looked for, not imported: it is 500 MB large."""
    if importlib.util.find_spec("chdb") is not None:
        return None
    return "ClickHouse needs chdb, an optional dependency: pip install 'dyno-bench[clickhouse]'"


def open_target(url: TargetUrl, out: Path, limits: Limits) -> Target:
    """The directory that ``url`` names, or ``out/engines/clickhouse``."""
    from dyno.targets.clickhouse.target import ClickhouseTarget

    return ClickhouseTarget(url, out, limits)
