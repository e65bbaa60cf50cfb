"""Comparisons of volume sets, of concurrent and single volumes, and of fill levels."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dyno.bundle.model import Estimate
from dyno.profiles.volume_sets import how
from dyno.report.kit.blocks import Block, Cell, Column, Figure, Table
from dyno.report.kit.charts import bars
from dyno.report.kit.charts.keys import keys
from dyno.report.kit.charts.render import Size, render
from dyno.report.kit.formats import rounded, spanned
from dyno.report.run.page import Page
from dyno.report.storage.blocks.scaling import scaling
from dyno.report.storage.comparison import CHANCE, CHANCE_MEANS, chance, change, ratio
from dyno.report.storage.curves import UNITS, Curve, rates
from dyno.report.storage.places import FilledSet

_SIZE = Size(860, 225)


def compared(page: Page, found: Sequence[FilledSet]) -> list[Block]:
    """Charts and tables by curve: sets at each fill level, and fill levels of each set."""
    made: list[Block] = []
    way = how(page.run)
    by_stage: dict[int, list[FilledSet]] = {}
    by_set: dict[str, list[FilledSet]] = {}
    for place in found:
        by_stage.setdefault(place.stage.index, []).append(place)
        by_set.setdefault(place.volume_set.label, []).append(place)
    for own in by_stage.values():
        if len(own) > 1:
            made += scaling(page, own) if way == "scaling" else _sets(page, own)
    for own in by_set.values():
        if len(own) > 1:
            made += _fills(page, own)
    return made


def _sets(page: Page, own: Sequence[FilledSet]) -> list[Block]:
    stage, first = own[0].stage, own[0].volume_set.label
    full = f" at {stage.label} full" if stage.label else ""

    def against(place: FilledSet, curve: Curve) -> Estimate | None:
        return ratio(page, place, curve.name, "compare")

    def label(found: Estimate | None) -> str:
        return "" if found is None else f" ({found.value:.2f}×{_mark(found, 1)})"

    caption = f"Best of each curve by volume{full}"
    figures = _bars(own, [place.volume_set.label for place in own], against, label, caption,
                    f"In brackets: relative to {first}.")  # fmt: skip
    rows = [
        [
            curve.title,
            place.volume_set.label,
            *_best(curve),
            spanned(against(place, curve), "{:.2f}".format, " ×"),
        ]
        for at in own[0].curves
        for place in own
        if (curve := place.curve(at.name)) is not None
    ]
    columns = [Column("Curve"), Column("Volume"), *_BEST]
    columns.append(Column(f"vs {first}", numeric=True))
    note = "Intervals: 95 %, where there was more than one window or one time."
    return [*figures, Table(caption, columns, rows, folded=True, note=note)]


_BEST = (Column("Best", numeric=True), Column("95 %", numeric=True), Column("Unit"))


def _best(curve: Curve) -> list[str | Cell]:
    best = curve.best
    if best is None:
        return ["none", "–", curve.unit]
    interval = "–"
    if best.low is not None and best.high is not None:
        interval = f"{rounded(best.low)} to {rounded(best.high)}"
    return [rounded(best.value), interval, curve.unit]


def _fills(page: Page, own: Sequence[FilledSet]) -> list[Block]:
    first = own[0].stage.label

    def against(place: FilledSet, curve: Curve) -> Estimate | None:
        return change(page, place, curve.name)

    def label(found: Estimate | None) -> str:
        return "" if found is None else f" ({_signed(found.value)} %{_mark(found, 0)})"

    of = f" of {own[0].volume_set.key}" if own[0].volume_set.key else ""
    caption = f"Best of each curve{of} by fill level"
    names = [f"{place.stage.label} full" for place in own]
    figures = _bars(own, names, against, label, caption, f"In brackets: vs {first} full.")
    rows = [
        [curve.title, name, *_best(curve), spanned(against(place, curve), _signed, " %")]
        for at in own[0].curves
        for place, name in zip(own, names, strict=True)
        if (curve := place.curve(at.name)) is not None
    ]
    columns = [Column("Curve"), Column("Fill level"), *_BEST]
    columns.append(Column(f"vs {first} full", numeric=True))
    note = "Intervals: 95 %, where there was more than one window or one time."
    return [*figures, Table(caption, columns, rows, folded=True, note=note)]


def _mark(found: Estimate, same: float) -> str:
    mark = chance(found, same)
    return f" {mark}" if mark else ""


def _signed(value: float) -> str:
    return f"{value:+.1f}".replace("-", "\N{MINUS SIGN}")


def _bars(
    own: Sequence[FilledSet],
    names: Sequence[str],
    against: Callable[[FilledSet, Curve], Estimate | None],
    label: Callable[[Estimate | None], str],
    caption: str,
    note: str,
) -> list[Figure]:
    """A chart per unit: a group of bars per curve, a bar per volume set or fill level."""
    made: list[Figure] = []
    for about in rates(own[0].curves):
        found = [
            bars.Bar(
                curve.short,
                name,
                curve.value,
                f"{rounded(curve.value)}{label(against(place, curve))}",
                f"{curve.title}, {name}: {rounded(curve.value)} {curve.unit}"
                f"{label(against(place, curve))}",
            )
            for at in own[0].curves
            if at.metric == about
            for place, name in zip(own, names, strict=True)
            if (curve := place.curve(at.name)) is not None and curve.value is not None
        ]
        if found:
            marked = any(CHANCE in bar.label for bar in found)
            words = f"{caption}. {note}{f' {CHANCE_MEANS}.' * marked}"
            made.append(_figure(found, UNITS[about], words, own[0]))
    return made


def _figure(found: Sequence[bars.Bar], unit: str, caption: str, place: FilledSet) -> Figure:
    ceiling = place.volume_set.ceiling
    bound = f"IOPS with {ceiling.of} within {rounded(ceiling.ms)} ms"
    title = bound if unit == "IOPS" else "MB/s"
    return Figure(
        render(
            lambda width: bars.lying(found, title, width),
            _SIZE,
            f"Bars of {title}. {caption} " + "; ".join(bar.words for bar in found),
        ),
        f"{caption}{' MB: 10⁶ bytes.' * (unit == 'MB/s')}",
        keys([bar.series for bar in found], shapes=False),
    )
