"""CPUs of a machine: all that its samples count, and those that Dyno or a target may use."""

from __future__ import annotations

from typing import Any

from dyno.bundle.model import Run
from dyno.confinement.limits_asked import Bound, parse
from dyno.errors import UsageError


def counted(run: Run, machine: str) -> int:
    """The CPUs of a machine, over which its utilisation is a mean; an empty name is this one."""
    return _known(run, machine, "logical", "usable")


def usable(run: Run, machine: str) -> int:
    """The CPUs that Dyno, or its agent on another machine, may run on."""
    return _known(run, machine, "usable", "logical")


def selected(run: Run) -> int | None:
    """How many CPUs the run selected for its private engine; None for all."""
    return next((len(one.processors) for one in _bounds(run) if one.processors), None)


def allowed(run: Run) -> float:
    """CPUs' worth of time that the limits of the run left to the engine; infinite without any."""
    return min((one.value for one in _bounds(run)), default=float("inf"))


def _bounds(run: Run) -> list[Bound]:
    asked = {} if run.confined is None else run.confined.limits
    try:
        return parse([f"{name}={text}" for name, text in asked.items() if name in {"cpu", "cpus"}])
    except UsageError:
        return []


def _known(run: Run, machine: str, *names: str) -> int:
    host: dict[str, Any] = run.machines.get(machine, {}) if machine else run.host
    cpu = host.get("cpu")
    found = [cpu.get(name) for name in names] if isinstance(cpu, dict) else []
    return next((one for one in found if isinstance(one, int) and one > 0), 1)
