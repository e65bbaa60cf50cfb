"""``dyno accelerate plan``: from a run's observed waits to a proposal."""

from __future__ import annotations

from pathlib import Path

import pytest

from dyno.accelerate.proposal import Choice
from dyno.bundle.inside import Inside
from dyno.cli import _plan
from dyno.runner import traffic
from tests import bundle_data
from tests.bundles import Builder
from tests.process import document, dyno

MIB = 1 << 20


@pytest.fixture
def run(tmp_path: Path) -> Path:
    path = tmp_path / "20261126T000000Z-0001"
    Builder(path, "run").machine().target("postgresql").oltp(8).inside().write()
    return path


@pytest.fixture
def flash(tmp_path: Path) -> Path:
    folder = tmp_path / "flash"
    folder.mkdir()
    return folder


def test_a_plan_divides_flash_and_tells_the_gain(run: Path, flash: Path) -> None:
    done = dyno("accelerate", "plan", run, "--flash", flash, "--flash-size", "2G", "--json")
    found = document(done)
    sizes = [row["bytes"] for row in bundle_data.RELATIONS]
    assert found["data_bytes"] == sum(size for size in sizes if size)
    assert sum(found["bytes"].values()) <= 2 << 30
    assert found["bytes"]["cache"] <= 2 * found["data_bytes"] + 1
    waits = found["shares"]
    assert waits["log"] == pytest.approx(1.7 / 8, rel=0.1)
    assert waits["reads"] == pytest.approx(0.6 / 8, rel=0.1)
    assert found["origin_commit_ms"] == pytest.approx(
        bundle_data.INSIDE[Inside.log_flush] + bundle_data.INSIDE[Inside.log_write], rel=0.2
    )
    for gain in (*found["gains"].values(), found["gain"]):
        assert gain["low"] <= gain["times"] <= gain["high"]
    assert found["flash_read_ms"] > 0
    assert found["flash_write_ms"] > 0
    assert not any(flash.iterdir())


def test_a_wait_for_the_log_includes_its_write(
    tmp_path: Path, flash: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(bundle_data.INSIDE, Inside.log_wait, 0.8)
    path = tmp_path / "20261126T000000Z-0002"
    Builder(path, "run").machine().target("postgresql").oltp(8).inside().write()
    done = dyno("accelerate", "plan", path, "--flash", flash, "--flash-size", "2G", "--json")
    assert document(done)["origin_commit_ms"] == pytest.approx(0.8, rel=0.2)


def test_a_small_cache_has_an_unknown_hit_ratio(run: Path, flash: Path) -> None:
    options = ("--flash-size", "1G", "--data-size", "100G", "--json")
    found = document(dyno("accelerate", "plan", run, "--flash", flash, *options))
    low, high = found["hit_ratio"]
    assert (low, high) == (pytest.approx(found["bytes"]["cache"] / (2 * 100 * 1024**3)), 1)


def test_a_plan_in_words(run: Path, flash: Path) -> None:
    done = dyno("accelerate", "plan", run, "--flash", flash)
    assert done.returncode == 0, done.stderr
    for word in ("read cache", "log", "temporary files", "gain alone"):
        assert word in done.stdout


def test_a_plan_for_sql_server_is_what_dyno_can_do_there(tmp_path: Path, flash: Path) -> None:
    name = "sqlserver"
    builder = Builder(tmp_path / "run", "run").machine().target(name).oltp(8, target=name)
    builder.inside(name)
    level = builder.phases[-1]
    for second in range(1, 15):
        place = {"source": "files", "subject": f"{name}/data"}
        moment = {"t_ns": level.start_ns + second * 10**9, **place}
        builder.tables["samples"] += [
            {**moment, "metric": "reads", "value": 10.0, "unit": "1/s"},
            {**moment, "metric": "read", "value": 400.0, "unit": "ms"},
        ]
    found = traffic.of_run(builder.write(), None)
    assert found.load.read_ms == pytest.approx(400.0)
    split: dict[Choice, int] = {"log": MIB, "temp": MIB, "cache": MIB}
    lines = _plan._commands(found, split, frozenset(split), flash)  # pyright: ignore[reportPrivateUsage]
    moves = [line for line in lines if "accelerate move" in line]
    assert [line.split()[3] for line in moves] == ["log", "temp"]
    assert not [line for line in lines if "accelerate apply" in line]


def test_a_plan_is_from_all_databases(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "run", "run").machine().target("postgresql").oltp(32)
    builder.inside("postgresql")
    part = builder.phases[-1]
    builder.phases.append(part.model_copy(update={
        "name": f"{part.name}-db-1",
        "detail": {**part.detail, "level": "users-32-db-1", "users": 8, "part_of": "users-32"},
    }))  # fmt: skip
    found = traffic.of_run(builder.write(), None)
    assert found.load.users == 32
    assert found.phase.name == part.name


@pytest.mark.parametrize(
    ("wait", "event", "part"),
    [
        ("data", "DataFileRead", "reads"),
        ("data", "DataFileWrite", "rest"),
        ("data", "PAGEIOLATCH_SH", "reads"),
        ("data", "WRITE_COMPLETION", "rest"),
        ("data", "BACKUPIO", "rest"),
        ("log", "WRITELOG", "log"),
    ],
)
def test_sessions_that_write_data_files_gain_nothing_from_a_cache(
    wait: str, event: str, part: str
) -> None:
    assert traffic._part(wait, event) == part  # pyright: ignore[reportPrivateUsage]


def test_runs_that_a_plan_cannot_be_made_from(tmp_path: Path, flash: Path) -> None:
    unseen = tmp_path / "20261126T000000Z-0002"
    Builder(unseen, "run").machine().target("postgresql").oltp(8).write()
    loaded = tmp_path / "20261126T000000Z-0003"
    Builder(loaded, "load").machine().target("postgresql").load("tpcc", "postgresql", 9, 1).write()
    for path, named in ((unseen, "waited for"), (loaded, "no transactions")):
        done = dyno("accelerate", "plan", path, "--flash", flash)
        assert done.returncode == 2, done.stderr
        assert named in done.stderr


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--phase", "nothing"), "no such phase"),
        (("--flash-size", "many"), "many"),
        (("--record", __file__), "format"),
    ],
)
def test_options_that_are_wrong(
    run: Path, flash: Path, options: tuple[str, ...], named: str
) -> None:
    done = dyno("accelerate", "plan", run, "--flash", flash, *options)
    assert done.returncode == 2, done.stderr
    assert named in done.stderr
