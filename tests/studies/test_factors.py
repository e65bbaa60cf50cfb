"""Effects of factors, growth with them, and the noise of the same against itself."""

from __future__ import annotations

import numpy as np
import pytest

from dyno.statistics.usl import Usl
from dyno.studies.model import Variant
from tests.studies.books import factorial, outcome, runs, study

MEMORY, USERS, MODE = "settings.memory", "run.users", "run.mode"
LEVELS = {USERS: [1, 4, 16], MEMORY: ["1GB", "4GB"], MODE: ["client", "procedure"]}


def planted(one: Variant) -> float:
    """Users x their power; more memory 1.2 times, but 1.5 times with 16 users; modes alike."""
    users = float(one.levels[USERS])
    more = one.levels[MEMORY] == "4GB"
    return 100 * users**0.7 * ((1.5 if users == 16 else 1.2) if more else 1.0)


def quiet(rng: np.random.Generator) -> float:
    return float(rng.normal(0, 0.01))


def test_planted_effects_are_distinguished() -> None:
    asked = factorial(LEVELS, pairs=3)
    found = outcome(asked, runs(asked, np.random.default_rng(1), planted, quiet))
    said = {one.factors: one for one in found.effects}
    assert set(said) == {(USERS,), (MEMORY,), (MODE,), (USERS, MEMORY), (USERS, MODE),
                         (MEMORY, MODE)}  # fmt: skip
    assert {key for key, one in said.items() if one.verdict == "certain"} == {
        (USERS,), (MEMORY,), (USERS, MEMORY),
    }  # fmt: skip
    assert said[MODE,].verdict == "none"
    (memory,) = said[MEMORY,].terms
    assert memory.percent == pytest.approx(100 * ((1.2 * 1.2 * 1.5) ** (1 / 3) - 1), abs=1.5)
    assert memory.low <= memory.percent <= memory.high
    both = {term.levels: term.percent for term in said[USERS, MEMORY].terms}
    assert both == {(4, "4GB"): pytest.approx(0, abs=3), (16, "4GB"): pytest.approx(25, abs=4)}
    assert said[USERS,].share_percent > 95
    assert found.notes == ()


def test_effects_despite_missing_runs() -> None:
    asked = factorial({USERS: LEVELS[USERS], MEMORY: LEVELS[MEMORY]})
    made = runs(asked, np.random.default_rng(2), planted, quiet)
    left = [one for one in made if one.variant != "16 1GB"]
    found = outcome(asked, left)
    said = {one.factors: one for one in found.effects}
    assert said[USERS,].note == "only at settings.memory=4GB"
    assert said[MEMORY,].note == "only at run.users=1, run.users=4"
    assert said[MEMORY,].terms[0].percent == pytest.approx(20, abs=2)
    assert [term.levels for term in said[USERS, MEMORY].terms] == [(4, "4GB")]
    assert "for tps: no value at run.users=16 settings.memory=1GB" in found.notes
    aliased = [one for one in made if one.variant in {"1 1GB", "4 4GB"}]
    found = outcome(asked, aliased)
    assert found.effects == ()
    assert f"for tps: the effect of {USERS} cannot be estimated from these runs" in found.notes
    first = [one for one in made if not one.variant.startswith("1 ")]
    said = {one.factors: one for one in outcome(asked, first).effects}
    assert said[USERS,].note == "against run.users=4, as the first level has no value"
    single = [one for one in made if one.pair == 0]
    assert "for tps: effects of factors need at least two pairs" in outcome(asked, single).notes


def test_noisier_combinations_are_reported() -> None:
    asked = factorial({USERS: LEVELS[USERS], MEMORY: LEVELS[MEMORY]}, pairs=8)
    rng = np.random.default_rng(9)
    made = runs(asked, rng, planted, quiet)
    assert outcome(asked, made).notes == ()
    wild = [
        one.model_copy(update={"figures": {"tps": one.figures["tps"] * np.exp(rng.normal(0, 0.2))}})
        if one.variant == "16 1GB"
        else one
        for one in made
    ]
    (note,) = outcome(asked, wild).notes
    assert note.startswith("for tps: the noise of combinations ranges from ")


@pytest.mark.long
def test_nothing_is_found_of_factors_that_do_nothing() -> None:
    """Holm's method keeps the chance of any false effect of a study at 5 %."""
    rng = np.random.default_rng(3)
    asked = factorial({USERS: [1, 4], MEMORY: ["1GB", "4GB"]}, pairs=4)
    wrong = sum(
        any(
            one.verdict == "certain"
            for one in outcome(
                asked, runs(asked, rng, lambda _: 100.0, lambda r: r.normal(0, 0.03))
            ).effects
        )
        for _ in range(300)
    )
    assert wrong <= 0.09 * 300


def test_throughput_over_users() -> None:
    asked = factorial({USERS: [1, 2, 4, 8, 16, 32]})
    true = Usl(100, 0.05, 0.004)
    found = outcome(asked, runs(
        asked, np.random.default_rng(4), lambda one: true.at(float(one.levels[USERS])), quiet,
    ))  # fmt: skip
    (fit,) = found.fits
    assert (fit.factor, fit.linear, fit.note) == (USERS, "less", "")
    for name in ("gamma", "sigma", "kappa", "peak"):
        one = fit.usl[name]
        assert one.low <= getattr(true, name) <= one.high
        assert one.value == pytest.approx(getattr(true, name), rel=0.25)
    assert [point.x for point in fit.points] == [1, 2, 4, 8, 16, 32]
    assert all(point.low <= point.y <= point.high for point in fit.points)
    assert fit.points[5].fitted == pytest.approx(true.at(32), rel=0.05)


def test_a_peak_outside_of_what_was_measured() -> None:
    asked = factorial({USERS: [1, 2, 4, 8]}, pairs=8)
    for kappa, words in ((0.0056, "outside the measured range"), (0.0, "no peak was")):
        true = Usl(100, 0.05, kappa)
        (fit,) = outcome(asked, runs(
            asked, np.random.default_rng(5), lambda one, true=true:
            true.at(float(one.levels[USERS])), lambda r: r.normal(0, 0.002),
        )).fits  # fmt: skip
        assert words in fit.note
        assert ("peak" in fit.usl) == (kappa > 0)


def test_time_over_data_is_linear_or_not() -> None:
    asked = factorial({"scale": [0.05, 0.1, 0.2], MODE: ["client", "procedure"]},
                      headline=("total_s",))  # fmt: skip
    made = runs(
        asked, np.random.default_rng(6),
        lambda one: float(one.levels["scale"]) ** (1.0 if one.levels[MODE] == "client" else 1.3),
        lambda r: r.normal(0, 0.005), metric="total_s",
    )  # fmt: skip
    said = {fit.at[MODE]: fit for fit in outcome(asked, made).fits}
    assert {mode: fit.linear for mode, fit in said.items()} == {
        "client": "linear", "procedure": "more",
    }  # fmt: skip
    assert said["client"].usl == {}
    assert said["procedure"].points[1].fitted == pytest.approx(0.1**1.3, rel=0.02)
    few = [one for one in made if one.variant != "0.2 procedure"]
    found = outcome(asked, few)
    assert [fit.at[MODE] for fit in found.fits] == ["client"]
    assert any("too few runs to fit scaling with scale at run.mode=procedure" in note
               for note in found.notes)  # fmt: skip


def test_the_noise_of_the_same_against_itself() -> None:
    asked = study(pairs=40)
    sd = 0.02
    found = outcome(asked, runs(
        asked, np.random.default_rng(7), lambda _: 100.0, lambda r: r.normal(0, sd),
    )).noise  # fmt: skip
    (one,) = found
    assert one.low < 100 * np.expm1(sd * 2**0.5) < one.high
    assert one.low < one.sd_percent < one.high
    assert one.pair_s == pytest.approx(20)  # 8 s a run and 2 s to the next
    assert [reach.percent for reach in one.reaches] == [1, 2, 5, 10]
    assert [reach.pairs for reach in one.reaches] == sorted(
        (reach.pairs for reach in one.reaches), reverse=True
    )
    assert all(reach.minutes == pytest.approx(reach.pairs / 3) for reach in one.reaches)
    other = asked.variants[1].model_copy(update={"settings": {"memory": "1GB"}})
    asked = asked.model_copy(update={"variants": (asked.variants[0], other)})
    assert outcome(asked, []).noise == ()


def test_growth_is_not_fitted_over_fill_levels() -> None:
    asked = factorial({"run.fill": [40, 62, 85]})
    made = runs(asked, np.random.default_rng(7), lambda _: 100.0, quiet)
    found = outcome(asked, made)
    assert (found.fits, found.notes) == ((), ())
    assert {one.variant for one in found.comparisons} == {"62", "85"}


def test_three_levels_have_a_power_law_and_no_word_of_another() -> None:
    asked = factorial({USERS: [1, 2, 4]})
    made = runs(asked, np.random.default_rng(8), lambda one: float(one.levels[USERS]), quiet)
    (fit,) = outcome(asked, made).fits
    assert (fit.linear, fit.usl, fit.note) == ("linear", {}, "")
