"""Storage tables, grouped by volume set, fill level, curve and load."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from dyno.analyse.io.point import SEARCHING, Pieces, Point, Row
from dyno.analyse.rows import rows
from dyno.bundle.metrics.io import Rate
from dyno.bundle.model import Run
from dyno.bundle.reader import Bundle
from dyno.profiles.curve_metric import recorded
from dyno.profiles.steps import settled_rounds
from dyno.profiles.volume_sets import FilledSet, Load, loads, volume_sets
from dyno.safety.plainjson import finite

_Step = tuple[str, int, int, str, int | None]
"""Volume set, fill level, repeat, curve and position in the curve."""


@dataclass
class Curve:
    """A curve with its loads in ascending order.

    Attributes:
        metric: The metric: ``iops`` within the ceiling, or ``mbps``.
        settling: Windows before steady state, which are excluded; None if the curve is not
            repeated until steady.
    """

    name: str
    metric: Rate
    rows: list[Row]
    pieces: dict[_Step, list[Row]]
    settling: int | None = None
    points: dict[Load, Point] = field(init=False)

    def __post_init__(self) -> None:
        by_load: dict[tuple[int, float | None], list[Row]] = {}
        for row in self.rows:
            by_load.setdefault(_asked(row), []).append(row)
        named = loads(by_load)
        self.points = {
            load: Point(by_load[asked], _pieces(by_load[asked], self.pieces))
            for asked, load in named.items()
        }

    @property
    def searched(self) -> bool:
        """Whether its loads come from a search instead of a list."""
        return any(row["purpose"] in SEARCHING for row in self.rows)

    @property
    def repeats(self) -> list[int]:
        """The repeats in which it was measured."""
        return sorted({row["repeat"] or 1 for row in self.rows})

    def of_repeat(self, repeat: int) -> Curve:
        """The same curve with the windows of one repeat."""
        own = [row for row in self.rows if (row["repeat"] or 1) == repeat]
        return Curve(self.name, self.metric, own, self.pieces)


def places(bundle: Bundle) -> list[FilledSet[Curve]]:
    """Groups everything that was profiled: by volume set, then by fill level.

    Raises:
        UsageError: If a table is damaged.
    """
    groups: dict[tuple[str, int], dict[str, list[Row]]] = {}
    for row in rows(bundle, "io"):
        if (finite(row["seconds"]) or 0) > 0:
            curves = groups.setdefault((row["volume"], row["stage"] or 0), {})
            curves.setdefault(row["phase"], []).append(row)
    if not groups:
        return []
    parts = _parts(bundle)
    return [
        FilledSet(
            volume_set,
            stage,
            [
                _curve(bundle.run, name, own, parts)
                for name, own in groups[volume_set.label, stage.index].items()
            ],
        )
        for volume_set in volume_sets(bundle.run, groups)
        for stage in volume_set.stages
    ]


def _curve(run: Run, name: str, own: list[Row], parts: dict[_Step, list[Row]]) -> Curve:
    about = recorded(run, own[0]["volume"], name, str(own[0]["pattern"]))
    kept = _steady(run, name, own)
    repeated = any(row["purpose"] == "settle" for row in own)
    return Curve(name, about, kept, parts, len(own) - len(kept) if repeated else None)


def _steady(run: Run, name: str, own: list[Row]) -> list[Row]:
    """Drops the windows before steady state of a curve that is repeated until steady."""
    last = settled_rounds(run, name)
    kept: list[Row] = []
    by_repeat: dict[int, list[Row]] = {}
    for row in own:
        if row["purpose"] == "settle":
            by_repeat.setdefault(row["repeat"] or 1, []).append(row)
        else:
            kept.append(row)
    return kept + [row for repeated in by_repeat.values() for row in repeated[-last:]]


def _parts(bundle: Bundle) -> dict[_Step, list[Row]]:
    found: dict[_Step, list[Row]] = {}
    for row in rows(bundle, "io_parts"):
        if (finite(row["seconds"]) or 0) > 0:
            found.setdefault(_step(row, row["arm"] or row["volume"]), []).append(row)
    return found


def _pieces(steps: Iterable[Row], parts: dict[_Step, list[Row]]) -> Pieces:
    """The parts of some steps. If a volume and its set share a name, the job comes first."""
    pieces = Pieces({}, {}, {})
    for step in steps:
        jobs: set[str] = set()
        for row in parts.get(_step(step, step["volume"]), []):
            volume, job = row["volume"], row["job"]
            if job is None:
                pieces.volumes.setdefault(volume, []).append(row)
            elif volume == step["volume"] and job not in jobs:
                jobs.add(job)
                pieces.jobs.setdefault(job, []).append(row)
            else:
                pieces.lanes.setdefault((volume, job), []).append(row)
    return pieces


def _step(row: Row, volume_set: str) -> _Step:
    return volume_set, row["stage"] or 0, row["repeat"] or 1, row["phase"], row["level"]


def _asked(row: Row) -> tuple[int, float | None]:
    return row["queue_depth"], finite(row["rate"])
