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
    at = metrics.Interval.of(phase)
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


def title(page: Page, phase: Phase[CertifyDetail]) -> str:
    """The product of an interval, with the form if the run measures both."""
    form = f" in {phase.detail.part}s" if phase.detail.part else ""
    return f"{page.title(phase.target)}{form}"


def combined(page: Page) -> dict[str, Phase[CertifyDetail]]:
    """The interval with all classes of each target and form; a run that ended early may lack it."""
    phases = page.phases_of(CertifyDetail)
    return {title(page, phase): phase for phase in phases if phase.detail.test == COMBINED}


def line(page: Page) -> str:
    """The combined interval of each target: queries/h, and the scan rates of a single one."""
    words: list[str] = []
    intervals = combined(page)
    for name, phase in intervals.items():
        found = values(page, phase)
        short = f"{phase.detail.part}s" if phase.detail.part else name
        text = f"{short} {rounded(found['queries_per_h'])} queries/h"
        for kind in ("physical", "logical") if len(intervals) == 1 else ():
            rate = found[f"{kind}_mbps"]
            text += "" if rate is None else f", {kind} {rounded(rate)} MB/s"
        words.append(text)
    return "; ".join(words)
