"""The cost of frequent readings of a server is bounded."""

from __future__ import annotations

import pytest

from dyno.targets.sessionprobe import Budget


@pytest.mark.parametrize(("cpu_s", "every"), [(0.0002, 1), (0.0012, 2), (0.0035, 4)])
def test_readings_take_at_most_a_hundredth_of_a_core(cpu_s: float, every: int) -> None:
    budget, done = Budget(0.1), []
    for number in range(12):
        if budget.allows():
            done.append(number)
            budget.spend(cpu_s)
    assert done == list(range(0, 12, every))
