"""Several databases at once with a rate and with maintenance beside them, on real servers."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dyno import targets
from dyno.bundle.model import those
from dyno.bundle.phases.oltp import OltpDetail
from dyno.bundle.reader import Bundle
from dyno.contracts.target import Removable
from dyno.errors import UsageError
from dyno.live.operations import ALL
from dyno.live.watched import Watched
from tests.mariadb import require_mariadb
from tests.process import dyno, spoilt
from tests.targets.conftest import LIMITS


def run(out: Path, *args: str) -> tuple[dict[str, Any], Bundle]:
    done = dyno(*args, "--databases", "2", "--no-criteria", "--json", "--out", out)
    assert done.returncode in {0, 1}, done.stderr
    document = json.loads(done.stdout)
    codes = spoilt(document)
    # "misaligned-windows": a busy machine may start one of them late.
    assert codes <= {"unsteady", "client-bound", "misaligned-windows"}, document["reasons"]
    return document, Bundle.open(Path(document["bundle"]))


@pytest.fixture(
    scope="module", params=["postgresql", pytest.param("mysql", marks=pytest.mark.long)]
)
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, str]:
    if request.param == "mysql":
        require_mariadb()
    return tmp_path_factory.mktemp("several"), f"embedded:{request.param}"


@pytest.fixture
def loaded(server: tuple[Path, str]) -> tuple[Path, str]:
    """Two databases. Tests run in any order, and one of them removes the data."""
    out, target = server
    if not mark(out).exists():
        done = dyno(
            "load", "tpcc", "--target", target, "--databases", "2", "--scale", "1", "--json",
            "--out", out,
        )  # fmt: skip
        assert done.returncode in {0, 1}, done.stderr
        assert json.loads(done.stdout)["tpcc"]["consistency"] is True
        mark(out).touch()
    return server


def mark(out: Path) -> Path:
    return out.with_suffix(".loaded")


def orders(loaded: tuple[Path, str]) -> list[int]:
    """How many there are in each database."""
    out, url = loaded
    target = targets.open_target(targets.parse(url), out, LIMITS)
    with target, closing(target.connect()) as session:
        places = ("dyno_tpcc", "dyno_tpcc_2")
        found = [session.execute(f"SELECT count(*) FROM {place}.orders").rows for place in places]
        return [int(rows[0][0]) for rows in found]


@pytest.mark.long
def test_a_rate_is_that_of_the_sum_and_divided_equally(loaded: tuple[Path, str]) -> None:
    before = orders(loaded)
    document, bundle = run(
        loaded[0], "run", "tpcc", "--target", loaded[1], "--users", "3", "--rate", "20",
        "--warmup", "500ms", "--duration", "4s",
    )  # fmt: skip
    total, *parts = document["tpcc"]["levels"]
    names = ["rate-20-users-3", "rate-20-users-3-db-1", "rate-20-users-3-db-2"]
    assert [level["level"] for level in (total, *parts)] == names
    assert [level["loop"]["rate_per_s"] for level in (total, *parts)] == [20, 10, 10]
    assert total["scheduled"] == sum(part["scheduled"] for part in parts) > 0
    assert total["tps"] == pytest.approx(sum(part["tps"] for part in parts), rel=0.01)
    assert document["tpcc"]["consistency"] is True
    assert all(now > was for was, now in zip(before, orders(loaded), strict=True))
    rows = {name: bundle.table(f"ops/{name}").to_pylist() for name in names}
    measured = [
        sum(row["done"] for row in rows[name] if row["phase"] == "measure") for name in names
    ]
    assert measured[0] == measured[1] + measured[2]


@pytest.mark.long
def test_maintenance_works_on_the_one_that_is_named(loaded: tuple[Path, str]) -> None:
    document, bundle = run(
        loaded[0], "run", "tpcc", "--target", loaded[1], "--users", "2", "--warmup", "500ms",
        "--duration", "2s", "--during", "reindex", "--during-database", "2",
    )  # fmt: skip
    (entry,) = document["maintenance"]
    assert entry["error"] is None
    assert entry["database"] == 2
    assert entry["seconds"] > 0
    assert [part["database"] for part in entry["databases"]] == [1, 2]
    for part in ("before", "during", "after"):
        each = [one[f"{part}_tps"] for one in entry["databases"]]
        assert min(each) > 0
        # The seconds of the total start with the first driver; the other starts a little later.
        assert entry[f"{part}_tps"] == pytest.approx(sum(each), rel=0.5)
    assert entry["during_change_percent"] is not None
    names = [check.name for check in bundle.checks() if check.name.startswith(entry["name"])]
    assert names
    assert all(name.endswith(" of database 2") for name in names)
    report = (bundle.path / "sheet.html").read_text()
    assert "of database 2" in report
    assert document["tpcc"]["consistency"] is True


@pytest.mark.long
def test_a_backup_beside_all_of_them(loaded: tuple[Path, str]) -> None:
    document, bundle = run(
        loaded[0], "run", "tpcc", "--target", loaded[1], "--users", "2", "--warmup", "500ms",
        "--duration", "1s", "--during", "backup",
    )  # fmt: skip
    (entry,) = document["maintenance"]
    assert entry["error"] is None
    assert entry["database"] == (None if loaded[1] == "embedded:postgresql" else 1)
    assert entry["written_bytes"] > 50_000_000
    assert entry["mb_per_s"] > 0
    assert {check.name: check.passed for check in bundle.checks()}["backup"] is True
    assert not (loaded[0] / "scratch").exists()


def test_a_level_until_the_sum_is_steady_in_each_of_them(out: Path) -> None:
    document, bundle = run(
        out, "run", "tpcc", "--target", "null:?mean_us=2000", "--users", "2", "--warmup", "200ms",
        "--duration", "2s", "--until-steady", "20s",
    )  # fmt: skip
    total, *parts = document["tpcc"]["levels"]
    details = {getattr(phase.detail, "level", None): phase.detail for phase in bundle.run.phases}
    extensions = [details[level["level"]].until_steady for level in (total, *parts)]
    assert len({one.left_out_s for one in extensions}) == 1
    assert {one.settled for one in extensions} == {True}
    assert total["tps"] == pytest.approx(sum(part["tps"] for part in parts), rel=0.05)
    counted: dict[str, int] = {}
    for level in (total, *parts):
        rows = bundle.table(f"ops/{level['level']}").to_pylist()
        counted[level["level"]] = sum(row["done"] for row in rows if row["phase"] == "measure")
    assert counted["users-2"] == counted["users-2-db-1"] + counted["users-2-db-2"]
    watched = Watched(bundle.path)
    while not watched.poll():
        pass
    rates = watched.operations.rates(ALL, 3, 0, 2)
    assert np.nanmax(rates) == pytest.approx(total["tps"], rel=0.2)


def test_rates_of_rare_operations_of_several_databases(out: Path) -> None:
    _, bundle = run(
        out, "run", "brokerage", "--target", "null:", "--users", "1", "--rate", "20",
        "--arrivals", "fixed", "--warmup", "1s", "--duration", "6s",
    )  # fmt: skip
    details = [phase.detail for phase in those(bundle.run.phases, OltpDetail)]
    whole = next(detail for detail in details if detail.databases)
    assert whole.outcome is not None
    watched = Watched(bundle.path)
    while not watched.poll():
        pass
    rates = watched.operations.rates(ALL, 0, 0, 16)
    assert np.nanmedian(rates) == pytest.approx(whole.outcome.tps, rel=0.3)


@pytest.mark.long
def test_a_search_over_all_of_them(out: Path) -> None:
    done = dyno(
        "run", "tpcc", "--target", "null:?mean_us=2000", "--databases", "2", "--find-max",
        "--max-users", "2", "--slo", "errors = 0", "--warmup", "100ms", "--duration", "1s",
        "--json", "--out", out,
        charts=True,
    )  # fmt: skip
    assert done.returncode in {0, 1}, done.stderr
    document = json.loads(done.stdout)
    windows = document["capacity"]["windows"]
    assert windows
    levels = {level["level"]: level for level in document["tpcc"]["levels"]}
    for window in windows:
        total = levels[window["level"]]
        parts = [levels[f"{window['level']}-db-{number}"] for number in (1, 2)]
        assert total["users"] == 2 * window["load"]
        assert total["tps"] == pytest.approx(sum(part["tps"] for part in parts), rel=0.05)
    assert "user each" in done.stderr
    report = (Path(document["bundle"]) / "sheet.html").read_text()
    assert "Users in each database" in report


@pytest.mark.long
def test_a_foreign_table_keeps_them_from_removal_and_stays(loaded: tuple[Path, str]) -> None:
    out, url = loaded
    mark(out).unlink()
    target = targets.open_target(targets.parse(url), out, LIMITS)
    with target:
        assert isinstance(target, Removable)
        with closing(target.connect()) as session:
            session.execute("CREATE TABLE dyno_tpcc_2.mine (a INT)")
        with pytest.raises(UsageError, match=r"dyno_tpcc_2.* contains .*--replace"):
            target.create_tables("tpcc@2", replace=False)
        found = target.marked()
        for place in ("dyno_tpcc", "dyno_tpcc_2"):
            assert len([item for item in found if item.startswith(f"table {place}.")]) == 9
        gone = target.remove()
        assert len([item for item in gone if item.startswith("table ")]) == 18
        assert not [item for item in target.marked() if item.startswith("table ")]
        with closing(target.connect()) as session:
            assert session.execute("SELECT count(*) FROM dyno_tpcc_2.mine").rows == [(0,)]
            session.execute("DROP TABLE dyno_tpcc_2.mine")
