"""Exploratory metrics: significant changes, regressions first."""

from __future__ import annotations

from collections.abc import Mapping

from dyno.report.kit.blocks import Block, Note, Notes, Section
from dyno.report.study.forests import figure as forest
from dyno.report.study.forests import row
from dyno.report.study.formats import change, labels, lowered, named
from dyno.report.study.page import StudyPage
from dyno.report.study.sections.answer import table
from dyno.studies.outcome import Comparison
from dyno.studies.text import certain, counted

ORDER = 30

_MOST_ROWS = 30
_MOST_NAMED, _MOST_NOTES = 5, 8


def section(page: StudyPage) -> Section | None:
    """A chart of significant changes, then a table of all metrics."""
    if not page.exploratory:
        return None
    significant = certain(page.outcome)
    names = labels(one.metric for one in page.exploratory)
    blocks: list[Block] = []
    both = _both(page, significant, names)
    if both:
        blocks.append(Notes([Note(text, "bad") for text in both]))
    shown = [(one, _label(page, one, names)) for one in significant[:_MOST_ROWS]]
    rows = [made for one, label in shown if (made := row(one, label)) is not None]
    if rows:
        more = (
            f", the first {_MOST_ROWS} of {len(significant)}"
            if len(significant) > _MOST_ROWS
            else ""
        )
        about = f"Significant changes of other metrics vs '{page.first.name}'{more}"
        blocks.append(forest(rows, page.study.margin, about, page.notice))
        blocks.append(table(page, significant, "Significant changes"))
    rest = [one for one in page.exploratory if one not in significant]
    if rest:
        caption = f"Metrics without a significant change: {len(rest)}"
        blocks.append(table(page, rest, caption, folded=True))
    lead = (
        f"{len(page.exploratory)} other metric{'s'[: len(page.exploratory) != 1]}: "
        f"{counted(significant)}. These exceed the margin and have a significant adjusted p."
    )
    return Section("others", "Per-metric results", blocks, lead)


def _label(page: StudyPage, one: Comparison, names: Mapping[str, str]) -> str:
    alone = len(page.study.variants) == 2
    return names[one.metric] if alone else f"{names[one.metric]}, {one.variant}"


def _both(page: StudyPage, significant: list[Comparison], names: Mapping[str, str]) -> list[str]:
    """Variants that are better in a headline metric and worse in another metric."""
    made: list[str] = []
    for whole in page.headline:
        own = [
            one for one in significant if one.verdict == "worse" and one.variant == whole.variant
        ]
        if whole.verdict == "better" and own:
            worse = ", ".join(f"{names[one.metric]} {change(one.percent)}"
                              for one in own[:_MOST_NAMED])  # fmt: skip
            more = f" and {len(own) - _MOST_NAMED} more" if len(own) > _MOST_NAMED else ""
            made.append(
                f"'{whole.variant}' is better in {lowered(named(whole.metric))} "
                f"({change(whole.percent)}) but worse in {worse}{more}."
            )
    rest = len(made) - _MOST_NOTES
    return [*made[:_MOST_NOTES], f"And {rest} more."] if rest > 0 else made
