"""What studies say of planted effects: a thousand of them, with noise, drift and faults."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from dyno.studies import analysis, metrics
from dyno.studies.analysis import tight
from dyno.studies.model import Study
from dyno.studies.pairs import found_by, needed
from dyno.studies.schedule import schedule
from dyno.studies.store import Entry, Note, StudyStore
from dyno.studies.text import lines
from tests.studies.books import Draw, outcome, run, runs, study

STUDIES = 1000


def entries(
    asked: Study, rng: np.random.Generator, noise: Draw, shift: float = 0.0, drift: float = 0.0
) -> list[Entry]:
    """Runs whose value is 1,000, shifted for the second variant, with noise and drift a run."""
    first = asked.variants[0].name
    return runs(
        asked, rng, lambda one: 1000 * (1 + shift * (one.name != first)), noise, drift=drift
    )


NOISES: dict[str, Draw] = {
    "normal": lambda rng: rng.normal(0, 0.03),
    "heavy tails": lambda rng: 0.02 * rng.standard_t(3),
    "two modes": lambda rng: rng.normal(0, 0.01) + 0.08 * (rng.random() < 0.3),
}


@pytest.mark.long
@pytest.mark.parametrize("noise", NOISES)
def test_nothing_is_found_where_nothing_is(noise: str) -> None:
    """At most 5 % of A/A studies see a difference; 6.5 % is what 1,000 may show of 5 by chance."""
    rng = np.random.default_rng([1, *noise.encode()])
    asked = study()
    said = [
        outcome(asked, entries(asked, rng, NOISES[noise])).comparisons[0].verdict
        for _ in range(STUDIES)
    ]
    assert sum(one in {"better", "worse"} for one in said) <= 0.065 * STUDIES


@pytest.mark.long
def test_a_tenth_is_found_under_three_percent_of_noise() -> None:
    rng = np.random.default_rng(2)
    asked = study()
    found = sum(
        outcome(asked, entries(asked, rng, NOISES["normal"], shift=0.1)).comparisons[0].verdict
        == "better"
        for _ in range(STUDIES)
    )
    assert found >= 0.8 * STUDIES


def test_drift_makes_no_effect_and_is_reported() -> None:
    rng = np.random.default_rng(3)
    asked = study(pairs=6)
    drifted = 0
    said: list[str] = []
    for _ in range(STUDIES // 2):
        found = outcome(asked, entries(asked, rng, lambda r: r.normal(0, 0.005), drift=0.01))
        said.append(found.comparisons[0].verdict)
        drifted += found.drift[0].certain
        assert found.drift[0].low <= found.drift[0].percent <= found.drift[0].high
    assert sum(one in {"better", "worse"} for one in said) <= 0.065 * len(said)
    assert drifted >= 0.9 * len(said)


def test_a_total_that_improves_shows_the_query_that_got_worse() -> None:
    asked = study(headline=("total_s",))
    made: list[Entry] = []
    for pair in range(5):
        wobble = 1 + pair / 1000
        base = {"total_s": 100 * wobble, "query_s.q09": 10 * wobble, "query_s.q01": 50 * wobble}
        fast = {"total_s": 60.0, "query_s.q09": 28.0, "query_s.q01": 10.0}
        made += [run(2 * pair, pair, "v0", base), run(2 * pair + 1, pair, "v1", fast)]
    found = {one.metric: one.verdict for one in outcome(asked, made).comparisons}
    assert found == {"total_s": "better", "query_s.q09": "worse", "query_s.q01": "better"}


def test_who_breaks_a_criterion_cannot_win() -> None:
    rng = np.random.default_rng(4)
    asked = study()
    made = entries(asked, rng, lambda r: r.normal(0, 0.001), shift=0.5)
    broken = [
        one.model_copy(update={"code": 1, "broken": ("new_order p95 < 1 ms was not kept",)})
        if one.variant == "v1"
        else one
        for one in made
    ]
    found = outcome(asked, broken)
    assert found.comparisons[0].verdict == "inconclusive"
    assert found.comparisons[0].disqualified == "new_order p95 < 1 ms was not kept"
    # Nor does the first, by the others being worse; what is better than it is.
    first = study(exploratory=("p95_ms",))
    for shift, verdict, note in (
        (-0.5, "inconclusive", "'v0' is disqualified"),
        (0.5, "better", ""),
    ):
        made = entries(first, rng, lambda r: r.normal(0, 0.001), shift=shift)
        broken = [
            one.model_copy(update={
                "broken": ("slow",) if one.variant == "v0" else (),
                "figures": {**one.figures, "p95_ms.payment": one.figures["tps"]},
            })
            for one in made
        ]  # fmt: skip
        tps, p95 = outcome(first, broken).comparisons
        assert (tps.verdict, tps.note) == (verdict, note)
        assert p95.verdict == ("better" if shift < 0 else "worse")


def test_a_machine_that_is_busier_is_neither_better_nor_worse() -> None:
    asked = study(headline=("load_rows",), exploratory=("cpu_percent",))
    made: list[Entry] = []
    for pair in range(5):
        by = 1 + pair / 100
        values = {"load_rows": 100.0, "cpu_percent": 20.0}
        more = {"load_rows": 180.0 * by, "cpu_percent": 40.0 * by}
        made += [run(2 * pair, pair, "v0", values), run(2 * pair + 1, pair, "v1", more)]
    found = outcome(asked, made)
    assert [one.verdict for one in found.comparisons] == ["better", "different"]
    assert not found.regressions
    printed = "\n".join(lines(asked, found))
    assert "1 other metrics: 0 worse, 0 better, 1 different." in printed
    assert "  different v1: cpu_percent +104 %" in printed


@pytest.mark.long
def test_the_smallest_effect_holds_for_all_questions() -> None:
    """Among seven questions at once, one shift is found as often as predicted."""
    rng, sd = np.random.default_rng(8), 0.03
    for pairs in (5, 9):
        smallest = found_by(100 * math.expm1(sd), pairs, pairs, 7)
        assert smallest > 1.1 * found_by(100 * math.expm1(sd), pairs, pairs)
        assert needed(smallest, 100 * math.expm1(sd), 7) == pairs
        asked = study(pairs=pairs, variants=8)
        found = 0
        for _ in range(150):
            made = [
                run(8 * pair + place, pair, f"v{place}", {
                    "tps": 100.0 * (1 + smallest / 100 * (place == 1))
                    * (1.0 if place == 0 else np.exp(rng.normal(0, sd)))
                })
                for pair in range(pairs) for place in range(8)
            ]  # fmt: skip
            found += outcome(asked, made).comparisons[0].verdict == "better"
        assert 0.7 <= found / 150 <= 0.9
    assert needed(0.01, 50.0) is None


def test_invalid_runs_do_not_count_and_their_successors_do() -> None:
    asked = study(pairs=2)
    made = [
        run(0, 0, "v0", {"tps": 100.0}),
        run(1, 0, "v1", {"tps": 1.0}, valid=False, reasons=["client-bound"]),
        run(1, 0, "v1", {"tps": 101.0}, attempt=2),
        run(2, 1, "v1", {"tps": 102.0}),
        run(3, 1, "v0", {"tps": 100.0}),
    ]
    found = outcome(asked, made)
    assert (found.runs, found.invalid) == (5, 1)
    assert found.comparisons[0].pairs == 2
    assert found.comparisons[0].percent == pytest.approx(1.5, abs=0.01)


def test_it_is_over_when_intervals_are_tight() -> None:
    """Not before there are eight pairs: the first few may agree by chance."""
    rng = np.random.default_rng(5)
    asked = study(pairs=10)
    made = entries(asked, rng, lambda r: r.normal(0, 0.003))
    assert not tight(asked, made[:14])
    assert tight(asked, made[:16])
    wild = entries(asked, rng, lambda r: r.normal(0, 0.1))
    assert not tight(asked, wild)


def test_a_small_regression_of_a_query_is_none() -> None:
    """Certain, and below the margin: a headline metric is reported, one query of many is not."""
    asked = study(pairs=6, headline=("total_s",), margin=5.0)
    wobble = [-0.03, 0.03, -0.02, 0.02, -0.01, 0.01]
    slow, much = 1.04, 1.2
    made: list[Entry] = []
    for pair, by in enumerate(wobble):
        base = {"total_s": 100.0, "query_s.q01": 10.0, "query_s.q02": 10.0}
        more = {"total_s": 100 * slow * (1 + by), "query_s.q01": 10 * slow * (1 + by),
                "query_s.q02": 10 * much * (1 + by)}  # fmt: skip
        made += [run(2 * pair, pair, "v0", base), run(2 * pair + 1, pair, "v1", more)]
    found = outcome(asked, made)
    said = {one.metric: one.verdict for one in found.comparisons}
    assert said == {"total_s": "worse", "query_s.q01": "inconclusive", "query_s.q02": "worse"}
    assert [one.metric for one in found.regressions] == ["query_s.q02"]
    total = found.comparisons[0]
    logs = np.log([slow * (1 + by) for by in wobble])
    assert total.d_z == pytest.approx(logs.mean() / logs.std(ddof=1))


def test_missing_and_zero_values_are_reported() -> None:
    asked = study(pairs=3, exploratory=("query_s", "iops"), headline=("tps", "total_s"))
    made: list[Entry] = []
    for pair in range(3):
        one = {"tps": 100.0 + pair, "query_s.q01": 1.0, "query_s.q02": 1.0, "iops": 0.0}
        other = {"tps": 100.0, "query_s.q01": 1.0, "iops": 5.0}
        if pair == 1:
            del other["query_s.q01"]
        made += [run(2 * pair, pair, "v0", one), run(2 * pair + 1, pair, "v1", other)]
    made[5] = made[5].model_copy(update={"verdict": "invalid", "reasons": ("cut",)})
    found = outcome(asked, made)
    notes = {one.metric: one.note for one in found.comparisons}
    assert notes == {
        "tps": "left out: 'v1' has no valid run in 1 of 3 pairs",
        "query_s.q01": "not compared: 'v1' has no value in 1 of 3 pairs, "
        "'v1' has no valid run in 1 of 3 pairs",
        "query_s.q02": "not compared: 'v1' has no value in 2 of 3 pairs, "
        "'v1' has no valid run in 1 of 3 pairs",
        "iops": "not compared: 'v0' is not positive in 3 of 3 pairs, "
        "'v1' has no valid run in 1 of 3 pairs",
    }
    assert found.notes == ("total_s: no run that counts has it",)


def test_wrong_answers_stand_though_the_run_was_made_again() -> None:
    asked = study(pairs=2)
    made = [run(place, place // 2, f"v{place % 2}", {"tps": 100.0 + place}) for place in range(4)]
    wrong = made[1].model_copy(update={
        "verdict": "invalid", "reasons": ("q07: answers differ",), "codes": ("wrong-answers",),
    })  # fmt: skip
    assert outcome(asked, made).disqualified == {}
    found = outcome(asked, [made[0], wrong, *made[1:]])
    assert found.disqualified == {"v1": "q07: answers differ"}


def test_many_reasons_are_one_line() -> None:
    reasons = tuple(f"database {number}: throughput rose." for number in range(1, 10))
    why = run(0, 0, "v0", {"tps": 1.0}).model_copy(update={"reasons": reasons}).why_not
    assert reasons[1].removesuffix(".") in why and "database 3" not in why
    assert "7 more" in why


def test_a_variant_that_was_left_out_cannot_win(tmp_path: Path) -> None:
    """Also by its runs before that, and whoever asks."""
    asked = study(pairs=5)
    slots = schedule([one.name for one in asked.variants], asked.pairs, 1)
    book = StudyStore.begin(tmp_path, asked, slots)
    for slot in slots[:8]:
        tps = 100.0 + slot.place + 50 * (slot.variant == "v1")
        book.add(run(slot.place, slot.pair, slot.variant, {"tps": tps}))
    assert analysis.outcome(book).comparisons[0].verdict == "better"
    book.note(Note(kind="dropped", at=1.0, variant="v1", text="it crashed twice"))
    found = analysis.outcome(book)
    assert found.disqualified == found.dropped == {"v1": "it crashed twice"}
    (one,) = found.comparisons
    assert (one.verdict, one.disqualified) == ("inconclusive", "it crashed twice")
    assert one.percent is not None
    assert one.percent > 0


def test_a_variant_that_was_left_out_does_not_keep_a_study_from_its_end() -> None:
    asked = study(pairs=12, variants=3, margin=2.0)
    slots = schedule([one.name for one in asked.variants], asked.pairs, 1)
    # The last one ran three times, with values apart, and never again.
    made = [
        run(slot.place, slot.pair, slot.variant, {"tps": 100.0 + slot.place % 2 / 10})
        for slot in slots
        if slot.variant != "v2"
    ]
    made += [run(40 + at, at, "v2", {"tps": 10.0**at}) for at in range(1, 4)]
    assert not tight(asked, made)
    assert tight(asked, made, {"v2": "it crashed"})


def test_the_log_of_all_sessions_is_no_merit_of_maintenance() -> None:
    """Fewer transactions write less of it."""
    assert metrics.METRICS["maintenance_log"].wish == "neither"
