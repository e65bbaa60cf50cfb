"""The runs in order, to show drift."""

from __future__ import annotations

import math

from dyno.report.kit.blocks import Block, Figure, Note, Notes, Section
from dyno.report.kit.charts import course
from dyno.report.kit.charts.render import Size, render
from dyno.report.kit.formats import rounded
from dyno.report.study.formats import change, lowered, named, span, title
from dyno.report.study.page import StudyPage
from dyno.studies.outcome import Drift
from dyno.studies.store import Entry

ORDER = 20

_SIZE = Size(880)
_MOST_CHARTS, _MOST_WORDS = 4, 60


def section(page: StudyPage) -> Section | None:
    """A chart for each headline metric, and notes on drift."""
    if not page.entries:
        return None
    names = page.metric_names[:_MOST_CHARTS]
    blocks: list[Block] = [_figure(page, name) for name in names]
    if len(page.metric_names) > _MOST_CHARTS:
        rest = len(page.metric_names) - _MOST_CHARTS
        blocks.append(Notes([Note(f"{rest} more metrics are in the table of runs.")]))
    drift = [_drift(page, one) for one in page.outcome.drift]
    if drift:
        blocks.append(Notes(drift))
    if not blocks:
        return None
    joined = "Lines connect the runs of a pair. " * (len(page.study.variants) <= course.MOST_JOINED)
    lead = f"{joined}Marks that rise or fall together show drift of the machine."
    return Section("course", "Runs over time", blocks, lead)


def _drift(page: StudyPage, one: Drift) -> Note:
    name, how = named(one.metric), f"{change(one.percent)} per run"
    spanned = span(one.low, one.high)
    if not one.certain:
        return Note(f"No significant drift of {lowered(name)}: {how} ({spanned}).", "muted")
    text = f"{name} of '{page.first.name}' drifted by {how} ({spanned}). "
    text += "Pairing and alternating order (ABBA) cancel linear drift."
    return Note(text, "bad")


def _figure(page: StudyPage, name: str) -> Figure:
    runs = [_run(page, at, entry, name) for at, entry in enumerate(page.entries, 1)]
    variants = [variant.name for variant in page.study.variants]
    values = [run.value for run in runs if run.counts and run.value is not None]
    axis = "is logarithmic" if course.is_logarithmic(values) else "does not begin at zero"
    caption = f"{named(name)} by run, in order. The axis {axis}."
    crosses = any(not run.counts for run in runs)
    if crosses:
        caption += " Crosses: runs that do not count; see the table of runs."
    disturbed = any(run.disturbed for run in runs)
    if disturbed:
        caption += " Hollow marks: disturbed runs, which count."
    listed = "; ".join(run.words for run in runs[:_MOST_WORDS])
    return Figure(
        render(
            lambda width: course.course(runs, variants, title(name), width),
            _SIZE,
            f"{caption} {listed}",
        ),
        caption,
        course.keys(variants, crosses=crosses, disturbed=disturbed),
        page.notice,
    )


def _run(page: StudyPage, at: int, entry: Entry, name: str) -> course.Run:
    value = entry.figures.get(name)
    if value is not None and not math.isfinite(value):
        value = None
    counts = page.counts(entry) and value is not None
    words = f"Run {at}, {entry.variant}: {rounded(value)}"
    if not entry.counts:
        words += f", does not count: {entry.why_not}"
    elif entry.disturbed and counts:
        words += f", disturbed: {entry.why_not}"
    elif not counts:
        words += ", does not count"
    disturbed = counts and entry.disturbed
    return course.Run(at, entry.pair, entry.variant, value, counts, words, disturbed)
