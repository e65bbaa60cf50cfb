"""Transactions at one load level."""

from __future__ import annotations

from dyno.bundle.detail import Detail, Int, Many, Number, Pair, Part
from dyno.bundle.replayed import LOOP, Replayed


class Loop(Part):
    """How transactions start.

    Attributes:
        kind: ``closed``: when a user is ready; ``open``: at a rate; ``log``: as in a log.
        think: Closed: whether users apply the keying and think times of the workload.
        rate_per_s: Open: transactions per second, or points of seconds and rate, with linear
            interpolation.
        poisson: Open: whether the gaps between starts are random or even.
        speed: Log: how much faster than in the log.
    """

    kind: str | None = None
    think: bool | None = None
    rate_per_s: Number | Many[Pair[Number]] | None = None
    poisson: bool | None = None
    speed: Number | None = None


class Times(Part):
    """Mean and percentiles, ms."""

    mean: Number | None = None
    p50: Number | None = None
    p90: Number | None = None
    p95: Number | None = None
    p99: Number | None = None
    p999: Number | None = None
    max: Number | None = None


class Operation(Part):
    """Results of an operation in the measured time.

    Attributes:
        done: Committed transactions.
        rolled_back: Prescribed rollbacks.
        errors: Failed transactions, by error class.
        retries: Retries, by class of the preceding error.
        response_ms: Time from the intended start to completion.
        service_ms: Time from sending to completion.
    """

    done: Int | None = None
    rolled_back: Int | None = None
    errors: dict[str, Int] | None = None
    retries: dict[str, Int] | None = None
    response_ms: Times | None = None
    service_ms: Times | None = None


class Peak(Part):
    """The worst value of a metric over parts of the window.

    Attributes:
        value: Value of that part.
        at_s: Its start, s from the start of the measured time.
        seconds: Its length.
    """

    value: Number | None = None
    at_s: Number | None = None
    seconds: Number | None = None


class Worst(Part):
    """The driver in its busiest part.

    Attributes:
        client_cpu: CPU time share of the threads.
        thread_utilisation: CPU time share of the busiest thread.
        lag_p99_ms: As in the outcome.
        late: Share of scheduled transactions sent late or never.
    """

    client_cpu: Peak | None = None
    thread_utilisation: Peak | None = None
    lag_p99_ms: Peak | None = None
    late: Peak | None = None


class Writer(Part):
    """The write lock of a single-writer system.

    Attributes:
        busy_share: Share of the window in which a transaction held the lock.
        wait_ms: Wait time of transactions for the lock.
    """

    busy_share: Number | None = None
    wait_ms: Times | None = None


class PageCache(Part):
    """The page caches of an embedded database's sessions, in pages.

    Attributes:
        hits: Pages that were in the cache of their session.
        misses: Pages that were not, and were read.
        writes: Pages written to the log or the file.
        spills: Those of them written before their transaction ended, because the cache was full.
        bytes_max: Largest memory of all caches together, bytes.
    """

    hits: Number | None = None
    misses: Number | None = None
    writes: Number | None = None
    spills: Number | None = None
    bytes_max: Number | None = None


class Outcome(Part):
    """The final driver result (``dyno_drive::Outcome``); for several databases the total.

    Attributes:
        seconds: Length of the window.
        ops: Results by operation; the total of several databases has none.
        tps: Transactions per second.
        new_orders_per_min: New orders per minute, without rollbacks.
        client_cpu_s: CPU time of the driver.
        client_cpu_ms_per_1000: CPU time of the driver per 1,000 transactions.
        thread_utilisation_max: Share of the window that the busiest thread spent on a CPU.
        lag_p99_ms: Lag caused by the driver itself.
        scheduled: Scheduled transactions; None in a closed loop.
        late: Transactions without a free session at their scheduled start.
        unsent: Scheduled transactions that were never sent.
        carried_over: Transactions scheduled in the warm-up and not completed in it.
        unfinished: Transactions in progress when the window closed.
        stuck: Unfinished transactions that the driver abandoned.
        reconnects: Number of reconnects.
        gone: Users without a connection at the end.
        errors_first: The first message of each error class.
        threads: Number of driver threads.
        worst: The driver in its busiest part.
        writer: Write lock of a single-writer system that reports it.
        page_cache: Page caches of an embedded database.
        behind_ms: Largest delay of work that the workload schedules itself; None if it has none.
        lost: Pieces of such work that were lost; None if it has none.
        schedule_late_ms: How much later than scheduled the statements of a log were sent.
        yields: Whether the driver threads yield to the server processes.
    """

    seconds: Number | None = None
    ops: dict[str, Operation] | None = None
    tps: Number | None = None
    new_orders_per_min: Number | None = None
    client_cpu_s: Number | None = None
    client_cpu_ms_per_1000: Number | None = None
    thread_utilisation_max: Number | None = None
    lag_p99_ms: Number | None = None
    scheduled: Number | None = None
    late: Number | None = None
    unsent: Number | None = None
    carried_over: Number | None = None
    unfinished: Number | None = None
    stuck: Number | None = None
    reconnects: Number | None = None
    gone: Number | None = None
    errors_first: dict[str, str] | None = None
    threads: Number | None = None
    worst: Worst | None = None
    writer: Writer | None = None
    page_cache: PageCache | None = None
    behind_ms: Number | None = None
    lost: Number | None = None
    schedule_late_ms: Times | None = None
    yields: bool | None = None


class Checkpoints(Part):
    """Checkpoints in the measured time.

    Attributes:
        count: Number of checkpoint starts.
        interval_s: Usual checkpoint interval of the server.
        setting: The server setting of the interval.
        source: Source of the count.
    """

    count: Number | None = None
    interval_s: Number | None = None
    setting: str | None = None
    source: str | None = None


class UntilSteady(Part):
    """A level that runs until it is steady.

    Attributes:
        limit_s: Maximum duration.
        asked_s: Required length of the steady part.
        settled: Whether the level became steady.
        left_out_s: Time outside the steady part: before it, and after the last interval that all
            databases have.
    """

    limit_s: Number | None = None
    asked_s: Number | None = None
    settled: bool | None = None
    left_out_s: Number | None = None


class OltpDetail(Detail):
    """A load level.

    Attributes:
        level: Its name, as in its table ``ops/<level>``.
        users: Number of concurrent sessions; with several databases the total.
        users_each: Sessions per database, with several databases.
        warehouses: Number of warehouses; with several databases the total.
        scale: Scale of data without warehouses.
        days: Initial days of the data; None for a workload without.
        mode: Where transactions are programmed: ``client`` or ``procedure``.
        loop: How transactions start.
        home: Home warehouse of a user: ``fixed``, ``random`` or ``all``.
        warmup_s: Time before the measured time.
        duration_s: Measured time that counts.
        seed: Seed of the random numbers of the users.
        reconnect_s: How long a user retries a lost connection.
        window: Number of the window at this load, if a search repeated it.
        label: Tells levels of a run with the same load apart.
        databases: Number of concurrent databases, if this is their total.
        part_of: The total level, if this is one of several databases.
        outcome: The final driver result.
        apart_s: Time between the first and last measurement start of the databases.
        checkpoints: Checkpoints of a target that counts them.
        until_steady: Result of a level that runs until it is steady.
        replayed: The log that was replayed, if any.
    """

    level: str | None = None
    users: Number | None = None
    warehouses: Number | None = None
    scale: Number | None = None
    days: Int | None = None
    mode: str | None = None
    loop: Loop | None = None
    home: str | None = None
    warmup_s: Number | None = None
    duration_s: Number | None = None
    seed: Int | None = None
    reconnect_s: Number | None = None
    window: Int | None = None
    users_each: Int | None = None
    label: str | None = None
    databases: Int | None = None
    part_of: str | None = None
    outcome: Outcome | None = None
    apart_s: Number | None = None
    checkpoints: Checkpoints | None = None
    until_steady: UntilSteady | None = None
    replayed: Replayed | None = None

    @property
    def is_replay(self) -> bool:
        """Whether statements start as in a log."""
        return self.loop is not None and self.loop.kind == LOOP

    @property
    def size(self) -> Number | None:
        """Scale of the data, in the unit of the workload."""
        return self.scale if self.warehouses is None else self.warehouses

    @property
    def rate_per_s(self) -> Number | tuple[tuple[Number, Number], ...] | None:
        """Rate of an open loop."""
        return self.loop.rate_per_s if self.loop else None

    @property
    def is_open(self) -> bool:
        """Whether transactions start at a rate, independent of completions."""
        return self.loop is not None and self.loop.kind == "open"

    @property
    def thinks(self) -> bool | None:
        """Whether users apply keying and think times; None if unknown."""
        return self.loop.think if self.loop else None


DETAIL = OltpDetail
