"""Several databases at once: loaded, driven, checked and removed, on a real server."""

from __future__ import annotations

import json
import os
import signal
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from dyno import targets
from dyno.bundle.reader import Bundle, list_bundles
from dyno.contracts.target import Removable
from dyno.targets.postgresql.server import Server
from tests.process import dyno, end, events, no_server_left, spoilt, start, wait_until
from tests.targets.conftest import LIMITS

POSTGRESQL = ("--target", "embedded:postgresql")
SEVERAL = (*POSTGRESQL, "--databases", "2")


def run(out: Path, *args: str | Path) -> tuple[dict[str, Any], Bundle]:
    done = dyno(*args, "--json", "--out", out)
    assert done.returncode in {0, 1}, done.stderr
    document = json.loads(done.stdout)
    codes = spoilt(document)
    # "misaligned-windows": a busy machine may start one of them late.
    assert codes <= {"unsteady", "client-bound", "misaligned-windows"}, document["reasons"]
    return document, Bundle.open(Path(document["bundle"]))


def rows(out: Path, *queries: str) -> list[int]:
    target = targets.open_target(targets.parse("embedded:postgresql"), out, LIMITS)
    with target, closing(target.connect()) as session:
        return [int(session.execute(query).rows[0][0]) for query in queries]


def some_are_in_the_second(out: Path) -> bool:
    """Whether parts of the second database are in the journal of the load under way."""
    server = Server(out.resolve() / "engines" / "postgresql", LIMITS)
    # Where the path is too long for a socket, the folder is a link to one with a short path.
    conninfo: dict[str, Any] = {**server.conninfo(), "host": str(server.socket_folder.resolve())}
    try:
        with psycopg.connect(**conninfo) as session:
            query = "SELECT count(*) FROM dyno_tpcc_2.dyno_load_journal"
            (count,) = session.execute(query).fetchone() or (0,)
    except psycopg.Error:  # there is no server yet, or no journal
        return False
    return int(count) > 0


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two databases: the load was killed in the second one, and went on."""
    out = tmp_path_factory.mktemp("several")
    process = start("load", "tpcc", *SEVERAL, "--scale", "1", "--json", "--out", out)
    wait_until(lambda: process.poll() is not None or some_are_in_the_second(out), "a part")
    os.kill(process.pid, signal.SIGKILL)
    assert end(process)[0] not in {0, 1}
    no_server_left(out)
    document, bundle = run(out, "load", "tpcc", *SEVERAL, "--scale", "1", "--resume")
    (phase,) = [phase for phase in bundle.run.phases if phase.kind == "load"]
    assert phase.name == "load-tpcc@2-postgresql"
    assert phase.detail.resumed_parts > 0
    rows = {check.name: check.detail.get("rows", 0) for check in bundle.checks()}
    whole = sum(count for name, count in rows.items() if name.startswith("rows of "))
    assert phase.detail.rows + phase.detail.resumed_rows == whole
    assert document["tpcc"]["consistency"] is True
    assert bundle.run.notices
    assert all(check.passed is not False for check in bundle.checks())
    return out


@pytest.mark.long
def test_work_goes_on_in_all_of_them_and_adds_up(loaded: Path) -> None:
    count = "SELECT count(*) FROM dyno_tpcc{}.orders"
    every = [count.format(end) for end in ("", "_2")]
    assert rows(loaded, *every) == [30_000, 30_000]
    document, bundle = run(
        loaded, "run", "tpcc", *SEVERAL, "--users", "2", "--warmup", "500ms", "--duration", "1s"
    )
    total, *parts = document["tpcc"]["levels"]
    assert total["level"] == "users-2"
    assert (total["users"], total["databases"]) == (4, 2)
    assert [part["level"] for part in parts] == ["users-2-db-1", "users-2-db-2"]
    assert total["tps"] == pytest.approx(sum(part["tps"] for part in parts))
    assert min(part["tps"] for part in parts) > 0
    assert total["p95_ms"] <= max(part["p95_ms"] for part in parts) * 1.01
    phases = {getattr(phase.detail, "level", None): phase for phase in bundle.run.phases}
    start = max(phases[level].start_ns for level in ("users-2-db-1", "users-2-db-2"))
    assert all((phases[part["level"]].end_ns or 0) > start for part in parts)
    assert phases["users-2"].detail.apart_s >= 0
    # A server counts its checkpoints, not those of each database.
    counted = [one.name for one in bundle.estimates() if one.name.endswith(".checkpoints")]
    assert counted == ["oltp.users-2.checkpoints"]
    # Each made other orders than its neighbour, and both are whole.
    for before, now in zip((30_000, 30_000), rows(loaded, *every), strict=True):
        assert now > before
    digest = "SELECT coalesce(sum(hashtext(t::text)), 0) FROM dyno_tpcc{}.order_line t"
    first, second = rows(loaded, digest.format(""), digest.format("_2"))
    assert first != second
    checks = {check.name: check.passed for check in bundle.checks()}
    assert checks["condition 1"] is True
    assert checks["condition 1 of database 2"] is True
    assert "database 2" in (bundle.path / "sheet.html").read_text()
    samples = bundle.table("ops/users-2").to_pylist()
    own = [row for part in parts for row in bundle.table(f"ops/{part['level']}").to_pylist()]
    assert sum(row["done"] for row in samples) == sum(row["done"] for row in own)


@pytest.mark.long
def test_procedures_are_made_and_called_in_each(loaded: Path) -> None:
    count = (
        "SELECT count(*) FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace "
        "WHERE n.nspname = '{}'"
    )
    document, bundle = run(
        loaded, "run", "tpcc", *SEVERAL, "--users", "2", "--mode", "procedure", "--warmup",
        "500ms", "--duration", "1s",
    )  # fmt: skip
    made = [
        phase.detail.made
        for phase in bundle.run.phases
        if getattr(phase.detail, "procedures", None)
    ]
    assert made == [True, True]
    first, second = rows(loaded, count.format("dyno_tpcc"), count.format("dyno_tpcc_2"))
    assert first == second > 0
    assert {level["mode"] for level in document["tpcc"]["levels"]} == {"procedure"}
    assert min(level["tps"] for level in document["tpcc"]["levels"]) > 0
    assert document["tpcc"]["consistency"] is True


@pytest.mark.long
def test_ctrl_c_ends_all_of_them(loaded: Path) -> None:
    process = start(
        "run", "tpcc", *SEVERAL, "--users", "3", "--duration", "300s", "--out", loaded
    )  # fmt: skip
    total = "oltp-tpcc-postgresql-users-3"  # the last to begin
    wait_until(lambda: any(event.get("phase") == total for event in events(loaded)), total)
    os.kill(process.pid, signal.SIGINT)
    code, _, errors = end(process)
    assert code == 130, errors
    assert "Traceback" not in errors
    no_server_left(loaded)
    bundle = list_bundles(loaded)[0]
    levels = [phase for phase in bundle.run.phases if phase.kind == "oltp"]
    assert [phase.status for phase in levels] == ["interrupted"] * 3


@pytest.mark.long
def test_damage_in_any_of_them_is_found(loaded: Path) -> None:
    change = "UPDATE dyno_tpcc_2.warehouse SET w_ytd = w_ytd {} 1 RETURNING 1"
    rows(loaded, change.format("+"))
    try:
        done = dyno("check", "tpcc", *SEVERAL, "--json", "--out", loaded)
        assert done.returncode == 1, done.stderr
        bundle = Bundle.open(Path(json.loads(done.stdout)["bundle"]))
        failed = {check.name for check in bundle.checks() if check.passed is False}
        assert failed == {"condition 1 of database 2", "condition 8 of database 2"}
        alone = dyno("check", "tpcc", *POSTGRESQL, "--json", "--out", loaded)
        codes = spoilt(json.loads(alone.stdout))
        assert "inconsistent" not in codes
    finally:
        rows(loaded, change.format("-"))


@pytest.mark.long
def test_isolation_is_proven_in_each(loaded: Path) -> None:
    level = ("--isolation", "--level", "repeatable-read")
    _, bundle = run(loaded, "check", "tpcc", *SEVERAL, *level)
    checks = {check.name: check.passed for check in bundle.checks()}
    for number in range(1, 10):
        assert checks[f"isolation {number}"] is True
        assert checks[f"isolation {number} of database 2"] is True
    # What they commit leaves both consistent.
    assert checks["condition 1 of database 2"] is True
    played = [phase for phase in bundle.run.phases if phase.name.startswith("isolation-")]
    assert [getattr(phase.detail, "database", None) for phase in played] == [None, 2]


def test_missing_databases_are_reported(loaded: Path) -> None:
    done = dyno("run", "tpcc", *POSTGRESQL, "--databases", "3", "--out", loaded)
    assert done.returncode == 2, done.stderr
    assert "holds no database 3 of tpcc" in done.stderr
    assert "--scale 1 --databases 3 --resume" in done.stderr
    done = dyno("load", "tpcc", *SEVERAL, "--scale", "1", "--resume", "--out", loaded)
    assert done.returncode == 2, done.stderr
    assert "holds 2 databases of tpcc at scale 1, whole" in done.stderr


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("run", "tpch", *SEVERAL, "--test", "power"), "--databases requires --test throughput"),
        (("load", "tpcc", *SEVERAL, "--scale", "1", "--streams", "1", "--streams", "2"),
         "--streams at most once"),
        (("load", "tpch", "--target", "embedded:sqlite", "--databases", "2", "--scale", "0.01"),
         "one file, which is one database"),
        (("run", "tpch", *SEVERAL, "--users", "2", "--streams", "2"), "cannot be combined"),
        (("run", "tpch", *SEVERAL, "--users", "2", "--users", "3"), "Give --users once"),
        (("run", "tpch", *POSTGRESQL, "--users", "2", "--test", "power"), "power test has one"),
        (("run", "tpcc@2", *POSTGRESQL), "Did you mean 'tpcc'?"),
    ],
)  # fmt: skip
def test_wrong_use(out: Path, args: tuple[str, ...], words: str) -> None:
    done = dyno(*args, "--out", out)
    assert done.returncode == 2, done.stderr
    assert words in " ".join(done.stderr.split())


def test_all_of_them_are_removed(loaded: Path) -> None:
    target = targets.open_target(targets.parse("embedded:postgresql"), loaded, LIMITS)
    with target:
        assert isinstance(target, Removable)
        target.program("tpcc@2")
        found = target.marked()
        assert len([item for item in found if item.startswith("table dyno_tpcc_2.")]) == 9
        assert {"schema dyno_tpcc", "schema dyno_tpcc_2"} <= set(found)
        procedures = [item for item in found if item.startswith("procedure dyno_tpcc_2.")]
        assert procedures
        assert {"schema dyno_tpcc", "schema dyno_tpcc_2"} <= set(target.remove())
        assert target.marked() == []
