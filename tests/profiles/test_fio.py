"""A profile as a job file: fio takes it, and it does the same."""

from __future__ import annotations

import configparser
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from dyno.errors import UsageError
from dyno.profiles import fill, spec, volume
from dyno.profiles.fio import job_file
from tests.conftest import missing


def sections(text: str) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(allow_no_value=True, interpolation=None)
    parser.read_string(text)
    return parser


def test_every_step_is_a_job(tmp_path: Path) -> None:
    profile = spec.read("oltp").fitted(1 << 20, 0.5)
    jobs = sections(job_file(profile, volume.parse([str(tmp_path)])))
    assert len(jobs.sections()) == 2 + 16 * 9  # depths of 1 to 256
    job = jobs["random_70_30_16k-qd4"]
    assert (job["rw"], job["rwmixread"], job["bs"], job["iodepth"]) == (
        "randrw",
        "70",
        "16384",
        "4",
    )
    assert (job["runtime"], job["ramp_time"], "stonewall" in job) == ("500ms", "125ms", True)
    assert job["size"] == str(1 << 20)
    assert "iomem" not in jobs["global"]  # which would not start without pages set aside


def test_buffers_are_in_the_same_pages(tmp_path: Path) -> None:
    profile = spec.read("dss").fitted(pages="huge")
    text = job_file(profile, volume.parse([str(tmp_path)]))
    assert sections(text)["global"]["iomem"] == "mmaphuge"
    assert "vm.nr_hugepages=" in text


def test_jobs_that_run_together_start_together(tmp_path: Path) -> None:
    names = ["a", "b"]
    for name in names:
        (tmp_path / name).mkdir()
    volumes = volume.parse([str(tmp_path / name) for name in names])
    jobs = sections(job_file(spec.read("database"), volumes))
    assert [name for name in jobs.sections() if name.startswith("prepare")] == [
        "prepare-a",
        "prepare-b",
    ]
    level = [name for name in jobs.sections() if name.startswith("database")][:6]
    assert [name.split("-")[1:4] for name in level] == [
        ["1", job, name] for job in ("data", "temp", "log") for name in names
    ]
    assert ["stonewall" in jobs[name] for name in level] == [True] + [False] * 5
    offset = spec.read("database").file_bytes * 9 // 10 // 4096 * 4096
    assert (jobs[level[4]]["fdatasync"], jobs[level[4]]["offset"]) == ("1", str(offset))


def test_arms_and_levels_are_jobs_of_their_own(tmp_path: Path) -> None:
    names = ["a", "b"]
    for name in names:
        (tmp_path / name).mkdir()
    volumes = volume.parse([str(tmp_path / name) for name in names])
    stages = fill.stages(volumes, (40.0, 80.0), 10 << 20)
    profile = spec.read("temp").loaded((2,))
    jobs = sections(job_file(profile, volumes, how="scaling", stages=stages))
    assert jobs["fill80-prepare-a"]["size"] == str(8 << 20)
    assert "stonewall" in jobs["fill80-prepare-a"]
    curve = profile.curves[0].name
    assert f"fill40-a-{curve}-qd2" in jobs
    assert f"fill40-a+b-{curve}-b-qd2" in jobs
    assert jobs[f"fill80-a+b-{curve}-b-qd2"]["size"] == str(8 << 20)


def test_fio_does_what_it_says(tmp_path: Path) -> None:
    fio = shutil.which("fio")
    if fio is None:
        missing("fio (apt install fio)")
    own = tmp_path / "mine.toml"
    own.write_text(
        'size = "1M"\nstep = "200ms"\n[[curves]]\npattern = "random"\nblocks = ["8K"]\n'
        "reads = [70]\ndepths = [2, 4]\n"
        '[[curves]]\nname = "skewed"\npattern = "zipf"\ntheta = 1.1\nmix = { 4K = 50, 16K = 50 }\n'
        "reads = [100]\ndepths = [4]\nrates = [100.0]\narea = [0, 50]\n"
        '[[curves]]\nname = "log"\npattern = "sequential"\nblocks = ["4K"]\nreads = [0]\n'
        'sync = "fdatasync"\nevery = 4\ndepths = [1]\n'
        '[[curves]]\nname = "paced"\npattern = "sequential"\nblocks = ["4K"]\nreads = [70]\n'
        "streams = 3\ndepths = [3]\nrates = [300]\narea = [12.5, 100]\n"
    )
    folder = tmp_path / "a:b"
    folder.mkdir()
    path = tmp_path / "job.fio"
    path.write_text(job_file(spec.read(str(own)), volume.parse([str(folder)]), durable=True))
    done = subprocess.run(
        [fio, "--output-format=json", path], capture_output=True, text=True, check=True
    )
    jobs = {job["jobname"]: job for job in json.loads(done.stdout)["jobs"]}
    grid = {"random_70_30_8k-qd2", "random_70_30_8k-qd4"}
    assert set(jobs) == {"prepare", *grid, "skewed-rate100", "log-qd1", "paced-rate300"}
    assert all(job["error"] == 0 for job in jobs.values())
    paced = sections(path.read_text())["paced-rate300"]
    assert (paced["rate_iops"], paced["offset"]) == ("70,30", str(1 << 17))
    assert paced["size"] == paced["offset_increment"] == str((7 << 17) // 3 // 4096 * 4096)
    assert json.loads(done.stdout)["global options"]["sync"] == "dsync"
    mixed = jobs["random_70_30_8k-qd4"]
    assert mixed["read"]["total_ios"] > mixed["write"]["total_ios"] > 0
    assert (folder / "dyno-fio.dat").stat().st_size == 1 << 20


def test_a_rate_that_fio_cannot_have_is_refused(tmp_path: Path) -> None:
    own = tmp_path / "mine.toml"
    shape = '[[curves]]\npattern = "random"\nblocks = ["8K"]\ndepths = [4]\n'
    own.write_text(f"{shape}reads = [70]\nrates = [2.0]\n")
    with pytest.raises(UsageError, match=r"whole numbers of I/Os a second.* 1.4 reads or writes"):
        job_file(spec.read(str(own)), volume.parse([str(tmp_path)]))
    own.write_text(f"{shape}reads = [100]\nrates = [2.0]\n")
    assert "rate_iops=2," in job_file(spec.read(str(own)), volume.parse([str(tmp_path)]))
