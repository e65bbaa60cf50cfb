"""Restores the data after refresh functions, also after a failed or killed run.

The mark on the data counts the used update sets and those that are possibly not restored. It is
written before the first function runs, so that the next run detects a killed run.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from typing import TypeVar

from dyno import workloads
from dyno.bundle.model import Check
from dyno.bundle.phases.check import CheckDetail
from dyno.bundle.phases.provision import ProvisionDetail
from dyno.bundle.writer import Recorder
from dyno.contracts.databases import named
from dyno.contracts.refresh import Refresh, UpdateSet, delete, matching
from dyno.contracts.target import Connection, Loaded, Target, neutrally
from dyno.errors import DynoError, TargetError, UsageError
from dyno.runtime.engine_calls import interruptible
from dyno.stages.drive.dss.refresh import transaction
from dyno.workloads.rows import count

T = TypeVar("T")

Digests = dict[str, tuple[str, ...]]


def restore_left(recorder: Recorder, target: Target, workload: str) -> int:
    """Restores data that the refresh functions of a killed run changed. Returns the number of rows.

    Raises:
        TargetError: If the target fails, or the data cannot be restored.
    """
    refresh = workloads.get(workload).refresh
    if refresh is None or target.capabilities.refresh is not True:
        return 0
    held = _held(target, workload)
    changed = _on_session(
        target, workload, lambda session: _restore(target, workload, refresh, held, session)
    )
    if held.unrestored:
        _mark(target, workload, held, held.update_sets, 0)
    if changed:
        recorder.event("update-sets-restored", target=target.name, rows=changed)
    return changed


@contextlib.contextmanager
def restored(recorder: Recorder, target: Target, workload: str, sets: int = 1) -> Generator[int]:
    """Restores the data after refresh functions and verifies its keys against the original ones.

    Yields the number of the first of ``sets`` update sets that are unused on this data.

    If the work fails, the data is restored as far as the target still responds. The next run
    restores the rest at its start.

    Raises:
        UsageError: If the workload has no refresh functions.
        TargetError: If the target fails.
    """
    refresh = workloads.get(workload).refresh
    if refresh is None:
        raise UsageError(f"{workload} has no refresh functions.")
    place = f"{workload}-{target.name}"
    restore_left(recorder, target, workload)
    held = _held(target, workload)
    with recorder.phase(
        f"keys-{place}-before", "Keys before the tests", CheckDetail(), target.name
    ):
        before = _on_session(target, workload, lambda session: _digests(refresh, session))
    first = held.update_sets
    _mark(target, workload, held, first + sets, sets)
    try:
        yield first
    except BaseException:
        with contextlib.suppress(DynoError):
            restore_left(recorder, target, workload)
        raise
    name, title = f"restore-{place}", f"Restore the rows of {sets} update sets"
    with recorder.phase(name, title, ProvisionDetail(), target.name) as phase:
        changed = restore_left(recorder, target, workload)
        phase.detail = ProvisionDetail(first=first, sets=sets, rows=changed)
    with recorder.phase(f"keys-{place}-after", "Keys after the tests", CheckDetail(), target.name):
        after = _on_session(target, workload, lambda session: _digests(refresh, session))
    checks = [_check(target.name, table, before[table], after[table], changed) for table in before]
    recorder.add_checks(named(checks, workload))


def _held(target: Target, workload: str) -> Loaded:
    held = target.loaded(workload)
    if held is None:
        raise TargetError(f"{target.name} has no {workload} data of Dyno's; load it first.")
    return held


def _mark(target: Target, workload: str, held: Loaded, used: int, unrestored: int) -> None:
    try:
        target.mark(workload, dataclasses.replace(held, update_sets=used, unrestored=unrestored))
    except DynoError as error:
        raise TargetError(
            f"The mark on the {workload} tables cannot say which update sets were used: {error} "
            "Run as the owner of the tables, or use --no-refresh.",
            kind=error.kind,
        ) from error


def _check(
    target: str, table: str, before: tuple[str, ...], after: tuple[str, ...], changed: int
) -> Check:
    same = before == after
    message = (
        f"{int(before[0]):,} rows with the same keys as before the refresh functions"
        if same
        else f"{after[0]} rows, and {before[0]} before the refresh functions, or other keys; "
        "load it again"
    )
    return Check(
        name=f"keys of {table}",
        target=target,
        passed=same,
        message=message,
        detail={"before": list(before), "after": list(after), "restored": changed},
    )


def _digests(refresh: Refresh, connection: Connection) -> Digests:
    found: Digests = {}
    for table, aggregates in refresh.digests.items():
        answer = neutrally(connection, f"SELECT {aggregates} FROM {table}")  # noqa: S608
        found[table] = tuple(str(int(value or 0)) for value in answer.rows[0])
    return found


def _restore(
    target: Target, workload: str, refresh: Refresh, held: Loaded, connection: Connection
) -> int:
    """Restores all sets that the mark names, then removes new rows of other sets."""
    changed = 0
    for number in range(held.update_sets - held.unrestored, held.update_sets):
        update = refresh.update_set(held.scale, number)
        changed += _restore_set(target, workload, update, connection)
    # One transaction adds or removes an order with its lines, so the smaller table suffices.
    *_, (table, condition) = refresh.foreign.items()
    if count(connection, matching(table, condition)):
        changed += _remove(target, workload, refresh.foreign, connection)
    return changed


def _restore_set(target: Target, workload: str, update: UpdateSet, connection: Connection) -> int:
    """Deletes the new rows of a set and reinserts its loaded rows where they are missing.

    Raises:
        TargetError: If only some of the loaded rows exist. No refresh function leaves that state.
    """
    from dyno import _core

    seen = {
        table: count(connection, matching(table, update.loaded[table])) for table in update.rows
    }
    added = {table: count(connection, matching(table, update.new[table])) for table in update.rows}
    gone = not any(seen.values())
    if not gone and seen != dict(update.rows):
        raise TargetError(
            f"Of the rows of update set {update.number} only some are there: {seen}, and not "
            f"{dict(update.rows)}. Run `dyno load {workload} --replace`."
        )

    def work(connection: Connection) -> None:
        if any(added.values()):
            for table in reversed(list(update.rows)):
                statement = delete(table, update.new[table])
                connection.execute(target.sql(workload, f"restore-{table}", statement))
        if gone:
            target.insert(connection, workload, update.loaded_readers(_core.Control()))

    if gone or any(added.values()):
        transaction(connection, work)
    return sum(added.values()) + (sum(update.rows.values()) if gone else 0)


def _remove(
    target: Target, workload: str, conditions: Mapping[str, str], connection: Connection
) -> int:
    removed = sum(count(connection, matching(*item)) for item in conditions.items())

    def work(connection: Connection) -> None:
        for table, condition in conditions.items():
            statement = delete(table, condition)
            connection.execute(target.sql(workload, f"left-{table}", statement))

    transaction(connection, work)
    return removed


def _on_session(target: Target, workload: str, work: Callable[[Connection], T]) -> T:
    with closing(target.connect(workload)) as session:
        return interruptible(lambda: work(session), session.cancel)
