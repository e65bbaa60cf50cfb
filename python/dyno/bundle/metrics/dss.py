"""Decision support: tests, queries, streams and refreshes per target, and target comparisons."""

from __future__ import annotations

from typing import Literal, get_args

from dyno.bundle.metrics.base import Estimates, Metric, Metrics, Scope

Test = Literal["power", "throughput"]
TESTS: tuple[Test, ...] = get_args(Test)

_TARGET = r"dss\.(?P<target>[^./]+)"
_PAIR = r"dss\.(?P<first>[^./]+)/(?P<other>[^./]+)"


class Query(Scope, names=rf"{_TARGET}\.(?P<query>[^.]+)"):
    """A query in the single-user test."""

    seconds = Metric("s")
    """Time from submission to the last row; the median of several runs."""


class Stream(Scope, names=rf"{_TARGET}\.stream-(?P<stream>\d+)"):
    """The queries of one stream."""

    done = Metric()
    failed = Metric()
    start_s = Metric("s")
    end_s = Metric("s")
    total_s = Metric("s")
    slowest_s = Metric("s")


class QueriesDatabase(Scope, names=rf"{_TARGET}\.db-(?P<database>\d+)"):
    """The throughput test of one of several databases that run it at the same time."""

    done = Metric()
    failed = Metric()
    start_s = Metric("s")
    end_s = Metric("s")
    total_s = Metric("s")
    throughput = Metric(None)
    throughput_score = Metric(None)
    """Throughput without refresh functions."""


class Refresh(Scope, names=rf"{_TARGET}\.refresh-(?P<refresh>-?\d+)"):
    """A pair of refresh functions."""

    function = Metrics[str]("s", "{}_s")
    """Time per refresh function: ``function("rf1")``."""


class Queries(Scope, names=_TARGET):
    """The queries on a target."""

    queries_done = Metric()
    queries_failed = Metric()
    power_total_s = Metric("s")
    """Total time of all queries in the single-user test."""
    geomean_s = Metric("s")
    mean_s = Metric("s")
    """Arithmetic mean of the times of the queries in the single-user test."""
    power_score = Metric("queries/h × SF")
    """Score defined by Dyno, without refresh functions."""
    power = Metric(None)
    throughput = Metric(None)
    throughput_score = Metric(None)
    """Throughput without refresh functions."""
    composite = Metric(None)
    throughput_total_s = Metric("s")
    throughput_mean_s = Metric("s")
    """Arithmetic mean of the times of all queries of all streams."""
    freshness_ms = Metric("ms")
    """The longest time by which a query missed committed transactions; 0 if all saw all."""
    newest_age_ms = Metric("ms")
    """Age of the newest transaction that a query saw at its start; the median."""
    throughput_failed = Metric()
    refresh_failed = Metrics("", "{}_refresh_failed", TESTS)

    def __init__(self, target: str | None) -> None:
        super().__init__(f"dss.{target}")

    @staticmethod
    def targets(known: Estimates) -> list[str]:
        """Returns the targets of a run."""
        return known.between("dss.", Queries.queries_done)

    def query(self, name: str) -> Query:
        """Returns the scope of a query."""
        return Query(f"{self}.{name}")

    def queries(self, known: Estimates) -> dict[str, float]:
        """Returns the seconds of completed queries, by name."""
        names = known.between(f"{self}.", Query.seconds)
        return {name: known.value(self.query(name).seconds) or 0.0 for name in names}

    def stream(self, number: int) -> Stream:
        """Returns the scope of a stream."""
        return Stream(f"{self}.stream-{number}")

    def database(self, number: int) -> QueriesDatabase:
        """Returns the scope of one of several databases."""
        return QueriesDatabase(f"{self}.db-{number}")

    def refresh(self, number: int) -> Refresh:
        """Returns the scope of a pair of refresh functions."""
        return Refresh(f"{self}.refresh-{number}")


class QueryPair(Scope, names=rf"{_PAIR}\.(?P<query>[^.]+)"):
    """A query on two targets."""

    ratio = Metric("×")
    """Time on the first target divided by the time on the second."""


class QueriesPair(Scope, names=_PAIR):
    """The queries that two targets share."""

    geomean_ratio = Metric("×")
    total_ratio = Metric("×")
    slower_queries = Metric("queries")
    """Number of queries that took longer on the second target."""

    def __init__(self, first: str, other: str) -> None:
        super().__init__(f"dss.{first}/{other}")

    def query(self, name: str) -> QueryPair:
        """Returns the scope of a query."""
        return QueryPair(f"{self}.{name}")

    def queries(self, known: Estimates) -> list[str]:
        """Returns the names of all queries."""
        return known.between(f"{self}.", QueryPair.ratio)
