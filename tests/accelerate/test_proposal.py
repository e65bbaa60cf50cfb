"""What flash would gain, for loads whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dyno.accelerate import proposal
from dyno.accelerate.proposal import CHOICES, PARTS, Choice, Flash, Gain, Load

FAST = Flash(np.full(100, 0.1), np.full(100, 0.2), overhead_ms=0)
share = st.floats(0, 0.24)


def load(seconds: int = 60, bounds: dict[str, float] | None = None, **shares: float) -> Load:
    waits = {part: np.full(seconds, 10 * shares.get(part, 0.0)) for part in PARTS}
    return Load(waits, 10.0, 10.0, 20.0, bounds or {})


def gain(of: Load, *chosen: Choice, hits: tuple[float, float] = (1.0, 1.0)) -> Gain:
    return proposal.gain(of, FAST, hits, frozenset(chosen))


def test_what_half_of_the_time_waited_for_can_double_the_throughput() -> None:
    assert gain(load(reads=0.5), "cache").times == pytest.approx(1 / (0.5 + 0.5 * 0.01))
    assert gain(load(log=0.5), "log").times == pytest.approx(1 / (0.5 + 0.5 * 0.01))
    assert gain(load(temp=0.5), "temp").times == pytest.approx(1 / (0.5 + 0.5 * 0.01))
    assert gain(load(reads=0.5), "log").times == pytest.approx(1)


def test_locks_are_held_for_shorter() -> None:
    found = gain(load(log=0.4, lock=0.5), "log")
    assert found.times == pytest.approx(0.5 / (0.5 - 0.4 * 0.99))


def test_a_bound_is_named() -> None:
    found = gain(load(60, {"the CPUs": 1.5, "writes": 3.0}, reads=0.9), "cache")
    assert found.bound == "the CPUs"
    assert 1 <= found.low <= found.times <= found.high <= 1.5


@given(st.floats(1.01, 100))
def test_a_bound_changes_nothing_without_a_gain(bound: float) -> None:
    found = gain(load(60, {"the CPUs": bound}, reads=0.5), "log")
    assert (found.low, found.high) == (pytest.approx(1), pytest.approx(1))


def test_a_load_that_comes_in_bursts_has_shares_of_its_active_time() -> None:
    """A recording whose sessions are active for a tenth of the time, and read for 80 % of that."""
    seconds = np.arange(600)
    active = np.where(seconds % 100 < 10, 5.0, 0.0)
    waits = {"reads": 0.8 * active, "rest": 0.1 * active, "lock": 0.1 * active}
    found = gain(Load(waits, 0.0, 10.0, None, {}), "cache")  # pyright: ignore[reportArgumentType]
    assert found.high < 1.01 * 0.9 / (0.9 - 0.8 * 0.99)
    assert np.isfinite([found.low, found.times, found.high]).all()
    assert gain(load(60, {"the CPUs": 1.5}, reads=0.1), "cache").bound == ""


def test_an_unknown_hit_ratio_widens_the_interval() -> None:
    known, unknown = (gain(load(reads=0.8), "cache", hits=hits) for hits in ((1, 1), (0.2, 1)))
    assert known.high - known.low < 0.01
    assert unknown.low < 1.5 < 3 < unknown.high


def test_seconds_that_differ_widen_the_interval() -> None:
    uneven = load(reads=0.0)
    uneven.waits["reads"][:20] = 9.0
    found = gain(uneven, "cache")
    assert found.high - found.low > 0.2


def test_what_gains_nothing_is_not_proposed() -> None:
    assert proposal.proposed(load(log=0.5), FAST, (1, 1)) == {"log"}
    assert proposal.proposed(load(reads=0.4, log=0.4), FAST, (1, 1)) == {"cache", "log"}
    assert not proposal.proposed(load(lock=0.9), FAST, (1, 1))
    slow = Flash(np.full(9, 30.0), np.full(9, 60.0))
    assert not proposal.proposed(load(reads=0.4, log=0.4), slow, (1, 1))


@given(share, share, share, share, st.floats(0, 1))
def test_more_on_flash_is_never_slower_with_faster_flash(
    reads: float, log: float, temp: float, lock: float, hit: float
) -> None:
    given = load(reads=reads, log=log, temp=temp, lock=lock)
    every = gain(given, *CHOICES, hits=(hit, 1.0))
    for one in CHOICES:
        rest: list[Choice] = [other for other in CHOICES if other != one]
        assert every.times >= gain(given, *rest, hits=(hit, 1.0)).times - 1e-9
    assert every.low <= every.times <= every.high


def test_a_load_without_samples_gains_nothing() -> None:
    assert gain(load(0, reads=0.5), *CHOICES).times == 1
