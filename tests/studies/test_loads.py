"""Studies of loads alone: what they cannot be, and that each load begins from nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from dyno.errors import UsageError
from dyno.plans.elsewhere import Elsewhere
from dyno.studies import asked as plans
from dyno.studies import loads, spec
from dyno.studies.model import Study
from dyno.workspace import engine_folders, places
from tests.process import document, dyno

HEAD = (
    'headline = ["load_s"]\n[base]\nworkload = "tpch"\nverb = "load"\n'
    'target = "embedded:sqlite"\nscale = 0.01\n'
)
KEYS = '[[variants]]\nname = "keys"\n"load.layout" = "keys"\n'


def read(tmp_path: Path, text: str) -> Study:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    return spec.read(str(path))


def test_a_study_of_loads_runs_nothing_else(tmp_path: Path) -> None:
    asked = read(tmp_path, HEAD + KEYS)
    _, keys = asked.variants
    assert not plans.loads(keys, asked, Path("out"))
    assert plans.run(keys, "restart", 3, Path("/out")).words() == [
        *("load", "tpch", "--target", "embedded:sqlite", "--scale", "0.01", "--layout", "keys"),
        *("--replace", "--out", "/out"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            HEAD.replace("load_s", "total_s") + KEYS,
            "'total_s' is a metric of a run, but base.verb",
        ),
        (HEAD.replace('verb = "load"', "") + KEYS, "'load_s' is a metric of a load"),
        (HEAD.replace('"load"\n', '"lod"\n') + KEYS, "verb is 'lod'; it must be"),
        (HEAD.replace("scale = 0.01", "") + KEYS, "and a scale"),
        (HEAD + KEYS + '"run.users" = 2\n', "remove run.users"),
        ('reset = "cold"\n' + HEAD + KEYS, "always starts from scratch"),
        (HEAD + KEYS + '"load.databases" = 2\n', "one load per run"),
        (HEAD.replace("tpch", "ch") + KEYS, 'use workload = "tpcc"'),
    ],
)
def test_what_a_study_of_loads_cannot_be(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read(tmp_path, text)


STUDY = """
pairs = 2
headline = ["load_rows"]
exploratory = ["load_s", "load_bytes", "index_s", "step_s"]
replace = 0

[base]
workload = "tpch"
verb = "load"
target = "embedded:sqlite"
scale = 0.01

[[variants]]
name = "keys"
"load.layout" = "keys"
"""


@pytest.mark.long
def test_runs_of_loads_have_the_metrics_of_each(tmp_path: Path, out: Path) -> None:
    study = tmp_path / "mine.toml"
    study.write_text(STUDY)
    done = dyno("study", study, "--json", "--out", out)
    made = document(done)
    values = {run["variant"]: run["figures"] for run in made["runs"]}
    assert set(values) == {"base", "keys"}
    for found in values.values():
        assert found["load_rows"] > 0
        assert found["load_bytes"] > 1_000_000
    assert values["base"]["step_s.index"] > 0
    assert "step_s.index" not in values["keys"]
    assert "Its data was removed, " in done.stderr
    assert made["state"]["kind"] == "over"
    assert not list((out / "studies" / "mine").glob("data-*/engines"))
    assert all(
        (out / "studies" / "mine" / run["bundle"] / "run.json").exists() for run in made["runs"]
    )


def test_a_load_from_nothing_finds_no_engine_and_leaves_what_is_not_ours(tmp_path: Path) -> None:
    engine_folders.claim(tmp_path, "postgresql")
    home = engine_folders.home_of(tmp_path, "postgresql")
    (tmp_path / "volume").mkdir()
    place = places.claim(tmp_path / "volume", home)
    other = home.parent / "of-the-user"
    other.mkdir()
    loads.remove_engines(tmp_path)
    assert not home.exists()
    assert not place.exists()
    assert other.exists()
    loads.remove_engines(tmp_path)


def test_runs_and_loads_of_a_study_ask_agents(tmp_path: Path) -> None:
    text = (
        'headline = ["tps"]\n[base]\nworkload = "tpcc"\nscale = 1\n'
        'target = "postgresql://bench@db1/bench"\n'
        '[base.load]\nagent = "db1=ssh://db1"\n[base.run]\n'
        'agent = "db1=ssh://db1 app=ssh://app"\nexporter = "http://db1:9100"\n'
        '[[variants]]\nname = "more"\n"run.users" = "8"\n'
    )
    asked = read(tmp_path, text)
    for variant in asked.variants:
        plan = plans.run(variant, asked.reset, 3, tmp_path)
        assert isinstance(plan, Elsewhere)
        assert plan.agent == ("db1=ssh://db1", "app=ssh://app")
        assert plan.exporter == ("http://db1:9100",)
        (loaded,) = plans.loads(variant, asked, tmp_path)
        assert isinstance(loaded, Elsewhere) and loaded.agent == ("db1=ssh://db1",)
