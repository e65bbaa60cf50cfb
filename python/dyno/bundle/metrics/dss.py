"""Decision support: a target's tests, queries, streams and refreshes, and two targets compared."""

from __future__ import annotations

from typing import Literal, get_args

from dyno.bundle.metrics.base import Estimates, Metric, Metrics, Scope

Test = Literal["power", "throughput"]
TESTS: tuple[Test, ...] = get_args(Test)

_TARGET = r"dss\.(?P<target>[^./]+)"
_PAIR = r"dss\.(?P<first>[^./]+)/(?P<other>[^./]+)"


class Query(Scope, names=rf"{_TARGET}\.(?P<query>[^.]+)"):
    """A query, run by one user."""

    seconds = Metric("s")
    """From submission to the last row; the median of several."""


class Stream(Scope, names=rf"{_TARGET}\.stream-(?P<stream>\d+)"):
    """The queries of one of several users."""

    done = Metric()
    failed = Metric()
    start_s = Metric("s")
    end_s = Metric("s")
    total_s = Metric("s")
    slowest_s = Metric("s")


class Refresh(Scope, names=rf"{_TARGET}\.refresh-(?P<refresh>-?\d+)"):
    """A pair of refresh functions."""

    function = Metrics[str]("s", "{}_s")
    """By its name: ``function("rf1")``."""


class Queries(Scope, names=_TARGET):
    """The queries on a target."""

    queries_done = Metric()
    queries_failed = Metric()
    power_total_s = Metric("s")
    """All queries by one user."""
    geomean_s = Metric("s")
    power_score = Metric("queries/h × SF")
    """Dyno's own, without the refresh functions."""
    power = Metric(None)
    throughput = Metric(None)
    throughput_score = Metric(None)
    """Throughput without the refresh functions."""
    composite = Metric(None)
    throughput_total_s = Metric("s")
    throughput_failed = Metric()
    refresh_failed = Metrics("", "{}_refresh_failed", TESTS)

    def __init__(self, target: str | None) -> None:
        super().__init__(f"dss.{target}")

    @staticmethod
    def targets(known: Estimates) -> list[str]:
        """The targets of a run."""
        return known.between("dss.", Queries.queries_done)

    def query(self, name: str) -> Query:
        """One of its queries."""
        return Query(f"{self}.{name}")

    def queries(self, known: Estimates) -> dict[str, float]:
        """Seconds of those that ended, by name."""
        names = known.between(f"{self}.", Query.seconds)
        return {name: known.value(self.query(name).seconds) or 0.0 for name in names}

    def stream(self, number: int) -> Stream:
        """One of several users."""
        return Stream(f"{self}.stream-{number}")

    def refresh(self, number: int) -> Refresh:
        """One of its pairs of refresh functions."""
        return Refresh(f"{self}.refresh-{number}")


class QueryPair(Scope, names=rf"{_PAIR}\.(?P<query>[^.]+)"):
    """A query on two targets."""

    ratio = Metric("×")
    """Seconds on the first, of those on the other."""


class QueriesPair(Scope, names=_PAIR):
    """The queries that two targets have in common."""

    geomean_ratio = Metric("×")
    total_ratio = Metric("×")
    slower_queries = Metric("queries")
    """That took longer on the other."""

    def __init__(self, first: str, other: str) -> None:
        super().__init__(f"dss.{first}/{other}")

    def query(self, name: str) -> QueryPair:
        """One of them."""
        return QueryPair(f"{self}.{name}")

    def queries(self, known: Estimates) -> list[str]:
        """All of them."""
        return known.between(f"{self}.", QueryPair.ratio)
