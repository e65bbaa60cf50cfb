"""Probe ``files``: requests, bytes and times of each file of the server, and of each role.

``sys.dm_io_virtual_file_stats`` counts the requests that the server issued, and the time that it
waited for them. The files of tempdb are ``temp``, its log included.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from dyno.bundle.inside import FILES
from dyno.bundle.inside import Files as Metric
from dyno.contracts.probe import Sample, UnavailableError
from dyno.targets.sessionprobe import Ask
from dyno.targets.sqlserver.connection import Session
from dyno.targets.sqlserver.inside.deltas import grown_alone
from dyno.targets.sqlserver.inside.views import OWN, Views
from dyno.targets.sqlserver.inside.waits import TEMPDB

VIEW = "sys.dm_io_virtual_file_stats"
QUERY = f"""{OWN}SELECT v.database_id, v.file_id, DB_NAME(v.database_id), f.name, f.type,
v.num_of_reads, v.num_of_bytes_read, v.io_stall_read_ms,
v.num_of_writes, v.num_of_bytes_written, v.io_stall_write_ms, v.size_on_disk_bytes
FROM {VIEW}(NULL, NULL) AS v
LEFT JOIN sys.master_files AS f ON f.database_id = v.database_id AND f.file_id = v.file_id"""  # noqa: S608

Role = Literal["data", "log", "temp"]
ROLES: tuple[Role, ...] = ("data", "log", "temp")
_LOG = 1
"""The type of a log file; others have data."""


class File(NamedTuple):
    """A file; without a role if this login may not see what it is."""

    database: str
    name: str
    role: Role | None


class Requests(NamedTuple):
    """Requests, their bytes, and the ms that the server waited for them."""

    reads: int = 0
    bytes_read: int = 0
    read_ms: int = 0
    writes: int = 0
    bytes_written: int = 0
    write_ms: int = 0


class Snapshot(NamedTuple):
    """Requests and sizes in bytes, by file."""

    requests: Mapping[File, Requests]
    sizes: Mapping[File, int]


def role_of(database: int, kind: int | None) -> Role | None:
    """The role of a file, by its database and its type; None if the type is not shown."""
    if database == TEMPDB:
        return "temp"
    if kind is None:
        return None
    return "log" if kind == _LOG else "data"


def counted(rows: Sequence[Sequence[Any]]) -> Snapshot:
    """The counters in rows of :data:`QUERY`."""
    requests: dict[File, Requests] = {}
    sizes: dict[File, int] = {}
    for database, number, place, name, kind, *counts, size in rows:
        role = role_of(int(database), None if kind is None else int(kind))
        file = File(str(place or database), str(name or number), role)
        requests[file] = Requests(*map(int, counts))
        sizes[file] = int(size)
    return Snapshot(requests, sizes)


def between(before: Snapshot, after: Snapshot) -> dict[File, Requests]:
    """The requests in between. Files whose counters began anew in between are left out."""
    grown = grown_alone(before.requests, after.requests)
    return {file: Requests(*counts) for file, counts in grown.items()}


def by_role(grown: Mapping[File, Requests]) -> dict[Role, Requests]:
    """The requests of the files of each role."""
    sums: defaultdict[Role, Requests] = defaultdict(Requests)
    for file, own in grown.items():
        if file.role is not None:
            pairs = zip(sums[file.role], own, strict=True)
            sums[file.role] = Requests(*(one + other for one, other in pairs))
    return dict(sums)


def rates(seconds: float, of: Requests) -> dict[Metric, float]:
    """Rates and mean times of the requests of a period."""
    found = {
        Metric.reads: of.reads / seconds,
        Metric.writes: of.writes / seconds,
        Metric.read_mbps: of.bytes_read / 1e6 / seconds,
        Metric.written_mbps: of.bytes_written / 1e6 / seconds,
    }
    if of.reads:
        found[Metric.read] = of.read_ms / of.reads
    if of.writes:
        found[Metric.write] = of.write_ms / of.writes
    return found


def samples(target: str, seconds: float, before: Snapshot, after: Snapshot) -> list[Sample]:
    """The samples of a period: of each role, and of each file with a role and a request."""
    grown = between(before, after)
    found: dict[str, dict[Metric, float]] = {}
    for role, own in by_role(grown).items():
        found[f"{target}/{role}"] = rates(seconds, own)
    for file, own in grown.items():
        if file.role is not None and (own.reads or own.writes):
            subject = f"{target}/{file.role}/{file.database}/{file.name}"
            found[subject] = {**rates(seconds, own), Metric.size: float(after.sizes[file])}
    return [
        Sample(FILES, subject, metric, value, metric.unit)
        for subject, values in found.items()
        for metric, value in values.items()
    ]


def reader(target: str) -> Ask[Session]:
    """A reader of the files; rates cover the time since its previous reading.

    Args:
        target: The beginning of the subject of its samples.
    """
    views = Views()
    known: Session | None = None
    last: Snapshot | None = None
    last_ns = 0

    def read(session: Session, now_ns: int) -> Sequence[Sample]:
        nonlocal views, known, last, last_ns
        if session is not known:  # the server may have restarted
            views, known, last = Views(), session, None
        rows = views.rows(session, VIEW, QUERY)
        if rows is None:
            raise UnavailableError("; ".join(views.notes))
        before, seconds = last, (now_ns - last_ns) / 1e9
        last, last_ns = counted(rows), now_ns
        if before is None or seconds <= 0:
            return ()
        return samples(target, seconds, before, last)

    return read
