"""Each stream runs each query once, in an order of its own."""

from __future__ import annotations

import pytest

from dyno.workloads.tpch.orders import ORDERINGS, order
from dyno.workloads.tpch.queries import QUERIES


def test_each_order_is_a_permutation_of_the_queries() -> None:
    names = sorted(query.name for query in QUERIES)
    assert len(ORDERINGS) == 41
    assert len(set(ORDERINGS)) == 41
    assert all(sorted(ordering) == names for ordering in ORDERINGS)


def test_the_power_test_has_the_order_of_stream_0() -> None:
    assert order(0)[:5] == ("q14", "q02", "q09", "q20", "q06")
    assert order(0)[-1] == "q12"
    assert order(40)[-1] == "q19"


def test_later_streams_start_over_but_never_share_the_power_tests_order() -> None:
    assert order(41) == order(1)
    assert order(80) == order(40)
    assert order(0) not in [order(stream) for stream in range(1, 200)]


def test_a_negative_stream_is_refused() -> None:
    with pytest.raises(ValueError, match="start at 0"):
        order(-1)
