"""The data after refresh functions is the data before them, whatever happened in between."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator
from contextlib import closing
from typing import TypeVar

from dyno import workloads
from dyno.drive.dss.refresh import transaction
from dyno.engine import interruptible
from dyno.errors import DynoError, UsageError
from dyno.model import Check
from dyno.record import Recorder
from dyno.targets.base import Connection, Target
from dyno.workloads.refresh import Refresh, delete, matching
from dyno.workloads.rows import count

T = TypeVar("T")

Digests = dict[str, tuple[str, ...]]


def remove_left(recorder: Recorder, target: Target, workload: str) -> int:
    """Deletes rows that the refresh functions of a killed run left; returns how many.

    Looks for them in the table of the smaller of two: an order and its lines come and go in one
    transaction.

    Raises:
        TargetError: If the target fails.
    """
    refresh = workloads.get(workload).refresh
    if refresh is None or target.capabilities.refresh is not True:
        return 0
    *_, (table, condition) = refresh.foreign.items()

    def remove(connection: Connection) -> int:
        if not count(connection, matching(table, condition)):
            return 0
        return _remove(target, workload, refresh, connection)

    removed = _on_session(target, workload, remove)
    if removed:
        recorder.event("refresh-rows-removed", target=target.name, rows=removed)
    return removed


@contextlib.contextmanager
def restored(recorder: Recorder, target: Target, workload: str) -> Generator[None]:
    """Proves that the refresh functions inside the ``with`` left no trace in the keys.

    If the work does not end well, rows of theirs are deleted, as far as the target still answers;
    what cannot be deleted now is found at the start of the next run.

    Raises:
        UsageError: If the workload has no refresh functions.
        TargetError: If the target fails.
    """
    refresh = workloads.get(workload).refresh
    if refresh is None:
        raise UsageError(f"{workload} has no refresh functions.")
    place = f"{workload}-{target.name}"
    with recorder.phase(f"keys-{place}-before", "Keys before the tests", "check", target.name):
        before = _on_session(target, workload, lambda session: _digests(refresh, session))
    try:
        yield
    except BaseException:
        with contextlib.suppress(DynoError), closing(target.connect(workload)) as session:
            removed = _remove(target, workload, refresh, session)
            recorder.event("refresh-rows-removed", target=target.name, rows=removed)
        raise
    with recorder.phase(f"keys-{place}-after", "Keys after the tests", "check", target.name):
        removed = remove_left(recorder, target, workload)
        after = _on_session(target, workload, lambda session: _digests(refresh, session))
    recorder.add_checks(
        _check(target.name, table, before[table], after[table], removed) for table in before
    )


def _check(
    target: str, table: str, before: tuple[str, ...], after: tuple[str, ...], removed: int
) -> Check:
    same = before == after
    message = (
        f"{int(before[0]):,} rows with the same keys as before the refresh functions"
        if same
        else f"{after[0]} rows, and {before[0]} before the refresh functions, or other keys; "
        "load it again"
    )
    if removed:
        message += f"; {removed:,} rows of functions that failed were removed"
    return Check(
        name=f"keys of {table}",
        target=target,
        passed=same,
        message=message,
        detail={"before": list(before), "after": list(after), "removed": removed},
    )


def _digests(refresh: Refresh, connection: Connection) -> Digests:
    found: Digests = {}
    for table, aggregates in refresh.digests.items():
        answer = connection.execute(f"SELECT {aggregates} FROM {table}")  # noqa: S608
        found[table] = tuple(str(int(value or 0)) for value in answer.rows[0])
    return found


def _remove(target: Target, workload: str, refresh: Refresh, connection: Connection) -> int:
    removed = sum(count(connection, matching(*item)) for item in refresh.foreign.items())
    if removed:

        def work(connection: Connection) -> None:
            for table, condition in refresh.foreign.items():
                statement = delete(table, condition)
                connection.execute(target.sql(workload, f"left-{table}", statement))

        transaction(connection, work)
    return removed


def _on_session(target: Target, workload: str, work: Callable[[Connection], T]) -> T:
    with closing(target.connect(workload)) as session:
        return interruptible(lambda: work(session), session.cancel)
