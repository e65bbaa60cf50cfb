"""Contrasts of cells in blocks: known answers, what is missing, and what their intervals hold."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from dyno.statistics.factorial import Cells

CELLS = list(itertools.product("ab", "xyz"))
MAIN = {("b", y): 1 / 3 for y in "xyz"} | {("a", y): -1 / 3 for y in "xyz"}
SECOND = [
    {("a", level): 0.5, ("b", level): 0.5, ("a", "x"): -0.5, ("b", "x"): -0.5} for level in "yz"
]


def design(
    rng: np.random.Generator, blocks: int, noise: float
) -> tuple[list[int], list[tuple[str, str]], list[float]]:
    """Blocks, cells and values; b is 0.1 above a, z 0.05 above x, and blocks go up and down."""
    effect = {"a": 0.0, "b": 0.1, "x": 0.0, "y": 0.0, "z": 0.05}
    rows = [
        (block, cell, effect[cell[0]] + effect[cell[1]] + shift + rng.normal(0, noise))
        for block in range(blocks)
        for shift in [rng.normal(0, 0.2)]
        for cell in CELLS
    ]
    return [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]


def test_it_is_the_analysis_of_variance() -> None:
    """Against sums of squares by hand, which a balanced design allows."""
    blocks, cells, values = design(np.random.default_rng(1), 5, 0.03)
    table = np.array(values).reshape(5, 6)
    left = table - table.mean(0) - table.mean(1)[:, None] + table.mean()
    freedom, error = 20, (left**2).sum() / 20
    by_level = table.mean(0).reshape(2, 3).mean(0)
    explained = 10 * ((by_level - by_level.mean()) ** 2).sum()
    fit = Cells(blocks, cells, values)
    found = fit.test(SECOND)
    assert fit.freedom == freedom
    assert found.p == pytest.approx(stats.f.sf(explained / 2 / error, 2, freedom))
    assert found.share == pytest.approx(explained / (explained + (left**2).sum()))
    (one,) = fit.test([MAIN]).values
    reach = stats.t.ppf(0.975, freedom) * math.sqrt(2 * error / 15)
    mean = table.reshape(5, 2, 3).mean((0, 2))
    assert one == pytest.approx((mean[1] - mean[0], mean[1] - mean[0] - reach,
                                 mean[1] - mean[0] + reach))  # fmt: skip


def test_what_no_block_shares_is_not_known() -> None:
    fit = Cells([1, 1, 2, 2, 2], ["a", "b", "c", "d", "c"], [1.0, 2.0, 3.0, 4.0, 5.0])
    assert fit.knows({"b": 1, "a": -1})
    assert fit.knows({"d": 1, "c": -1})
    assert not fit.knows({"c": 1, "a": -1})


def test_without_noise_and_without_runs() -> None:
    blocks, cells, values = design(np.random.default_rng(2), 3, 0.0)
    fit = Cells(blocks, cells, values)
    found = fit.test([MAIN])
    assert (found.p, found.share) == (0.0, 1.0)
    assert found.values[0] == pytest.approx((0.1, 0.1, 0.1))
    assert Cells(blocks, cells, [0.5] * len(values)).test([MAIN]).p == 1.0
    with pytest.raises(ValueError, match="no run is left"):
        Cells(blocks[:6], cells[:6], values[:6]).test([MAIN])


def test_intervals_hold_what_they_promise_with_runs_missing() -> None:
    rng = np.random.default_rng(3)
    covered = false = 0
    for _ in range(400):
        blocks, cells, values = design(rng, 4, 0.03)
        kept = sorted(rng.permutation(len(values))[:20])
        fit = Cells(*([of[place] for place in kept] for of in (blocks, cells, values)))
        if not fit.knows(MAIN):
            continue
        ((_, low, high),) = fit.test([MAIN]).values
        covered += low <= 0.1 <= high
        equal = {("a", "y"): 0.5, ("b", "y"): 0.5, ("a", "x"): -0.5, ("b", "x"): -0.5}
        false += fit.test([equal]).p < 0.05
    assert 0.92 <= covered / 400 <= 0.98
    assert false <= 0.08 * 400
