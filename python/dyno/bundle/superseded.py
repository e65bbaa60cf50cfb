"""Stores a first attempt that is repeated in the bundle, separate from its repeat.

Its rows move to tables of the same names under ``superseded/`` and its checks to
``superseded/checks.json``. Its phases stay in the head with the name ``…-first`` and the kind
``superseded``. Analysis thus reads only the repeat, and no data is lost.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from dyno.bundle.detail import interruptible
from dyno.bundle.model import Check, Phase
from dyno.bundle.phases.superseded import SupersededDetail
from dyno.bundle.tables import SUPERSEDED
from dyno.bundle.writer import Recorder, file_error, write_atomically

FIRST = "first attempt"
_STAY = frozenset({"events.jsonl", "samples.jsonl"})
_COPY_BYTES = 1 << 20


@dataclass(frozen=True)
class Mark:
    """State of a bundle at one point in time: its phases, spool sizes in bytes, and checks."""

    phases: frozenset[str]
    sizes: dict[Path, int]
    checks: int


def mark(recorder: Recorder) -> Mark:
    """Returns the state before an attempt."""
    sizes = {spool: spool.stat().st_size for spool in _spools(recorder)}
    names = frozenset(phase.name for phase in recorder.run.phases)
    return Mark(names, sizes, len(recorder.checks))


def attempted(recorder: Recorder, since: Mark) -> list[Phase]:
    """Returns the phases of the attempt."""
    return [phase for phase in recorder.run.phases if phase.name not in since.phases]


def set_aside(recorder: Recorder, since: Mark, why: str, what: str = FIRST) -> None:
    """Moves the records since ``since`` aside: a first attempt, or ``what`` else does not count.

    Raises:
        DiskFullError, TargetError: If it cannot be written.
    """
    recorder.close_spools()
    folder = recorder.path / SUPERSEDED
    for spool in _spools(recorder):
        size = since.sizes.get(spool, 0)
        target = folder / spool.relative_to(recorder.path)
        try:
            _move_tail(spool, size, target)
        except OSError as error:
            raise file_error(error, target) from error
    checks = recorder.cut_checks(since.checks)
    if checks:
        _append_checks(folder / "checks.json", checks)
    first = {phase.name for phase in attempted(recorder, since)}
    recorder.update(
        phases=tuple(
            _superseded(phase, why, what) if phase.name in first else phase
            for phase in recorder.run.phases
        )
    )
    recorder.event("set-aside", phases=sorted(first), why=why)


def _superseded(phase: Phase, why: str, what: str) -> Phase:
    # The extra nesting level keeps its values separate from the repeat.
    first = interruptible(lambda: phase.detail.model_dump(mode="json"))
    detail = SupersededDetail(why=why, kind=phase.kind, first=first)
    return phase.model_copy(
        update={
            "name": f"{phase.name}-first",
            "title": f"{phase.title} ({what})",
            "kind": "superseded",
            "detail": detail,
        }
    )


def _spools(recorder: Recorder) -> Iterable[Path]:
    for spool in sorted(recorder.path.rglob("*.jsonl")):
        inside = spool.relative_to(recorder.path)
        if inside.name not in _STAY and inside.parts[0] != SUPERSEDED:
            yield spool


def _move_tail(spool: Path, size: int, target: Path) -> None:
    if spool.stat().st_size <= size:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with spool.open("rb") as source, target.open("ab") as sink:
        source.seek(size)
        while chunk := source.read(_COPY_BYTES):
            sink.write(chunk)
        sink.flush()
        os.fsync(sink.fileno())
    if size:
        os.truncate(spool, size)
    else:
        spool.unlink()  # an empty spool would count as a level


def _append_checks(path: Path, checks: list[Check]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    write_atomically(path, json.dumps([*known, *(one.model_dump() for one in checks)], indent=1))
