"""MariaDB's metrics of a query: a right value, or a reason why there is none."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from dyno.contracts.meter import METRICS, QueryMeter
from dyno.contracts.target import QueryResult
from dyno.errors import DatabaseError
from dyno.targets.mysql.connection import MysqlConnection
from dyno.targets.mysql.meter import MysqlMeter
from dyno.targets.mysql.target import MysqlTarget
from dyno.targets.mysql.version import Version
from dyno.targets.observers import Observers
from tests.maintained import fill
from tests.process import wait_until
from tests.targets.conftest import embedded_mariadb

SORT = "SELECT l_comment FROM lineitem ORDER BY l_comment, l_orderkey LIMIT 100000 OFFSET 9"
SMALL = "SELECT sum(n_nationkey) FROM nation"


@pytest.fixture(scope="module")
def mariadb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MysqlTarget]:
    with embedded_mariadb(tmp_path_factory.mktemp("meter")) as target:
        fill(target)
        target.cool()  # what is read comes from the files
        yield target


@pytest.fixture
def session(mariadb: MysqlTarget) -> Iterator[MysqlConnection]:
    with closing(mariadb.connect("tpch")) as found:
        busy = "SHOW GLOBAL STATUS LIKE 'Threads_running'"
        wait_until(lambda: found.execute(busy).rows[0][1] == "1", "other sessions to end")
        yield found


def metered(target: MysqlTarget, session: MysqlConnection, *statements: str) -> list[Any]:
    meter, found = QueryMeter(target, session), []
    for statement in statements:
        meter.before()
        session.execute(statement)
        found.append(meter.after())
    return found


def source(columns: dict[str, Any], name: str) -> str:
    return json.loads(columns["meter"])[name]


def test_bytes_read_are_those_of_the_files(mariadb: MysqlTarget, session: MysqlConnection) -> None:
    size = session.execute(
        "SELECT data_length FROM information_schema.tables "
        "WHERE table_schema = 'dyno_tpch' AND table_name = 'lineitem'"
    ).rows[0][0]
    scan = "SELECT sum(l_quantity) FROM lineitem USE INDEX ()"
    first, again = metered(mariadb, session, scan, scan)
    assert 0.8 * size < first["bytes_read"] < 1.5 * size
    assert first["bytes_read"] % 16384 == 0
    assert again["bytes_read"] == 0
    assert "Innodb_data_read" in source(first, "bytes_read")
    assert set(json.loads(first["meter"])) == set(METRICS)


def test_nothing_spilled_is_zero_and_what_was_has_no_bytes(
    mariadb: MysqlTarget, session: MysqlConnection
) -> None:
    session.execute("SET SESSION sort_buffer_size = 65536")
    small, sort, again = metered(mariadb, session, SMALL, SORT, SMALL)
    assert small["temp_bytes"] == again["temp_bytes"] == 0
    assert sort["temp_bytes"] is None
    assert "does not count the bytes" in source(sort, "temp_bytes")
    session.execute("SET SESSION tmp_memory_table_size = 65536")
    groups = "SELECT l_comment, count(*) FROM lineitem GROUP BY l_comment, l_orderkey"
    (gathered,) = metered(mariadb, session, groups)
    assert gathered["temp_bytes"] is None


def test_a_peak_is_a_querys_only_where_it_raised_the_sessions(
    mariadb: MysqlTarget, session: MysqlConnection
) -> None:
    session.execute("SET SESSION sort_buffer_size = 8388608")
    small, sort, again, larger = metered(
        mariadb, session, SMALL, SORT, SMALL, f"SELECT a.l_comment FROM ({SORT}) a ORDER BY 1 DESC"
    )
    assert small["peak_memory_bytes"] is None
    assert sort["peak_memory_bytes"] > 4_000_000
    assert again["peak_memory_bytes"] is None
    assert f"at most {sort['peak_memory_bytes']:,} bytes" in source(again, "peak_memory_bytes")
    assert larger["peak_memory_bytes"] > sort["peak_memory_bytes"]


def test_what_another_session_may_have_caused_is_left_out(
    mariadb: MysqlTarget, session: MysqlConnection
) -> None:
    meter = QueryMeter(mariadb, session)
    with closing(mariadb.connect("tpch")) as other:
        meter.before()
        session.execute(SMALL)
        other.execute(SMALL)
        found = meter.after()
        assert (found["bytes_read"], found["temp_bytes"]) == (None, None)
        assert "other sessions were active" in source(found, "bytes_read")
        # An idle one does no harm.
        meter.before()
        session.execute(SMALL)
        assert meter.after()["bytes_read"] == 0


def test_what_began_before_the_query_is_seen_too(
    mariadb: MysqlTarget, session: MysqlConnection
) -> None:
    meter = QueryMeter(mariadb, session)
    with closing(mariadb.connect()) as other:

        def work() -> None:
            with pytest.raises(Exception, match="cancelled"):
                other.execute("SELECT BENCHMARK(100000000000, MD5('x'))")

        thread = threading.Thread(target=work)
        thread.start()
        busy = "SHOW GLOBAL STATUS LIKE 'Threads_running'"
        wait_until(lambda: session.execute(busy).rows[0][1] == "2", "the other statement")
        meter.before()
        session.execute(SMALL)
        found = meter.after()
        other.cancel()
        thread.join(300)
    assert found["bytes_read"] is None


def test_a_query_that_failed_leaves_nothing_to_the_next(
    mariadb: MysqlTarget, session: MysqlConnection
) -> None:
    meter = QueryMeter(mariadb, session)
    meter.before()
    with pytest.raises(DatabaseError):
        session.execute("SELECT nothing FROM nowhere")
    found = meter.after(failed=True)
    assert {source(found, name) for name in METRICS} == {"the query did not finish"}
    session.execute("SET SESSION sort_buffer_size = 65536")
    session.execute(SORT)
    meter.before()
    session.execute(SMALL)
    assert meter.after()["temp_bytes"] == 0


class Recorded:
    """A session of MySQL, with what MySQL 8.0.31 answered."""

    version = Version("MySQL", (8, 0, 31))

    def __init__(self, readings: list[dict[str, Any]], *, allowed: bool = True) -> None:
        self._readings = iter(readings)
        self._allowed = allowed

    def execute(self, sql: str) -> QueryResult:
        if "event_scheduler" in sql:
            return QueryResult(["on"], [(1,)])
        if "performance_schema" in sql and not self._allowed:
            raise DatabaseError("SELECT command denied", kind="denied")
        if "setup_instruments" in sql:
            return QueryResult(["count(*)"], [(2,)])
        return QueryResult(["name", "value"], list(next(self._readings).items()))


BEFORE = {
    "Queries": "70", "Threads_running": "2", "Innodb_data_read": "5263360",
    "Created_tmp_disk_tables": "1", "Created_tmp_files": "9", "Sort_merge_passes": "4",
    "written": "100", "mapped": "0", "peak": "1117865",
}  # fmt: skip


def read_by(*readings: dict[str, Any], allowed: bool = True) -> Any:
    own: Any = Recorded(list(readings), allowed=allowed)
    meter = MysqlMeter(own, Observers())
    meter.before()
    return meter.after()


def test_mysql_reports_memory_and_the_bytes_of_sorts() -> None:
    sorts = {"Created_tmp_files": "12", "Sort_merge_passes": "154", "written": "233125820"}
    after = {**BEFORE, **sorts, "Queries": "72", "peak": "1308778", "Innodb_data_read": "5279744"}
    found = read_by(BEFORE, BEFORE, after)  # the first one is thrown away: may it be asked?
    assert found.bytes_read == 16384
    assert found.temp_bytes == 233125720
    assert found.peak_memory_bytes == 1308778
    on_disk = read_by(BEFORE, BEFORE, {**after, "Created_tmp_disk_tables": "2"})
    assert on_disk.temp_bytes is None
    assert "writes later" in on_disk.sources["temp_bytes"]
    assert read_by(BEFORE, BEFORE, {**after, "mapped": "1"}).temp_bytes is None


def test_mysql_without_the_schema_says_which_grant_helps() -> None:
    status = {name: value for name, value in BEFORE.items() if name[0].isupper()}
    found = read_by(status, {**status, "Queries": "72"}, allowed=False)
    assert (found.bytes_read, found.temp_bytes, found.peak_memory_bytes) == (0, None, None)
    assert "GRANT SELECT ON performance_schema.*" in found.sources["peak_memory_bytes"]


@pytest.mark.parametrize("change", [{"Queries": "73"}, {"Queries": "72", "Threads_running": "3"}])
def test_mysql_with_other_sessions_at_work(change: dict[str, str]) -> None:
    found = read_by(BEFORE, BEFORE, {**BEFORE, **change})
    assert (found.bytes_read, found.temp_bytes) == (None, None)
    assert found.peak_memory_bytes == 1117865
