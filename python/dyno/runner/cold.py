"""Cache state at the start of a query test, and the evidence for it.

``warm``: every query ran once before. ``first``: no warm-up pass, caches unchanged. ``cold``:
caches proven empty before the test. ``cold-each-query``: proven empty before each query.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Generator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from dyno import workloads
from dyno.bundle.phases.provision import ProvisionDetail
from dyno.contracts.cold import Coolable, Emptied
from dyno.errors import UsageError
from dyno.host.pagecache import files_under, resident_bytes
from dyno.plans.queries import EACH

if TYPE_CHECKING:
    from dyno.contracts.target import Connection, Target
    from dyno.runner.session import Session
    from dyno.stages.drive import PowerPlan


@contextlib.contextmanager
def start_cold(
    session: Session, target: Target, plan: PowerPlan, cache: str
) -> Generator[PowerPlan]:
    """Empties the caches as ``cache`` requires, records the proof and yields the plan to run.

    Raises:
        TargetError: If the caches cannot be proven empty.
    """
    if not cache.startswith("cold"):
        yield plan
        return
    if cache != EACH:
        _once(session, target, plan.workload)
        yield plan
        return
    each = _Each(session, target, plan.workload)
    try:
        yield replace(plan, before_query=each)
    finally:
        each.record()


def _once(session: Session, target: Target, workload: str) -> None:
    name, title = f"cold-{workload}-{target.name}", f"Drop the caches of {target.name}"
    with (
        session.recorder.phase(name, title, ProvisionDetail(), target.name) as phase,
        session.events.phase(title),
    ):
        emptied = _cool(session, target)
        after = resident_bytes(files_under(target.data_paths()))
        phase.detail = _proof(emptied)(workload=workload, after_start_bytes=after)


class _Each:
    """Empties the caches before each query and keeps the worst proof."""

    def __init__(self, session: Session, target: Target, workload: str) -> None:
        self._session, self._target, self._workload = session, target, workload
        self._done: list[Emptied] = []
        self._seconds = 0.0

    def __call__(self, connection: Connection) -> Connection:
        start = time.monotonic()
        connection.close()
        self._done.append(_cool(self._session, self._target))
        connection = self._target.connect(workloads.place_of(self._workload))
        self._seconds += time.monotonic() - start
        return connection

    def record(self) -> None:
        """Writes the worst proof to the bundle."""
        if not self._done:
            return
        worst = max(self._done, key=lambda emptied: emptied.left_share)
        name = f"cold-each-{self._workload}-{self._target.name}"
        title = f"Caches of {self._target.name} dropped before each query"
        proof = _proof(worst)(workload=self._workload, times=len(self._done), seconds=self._seconds)
        with self._session.recorder.phase(name, title, proof, self._target.name):
            pass


def _proof(emptied: Emptied) -> partial[ProvisionDetail]:
    return partial(
        ProvisionDetail,
        files=emptied.files,
        bytes=emptied.bytes,
        before_bytes=emptied.before_bytes,
        left_bytes=emptied.left_bytes,
        how=emptied.how,
        file_system=emptied.file_system,
        left_share=emptied.left_share,
    )


def _cool(session: Session, target: Target) -> Emptied:
    if not isinstance(target, Coolable):
        raise UsageError(f"{target.name} cannot start cold.")
    emptied = target.cool()
    session.watch(target)
    return emptied
