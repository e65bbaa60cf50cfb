"""Storage profiles as they are written: presets fit, and each mistake gets one clear line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dyno import profiles
from dyno.errors import UsageError
from dyno.profiles import spec

CURVES = '[[curves]]\npattern = "random"\nblocks = ["8K"]\nreads = [100]\ndepths = [1]\n'

JOBS = '[[curves.jobs]]\nname = "data"\npattern = "random"\nblock = "8K"\nread = 70\ndepths = [1]\n'


@pytest.mark.parametrize("name", profiles.names())
def test_every_preset_says_what_it_is_for(name: str) -> None:
    found = spec.read(name)
    assert len(profiles.purpose(name)) > 40
    assert (found.name, found.source) == (name, "preset")
    assert found.steps > 0
    assert type(found).model_validate_json(found.model_dump_json()) == found


def test_the_grids_are_those_of_the_method() -> None:
    oltp = spec.read("oltp")
    assert (oltp.ceiling_ms, oltp.ceiling_of) == (20.0, "p95")
    jobs = [(curve, *curve.jobs) for curve in oltp.curves]
    assert {(job.block_bytes >> 10, job.read_percent) for _, job in jobs} == {
        (kib, share) for kib in (8, 16, 32, 64) for share in (100, 80, 70, 60)
    }
    assert all(job.pattern == "random" and curve.search for curve, job in jobs)
    dss = [(curve, *curve.jobs) for curve in spec.read("dss").curves]
    kinds = {(job.pattern, job.read_percent) for _, job in dss}
    assert kinds == {("sequential", 100), ("sequential", 0), ("random", 100)}
    assert {job.block_bytes >> 10 for _, job in dss} == {64, 128, 256, 512, 1024}
    assert all(curve.metric == "mbps" and max(job.depths) == 128 for curve, job in dss)


def test_a_database_is_data_temp_and_log_at_once() -> None:
    (curve,) = spec.read("database").curves
    data, temp, log = curve.jobs
    assert [len(job.depths) for job in curve.jobs] == [6, 6, 1]
    assert (data.block_bytes, temp.block_bytes, log.block_bytes) == (8192, 65536, 8192)
    assert log.sync is not None
    assert data.area[1] == temp.area[0]
    assert temp.area[1] == log.area[0]
    made = curve.request(1.0, 0.5)
    assert made["jobs"][2]["sync"] == {"call": "fdatasync", "every": 1}
    assert made["jobs"][1]["queue_depths"] == [1, 1, 2, 4, 8, 16]


@pytest.mark.parametrize(
    ("changed", "made"),
    [
        ('pattern = "zipf"\ntheta = 1.2', {"pattern": {"zipf": {"theta": 1.2}}}),
        (
            'pattern = "hot_spot"\nhot = "90/5"',
            {"pattern": {"hot_spot": {"access_percent": 90.0, "space_percent": 5.0}}},
        ),
        ('pattern = "sequential"\nstreams = 4', {"pattern": {"streams": {"count": 4}}}),
        (
            'pattern = "random"\nrates = [500.0]\narrivals = "fixed"',
            {"rate": {"per_second": [500.0], "arrivals": "fixed"}},
        ),
        ('pattern = "random"\narea = [10, 50]', {"from_percent": 10.0, "to_percent": 50.0}),
        ('pattern = "random"\nalign = "4K"', {"align_bytes": 4096}),
    ],
)
def test_jobs_reach_the_engine(tmp_path: Path, changed: str, made: dict[str, Any]) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(CURVES.replace('pattern = "random"', changed))
    (curve,) = spec.read(str(path)).curves
    job = curve.request(1.0, 0.5)["jobs"][0]
    assert {key: job[key] for key in made} == made


def test_mixes_of_sizes_and_of_reads(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    mix = CURVES.replace('blocks = ["8K"]', "mix = { 8K = 75, 64K = 25 }")
    modify = CURVES.replace("reads = [100]", "modify = true")
    path.write_text(mix + modify)
    mixed, modified = spec.read(str(path)).curves
    assert (mixed.name, modified.name) == ("random_read_mix", "random_modify_8k")
    assert mixed.request(1, 1)["jobs"][0]["blocks"] == [
        {"bytes": 8192, "percent": 75.0},
        {"bytes": 65536, "percent": 25.0},
    ]
    assert modified.writes
    assert modified.request(1, 1)["jobs"][0]["modify"] is True


def test_other_levels_instead_of_the_profiles() -> None:
    quick = spec.read("quick")
    assert {curve.jobs[0].depths for curve in quick.loaded((2, 7)).curves} == {(2, 7)}
    paced = quick.loaded((), (100.0, 200.0)).curves[2]
    assert (paced.jobs[0].rates, paced.jobs[0].depths) == ((100.0, 200.0), (256,))
    assert paced.open_loop
    assert quick.loaded() is quick
    with pytest.raises(UsageError, match="database runs several jobs"):
        spec.read("database").loaded((1,))


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('size = "1M"\nstep = "500ms"\n' + CURVES)
    found = spec.read(str(path))
    assert (found.name, found.source, found.file_bytes) == ("mine", str(path), 1 << 20)
    assert (found.step_s, found.warmup_s, found.longest_s) == (0.5, 0.125, 0.625)
    assert [c.name for c in found.curves] == ["random_read_8k"]
    fitted = found.fitted(1 << 21, 2.0, 5.0)
    assert (fitted.file_bytes, fitted.warmup_s, fitted.ceiling_ms) == (1 << 21, 0.5, 5.0)
    assert found.fitted() == found
    with pytest.raises(UsageError, match=r"4,096 bytes is smaller than the largest block, 8,192"):
        found.fitted(4096)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "curves is missing"),
        (CURVES.replace("blocks", "block"), r"unknown key 'curves\[0\].block'. Did you mean"),
        (CURVES.replace("8K", "1000"), r"blocks is \['1000'\]; use multiples of 512"),
        (CURVES.replace("8K", "huge"), "'huge' is not a valid size"),
        (CURVES.replace("[100]", "[101]"), r"reads is \[101\]; use percent"),
        (CURVES.replace("[1]", "[0]"), r"depths is \[0\]; use 1 to 4096"),
        (CURVES.replace("[1]", "[]"), r"depths is \[\]"),
        (CURVES.replace("random", "zigzag"), "pattern is 'zigzag'; it must be"),
        (CURVES + CURVES, "two curves are 'random_read_8k'"),
        (CURVES.replace('"8K"', '"8K", "16K"') + 'name = "a"', "names one curve, but there are 2"),
        (CURVES.replace("8K", "16M").replace("[1]", "[128]"), "at most 1 GiB can be"),
        ('step = "soon"\n' + CURVES, "'soon' is not a valid time"),
        ("ceiling_ms = 0.0\n" + CURVES, "ceiling_ms is 0.0"),
        ('ceiling_of = "p95.5"\n' + CURVES, "ceiling_of is 'p95.5'; it must be"),
        (CURVES + "theta = 1.0\n", 'theta is for pattern = "zipf"'),
        (CURVES + "every = 3\n", "every is for sync"),
        (CURVES + 'sync = "fsync"\n', "sync is for jobs that only write"),
        (CURVES + "modify = true\n", "leave out the share of reads"),
        (CURVES + "mix = { 8K = 60 }\n", "must add up to 100"),
        (CURVES + "mix = { 8K = 100 }\n", "set blocks, mix, or jobs"),
        (CURVES + "area = [50, 40]\n", "the start before the end"),
        (
            CURVES + "search = 64\nuntil_ceiling = true\n",
            "until_ceiling needs a list of depths or rates",
        ),
        (CURVES + "search = 64\nsettle = 9\n", "set search or settle, not both"),
        (CURVES.replace("[1]", "[1, 2]") + "search = 64\n", "search starts from one depth"),
        (CURVES + "rates = [0.0]\n", r"rates is \[0.0\]; use 0.001"),
        (CURVES + JOBS, "blocks belongs into the jobs"),
        ("[[curves]]\n" + JOBS, "name is missing: several jobs make one curve"),
        ('[[curves]]\nname = "x"\n' + JOBS + JOBS, "two jobs have the same name"),
        ('[[curves]]\nname = "x"\n' + JOBS.replace("read = 70\n", ""), "read is missing"),
        (
            '[[curves]]\nname = "x"\n'
            + JOBS.replace("[1]", "[1, 2]")
            + JOBS.replace("[1]", "[1, 2, 3]").replace("data", "temp"),
            "need one for each level",
        ),
    ],
)
def test_a_mistake_is_reported_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=message):
        spec.read(str(path))


def test_an_unknown_name_gets_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"Unknown profile 'olpt'. Did you mean 'oltp'"):
        spec.read("olpt")
    with pytest.raises(UsageError, match=r"Cannot read the profile .*no\.toml"):
        spec.read("no.toml")
