"""Loads: row rate, and time for keys and indexes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dyno.bundle import metrics
from dyno.bundle.model import Estimate, Phase, has_detail
from dyno.bundle.phases.index import IndexDetail
from dyno.bundle.phases.load import LoadDetail, Step
from dyno.bundle.reader import Bundle


def load(bundle: Bundle) -> list[Estimate]:
    """``load.<workload>.<target>.<metric>`` and ``index.<workload>.<target>.seconds``.

    For each kind of step, ``index.<workload>.<target>.<kind>.<metric>`` gives its time and the
    space it used and left. Only phases that succeeded count. A load that goes on with an
    interrupted one has no speed: its time is that of the missing rows. If none were missing, the
    interrupted load had begun to build indexes, so the time for indexes says nothing either.
    """
    estimates: list[Estimate] = []
    begun: set[tuple[str, str | None]] = set()
    for phase in bundle.run.phases:
        if phase.status != "done":
            continue
        if has_detail(phase, LoadDetail):
            estimates += _load(phase)
            if phase.detail.resumed_parts and not phase.detail.rows:
                begun.add((metrics.loaded(phase), phase.target))
        elif has_detail(phase, IndexDetail) and (metrics.loaded(phase), phase.target) not in begun:
            estimates.append(
                _index(phase).seconds.estimate(
                    phase.seconds, "start to end of the phase: keys, indexes, statistics"
                )
            )
            if phase.detail.log_bytes is not None:
                source = "log written from start to end of the phase, by all sessions"
                estimates.append(_index(phase).log_bytes.estimate(phase.detail.log_bytes, source))
            estimates += _by_kind(_index(phase), phase.detail.space)
    return estimates


def _by_kind(at: metrics.Index, steps: Sequence[Step]) -> Iterable[Estimate]:
    """Totals per kind of step: keys, indexes, clustering."""
    kinds = dict.fromkeys(step.kind for step in steps if step.kind is not None)
    for kind in kinds:
        own = [step for step in steps if step.kind == kind]
        step = at.step(kind)
        for key, of, found, source in (
            (
                step.seconds,
                sum,
                [one.seconds for one in own],
                "sum of the steps' seconds, including concurrent steps",
            ),
            (
                step.rest_bytes,
                sum,
                [one.extra_rest_bytes for one in own],
                "space in use after the steps",
            ),
            (
                step.peak_bytes,
                max,
                [one.extra_peak_bytes for one in own],
                "peak extra space of a step",
            ),
            (
                step.peak_ratio,
                max,
                [one.ratio for one in own],
                "peak extra space of a step / size of its table",
            ),
        ):
            values = [value for value in found if value is not None]
            if values:
                yield key.estimate(of(values), source)


def _load(phase: Phase[LoadDetail]) -> Iterable[Estimate]:
    at = metrics.Load(metrics.loaded(phase), phase.target)
    rows, size, text = phase.detail.rows, phase.detail.bytes, phase.detail.text_bytes
    if phase.detail.resumed_parts:
        loaded = (rows or 0) + (phase.detail.resumed_rows or 0)
        yield at.rows.estimate(loaded, "rows sent, now and before the interruption")
        return
    seconds = phase.detail.seconds
    if seconds is None or seconds <= 0:
        seconds = phase.seconds
    yield at.seconds.estimate(seconds, "first to last byte of the load")
    if rows is not None:
        yield at.rows.estimate(rows, "rows sent")
    if size is not None:
        yield at.bytes.estimate(size, "bytes sent")
    rest = [step.extra_rest_bytes for step in phase.detail.space]
    if known := [value for value in rest if value is not None]:
        yield at.rest_bytes.estimate(
            sum(known), "space of tables and rows, before keys and indexes"
        )
    if seconds <= 0:
        return
    if rows is not None:
        yield at.rows_per_s.estimate(rows / seconds, "rows / s")
    # Bundles without the row size have only the bytes sent, which differ by engine.
    what = "bytes as sent" if text is None else "size of the rows as .tbl files"
    moved = size if text is None else text
    if moved is not None:
        yield at.mb_per_s.estimate(moved / seconds / 1e6, f"{what} / s; MB = 10^6 bytes")
        yield at.gb_per_h.estimate(moved / seconds * 3600 / 1e9, f"{what} / h; GB = 10^9 bytes")


def _index(phase: Phase) -> metrics.Index:
    return metrics.Index(metrics.loaded(phase), phase.target)
