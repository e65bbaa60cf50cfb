"""The block devices of a run's databases, as text."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.bundle.carriers import of_target
from dyno.bundle.model import Run, TargetFacts

UNKNOWN = "unknown device"
_NAMES: dict[str, str] = {"temp": "temporary files", "backup": "backups"}


def role_name(role: str) -> str:
    """A role in words: ``temporary files``, ``partition 2``."""
    return _NAMES.get(role) or role.replace("-", " ")


def words(run: Run, target: str) -> str:
    """``data and log on vdb, temporary files on vdc``; ``unknown device`` without any."""
    found = of_target(run, target)
    together: dict[tuple[str, ...], list[str]] = {}
    for role, names in found.items():
        if not role.startswith("partition"):  # on devices of the data
            together.setdefault(names, []).append(role_name(role))
    parts = [f"{_listed(roles)} on {', '.join(names)}" for names, roles in together.items()]
    if not found:
        return UNKNOWN
    # Single-file engines have no separate log.
    server = run.targets[target].place != "process"
    missing = [role for role in ("data", "log") if role not in found] if server else []
    return ", ".join([*parts, *([f"{_listed(missing)}: {UNKNOWN}"] if missing else [])])


def short(run: Run) -> str:
    """The same for all databases of a run, short: ``on vdb``, ``data vdb, log vdc``."""
    every = {
        tuple(of_target(run, name).get(role, ()) for role in ("data", "log"))
        for name in run.targets
    }
    devices = {name for roles in every for names in roles for name in names}
    if any(not data for data, _ in every):
        return UNKNOWN
    if len(devices) == 1:
        return f"on {devices.pop()}"
    if len(every) == 1:
        data, log = every.pop()
        return f"data {'+'.join(data)}" + (f", log {'+'.join(log)}" if log else "")
    return f"on {', '.join(sorted(devices))}"


def in_output(run: Run) -> bool:
    """Whether all databases are on the file system of the output folder, or unknown."""
    storage = run.host.get("storage")
    own = storage.get("subject") if isinstance(storage, dict) else None
    return all(
        facts.url.startswith("embedded:")
        and {one for names in of_target(run, name).values() for one in names} == {own}
        for name, facts in run.targets.items()
    )


def notes(facts: TargetFacts) -> Iterable[str]:
    """Why some are unknown."""
    if facts.machine:
        yield f"on {facts.machine}"
    elif facts.place == "elsewhere":
        yield "its server is on another machine, which was not monitored"
    yield from facts.device_notes


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
