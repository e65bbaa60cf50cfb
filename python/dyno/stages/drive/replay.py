"""The replay of a server's log: what it holds, and its statements at their original times."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dyno.bundle import replayed
from dyno.bundle.phases.oltp import Loop, OltpDetail
from dyno.bundle.replayed import LOOP, OTHER, REASONS, WORKLOAD, Replayed, StatementClass
from dyno.bundle.writer import Recorder
from dyno.contracts.target import Target
from dyno.errors import UsageError
from dyno.runtime.engine_calls import run_engine
from dyno.runtime.progress import Progress
from dyno.stages.drive.oltp import explained, interval_for, outcome_of
from dyno.workloads.own.classes import distinct, name_of

MOST_CLASSES = 20
"""Classes of statements with an operation of their own."""
RECONNECT_S = 5.0


@dataclass(frozen=True)
class Selection:
    """Which statements of a log to replay.

    Attributes:
        log: The log.
        database: Only statements of this database of the log.
        writes: Whether statements that may change or lock rows are replayed.
        ddl: Whether statements that change tables are replayed.
        span_s: How much of the log, in s of the log; None: all.
        most: The most sessions at once; None: as many as in the log.
    """

    log: Path
    database: str | None
    writes: bool
    ddl: bool
    span_s: float | None
    most: int | None

    def plan(self) -> dict[str, Any]:
        """The selection in the format of the driver."""
        return {
            "log": str(self.log), "database": self.database, "writes": self.writes,
            "ddl": self.ddl, "span_s": self.span_s,
        }  # fmt: skip


@dataclass(frozen=True)
class Scanned:
    """What a log holds.

    Attributes:
        select: What is to be replayed.
        found: The driver's scan (``dyno_drive::Scan``) of just that.
        ends: The line of the last statement of sessions whose end is not in the log.
    """

    select: Selection
    found: dict[str, Any]
    ends: dict[str, int]

    @property
    def span_s(self) -> float:
        """Time from the log's first statement to the start of the last one, s."""
        first, last = self.found["first_ns"], self.found["last_ns"]
        return 0.0 if first is None else (last - first) / 1e9

    @property
    def classes(self) -> list[StatementClass]:
        """The most frequent classes, then all others together."""
        found = self.found["classes"][:MOST_CLASSES]
        names = operations(one["text"] for one in found)
        every = [
            StatementClass(operation=name, text=one["text"], kind=one["kind"], count=one["count"])
            for name, one in zip(names, found, strict=True)
        ]
        rest = self.found["statements"] - sum(one["count"] for one in found)
        return [*every, StatementClass(operation=OTHER, count=rest)] if rest else every

    def changes(self, *kinds: str) -> int:
        """The number of statements of these kinds."""
        return sum(self.found["kinds"].get(kind, 0) for kind in kinds)

    def facts(self, speed: float) -> Replayed:
        """What the bundle records."""
        found = self.found
        return Replayed(
            file=self.select.log.name,
            format=found["format"],
            bytes=found["bytes"],
            speed=speed,
            database=self.select.database,
            statements=found["statements"],
            sessions=found["sessions"],
            at_once=found["at_once"],
            span_s=self.span_s,
            classes=tuple(self.classes),
            left_out={reason: count for reason, (count, _) in found["left_out"].items()},
        )


def scan(select: Selection, progress: Progress) -> Scanned:
    """Reads a log once; a second time if it has more sessions at once than wanted.

    Raises:
        UsageError: If it is not a log, or damaged, with the line; or without statements to replay.
    """
    plan = select.plan()
    found = run_engine("scan_log", {"select": plan}, progress)
    ends: dict[str, int] = found["ends"]
    if select.most is not None and found["at_once"] > select.most:
        plan |= {"most": select.most, "ends": ends}
        plan |= {name: found[name] for name in ("first_ns", "bytes", "file")}
        found = run_engine("scan_log", {"select": plan}, progress)
    if not found["statements"]:
        raise UsageError(_nothing(select, found))
    return Scanned(select, found, ends)


def _nothing(select: Selection, found: dict[str, Any]) -> str:
    """Why there is nothing to replay."""
    left = found["left_out"]
    if left:
        kinds = (replayed.statements(count, REASONS[reason]) for reason, (count, _) in left.items())
        line = min(line for _, line in left.values())
        return (
            f"{select.log}: Dyno left out all statements: {'; '.join(kinds)}. The first is in "
            f"line {line:,}."
        )
    return without_statements(select.log, found["format"])


def without_statements(log: Path, form: str) -> str:
    """What to do about a log in this format in which no statement was found."""
    if form == "general":
        return f"{log}: no statement in the log."
    return (
        f"{log}: no statement in the log. Set log_statement = all, or "
        "log_min_duration_statement = 0, and lc_messages = C on its server."
    )


def operations(texts: Iterable[str]) -> list[str]:
    """Distinct names of classes."""
    names = (name_of(text) for text in texts)
    return distinct(f"s_{name}" if name == OTHER else name for name in names)


def replay(
    recorder: Recorder, target: Target, scanned: Scanned, speed: float, progress: Progress
) -> dict[str, Any]:
    """Replays a log and records every interval.

    Returns:
        The driver's outcome.

    Raises:
        TargetError: If the server is lost for good.
        UsageError: If the log is damaged.
    """
    found, facts = scanned.found, scanned.facts(speed)
    users, duration_s = found["at_once"], scanned.span_s / speed
    name, title = f"oltp-replay-{target.name}", f"Replay of {scanned.select.log.name}"

    def detail(outcome: dict[str, Any] | None = None) -> OltpDetail:
        return OltpDetail(
            workload=WORKLOAD,
            level="replay",
            users=users,
            loop=Loop(kind=LOOP, speed=speed),
            warmup_s=0.0,
            duration_s=duration_s if outcome is None else outcome["seconds"],
            reconnect_s=RECONNECT_S,
            outcome=None if outcome is None else outcome_of(WORKLOAD, outcome),
            replayed=facts,
        )

    with recorder.phase(name, title, detail(), target.name) as phase, explained(target):
        plan = request(recorder, target, scanned, speed)
        outcome = run_engine("replay_log", plan, progress)
        phase.detail = detail(outcome)
    return outcome


def request(recorder: Recorder, target: Target, scanned: Scanned, speed: float) -> dict[str, Any]:
    """The replay in the format of the compiled driver. It may contain a password."""
    found = scanned.found
    classes = found["classes"][:MOST_CLASSES]
    names = operations(one["text"] for one in classes)
    select = scanned.select.plan() | {
        "first_ns": found["first_ns"], "ends": scanned.ends, "bytes": found["bytes"],
        "file": found["file"],
    }  # fmt: skip
    wire = target.wire()
    wire.get("settings", {}).pop("TimeZone", None)  # sessions of a log keep the server's
    return {
        "select": select | {"most": scanned.select.most},
        "wire": wire,
        "speed": speed,
        "duration_s": scanned.span_s / speed,
        "statements": found["statements"],
        "sessions": found["sessions"],
        "longest_s": found["longest_s"],
        "operations": [*names, OTHER],
        "classes": {one["class"]: place for place, one in enumerate(classes)},
        "clock": recorder.clock.model_dump(),
        "spool": str(recorder.spool("ops/replay")),
        "interval_s": interval_for(scanned.span_s / speed),
        "reconnect_s": RECONNECT_S,
    }
