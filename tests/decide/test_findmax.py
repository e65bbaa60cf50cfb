"""The search for the maximum, on modelled servers: no run, no time."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from dyno.decide.findmax import By, Range, Step, Trial, found, next_step

KINDS: st.SearchStrategy[By] = st.sampled_from(["users", "rate"])


def search(
    where: Range, capacity: float, windows: int = 60, noise: float = 0.0, seed: int = 1
) -> tuple[list[Trial], list[Step]]:
    """A server that keeps the limits up to ``capacity``, give or take some noise."""
    draw = random.Random(seed)
    trials: list[Trial] = []
    steps: list[Step] = []
    while (step := next_step(trials, where, windows - len(trials))) is not None:
        edge = capacity * (1 + draw.uniform(-noise, noise))
        trials.append(Trial(step.load, step.load <= edge, steady=draw.random() >= noise))
        steps.append(step)
    return trials, steps


@given(KINDS, st.floats(1.0, 900.0), st.floats(1.0, 50.0))
def test_the_planted_maximum_is_found_within_the_resolution(
    by: By, capacity: float, start: float
) -> None:
    where = Range(by, float(int(start)), 1000.0)
    trials, steps = search(where, capacity)
    known = found(trials)
    assert known.monotone
    assert known.best is not None
    assert known.confirmed
    assert known.failing is not None
    assert known.best <= capacity < known.failing
    gap = known.failing - known.best
    assert gap <= known.best * 0.0501 or (by == "users" and gap == 1)
    assert steps[-1].kind == "confirm" or [step.load for step in steps].count(known.best) == 2


@given(KINDS, st.integers(1, 400), st.floats(1.0, 1e5))
def test_it_takes_no_more_windows_than_promised(by: By, start: int, capacity: float) -> None:
    where = Range(by, float(start), start * 300.0)
    if capacity < start:
        return  # it has to look below where it starts, which the plan does not count
    trials, _ = search(where, capacity)
    assert len(trials) <= where.most_windows()


@given(KINDS, st.floats(1.0, 2000.0), st.floats(0.0, 0.4), st.integers(1, 40), st.integers(0, 999))
def test_it_ends_whatever_the_noise_and_says_no_more_than_it_saw(
    by: By, capacity: float, noise: float, windows: int, seed: int
) -> None:
    where = Range(by, 4.0, 1000.0)
    trials, _ = search(where, capacity, windows, noise, seed)
    assert len(trials) <= windows
    known = found(trials)
    for trial in trials:
        assert where.least <= trial.load <= where.most
        if by == "users":
            assert trial.load == int(trial.load)
        if known.best is not None and trial.load <= known.best and trial.steady:
            assert trial.passed
    if known.confirmed:
        own = [one for one in trials if one.load == known.best]
        assert all(one.passed for one in own if one.steady)
        assert sum(one.steady for one in own) >= 2 or len(own) >= 3
    assert known.best is None or known.failing is None or known.best < known.failing


def test_a_server_that_carries_all_is_searched_up_to_the_most() -> None:
    trials, steps = search(Range("users", 1.0, 100.0), 1e9)
    assert [trial.load for trial in trials] == [1, 2, 4, 8, 16, 32, 64, 100, 100]
    assert steps[-1].kind == "confirm"
    assert found(trials).failing is None


def test_a_server_that_carries_nothing_is_searched_down_to_the_least() -> None:
    trials, _ = search(Range("users", 8.0, 100.0), 0.5)
    assert [trial.load for trial in trials] == [8, 4, 2, 1]
    assert found(trials).best is None


def test_the_last_window_there_is_time_for_confirms() -> None:
    trials, steps = search(Range("users", 1.0, 100.0), 40.0, windows=8)
    assert [(step.kind, step.load) for step in steps[-2:]] == [("grow", 64), ("confirm", 32)]
    assert found(trials).confirmed


def test_a_window_that_was_not_steady_proves_nothing_and_is_measured_again() -> None:
    where = Range("users", 1.0, 100.0)
    unsteady = Trial(4.0, passed=True, steady=False)
    before = [Trial(1.0, True), Trial(2.0, True), unsteady]
    assert next_step(before, where, 50) == Step("repeat", 4.0)
    assert next_step([*before, Trial(4.0, True)], where, 50) == Step("grow", 8.0)
    assert next_step([*before, unsteady], where, 50) == Step("repeat", 4.0)
    # What never settles is taken as it is: then the run's validity speaks of it.
    assert next_step([*before, unsteady, unsteady], where, 50) == Step("grow", 8.0)
    never = [*before, unsteady, Trial(4.0, passed=False, steady=False)]
    assert next_step(never, where, 50) == Step("narrow", 3.0)
    assert found(never).unsettled
    assert not found([*before, Trial(4.0, False)]).unsettled
    # One that kept its limits, but was late each time.
    late = [Trial(1.0, True), Trial(2.0, True), *[Trial(4.0, passed=False, steady=False)] * 3]
    assert next_step(late, where, 50) == Step("narrow", 3.0)
    assert next_step([*late, Trial(4.0, True)], where, 50) == Step("narrow", 3.0)
    assert next_step([*late[:-1], Trial(4.0, True)], where, 50) == Step("grow", 8.0)


def test_a_maximum_that_is_not_confirmed_is_none() -> None:
    where = Range("users", 1.0, 100.0)
    trials = [Trial(load, load < 9) for load in (1.0, 2.0, 4.0, 8.0, 16.0, 11.0, 9.0)]
    assert next_step(trials, where, 50) == Step("confirm", 8.0)
    trials.append(Trial(8.0, False))
    known = found(trials)
    assert (known.best, known.failing, known.confirmed) == (4.0, 8.0, False)
    assert next_step(trials, where, 50) == Step("narrow", 6.0)


def test_a_curve_that_is_not_monotone_is_reported() -> None:
    trials = [Trial(1.0, True), Trial(2.0, False), Trial(4.0, True)]
    known = found(trials)
    assert (known.best, known.failing, known.monotone) == (1.0, 2.0, False)
