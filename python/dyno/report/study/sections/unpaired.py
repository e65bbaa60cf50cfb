"""Metrics that the baseline lacks, such as those of a cache that it does not have."""

from __future__ import annotations

import statistics

from dyno.report.kit.blocks import NOTHING, Cell, Column, Section, Table
from dyno.report.kit.formats import rounded
from dyno.report.study.formats import title
from dyno.report.study.page import StudyPage
from dyno.studies.pairs import counted, metric_names

ORDER = 35

_NOTE = "Medians of the runs that count, with the smallest and the largest value."


def section(page: StudyPage) -> Section | None:
    """A row per metric, a column per variant that has any of them."""
    runs = list(counted(page.entries).values())
    values: dict[str, dict[str, list[float]]] = {}
    for metric, _ in metric_names(page.study, runs):
        found = {
            variant.name: [
                run.figures[metric]
                for run in runs
                if run.variant == variant.name and metric in run.figures
            ]
            for variant in page.study.variants
        }
        if not found[page.first.name]:
            values[metric] = {name: listed for name, listed in found.items() if listed}
    names = [
        variant.name
        for variant in page.study.variants
        if any(variant.name in found for found in values.values())
    ]
    if not names:
        return None
    columns = [Column("Metric"), *(Column(name, numeric=True) for name in names)]
    rows: list[list[str | Cell]] = [
        [title(metric), *(_text(found.get(name, [])) for name in names)]
        for metric, found in values.items()
    ]
    table = Table(f"Metrics that '{page.first.name}' does not have", columns, rows, _NOTE)
    return Section("unpaired", "Without a baseline", [table])


def _text(values: list[float]) -> str:
    if not values:
        return NOTHING
    middle = rounded(statistics.median(values))
    ends = f" ({rounded(min(values))} to {rounded(max(values))})" if len(values) > 1 else ""
    return f"{middle}{ends}"
