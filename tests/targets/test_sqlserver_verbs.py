"""Each verb at a server that speaks SQL Server's protocol: it works, or says why not, up front."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from dyno import targets
from dyno.contracts.target import Limits
from dyno.targets.sqlserver.address import PASSWORD
from dyno.targets.sqlserver.target import SqlServerTarget
from tests.babelfish import alone
from tests.process import assert_valid, document, dyno, spoilt

pytestmark = pytest.mark.long

NOISE = ("unsteady", "client-bound", "misaligned-windows")
"""Reasons against a run of a few seconds on a small machine."""
WITHOUT = "it lacks what SQL Server has"


def target_of(url: str, out: Path) -> SqlServerTarget:
    opened = targets.open_target(targets.parse(url), out, Limits(1 << 30, 2))
    assert isinstance(opened, SqlServerTarget)
    return opened


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """A server with both workloads, which no other test uses, and the folder of the runs."""
    out = tmp_path_factory.mktemp("verbs")
    with alone() as url:
        target = target_of(url, out)
        target.remove()
        for workload, scale in (("tpch", "0.01"), ("tpcc", "1")):
            where = ("--target", url, "--json", "--out", out)
            assert_valid(dyno("load", workload, "--scale", scale, *where))
        yield url, out
        target.remove()


@pytest.fixture
def unsaid(loaded: tuple[str, Path], monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL without its password, which the environment has."""
    parts = urlsplit(loaded[0])
    monkeypatch.setenv(PASSWORD, unquote(str(parts.password)))
    return parts._replace(netloc=f"{parts.username}@{parts.hostname}:{parts.port}").geturl()


def is_babelfish(url: str, out: Path) -> bool:
    with closing(target_of(url, out).connect()) as session:
        return session.version.is_babelfish


def tables(url: str, out: Path, workload: str) -> list[tuple[object, ...]]:
    """When each table was created."""
    with closing(target_of(url, out).connect(workload)) as session:
        return session.execute("SELECT name, create_date FROM sys.tables ORDER BY name").rows


def refused(*args: str | Path, code: int = 2) -> str:
    """The reason that a refused command prints."""
    done = dyno(*args)
    assert done.returncode == code, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    lines = [one for one in done.stderr.splitlines() if one.startswith("dyno: ")]
    (line,) = [one for one in lines if not one.startswith("dyno: Note: ")]  # on the password
    return line


def test_doctor_says_what_was_tested(loaded: tuple[str, Path]) -> None:
    url, out = loaded
    found = document(dyno("doctor", url, "--json", "--out", out))
    items = {item["name"]: item for item in found["items"]}
    assert items["target"]["ok"] is True
    assert items["tested"]["ok"] is None
    assert targets.tried("sqlserver") in items["tested"]["message"]


@pytest.mark.parametrize("workload", ["tpch", "tpcc"])
def test_a_dry_run_of_a_load_changes_nothing(
    loaded: tuple[str, Path], workload: str, tmp_path: Path
) -> None:
    url, out = loaded
    before = tables(url, out, workload)
    load = ("load", workload, "--scale", "1", "--target", url, "--out", tmp_path / "dry")
    found = document(dyno(*load, "--dry-run", "--replace", "--json"))
    assert {name for name, _ in before} <= found["rows"].keys()
    drops = [one for one in found["statements"] if one.startswith("DROP TABLE")]
    assert len(drops) == len(before)
    script = dyno(*load, "--dry-run", "--replace").stdout
    assert script.count("\nGO\n") >= len(drops)
    assert "--replace" in refused(*load, "--dry-run")
    assert tables(url, out, workload) == before
    assert not (tmp_path / "dry").exists()


def test_a_dry_run_without_a_database_creates_it(loaded: tuple[str, Path], tmp_path: Path) -> None:
    url, _ = loaded
    load = ("load", "brokerage", "--scale", "1", "--target", url, "--out", tmp_path / "dry")
    statements = document(dyno(*load, "--dry-run", "--json"))["statements"]
    assert statements[0].startswith("CREATE DATABASE [dyno_brokerage]")
    assert not any(one.startswith("DROP") for one in statements)


def test_a_layout_that_the_server_lacks_is_refused_with_the_tables_in_place(
    loaded: tuple[str, Path],
) -> None:
    url, out = loaded
    if not is_babelfish(url, out):
        pytest.skip(WITHOUT)
    before = tables(url, out, "tpch")
    load = ("load", "tpch", "--scale", "0.01", "--target", url, "--replace", "--layout", "columnar")
    assert "columnar" in refused(*load, "--dry-run", "--out", out)
    done = dyno(*load, "--json", "--out", out)
    assert done.returncode == 2
    assert tables(url, out, "tpch") == before


SHIPPED = {
    "columnstore-tables": (),
    "maintenance": (),
    "check-depth": (),
    "parallelism": (),
    "partitions": ("--with", "load.volumes=" + ",".join(f"/mnt/{part}" for part in range(8))),
    "trade-partitions": (
        *("--with", "load.volumes=" + ",".join(f"/mnt/{part}" for part in range(10))),
        *("--with", "limits.memory="),
    ),
}
"""Studies that need what Babelfish lacks, and their options for a server at a URL."""


@pytest.mark.parametrize("study", SHIPPED)
def test_a_study_that_cannot_work_says_so_before_it_loads(
    loaded: tuple[str, Path], unsaid: str, study: str, tmp_path: Path
) -> None:
    url, out = loaded
    if not is_babelfish(url, out):
        pytest.skip(WITHOUT)
    before = {name: tables(url, out, name) for name in ("tpch", "tpcc")}
    given = ("--target", unsaid, *SHIPPED[study])
    plan = document(dyno("study", "plan", study, *given, "--json", "--out", tmp_path))
    assert plan["slots"]
    line = refused("study", study, *given, "--quiet", "--out", tmp_path)
    assert "Babelfish" in line
    assert not (tmp_path / "studies").exists()
    assert {name: tables(url, out, name) for name in before} == before


STATIC = {
    "settings": "memory",
    "buffer-size": "--limit",
    "query-cpus": "--limit",
    "index-build": "--limit",
    "trade-partitions": "--volumes",
    "accelerate-oltp": "--limit",
    "prewarm": "--limit",
}
"""Studies of a private engine, and what no server at a URL can do."""


@pytest.mark.parametrize("study", STATIC)
def test_a_study_of_a_private_engine_is_refused_without_a_server(
    study: str, tmp_path: Path
) -> None:
    target = "mssql://dyno@db1.invalid/master"
    given = ("study", study, "--target", target, "--reset", "nothing", "--out", tmp_path)
    for more in ((), ("--dry-run",)):
        assert STATIC[study] in refused(*given, *more)
    assert not (tmp_path / "studies").exists()


def test_a_study_of_users_works(loaded: tuple[str, Path], unsaid: str, tmp_path: Path) -> None:
    given = (
        *("--workload", "tpcc", "--target", unsaid, "--scale", "1", "--pairs", "2"),
        *("--a", "run.users=1", "--b", "run.users=2", "--no-early-stop"),
        *("--with", "run.duration=2s", "--with", "run.warmup=500ms", "--metric", "tps"),
    )
    done = dyno("study", "compare", *given, "--json", "--out", tmp_path)
    assert done.returncode in {0, 1}, done.stderr
    found = document(done)
    assert {run["verdict"] for run in found["runs"]} <= {"valid", "disturbed", "invalid"}
    assert found["outcome"]["comparisons"]


OWN = """
name = "verbs_own"
[tables.item]
rows = 100
key = ["id"]
[tables.item.columns]
id = "int row"
stock = "int 1000"
[draws]
id = { uniform = [1, 100] }
[[transactions.take.statements]]
sql = "select 1 / 0 where 1 = :id"
sqlserver = "update item set stock = stock - 1 output inserted.stock where id = :id"
keep = ["stock int"]
rows = 1
[[transactions.take.statements]]
sql = "update item set stock = 1000 where id = :id and :stock < 0"
rows = 0
[[transactions.ask.statements]]
sql = "call dbo.stock_of(:id)"
keep = ["stock int"]
rows = 1
[[transactions.ask.statements]]
sql = "select 1 where :stock < 0"
rows = 0
[[transactions.twice.statements]]
sql = "call dbo.two_of(:id)"
[[checks]]
name = "stock was taken"
sql = "select 1"
sqlserver = "select top (1) 1 from (select sum(stock) as s from item) as it where s >= 100000"
after = "run"
"""


def test_statements_of_their_own_dialect(loaded: tuple[str, Path], tmp_path: Path) -> None:
    url, out = loaded
    file = tmp_path / "verbs_own.toml"
    file.write_text(OWN)
    given = (file, "--target", url, "--out", out, "--json")
    assert_valid(dyno("load", *given, "--scale", "1"))
    with closing(target_of(url, out).connect("own_verbs_own")) as session:
        asking = "SELECT stock FROM dbo.item WHERE id = @id"
        session.execute(f"CREATE PROCEDURE dbo.stock_of @id int AS {asking}")
        session.execute(f"CREATE PROCEDURE dbo.two_of @id int AS {asking}; SELECT 'a', @id")
    done = dyno("run", *given, "--users", "2", "--warmup", "0s", "--duration", "2s")
    (level,) = assert_valid(done, *NOISE)["workloads"]["own_verbs_own"]["levels"]
    assert all(one["count"] > 0 for one in level["operations"].values())
    assert not level["errors"]


def test_the_example_queries(loaded: tuple[str, Path]) -> None:
    url, out = loaded
    given = ("sales-queries", "--target", url, "--out", out, "--json")
    assert_valid(dyno("load", *given, "--scale", "0.05"))
    found = assert_valid(dyno("run", *given))["workloads"]["own_sales"]["engines"]["sqlserver"]
    assert all(each["seconds"] > 0 for each in found["queries"])


@pytest.mark.parametrize("workload", ["tpch", "tpcc"])
def test_maintenance_that_the_server_lacks_is_refused_before_the_work(
    loaded: tuple[str, Path], workload: str
) -> None:
    url, out = loaded
    if not is_babelfish(url, out):
        pytest.skip(WITHOUT)
    before = {path.name for path in out.iterdir()}
    done = dyno(
        "run", workload, "--target", url, "--during", "reindex", "--duration", "5s",
        "--json", "--out", out,
    )  # fmt: skip
    assert done.returncode == 2
    found = document(done)
    assert "reindex" in str(found["error"])
    (bundle,) = {path.name for path in out.iterdir()} - before
    assert not (out / bundle / "queries.parquet").exists()
    assert not [*(out / bundle).glob("ops/*")]


def test_a_certificate(loaded: tuple[str, Path]) -> None:
    url, out = loaded
    short = ("--warmup", "500ms", "--duration", "10s")
    given = (*short, "--scale", "0.01", "--users", "2", "--json", "--out", out)
    done = dyno("certify", url, *given)
    assert done.returncode in {0, 1}, done.stderr
    found = document(done)
    spoils = spoilt(found)
    assert spoils <= {*NOISE, "empty-interval"}
    assert found["certificate"] or spoils
    if is_babelfish(url, out):
        line = dyno("certify", url, *given, "--set", "parallelism=4")
        assert line.returncode == 2
        assert "Babelfish" in line.stderr


def test_sizing_advice_and_acceleration_from_a_run(
    loaded: tuple[str, Path], tmp_path: Path
) -> None:
    url, out = loaded
    users = ("--users", "1", "--users", "2", "--users", "4")
    short = ("--warmup", "500ms", "--duration", "5s")
    run = document(dyno("run", "tpcc", "--target", url, *users, *short, "--json", "--out", out))
    if not run["valid"]:
        pytest.skip(f"the run is not valid here: {run['reasons']}")
    sized = dyno("size", run["run"], "--want", "tps=50", "--json", "--out", out)
    assert sized.returncode == 0, sized.stderr
    advised = dyno("advise", run["run"], "--json", "--out", out)
    assert advised.returncode in {0, 1}, advised.stderr
    live = dyno("advise", url, "--json", "--out", out)
    assert live.returncode in {0, 1}, live.stderr
    plan = ("accelerate", "plan", run["run"], "--flash", tmp_path, "--data-size", "1G")
    if not is_babelfish(url, out):
        assert dyno(*plan, "--out", out).returncode == 0
        return
    assert "waited for" in refused(*plan, "--out", out)
    for part in ("temp", "log", "database"):
        move = ("accelerate", "move", part, url, "--flash", "/flash")
        assert refused(*move, "--out", out)


def test_counters_that_the_server_lacks_are_reported(loaded: tuple[str, Path]) -> None:
    url, out = loaded
    if not is_babelfish(url, out):
        pytest.skip(WITHOUT)
    line = refused("capture", url, "--from", "dm_exec_query_stats", code=3)
    assert "dm_exec_query_stats" in line


def test_a_recording(loaded: tuple[str, Path]) -> None:
    url, out = loaded
    done = dyno("watch", url, "--for", "4s", "--json", "--out", out)
    assert done.returncode in {0, 1}, done.stderr
    assert "Traceback" not in done.stderr


def test_a_log_of_another_product_is_not_replayed(loaded: tuple[str, Path], tmp_path: Path) -> None:
    url, out = loaded
    log = tmp_path / "general.log"
    log.write_text("2026-11-26T10:00:00.000000Z\t    8 Query\tSELECT 1\n")
    assert refused("replay", log, "--target", url, "--out", out)


def test_a_cold_start_is_refused(loaded: tuple[str, Path]) -> None:
    url, out = loaded
    line = refused("run", "tpch", "--target", url, "--cold", "--out", out)
    assert "embedded:" not in line


def test_clean_lists_and_removes_nothing_without_yes(loaded: tuple[str, Path]) -> None:
    url, out = loaded
    found = document(dyno("clean", "--target", url, "--json", "--out", out))
    assert found["removed"] == []
    assert "database dyno_tpch, if empty" in found["found"]
    assert tables(url, out, "tpch")
