"""Extends a load level until it is steady, up to a limit."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dyno.bundle.phases.oltp import UntilSteady
from dyno.bundle.tables import read_lines
from dyno.bundle.writer import Recorder, write_atomically
from dyno.contracts.target import Target
from dyno.runtime.engine_calls import Handle
from dyno.runtime.progress import Progress
from dyno.stages.drive.oltp import OltpPlan, interval_for
from dyno.stages.drive.several import drive, parts

_POLL_S = 0.1

Judge = Callable[[Sequence[float], int], int | None]
"""Returns the start of the steady part of a series with at least that many values, or None."""


@dataclass(frozen=True)
class UntilSteadyPlan:
    """Limit and steady-state test. The steady part is as long as the duration of the level."""

    limit_s: float
    judge: Judge


def drive_until_steady(
    recorder: Recorder,
    target: Target,
    plan: OltpPlan,
    extension: UntilSteadyPlan,
    progress: Progress,
) -> dict[str, Any]:
    """Runs a level until its last ``plan.duration_s`` are steady, at most ``limit_s``.

    With several databases, the total must be steady, and all end together: the steady part ends
    with the last interval of all of them. Rows outside the steady part stay in the bundle, in the
    phase ``settling``.

    Returns:
        The driver outcome of the whole level.

    Raises:
        TargetError: If the server is permanently lost.
    """
    interval_s = interval_for(plan.duration_s)
    longest = replace(plan, duration_s=extension.limit_s, interval_s=interval_s)
    least = max(1, round(plan.duration_s / interval_s))
    own = [part.level for part in parts(plan)]
    growing = {name: GrowingSeries(recorder.spool(f"ops/{name}"), interval_s) for name in own}
    place: int | None = None
    ended = 0

    def beside(control: Handle, ended: threading.Event) -> None:
        nonlocal place
        while place is None and not ended.wait(_POLL_S):
            new = [series.read() for series in growing.values()]
            if any(new):
                place = extension.judge(summed(list(growing.values())), least)
        if place is not None:
            control.finish()

    def after(level: str, outcome: dict[str, Any]) -> UntilSteady:  # noqa: ARG001
        nonlocal ended
        left_out_s = 0.0
        if place is not None:
            # At the first call: all have ended, and nothing is summed yet.
            if growing:
                ended = _mark_rest(recorder, growing, place, interval_s)
                growing.clear()
            late_s = max(0.0, (outcome.get("seconds") or 0.0) - ended * interval_s)
            left_out_s = place * interval_s + late_s
        return UntilSteady(
            limit_s=extension.limit_s,
            asked_s=plan.duration_s,
            settled=place is not None,
            left_out_s=left_out_s,
        )

    return drive(recorder, target, longest, progress, beside, after)


class GrowingSeries:
    """Throughput per interval, read from a growing spool of operations."""

    def __init__(self, spool: Path, interval_s: float) -> None:
        self._spool = spool
        self._step_ns = interval_s * 1e9
        self._offset = 0
        self._done: dict[int, float] = {}
        self._last: int | None = None

    @property
    def start_ns(self) -> int:
        """Start of the measured time, ns since the Unix epoch; 0 before its first interval.

        The driver also records intervals without completed operations.
        """
        return min(self._done, default=0)

    def read(self) -> bool:
        """Reads new complete lines. Returns True if a new interval started."""
        if not self._spool.exists():
            return False
        with self._spool.open("rb") as file:
            file.seek(self._offset)
            new = file.read()
        whole = new[: new.rfind(b"\n") + 1]
        self._offset += len(whole)
        for line in whole.splitlines():
            row = json.loads(line)
            if row["phase"] == "measure":
                count = row["done"] + row["rolled_back"]
                self._done[row["t_ns"]] = self._done.get(row["t_ns"], 0.0) + count
        before, self._last = self._last, max(self._done, default=None)
        return self._last != before

    @property
    def intervals(self) -> int:
        """Number of intervals, with the last."""
        return max(self._places(), default=-1) + 1

    def values(self) -> list[float]:
        """Operations per interval; zero for intervals without any.

        The last interval may be incomplete and is excluded.
        """
        places = self._places()
        return [places.get(place, 0.0) for place in range(max(places, default=0))]

    def _places(self) -> dict[int, float]:
        return {
            round((t_ns - self.start_ns) / self._step_ns): count
            for t_ns, count in self._done.items()
        }


def summed(series: Sequence[GrowingSeries]) -> list[float]:
    """Sums the series per interval, each from its own start, up to the shortest length."""
    return [sum(values) for values in zip(*(one.values() for one in series), strict=False)]


def _mark_rest(
    recorder: Recorder, growing: Mapping[str, GrowingSeries], place: int, interval_s: float
) -> int:
    """Marks what is before the interval ``place``, and after the last that all series have.

    Returns the number of intervals that all have.
    """
    for series in growing.values():
        series.read()
    ended = min(series.intervals for series in growing.values())
    step_ns = interval_s * 1e9
    for name, series in growing.items():
        # Offset by half an interval, because both clocks round.
        bounds = (series.start_ns + round((at - 0.5) * step_ns) for at in (place, ended))
        _mark(recorder.spool(f"ops/{name}"), *bounds)
    return ended


def _mark(spool: Path, from_ns: int, to_ns: int) -> None:
    """Marks measured rows not from ``from_ns`` to ``to_ns`` as ``settling``; all stay."""
    lines: list[str] = []
    for row in read_lines(spool):
        settling = row["phase"] == "measure" and not from_ns <= row["t_ns"] < to_ns
        lines.append(json.dumps({**row, "phase": "settling"} if settling else row) + "\n")
    write_atomically(spool, "".join(lines))
