"""Transactions at a level of load."""

from __future__ import annotations

from dyno.bundle.detail import Detail, Int, Many, Number, Pair, Part


class Loop(Part):
    """How transactions are started.

    Attributes:
        kind: ``closed``: as users get ready; ``open``: at a rate.
        think: Closed: whether users key and think as the workload prescribes.
        rate_per_s: Open: transactions a second, or points of seconds and rate joined by lines.
        poisson: Open: whether gaps between starts are random; else they are even.
    """

    kind: str | None = None
    think: bool | None = None
    rate_per_s: Number | Many[Pair[Number]] | None = None
    poisson: bool | None = None


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
    """What became of an operation in the measured time.

    Attributes:
        done: Transactions committed.
        rolled_back: Those that are to roll back, and did.
        errors: Failed, by class.
        retries: Sent again, by class of what failed before.
        response_ms: From the intended start to the end.
        service_ms: From the send to the end.
    """

    done: Int | None = None
    rolled_back: Int | None = None
    errors: dict[str, Int] | None = None
    retries: dict[str, Int] | None = None
    response_ms: Times | None = None
    service_ms: Times | None = None


class Peak(Part):
    """A figure in the part of the window in which it is worst.

    Attributes:
        value: Of that part.
        at_s: When it begins, s from the start of the measured time.
        seconds: How long it is.
    """

    value: Number | None = None
    at_s: Number | None = None
    seconds: Number | None = None


class Worst(Part):
    """The driver where it had most to do.

    Attributes:
        client_cpu: Share of the threads' time on a processor.
        thread_utilisation: That of the busiest thread.
        lag_p99_ms: As in the outcome.
        late: Share of what was due that was sent late or never.
    """

    client_cpu: Peak | None = None
    thread_utilisation: Peak | None = None
    lag_p99_ms: Peak | None = None
    late: Peak | None = None


class Writer(Part):
    """The one right to write of a system that has but one.

    Attributes:
        busy_share: Share of the window that some transaction had it.
        wait_ms: How long transactions waited for it.
    """

    busy_share: Number | None = None
    wait_ms: Times | None = None


class Outcome(Part):
    """What the driver told at its end (``dyno_drive::Outcome``); of several databases the sum.

    Attributes:
        seconds: Length of the window.
        ops: By operation; a sum of several databases has none.
        tps: Transactions a second.
        new_orders_per_min: New orders a minute, rollbacks left out.
        client_cpu_s: CPU time of the driver.
        client_cpu_ms_per_1000: The same for 1,000 transactions.
        thread_utilisation_max: Share of the window that the busiest thread was on a processor.
        lag_p99_ms: How late the driver itself was.
        scheduled: Transactions due; None in a closed loop.
        late: Those that found no free session when they were due.
        unsent: Those never sent.
        carried_over: Those due in the warm-up that had not ended in it.
        unfinished: Under way when the window closed.
        stuck: Those of them that the driver no longer waited for.
        reconnects: Connections made again.
        gone: Users without a connection at the end.
        errors_first: The first message of each class of error.
        threads: Driver threads.
        worst: The driver where it had most to do.
        writer: Of a system with one writer that tells.
        yields: Whether the driver gave way to the server's processes.
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
    yields: bool | None = None


class Checkpoints(Part):
    """Checkpoints in the measured time.

    Attributes:
        count: How many began.
        interval_s: The server's usual time from one to the next.
        setting: Its setting for that.
        source: Where the count is from.
    """

    count: Number | None = None
    interval_s: Number | None = None
    setting: str | None = None
    source: str | None = None


class UntilSteady(Part):
    """A level that was to go on until it was steady.

    Attributes:
        limit_s: At most so long.
        asked_s: How long a stretch was to be steady.
        settled: Whether one was.
        left_out_s: What came before it.
    """

    limit_s: Number | None = None
    asked_s: Number | None = None
    settled: bool | None = None
    left_out_s: Number | None = None


class OltpDetail(Detail):
    """A level of load.

    Attributes:
        level: Its name, as of its table ``ops/<level>``.
        users: Sessions at once; of several databases in all of them.
        users_each: In each of several databases.
        warehouses: Of the data; of several databases in all of them.
        scale: Of data that is not counted in warehouses.
        mode: Where transactions are programmed: ``client`` or ``procedure``.
        loop: How they are started.
        home: Whose warehouse a user works for: ``fixed``, ``random`` or ``all``.
        warmup_s: Time before the measured time.
        duration_s: Measured time that counts.
        seed: Of the users' random numbers.
        reconnect_s: How long a user tries to get a lost connection back.
        window: Which window at this load, where a search measured one again.
        databases: How many are driven at once, if this is their sum.
        part_of: The level that is the sum, if this is one of several databases.
        outcome: What the driver told at its end.
        apart_s: From the first start of a database's measurement to the last.
        checkpoints: Of a target that counts them.
        until_steady: Of a level that was to go on until it was steady.
    """

    level: str | None = None
    users: Number | None = None
    warehouses: Number | None = None
    scale: Number | None = None
    mode: str | None = None
    loop: Loop | None = None
    home: str | None = None
    warmup_s: Number | None = None
    duration_s: Number | None = None
    seed: Int | None = None
    reconnect_s: Number | None = None
    window: Int | None = None
    users_each: Int | None = None
    databases: Int | None = None
    part_of: str | None = None
    outcome: Outcome | None = None
    apart_s: Number | None = None
    checkpoints: Checkpoints | None = None
    until_steady: UntilSteady | None = None

    @property
    def size(self) -> Number | None:
        """Scale of the data, in the workload's own unit."""
        return self.scale if self.warehouses is None else self.warehouses

    @property
    def rate_per_s(self) -> Number | tuple[tuple[Number, Number], ...] | None:
        """Of an open loop."""
        return self.loop.rate_per_s if self.loop else None

    @property
    def is_open(self) -> bool:
        """Whether transactions start at a rate, whether or not answers have come."""
        return self.loop is not None and self.loop.kind == "open"

    @property
    def thinks(self) -> bool | None:
        """Whether users key and think; None if that is not told."""
        return self.loop.think if self.loop else None


DETAIL = OltpDetail
