"""Procedure mode does to the data exactly what client mode does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from dyno import drive, schema, targets
from dyno.bundle import list_bundles
from dyno.drive import OltpPlan
from dyno.progress import Silent
from dyno.record import Recorder
from dyno.targets.base import Limits, Loaded, Target
from dyno.targets.postgresql.server import Server
from dyno.workloads.tpcc.checks import check_conditions
from tests.maintained import fill
from tests.process import wait_until

LIMITS = Limits(memory_bytes=256 << 20, threads=2)
LOADED = Loaded(2, 1, complete=True)
SEED = 2
WRITTEN = set(schema.table_names("tpcc")) - {"item"}
Drive = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    found = Server(tmp_path_factory.mktemp("pg"), LIMITS)
    found.start()
    try:
        with target_at(found) as target, closing(target.connect()) as session:
            session.execute("CREATE DATABASE whole")
        with target_at(found, "whole") as target:
            fill(target, "tpcc", LOADED.scale)
        yield found
    finally:
        found.stop()


def target_at(server: Server, database: str = "postgres") -> Target:
    folder = quote(str(server.socket_folder), safe="")
    url = targets.parse(f"postgresql://dyno@/{database}?host={folder}")
    return targets.open_target(url, Path("/nowhere"), LIMITS)


@pytest.fixture
def copy(server: Server) -> Iterator[Callable[[str], Target]]:
    """Makes databases with the data as it was loaded."""
    names: list[str] = []

    def make(name: str) -> Target:
        with target_at(server) as target, closing(target.connect()) as session:
            others = "SELECT 1 FROM pg_stat_activity WHERE datname = 'whole'"
            wait_until(lambda: not session.execute(others).rows, "sessions to end")
            session.execute(f"DROP DATABASE IF EXISTS {name}")
            session.execute(f"CREATE DATABASE {name} TEMPLATE whole STRATEGY file_copy")
        names.append(name)
        return target_at(server, name)

    yield make
    with target_at(server) as target, closing(target.connect()) as session:
        for name in set(names):
            session.execute(f"DROP DATABASE {name} (FORCE)")


@pytest.fixture
def run(out: Path) -> Drive:
    """Drives a target in a bundle of its own; returns the driver's outcome."""

    def driven(target: Target, mode: str, **more: Any) -> dict[str, Any]:
        recorder = Recorder(out, "run", {}, ("tpcc",))
        usual = {"loaded": LOADED, "users": 1, "warmup_s": 0.0, "duration_s": 2.0, "seed": SEED}
        plan = OltpPlan("tpcc", mode=mode, **{**usual, **more})
        if mode == "procedure":
            drive.program(recorder, target, "tpcc")
        outcome = drive.drive(recorder, target, plan, Silent())
        recorder.finish("done")
        recorder.close()
        return outcome

    return driven


def contents(target: Target) -> dict[str, Any]:
    """Rows and a digest of each table, timestamps aside: only whether there is one counts."""
    found: dict[str, Any] = {}
    with closing(target.connect("tpcc")) as session:
        for table in schema.tables("tpcc"):
            columns = ", ".join(
                f"{column['name']} IS NULL" if column["kind"]["type"] == "timestamp"
                else column["name"]
                for column in table["columns"]
            )  # fmt: skip
            digest = f"sum(hashtextextended(row({columns})::text, 0)::numeric)"
            question = f"SELECT count(*), {digest} FROM {table['name']}"
            found[table["name"]] = session.execute(question).rows[0]
    return found


def sound(target: Target) -> bool:
    with closing(target.connect("tpcc")) as session:
        checks = check_conditions(target.name, session, "run")
    return not [check for check in checks if check.passed is False]


def test_the_same_inputs_leave_the_same_tables(server: Server, copy: Any, run: Drive) -> None:
    with target_at(server, "whole") as target:
        before = contents(target)
    left: dict[str, Any] = {}
    for mode in ("client", "procedure"):
        for _ in range(20):  # until the machine let it send all that was due
            with copy(mode) as target:
                outcome = run(target, mode, rate_per_s=100.0, poisson=False, duration_s=3.0)
                left[mode] = contents(target)
                assert sound(target)
            if outcome["unsent"] == 0:
                break
        assert (outcome["scheduled"], outcome["errors_first"]) == (300, {})
        assert len(outcome["ops"]) == 5
        assert outcome["ops"]["new_order"]["rolled_back"] > 0
    assert {table for table in before if left["client"][table] != before[table]} == WRITTEN
    assert left["client"] == left["procedure"]


def test_failures_to_serialise_are_retried(copy: Any, run: Drive) -> None:
    with copy("serial") as target, closing(target.connect()) as session:
        session.execute("ALTER DATABASE serial SET default_transaction_isolation = 'serializable'")
        for seed in range(20):
            outcome = run(target, "procedure", users=8, seed=seed)
            retried = sum(sum(item["retries"].values()) for item in outcome["ops"].values())
            if retried:
                break
        assert retried
        assert list(outcome["errors_first"]) == ["serialization"]
        assert sound(target)


def test_users_at_once_leave_consistent_data(copy: Any, run: Drive, out: Path) -> None:
    with copy("crowd") as target:
        outcome = run(target, "procedure", users=8)
        assert outcome["errors_first"] == {}
        assert len(outcome["ops"]) == 5
        assert sound(target)
        again = run(target, "procedure", users=1, duration_s=0.2)
        assert again["errors_first"] == {}
    bundles = list_bundles(out)
    made = [
        phase.detail["made"]
        for bundle in reversed(bundles)
        for phase in bundle.run.phases
        if phase.name == "procedures-tpcc-postgresql"
    ]
    assert made == [True, False]


@pytest.mark.parametrize("mode", ["client", "procedure"])
def test_more_warehouses_than_there_are_fail_and_change_nothing_by_halves(
    copy: Any, run: Drive, mode: str
) -> None:
    with copy("small") as target:
        outcome = run(target, mode, loaded=Loaded(40, 1, complete=True), duration_s=0.5)
        assert list(outcome["errors_first"]) == ["database"]
        assert "number of warehouses right" in outcome["errors_first"]["database"]
        assert sound(target)
