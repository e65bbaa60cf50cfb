"""Operations of several workloads or targets at once, named after them: ``tpcc new_order``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dyno.bundle import mixes
from dyno.bundle.model import Run
from dyno.live.bins import Array
from dyno.live.sampled import encoded

if TYPE_CHECKING:
    import pyarrow as pa

Names = list[str | None]


def of_level(run: Run, level: str) -> str | None:
    """The member of a mix whose operations a level has; None if it is the only one."""
    members = [one for window in mixes.windows(run) for one in window.detail.members]
    if len({one.name for one in members}) < 2:
        return None
    return next((one.name for one in members if one.level == level), None)


def of_queries(run: Run, batch: pa.RecordBatch) -> tuple[Names, Array]:
    """Names of the queries of rows, and the place of each row's; as for levels."""
    names, codes = encoded(batch, "query")
    members = [one for window in mixes.windows(run) for one in window.detail.members]
    if len({one.name for one in members}) < 2:
        return names, codes
    owns = {(one.workload, one.target): one.name for one in members if one.level is None}
    workloads, of_workload = encoded(batch, "workload")
    targets, of_target = encoded(batch, "target")
    places = (codes * len(workloads) + of_workload) * len(targets) + of_target
    found, codes = np.unique(places, return_inverse=True)
    made: Names = []
    for place in found.tolist():
        rest, target = divmod(place, len(targets))
        name, workload = divmod(rest, len(workloads))
        made.append(named(owns.get((workloads[workload], targets[target])), names[name]))
    return made, codes


def named(member: str | None, name: str | None) -> str | None:
    """The name of an operation with that of its member in front."""
    return name if member is None or name is None else f"{member} {name}"
