"""The offset of a server's clock."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dyno.targets.clockoffset import Offset, offset


def trips(ahead_s: float, *taken_ms: tuple[int, int]) -> Offset:
    """The offset of a clock that far ahead, with a way there and a way back for each round trip."""
    now_ns = 1_700_000_000_000_000_000
    left: Iterator[tuple[int, int]] = iter(taken_ms)

    def server_time() -> float:
        nonlocal now_ns
        there, back = next(left)
        now_ns += there * 1_000_000
        read = now_ns / 1e9 + ahead_s
        now_ns += back * 1_000_000
        return read

    return offset(server_time, lambda: now_ns)


@pytest.mark.parametrize("ahead_s", [0.0, 300.0, -300.0, 0.004])
def test_even_trips_give_it(ahead_s: float) -> None:
    assert trips(ahead_s, *[(1, 1)] * 8) == pytest.approx((ahead_s, 0.001), abs=1e-6)


def test_the_shortest_trip_bounds_the_error() -> None:
    slow, fast = (900, 20), (1, 0)
    found = trips(2.5, slow, slow, fast, slow, slow, slow, slow, slow)
    assert found.bound == pytest.approx(0.0005, abs=1e-6)
    assert found.offset == pytest.approx(2.5, abs=found.bound + 1e-6)
