"""Records what a database counted by statement and relation while a block is open."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Generator, Sequence

from dyno.bundle.writer import Recorder
from dyno.contracts.inspection import UNRECORDED, Inspected, Inspection, Inspector
from dyno.contracts.target import Target
from dyno.errors import DynoError
from dyno.safety.redaction import secretless


@contextlib.contextmanager
def inspected(recorder: Recorder, target: Target) -> Generator[None]:
    """Inspects a target at the start and the end of the block and writes both tables.

    A database that does not respond is recorded (``inspection-failed``) and stops nothing.
    """
    inspector = target.inspector() if isinstance(target, Inspected) else None
    if inspector is None:
        yield
        return
    with contextlib.closing(inspector):
        try:
            inspector.begin()
        except DynoError as error:
            _failed(recorder, target, error)
            yield
            return
        start_ns = recorder.clock.unix_now_ns()
        try:
            yield
        finally:
            record(recorder, target, inspector, start_ns)


def record(recorder: Recorder, target: Target, inspector: Inspector, start_ns: int) -> int:
    """Writes what was counted since ``start_ns``; returns the start of the next period.

    If the database does not respond, the period goes on.
    """
    end_ns = recorder.clock.unix_now_ns()
    try:
        found = inspector.end()
        _write(recorder, target, found, start_ns, end_ns)
    except DynoError as error:
        _failed(recorder, target, error)
        return start_ns
    return end_ns


def _write(
    recorder: Recorder, target: Target, found: Inspection, start_ns: int, end_ns: int
) -> None:
    common = {"t_ns": start_ns, "end_ns": end_ns, "target": target.name}
    statements = [dataclasses.asdict(use) for use in found.statements]
    for row in statements:
        for name in UNRECORDED:
            del row[name]
        row |= {name: secretless(row[name]) for name in ("text", "plan") if row[name]}
    relations = [dataclasses.asdict(use) for use in found.relations]
    for table, rows in (("statements", statements), ("relations", relations)):
        recorder.add(table, [{**common, **row} for row in rows])
    note(recorder, target.name, found.notes)


def note(recorder: Recorder, target: str, notes: Sequence[str]) -> None:
    """Adds reasons why something inside a database was not observed, each once."""
    facts = recorder.run.targets.get(target)
    if facts is not None and set(notes) - set(facts.inside_notes):
        every = tuple(dict.fromkeys([*facts.inside_notes, *notes]))
        recorder.set_target(target, facts.model_copy(update={"inside_notes": every}))


def _failed(recorder: Recorder, target: Target, error: DynoError) -> None:
    with contextlib.suppress(DynoError):  # the disk is full: the run reports that itself
        recorder.event("inspection-failed", target=target.name, reason=str(error))
