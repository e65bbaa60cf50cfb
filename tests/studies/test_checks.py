"""Refusals, messages and the forecast before anything runs."""

from __future__ import annotations

import math
import time
from pathlib import Path

import pytest

from dyno.config.units import bytes_text
from dyno.errors import DiskFullError, DynoError, UsageError
from dyno.runner.study import require
from dyno.studies import checks, earlier, spec
from dyno.studies.forecast import forecast
from dyno.studies.model import Study
from dyno.studies.schedule import schedule
from dyno.studies.store import Entry, Note, StudyStore

TPCC = (
    'headline = ["tps"]\n[base]\nworkload = "tpcc"\ntarget = "embedded:postgresql"\nscale = 2\n'
    '[base.run]\nusers = 8\nduration = "20s"\n[factors]\n"run.users" = [1, 2]\n'
)
TPCH = (
    'headline = ["total_s"]\n[base]\nworkload = "tpch"\ntarget = "embedded:duckdb"\nscale = 0.1\n'
    '[factors]\n"settings.memory" = ["1GB", "2GB"]\n'
)


def read(folder: Path, text: str) -> Study:
    path = folder / "mine.toml"
    path.write_text(text)
    return spec.read(str(path))


@pytest.mark.parametrize(
    ("text", "old", "new", "words"),
    [
        (TPCC, "users = 8", 'layout = "x"', "unknown option run.layout"),
        (TPCC, "users = 8", "scale = 8", "run.scale is set by the study"),
        (TPCC, '"20s"', '"20x"', "'users=1': Invalid value for '--duration': '20x'"),
        (TPCC, "[1, 2]", "[1, 0]", "'users=0': Invalid value for '--users': 0 is not in"),
        (TPCC, "run.users", "load.layout", "'layout=1': Unknown layout '1'"),
        (TPCC, '"run.users" = [1, 2]', '"load.layout" = ["keys", "key"]', "Did you mean 'keys'"),
        (TPCC, "users = 8", 'during = "reindx"', "Did you mean 'reindex'"),
        (TPCC, "users = 8", 'cold = true', "--cold applies to queries; tpcc has none"),
        (TPCC, "users = 8", 'criterion = "cpuu < 5 %"', "Did you mean 'cpu'"),
        (TPCC, "embedded:postgresql", "embedded:postgres", "Did you mean 'postgresql'"),
        (TPCC, "embedded:postgresql", "embedded:duckdb", "The duckdb target does not support"),
        (TPCC, "embedded:postgresql", "null:", "The null target does not support dyno load"),
        (TPCC, '"tps"', '"total_s"', "a run of tpcc has no total_s. Known for it: tps, new_orders"),
        (TPCH, "headline", 'criteria = ["load_s < 5"]\nheadline', "a run of tpch has no load_s"),
        (TPCH, '"1GB"', '"1 gigabyte"', "memory=1 gigabyte: use a size like 64MB"),
        (TPCH, "settings.memory", "settings.checksums", "checksums"),
        (TPCC, 'headline', 'reset = "cold"\nheadline', 'reset = "cold" is for queries'),
        (TPCC, "scale = 2", "", "scale is missing, without which no data is loaded"),
        (TPCC, 'headline', 'reset = "restart"\nheadline', ""),
        (TPCC, 'tps"]\n[base]\nworkload = "tpcc"\ntarget = "embedded:postgresql"',
         'iops"]\n[base]\nworkload = "io"\ntarget = "."', "unknown option run.users"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(
    tmp_path: Path, text: str, old: str, new: str, words: str
) -> None:
    changed = text.replace(old, new)
    assert changed != text

    def look() -> None:
        study = read(tmp_path, changed)
        require(study, tmp_path / "studies" / "mine")

    if not words:
        look()
    else:
        with pytest.raises(DynoError) as caught:
            look()
        assert words in str(caught.value)
        assert "\n" not in str(caught.value)
    assert not (tmp_path / "studies").exists(), "nothing is made"


@pytest.mark.parametrize(
    ("reset", "target", "scale", "words"),
    [
        ("restart", "postgresql://h/d", 2, "only an embedded server can restart"),
        ("cold", "mysql://h/d", 2, "only an embedded server can restart"),
        ("reload", "postgresql://h/d", None, "needs a scale: nothing is loaded"),
    ],
)
def test_a_reset_that_contradicts_the_target(
    tmp_path: Path, reset: str, target: str, scale: float | None, words: str
) -> None:
    text = TPCC.replace("embedded:postgresql", target).replace(
        "headline", f'reset = "{reset}"\nheadline', 1
    )
    if scale is None:
        text = text.replace("scale = 2\n", "")
    with pytest.raises(UsageError, match=words):
        checks.require(read(tmp_path, text))


def entries(study: Study, sd: float, seconds: float = 40.0) -> list[Entry]:
    """Valid runs of a study, whose pairs differ by ``sd`` up and down."""
    made: list[Entry] = []
    for slot in schedule([one.name for one in study.variants], study.pairs, 1):
        first = slot.variant == study.variants[0].name
        value = 100.0 if first else 100.0 * math.exp(sd if slot.pair % 2 else -sd)
        made.append(Entry(
            place=slot.place, attempt=1, variant=slot.variant, pair=slot.pair, bundle="b", code=0,
            verdict="valid", figures={"tps": value}, started=1e9, ended=1e9 + seconds,
        ))  # fmt: skip
    return made


def book(out: Path, study: Study, sd: float = 0.05) -> StudyStore:
    slots = schedule([one.name for one in study.variants], study.pairs, study.seed)
    made = StudyStore.begin(out / "studies" / study.name, study, slots)
    for entry in entries(study, sd):
        made.add(entry)
    made.note(Note(kind="load", at=2e9, variant=study.variants[0].name, data=1, seconds=30.0))
    return made


def test_pairs_for_the_margin_come_from_earlier_studies(tmp_path: Path, out: Path) -> None:
    study = read(tmp_path, TPCC)
    none = checks.warnings(study, earlier.known(study, earlier.books(out)))
    assert none == [
        "The number of pairs for a margin of 2 % is unknown on this machine; `dyno study aa "
        "--workload tpcc --target embedded:postgresql` measures it."
    ]
    book(out, study.model_copy(update={"name": "aa"}), sd=0.05)
    (found,) = earlier.known(study, earlier.books(out))
    assert found.metric == "tps"
    assert found.sd_percent == pytest.approx(5.6, abs=0.2)
    (words,) = checks.warnings(study, [found])
    assert "minimum detectable effect with 5 pairs" in words
    assert "2 % needs" in words
    assert words.endswith("Too few pairs for the margin.")
    wide = study.model_copy(update={"margin": 20.0})
    assert "Too few" not in checks.warnings(wide, [found])[0]
    few = checks.warnings(study.model_copy(update={"pairs": 2}), [])
    assert few[0].startswith("! 2 pairs: the intervals have one degree of freedom")
    other = study.model_copy(update={
        "variants": tuple(one.model_copy(update={"scale": 4.0}) for one in study.variants)
    })  # fmt: skip
    assert earlier.known(other, earlier.books(out)) == []


def test_the_forecast_of_the_duration(tmp_path: Path, out: Path) -> None:
    asked = read(tmp_path, TPCC)
    assert asked.reset == "reload", "transactions leave more data than they found"
    study = asked.model_copy(update={"reset": "restart"})
    slots = schedule([one.name for one in study.variants], study.pairs, study.seed)
    rule = forecast(study, slots, [], out)
    assert {one.source for one in rule.runs.values()} == {"from its options"}
    assert rule.runs["users=1"].seconds == pytest.approx(20 + 5 + 8)
    assert [one.variants for one in rule.data] == [("users=1", "users=2")]
    assert "rule of thumb" in rule.data[0].load.source
    printed = "\n".join(rule.lines(study, slots, out))
    assert "Duration: about 6 min to " in printed
    assert "Space: about" in printed
    reload = study.model_copy(update={"reset": "reload"})
    kept = forecast(reload, slots, [], out)
    assert kept.space_bytes == rule.space_bytes * (1 if kept.shared else 2)
    assert "The saved state " in "\n".join(kept.lines(reload, slots, out))

    book(out, study)
    again = forecast(study, slots, earlier.books(out), out)
    assert (again.runs["users=1"].seconds, again.data[0].load.seconds) == (40, 30)
    assert again.runs["users=1"].source == "median of 5 runs of the same"
    assert again.range_s(slots)[0] == pytest.approx(30 + 10 * 40)
    assert again.total_s(slots) > 30 + 10 * 40, "some runs will be made again"
    assert again.left_s(slots[-1:], {slots[-1].variant: [7.0]}) == 7
    limited = study.model_copy(update={"time_limit_s": 60.0})
    assert "Time limit 60.0 s" in "\n".join(again.lines(limited, slots, out))


def test_data_that_shares_a_database_is_loaded_in_turn(tmp_path: Path, out: Path) -> None:
    text = 'reset = "nothing"\n' + TPCC.replace("embedded:postgresql", "postgresql://h/d")
    study = read(tmp_path, text.replace('"run.users" = [1, 2]', '"scale" = [2, 4]'))
    slots = schedule([one.name for one in study.variants], study.pairs, study.seed)
    found = forecast(study, slots, [], out)
    assert set(found.reloads) == {"scale=2", "scale=4"}
    printed = "\n".join(found.lines(study, slots, out))
    assert "reloaded" in printed
    assert found.space_bytes == 0, "it is not in this folder"
    own = forecast(read(tmp_path, TPCC.replace("scale = 2", "scale = 4")), slots[:1], [], out)
    single = own.space_bytes / (1 if own.shared else 2)
    assert found.elsewhere_bytes == {"postgresql://h/d": single}, "the larger of those in turn"
    assert (
        f"Space: about {bytes_text(int(single))} at postgresql://h/d, estimated from the scale"
        in printed
    )
    each = study.model_copy(update={"reset": "reload"})
    again = forecast(each, slots, [], out)
    runs = sum(again.runs[slot.variant].seconds for slot in slots)
    loads = {name: one.load.seconds for one in again.data if one.load for name in one.variants}
    put_back = sum(loads[slot.variant] for slot in slots)
    assert again.range_s(slots)[0] == pytest.approx(runs + put_back), "a load a run, and no more"


def test_data_that_does_not_fit_is_refused(tmp_path: Path, out: Path) -> None:
    study = read(tmp_path, TPCC.replace("scale = 2", "scale = 1000000"))
    found = forecast(study, schedule(["users=1", "users=2"], 2, 1), [], out)
    with pytest.raises(DiskFullError, match="Free space, or use a smaller --scale"):
        found.require_space(out)


def test_differences_of_a_resumed_study(tmp_path: Path) -> None:
    before = read(tmp_path, TPCC)
    assert checks.differences(before, before.model_copy(update={"question": "?"})) == []
    assert checks.differences(before, before.model_copy(update={"time_limit_s": 5.0})) == []
    changed = read(tmp_path, "pairs = 7\n" + TPCC.replace("20s", "30s"))
    assert checks.differences(before, changed) == [
        "pairs 5, now 7",
        "'users=1' has run users=1, duration=20s, now users=1, duration=30s",
        "'users=2' has run users=2, duration=20s, now users=2, duration=30s",
    ]
    more = read(tmp_path, TPCC.replace("[1, 2]", "[1, 3]"))
    assert checks.differences(before, more) == ["variant 'users=2' is gone",
                                                "variant 'users=3' is new"]  # fmt: skip


def test_a_damaged_study_is_reported_in_one_line(tmp_path: Path, out: Path) -> None:
    made = book(out, read(tmp_path, TPCC))
    plan = made.folder / "study.json"
    whole = plan.read_text()
    for text in ("{", "[]", whole.replace('"pairs"', '"pears"')):
        plan.write_text(text)
        with pytest.raises(UsageError) as caught:
            StudyStore.open(made.folder)
        assert "\n" not in str(caught.value)
    assert earlier.books(out) == []


def test_time_before_a_kill_counts(tmp_path: Path, out: Path) -> None:
    made = book(out, read(tmp_path, TPCC))
    now = time.time()
    assert made.begin_session() == 0
    made.note(Note(kind="ended", at=now + 50))
    assert made.begin_session() == pytest.approx(50, abs=1)
    bundle = made.folder / "data-1" / "20260101T000000Z-0000"
    bundle.mkdir(parents=True)
    sign = bundle / "samples.jsonl"
    sign.touch()
    import os

    os.utime(sign, (now + 30, now + 30))  # it was killed then
    assert made.begin_session() == pytest.approx(80, abs=1)
    sign.unlink()
    assert made.begin_session() == pytest.approx(80, abs=1), "what is known stays known"
