"""How metrics scale with a numeric factor, and whether linearly."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from dyno.report.kit.blocks import (
    Block,
    Cell,
    Column,
    Figure,
    Note,
    Notes,
    Row,
    Section,
    Table,
)
from dyno.report.kit.charts import growth
from dyno.report.kit.charts.keys import keys
from dyno.report.kit.charts.render import Size, render
from dyno.report.kit.formats import rounded
from dyno.report.study.formats import named, title
from dyno.report.study.page import StudyPage
from dyno.safety.text import sentence
from dyno.studies.outcome import Fit, Parameter
from dyno.studies.text import levels_words

ORDER = 50

_SIZE = Size(420)
_MOST_CHARTS, _MOST_SERIES, _STEPS = 6, 6, 60
_USL = {
    "sigma": ("Contention σ, %", 100.0),
    "kappa": ("Coherence κ, %", 100.0),
    "peak": ("Peak at", 1.0),
}
_SAID = {
    "linear": "■ linear", "less": "▼ sublinear", "more": "▲ superlinear",
    "inconclusive": "● inconclusive",
}  # fmt: skip


def section(page: StudyPage) -> Section | None:
    """Charts by metric and factor, then the parameters."""
    if not page.fits:
        return None
    groups: dict[tuple[str, str], list[Fit]] = {}
    for fit in page.fits:
        groups.setdefault((fit.metric, fit.factor), []).append(fit)
    figures = [_figure(page, own) for own in list(groups.values())[:_MOST_CHARTS]]
    pairs = [figures[at : at + 2] for at in range(0, len(figures), 2)]
    blocks: list[Block] = [Row(pair, even=True) for pair in pairs]
    blocks += [_table(page), *_points(page), *_notes(page)]
    lead = (
        "The exponent of a power law shows how a metric scales: at 1 it is linear, and doubling "
        "the factor doubles the metric."
    )
    return Section("growth", "Scaling", blocks, lead)


def _names(page: StudyPage, like: Fit) -> list[str]:
    """All series over its factor in study order, so that each looks the same in every chart."""
    if not like.at:
        return [_series(like)]
    alike = (fit for fit in page.outcome.fits if fit.factor == like.factor and fit.at)
    return list(dict.fromkeys(map(_series, alike)))


def _figure(page: StudyPage, every: Sequence[Fit]) -> Figure:
    names = _names(page, every[0])
    own = sorted(every, key=lambda fit: names.index(_series(fit)))[:_MOST_SERIES]
    points = [
        growth.Point(
            _series(fit), point.x, point.y, point.low, point.high,
            f"{_series(fit)}, {_factor(fit)} {point.x:g}: {rounded(point.y)} "
            f"({rounded(point.low)} to {rounded(point.high)})",
        )
        for fit in own
        for point in fit.points
    ]  # fmt: skip
    fitted = [at for fit in own for at in _curve(fit, _fitted(fit))]
    straight = [at for fit in own for at in _curve(fit, _proportion(fit))]
    first, shown = own[0], {point.series for point in points}
    usl = any(fit.usl for fit in own)
    caption = (
        f"{named(first.metric)} over {_factor(first)}. "
        f"Line: {'universal scalability law' if usl else 'power law'}, fitted. "
        "Dashed: linear from the first level. Error bars: 95 % intervals."
    )
    words = "; ".join(point.words for point in points)
    return Figure(
        render(
            lambda width: growth.growth(
                points, fitted, straight, names, _factor(first), title(first.metric), width
            ),
            _SIZE,
            f"{caption} {words}",
        ),
        caption,
        tuple(key for key in keys(names, shapes=True) if len(names) > 1 and key.name in shown),
        page.notice,
    )


def _factor(fit: Fit) -> str:
    return fit.factor.rpartition(".")[2].replace("_", " ")


def _series(fit: Fit) -> str:
    return levels_words(list(fit.at), fit.at.values()) or named(fit.metric)


def _curve(fit: Fit, curve: Callable[[float], float] | None) -> list[growth.At]:
    """A line between the smallest and the largest level, never beyond the measured range."""
    numbers = [point.x for point in fit.points]
    if curve is None or len(numbers) < 2 or min(numbers) <= 0:
        return []
    low, high = math.log(min(numbers)), math.log(max(numbers))
    places = [math.exp(low + (high - low) * step / _STEPS) for step in range(_STEPS + 1)]
    return [growth.At(_series(fit), x, curve(x)) for x in places]


def _fitted(fit: Fit) -> Callable[[float], float] | None:
    """The universal scalability law if it was fitted, else the fitted power law."""
    sigma, kappa, gamma = (fit.usl.get(name) for name in ("sigma", "kappa", "gamma"))
    if sigma is not None and kappa is not None and gamma is not None:
        s, k, g = sigma.value, kappa.value, gamma.value
        return lambda x: g * x / (1 + s * (x - 1) + k * x * (x - 1))
    known = next((one for one in fit.points if one.fitted is not None and one.x > 0), None)
    if known is None or known.fitted is None:
        return None
    scale, power = known.fitted / known.x**fit.exponent.value, fit.exponent.value
    return lambda x: scale * x**power


def _proportion(fit: Fit) -> Callable[[float], float] | None:
    first = min(fit.points, key=lambda one: one.x, default=None)
    if first is None or first.x <= 0:
        return None
    each = first.y / first.x
    return lambda x: each * x


def _spanned(one: Parameter | None, scale: float = 1.0) -> str:
    if one is None or not math.isfinite(one.value):
        return "–"
    low, high = (rounded(scale * end) if math.isfinite(end) else "∞" for end in (one.low, one.high))
    return f"{rounded(scale * one.value)} ({low} to {high})"


def _table(page: StudyPage) -> Table:
    names = [name for name in _USL if any(name in fit.usl for fit in page.fits)]
    columns = [
        Column("Metric"),
        Column("Over"),
        Column("Scaling"),
        Column("Exponent", numeric=True),
    ]
    columns += [Column(_USL[name][0], numeric=True) for name in names]
    rows: list[list[str | Cell]] = [
        [
            title(fit.metric),
            _over(fit),
            _said(fit),
            _spanned(fit.exponent),
            *(_spanned(fit.usl.get(name), _USL[name][1]) for name in names),
        ]
        for fit in page.fits
    ]
    tolerance = ", ".join(dict.fromkeys(f"{fit.tolerance:g}" for fit in page.fits))
    note = (
        "In brackets: 95 % intervals. Linear: the exponent's whole interval is within "
        f"1 ± {tolerance}. Sublinear or superlinear: it is below or above 1."
    )
    if names:
        note += (
            " Universal scalability law: γx / (1 + σ(x−1) + κx(x−1)); contention σ is the "
            "serialised share, coherence κ the cost of keeping data consistent."
        )
    return Table("Scaling parameters", columns, rows, note, page.notice)


def _said(fit: Fit) -> Cell:
    said = _SAID[fit.linear].replace(" ", "\N{NO-BREAK SPACE}")
    return Cell(said, "muted" if fit.linear == "inconclusive" else "")


def _points(page: StudyPage) -> list[Table]:
    rows: list[list[str | Cell]] = [
        [title(fit.metric), _over(fit),
         f"{point.x:g}", rounded(point.y), f"{rounded(point.low)} to {rounded(point.high)}",
         rounded(point.fitted)]
        for fit in page.fits
        for point in fit.points
    ]  # fmt: skip
    columns = [Column("Metric"), Column("Over"), Column("Level", numeric=True)]
    columns += [Column("Measured", numeric=True), Column("95 % interval", numeric=True)]
    columns.append(Column("Fitted", numeric=True))
    return [Table("Points and curves", columns, rows, "", page.notice, folded=True)] if rows else []


def _notes(page: StudyPage) -> list[Notes]:
    notes = dict.fromkeys(
        f"{named(fit.metric)} over {_over(fit)}: {sentence(fit.note)}"
        for fit in page.fits
        if fit.note
    )
    return [Notes([Note(text) for text in notes])] if notes else []


def _over(fit: Fit) -> str:
    """The factor, and the levels of the others."""
    return f"{_factor(fit)}, {_series(fit)}" if fit.at else _factor(fit)
