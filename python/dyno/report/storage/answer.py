"""The one-sentence result of a storage-only run."""

from __future__ import annotations

from collections.abc import Sequence

from dyno.profiles.volume_sets import Ceiling
from dyno.report.kit.formats import rounded, with_unit
from dyno.report.run.page import Page
from dyno.report.storage.curves import Curve, headlines
from dyno.report.storage.lines import best_text
from dyno.report.storage.places import FilledSet, places

_MOST = 4


def answer(page: Page) -> str:
    """The best of each kind of access; empty if the run has other results.

    With several volume sets or fill levels, their values are listed side by side.
    """
    if page.query_targets or page.levels:
        return ""
    found = [place for place in places(page) if place.curves]
    if not found:
        return ""
    if len(found) > 1:
        return _beside(found)
    place = found[0]
    kinds = [*headlines(place.curves), *none_inside(place)]
    ceiling = place.volume_set.ceiling
    if len(kinds) == 1:
        text = f"{kinds[0].title}: {best_text(kinds[0], ceiling)}."
    else:
        texts = [_short(curve, ceiling) for curve in kinds[:_MOST]]
        more = f"; and {len(kinds) - _MOST} more below" if len(kinds) > _MOST else ""
        text = f"{'; '.join(texts)}{more}."
    return f"{text[:1].upper()}{text[1:]}"


def _short(curve: Curve, ceiling: Ceiling) -> str:
    """``random read, 8 KiB: 48,785 IOPS within 20 ms``; cards have the load and the interval."""
    name = f"{curve.title[:1].lower()}{curve.title[1:]}"
    best = curve.best
    if best is None:
        return f"{name}: {best_text(curve, ceiling)}"
    bound = curve.metric == "iops" or best.confirmed is not None
    within = f" within {with_unit(ceiling.ms, 'ms')}" * bound
    return f"{name}: {rounded(best.value)} {curve.unit}{within}"


def _beside(found: Sequence[FilledSet]) -> str:
    """``Random read, 8 KiB: 48,785 (a), 50,834 (b) IOPS``, for the main kinds of access."""
    left = f", … ({len(found)} in total)" if len(found) > _MOST else ""
    texts: list[str] = []
    for curve in [*headlines(found[0].curves), *none_inside(found[0])][:_MOST]:
        own = [(place.title, place.curve(curve.name)) for place in found[:_MOST]]
        values = ", ".join(f"{rounded(one.value if one else None)} ({title})" for title, one in own)
        name = f"{curve.title[:1].lower()}{curve.title[1:]}"
        texts.append(f"{name}: {values}{left} {curve.unit}")
    text = f"{'; '.join(texts)}."
    return f"{text[:1].upper()}{text[1:]}"


def none_inside(place: FilledSet) -> list[Curve]:
    """A curve of each kind of access without a best load."""
    known = {curve.kind for curve in place.curves if curve.value is not None}
    without = {curve.kind: curve for curve in place.curves if curve.kind not in known}
    return list(without.values())
