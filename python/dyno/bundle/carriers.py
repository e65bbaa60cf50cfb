"""Block devices under the data of a run, as its record states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dyno.bundle.model import Phase, Role, Run
from dyno.bundle.subjects import subjects

ROLES: tuple[Role, ...] = ("data", "log", "temp")


def machine_of(run: Run, target: str | None) -> str:
    """Returns the other machine whose samples are the target's; empty for this one."""
    facts = run.targets.get(target or "")
    return "" if facts is None else facts.machine


def of_target(run: Run, target: str | None) -> dict[Role, tuple[str, ...]]:
    """Returns the devices of a database by role, as the probes name them; omits unknown roles.

    They are of the target's machine (``TargetFacts.machine``), if it names one.

    Earlier versions recorded no devices. In that case the devices of the output folder apply to
    data that is certainly there: the data of an embedded engine without a layout.
    """
    facts = run.targets.get(target or "")
    if facts is None or (facts.place == "elsewhere" and not facts.machine):
        return {}
    if facts.devices:
        return {role: names for role in ROLES if (names := facts.devices.get(role))}
    inside = facts.url.startswith("embedded:") and not run.plan.get("layout")
    own = _text(_storage(run), "subject")
    return {"data": (own,)} if inside and own else {}


def of_phase(run: Run, phase: Phase) -> tuple[str, ...]:
    """Returns the devices of a phase, data devices first; empty if unknown."""
    if phase.kind == "io":
        return _profiled(run, phase)
    named = of_target(run, phase.target)
    return tuple(dict.fromkeys(name for names in named.values() for name in names))


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
