"""What a piece of maintenance cost the work beside it: for the cards and for the summary."""

from __future__ import annotations

from dataclasses import dataclass

from dyno.bundle import metrics
from dyno.bundle.model import Phase
from dyno.bundle.phases.maintenance import MaintenanceDetail
from dyno.report.kit.formats import figure
from dyno.report.run.page import Page


@dataclass(frozen=True)
class Cost:
    """A piece of maintenance, by its figures.

    Attributes:
        change: Of the throughput against before, in % with its sign; empty if it is not known.
        interval: The true change with 95 %, in words; empty if it is not known.
        perhaps_none: Whether that holds no change at all.
        rates: Throughput before and during it, in words, such as ``1,200 to 900 /s``.
        round_s: How long it took, once.
    """

    phase: Phase[MaintenanceDetail]
    change: str
    interval: str
    perhaps_none: bool
    rates: tuple[str, ...]
    round_s: float | None


def costs(page: Page) -> list[Cost]:
    """Those of the run, in its order."""
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
            words.append(f"{figure(before)} to {figure(during)} {unit}")
    return words
