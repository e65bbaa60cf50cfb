"""Queues against published and closed-form values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dyno.statistics import usl, usl_draws
from dyno.statistics.queueing import Station, erlang_c, mva, wait, wait_quantile


@pytest.mark.parametrize(
    ("servers", "load", "waits"),
    [
        (1, 0.7, 0.7),  # M/M/1: C = ρ
        (2, 1.0, 1 / 3),  # 2ρ² / (1 + ρ) with ρ = 1/2
        (2, 1.6, 2 * 0.64 / 1.8),
        (3, 2.0, 4 / 9),  # Erlang's tables
        (10, 8.0, 0.409_18),
    ],
)
def test_erlang_c_has_known_values(servers: int, load: float, waits: float) -> None:
    assert float(erlang_c(servers, load)) == pytest.approx(waits, rel=1e-4)


def test_the_wait_of_one_server_is_that_of_m_m_1() -> None:
    rate, service = 80.0, 0.01
    assert float(wait(1, rate, service)) == pytest.approx(0.8 * service / 0.2)
    # P(Wq > t) = ρ e^(−(μ−λ)t)
    t = float(wait_quantile(1, rate, service, 0.95))
    assert 0.8 * math.exp(-(100 - 80) * t) == pytest.approx(0.05)


def test_formula_of_the_method() -> None:
    """C = B / (Σ a^k/k! + B) with B = (a^c/c!) / (1 − ρ)."""
    c, a = 6, 4.2
    b = a**c / math.factorial(c) / (1 - a / c)
    direct = b / (sum(a**k / math.factorial(k) for k in range(c)) + b)
    assert float(erlang_c(c, a)) == pytest.approx(direct)


def test_saturation_waits_for_ever() -> None:
    assert np.isinf(wait(4, np.array([400.0, 500.0]), 0.01)).all()
    assert np.isinf(wait_quantile(4, 400.0, 0.01, 0.95))
    assert float(wait_quantile(4, 1.0, 0.01, 0.95)) == 0.0


def test_servers_are_bounded() -> None:
    with pytest.raises(ValueError, match="servers"):
        erlang_c(0, 1.0)


@settings(max_examples=40)
@given(st.integers(1, 6), st.integers(1, 40), st.floats(0.001, 1))
def test_a_balanced_network_has_its_closed_form(count: int, customers: int, demand: float) -> None:
    """X = N / (D·(K + N − 1)) for K stations of demand D without thinking."""
    solved = mva([Station(demand)] * count, customers)
    assert float(solved.throughput) == pytest.approx(customers / (demand * (count + customers - 1)))
    assert float(solved.response) == pytest.approx(demand * (count + customers - 1))


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 8), st.integers(1, 60), st.floats(0.1, 20))
def test_several_servers_are_those_of_the_machine_repair_model(
    servers: int, customers: int, think: float
) -> None:
    """M/M/c//N: birth and death rates give the exact throughput."""
    demand = 1.0
    weights = [1.0]
    for n in range(1, customers + 1):
        birth, death = (customers - n + 1) / think, min(n, servers) / demand
        weights.append(weights[-1] * birth / death)
    total = sum(weights)
    exact = sum(w * min(n, servers) / demand for n, w in enumerate(weights)) / total
    solved = mva([Station(demand, servers)], customers, think)
    # Exact but for rounding near saturation, where the idle probability cancels out.
    assert float(solved.throughput) == pytest.approx(exact, rel=2e-3)


def test_draws_are_solved_together() -> None:
    demands = np.array([0.01, 0.02, 0.04])
    together = mva([Station(demands, 2), Station(0.005)], 12, 0.1).throughput
    apart = [float(mva([Station(d, 2), Station(0.005)], 12, 0.1).throughput) for d in demands]
    assert together == pytest.approx(apart)


@pytest.mark.parametrize("planted", [usl.Usl(400, 0.05, 0.002), usl.Usl(90, 0.3, 0.0)])
def test_draws_of_the_law_recover_what_was_planted(planted: usl.Usl) -> None:
    levels = np.array([1.0, 2, 4, 8, 16, 32])
    exact = np.log([planted.at(n) for n in levels])
    found = usl_draws.curves(planted, levels, np.array([exact]))
    assert found.gamma[0] == pytest.approx(planted.gamma, rel=1e-6)
    assert found.sigma[0] == pytest.approx(planted.sigma, rel=1e-6)
    assert found.kappa[0] == pytest.approx(planted.kappa, abs=1e-9)
    assert found.at(48.0)[0] == pytest.approx(planted.at(48), rel=1e-6)


def test_draws_agree_with_single_fits() -> None:
    """The sets of active coefficients find what the iterative fit finds."""
    levels = np.array([1.0, 2, 3, 4, 8])
    planted = usl.Usl(400, 0.02, 0.001)
    exact = np.log([planted.at(n) for n in levels])
    logs = exact + 0.03 * np.random.default_rng(5).normal(size=(60, 5))
    found = usl_draws.curves(planted, levels, logs)
    for row, at in zip(logs, found.at(12.0), strict=True):
        assert at == pytest.approx(usl.fit(list(levels), list(row)).at(12.0), rel=0.06)
    assert (found.terms >= 0).all()
