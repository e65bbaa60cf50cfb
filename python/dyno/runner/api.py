"""Dyno from Python: ``dyno.run``, ``dyno.load`` and ``dyno.open``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dyno.bundle.model import Estimate, Outcome, Reason
from dyno.bundle.reader import Bundle
from dyno.errors import TargetError
from dyno.plans import LoadingPlan, RunPlan, made
from dyno.runner.events import Events, SilentEvents

if TYPE_CHECKING:
    import pyarrow as pa

    from dyno.runner.session import Job


def run(workload: str, *, target: str, events: Events | None = None, **options: Any) -> Run:
    """Runs a workload on a target, as ``dyno run`` does.

    Args:
        workload: ``tpch`` or ``tpcc``.
        target: URL of the database, or ``embedded:NAME``.
        events: Who hears of phases, progress and messages; nobody unless given.
        **options: The options of ``dyno run`` (:class:`dyno.plans.RunPlan`), with ``_`` for ``-``:
            ``users=[1, 8]``, ``duration="60s"``, ``out="runs"``. Those that are repeated take a
            list. ``settings={"memory": "4GB"}`` stands for ``--set``, ``limits={"cpu": 2}`` for
            ``--limit``.

    Returns:
        The run; what it measured counts if its verdict is ``valid``.

    Raises:
        UsageError: If an option is unknown or cannot be, or the target cannot do it.
        TargetError: If the target cannot be used, or is lost; a note names the bundle, if one was
            begun.
        KeyboardInterrupt: If the user stops it; its bundle is closed all the same.
    """
    from dyno.runner.run import job

    plan = made(RunPlan, {"workload": workload, "target": target, **options})
    return _done(job(plan), events)


def load(
    workload: str, *, target: str, scale: float, events: Events | None = None, **options: Any
) -> Run:
    """Loads a workload's data into a target and proves it, as ``dyno load`` does.

    Args:
        workload: ``tpch`` or ``tpcc``.
        target: URL of the database, or ``embedded:NAME``.
        scale: Scale factor, or warehouses.
        events: Who hears of phases, progress and messages; nobody unless given.
        **options: The options of ``dyno load`` (:class:`dyno.plans.LoadingPlan`), as of
            :func:`run`: ``streams=4``, ``replace=True``, ``layout="partitioned-8"``.

    Returns:
        The run; its estimates have the rates of the load.

    Raises:
        UsageError: If an option is unknown or cannot be, or tables would have to be replaced.
        TargetError: If the target cannot be used, or is lost.
        DiskFullError: If there is no room for it.
        KeyboardInterrupt: If the user stops it.
    """
    from dyno.runner.load import job

    plan = made(LoadingPlan, {"workload": workload, "target": target, "scale": scale, **options})
    return _done(job(plan), events)


def open(path: str | Path) -> Run:  # noqa: A001
    """The run whose bundle is the folder ``path``; no database is needed.

    Raises:
        UsageError: If it is no bundle, damaged, or of a newer Dyno.
    """
    return Run(Bundle.open(Path(path).expanduser().absolute()))


def _done(job: Job, events: Events | None) -> Run:
    """Does a job.

    Raises:
        DynoError: What ended it, or that it could not be analysed.
    """
    from dyno.runner.session import run_session

    ended = run_session(job, events or SilentEvents())
    if ended.failure is not None:
        ended.failure.add_note(f"The bundle of the run is {ended.path}.")
        raise ended.failure
    if ended.unanalysed:
        raise TargetError(
            f"The run was recorded but could not be closed and analysed ({ended.unanalysed}). "
            f"Its bundle is {ended.path}."
        )
    return open(ended.path)


@dataclass(frozen=True)
class Run:
    """A recorded run. Tables are read from its bundle each time that they are asked for.

    Attributes:
        bundle: Its record: ``bundle.run`` has the plan, the host, the targets and the phases.
    """

    bundle: Bundle

    @property
    def id(self) -> str:
        """Its name, which is that of its folder under ``out``."""
        return self.bundle.run.run

    @property
    def path(self) -> Path:
        """The folder of its bundle."""
        return self.bundle.path

    @property
    def verdict(self) -> Outcome | None:
        """``valid``, ``disturbed`` or ``invalid``; None if it was killed before it was judged."""
        return self.bundle.run.validity.verdict

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """Why it is not valid; each has a ``code``, a ``message``, a ``kind`` and its ``phase``."""
        return self.bundle.run.validity.reasons

    @cached_property
    def estimates(self) -> dict[str, Estimate]:
        """Its figures by name, as ``oltp.users-8.tps``.

        Each has a ``value``, its ``unit``, the bounds ``low`` and ``high`` of an interval where one
        can be given (else None), and the ``source``: the formula, or the file that it is from.

        Raises:
            UsageError: If their file is damaged.
        """
        return {one.name: one for one in self.bundle.estimates()}

    def operations(self) -> pa.Table:
        """Transactions: a row each interval, level of load and operation.

        Columns: ``level`` (text, as ``users-8``), ``t_ns`` (start of the interval, nanoseconds
        since the Unix epoch), ``seconds`` (its length), ``phase`` (``warmup``, ``measure`` …),
        ``op`` (name of the transaction), ``done`` and ``rolled_back`` (counts), ``errors`` and
        ``retries`` (JSON text: counts by class), ``response`` and ``service`` (histograms of
        nanoseconds, HDR V2, deflated, base64; empty where nothing ended). Intervals in which
        nothing ended are there with zeros; no rows if the run had no transactions.

        Raises:
            UsageError: If a file is damaged.
        """
        import pyarrow as pa

        from dyno.bundle.tables import Table

        parts: list[pa.Table] = []
        for level in self.bundle.levels():
            rows = self.bundle.table(f"ops/{level}")
            parts.append(rows.add_column(0, "level", pa.array([level] * len(rows), pa.string())))
        schema = Table.OPS.schema().insert(0, pa.field("level", pa.string()))
        return pa.concat_tables(parts) if parts else schema.empty_table()

    def samples(self) -> pa.Table:
        """What the probes saw, once a second: a row each probe, subject and metric.

        Columns: ``t_ns`` (nanoseconds since the Unix epoch), ``source`` (the probe), ``subject``
        (device, processor, process …), ``metric``, ``value`` (a number in ``unit``), ``unit``.

        Raises:
            UsageError: If the file is damaged.
        """
        return self.bundle.table("samples")

    def queries(self) -> pa.Table:
        """Queries of decision support: a row each execution that was timed.

        Columns: ``t_ns`` and ``end_ns`` (nanoseconds since the Unix epoch), ``stream`` (0: the
        power test, from 1: users at once, -1: refresh functions), ``position`` (in the stream),
        ``query``, ``target``, ``parameters`` (JSON text), ``rows``, ``digest`` (of the answer),
        ``seconds``, ``error`` and ``error_kind`` (empty if there was none), ``bytes_read``,
        ``temp_bytes`` and ``peak_memory_bytes`` (bytes; null where the engine does not tell), and
        ``meter`` (JSON text: where those three come from). No rows if the run had none.

        Raises:
            UsageError: If the file is damaged.
        """
        return self.bundle.table("queries")

    def io(self) -> pa.Table:
        """A storage profile: a row each step and job.

        Columns: ``t_ns`` (start, nanoseconds since the Unix epoch), ``seconds`` (measured),
        ``volume``, ``arm``, ``stage``, ``repeat``, ``phase``, ``level``, ``purpose`` and ``job``
        (which step), ``pattern``, ``block_bytes``, ``read_percent``, ``queue_depth`` and ``rate``
        (I/Os a second, or null) for the load, ``reads``, ``writes`` and ``syncs`` (counts),
        ``read_bytes`` and ``write_bytes``, ``late`` and ``unissued`` (I/Os of an open loop),
        ``errors`` (JSON text), five histograms of nanoseconds (HDR V2, deflated, base64),
        ``in_flight_mean`` (I/Os), ``inside_ceiling`` (true or false). No rows if there was none.

        Raises:
            UsageError: If the file is damaged.
        """
        return self.bundle.table("io")
