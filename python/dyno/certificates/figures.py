"""The figures of a certificate, as recorded in it."""

from __future__ import annotations

from dyno.bundle.model import Model
from dyno.contracts.layout import Form


class Cost(Model):
    """Price and power of one unit.

    Attributes:
        unit: ``TPS``, ``Q/h/TB (row)`` …
        per: The number of units that the configuration delivers.
        price: Price of a unit, in the currency of the bill.
        watts: Power of a unit, in W; None if the bill names no power.
    """

    unit: str
    per: float
    price: float
    watts: float | None = None


class Rates(Model):
    """An interval.

    Attributes:
        test: ``rate`` (warm cache, one user), a query class, or ``combined``.
        seconds: Length of the window.
        physical_mbps: Reads of the devices under the data; ``physical_peak_mbps`` in one second.
        logical_mbps: Reads through the buffer manager; None if the engine does not count them.
        measured_mbps: Mean of the physical and the logical rate.
        cpu_percent: Utilisation of all CPUs.
        mbps_per_core: Logical MB per second of CPU time of the database.
    """

    test: str
    users: int
    seconds: float
    completed: int
    queries_per_h: float
    queries_per_h_per_tb: float | None = None
    physical_mbps: float | None = None
    physical_peak_mbps: float | None = None
    logical_mbps: float | None = None
    measured_mbps: float | None = None
    cpu_percent: float | None = None
    mbps_per_core: float | None = None


class FormFigures(Model):
    """The tests of one target.

    Attributes:
        form: How the target stores the tables.
        data_tb: User data, as rows of text.
        stored_tb: The same with indexes, on storage; None if the target does not report it.
        memory_tb: Memory that could cache it.
        compression: ``data_tb`` / ``stored_tb``.
        in_memory: Whether the stored data is less than a multiple of that memory.
        rate: One user with a warm cache: the maximum consumption rate.
        classes: The concurrent tests of each query class.
        combined: The concurrent test of all classes: the benchmark.
        relative_percent: Combined throughput against the reference.
        maximum_tb: Maximum user data capacity with this compression.
        notes: Why figures are missing.
    """

    form: Form
    target: str
    version: str
    scale: float
    data_tb: float
    stored_tb: float | None = None
    memory_tb: float | None = None
    compression: float | None = None
    in_memory: bool = False
    rate: Rates | None = None
    classes: tuple[Rates, ...] = ()
    combined: Rates
    relative_percent: float | None = None
    maximum_tb: float | None = None
    notes: tuple[str, ...] = ()


class Figures(Model):
    """All figures of a certificate.

    Attributes:
        marks: What restricts their use: ``quick``, ``in memory``, ``disturbed`` …, with the reason.
        usable_tb: Space under the data.
        temp_share, free_share: Shares of it that the capacities leave out.
        assumptions: What was not measured.
        maximum_tb, rated_tb: Capacities of user data.
        tps: Transactions per second of the run ``tps_run``.
        price, watts: Totals of the bill of materials.
    """

    forms: tuple[FormFigures, ...]
    marks: dict[str, str]
    usable_tb: float | None = None
    temp_share: float
    free_share: float
    assumptions: tuple[str, ...] = ()
    maximum_tb: float | None = None
    rated_tb: float | None = None
    tps: float | None = None
    tps_run: str = ""
    price: float | None = None
    watts: float | None = None
    costs: tuple[Cost, ...] = ()
