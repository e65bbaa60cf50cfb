"""How a level was driven: what the driver cost, and what went on in the target meanwhile."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.analyse.level import Level
from dyno.bundle.model import Estimate, Phase
from dyno.bundle.phases.oltp import OltpDetail, Outcome, Times, Worst, Writer


def conduct(name: str, level: Level, phase: Phase[OltpDetail]) -> Iterable[Estimate]:
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


def _client(name: str, outcome: Outcome, seconds: float) -> Iterable[Estimate]:
    """What the driver itself cost, as it measured it."""
    cpu_s, threads = outcome.client_cpu_s, outcome.threads
    if cpu_s is not None and threads:
        yield Estimate(
            name=f"{name}.client_cpu_percent",
            value=100 * cpu_s / (seconds * threads),
            unit="%",
            source=f"CPU time of the driver / ({threads:g} threads × window)",
        )
    busiest = outcome.thread_utilisation_max
    figures = {
        "client_cpu_s": (cpu_s, "s"),
        "client_cpu_ms_per_1000": (outcome.client_cpu_ms_per_1000, "ms"),
        "client_thread_percent": (None if busiest is None else 100 * busiest, "%"),
        "lag_p99_ms": (outcome.lag_p99_ms, "ms"),
        "scheduled": (outcome.scheduled, ""),
        "late": (outcome.late, ""),
        "unsent": (outcome.unsent, ""),
        "stuck": (outcome.stuck, ""),
        "reconnects": (outcome.reconnects, ""),
        "gone": (outcome.gone, ""),
    }
    for figure, (value, unit) in figures.items():
        if value is not None:
            yield Estimate(
                name=f"{name}.{figure}", value=value, unit=unit, source="the driver's outcome"
            )


def _worst(name: str, outcome: Outcome) -> Iterable[Estimate]:
    """Figures of the driver in the part of the window in which each is worst, and when that began.

    A part is a twentieth of the window, and five intervals at least.
    """
    worst = outcome.worst or Worst()
    for peak, figure, suffix, unit, factor in (
        (worst.client_cpu, "client_cpu_worst", "percent", "%", 100.0),
        (worst.thread_utilisation, "client_thread_worst", "percent", "%", 100.0),
        (worst.lag_p99_ms, "lag_p99_worst", "ms", "ms", 1.0),
        (worst.late, "late_worst", "percent", "%", 100.0),
    ):
        if peak is None or peak.value is None or peak.at_s is None or peak.seconds is None:
            continue
        source = f"the driver's outcome: the worst part of the window, {peak.seconds:.3g} s"
        for label, found, of in ((suffix, factor * peak.value, unit), ("at_s", peak.at_s, "s")):
            yield Estimate(name=f"{name}.{figure}_{label}", value=found, unit=of, source=source)


def _apart(name: str, phase: Phase[OltpDetail]) -> Iterable[Estimate]:
    """How far the measurements of several databases lay apart, of which a level is the sum."""
    apart_s = phase.detail.apart_s
    if apart_s is not None:
        source = "from the first start of a database's measurement to the last"
        yield Estimate(name=f"{name}.apart_s", value=apart_s, unit="s", source=source)


def _writer(name: str, outcome: Outcome) -> Iterable[Estimate]:
    """Of a system with one writer: how much of the time it was at work, and the wait for it."""
    writer = outcome.writer or Writer()
    busy = writer.busy_share
    if busy is not None:
        yield Estimate(
            name=f"{name}.writer_busy_percent",
            value=100 * busy,
            unit="%",
            source="time from the end of a writer's BEGIN to that of its COMMIT / window",
        )
    waits = writer.wait_ms or Times()
    for label, wait in (
        ("mean", waits.mean),
        ("p50", waits.p50),
        ("p99", waits.p99),
        ("max", waits.max),
    ):
        if wait is not None:
            yield Estimate(
                name=f"{name}.writer_wait_{label}_ms",
                value=wait,
                unit="ms",
                source="how long transactions waited for the right to write",
            )
