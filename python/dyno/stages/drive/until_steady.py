"""A level of load that goes on until it is steady, or until a limit."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
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
"""Where the steady stretch of a series begins that holds at least so many values, or None."""


@dataclass(frozen=True)
class UntilSteadyPlan:
    """How long to wait for a steady stretch as long as the level's duration, and who tells it."""

    limit_s: float
    judge: Judge


def drive_until_steady(
    recorder: Recorder,
    target: Target,
    plan: OltpPlan,
    extension: UntilSteadyPlan,
    progress: Progress,
) -> dict[str, Any]:
    """Drives a level until the last ``plan.duration_s`` of it are steady, at most ``limit_s``.

    Of several databases it is the sum that is to be steady, and all of them end together. Rows
    before the steady stretch stay in the bundle, marked as the phase ``settling``.

    Returns:
        The driver's outcome, of the whole level.

    Raises:
        TargetError: If the server was lost for good.
    """
    interval_s = interval_for(plan.duration_s)
    longest = replace(plan, duration_s=extension.limit_s, interval_s=interval_s)
    least = max(1, round(plan.duration_s / interval_s))
    own = [part.level for part in parts(plan)]
    growing = {name: GrowingSeries(recorder.spool(f"ops/{name}"), interval_s) for name in own}
    place: int | None = None

    def beside(control: Handle, ended: threading.Event) -> None:
        nonlocal place
        while place is None and not ended.wait(_POLL_S):
            new = [series.read() for series in growing.values()]
            if any(new):
                place = extension.judge(summed(list(growing.values())), least)
        if place is not None:
            control.finish()

    def after(level: str, outcome: dict[str, Any]) -> UntilSteady:  # noqa: ARG001
        left_out_s = 0.0 if place is None else place * interval_s
        if place and level in growing:
            # Half an interval off, as both clocks round.
            start_ns = growing[level].start_ns
            from_ns = start_ns + round((place - 0.5) * interval_s * 1e9)
            _mark(recorder.spool(f"ops/{level}"), from_ns)
        return UntilSteady(
            limit_s=extension.limit_s,
            asked_s=plan.duration_s,
            settled=place is not None,
            left_out_s=left_out_s,
        )

    return drive(recorder, target, longest, progress, beside, after)


class GrowingSeries:
    """Throughput by the interval, read from a spool of operations while it grows."""

    def __init__(self, spool: Path, interval_s: float) -> None:
        self._spool = spool
        self._step_ns = interval_s * 1e9
        self._offset = 0
        self._done: dict[int, float] = {}
        self._last: int | None = None

    @property
    def start_ns(self) -> int:
        """When the measured time began, ns since the Unix epoch; 0 before its first interval.

        The driver records intervals in which nothing ended, too.
        """
        return min(self._done, default=0)

    def read(self) -> bool:
        """Takes the lines that are new and whole; True if an interval has begun since."""
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

    def values(self) -> list[float]:
        """Operations by interval, those without any as zero.

        The last interval may still lack operations, and is left out.
        """
        places = {
            round((t_ns - self.start_ns) / self._step_ns): count
            for t_ns, count in self._done.items()
        }
        return [places.get(place, 0.0) for place in range(max(places, default=0))]


def summed(series: Sequence[GrowingSeries]) -> list[float]:
    """The sum of series by interval, each counted from its own start, as far as all of them go."""
    return [sum(values) for values in zip(*(one.values() for one in series), strict=False)]


def _mark(spool: Path, from_ns: int) -> None:
    """Marks measured rows before ``from_ns`` as ``settling``; they stay in the bundle."""
    lines: list[str] = []
    for row in read_lines(spool):
        settling = row["phase"] == "measure" and row["t_ns"] < from_ns
        lines.append(json.dumps({**row, "phase": "settling"} if settling else row) + "\n")
    write_atomically(spool, "".join(lines))
