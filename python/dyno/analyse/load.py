"""Loads: how fast the rows went in, and what keys and indexes took."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dyno.bundle.model import Estimate, Phase, tells
from dyno.bundle.phases.index import IndexDetail
from dyno.bundle.phases.load import LoadDetail, Step
from dyno.bundle.reader import Bundle


def load(bundle: Bundle) -> list[Estimate]:
    """``load.<workload>.<target>.<figure>`` and ``index.<workload>.<target>.seconds``.

    Of each kind of step ``index.<workload>.<target>.<kind>.<figure>`` as well: its time, the room
    that it took and left. Only of phases that ended well.
    """
    estimates: list[Estimate] = []
    for phase in bundle.run.phases:
        if phase.status != "done":
            continue
        if tells(phase, LoadDetail):
            estimates += _load(phase)
        elif tells(phase, IndexDetail):
            estimates.append(
                Estimate(
                    name=f"{_name(phase)}.seconds",
                    value=phase.seconds,
                    unit="s",
                    source="start to end of the phase: keys, indexes, statistics",
                )
            )
            estimates += _by_kind(_name(phase), phase.detail.space)
    return estimates


def _by_kind(name: str, steps: Sequence[Step]) -> Iterable[Estimate]:
    """Of keys, indexes, clustering: what all steps of a kind took."""
    kinds = dict.fromkeys(step.kind for step in steps if step.kind is not None)
    for kind in kinds:
        own = [step for step in steps if step.kind == kind]
        label = f"{name}.{kind.replace(' ', '_')}"
        figures = {
            "seconds": (
                sum,
                [step.seconds for step in own],
                "s",
                "sum of the steps' seconds, also of those at a time",
            ),
            "rest_bytes": (
                sum,
                [step.extra_rest_bytes for step in own],
                "B",
                "room that the steps left taken",
            ),
            "peak_bytes": (
                max,
                [step.extra_peak_bytes for step in own],
                "B",
                "most room that a step took meanwhile",
            ),
            "peak_ratio": (
                max,
                [step.ratio for step in own],
                "×",
                "most room that a step took / size of its table",
            ),
        }
        for figure, (of, told, unit, source) in figures.items():
            values = [value for value in told if value is not None]
            if values:
                yield Estimate(name=f"{label}.{figure}", value=of(values), unit=unit, source=source)


def _load(phase: Phase[LoadDetail]) -> Iterable[Estimate]:
    name = _name(phase)
    rows, size, text = phase.detail.rows, phase.detail.bytes, phase.detail.text_bytes
    seconds = phase.detail.seconds
    if seconds is None or seconds <= 0:
        seconds = phase.seconds
    yield Estimate(
        name=f"{name}.seconds", value=seconds, unit="s", source="first to last byte of the load"
    )
    if rows is not None:
        yield Estimate(name=f"{name}.rows", value=rows, unit="rows", source="rows sent")
    if size is not None:
        yield Estimate(name=f"{name}.bytes", value=size, unit="B", source="bytes sent")
    rest = [step.extra_rest_bytes for step in phase.detail.space]
    if known := [value for value in rest if value is not None]:
        yield Estimate(
            name=f"{name}.rest_bytes", value=sum(known), unit="B",
            source="room that tables and rows took, before keys and indexes",
        )  # fmt: skip
    if seconds <= 0:
        return
    if rows is not None:
        yield Estimate(
            name=f"{name}.rows_per_s", value=rows / seconds, unit="rows/s", source="rows / s"
        )
    # Bundles that do not tell the rows' own size have only what was sent, which differs by engine.
    what = "bytes as sent" if text is None else "size of the rows as .tbl files"
    moved = size if text is None else text
    if moved is not None:
        yield Estimate(
            name=f"{name}.mb_per_s",
            value=moved / seconds / 1e6,
            unit="MB/s",
            source=f"{what} / s; MB = 10^6 bytes",
        )
        yield Estimate(
            name=f"{name}.gb_per_h",
            value=moved / seconds * 3600 / 1e9,
            unit="GB/h",
            source=f"{what} / h; GB = 10^9 bytes",
        )


def _name(phase: Phase) -> str:
    """``load.tpch.postgresql`` of the phase ``load-tpch-postgresql``."""
    workload = phase.name.removeprefix(f"{phase.kind}-").removesuffix(f"-{phase.target}")
    return f"{phase.kind}.{workload}.{phase.target}"
