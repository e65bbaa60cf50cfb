"""The intervals of a certificate, for the JSON document and the terminal."""

from __future__ import annotations

from typing import Any

from dyno.bundle import metrics
from dyno.bundle.model import Phase
from dyno.bundle.phases.certify import COMBINED, CertifyDetail
from dyno.report.kit.formats import rounded
from dyno.report.run.page import Page

_METRICS = (
    "completed",
    "failed",
    "queries_per_h",
    "physical_mbps",
    "physical_peak_mbps",
    "logical_mbps",
    "cpu_percent",
    "cores",
)


def values(page: Page, phase: Phase[CertifyDetail]) -> dict[str, float | None]:
    """The metrics of an interval; None where there are none."""
    at = metrics.Interval(phase.target, phase.detail.test)
    return {name: page.value(getattr(at, name)) for name in _METRICS}


def entries(page: Page) -> list[dict[str, Any]]:
    """The intervals for the JSON document."""
    return [
        {
            "target": phase.target,
            "form": phase.detail.form,
            "test": phase.detail.test,
            "users": phase.detail.users,
            "seconds": phase.detail.duration_s,
            "raw_bytes": phase.detail.raw_bytes,
            "data_bytes": phase.detail.data_bytes,
            **values(page, phase),
        }
        for phase in page.phases_of(CertifyDetail)
    ]


def combined(page: Page) -> dict[str | None, Phase[CertifyDetail]]:
    """The interval with all classes of each target; a run that ended early may have none."""
    phases = page.phases_of(CertifyDetail)
    return {phase.target: phase for phase in phases if phase.detail.test == COMBINED}


def line(page: Page) -> str:
    """The combined interval of each target: queries/h, and the scan rates of a single one."""
    words: list[str] = []
    intervals = combined(page)
    for target, phase in intervals.items():
        found = values(page, phase)
        text = f"{page.title(target)} {rounded(found['queries_per_h'])} queries/h"
        for name in ("physical", "logical") if len(intervals) == 1 else ():
            rate = found[f"{name}_mbps"]
            text += "" if rate is None else f", {name} {rounded(rate)} MB/s"
        words.append(text)
    return "; ".join(words)
