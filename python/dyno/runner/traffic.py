"""What a run asked of its volumes, as far as it was observed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dyno.accelerate.proposal import PARTS, Floats, Load, Part
from dyno.analyse import estimate
from dyno.analyse.rows import columns
from dyno.analyse.series import sampled
from dyno.bundle import metrics, mixes
from dyno.bundle.inside import SESSIONS, Files, Inside
from dyno.bundle.model import Phase, Run, TargetFacts, has_detail
from dyno.bundle.observed import Series
from dyno.bundle.phases.dss import DssDetail
from dyno.bundle.phases.oltp import OltpDetail
from dyno.bundle.reader import Bundle
from dyno.bundle.series import Key
from dyno.config.units import parse_bytes
from dyno.decide import processors
from dyno.errors import UsageError

_MEASURED = ("oltp", "dss", "watch")
_LOG_SIZES = ("max_wal_size", "innodb_log_file_size", "innodb_redo_log_capacity")
_LOG_ROOM, _TEMP_ROOM = 1.25, 2.0
_LEAST_LOG = 256 << 20
_WRITING = ("write", "extend", "flush", "sync", "backup")
"""Parts of events in which a session writes data files, in small letters."""
_LOG_S = 600
"""Without a setting, the log of so many seconds is kept."""


@dataclass(frozen=True)
class Traffic:
    """A phase of a run.

    Attributes:
        phase: The phase.
        target: Its target.
        load: The time of its sessions.
        data_bytes: Size of its tables and indexes; None if unknown.
        log_bytes, temp_bytes: Space that log and temporary files need.
    """

    phase: Phase
    target: TargetFacts
    load: Load
    data_bytes: int | None
    log_bytes: int
    temp_bytes: int


def of_run(bundle: Bundle, name: str | None) -> Traffic:
    """What a phase asked for: of several, the last.

    Args:
        bundle: The run.
        name: The phase; None for the last one with transactions, queries or a recording.

    Raises:
        UsageError: If there is none, or its sessions were not observed.
    """
    phases = [
        one
        for one in bundle.run.phases
        if one.kind in _MEASURED and one.end_ns and one.target and not one.part_of
    ]
    named = [one for one in phases if name in (None, one.name)]
    if not named:
        listed = ", ".join(one.name for one in phases)
        raise UsageError(
            f"{bundle.path.name} has no such phase. It has: {listed}." if listed else
            f"{bundle.path.name} has no transactions, queries or recording to plan from."
        )  # fmt: skip
    phase, known = named[-1], metrics.Estimates(estimate(bundle))
    target = str(phase.target)
    waits = _waits(sampled(bundle), phase, target)
    if not waits:
        raise UsageError(
            f"{bundle.path.name} does not show what the sessions of {target} waited for. Plan from "
            "a run on PostgreSQL, MariaDB or SQL Server, or use a record: dyno accelerate simulate"
        )
    facts = bundle.run.targets[target]
    at = metrics.Resources(phase.name, machine=facts.machine)
    inside = metrics.Resources(phase.name)

    def of(metric: Inside) -> float:
        return known.value(inside.inside(target, metric).mean) or 0.0

    def of_data(metric: Files) -> float | None:
        return known.value(inside.file(target, "data", metric).mean)

    temp = known.value(inside.inside(target, Inside.temp_used).max) or 0.0
    commit_ms = of(Inside.log_wait) or of(Inside.log_write) + of(Inside.log_flush)
    return Traffic(
        phase,
        facts,
        Load(
            waits=waits,
            users=_users(bundle.run, phase),
            read_ms=_longer(
                known.value(at.volume("data", "read_await").mean),
                of_data(Files.read),
                _residence(
                    waits["reads"],
                    of(Inside.physical_reads),
                    of_data(Files.reads),
                    known.value(at.volume("data", "read_iops").mean),
                ),
            ),
            commit_ms=commit_ms or known.value(at.volume("log", "write_await").mean),
            bounds=_bounds(known, at, _cpus(bundle.run, facts), of(Inside.log_flushes)),
        ),
        _data_bytes(bundle, phase),
        _log_bytes(facts.settings, of(Inside.log_mbps)),
        round(_TEMP_ROOM * temp),
    )


def _residence(waiting: Floats, *rates: float | None) -> float | None:
    """Milliseconds that a request takes, from the sessions that wait for one (Little's law).

    It has the time in queues that devices do not see, such as those of a throttle. Requests that
    the page cache served take none, so of two rates the lower one counts.
    """
    known = [rate for rate in rates if rate]
    return 1000 * float(waiting.mean()) / min(known) if known and waiting.size else None


def _longer(*times: float | None) -> float | None:
    return max((one for one in times if one), default=None)


def _users(run: Run, phase: Phase) -> float:
    """Sessions that always have work, of all workloads on the target at once.

    0 if one of them has think time or a rate, or in a recording.
    """
    others = [one.phase for one in mixes.beside(run, phase) if one.target == phase.target]
    every = [phase, *(one for one in run.phases if one.name in others)]
    found = [_own_users(one) for one in every]
    return sum(found) if all(found) else 0.0


def _own_users(phase: Phase) -> float:
    if not has_detail(phase, OltpDetail):
        streams = phase.detail.streams if has_detail(phase, DssDetail) else None
        return float(streams or 1) if phase.kind == "dss" else 0.0
    loop = phase.detail.loop
    always = loop is not None and loop.kind == "closed" and not loop.think
    return float(phase.detail.users or 0) if always else 0.0


def _waits(every: Mapping[Key, Series], phase: Phase, target: str) -> dict[Part, Floats]:
    """Average sessions by part, by second."""
    found: dict[Part, Floats] = {}
    for (source, subject, metric), series in every.items():
        if source != SESSIONS or subject != target:
            continue
        own = series.between(phase.start_ns, phase.end_ns or phase.start_ns)
        values = np.array([one.value for one in own])
        part = _part(*metric.partition("/")[::2])
        found[part] = found[part] + values if part in found else values
    if not found:
        return {}
    size = max(values.size for values in found.values())
    return {part: found.get(part, np.zeros(size)) for part in PARTS}


def _part(wait: str, event: str) -> Part:
    """The part of a wait: writes of data by sessions stay as they are."""
    if wait == "data":
        return "rest" if any(word in event.lower() for word in _WRITING) else "reads"
    own: dict[str, Part] = {"log": "log", "temp": "temp", "lock": "lock"}
    return own.get(wait, "rest")


def _cpus(run: Run, facts: TargetFacts) -> float:
    """CPUs of the target's machine, or as many as the run lets it have."""
    return min(float(processors.usable(run, facts.machine)), processors.allowed(run))


def _bounds(
    known: metrics.Estimates, at: metrics.Resources, cpus: float, flushes: float
) -> dict[str, float]:
    """How many times the observed throughput the CPUs and the device of the data can take.

    CPU time of others does not grow with the throughput, and is left out.
    """
    found: dict[str, float] = {}
    own = [known.value(at.process_cpu(who).mean) for who in ("server", "dyno")]
    used = sum(one for one in own if one)
    if used:
        found["the CPUs"] = 100 * cpus / used
    values = {
        one: known.value(at.volume("data", one).mean)
        for one in ("read_iops", "write_iops", "read_await", "write_await", "utilisation")
    }
    reads = (values["read_iops"] or 0.0) * (values["read_await"] or 0.0)
    each = values["write_await"] or 0.0
    writes = (values["write_iops"] or 0.0) * each
    # Syncs of a log on the same device move with it.
    left = max(0.0, writes - flushes * each)
    if values["utilisation"] and reads + writes > 0 and left > 0:
        share = left / (reads + writes)
        found["writes to the slow volume"] = 100 / (values["utilisation"] * share)
    return found


def _data_bytes(bundle: Bundle, phase: Phase) -> int | None:
    sizes: dict[str, int] = {}
    for row in columns(bundle, "relations").to_pylist():
        if row["target"] == phase.target and row["bytes"] is not None:
            sizes[row["relation"]] = max(sizes.get(row["relation"], 0), int(row["bytes"]))
    return sum(sizes.values()) or None


def _log_bytes(settings: Mapping[str, str], log_mbps: float) -> int:
    for name in _LOG_SIZES:
        if text := settings.get(name):
            try:
                return max(_LEAST_LOG, round(_LOG_ROOM * parse_bytes(str(text))))
            except UsageError:
                continue
    return max(_LEAST_LOG, round(_LOG_ROOM * log_mbps * 1e6 * _LOG_S))
