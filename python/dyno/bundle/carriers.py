"""Block devices under the data of a run, as its record states."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from dyno.bundle.model import Phase, Run
from dyno.bundle.subjects import subjects

_ROLE = re.compile(r"data|log|temp|backup|flash|partition-(?P<number>[1-9]\d{0,5})")
_ORDER = ("data", "partition", "log", "temp", "backup", "flash")
ROLE = _ROLE.pattern.replace("?P<number>", "?:")
"""Matches the name of a role."""


def partition(number: int) -> str:
    """Returns the role of the volume with that number, from 1, among those that hold partitions."""
    return f"partition-{number}"


def is_partition(role: str) -> bool:
    """Whether that is the role of a volume that holds partitions."""
    found = _ROLE.fullmatch(role)
    return found is not None and found["number"] is not None


def machine_of(run: Run, target: str | None) -> str:
    """Returns the other machine whose samples are the target's; empty for this one."""
    facts = run.targets.get(target or "")
    return "" if facts is None else facts.machine


def host_of(run: Run) -> dict[str, Any]:
    """Returns the facts of the machine that the run's database works on; empty if unknown."""
    machine = next((facts.machine for facts in run.targets.values() if facts.machine), "")
    return run.machines.get(machine, {}) if machine else run.host


def of_target(run: Run, target: str | None) -> dict[str, tuple[str, ...]]:
    """Returns the devices of a database by role, as the probes name them; omits unknown roles.

    The devices of ``data`` include those of the partitions.
    They are of the target's machine (``TargetFacts.machine``), if it names one.

    Earlier versions recorded no devices. In that case the devices of the output folder apply to
    data that is certainly there: the data of an embedded engine without a layout.
    """
    facts = run.targets.get(target or "")
    if facts is None or (facts.place == "elsewhere" and not facts.machine):
        return {}
    if facts.devices:
        roles = sorted(filter(_ROLE.fullmatch, facts.devices), key=rank)
        return {role: names for role in roles if (names := facts.devices[role])}
    inside = facts.url.startswith("embedded:") and not run.plan.get("layout")
    own = _text(_storage(run), "subject")
    return {"data": (own,)} if inside and own else {}


def told_apart(run: Run, target: str | None) -> dict[str, tuple[str, ...]]:
    """Returns the roles whose I/O the devices can show, with their devices.

    The kernel counts I/O by device. On a device with several roles it is that of all of them, and
    counts for the first: data, then partitions, log, temp. The other roles are left out.
    """
    return apart(of_target(run, target))


def apart(roles: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Returns those of the roles, in the order of ``rank``, whose I/O the devices can show."""
    found: dict[str, tuple[str, ...]] = {}
    for role, names in roles.items():
        within = role.startswith("partition")  # whose devices are among those of the data
        others = [
            name
            for other, named in (roles if within else found).items()
            if other != role and not (within and other == "data")
            for name in named
        ]
        if not set(names) & set(others):
            found[role] = names
    return found


def by_device(run: Run, phase: Phase) -> dict[str, tuple[str, ...]]:
    """Returns the devices of a phase, each with its roles; a profiled volume has none."""
    if phase.kind == "io":
        return dict.fromkeys(_profiled(run, phase), ())
    found: dict[str, list[str]] = {}
    for role, names in of_target(run, phase.target).items():
        for name in names:
            found.setdefault(name, []).append(role)
    return {name: tuple(roles) for name, roles in found.items()}


def of_phase(run: Run, phase: Phase) -> tuple[str, ...]:
    """Returns the devices of a phase, data devices first; empty if unknown."""
    return tuple(by_device(run, phase))


def rank(role: str) -> tuple[int, int]:
    """Returns the place of a role in lists: data first, other volumes last."""
    if not _ROLE.fullmatch(role):
        return len(_ORDER), 0
    word, _, number = role.partition("-")
    return _ORDER.index(word), int(number or 0)


def _profiled(run: Run, phase: Phase) -> tuple[str, ...]:
    """Returns the devices of the volumes of a storage profile."""
    own, listed = _storage(run), subjects(phase)
    subject = _text(own, "subject")
    if not any(volume.facts for volume in listed):  # recorded by an earlier version
        return (subject,) if subject else ()
    found: list[str] = []
    for volume in listed:
        members = volume.facts.get("members")
        every = [volume.device, *(members if isinstance(members, list) else [])]
        names = [str(name) for name in every if name]
        # Probes report a partition or its disk, whichever counts each byte once.
        of_out = {_text(own, "device"), _text(own, "disk")} & set(names)
        found += [subject] if subject and of_out else names
    return tuple(dict.fromkeys(found))


def _storage(run: Run) -> Mapping[str, Any]:
    """Returns the storage facts of the output folder."""
    found = run.host.get("storage")
    return found if isinstance(found, dict) else {}


def _text(facts: Mapping[str, Any], name: str) -> str | None:
    found = facts.get(name)
    return found if isinstance(found, str) and found else None
