"""The Python API of Dyno: ``dyno.run``, ``dyno.load`` and ``dyno.open``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dyno.bundle.model import Estimate, Outcome, Reason
from dyno.bundle.reader import Bundle
from dyno.errors import TargetError
from dyno.plans.fields import made
from dyno.plans.loading import LoadingPlan
from dyno.plans.run import RunPlan
from dyno.runner.events import Events, SilentEvents

if TYPE_CHECKING:
    import pyarrow as pa

    from dyno.runner.session import Job


def run(workload: str, *, target: str, events: Events | None = None, **options: Any) -> Run:
    """Runs a workload on a target, as ``dyno run`` does.

    Args:
        workload: ``tpch`` or ``tpcc``.
        target: URL of the database, or ``embedded:NAME``.
        events: Receives phases, progress and messages. Default: no receiver.
        **options: The options of ``dyno run`` (:class:`dyno.plans.RunPlan`), with ``_`` for ``-``:
            ``users=[1, 8]``, ``duration="60s"``, ``out="runs"``. Repeatable options take a list.
            ``settings={"memory": "4GB"}`` is ``--set``; ``limits={"cpu": 2}`` is ``--limit``.

    Returns:
        The run. Its results count if its verdict is ``valid``.

    Raises:
        UsageError: If an option is unknown or invalid, or the target does not support it.
        TargetError: If the target cannot be used or is lost. A note names the bundle, if there is
            one.
        KeyboardInterrupt: If the user stops the run. The bundle is still closed.
    """
    from dyno.runner.run import job

    plan = made(RunPlan, {"workload": workload, "target": target, **options})
    return _done(job(plan), events)


def load(
    workload: str, *, target: str, scale: float, events: Events | None = None, **options: Any
) -> Run:
    """Loads and verifies the data of a workload, as ``dyno load`` does.

    Args:
        workload: ``tpch`` or ``tpcc``.
        target: URL of the database, or ``embedded:NAME``.
        scale: Scale factor, or number of warehouses.
        events: Receives phases, progress and messages. Default: no receiver.
        **options: The options of ``dyno load`` (:class:`dyno.plans.LoadingPlan`), written as for
            :func:`run`: ``streams=4``, ``replace=True``, ``layout="partitioned-8"``.

    Returns:
        The run. Its estimates contain the load rates.

    Raises:
        UsageError: If an option is unknown or invalid, or existing tables would be replaced.
        TargetError: If the target cannot be used or is lost.
        DiskFullError: If there is not enough disk space.
        KeyboardInterrupt: If the user stops the load.
    """
    from dyno.runner.load import job

    plan = made(LoadingPlan, {"workload": workload, "target": target, "scale": scale, **options})
    return _done(job(plan), events)


def open(path: str | Path) -> Run:  # noqa: A001
    """Opens the bundle in the folder ``path`` as a run. Needs no database.

    Raises:
        UsageError: If the folder is not a bundle, is damaged, or was written by a newer Dyno.
    """
    return Run(Bundle.open(Path(path).expanduser().absolute()))


def _done(job: Job, events: Events | None) -> Run:
    """Runs a job.

    Raises:
        DynoError: If the job fails or its results cannot be analysed.
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
    """A recorded run. Each access reads the tables from the bundle again.

    Attributes:
        bundle: The run record: ``bundle.run`` holds the plan, the host, the targets and the phases.
    """

    bundle: Bundle

    @property
    def id(self) -> str:
        """The name of the run and of its folder under ``out``."""
        return self.bundle.run.run

    @property
    def path(self) -> Path:
        """The bundle folder."""
        return self.bundle.path

    @property
    def verdict(self) -> Outcome | None:
        """``valid``, ``disturbed`` or ``invalid``; None if the run was killed before that."""
        return self.bundle.run.validity.verdict

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """The reasons for the verdict; each has ``code``, ``message``, ``kind`` and ``phase``."""
        return self.bundle.run.validity.reasons

    @cached_property
    def estimates(self) -> dict[str, Estimate]:
        """The metrics of the run by name, such as ``oltp.users-8.tps``.

        Each has a ``value``, its ``unit``, the interval bounds ``low`` and ``high`` (None where no
        interval is available), and the ``source``: the formula or the source file.

        Raises:
            UsageError: If the estimates file is damaged.
        """
        return {one.name: one for one in self.bundle.estimates()}

    def operations(self) -> pa.Table:
        """Transactions: one row per interval, load level and operation.

        Columns: ``level`` (text, such as ``users-8``), ``t_ns`` (start of the interval, nanoseconds
        since the Unix epoch), ``seconds`` (its length), ``phase`` (``warmup``, ``measure`` …),
        ``op`` (transaction name), ``done`` and ``rolled_back`` (counts), ``errors`` and ``retries``
        (JSON text: counts by class), ``response`` and ``service`` (histograms in nanoseconds, HDR
        V2, deflated, base64; empty if no transaction completed). Intervals without completed
        transactions have zero counts. A run without transactions has no rows.

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
        """Probe samples at 1 Hz: one row per probe, subject and metric.

        Columns: ``t_ns`` (nanoseconds since the Unix epoch), ``source`` (the probe), ``subject``
        (device, CPU, process …), ``metric``, ``value`` (a number in ``unit``), ``unit``.

        Raises:
            UsageError: If the file is damaged.
        """
        return self.bundle.table("samples")

    def queries(self) -> pa.Table:
        """Decision-support queries: one row per timed execution.

        Columns: ``t_ns`` and ``end_ns`` (nanoseconds since the Unix epoch), ``stream`` (0: power
        test; 1 and up: concurrent streams; -1: refresh functions), ``position`` (in the stream),
        ``query``, ``target``, ``parameters`` (JSON text), ``rows``, ``digest`` (of the answer),
        ``seconds``, ``error`` and ``error_kind`` (empty without an error), ``bytes_read``,
        ``temp_bytes`` and ``peak_memory_bytes`` (bytes; null if the engine does not report them),
        ``meter`` (JSON text: the sources of these three), and beside transactions ``freshness_ms``
        and ``newest_age_ms`` (``docs/ch.md``). A run without queries has no rows.

        Raises:
            UsageError: If the file is damaged.
        """
        return self.bundle.table("queries")

    def io(self) -> pa.Table:
        """A storage profile: one row per step and job.

        Columns: ``t_ns`` (start, nanoseconds since the Unix epoch), ``seconds`` (measured),
        ``volume``, ``arm``, ``stage``, ``repeat``, ``phase``, ``level``, ``purpose`` and ``job``
        (identify the step), ``pattern``, ``block_bytes``, ``read_percent``, ``queue_depth`` and
        ``rate`` (I/Os per second, or null) for the load, ``reads``, ``writes`` and ``syncs``
        (counts), ``read_bytes`` and ``write_bytes``, ``late`` and ``unissued`` (I/Os of an open
        loop), ``errors`` (JSON text), five histograms in nanoseconds (HDR V2, deflated, base64),
        ``in_flight_mean`` (I/Os), ``inside_ceiling`` (true or false), ``thread_percent`` (CPU of
        the busiest I/O thread). A run without a profile has no rows.

        Raises:
            UsageError: If the file is damaged.
        """
        return self.bundle.table("io")
