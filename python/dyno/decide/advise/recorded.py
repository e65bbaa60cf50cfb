"""The view of a system from a bundle: what the run recorded, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

from dyno import workloads
from dyno.bundle import metrics, mixes
from dyno.bundle.carriers import of_target
from dyno.bundle.inside import Inside
from dyno.bundle.model import Estimate, Phase, Run, TargetFacts
from dyno.bundle.reader import Bundle
from dyno.contracts.advice import dialect
from dyno.decide.advise.columnstore.memory import least_free
from dyno.decide.advise.columnstore.recorded import view_of
from dyno.decide.advise.columnstore.view import ColumnView
from dyno.decide.advise.loads import of_run
from dyno.decide.advise.system import Database, Facts, System, Volume, Work
from dyno.decide.advise.uses import Uses, of_rows
from dyno.targets.defaults import BOTH_FORMS

UNRECORDED = "the run did not record it"
UNSENT = "what sampled its machine did not send it; `--agent ssh://HOST` does"
ELSEWHERE = (
    "the database is on another machine: run `dyno advise` there, or record it with "
    "`dyno watch URL --agent ssh://HOST` and advise that run"
)
MEASURED = ("oltp", "dss", "watch")
"""Kinds of phases in which a database works for users."""


def systems(
    bundle: Bundle, estimates: Iterable[Estimate], work: Work | None = None
) -> list[System]:
    """A system for each database of a run, or one for its machine.

    Args:
        bundle: The run.
        estimates: Its metrics; those of resources suffice.
        work: What the database does, if the user says so.

    Raises:
        UsageError: If a table of the bundle is damaged.
    """
    run, known = bundle.run, metrics.Estimates(estimates)
    today = _date(run.clock.unix_ns)
    work = work or _work(run)
    own = Facts(run.host, UNRECORDED)
    if not run.targets:
        folder = _out_volume(run)
        return [System(f"run {run.run}", own, folder, today=today, work=work)]
    found: list[System] = []
    for name, facts in run.targets.items():
        host = _host(run, facts)
        title = f"run {run.run}: {facts.version or name}"
        found.append(
            System(
                title,
                host,
                volumes(run, name),
                _database(run, name, facts, known),
                machine=not found,
                work=work,
                today=today,
                uses=_uses(bundle, name, facts, known),
                loads=of_run(bundle, name),
                columns=_columns(bundle, name, facts, known),
            )
        )
    return found


def _columns(
    bundle: Bundle, name: str, facts: TargetFacts, known: metrics.Estimates
) -> ColumnView | None:
    own = [row for row in bundle.table("columns").to_pylist() if row["target"] == name]
    words = dialect(name)
    sql = "" if words is None else words.grammar
    found = view_of(own, sql, BOTH_FORMS, f"`dyno advise {facts.url.replace(':***@', '@')}`")
    if found is None:
        return None
    return replace(found, free_bytes=least_free(bundle.run, name, known), run=bundle.run.run)


def _date(unix_ns: int) -> date:
    try:
        return datetime.fromtimestamp(unix_ns / 1e9, UTC).date()
    except (OverflowError, OSError, ValueError):
        return date.today()


def _work(run: Run) -> Work | None:
    """What a run did, if it did one thing."""
    if run.verb == "load":
        return "load"
    known = [one for name in run.workloads if (one := workloads.known(name)) is not None]
    kinds: set[Work] = {one.kind for one in known}
    return kinds.pop() if len(kinds) == 1 else None


def _host(run: Run, facts: TargetFacts) -> Facts:
    if facts.machine:
        return Facts(run.machines.get(facts.machine, {}), UNSENT)
    if facts.place == "elsewhere":
        return Facts({}, ELSEWHERE)
    return Facts(run.host, UNRECORDED)


def _out_volume(run: Run) -> tuple[Volume, ...]:
    storage = run.host.get("storage")
    return (Volume(("folder",), Facts(storage, UNRECORDED)),) if isinstance(storage, dict) else ()


def volumes(run: Run, target: str) -> tuple[Volume, ...]:
    """The volumes of a database as far as the run recorded them."""
    facts = run.targets[target]
    if facts.volumes:
        return grouped(facts.volumes, UNSENT if facts.machine else UNRECORDED)
    out = run.host.get("storage")
    storage = out if isinstance(out, dict) and not facts.machine else {}
    found: dict[str, dict[str, Any]] = {}
    for role, names in of_target(run, target).items():
        own = storage if names and storage.get("subject") in names else {}
        disks = [disk for name in names for disk in facts.disks.get(name, ())]
        found[role] = {"subject": names[0], **own, **({"disks": disks} if disks else {})}
    return grouped(found, UNSENT if facts.machine else UNRECORDED)


def grouped(by_role: Mapping[str, Mapping[str, Any]], unknown: str) -> tuple[Volume, ...]:
    """Volumes of roles; those that share one are joined."""
    roles: dict[tuple[str, str], list[str]] = {}
    facts: dict[tuple[str, str], Mapping[str, Any]] = {}
    for role, found in by_role.items():
        key = (str(found.get("mount_point")), str(found.get("subject") or found.get("path")))
        roles.setdefault(key, []).append(role)
        facts.setdefault(key, found)
    return tuple(Volume(tuple(roles[key]), Facts(facts[key], unknown)) for key in facts)


def _database(run: Run, name: str, facts: TargetFacts, known: metrics.Estimates) -> Database:
    rates = [
        mbps * 1e6
        for phase in _phases(run, name)
        if (mbps := known.value(_resources(phase, facts).inside(name, Inside.log_mbps).mean))
        is not None
    ]
    return Database(
        name,
        facts.url,
        facts.version,
        facts.settings,
        dialect(name),
        live=False,
        devices=of_target(run, name),
        device_notes=facts.device_notes or ((UNSENT,) if facts.machine else ()),
        log_per_s=max(rates, default=None),
    )


def _phases(run: Run, target: str) -> Sequence[Phase]:
    return [
        phase
        for phase in run.phases
        if phase.kind in MEASURED and phase.target == target and not phase.part_of
    ]


def _resources(phase: Phase, facts: TargetFacts) -> metrics.Resources:
    return metrics.Resources(phase.name, machine=facts.machine)


def _uses(bundle: Bundle, name: str, facts: TargetFacts, known: metrics.Estimates) -> Uses:
    statements = [row for row in bundle.table("statements").to_pylist() if row["target"] == name]
    relations = [row for row in bundle.table("relations").to_pylist() if row["target"] == name]
    read: dict[str, float] = {}
    windows = mixes.names(bundle.run)
    # The devices of a window with several workloads are those of each of them.
    apart = {windows.get(phase.name, phase.name): phase for phase in _phases(bundle.run, name)}
    for phase in apart.values():
        at = _resources(phase, facts)
        for role in at.volumes(known):
            mbps = known.value(at.volume(role, "read_mbps").mean)
            if mbps is not None and phase.seconds:
                read[role] = read.get(role, 0.0) + mbps * phase.seconds
    since = "of the measured phases, with warm-ups and loads"
    return of_rows(statements, relations, read, since, facts.inside_notes)
