"""What was measured, as sizing uses it, and the inputs of a sizing with their sources."""

from __future__ import annotations

from dataclasses import dataclass

PUBLISHED_SHARE = {"oltp": 0.78, "dss": 0.86}
"""The database's share of the profiled rate: 3,287 of 4,175 IOPS, and MB/s of queries, as published
for disk arrays; the default where nothing was measured."""


@dataclass(frozen=True)
class Input:
    """An input of a sizing.

    Attributes:
        source: A run and its metric, ``asked for``, or a named assumption.
        low, high: Its 90 % interval, if any.
    """

    name: str
    value: float
    unit: str
    source: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Machine:
    """What identifies where and on what something was measured.

    Attributes:
        host: CPU model, CPUs and memory.
        database: Product and version; empty for a profile.
        scale: Workload and scale of its data; empty for a profile.
    """

    host: str
    database: str = ""
    scale: str = ""


@dataclass(frozen=True)
class Load:
    """A level of load on one server.

    Attributes:
        run, name: Its run, and its name there, such as ``users-8``.
        target: The database.
        users: Sessions.
        open: Whether transactions start at a rate.
        thinks: Whether users apply keying and think times.
        tps: Transactions per second.
        noise: Standard error of ``tps`` within the run, as a share; None if unknown.
        mean_ms: Mean response time of all operations.
        p95_ms: 95th percentile of the main operation's response time.
        cpus: CPUs that the server could use.
        cpu_s: CPU time of a transaction on the server, s; None if it was not sampled.
        cpu_of: Whose CPU time that is.
        whole_cpu_s: The same with the driver's.
        ios: Reads and writes of a transaction at the data devices; None if unknown.
        reads: Share of reads in them.
        device_s: Time that the busiest data device works on a transaction, s.
        devices: Number of data devices.
        data_tb: Data on disk, TB; None if unknown.
        read_ms, write_ms, log_ms: Mean latencies of data reads, data writes and log writes.
        bound: Whether the storage was the bottleneck; None if unknown.
    """

    run: str
    name: str
    target: str
    users: float
    open: bool
    thinks: bool
    tps: float
    noise: float | None
    mean_ms: float
    p95_ms: float
    cpus: float
    cpu_s: float | None = None
    cpu_of: str = ""
    whole_cpu_s: float | None = None
    ios: float | None = None
    reads: float | None = None
    device_s: float | None = None
    devices: int = 1
    data_tb: float | None = None
    read_ms: float | None = None
    write_ms: float | None = None
    log_ms: float | None = None

    @property
    def source(self) -> str:
        """Its run and level."""
        return f"{self.run} oltp.{self.name}"


@dataclass(frozen=True)
class Found:
    """The largest load within limits that a search found on one server.

    Attributes:
        target: The database.
        tps: Transactions per second there, with the range over its windows.
        limits: The limits.
    """

    run: str
    target: str
    tps: float
    low: float
    high: float
    limits: str


@dataclass(frozen=True)
class Queries:
    """A test of queries on one server.

    Attributes:
        run, name: Its run, and its phase there.
        target: The database.
        per_h: Completed queries per hour.
        cpu_s: CPU time of a query on the server, s.
        mb: MB (10^6 bytes) that a query reads and writes at the data devices.
    """

    run: str
    name: str
    target: str
    streams: int
    per_h: float
    cpus: float
    cpu_s: float | None = None
    mb: float | None = None
    data_tb: float | None = None

    @property
    def source(self) -> str:
        """Its run and test."""
        return f"{self.run} {self.name}"


@dataclass(frozen=True)
class Storage:
    """A profiled volume at one fill level: what sizing calls a device.

    Attributes:
        volume: Its name.
        fill: Its fill level, as a share; None if unknown.
        iops: Highest IOPS within the latency ceiling, random, of the mix nearest to the database's.
        noise: Standard error of ``iops``, as a share; None for a single window.
        reads: Share of reads in that mix.
        block: Its block size, bytes.
        metric: Its metric.
        mbps: Highest sequential read MB/s; None if not measured.
        ceiling_ms: The latency ceiling.
        size_tb: Size of the volume, TB.
        members: Physical disks under it.
        raid: RAID level; None for a plain disk.
        efficiency: Rate of several such volumes as a share of the sum of single ones; None if not
            measured.
    """

    run: str
    volume: str
    fill: float | None
    iops: float | None
    noise: float | None
    reads: float
    block: int
    metric: str
    mbps: float | None = None
    mbps_metric: str = ""
    ceiling_ms: float = 20.0
    size_tb: float | None = None
    members: int = 1
    raid: str | None = None
    efficiency: float | None = None


@dataclass(frozen=True)
class Share:
    """The database's share of the profiled rate, measured by a run and a profile.

    Attributes:
        kind: ``oltp`` for IOPS, ``dss`` for MB/s.
        value: The share.
        bound: Whether storage was the bottleneck; if not, the share is only a lower bound.
    """

    kind: str
    value: float
    bound: bool
    source: str


@dataclass(frozen=True)
class Evidence:
    """All that the runs measured."""

    loads: tuple[Load, ...] = ()
    found: tuple[Found, ...] = ()
    queries: tuple[Queries, ...] = ()
    storage: tuple[Storage, ...] = ()
    shares: tuple[Share, ...] = ()
    machines: tuple[Machine, ...] = ()
