"""Results: the headline metrics of each variant against the baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dyno.report.kit.blocks import (
    NOTHING,
    Block,
    Cell,
    Column,
    Note,
    Notes,
    Section,
    Table,
    without_empty,
)
from dyno.report.kit.formats import rounded, seconds
from dyno.report.study.forests import figure as forest
from dyno.report.study.forests import grouped
from dyno.report.study.formats import change, labels, lowered, named, span, title, word
from dyno.report.study.page import StudyPage
from dyno.safety.text import sentence
from dyno.studies.metrics import owner
from dyno.studies.outcome import Comparison, Noise
from dyno.studies.text import DISTURBED, coverage, not_compared, p_value

ORDER = 10

_MOST_CHARTS, _MOST_ROWS = 6, 24
_LONGEST_NAME = 16
_REACH = [Column("Effect"), Column("Pairs", numeric=True),
          Column("Time", numeric=True)]  # fmt: skip


def section(page: StudyPage) -> Section | None:
    """Charts of shifts, the table, then notes on missing comparisons."""
    compared = page.headline
    if not compared:
        return Section("answer", "Results", _notes(page), "No run has a metric to compare.")
    against = f"vs '{page.first.name}'"
    charts = grouped(compared)
    blocks: list[Block] = [
        forest(rows, page.study.margin, f"{about} {against}", page.notice)
        for about, rows in charts[:_MOST_CHARTS]
    ]
    blocks.append(table(page, compared, f"Each variant {against}"))
    blocks += _alone(page)
    blocks += _needed(page)
    if len(charts) > _MOST_CHARTS:
        blocks.append(
            Notes(
                [Note(f"Charts of the first {_MOST_CHARTS} of {len(charts)}; the table has all.")]
            )
        )
    lead = (
        "Shift: change of the metric; its direction decides whether more is better. Better or "
        "worse: the interval excludes zero, and the adjusted p is below 0.05. Equivalent: the "
        "whole interval is within the margin. Inconclusive: none of these. "
        f"{coverage(compared)}"
    ).strip()
    return Section("answer", "Results", [*_found(page), *blocks, *_notes(page)], lead)


def _found(page: StudyPage) -> list[Block]:
    """For an A/A test: minimum detectable effects and the time they take."""
    blocks: list[Block] = []
    for one in (one for one in page.outcome.noise if one.headline):
        rows: list[list[str | Cell]] = [list(row) for row in _reaches(one)]
        note = (
            f"Noise between pairs: {rounded(one.sd_percent)} % ({rounded(one.low)} to "
            f"{rounded(one.high)}) from {one.pairs} pairs of {seconds(one.pair_s)} each. "
            "80 % power."
        )
        caption = f"Minimum detectable effect: {title(one.metric)}"
        blocks.append(Table(caption, _REACH, rows, note, page.notice))
    others: list[list[str | Cell]] = [
        [title(one.metric), *row]
        for one in page.outcome.noise
        if not one.headline
        for row in _reaches(one)
    ]
    if others:
        caption = "Minimum detectable effect: other metrics"
        columns = [Column("Metric"), *_REACH]
        blocks.append(Table(caption, columns, others, "", page.notice, folded=True))
    return blocks


def _reaches(one: Noise) -> list[list[str]]:
    return [
        [f"{reach.percent:g} %", f"{reach.pairs:,}", seconds(60 * reach.minutes)]
        for reach in one.reaches
    ]


def table(
    page: StudyPage, compared: Sequence[Comparison], caption: str, *, folded: bool = False
) -> Table:
    """Comparisons as a table; long tables are folded."""
    metrics = list(dict.fromkeys(one.metric for one in compared))
    families = list(dict.fromkeys(owner(name).name for name in metrics))
    names = labels(metrics)
    columns = [
        Column("Variant"),
        Column("Metric"),
        Column("Verdict"),
        Column("Shift", numeric=True),
        Column("95 % interval", numeric=True),
        Column(page.first.name if len(page.first.name) <= _LONGEST_NAME else "First", numeric=True),
        Column("Variant's", numeric=True),
        Column("Pairs", numeric=True),
        Column("p, adjusted", numeric=True),
        Column("Min. detectable effect", numeric=True),
        Column(f"Pairs for {page.study.margin:g} %", numeric=True),
        Column("Effect size", numeric=True),
        Column("", wide=True),
    ]
    kept, rows = without_empty(columns, [_row(one, names) for one in compared])
    what = " ".join(f"{_family(name)}." for name in families)
    note = (
        f"{what} Values are medians of the pairs' runs. Minimum detectable effect: for this number "
        "of pairs at 80 % power."
    )
    if any(one.d_z is not None for one in compared):
        note += " Effect size: mean log ratio of the pairs / its standard deviation."
    return Table(caption, kept, rows, note, page.notice, folded=folded or len(rows) > _MOST_ROWS)


def _alone(page: StudyPage) -> list[Block]:
    """The results with and without the disturbed runs."""
    without = {(one.variant, one.metric): one for one in page.outcome.undisturbed}
    names = labels(one.metric for one in page.headline)
    rows: list[list[str | Cell]] = []
    for one in page.headline:
        quiet = without.get((one.variant, one.metric))
        if quiet is None:
            continue
        metric_name = names[one.metric] if len(names) > 1 else NOTHING
        for runs, found in (("all that count", one), ("valid only", quiet)):
            why = (found.note or not_compared(found)).removeprefix("not compared: ")
            rows.append([
                one.variant,
                metric_name,
                runs,
                Cell("too\N{NO-BREAK SPACE}few\N{NO-BREAK SPACE}runs", "muted")
                if found.percent is None
                else word(found.verdict),
                change(found.percent),
                span(found.low, found.high),
                str(found.pairs),
                why if found.percent is None else found.note,
            ])  # fmt: skip
    if not rows:
        return []
    columns = [
        Column("Variant"), Column("Metric"), Column("Runs"), Column("Verdict"),
        Column("Shift", numeric=True), Column("95 % interval", numeric=True),
        Column("Pairs", numeric=True), Column("", wide=True),
    ]  # fmt: skip
    kept, shown = without_empty(columns, rows)
    folded = len(shown) > _MOST_ROWS
    caption = "Results with and without disturbed runs"
    return [Table(caption, kept, shown, DISTURBED, page.notice, folded=folded)]


def _needed(page: StudyPage) -> list[Block]:
    """The pairs that an answer needs, for a study that ended for futility."""
    found = page.outcome.futility
    if found is None:
        return []
    names = labels(one.metric for one in page.headline)
    rows: list[list[str | Cell]] = [
        [
            one.variant,
            names[one.metric],
            NOTHING if one.sd_percent is None else f"{rounded(one.sd_percent)} %",
            "10,000 or more" if one.needed is None else f"{one.needed:,}",
            NOTHING if one.needed is None else seconds(one.needed * found.pair_s),
        ]
        for one in page.headline
        if one.percent is not None
    ]
    columns = [
        Column("Variant"), Column("Metric"), Column("Noise between pairs", numeric=True),
        Column("Pairs needed", numeric=True), Column("Time", numeric=True),
    ]  # fmt: skip
    caption = f"Pairs needed to detect {found.percent:g} %"
    note = (
        f"From the noise of these runs; a pair takes {seconds(found.pair_s)}. Longer runs, a "
        "quieter machine or a larger margin need fewer pairs."
    )
    return [Table(caption, columns, rows, note, page.notice, folded=len(rows) > _MOST_ROWS)]


def _family(name: str) -> str:
    meaning = owner(name).meaning
    return f"{meaning[:1].upper()}{meaning[1:]}"


def _row(one: Comparison, names: Mapping[str, str]) -> list[str | Cell]:
    cannot = "disqualified" if one.disqualified else ""
    left_out = one.note if one.percent is not None else ""
    return [
        one.variant,
        names[one.metric] if len(names) > 1 else NOTHING,
        word(one.verdict)
        if one.percent is not None
        else Cell("not\N{NO-BREAK SPACE}compared", "muted"),
        change(one.percent),
        span(one.low, one.high),
        rounded(one.first),
        rounded(one.second),
        str(one.pairs),
        p_value(one.p),
        NOTHING if one.smallest is None else f"{rounded(one.smallest)} %",
        NOTHING if one.needed is None else f"{one.needed:,}",
        NOTHING if one.d_z is None else f"{one.d_z:.2f}".replace("-", "\N{MINUS SIGN}"),
        "; ".join(text for text in (cannot, left_out) if text),
    ]


def _notes(page: StudyPage) -> list[Block]:
    missing = [one for one in page.headline if one.percent is None and not one.disqualified]
    notes = [
        Note(
            f"'{one.variant}': {lowered(named(one.metric))} {one.note or not_compared(one)}.", "bad"
        )
        for one in missing
    ]
    notes += [Note(sentence(text)) for text in page.outcome.notes]
    return [Notes(notes)] if notes else []
