"""Studies as they are written: each mistake gets one clear line before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from dyno import studies, targets
from dyno.cli import io, load, run
from dyno.errors import UsageError
from dyno.layouts.resolve import resolve
from dyno.model import Estimate
from dyno.studies import adhoc, commands, spec
from dyno.studies.metrics import METRICS

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


LOADS = (
    'headline = ["load_s"]\n[base]\nworkload = "tpch"\nverb = "load"\n'
    'target = "embedded:sqlite"\nscale = 0.01\n'
)
KEYS = '[[variants]]\nname = "keys"\n"load.layout" = "keys"\n'


def test_a_study_of_loads_runs_nothing_else(tmp_path: Path) -> None:
    keys = read(tmp_path, LOADS + KEYS).variants[1]
    assert commands.load(keys, Path("out")) == []
    assert commands.run(keys, "restart", 3, Path("out")) == [
        *("load", "tpch", "--target", "embedded:sqlite", "--scale", "0.01", "--layout", "keys"),
        *("--replace", "--json", "--quiet", "--out", "out"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            LOADS.replace("load_s", "total_s") + KEYS,
            "'total_s' is a figure of a run, and base.verb",
        ),
        (LOADS.replace('verb = "load"', "") + KEYS, "'load_s' is a figure of a load"),
        (LOADS.replace('"load"\n', '"lod"\n') + KEYS, "verb is 'lod'; it must be"),
        (LOADS.replace("scale = 0.01", "") + KEYS, "and a scale"),
        (LOADS + KEYS + '"run.users" = 2\n', "leave out run.users"),
        ('reset = "cold"\n' + LOADS + KEYS, "begins from nothing each time"),
        (LOADS + KEYS + '"load.databases" = 2\n', "one load a run"),
    ],
)
def test_what_a_study_of_loads_cannot_be(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read(tmp_path, text)


def estimates(**values: float) -> list[Estimate]:
    return [Estimate(name=name, value=value, unit="", source="") for name, value in values.items()]


def test_figures_of_fill_levels_are_compared_level_with_level() -> None:
    one = estimates(**{"io.fill40.mixed.best_iops": 5000, "io.fill40.mixed.qd8.iops": 1})
    several = [*one, *estimates(**{"io.fill85.mixed.best_iops": 4000})]
    assert METRICS["iops"].of(one) == {"iops.mixed": 5000}
    assert METRICS["iops"].of(several) == {"iops.mixed": 4000}
    by_level = {"iops_by_fill.fill40.mixed": 5000, "iops_by_fill.fill85.mixed": 4000}
    assert METRICS["iops_by_fill"].of(several) == by_level


def test_a_run_without_maintenance_is_all_beside_none() -> None:
    plain = estimates(**{"oltp.users-4.tps": 90})
    kept = [*estimates(**{"during.reindex-tpcc-postgresql-users-4.during_tps": 70}), *plain]
    assert METRICS["tps_beside"].of(plain) == {"tps_beside": 90}
    assert METRICS["tps_beside"].of(kept) == {"tps_beside": 70}
    assert METRICS["tps"].of(kept) == {"tps": 90}


VERBS = {"load": load.command, "run": run.command, "io": io.command}


@pytest.mark.parametrize("name", studies.names())
def test_every_study_that_is_shipped(name: str) -> None:
    """Each says what it asks, and its command lines are ones that their verbs take."""
    found = spec.read(name)
    assert all((found.question, found.design, found.rule, found.misleads))
    for variant in found.variants:
        made = (commands.load(variant, Path("out")), commands.run(variant, "restart", 1, Path("o")))
        for words in filter(None, made):
            VERBS[words[0]].make_context(words[0], words[1:]).close()
        if variant.load and variant.scale:
            layout = resolve(
                str(variant.load.get("layout", "default")), variant.workload, variant.scale
            )
            targets.require_layout(targets.parse(variant.target), layout)
