"""``dyno size`` on bundles as runs leave them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dyno.decide.size.wants import WORDS
from tests import storage_rows
from tests.bundles import Builder, only_io
from tests.process import document, dyno
from tests.searched import searched

PROFILE = "20261120T150000Z-cd34"


def levels(path: Path, *users: int, **host: object) -> None:
    builder = Builder(path, verb="run").machine().target("postgresql")
    builder.load("tpcc", "postgresql", 7.4, 5)
    for one in users:
        builder.oltp(one)
    builder.host["cpu"] = {**builder.host["cpu"], **host}
    builder.consistency().write()


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs")
    only_io(out).write()
    levels(out / "levels", 1, 2, 4, 8, 16)
    levels(out / "elsewhere", 1, 4, model="Other 1")
    broken = Builder(out / "broken", verb="run").machine().target("postgresql")
    broken.oltp(4).consistency(broken=3).write()
    searched(out / "found").write()
    return out


def size(kept: Path, *words: str, wants: str = "tps=2500") -> Any:
    return dyno("size", *words, "--want", wants, "--out", kept)


def sized(kept: Path, *words: str, wants: str = "tps=2500") -> dict[str, Any]:
    done = size(kept, *words, "--json", wants=wants)
    assert done.returncode == 0, done.stderr
    return document(done)


def test_servers_and_devices_with_their_inputs(kept: Path) -> None:
    found = sized(kept, "levels", PROFILE, "--what-if", "devices=2", wants="tps=2500 p95=30ms")
    assert (found["run"], found["valid"]) == (PROFILE, True)
    assert found["runs"] == ["levels", PROFILE]
    assert found["servers"]["p50"] == 2  # 2,500/s × 1.15 ms of 2 CPUs × 80 %
    assert {part["resource"] for part in found["servers"]["parts"]} == {"CPU", "response p95"}
    assert found["devices"]["p50"] == 1
    assert found["what_if"]["holds"] is True
    sources = {one["name"]: one["source"] for one in found["inputs"]}
    assert sources["tps"] == "asked for"
    assert sources["IOPS of a device"].startswith(f"{PROFILE} io.mixed.best_iops")
    assert sources["share of the IOPS"].startswith("assumption")
    assert sources["CPU of a transaction"].startswith("levels oltp.users-4")


def test_users_without_think_time_follow_the_law(kept: Path) -> None:
    found = sized(kept, "levels", wants="users=24")
    assert found["tps"]["low"] < found["tps"]["mid"] < found["tps"]["high"]
    assert {"USL γ", "USL σ (contention)", "USL κ (coherency)"} <= {
        one["name"] for one in found["inputs"]
    }


def test_a_search_is_evidence(kept: Path) -> None:
    found = sized(kept, str(kept / "found" / "run"), wants="tps=3000")
    assert "limits of the search" in {part["resource"] for part in found["servers"]["parts"]}


@pytest.mark.parametrize(
    ("words", "wants", "fault"),
    [
        (["broken"], "tps=10", "broken is invalid (inconsistent"),
        (["levels", "elsewhere"], "tps=10", "different hosts"),
        (["levels"], "tps=0", "above zero"),
        (["levels"], "tps=-5", "above zero"),
        (["levels"], "p95=500", "unit is missing"),
        (["levels"], "user=5", "Did you mean 'users'"),
        (["levels"], "users=60", "more than 2 times the 16"),
        (["levels"], "tps=10 p95=1ms", "cannot hold"),
        (["levels"], "users=5 tps=9000", "cannot hold together"),
        (["levels"], "tps=10 tb=3", "more than 2 times the measured"),
        (["levels"], "tb=1", "size of a device is unknown"),
        (["levels", "levels"], "tps=10", "named twice"),
        ([PROFILE], "tps=10", "No run has a completed level"),
        (["levels"], "queries_per_h=10", "No run has a completed query test"),
        (["levels", "--what-if", "cpus=64"], "tps=10", "2 times"),
        (["levels", "--raid-of", "other=10"], "tps=10", "name one of the runs"),
        (["nothing"], "tps=10", "No run 'nothing'"),
        (["levels"], "missing.toml", "Cannot read"),
    ],
)
def test_what_is_refused_in_one_line(kept: Path, words: list[str], wants: str, fault: str) -> None:
    done = size(kept, *words, wants=wants)
    assert done.returncode == 2, done.stdout
    assert fault in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


def test_runs_that_differ_can_be_mixed(kept: Path) -> None:
    assert sized(kept, "levels", "elsewhere", "--mixed", wants="tps=10")["servers"]["p50"] == 1


def test_wants_from_a_file(kept: Path, tmp_path: Path) -> None:
    file = tmp_path / "wanted.toml"
    file.write_text('tps = 2500\np95 = "30ms"\n')
    assert sized(kept, "levels", wants=str(file)) == sized(
        kept, "levels", wants="tps=2500 p95=30ms"
    )


def test_levels_of_raid_by_theory_and_by_measurement(kept: Path, tmp_path: Path) -> None:
    for name, iops in (("ten", 4175), ("six", 2821)):
        rows = storage_rows.rising(iops, curve="mixed", reads=70)
        made = storage_rows.bundle(tmp_path, rows)
        made.path = tmp_path / name
        made.write()
    words = ["ten", "six", str(kept / "levels"), "--raid-of", "ten=10", "--raid-of", "six=raid6"]
    done = dyno("size", *words, "--want", "tps=100", "--out", tmp_path, "--json")
    assert done.returncode == 0, done.stderr
    (found,) = document(done)["raid"]
    assert (found["level"], found["of"]) == ("10", "6")
    assert found["theory"] == pytest.approx(1.92, abs=0.005)
    assert found["measured"] == pytest.approx(4175 / 2821, rel=0.01)


@pytest.mark.parametrize("columns", [80, 160])
def test_the_text_fits_a_terminal(
    kept: Path, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    done = size(kept, "levels", PROFILE, "--what-if", "cpus=4", wants="tps=2500 p95=30ms")
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stdout.splitlines() if len(line) > columns] == []
    assert "Servers" in done.stdout


def test_a_hostile_name_does_not_reach_the_terminal(kept: Path, tmp_path: Path) -> None:
    rows = storage_rows.rising(4175, curve="mixed", reads=70, arm="a\x1b[31m")
    storage_rows.bundle(tmp_path, rows).write()
    done = size(tmp_path, PROFILE, str(kept / "levels"), wants="tps=100")
    assert done.returncode == 0, done.stderr
    assert "\x1b[31m" not in done.stdout


def test_json_has_no_infinite_numbers(kept: Path) -> None:
    done = size(kept, "levels", "--what-if", "servers=1", "--json", wants="tps=6000")
    json.loads(done.stdout, parse_constant=pytest.fail)
    assert document(done)["what_if"]["holds"] is False


def test_the_page_has_every_word() -> None:
    page = (Path(__file__).parents[2] / "docs/sizing.md").read_text("utf-8")
    assert [name for name in WORDS if f"`{name}`" not in page] == []
