"""Transactions: a load level and its operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

from dyno.bundle.metrics.base import Estimates, Key, Metric, Metrics, Scope

Time = Literal["p50", "p90", "p95", "p99", "p999", "max", "mean"]
TIMES: tuple[Time, ...] = get_args(Time)
Kind = Literal["response", "service"]
Wait = Literal["mean", "p50", "p99", "max"]
WAITS: tuple[Wait, ...] = get_args(Wait)
Late = Literal["p50", "p99", "max"]
LATE: tuple[Late, ...] = get_args(Late)


class Operation(Scope, names=r"oltp\.(?P<level>[^.]+)\.(?P<operation>[^.]+)"):
    """A transaction type at a level."""

    count = Metric()
    rolled_back = Metric()
    errors = Metric()
    retries = Metric()
    per_s = Metric("1/s")
    response = Metrics("ms", "response_{}_ms", TIMES)
    """Time from the intended start to completion."""
    service = Metrics("ms", "service_{}_ms", TIMES)
    """Time from sending to completion."""

    @property
    def kinds(self) -> dict[Kind, Callable[[Time], Key]]:
        """Response and service time."""
        return {"response": self.response, "service": self.service}


class Level(Scope, names=r"oltp\.(?P<level>[^.]+)"):
    """A load level, in its measured time."""

    seconds = Metric("s")
    tps = Metric("1/s")
    """Commits and prescribed rollbacks per second."""
    per_min = Metrics[str]("1/min", "{}_per_min")
    """Committed main operations, by plural name: ``per_min("new_orders")``."""
    transactions = Metric()
    errors = Metric()
    retries = Metric()
    error_percent = Metric("%")
    paced_percent = Metric("%")
    """Share of the maximum main operations possible with keying and think times."""

    variation_percent = Metric("%")
    trend_percent = Metric("%")
    judged_window_s = Metric("s")
    """Minimum window that MSER-5 can evaluate."""
    mser_discard_percent = Metric("%")
    mser_bias_percent = Metric("%")
    left_out_s = Metric("s")
    """Measured time before throughput was steady."""

    connections_lost = Metric()
    silent_s = Metric("s")
    silence_expected = Metric()
    """Expected transactions in the longest stall."""
    checkpoints = Metric()
    checkpoint_interval_s = Metric("s")
    """Maximum time between checkpoints, from the server settings."""
    apart_s = Metric("s")
    """Time between the first and last measurement start of the databases."""

    client_cpu_s = Metric("s")
    client_cpu_percent = Metric("%")
    client_cpu_ms_per_1000 = Metric("ms")
    client_thread_percent = Metric("%")
    """Utilization of the busiest driver thread."""
    lag_p99_ms = Metric("ms")
    """Driver lag for starts with a free session."""
    client_cpu_worst_percent = Metric("%")
    client_cpu_worst_at_s = Metric("s")
    client_thread_worst_percent = Metric("%")
    client_thread_worst_at_s = Metric("s")
    lag_p99_worst_ms = Metric("ms")
    lag_p99_worst_at_s = Metric("s")
    late_worst_percent = Metric("%")
    late_worst_at_s = Metric("s")
    behind_ms = Metric("ms")
    """Largest delay of work that the workload schedules itself."""
    lost = Metric()
    """Pieces of work that the workload schedules itself and that were lost."""
    schedule_late = Metrics("ms", "schedule_late_{}_ms", LATE)
    """How much later than in the log statements were sent, for any reason."""
    scheduled = Metric()
    late = Metric()
    unsent = Metric()
    stuck = Metric()
    reconnects = Metric()
    gone = Metric()
    writer_busy_percent = Metric("%")
    writer_wait = Metrics("ms", "writer_wait_{}_ms", WAITS)
    page_hit_percent = Metric("%")
    """Share of the pages that the sessions' own caches held."""
    page_reads_per_s = Metric("1/s")
    page_writes_per_s = Metric("1/s")
    page_spills_per_s = Metric("1/s")
    """Pages written before their transaction ended, for lack of memory."""
    page_cache_bytes = Metric("B")
    """Largest memory of all sessions' page caches together."""

    def __init__(self, name: str | None) -> None:
        super().__init__(f"oltp.{name}")

    def operation(self, name: str) -> Operation:
        """Returns the scope of a transaction type."""
        return Operation(f"{self}.{name}")

    def operations(self, known: Estimates) -> list[str]:
        """Returns the transaction types that occurred."""
        return known.between(f"{self}.", Operation.per_s)
