"""Main effects of factors, and interactions of two factors."""

from __future__ import annotations

from dyno.report.kit.blocks import (
    NOTHING,
    Block,
    Cell,
    Column,
    Section,
    Table,
    without_empty,
)
from dyno.report.kit.charts.forest import Row
from dyno.report.kit.formats import rounded
from dyno.report.study.forests import figure as forest
from dyno.report.study.formats import change, lowered, named, span, title, word
from dyno.report.study.page import StudyPage
from dyno.studies.outcome import Effect, Term
from dyno.studies.text import levels_words, p_value

ORDER = 40

_MOST_CHARTS, _MOST_ROWS = 3, 30


def section(page: StudyPage) -> Section | None:
    """A chart for each headline metric, then tables of headline and other metrics."""
    if not page.effects:
        return None
    blocks: list[Block] = []
    headline = [one for one in page.effects if one.headline]
    for metric in list(dict.fromkeys(one.metric for one in headline))[:_MOST_CHARTS]:
        rows = [_row(one, term) for one in headline if one.metric == metric for term in one.terms][
            :_MOST_ROWS
        ]
        if rows:
            about = f"Effects on {lowered(named(metric))}"
            blocks.append(forest(rows, page.study.margin, about, page.notice))
    for own, caption in (
        (headline, "Effects and interactions"),
        ([one for one in page.effects if not one.headline], "Other metrics"),
    ):
        if own:
            blocks.append(_table(page, own, caption))
    lead = (
        "Effect: change from a factor's first level to another, averaged over the levels of the "
        "other factors. Interaction: how much one factor's effect depends on the level of the "
        "other, as the ratio of both effects. None: the factors act independently."
    )
    return Section("effects", "Factors", blocks, lead)


def _row(one: Effect, term: Term) -> Row:
    label = _name(one, term)
    words = (
        f"{label}: {change(term.percent)} (95 % interval {span(term.low, term.high)}), "
        f"{one.verdict}"
    )
    text = f"{one.verdict}  {change(term.percent)}"
    return Row(label, term.percent, term.low, term.high, one.verdict, text, words)


def _name(one: Effect, term: Term) -> str:
    return levels_words(one.factors, term.levels).replace(
        " ", " × " if len(one.factors) > 1 else " "
    )


def _table(page: StudyPage, own: list[Effect], caption: str) -> Table:
    columns = [
        Column("Levels"),
        Column("Metric"),
        Column("Verdict"),
        Column("Change", numeric=True),
        Column("95 % interval", numeric=True),
        Column("p, adjusted", numeric=True),
        Column("Partial eta²", numeric=True),
        Column("", wide=True),
    ]
    several = len({one.metric for one in own}) > 1
    rows: list[list[str | Cell]] = [
        [_name(one, term), title(one.metric) if several else NOTHING, word(one.verdict),
         change(term.percent), span(term.low, term.high), p_value(one.p),
         f"{rounded(one.share_percent)} %", one.note]
        for one in own
        for term in one.terms
    ]  # fmt: skip
    kept, shown = without_empty(columns, rows)
    what = "" if several else f"{title(own[0].metric)}. "
    note = (
        f"{what}p: F test of all levels of the factor. Partial eta squared: share of the variance "
        "explained by the factor, relative to factor plus noise."
    )
    folded = not own[0].headline or len(rows) > _MOST_ROWS
    return Table(caption, kept, shown, note, page.notice, folded=folded)
