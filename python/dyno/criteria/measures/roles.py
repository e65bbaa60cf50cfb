"""Metrics of volumes by role, under the names that studies use: ``iops.data``, ``log_write_ms``.

The devices of a role count as one, as in the report (``docs/volumes.md``). I/O on a device with
several roles counts for the first of them; the others are not told apart and not judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from dyno.bundle.carriers import apart, is_partition, partition
from dyno.bundle.metrics.byrole import BY_ROLE, ByRole
from dyno.criteria.base import MILLISECONDS, Measured, Metric, Missing, Units, Window
from dyno.criteria.sampled import FEW, FEWEST

ROLES = ("data", partition(1), "log", "temp", "backup", "flash")
"""The roles that are offered; further partitions are known as well."""

_IDLE = {"read_await": "read", "read_size": "read", "write_await": "write", "write_size": "write",
         "read_share": "request"}  # fmt: skip
"""Means per request, and what there must be for one."""


def _measure(
    found: ByRole, role: str, window: Window, stat: str, kind: str  # noqa: ARG001
) -> Measured | Missing:  # fmt: skip
    names = window.roles.get(role, ())
    missing = _unknown(window, role)
    requests = None if missing else window.volume(role, "iops")
    if missing or requests is None or len(requests.intervals) < FEWEST:
        return missing or FEW
    measured = window.volume(role, found.metric)
    if measured is None:
        what = _IDLE.get(found.metric)
        return Missing(f"no {what}s reached {' or '.join(names)}", idle=True) if what else FEW
    intervals = [(t_ns, value / found.per) for t_ns, value in measured.intervals]
    largest = max(value for _, value in intervals)
    others = _sharing(window, role)
    note = f"{measured.note}, including {' and '.join(others)}" if others else measured.note
    return Measured(largest if stat == "max" else measured.value / found.per, intervals, note)


def _unknown(window: Window, role: str) -> Missing | None:
    """Why the I/O of a role is not known; None if it is."""
    if window.place == "elsewhere":
        return Missing("no samples of the server's machine")
    names = window.roles.get(role)
    if not names:
        return Missing(f"the device of the server's {role} is unknown")
    if role not in apart(window.roles):
        shared = " and ".join([role, *_sharing(window, role)])
        return Missing(f"shared device: {shared} share {' and '.join(names)}", idle=True)
    if role == "log" and "data" not in window.roles:
        return Missing("it is unknown whether the log has its own device", idle=True)
    return None


def _sharing(window: Window, role: str) -> list[str]:
    """The other roles on devices of a role; partitions are part of the data."""
    names = set(window.roles[role])
    return [
        other
        for other, of in window.roles.items()
        if other != role and names & set(of) and not (role == "data" and is_partition(other))
    ]


def _metric(word: str, found: ByRole, role: str) -> Metric:
    units: Units = MILLISECONDS if found.unit == "ms" else {found.unit: 1.0}
    return Metric(
        word if found.role else f"{word}.{role}",
        f"{found.about} of the {role} devices",
        ({**units, "": 1.0},),
        ("mean", "max"),
        partial(_measure, found, role),
    )


def metrics(operations: Sequence[str]) -> Iterable[Metric]:  # noqa: ARG001
    """``data_read_ms`` …, and ``iops``, ``mbps``, ``read_share`` … of each role."""
    for word, found in BY_ROLE.items():
        for role in (found.role,) if found.role else ROLES:
            yield _metric(word, found, role)


def member(word: str) -> Metric | None:
    """The metric of a further partition: ``iops.partition-7``."""
    family, _, role = word.partition(".")
    found = BY_ROLE.get(family)
    if found is None or found.role or not is_partition(role):
        return None
    return _metric(family, found, role)
