"""A storage profile as text for a terminal: lines of at most 66 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from dyno.bundle.metrics.io import Rate
from dyno.profiles.volume_sets import Ceiling, how
from dyno.report.kit.formats import bytes_text, joined, rounded, with_unit
from dyno.report.run.page import Page
from dyno.report.storage import comparison, tables
from dyno.report.storage.curves import (
    UNITS,
    Curve,
    Matrix,
    headlines,
    is_grid,
    load_title,
    matrices,
)
from dyno.report.storage.places import FilledSet, places
from dyno.report.storage.tables import COLUMNS, cut

MOST_LINES = 40
"""The report shows the rest."""


def lines(page: Page) -> list[str]:
    """The results of a profile: matrices, lists, or comparison tables."""
    found = places(page)
    if not found:
        return []
    shown = [cut(line) for line in _all_lines(page, found, intervals=True)]
    if len(shown) > MOST_LINES:
        shown = [cut(line) for line in _all_lines(page, found, intervals=False)]
    if len(shown) <= MOST_LINES:
        return shown
    left = len(shown) - MOST_LINES + 1
    return [*shown[: MOST_LINES - 1], f"… {left} more lines; the report and --json have all"]


def _all_lines(page: Page, found: Sequence[FilledSet], *, intervals: bool) -> list[str]:
    """All lines; comparisons without intervals take half as many."""
    volume_sets = list(dict.fromkeys(place.volume_set.label for place in found))
    stages = list(dict.fromkeys(place.stage for place in found))
    if len(volume_sets) > 1:
        return [
            line
            for stage in stages
            for line in comparison.of_sets(
                page,
                [place for place in found if place.stage == stage],
                how(page.run),
                intervals=intervals,
            )
        ]
    if len(stages) > 1:
        return comparison.of_stages(page, found, intervals=intervals)
    return _alone(page, found[0])


def _alone(page: Page, place: FilledSet) -> list[str]:
    ceiling = place.volume_set.ceiling
    # These have their own tables.
    opened = [curve for curve in place.curves if curve.is_open and not curve.jobs]
    synced = [
        curve for curve in place.curves if curve.synced and not curve.jobs and curve not in opened
    ]
    others = [curve for curve in place.curves if curve not in opened and curve not in synced]
    grids = matrices(others) if is_grid(others) else []
    in_grid = {curve.name for grid in grids for curve in grid.curves.values()}
    rest = [curve for curve in others if curve.name not in in_grid]
    plain = [curve for curve in rest if not _says_more(curve)]
    shown = [line for grid in grids for line in matrix_lines(grid, ceiling)]
    shown += _confirmations([curve for grid in grids for curve in grid.curves.values()])
    shown += textwrap.wrap(_list(plain), COLUMNS, subsequent_indent="  ")
    for curve in rest:
        if curve not in plain:
            shown += _detail(page, curve, ceiling)
        if curve.jobs:
            shown += tables.of_jobs(page, curve)
    shown += tables.of_syncs(page, synced) + tables.of_rates(page, opened)
    shown += tables.of_volumes(page, place.curves)
    return shown


def _says_more(curve: Curve) -> bool:
    """Whether the curve needs more than one value."""
    best = curve.best
    interval = best is not None and (best.low is not None or best.confirmed is not None)
    return interval or bool(curve.jobs) or curve.settled is not None


def _detail(page: Page, curve: Curve, ceiling: Ceiling) -> list[str]:
    """``Random read, 8 KiB: 12,345 IOPS (12,100–12,600) at depth 24 within 20 ms, …``."""
    words = [f"{curve.title}: {best_text(curve, ceiling)}"]
    if curve.settled is not None:
        before = page.value(curve.metrics.settling_windows)
        words.append(f"steady after {rounded(before)} windows" if curve.settled else "never steady")
    if curve.synced and curve.best is not None and curve.best.load is not None:
        at = curve.at(curve.best.load)
        words.append(f"{rounded(page.value(at.syncs_per_s))} syncs/s")
        p95 = page.value(at.side("sync").service("p95"))
        words[-1] += f", sync p95 {with_unit(p95, 'ms')}"
    return textwrap.wrap("; ".join(words), COLUMNS, subsequent_indent="  ")


def best_text(curve: Curve, ceiling: Ceiling) -> str:
    """``12,345 IOPS (12,100–12,600) at depth 24 within 20 ms, confirmed twice``."""
    best = curve.best
    bound = curve.metric == "iops" or (best is not None and best.confirmed is not None)
    within = f"within {with_unit(ceiling.ms, 'ms')}"
    if ceiling.of != "p95":
        within += f" ({ceiling.of})"
    if best is None:
        return f"nothing {within}" if bound else "nothing without failed I/Os"
    words = [f"{rounded(best.value)} {curve.unit}"]
    if best.low is not None and best.high is not None:
        words.append(f"({rounded(best.low)}–{rounded(best.high)})")
    if best.load is not None:
        words.append(f"at {joined(load_title(best.load).removeprefix('queue '))}")
    return " ".join([*words, *([within] if bound else [])]) + best.search


def _confirmations(found: Iterable[Curve]) -> list[str]:
    """How many values of a matrix of searched curves were confirmed."""
    bests = [curve.best for curve in found if curve.best is not None]
    searched = [best.confirmed for best in bests if best.confirmed is not None]
    if not searched:
        return []
    done = sum(times > 0 for times in searched)
    return [f"searched; {done} of {len(searched)} confirmed by further windows"]


def _list(found: Sequence[Curve]) -> str:
    """``read 1,585, write 921 MB/s; 8K read 85,300; 70/30 50,700 IOPS``."""
    parts: list[str] = []
    size = ""
    joints: dict[Rate, str] = {"mbps": ", ", "iops": "; "}
    for about, joint in joints.items():
        words: list[str] = []
        listed = headlines([one for one in found if one.metric == about])
        brief = len({_brief(curve) for curve in listed}) == len(listed)
        for curve in listed:
            own = "" if curve.pattern == "sequential" else f"{curve.size_word} "
            name = f"{own if own != size else ''}{curve.what}" if brief else curve.short
            words.append(f"{name} {rounded(curve.value)}")
            size = own
        if words:
            parts.append(f"{joint.join(words)} {UNITS[about]}")
    return "; ".join(parts)


def _brief(curve: Curve) -> str:
    """``8K read``; a sequential one has no size."""
    return f"{'' if curve.pattern == 'sequential' else curve.size_word} {curve.what}"


def matrix_lines(matrix: Matrix, ceiling: Ceiling) -> list[str]:
    """A matrix as text: a head, then a line for each kind."""
    columns = [bytes_text(block) for block in matrix.blocks]
    what = tables.heading(matrix.metric, ceiling)
    lines = [f"{what:<20}" + "".join(f"{column:>9}" for column in columns)]
    for kind in matrix.kinds:
        cells = (matrix.curves.get((kind, block)) for block in matrix.blocks)
        texts = [rounded(None if cell is None else cell.value) for cell in cells]
        lines.append(f"{cut(kind, 20):<20}" + "".join(f"{text:>9}" for text in texts))
    return lines
