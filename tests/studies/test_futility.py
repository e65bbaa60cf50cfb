"""Studies end where what is left of them could not find the effect that was asked for."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from dyno.report.study import study_report
from dyno.studies.analysis import outcome
from dyno.studies.document import document
from dyno.studies.ending import ending, resume_words
from dyno.studies.execute import Work
from dyno.studies.forecast import forecast
from dyno.studies.futility import futility
from dyno.studies.model import Study, Variant
from dyno.studies.outcome import Futility
from dyno.studies.pairs import needed
from dyno.studies.schedule import Slot, schedule
from dyno.studies.store import Entry, StudyStore
from tests.report.html import Page
from tests.studies import books

SHIFTS = (-0.3, 0.25, 0.0, -0.2, 0.3)
"""Logarithms of the ratios of five pairs whose spread is wide, and whose mean is next to none."""


def asked(pairs: int = 20, **more: object) -> Study:
    study = books.study(pairs=pairs, reset="nothing", **more)
    first, second, *rest = study.variants
    other = second.model_copy(update={"target": "null:?mean_us=1"})
    return study.model_copy(update={"variants": (first, other, *rest)})


def made(shifts: tuple[float, ...], **more: object) -> list[Entry]:
    """Whole pairs, each 20 s long, whose ratios have these logarithms."""
    return [
        books.run(2 * pair + at, pair, f"v{at}", {"tps": 1000 * math.exp(shift * at)}, **more)
        for pair, shift in enumerate(shifts)
        for at in (0, 1)
    ]


def found(study: Study, entries: list[Entry], left: int, time_s: float = math.inf) -> object:
    return futility(study, entries, left, time_s, ())


def test_a_wide_spread_ends_a_study_with_what_it_would_take() -> None:
    study = asked(margin=2.0)
    for pairs in (3, 5):
        said = found(study, made(SHIFTS[:pairs]), 20 - pairs)
        assert isinstance(said, Futility)
        assert (said.variant, said.metric, said.pairs, said.left) == (
            "v1",
            "tps",
            pairs,
            20 - pairs,
        )
        assert said.pair_s == pytest.approx(20)
        assert said.needed == needed(2.0, said.sd_percent)
        assert said.least is not None
        assert said.least > pairs + 2 * said.left
    assert found(study, made(SHIFTS[:2]), 18) is None, "two pairs give no spread"


def test_it_goes_on_where_something_may_be_found_or_is_asked_of_all_runs() -> None:
    wide = made(SHIFTS)
    assert found(asked(margin=40.0), wide, 15) is None, "the margin can be found"
    assert found(asked(), made((0.001, -0.002, 0.0015)), 17) is None, "a narrow spread"
    assert found(asked(), made((0.6, 0.9, 0.75)), 17) is None, "it is found already"
    assert found(asked(), made((0.3, 0.0, 0.42, 0.1)), 16) is None, "what is seen can be found"
    assert found(asked(early_stop=False), wide, 15) is None
    assert found(asked(), wide, 1) is None, "one pair more saves nothing"
    assert found(books.study(pairs=20), wide, 15) is None, "the noise itself is what is asked"
    disturbed = made(SHIFTS, verdict="disturbed")
    assert isinstance(found(asked(), disturbed, 15), Futility)
    assert found(asked(), made(SHIFTS, verdict="invalid"), 15) is None, "nothing is known"


def test_one_comparison_that_may_be_found_is_enough() -> None:
    study = asked(headline=("tps", "p95_ms"))
    both = [
        entry.model_copy(update={"figures": {**entry.figures, "p95_ms": 10 + entry.place / 1000}})
        for entry in made(SHIFTS)
    ]
    assert found(study, both, 15) is None


def test_the_time_limit_bounds_the_pairs_that_are_left() -> None:
    study = asked(pairs=1000, margin=5.0)
    shifts = (0.1, -0.1, 0.08, -0.08)
    assert found(study, made(shifts), 996) is None
    said = found(study, made(shifts), 996, time_s=90.0)
    assert isinstance(said, Futility)
    assert said.left == 5, "20 s each; the last begins within the limit"


@pytest.mark.long
def test_what_could_be_found_is_hardly_ever_given_up() -> None:
    """Of studies that have just the pairs for their margin; noise that is normal."""
    rng = np.random.default_rng(14)
    given_up = {}
    for pairs, sd in ((10, 0.0185), (20, 0.03), (10, 0.3)):
        study = asked(pairs=pairs)
        stopped = 0
        for _ in range(150):
            shifts = tuple(rng.normal(0.02, sd, pairs))
            stopped += any(
                found(study, made(shifts[:so_far]), pairs - so_far)
                for so_far in range(3, pairs - 1)
            )
        given_up[pairs, sd] = stopped / 150
    assert given_up[10, 0.0185] <= 0.02
    assert given_up[20, 0.03] <= 0.02
    assert given_up[10, 0.3] >= 0.8, "what is in vain is given up"


@pytest.mark.parametrize("early_stop", [True, False])
def test_a_study_ends_early_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, early_stop: bool
) -> None:
    study = asked(pairs=5, early_stop=early_stop)
    book = StudyStore.begin(tmp_path / "s", study, schedule(["v0", "v1"], 5, 1))
    every = {(one.pair, one.variant): one for one in made(SHIFTS)}

    def run(_work: Work, slot: Slot, attempt: int, variant: Variant, _out: Path) -> Entry:
        moved = {"place": slot.place, "started": 10.0 * slot.place, "ended": 10.0 * slot.place + 8}
        return every[slot.pair, variant.name].model_copy(update=moved)

    monkeypatch.setattr(Work, "_run", run)
    Work(book, print, forecast(study, book.slots, [], tmp_path)).run()
    state = ending(book)
    found = outcome(book)
    if not early_stop:
        assert (state.kind, len(book.entries())) == ("over", 10)
        assert found.futility is None
        return
    assert (state.kind, len(book.entries())) == ("early", 6)
    assert state.goes_on
    assert resume_words(book, state).endswith(" --no-early-stop")
    assert found.futility is not None
    assert (found.futility.pairs, found.futility.left) == (3, 2)
    written = document(book, found)
    assert written["state"]["kind"] == "early"
    assert written["outcome"]["futility"]["needed"] == found.futility.needed
    page = Page(study_report(book, found))
    row = page.table("Pairs needed to detect 2 %")[1]
    assert row[0] == "v1"
    assert f"{found.futility.needed:,}" in row
    assert "too few to detect 2 %" in page.root.all("div", class_="verdict")[0].text
    # It continues on request.
    book.go_on(None, early_stop=False)
    again = StudyStore.open(book.folder)
    Work(again, print, forecast(study, book.slots, [], tmp_path)).run()
    assert (ending(again).kind, len(again.entries())) == ("over", 10)
    assert outcome(again).futility is None
