"""A cache on flash in front of a private engine's files for the time of a run."""

from __future__ import annotations

import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from dyno.accelerate.attach import mounting, recording
from dyno.analyse.series import sampled
from dyno.bundle.flash import ALL, SOURCE, Flash
from dyno.bundle.model import those
from dyno.bundle.phases.accelerate import AccelerateDetail
from dyno.bundle.reader import Bundle
from tests.accelerate.attach.conftest import need_fuse
from tests.process import assert_valid, document, dyno, events, start, wait_until

TARGET = "embedded:sqlite"
NOISE = ("unsteady", "steady-state-unknown", "too-many-users", "client-bound")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    need_fuse()
    loaded = dyno("load", "tpcc", "--target", TARGET, "--scale", "1", "--out", tmp_path, "--json")
    assert loaded.returncode == 0 or document(loaded)["verdict"] == "disturbed", loaded.stderr
    return tmp_path


def run(out: Path, *options: str | Path) -> tuple[dict[str, Any], Bundle]:
    done = dyno("run", "tpcc", "--target", TARGET, "--out", out, "--duration", "2s", "--warmup",
                "1s", "--no-criteria", "--json", *options)  # fmt: skip
    found = assert_valid(done, *NOISE)
    return found, Bundle.open(Path(found["bundle"]))


def start_of(bundle: Bundle) -> AccelerateDetail:
    return those(bundle.run.phases, AccelerateDetail)[0].detail


def home(out: Path) -> Path:
    return out / "engines" / "sqlite"


@pytest.mark.long
def test_a_run_with_a_cache_records_it_and_leaves_no_mount(out: Path, tmp_path: Path) -> None:
    flash = tmp_path / "flash"
    flash.mkdir()
    options = ("--flash", flash, "--flash-size", "256M")
    _, bundle = run(out, "--accelerate", "prewarmed", *options)
    first = start_of(bundle)
    assert (first.size_bytes, first.start) == (256 << 20, "prewarmed")
    assert first.prewarmed_bytes and first.prewarmed_bytes > 50e6
    read = {key[2]: one for key, one in sampled(bundle).items() if key[:2] == (SOURCE, ALL)}
    assert read.keys() >= {Flash.blocks, Flash.hits, Flash.misses}
    assert bundle.run.targets["sqlite"].devices["flash"]
    assert mounting.find(home(out)) is None
    _, again = run(out, "--accelerate", "kept", *options)
    assert start_of(again).start == "kept"
    _, empty = run(out, "--accelerate", "empty", *options)
    assert start_of(empty).start == "empty"
    # A copy of the folder, as a study restores it, is another one.
    copied = home(out).with_name("copy")
    shutil.copytree(home(out), copied)
    shutil.rmtree(home(out))
    copied.rename(home(out))
    _, other = run(out, "--accelerate", "kept", *options)
    assert start_of(other).start == "empty"


def test_a_cache_that_a_killed_run_left_is_detached(out: Path) -> None:
    dying = start("run", "tpcc", "--target", TARGET, "--out", out, "--duration", "60s",
                  "--accelerate", "empty")  # fmt: skip
    wait_until(lambda: mounting.find(home(out)), "the mount", 60)
    wait_until(lambda: any(one.get("phase") for one in events(out)), "a phase", 60)
    dying.send_signal(signal.SIGKILL)
    dying.wait(30)
    assert mounting.find(home(out)) is not None
    _, bundle = run(out)
    assert mounting.find(home(out)) is None
    assert "flash" not in bundle.run.targets["sqlite"].devices


@pytest.mark.long
def test_data_with_a_cache_that_a_killed_run_left_is_removed(out: Path) -> None:
    dying = start("run", "tpcc", "--target", TARGET, "--out", out, "--duration", "60s",
                  "--accelerate", "kept")  # fmt: skip
    wait_until(lambda: mounting.find(home(out)), "the mount", 60)
    dying.send_signal(signal.SIGKILL)
    dying.wait(30)
    done = dyno("clean", "--yes", "--out", out)
    assert done.returncode == 0, done.stderr
    assert mounting.find(home(out)) is None
    assert not home(out).exists()
    assert not any((out / "flash").iterdir())


@pytest.mark.parametrize(
    ("target", "options", "named"),
    [
        (TARGET, ("--flash-size", "64M"), "--accelerate"),
        (TARGET, ("--record-reads",), "--accelerate"),
        (TARGET, ("--accelerate", "kept", "--flash-size", "4M"), "32 MiB"),
        (TARGET, ("--accelerate", "kept", "--flash", "/no/such"), "/no/such"),
        (TARGET, ("--accelerate", "kept", "--limit", "read_iops=9"), "--limit read_iops"),
        (TARGET, ("--accelerate", "prewarmed", "--prewarm", __file__), "--prewarm"),
        (TARGET, ("--accelerate", "kept", "--prewarm", __file__), "damaged"),
        ("null:", ("--accelerate", "kept"), "private engine"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_starts(
    tmp_path: Path, target: str, options: tuple[str, ...], named: str
) -> None:
    done = dyno("run", "tpcc", "--target", target, "--out", tmp_path, *options)
    assert done.returncode == 2, done.stderr
    assert named in done.stderr
    assert not any(tmp_path.iterdir())


@pytest.mark.long
def test_a_run_records_its_reads_by_relation(tmp_path: Path) -> None:
    need_fuse()
    here = ("tpcc", "--target", "embedded:postgresql", "--out", tmp_path, "--json")
    dyno("load", *here, "--scale", "1")
    done = dyno("run", *here, "--accelerate", "empty", "--record-reads", "--duration", "2s",
                "--warmup", "1s", "--no-criteria", "--limit", "memory=100M")  # fmt: skip
    bundle = Bundle.open(Path(document(done)["bundle"]))
    rows = recording.read(bundle.path / recording.IN_BUNDLE).to_pylist()
    named = {row["path"]: row["relation"] for row in rows}
    assert {"dyno_tpcc.stock (table)", "dyno_tpcc.stock_pkey (index)"} <= set(named.values())
    folders = ("data/base/", "data/global/")
    assert all(path.startswith(folders) for path, name in named.items() if name)
    assert named["data/global/pg_control"] is None
    simulated = document(dyno("accelerate", "simulate", "last", "--out", tmp_path, "--json"))
    assert simulated["accesses"] >= len(rows)
    planned = document(
        dyno("accelerate", "plan", "last", "--flash", tmp_path, "--out", tmp_path, "--json")
    )
    low, high = planned["hit_ratio"]
    assert 0 < low <= high <= 1
    for name in ("nothing", "*"):
        missing = dyno("accelerate", "simulate", name, "--out", tmp_path)
        assert missing.returncode == 2


@pytest.mark.long
def test_the_log_of_a_load_lies_on_flash(tmp_path: Path) -> None:
    flash = tmp_path / "flash"
    flash.mkdir(mode=0o711)
    done = dyno("load", "tpcc", "--target", "embedded:postgresql", "--scale", "1", "--flash-log",
                "--flash", flash, "--out", tmp_path / "out", "--json")  # fmt: skip
    found = document(done)
    plan = Bundle.open(Path(found["bundle"])).run.plan
    assert plan["layout"]["log"] == str(flash)
    log = tmp_path / "out" / "engines" / "postgresql" / "data" / "pg_wal"
    assert log.resolve().is_relative_to(flash)
