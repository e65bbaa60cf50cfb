"""How long a study takes: a range before it begins, and what is left by what its runs took."""

from __future__ import annotations

from pathlib import Path

import pytest

from dyno.studies import lengths, spec, taken
from dyno.studies.execute import Work
from dyno.studies.forecast import Forecast, between, forecast
from dyno.studies.lengths import Length
from dyno.studies.model import Study, Variant
from dyno.studies.schedule import Slot, schedule
from dyno.studies.store import Entry, Note, StudyStore
from tests.studies import books

TPCC = """
headline = ["tps"]
pairs = 3
replace = 2
[base]
workload = "tpcc"
target = "embedded:postgresql"
scale = 1
[base.run]
users = 8
warmup = "5s"
duration = "5s"
[factors]
"settings.memory" = ["128MB", "512MB"]
"""


def plain(replace: int, seconds: float = 10.0, most: float = 15.0) -> Forecast:
    length = Length(seconds, "", most)
    nothing = Length(0.0, "", 0.0)
    names = ("v0", "v1")
    return Forecast(
        runs=dict.fromkeys(names, length), resets=dict.fromkeys(names, nothing), data=(),
        reloads={}, invalid=0.1, replace=replace,
    )  # fmt: skip


def test_a_study_whose_runs_are_made_again_is_within_the_range(tmp_path: Path) -> None:
    """As one was on a busy machine: 204 s, where 128 s had been forecast."""
    path = tmp_path / "mine.toml"
    path.write_text(TPCC)
    study = spec.read(str(path))
    slots = schedule([one.name for one in study.variants], study.pairs, study.seed)
    found = forecast(study, slots, [], tmp_path)
    low, high = found.range_s(slots)
    assert low < 204 < high
    assert low < found.total_s(slots) < high
    without = forecast(study.model_copy(update={"replace": 0}), slots, [], tmp_path)
    assert without.range_s(slots)[1] < high
    assert without.total_s(slots) == pytest.approx(low)
    text = " ".join(found.lines(study, slots, tmp_path))
    assert between(low, high) in text
    assert " to " in between(low, high)


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (88, 236, "about 90 s to 4 min"),
        (300, 305, "about 5 min"),
        (5400, 9100, "about 1 h 30 min to 2 h 30 min"),
    ],
)
def test_ranges_are_round(low: float, high: float, words: str) -> None:
    assert between(low, high) == words


def test_what_earlier_runs_took_makes_the_range(tmp_path: Path) -> None:
    study = books.study(pairs=3)
    study = study.model_copy(update={"reset": "nothing"})
    slots = schedule(["v0", "v1"], 3, 1)
    book = StudyStore.begin(tmp_path / "studies" / "before", study, slots)
    for slot in slots:
        invalid = slot.place in {1, 2}
        book.add(books.run(
            slot.place, slot.pair, slot.variant, {"tps": 1.0}, started=100.0 * slot.place,
            ended=100.0 * slot.place + 20 + slot.place, verdict="invalid" if invalid else "valid",
        ))  # fmt: skip
    found = forecast(study, slots, [book], tmp_path)
    assert found.runs["v0"].seconds == pytest.approx(23.5)
    assert found.runs["v0"].most >= 25
    assert 0.1 < found.invalid < 1 / 3, "two of six, and a rule of thumb beside so few"
    assert found.repeats(6) == pytest.approx(6 * found.invalid)


def variant(**run: str | int) -> Variant:
    workload, target = run.pop("workload", "tpcc"), "embedded:postgresql"
    return Variant.model_validate(
        {"name": "a", "workload": workload, "target": target, "scale": 1, "run": run}
    )


def test_maintenance_has_a_time_before_it_and_one_after_it() -> None:
    options = {"warmup": "5s", "duration": "20s"}
    without, with_it = (
        lengths.run(variant(**one), []) for one in (options, {**options, "during": "reindex"})
    )
    assert with_it.seconds - without.seconds == pytest.approx(2 * 20)
    assert with_it.most - without.most == pytest.approx(2 * 20)


def test_queries_run_before_during_and_after_maintenance() -> None:
    options: dict[str, str | int] = {"workload": "tpch"}
    without = lengths.run(variant(**options), [])
    short = lengths.run(variant(**options, during="reindex", duration="1s"), [])
    long = lengths.run(variant(**options, during="reindex", duration="600s"), [])
    (once,) = (lengths.run(variant(**options, no_warming=1), []).seconds,)
    pass_s = without.seconds - once  # one pass less
    assert pass_s > 1
    assert short.seconds - without.seconds == pytest.approx(3 * pass_s)
    assert short.most - without.most >= 3 * pass_s
    assert long.seconds - without.seconds == pytest.approx(3 * 600)


def entry(place: int, variant: str, started: float, ended: float) -> Entry:
    return books.run(place, place // 2, variant, {"tps": 1.0}, started=started, ended=ended)


def test_a_run_takes_what_lies_before_it_as_well() -> None:
    """But neither the first load nor a pause between two sessions."""
    study: Study = books.study()
    notes = [
        Note(kind="begun", at=1000),
        Note(kind="load", at=1100, variant="v0", seconds=100),
        Note(kind="restore", at=1105, variant="v0", seconds=5),
        Note(kind="restore", at=1130, variant="v1", seconds=5),
        Note(kind="ended", at=1200, how="interrupted"),
        Note(kind="begun", at=9000),
        Note(kind="restore", at=9003, variant="v1", seconds=3),
    ]
    made = [entry(0, "v0", 1105, 1125), entry(1, "v1", 1132, 1150), entry(2, "v1", 9003, 9023)]
    found = taken.cycles(study, made, notes)
    assert found == {"v0": [25.0], "v1": [25.0, 23.0]}


def test_what_is_left_is_learnt_from_what_was_taken() -> None:
    slots = schedule(["v0", "v1"], 4, 1)
    ahead = plain(replace=2)
    assert ahead.left_s(slots, {}) == pytest.approx(80)
    assert ahead.left_s(slots, {"v0": [20.0], "v1": [20.0]}) == pytest.approx(160)
    assert ahead.left_s(slots, {"v0": [20.0]}) == pytest.approx(160), "v1 is as slow as v0"
    assert ahead.left_s(slots, {"v0": [20.0]}, repeats=1.0) == pytest.approx(180)
    assert ahead.repeats(8) == pytest.approx(0.8)
    assert ahead.repeats(8, made=2) == 0, "no more are made again"
    assert ahead.repeats(8, made=1, share=0.5) == 1


def test_the_time_left_follows_the_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its runs take three times what was forecast."""
    asked = books.study(pairs=3, reset="nothing")
    book = StudyStore.begin(tmp_path / "s", asked, schedule(["v0", "v1"], 3, 1))
    monkeypatch.setattr("time.time", lambda: 0.0)

    def run(_work: Work, slot: Slot, attempt: int, variant: Variant, _out: Path) -> Entry:
        return books.run(
            slot.place, slot.pair, variant.name, {"tps": 1.0}, started=30.0 * slot.place,
            ended=30.0 * slot.place + 30,
        )  # fmt: skip

    monkeypatch.setattr(Work, "_run", run)
    said: list[str] = []
    Work(book, said.append, plain(replace=0)).run()
    assert "[30 s; 2 min 30 s left]" in said[0]
    assert "[30 s; 30.0 s left]" in said[4]
