"""Transactions: a level of load and its operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

from dyno.bundle.metrics.base import Estimates, Key, Metric, Metrics, Scope

Time = Literal["p50", "p90", "p95", "p99", "p999", "max", "mean"]
TIMES: tuple[Time, ...] = get_args(Time)
Kind = Literal["response", "service"]
Wait = Literal["mean", "p50", "p99", "max"]
WAITS: tuple[Wait, ...] = get_args(Wait)


class Operation(Scope, names=r"oltp\.(?P<level>[^.]+)\.(?P<operation>[^.]+)"):
    """One kind of transaction at a level."""

    count = Metric()
    rolled_back = Metric()
    errors = Metric()
    retries = Metric()
    per_s = Metric("1/s")
    response = Metrics("ms", "response_{}_ms", TIMES)
    """From the intended start to the end."""
    service = Metrics("ms", "service_{}_ms", TIMES)
    """From the send to the end."""

    @property
    def kinds(self) -> dict[Kind, Callable[[Time], Key]]:
        """Both times."""
        return {"response": self.response, "service": self.service}


class Level(Scope, names=r"oltp\.(?P<level>[^.]+)"):
    """A level of load, in its measured time."""

    seconds = Metric("s")
    tps = Metric("1/s")
    """Commits and prescribed rollbacks."""
    per_min = Metrics[str]("1/min", "{}_per_min")
    """Main operations that committed, by their plural: ``per_min("new_orders")``."""
    transactions = Metric()
    errors = Metric()
    retries = Metric()
    error_percent = Metric("%")
    paced_percent = Metric("%")
    """Of the most main operations that users who key and think can reach."""

    variation_percent = Metric("%")
    trend_percent = Metric("%")
    judged_window_s = Metric("s")
    """The least window that MSER-5 can judge."""
    mser_discard_percent = Metric("%")
    mser_bias_percent = Metric("%")
    left_out_s = Metric("s")
    """Measured before throughput was steady."""

    connections_lost = Metric()
    silent_s = Metric("s")
    silence_expected = Metric()
    """Transactions to be expected in the worst stretch of silence."""
    checkpoints = Metric()
    checkpoint_interval_s = Metric("s")
    """The longest time from one checkpoint to the next, as the server is set."""
    apart_s = Metric("s")
    """From the first start of a database's measurement to the last."""

    client_cpu_s = Metric("s")
    client_cpu_percent = Metric("%")
    client_cpu_ms_per_1000 = Metric("ms")
    client_thread_percent = Metric("%")
    """How busy the driver's busiest thread was."""
    lag_p99_ms = Metric("ms")
    """How late the driver was with starts that had a session free."""
    client_cpu_worst_percent = Metric("%")
    client_cpu_worst_at_s = Metric("s")
    client_thread_worst_percent = Metric("%")
    client_thread_worst_at_s = Metric("s")
    lag_p99_worst_ms = Metric("ms")
    lag_p99_worst_at_s = Metric("s")
    late_worst_percent = Metric("%")
    late_worst_at_s = Metric("s")
    scheduled = Metric()
    late = Metric()
    unsent = Metric()
    stuck = Metric()
    reconnects = Metric()
    gone = Metric()
    writer_busy_percent = Metric("%")
    writer_wait = Metrics("ms", "writer_wait_{}_ms", WAITS)

    def __init__(self, name: str | None) -> None:
        super().__init__(f"oltp.{name}")

    def operation(self, name: str) -> Operation:
        """One of its kinds of transactions."""
        return Operation(f"{self}.{name}")

    def operations(self, known: Estimates) -> list[str]:
        """Those that occurred."""
        return known.between(f"{self}.", Operation.per_s)
