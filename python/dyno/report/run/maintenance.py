"""The cost of maintenance under load, for the cards and the summary."""

from __future__ import annotations

from dataclasses import dataclass

from dyno.bundle import metrics
from dyno.bundle.model import Phase
from dyno.bundle.phases.maintenance import MaintenanceDetail
from dyno.report.kit.formats import rounded
from dyno.report.run.page import Page


@dataclass(frozen=True)
class Cost:
    """The metrics of a maintenance operation.

    Attributes:
        change: Change in throughput, in % with sign; empty if unknown.
        interval: Its 95 % interval as text; empty if unknown.
        perhaps_none: Whether the interval includes zero.
        rates: Throughput before and during it, such as ``1,200 to 900 /s``.
        round_s: Duration of one round.
    """

    phase: Phase[MaintenanceDetail]
    change: str
    interval: str
    perhaps_none: bool
    rates: tuple[str, ...]
    round_s: float | None


def costs(page: Page) -> list[Cost]:
    """The operations of the run, in order."""
    return [_cost(page, phase) for phase in page.phases_of(MaintenanceDetail)]


def _cost(page: Page, phase: Phase[MaintenanceDetail]) -> Cost:
    at = metrics.Maintenance(phase.name)
    change = page.estimate(at.part("during").change_percent)
    took, rounds = page.value(at.seconds), page.value(at.rounds)
    interval, perhaps_none = "", False
    if change is not None and change.low is not None and change.high is not None:
        interval = f"95 % interval {change.low:+.1f} to {change.high:+.1f}"
        perhaps_none = change.low <= 0 <= change.high
    return Cost(
        phase,
        "" if change is None else f"{change.value:+.1f}",
        interval,
        perhaps_none,
        tuple(_rates(page, at)),
        took / rounds if took is not None and rounds else None,
    )


def _rates(page: Page, at: metrics.Maintenance) -> list[str]:
    words: list[str] = []
    for metric, unit in ((metrics.Stretch.tps, "/s"), (metrics.Stretch.qph, "queries/h")):
        before = page.value(metric.of(at.part("before")))
        during = page.value(metric.of(at.part("during")))
        if before is not None and during is not None:
            words.append(f"{rounded(before)} to {rounded(during)} {unit}")
    return words
