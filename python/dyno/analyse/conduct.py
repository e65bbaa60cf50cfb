"""How a level was driven: what the driver cost, and what went on in the target meanwhile."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dyno.analyse.level import Level
from dyno.analyse.rows import number
from dyno.bundle.model import Estimate, Phase


def conduct(name: str, level: Level, phase: Phase) -> Iterable[Estimate]:
    """The driver's own figures, the one writer, and several databases.

    Args:
        name: How the names of the figures start.
        level: What was measured.
        phase: Its phase.
    """
    yield from _apart(name, phase)
    yield from _writer(name, level.outcome)
    yield from _client(name, level.outcome, level.seconds + level.left_out_s)
    yield from _worst(name, level.outcome)
    if level.left_out_s:
        yield Estimate(
            name=f"{name}.left_out_s",
            value=level.left_out_s,
            unit="s",
            source=f"{level.table}: rows of the phase settling, before throughput was steady",
        )


def _client(name: str, outcome: dict[str, Any], seconds: float) -> Iterable[Estimate]:
    """What the driver itself cost, as it measured it."""
    cpu_s, threads = number(outcome.get("client_cpu_s")), number(outcome.get("threads"))
    if cpu_s is not None and threads:
        yield Estimate(
            name=f"{name}.client_cpu_percent",
            value=100 * cpu_s / (seconds * threads),
            unit="%",
            source=f"CPU time of the driver / ({threads:g} threads × window)",
        )
    busiest = number(outcome.get("thread_utilisation_max"))
    figures = {
        "client_cpu_s": (cpu_s, "s"),
        "client_cpu_ms_per_1000": (number(outcome.get("client_cpu_ms_per_1000")), "ms"),
        "client_thread_percent": (None if busiest is None else 100 * busiest, "%"),
        "lag_p99_ms": (number(outcome.get("lag_p99_ms")), "ms"),
        "scheduled": (number(outcome.get("scheduled")), ""),
        "late": (number(outcome.get("late")), ""),
        "unsent": (number(outcome.get("unsent")), ""),
        "stuck": (number(outcome.get("stuck")), ""),
        "reconnects": (number(outcome.get("reconnects")), ""),
        "gone": (number(outcome.get("gone")), ""),
    }
    for figure, (value, unit) in figures.items():
        if value is not None:
            yield Estimate(
                name=f"{name}.{figure}", value=value, unit=unit, source="the driver's outcome"
            )


# Figures of the driver that the outcome has of the worst part of the window too.
_WORST = {
    "client_cpu": ("client_cpu_worst", "percent", "%", 100.0),
    "thread_utilisation": ("client_thread_worst", "percent", "%", 100.0),
    "lag_p99_ms": ("lag_p99_worst", "ms", "ms", 1.0),
    "late": ("late_worst", "percent", "%", 100.0),
}


def _worst(name: str, outcome: dict[str, Any]) -> Iterable[Estimate]:
    """Figures of the driver in the part of the window in which each is worst, and when that began.

    A part is a twentieth of the window, and five intervals at least.
    """
    worst = outcome.get("worst")
    for key, (figure, suffix, unit, factor) in _WORST.items():
        peak = worst.get(key) if isinstance(worst, dict) else None
        told: dict[str, Any] = peak if isinstance(peak, dict) else {}
        value, at_s = number(told.get("value")), number(told.get("at_s"))
        seconds = number(told.get("seconds"))
        if value is None or at_s is None or seconds is None:
            continue
        source = f"the driver's outcome: the worst part of the window, {seconds:.3g} s"
        for label, found, of in ((suffix, factor * value, unit), ("at_s", at_s, "s")):
            yield Estimate(name=f"{name}.{figure}_{label}", value=found, unit=of, source=source)


def _apart(name: str, phase: Phase) -> Iterable[Estimate]:
    """How far the measurements of several databases lay apart, of which a level is the sum."""
    apart_s = number(phase.detail.get("apart_s"))
    if apart_s is not None:
        source = "from the first start of a database's measurement to the last"
        yield Estimate(name=f"{name}.apart_s", value=apart_s, unit="s", source=source)


def _writer(name: str, outcome: dict[str, Any]) -> Iterable[Estimate]:
    """Of a system with one writer: how much of the time it was at work, and the wait for it."""
    writer = outcome.get("writer")
    if not isinstance(writer, dict):
        return
    busy = number(writer.get("busy_share"))
    if busy is not None:
        yield Estimate(
            name=f"{name}.writer_busy_percent",
            value=100 * busy,
            unit="%",
            source="time from the end of a writer's BEGIN to that of its COMMIT / window",
        )
    waits = writer.get("wait_ms")
    if not isinstance(waits, dict):
        return
    for label in ("mean", "p50", "p99", "max"):
        wait = number(waits.get(label))
        if wait is not None:
            yield Estimate(
                name=f"{name}.writer_wait_{label}_ms",
                value=wait,
                unit="ms",
                source="how long transactions waited for the right to write",
            )
