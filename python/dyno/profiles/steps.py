"""The steps of a recorded storage profile, without histograms, for analysis and verdict."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dyno.bundle.metrics import Curve, StorageLoad
from dyno.bundle.model import Run
from dyno.bundle.reader import Bundle
from dyno.bundle.tables import counts
from dyno.profiles.model import Settle
from dyno.profiles.volume_sets import Load, loads, volume_sets

COLUMNS = (
    *("t_ns", "seconds", "volume", "stage", "repeat", "phase", "level", "purpose", "pattern"),
    *("block_bytes", "read_percent", "queue_depth", "rate", "reads", "writes", "syncs"),
    *("read_bytes", "write_bytes", "late", "unissued", "errors"),
)

_USUAL_ROUNDS = Settle().rounds
"""Default for bundles without this value."""

_LONGEST_S = 1e8

Key = tuple[str, int, int, str, int]
"""Identifies a step: volume set, fill level, repeat, curve and position in the curve."""


@dataclass(frozen=True)
class Step:
    """One step: a window of a load.

    Attributes:
        volume_set: Label of the volumes.
        curve: Its curve.
        level: Its position in the curve; the depth in bundles without positions.
        purpose: ``list``, ``grow``, ``narrow``, ``confirm`` or ``settle``.
        load: The requested load.
        curve_metrics: Metrics of its curve at its volume set and fill level.
        label: Display label: ``random_read at depth 8``.
        rounds: Number of windows that must agree, if its load repeats until it is steady.
        row: Its row, without histograms; missing values are null.
        errors: Failed I/Os by class.
    """

    volume_set: str
    stage: int
    repeat: int
    curve: str
    level: int
    purpose: str
    load: Load
    curve_metrics: Curve
    label: str
    rounds: int
    row: dict[str, Any]
    errors: dict[str, int]

    @property
    def key(self) -> Key:
        """Identifies the step within the bundle."""
        return (self.volume_set, self.stage, self.repeat, self.curve, self.level)

    @property
    def metrics(self) -> StorageLoad:
        """The metrics of its load."""
        return self.curve_metrics.load(self.load.name)

    @property
    def start_ns(self) -> int:
        """Start of the measured time, ns since the Unix epoch; 0 if unknown."""
        return self.row["t_ns"] or 0

    @property
    def end_ns(self) -> int:
        """End of the measured time, ns since the Unix epoch."""
        return self.start_ns + round(self.seconds * 1e9)

    @property
    def seconds(self) -> float:
        """Measured seconds."""
        return float(self.row["seconds"])

    @property
    def ended(self) -> int:
        """Number of successful reads and writes."""
        return int(self.row["reads"] + self.row["writes"])

    @property
    def iops(self) -> float:
        """Successful reads and writes per second."""
        return self.ended / self.seconds

    @property
    def issued(self) -> int:
        """Number of completed I/Os, with or without an error, including syncs."""
        return self.ended + int(self.row["syncs"] or 0) + sum(self.errors.values())

    @property
    def late(self) -> int:
        """Number of I/Os of an open loop issued late or never."""
        return int((self.row["late"] or 0) + (self.row["unissued"] or 0))


def steps(bundle: Bundle) -> list[Step]:
    """Returns all steps in order of completion. Skips rows without data."""
    rows = [row for row in bundle.table("io").select(list(COLUMNS)).to_pylist() if _says(row)]
    stages = {(row["volume"], row["stage"] or 0) for row in rows}
    places = {
        (volume_set.label, stage.index): (volume_set.metrics(stage), stage.label)
        for volume_set in volume_sets(bundle.run, stages)
        for stage in volume_set.stages
    }
    asked: dict[tuple[str, int, str], list[tuple[int, float | None]]] = {}
    for row in rows:
        key = (row["volume"], row["stage"] or 0, row["phase"])
        asked.setdefault(key, []).append((row["queue_depth"], row["rate"]))
    named = {key: loads(pairs) for key, pairs in asked.items()}
    several = len({volume_set for volume_set, _ in places}) > 1
    found: list[Step] = []
    for row in rows:
        volume_set, stage, curve = row["volume"], row["stage"] or 0, row["phase"]
        depth = row["queue_depth"]
        load = named[volume_set, stage, curve][depth, row["rate"]]
        place, full = places[volume_set, stage]
        found.append(
            Step(
                volume_set=volume_set,
                stage=stage,
                repeat=row["repeat"] or 1,
                curve=curve,
                level=depth if row["level"] is None else row["level"],
                purpose=row["purpose"] or "list",
                load=load,
                curve_metrics=place.curve(curve),
                label=_label(curve, load, volume_set if several else "", full),
                rounds=settled_rounds(bundle.run, curve),
                row=row,
                errors=counts(row["errors"]),
            )
        )
    return found


def windows(items: Iterable[Step]) -> dict[StorageLoad, list[Step]]:
    """Returns the windows of each load in time order, by its metrics.

    For a load that repeats until it is steady, only the last windows, which define its metrics.
    """
    found: dict[StorageLoad, list[Step]] = {}
    settling: dict[tuple[StorageLoad, int], list[Step]] = {}
    for step in sorted(items, key=lambda step: step.start_ns):
        found.setdefault(step.metrics, []).append(step)
        if step.purpose == "settle":
            settling.setdefault((step.metrics, step.repeat), []).append(step)
    early = {step.key for of_it in settling.values() for step in of_it[: -of_it[0].rounds]}
    return {
        load: [step for step in windows if step.key not in early] for load, windows in found.items()
    }


def settled_rounds(run: Run, curve: str) -> int:
    """Returns the number of windows that must agree for a curve that repeats until it is steady.

    The metrics of the curve come from these last windows.
    """
    curves: Any = run.plan.get("curves")
    for one in curves if isinstance(curves, list) else []:
        if isinstance(one, dict) and one.get("name") == curve:
            settle = one.get("settle")
            rounds = settle.get("rounds") if isinstance(settle, dict) else None
            if isinstance(rounds, int) and rounds >= 1:
                return rounds
    return _USUAL_ROUNDS


def _says(row: dict[str, Any]) -> bool:
    whole = ("volume", "phase", "queue_depth", "reads", "writes", "read_bytes", "write_bytes")
    return all(row[name] is not None for name in whole) and 0 < (row["seconds"] or 0) < _LONGEST_S


def _label(curve: str, load: Load, volume_set: str, full: str) -> str:
    at = f"{load.rate:,.0f} I/Os a second" if load.by_rate else f"depth {load.depth}"
    words = [
        curve,
        f"of {volume_set}" if volume_set else "",
        f"{full} full" if full else "",
        f"at {at}",
    ]
    return " ".join(word for word in words if word)
