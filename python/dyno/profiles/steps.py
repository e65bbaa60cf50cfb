"""The steps of a recorded storage profile, without histograms, for those who figure and judge."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dyno.bundle.metrics import Curve, StorageLoad
from dyno.bundle.model import Run
from dyno.bundle.reader import Bundle
from dyno.bundle.tables import counts
from dyno.profiles.arms import Load, arms, loads
from dyno.profiles.model import Settle

COLUMNS = (
    *("t_ns", "seconds", "volume", "stage", "repeat", "phase", "level", "purpose", "pattern"),
    *("block_bytes", "read_percent", "queue_depth", "rate", "reads", "writes", "syncs"),
    *("read_bytes", "write_bytes", "late", "unissued", "errors"),
)

_USUAL_ROUNDS = Settle().rounds
"""For bundles that do not tell."""

_LONGEST_S = 1e8

Key = tuple[str, int, int, str, int]
"""Arm, fill level, repeat, curve and place in it: one step."""


@dataclass(frozen=True)
class Step:
    """One step: a window of a load.

    Attributes:
        arm: Label of the volumes.
        curve: Its curve.
        level: Its place in the curve; the depth in bundles that do not tell.
        purpose: ``list``, ``grow``, ``narrow``, ``confirm`` or ``settle``.
        load: What was asked of the volumes.
        curve_metrics: Those of its curve at its arm and fill level.
        label: Words for people: ``random_read at depth 8``.
        rounds: Windows that must agree, if its load is repeated until it is steady.
        row: Its row, without histograms; what the bundle lacks is null.
        errors: Failed I/Os by class.
    """

    arm: str
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
        """What tells it from all others of the bundle."""
        return (self.arm, self.stage, self.repeat, self.curve, self.level)

    @property
    def metrics(self) -> StorageLoad:
        """Those of its load."""
        return self.curve_metrics.load(self.load.name)

    @property
    def start_ns(self) -> int:
        """Start of its measured time, ns since the Unix epoch; 0 if that is not known."""
        return self.row["t_ns"] or 0

    @property
    def end_ns(self) -> int:
        """End of it."""
        return self.start_ns + round(self.seconds * 1e9)

    @property
    def seconds(self) -> float:
        """Length of it."""
        return float(self.row["seconds"])

    @property
    def ended(self) -> int:
        """Reads and writes that ended well."""
        return int(self.row["reads"] + self.row["writes"])

    @property
    def iops(self) -> float:
        """The same a second."""
        return self.ended / self.seconds

    @property
    def issued(self) -> int:
        """What ended, well or not; syncs among it."""
        return self.ended + int(self.row["syncs"] or 0) + sum(self.errors.values())

    @property
    def late(self) -> int:
        """Of an open loop: issued later than due, or not at all."""
        return int((self.row["late"] or 0) + (self.row["unissued"] or 0))


def steps(bundle: Bundle) -> list[Step]:
    """All steps in the order in which they ended; rows that say nothing are left out."""
    rows = [row for row in bundle.table("io").select(list(COLUMNS)).to_pylist() if _says(row)]
    stages = {(row["volume"], row["stage"] or 0) for row in rows}
    places = {
        (arm.label, stage.index): (arm.metrics(stage), stage.label)
        for arm in arms(bundle.run, stages)
        for stage in arm.stages
    }
    asked: dict[tuple[str, int, str], list[tuple[int, float | None]]] = {}
    for row in rows:
        key = (row["volume"], row["stage"] or 0, row["phase"])
        asked.setdefault(key, []).append((row["queue_depth"], row["rate"]))
    named = {key: loads(pairs) for key, pairs in asked.items()}
    several = len({arm for arm, _ in places}) > 1
    found: list[Step] = []
    for row in rows:
        arm, stage, curve = row["volume"], row["stage"] or 0, row["phase"]
        depth = row["queue_depth"]
        load = named[arm, stage, curve][depth, row["rate"]]
        place, full = places[arm, stage]
        found.append(
            Step(
                arm=arm,
                stage=stage,
                repeat=row["repeat"] or 1,
                curve=curve,
                level=depth if row["level"] is None else row["level"],
                purpose=row["purpose"] or "list",
                load=load,
                curve_metrics=place.curve(curve),
                label=_label(curve, load, arm if several else "", full),
                rounds=settled_rounds(bundle.run, curve),
                row=row,
                errors=counts(row["errors"]),
            )
        )
    return found


def windows(items: Iterable[Step]) -> dict[StorageLoad, list[Step]]:
    """The windows of each load, in the order of time, by its metrics.

    Of a load that is repeated until it is steady only the last ones, which its figures are of.
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
    """How many windows must agree where this curve is repeated until it is steady.

    Its figures are of the last so many.
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


def _label(curve: str, load: Load, arm: str, full: str) -> str:
    at = f"{load.rate:,.0f} I/Os a second" if load.by_rate else f"depth {load.depth}"
    words = [curve, f"of {arm}" if arm else "", f"{full} full" if full else "", f"at {at}"]
    return " ".join(word for word in words if word)
