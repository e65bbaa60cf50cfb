"""Studies as they are written: each mistake gets one clear line before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from dyno import studies
from dyno.errors import UsageError
from dyno.studies import adhoc, asked, criteria, overrides, spec
from dyno.studies.model import Study
from dyno.studies.store import StudyStore

BASE = (
    'headline = ["tps"]\n[base]\nworkload = "tpcc"\ntarget = "embedded:postgresql"\nscale = 2\n'
    '[base.run]\nusers = 8\n[base.settings]\nmemory = "1GB"\n'
)
MORE = '[[variants]]\nname = "more"\n"settings.memory" = "4GB"\n'


def read(tmp_path: Path, text: str) -> Study:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    return spec.read(str(path))


def test_variants_differ_in_what_they_say(tmp_path: Path) -> None:
    found = read(tmp_path, BASE + MORE)
    base, more = found.variants
    assert (base.name, more.name) == ("base", "more")
    assert (base.settings, more.settings) == ({"memory": "1GB"}, {"memory": "4GB"})
    assert base.data == more.data
    assert asked.run(more, "restart", 3, Path("/out")).words() == [
        *("run", "tpcc", "--target", "embedded:postgresql", "--scale", "2", "--seed", "3"),
        *("--users", "8", "--set", "memory=4GB", "--out", "/out"),
    ]


def test_what_one_variant_is_set_to_does_not_shape_the_data_of_all(tmp_path: Path) -> None:
    text = BASE.replace('memory = "1GB"', 'memory = "1GB"\ncommit = "relaxed"')
    found = read(
        tmp_path,
        text + MORE + '"settings.parallelism" = 4\n'
        '[[variants]]\nname = "proven"\n"settings.checksums" = "on"\n',
    )
    base, more, proven = found.variants
    (shared,) = asked.loads(base, found, Path("/out"))
    assert [shared] == asked.loads(more, found, Path("/out"))
    assert shared.words() == [
        *("load", "tpcc", "--target", "embedded:postgresql", "--scale", "2", "--replace"),
        *("--set", "commit=relaxed", "--out", "/out"),
    ]
    (own,) = asked.loads(proven, found, None)
    assert own.settings == ("memory=1GB", "commit=relaxed", "checksums=on"), "data of its own"
    assert asked.run(more, "restart", 3, None).command.endswith(
        "--set memory=4GB --set commit=relaxed --set parallelism=4"
    )


def test_factors_make_every_combination(tmp_path: Path) -> None:
    text = BASE + '[factors]\n"run.users" = [1, 4]\n"load.layout" = ["none", "keys"]\n'
    found = read(tmp_path, text)
    assert [variant.name for variant in found.variants] == [
        "users=1 layout=none", "users=1 layout=keys", "users=4 layout=none", "users=4 layout=keys",
    ]  # fmt: skip
    assert len({variant.data for variant in found.variants}) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "headline is missing"),
        (BASE, "define either"),
        (BASE + MORE + '[factors]\n"run.users" = [1, 2]\n', "define either"),
        (BASE.replace('"tps"', '"tsp"') + MORE, "Did you mean 'tps'"),
        (BASE.replace('"tpcc"', '"tpcd"') + MORE, "Unknown workload 'tpcd'. Did you mean 'tpc"),
        (BASE + MORE.replace("settings.memory", "settings.memry"), "Did you mean 'memory'"),
        (
            BASE + MORE.replace("settings.memory", "memory"),
            "'memory' cannot vary. Did you mean 'settings.memory' or 'limits.memory'?",
        ),
        (BASE + MORE.replace("settings.memory", "cpu"), "Did you mean 'limits.cpu'?"),
        (BASE + MORE.replace("settings.memory", "setting.memory"), "mean 'settings.memory'?"),
        (BASE + MORE.replace("settings.memory", "scal"), "Did you mean 'scale'?"),
        (BASE + MORE.replace("settings.memory", "users"), "'run.users' or 'load.users'"),
        (BASE + '[[variants]]\nname = "same"\n', "has no difference"),
        (BASE + MORE + MORE, "two variants are named 'more'"),
        (BASE + '[factors]\n"run.users" = [1]\n', "needs at least two levels"),
        (
            BASE.replace("embedded:postgresql", "postgresql://u:secret@h/d") + MORE,
            "The target of 'base' contains a password. Use the environment",
        ),
        ('reset = "reboot"\n' + BASE + MORE, "reset is 'reboot'; it must be"),
        ("pairs = 1\n" + BASE + MORE, "pairs is 1; input should be greater than or equal to 2"),
        (BASE.replace('"1GB"', "1GB") + MORE, "is not valid TOML: .* line 9, column"),
        (BASE + MORE.replace("settings.memory", "workload"), "Unknown workload '4GB'"),
        (
            BASE + MORE.replace('settings.memory" = "4GB"', 'scale" = true'),
            "must be a number above",
        ),
        ('time_limit = "1 day"\n' + BASE + MORE, "Study .*: '1 day' is not a valid time"),
        ('criteria = ["p95_ms < 5"]\n' + BASE + MORE, r"several members; use one, or p95_ms\.\*"),
        ('criteria = ["p95_ms.new_ordr < 5"]\n' + BASE + MORE, "Did you mean 'new_order'"),
        ('criteria = ["tsp > 5"]\n' + BASE + MORE, "unknown metric 'tsp'. Did you mean 'tps'"),
        ('criteria = ["tps.x > 5"]\n' + BASE + MORE, "tps has no members; remove '.x'"),
        ('criteria = ["tps > 5 /s"]\n' + BASE + MORE, "is not valid. Write it as"),
    ],
)
def test_a_mistake_is_reported_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read(tmp_path, text)


def test_what_is_turned_off_stays_off(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        'headline = ["queries_per_h"]\n[base]\nworkload = "tpch"\ntarget = "embedded:duckdb"\n'
        'scale = 0.01\n[base.run]\ntest = "throughput"\nrefresh = false\ncold = false\n'
        '[[variants]]\nname = "with"\n"run.refresh" = true\n'
    )
    base, other = spec.read(str(path)).variants
    words = [asked.run(one, "restart", 3, None).words() for one in (base, other)]
    assert "--no-refresh" in words[0] and "--refresh" in words[1]
    assert "--cold" not in words[0]


def test_criteria_are_of_metrics() -> None:
    every, one = (criteria.parse(text, ["tpcc"]) for text in ("p95_ms.* <= 5", "tps>1e3"))
    assert (every.text, one.text) == ("p95_ms.* <= 5", "tps > 1e3")
    values = {"p95_ms.new_order": 5.0, "p95_ms.payment": 5.1, "tps": 1000.0}
    assert every.broken(values) == ["p95_ms.* <= 5 failed: p95_ms.payment 5.1"]
    assert one.broken(values) == ["tps > 1e3 failed: tps 1,000"]
    assert every.broken({}) == ["p95_ms.* <= 5 failed: metric missing"]


def test_what_is_limited_is_looked_at(tmp_path: Path) -> None:
    found = read(tmp_path, 'criteria = ["p95_ms.new_order<5", "tps > 1"]\n' + BASE + MORE)
    assert found.criteria == ("p95_ms.new_order < 5", "tps > 1")
    assert (found.headline, found.exploratory) == (("tps",), ("p95_ms",))


def test_the_command_line_changes_the_base(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(BASE.replace("users = 8", "no_criteria = true") + MORE)
    given = overrides.Overrides(
        target="postgresql://h/d", scale=100.0, settings=("parallelism=4",), pairs=8, margin=5.0,
        paths=("run.duration=60s", "run.no-criteria=false"), time_limit="2h",
    )  # fmt: skip
    found = spec.read(str(path), given)
    base, more = found.variants
    assert {(one.target, one.scale) for one in found.variants} == {("postgresql://h/d", 100)}
    assert base.run == {"no_criteria": False, "duration": "60s"}
    assert (base.settings["parallelism"], more.settings["memory"]) == (4, "4GB")
    assert (found.pairs, found.margin, found.time_limit_s) == (8, 5, 7200)
    assert found.reset == "nothing", "a server of the user's is not started again"
    limited = path.read_text() + '[base.limits]\nmemory = "1GB"\n'
    path.write_text(limited)
    bare = spec.read(str(path), overrides.Overrides(paths=("limits.memory=", "run.duration=")))
    assert {len(one.limits) for one in bare.variants} == {0}
    for wrong, words in (
        ({"settings": ("memory=8GB",)}, "settings.memory is what the variants differ in"),
        ({"paths": ("runn.users=1",)}, "cannot vary. Did you mean 'run.users'?"),
        ({"paths": ("run.users",)}, "is not PATH=VALUE"),
        ({"paths": ("scale=2",), "scale": 3.0}, "'scale' is given twice"),
    ):
        with pytest.raises(UsageError, match=words):
            spec.read(str(path), overrides.Overrides(**wrong))


@pytest.mark.parametrize(
    ("target", "shared"),
    [("postgresql://h/d", "nothing"), ("sqlite:d.db", "restart"), ("embedded:mysql", "reload")],
)
def test_transactions_begin_with_the_same_data(tmp_path: Path, target: str, shared: str) -> None:
    """Other data takes turns in a server's database: a run would find it fresh or used, by lot."""
    text = (
        f'headline = ["tps"]\n[base]\nworkload = "tpcc"\ntarget = "{target}"\nscale = 1\n'
        '[factors]\n"load.layout" = ["default", "keys"]\n'
    )
    path = tmp_path / "mine.toml"
    path.write_text(text)
    assert spec.read(str(path)).reset == "reload"
    path.write_text(text.replace("load.layout", "settings.memory"))
    assert spec.read(str(path)).reset == shared


def test_ad_hoc(tmp_path: Path) -> None:
    given = {"workload": "tpcc", "target": "embedded:postgresql", "scale": None, "both": (),
             "first": ("settings.memory=2GiB",), "second": ("settings.memory=4GiB",),
             "metric": (), "margin": None, "pairs": 5}  # fmt: skip
    found = adhoc.study(**given, minutes=10)
    assert [v.settings["memory"] for v in found.variants] == ["2GiB", "4GiB"]
    assert found.variants[0].run["duration"] == "47s", "60 s a run, with warm-up, start and end"
    for wrong, words in (
        ({"both": ("target=embedded:sqlite",)}, "Use --target instead of --with"),
        ({"second": given["first"]}, "A and B are identical. `dyno study aa`"),
    ):
        with pytest.raises(UsageError, match=words):
            adhoc.study(**{**given, **wrong}, minutes=10)
    with pytest.raises(UsageError, match="1 min is too short for 10 runs"):
        adhoc.study(**given, minutes=1)
    with pytest.raises(UsageError, match="There is no such study"):
        adhoc.numbered(found, tmp_path, resume=True)
    StudyStore.begin(tmp_path / "studies" / "compare", found, [])
    assert adhoc.numbered(found, tmp_path, resume=True).name == "compare"
    second = adhoc.numbered(found, tmp_path, resume=False)
    StudyStore.begin(tmp_path / "studies" / second.name, second, [])
    assert second.name == "compare-2"
    other = found.model_copy(update={"margin": 5.0})
    assert adhoc.numbered(other, tmp_path, resume=False).name == "compare-3"
    with pytest.raises(UsageError, match="There is no such study"):
        adhoc.numbered(other, tmp_path, resume=True)
    assert adhoc.usual_target("io", tmp_path / "not" / "there") == str(tmp_path)


@pytest.mark.parametrize("name", studies.names())
def test_every_study_that_is_shipped(name: str) -> None:
    found = spec.read(name)
    assert found.question
    assert found.design
    assert found.rule
    assert found.misleads
