"""Studies as they are written: each mistake gets one clear line before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from dyno import studies
from dyno.errors import UsageError
from dyno.studies import adhoc, commands, spec

BASE = (
    'headline = ["tps"]\n[base]\nworkload = "tpcc"\ntarget = "embedded:postgresql"\nscale = 2\n'
    '[base.run]\nusers = 8\n[base.settings]\nmemory = "1GB"\n'
)
MORE = '[[variants]]\nname = "more"\n"settings.memory" = "4GB"\n'


def read(tmp_path: Path, text: str) -> spec.Study:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    return spec.read(str(path))


def test_variants_differ_in_what_they_say(tmp_path: Path) -> None:
    found = read(tmp_path, BASE + MORE)
    base, more = found.variants
    assert (base.name, more.name) == ("base", "more")
    assert (base.settings, more.settings) == ({"memory": "1GB"}, {"memory": "4GB"})
    assert base.data == more.data
    words = commands.run(more, "restart", 3, Path("out"))
    assert words == [
        *("run", "tpcc", "--target", "embedded:postgresql", "--seed", "3", "--users", "8"),
        *("--set", "memory=4GB", "--json", "--quiet", "--out", "out"),
    ]
    assert commands.load(more, Path("out"))[:6] == [
        *("load", "tpcc", "--target", "embedded:postgresql", "--scale", "2"),
    ]


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
        (BASE, "give either"),
        (BASE + MORE + '[factors]\n"run.users" = [1, 2]\n', "give either"),
        (BASE.replace('"tps"', '"tsp"') + MORE, "Did you mean 'tps'"),
        (BASE.replace('"tpcc"', '"tpcd"') + MORE, "unknown workload 'tpcd'. Did you mean 'tpc"),
        (BASE + MORE.replace("settings.memory", "settings.memry"), "Did you mean 'memory'"),
        (BASE + MORE.replace("settings.memory", "memory"), "'memory' cannot differ"),
        (BASE + '[[variants]]\nname = "same"\n', "differs in nothing"),
        (BASE + MORE + MORE, "two variants are named 'more'"),
        (BASE + '[factors]\n"run.users" = [1]\n', "needs two levels"),
        (
            BASE.replace("embedded:postgresql", "postgresql://u:secret@h/d") + MORE,
            "The target of 'base' holds a password; leave it to the environment",
        ),
        ('reset = "reboot"\n' + BASE + MORE, "reset is 'reboot'; it must be"),
    ],
)
def test_a_mistake_is_told_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read(tmp_path, text)


def test_ad_hoc() -> None:
    given = {"workload": "tpcc", "target": "embedded:postgresql", "scale": None, "both": (),
             "first": ("settings.memory=2GiB",), "second": ("settings.memory=4GiB",),
             "metric": (), "margin": None, "pairs": 5}  # fmt: skip
    found = adhoc.study(**given, minutes=10)
    assert [v.settings["memory"] for v in found.variants] == ["2GiB", "4GiB"]
    assert found.variants[0].run["duration"] == "50s"
    with pytest.raises(UsageError, match="1 minutes have no room for 10 runs"):
        adhoc.study(**given, minutes=1)


@pytest.mark.parametrize("name", studies.names())
def test_every_study_that_is_shipped(name: str) -> None:
    found = spec.read(name)
    assert found.question
    assert found.design
    assert found.rule
    assert found.misleads
