"""A search for the most users inside limits, as a run leaves it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests import bundle_data as data
from tests.bundles import Builder

SLO = [
    {"text": "new_order p95 < 15 ms", "source": "asked for"},
    {"text": "errors total = 0", "source": "asked for"},
]
# Users in the order in which they were tried; the last one confirms.
TRIED = (1, 2, 4, 8, 16, 11, 9, 10, 10)
MOST = 10


def searched(
    path: Path, *, confirmed: bool = True, by: str = "users", stopped: str = "resolution"
) -> Builder:
    """A whole run: the server carries ten users inside the limits."""
    builder = Builder(path / "run", verb="run").machine().target("postgresql")
    builder.plan = {"slo": SLO, "by": by}
    windows: list[dict[str, Any]] = []
    start = builder.now
    for users in TRIED if confirmed else TRIED[:-1]:
        number = 1 + sum(window["load"] == users for window in windows)
        again = "" if number == 1 else f"-window-{number}"
        level = f"users-{users}{again}"
        builder.oltp(users, duration_s=15, level=level)
        if number > 1:
            builder.phases[-1].detail["window"] = number
        windows.append(
            {
                "level": level,
                "load": float(users),
                "step": "confirm" if number > 1 else "grow" if users in {1, 2, 4, 8} else "narrow",
                "passed": users <= MOST,
                "steady": True,
                "client_bound": False,
                "words": "" if users <= MOST else "new_order 21 ms",
                "refused": False,
            }
        )
    counted = [window["level"] for window in windows if window["load"] == MOST]
    detail = {
        "by": by,
        "slo": SLO,
        "windows": windows,
        "best": float(MOST),
        "failing": 11.0,
        "confirmed": confirmed,
        "unsettled": False,
        "monotone": True,
        "stopped": stopped,
        "counted": counted,
        "bounding": [*counted, "users-11"],
        "refused": [],
    }
    seconds = (builder.now - start) / data.SECOND
    builder.phase("search-tpcc-postgresql", "Search for the most users", "search", 0.0,
                  "postgresql", detail=detail)  # fmt: skip
    last = builder.phases[-1]
    builder.phases[-1] = last.model_copy(update={"start_ns": last.start_ns - round(seconds * 1e9)})
    return builder
