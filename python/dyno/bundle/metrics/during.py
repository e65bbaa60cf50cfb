"""Maintenance during a run: its cost, and the work before, during and after it."""

from __future__ import annotations

from typing import Literal, get_args

from dyno.bundle.metrics.base import Metric, Scope

Part = Literal["before", "during", "after"]
PARTS: tuple[Part, ...] = get_args(Part)

WINDOW = ("fill", "attach", "detach", "drop")
"""Steps of a sliding window."""
CREATION = ("wal_log", "file_copy", "create", "grow_data", "grow_log", "drop_database")
"""Ways to create a database, or its steps: creation, growth of its files, removal."""
STEPS = (*WINDOW, *CREATION)

_PHASE = r"during\.(?P<phase>[^.]+)"


class Stretch(
    Scope, names=rf"{_PHASE}(?:\.db-(?P<database>\w+))?\.(?P<part>before|during|after)", joint="_"
):
    """The work in one part: throughput, and its change relative to the part before."""

    intervals = Metric()
    tps = Metric("1/s")
    p95_ms = Metric("ms")
    """Response time of the main operation."""
    queries = Metric()
    fewest_runs = Metric()
    """Executions of the query that ran least often."""
    qph = Metric("queries/h")
    change_percent = Metric("%")
    of_before_percent = Metric("%")
    """Throughput as a share of that before."""


class Beside(Scope):
    """The work during maintenance."""

    def part(self, part: Part) -> Stretch:
        """Returns the scope of the part before, during or after."""
        return Stretch(f"{self}.{part}")


class MaintenanceStep(Scope, names=rf"{_PHASE}\.step-(?P<step>\w+)"):
    """A step of a maintenance operation, such as attaching a partition."""

    seconds = Metric("s")
    """Median time."""
    mb_per_s = Metric("MB/s")
    """Of a step that writes a known size."""


class Maintenance(Beside, names=_PHASE):
    """A maintenance operation and all concurrent work."""

    seconds = Metric("s")
    rounds = Metric()
    round_s = Metric("s")
    """Mean time of a complete round."""
    space_peak_bytes = Metric("B")
    space_estimate_bytes = Metric("B")
    estimate_s = Metric("s")
    """Time of the server's estimate of the space, or else to prepare the task with its estimate."""
    log_bytes = Metric("B")
    """Bytes that the server wrote to its log during one round, for all sessions."""
    written_bytes = Metric("B")
    mb_per_s = Metric("MB/s")
    queries_failed = Metric()

    def __init__(self, phase: str) -> None:
        super().__init__(f"during.{phase}")

    def step(self, name: str) -> MaintenanceStep:
        """Returns the scope of a step."""
        return MaintenanceStep(f"{self}.step-{name}")

    def database(self, number: int | None) -> Beside:
        """Returns the scope of the work on one of several databases."""
        return Beside(f"{self}.db-{number}")
