"""Statements and relations of PostgreSQL 15 at a URL: rights, extension, resets, restarts."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dyno import targets
from dyno.contracts.inspection import Inspection, RelationUse, StatementUse
from dyno.targets.postgresql.inside.database import Database
from dyno.targets.postgresql.inside.generic import with_plans
from dyno.targets.postgresql.inside.inspector import PostgresInspector
from dyno.targets.postgresql.inside.observer import prepare
from dyno.targets.postgresql.inside.sessions import Sessions
from dyno.targets.postgresql.target import PostgresTarget
from tests.process import wait_until
from tests.targets.conftest import LIMITS, ask, public_folder
from tests.targets.debian import as_server, debian_server

EXTENSION = "shared_preload_libraries = 'pg_stat_statements'"
SECOND = 1_000_000_000


class Server:
    """A server at a URL, and its data folder."""

    def __init__(self, folder: Path, url: str) -> None:
        self.data, self.url = folder / "debian", url
        self.target = opened(url)

    def restart(self, mode: str) -> None:
        bin_folder = sorted(Path("/usr/lib/postgresql").glob("*/bin"))[-1]
        command = [str(bin_folder / "pg_ctl"), "-D", str(self.data), "-w", "-m", mode]
        log = ["-l", str(self.data / "log")]
        subprocess.run([*as_server(), *command, *log, "restart"], cwd="/", check=True, timeout=120)

    def session_of(self, role: str) -> PostgresTarget:
        return opened(self.url.replace("user=dyno", f"user={role}"))


def opened(url: str) -> PostgresTarget:
    target = targets.open_target(targets.parse(url), Path("/nowhere"), LIMITS)
    assert isinstance(target, PostgresTarget)
    return target


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """With the extension in a schema of its own, as users have it."""
    with public_folder() as folder, debian_server(folder, EXTENSION) as url:
        found = Server(folder, url)
        ask(found.target, 'CREATE SCHEMA "Our tools"')
        ask(found.target, 'CREATE EXTENSION pg_stat_statements SCHEMA "Our tools"')
        yield found


@pytest.fixture
def target(server: Server) -> Iterator[PostgresTarget]:
    """The server with the empty schema ``shop``."""
    ask(server.target, "CREATE SCHEMA shop")
    yield server.target
    ask(server.target, "DROP SCHEMA shop CASCADE")


def inspector(target: PostgresTarget) -> PostgresInspector:
    found = target.inspector()
    assert isinstance(found, PostgresInspector)
    found.begin()
    return found


def relations(found: Inspection) -> dict[str, RelationUse]:
    return {one.relation: one for one in found.relations}


def statements(found: Inspection, words: str) -> list[StatementUse]:
    return [one for one in found.statements if words in one.text]


def blocks(target: PostgresTarget, query: str) -> dict[str, Any]:
    """What EXPLAIN counts while a query runs: pages, rows and temporary blocks."""
    text = ask(target, f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {query}")[0][0]
    return (text if isinstance(text, list) else json.loads(text))[0]["Plan"]


def changed(target: PostgresTarget, table: str) -> int:
    """Rows of a table that were inserted, changed or deleted, as reported so far."""
    query = "SELECT n_tup_ins + n_tup_upd + n_tup_del FROM pg_stat_all_tables WHERE relname = "
    return int(ask(target, f"{query}'{table}'")[0][0])


def test_statements_are_counted_as_the_server_does(target: PostgresTarget) -> None:
    ask(
        target,
        "CREATE TABLE shop.item AS SELECT i, repeat('x', 300) t FROM generate_series(1, 9000) i",
    )
    query = "SELECT t, count(*) FROM shop.item WHERE i > {} GROUP BY t"
    ask(target, query.format(1))  # sets the hint bits
    before = inspector(target)
    for number in range(7):
        ask(target, query.format(number))
    ask(target, "SET work_mem = '64kB'; SELECT * FROM shop.item ORDER BY t, i")
    found = before.end()
    plan = blocks(target, query.format(0))
    pages = plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
    (used,) = statements(found, "GROUP BY t")
    assert used.text == query.format("$1")
    assert (used.calls, used.rows, used.logical_reads) == (7, 7, 7 * pages)
    assert used.temp_bytes == 0
    assert used.plan is not None
    assert "Seq Scan on item" in used.plan
    assert used.max_ms is not None
    assert used.min_ms is not None
    assert 0 < used.min_ms <= used.total_ms / 7 <= used.max_ms
    (sort,) = statements(found, "ORDER BY t, i")
    assert sort.calls == 1
    assert sort.min_ms == sort.max_ms == sort.total_ms
    assert sort.temp_bytes is not None
    assert sort.temp_bytes > 9000 * 300
    assert not statements(found, "dyno observer")
    assert not statements(found, "lock_timeout")
    assert found.notes == [note for note in found.notes if "track_wal_io_timing" in note]
    assert "ALTER SYSTEM SET track_wal_io_timing = on;" in found.notes[0]
    # What Dyno ran to read the counters and to plan is not among the statements that follow.
    texts = [one.text for one in before.end().statements]
    assert not [text for text in texts if "dyno_plan" in text or "plan_cache_mode" in text]
    assert len(statements(found, "GROUP BY t")) == 1


def test_a_plan_is_of_the_tables_that_the_statement_used(target: PostgresTarget) -> None:
    ask(target, 'CREATE SCHEMA "Our shop"')
    try:
        for schema, rows in (("shop", 9000), ('"Our shop"', 5)):
            ask(
                target,
                f"CREATE TABLE {schema}.item AS SELECT i, i::text t, current_date AS sold "
                f"FROM generate_series(1, {rows}) i",
            )
        ask(target, "CREATE INDEX by_t ON shop.item (t)")
        ask(target, "ANALYZE")
        before = inspector(target)
        with closing(target.connect()) as session:
            for calls, schema in enumerate(("shop", '"Our shop"'), start=1):
                session.execute(f"SET search_path = {schema}")
                for _ in range(calls):
                    session.raw.execute("SELECT i FROM item WHERE t = %s", ["7"])
                session.execute("SELECT count(*) FROM item WHERE t > '7'")
            session.execute(
                "SELECT sold AS day FROM item WHERE sold < date '2026-01-01' + interval '1' month"
            )
        found = before.end()
        plans = {one.calls: one.plan or "" for one in statements(found, "WHERE t = $1")}
        assert plans.keys() == {1, 2}
        assert "by_t on item" in plans[1]
        assert "Seq Scan on item" in plans[2]
        # Sent with a literal, so that the server's identifier does not tell which table it was.
        assert [one.plan for one in statements(found, "WHERE t > $1")] == [None, None]
        assert [note for note in found.notes if "several schemas" in note]
        (typed,) = statements(found, "AS day")
        assert "Seq Scan on item" in (typed.plan or "")
    finally:
        ask(target, 'DROP SCHEMA "Our shop" CASCADE')


def test_only_one_statement_is_planned_and_nothing_runs(target: PostgresTarget) -> None:
    ask(target, "CREATE TABLE shop.item AS SELECT 1 AS i")
    before = inspector(target)
    ask(target, "UPDATE shop.item SET i = i + 1")
    (used,) = statements(before.end(), "UPDATE shop.item")
    assert "ModifyTable on item" in (used.plan or "")
    forged = StatementUse("1", "SELECT 1; DROP TABLE shop.item", 1, 1.0)
    found = with_plans(target.observer, [forged], {"1"}, [])
    assert ([one.plan for one in found.statements], len(found.notes)) == ([None], 1)
    assert ask(target, "SELECT i FROM shop.item") == [(2,)]


def test_the_extremes_of_a_single_call(target: PostgresTarget) -> None:
    ask(target, "SELECT pg_sleep(0.2) AS napped")
    before = inspector(target)
    ask(target, "SELECT pg_sleep(0.0) AS napped")
    (used,) = statements(before.end(), "napped")
    assert used.min_ms == used.max_ms == used.total_ms < 200
    ask(target, "SELECT pg_sleep(0.0) AS napped")
    ask(target, "SELECT pg_sleep(0.0) AS napped")
    (used,) = statements(before.end(), "napped")
    assert used.calls == 2
    assert used.max_ms is not None
    assert used.max_ms >= 200  # of a longer period


def test_relations_are_counted_as_the_server_does(server: Server, target: PostgresTarget) -> None:
    ask(target, "CREATE TABLE shop.item (i int PRIMARY KEY, t text)")
    rows = "SELECT i, repeat('x', 300) FROM generate_series(1, 5000) i"
    before = inspector(target)
    ask(target, f"INSERT INTO shop.item {rows}")
    ask(target, "UPDATE shop.item SET t = '' WHERE i <= 40")
    ask(target, "DELETE FROM shop.item WHERE i <= 20")
    wait_until(lambda: changed(target, "item") == 5060, "the rows")
    written = relations(before.end())["shop.item"]
    assert (written.kind, written.of_table, written.writes) == ("table", "shop.item", 5060)
    server.restart("fast")  # its cache is empty
    before = inspector(target)
    plan = blocks(target, "SELECT sum(length(t)) FROM shop.item")
    ask(target, "SELECT 1 FROM shop.item WHERE i = 4711")
    wait_until(lambda: _scans(target) >= 2, "the scans")
    found = relations(before.end())
    table, index = found["shop.item"], found["shop.item_pkey"]
    assert (table.writes, table.physical_reads) == (0, plan["Shared Read Blocks"])
    # The lookup finds its row's page in the cache.
    assert table.logical_reads == plan["Shared Read Blocks"] + plan["Shared Hit Blocks"] + 1
    assert (index.kind, index.of_table, index.writes) == ("index", "shop.item", None)
    # The planner reads a page of the index, too.
    assert index.logical_reads in range(2, 6)
    assert index.physical_reads in range(2, 4)
    assert table.bytes == ask(target, "SELECT pg_table_size('shop.item')")[0][0]
    assert index.bytes == ask(target, "SELECT pg_relation_size('shop.item_pkey')")[0][0]


def _scans(target: PostgresTarget) -> int:
    query = (
        "SELECT seq_scan + coalesce(idx_scan, 0) FROM pg_stat_user_tables WHERE relname = 'item'"
    )
    return int(ask(target, query)[0][0])


def test_partitions_large_values_and_tables_that_come_and_go(target: PostgresTarget) -> None:
    ask(
        target,
        "CREATE TABLE shop.sale (day int, t text, PRIMARY KEY (day)) PARTITION BY RANGE (day)",
    )
    ask(target, "CREATE TABLE shop.old PARTITION OF shop.sale FOR VALUES FROM (0) TO (10)")
    ask(target, "CREATE TABLE shop.gone (a int)")
    ask(target, "INSERT INTO shop.gone VALUES (1)")
    ask(target, "CREATE TABLE shop.again (a int)")
    ask(target, "INSERT INTO shop.again SELECT generate_series(1, 50)")
    wait_until(lambda: changed(target, "again") == 50, "the rows")
    before = inspector(target)
    ask(target, "DROP TABLE shop.gone, shop.again")
    ask(target, "CREATE TABLE shop.again (a int)")
    ask(target, "INSERT INTO shop.again SELECT generate_series(1, 60)")
    ask(target, "CREATE TABLE shop.new PARTITION OF shop.sale FOR VALUES FROM (10) TO (20)")
    big = "(SELECT string_agg(md5(i::text), '') FROM generate_series(1, 9999) i)"
    ask(target, f"INSERT INTO shop.sale VALUES (1, {big}), (11, {big}), (12, '')")
    wait_until(lambda: changed(target, "new") == 2, "the rows")
    found = relations(before.end())
    assert "shop.gone" not in found
    assert found["shop.again"].writes == 60
    for name, kind in (("old", "table"), ("new", "table"), ("old_pkey", "index")):
        assert (found[f"shop.{name}"].kind, found[f"shop.{name}"].of_table) == (kind, "shop.sale")
    assert (found["shop.old"].writes, found["shop.new"].writes) == (1, 2)
    # One row of the table's own page; the rest of the value has pages of its own.
    assert (found["shop.old"].logical_reads or 0) > 9999 * 32 / 8192
    assert (found["shop.old"].bytes or 0) > 9999 * 16


def test_an_index_that_is_rebuilt_meanwhile(target: PostgresTarget) -> None:
    ask(target, "CREATE TABLE shop.item (i int PRIMARY KEY)")
    ask(target, "INSERT INTO shop.item SELECT generate_series(1, 5000)")
    ask(target, "VACUUM shop.item")
    wait_until(lambda: changed(target, "item") == 5000, "the rows")
    reads = "SELECT idx_blks_hit + idx_blks_read FROM pg_statio_user_indexes "
    question = reads + "WHERE indexrelname = 'item_pkey'"
    earlier = wait_until(lambda: ask(target, question)[0][0], "the reads of the index")
    before = inspector(target)
    ask(target, "REINDEX INDEX CONCURRENTLY shop.item_pkey")
    found = relations(before.end()).get("shop.item_pkey")
    assert found is None or (found.logical_reads or 0) < earlier


def test_a_lock_on_a_table_costs_only_the_sizes(target: PostgresTarget) -> None:
    ask(target, "CREATE TABLE shop.item (i int)")
    before = inspector(target)
    ask(target, "INSERT INTO shop.item VALUES (1)")
    wait_until(lambda: changed(target, "item") == 1, "the row")
    with closing(target.connect()) as other:
        other.execute("BEGIN; LOCK TABLE shop.item IN ACCESS EXCLUSIVE MODE")
        whole = before.end()
        other.execute("COMMIT")
    found = relations(whole)["shop.item"]
    assert (found.writes, found.bytes) == (1, None)
    (used,) = statements(whole, "INSERT INTO shop.item")
    assert used.plan is None
    assert [note for note in whole.notes if "no plan" in note]


def test_resets_and_restarts(server: Server, target: PostgresTarget) -> None:
    """Counters after a reset are those since; after a shutdown they go on."""
    ask(target, "CREATE TABLE shop.item (i int)")
    for _ in range(9):
        ask(target, "SELECT count(*) AS mine FROM shop.item")
    ask(target, "INSERT INTO shop.item SELECT generate_series(1, 90)")
    wait_until(lambda: changed(target, "item") == 90, "the rows")
    with closing(target.observer()) as session:
        prepare(session, 5)
        database = Database()
        database(session, 0)
        before = inspector(target)
        ask(target, 'SELECT "Our tools".pg_stat_statements_reset()')
        ask(target, "SELECT pg_stat_reset()")
        ask(target, "SELECT count(*) AS mine FROM shop.item")
        ask(target, "INSERT INTO shop.item SELECT generate_series(1, 7)")
        wait_until(lambda: changed(target, "item") == 7, "the rows")
        assert "commits" not in {one.metric for one in database(session, SECOND)}
        found = before.end()
    assert [one.calls for one in statements(found, "AS mine")] == [1]
    assert relations(found)["shop.item"].writes == 7
    for mode, expected in (("fast", 50), ("immediate", 0)):
        ask(target, "INSERT INTO shop.item SELECT generate_series(1, 50)")
        wait_until(lambda: changed(target, "item") % 50 == 7, "the rows")
        ask(target, "SELECT count(*) AS mine FROM shop.item")
        server.restart(mode)
        ask(target, "SELECT count(*) AS mine FROM shop.item")
        wait_until(lambda: _scans(target) > 0, "the scan")
        found = before.end()
        (used,) = statements(found, "AS mine")
        assert used.calls == 2
        # After a shutdown without a checkpoint the server forgets what it counted by relation.
        assert relations(found)["shop.item"].writes == expected


def test_probes_outlive_a_restart(server: Server, target: PostgresTarget) -> None:
    probes = {probe.name: probe for probe in target.probes()}
    for probe in probes.values():
        for _ in range(round(1 / probe.period_s)):
            probe.read(0)
    server.restart("fast")
    for number, (name, probe) in enumerate(probes.items(), start=1):
        with pytest.raises(Exception, match=r"."):
            # The clock is asked every half minute.
            for second in range(31):
                probe.read((100 * number + second) * SECOND)
        found = probe.read((100 * number + 31) * SECOND)
        assert {one.source for one in found} == {name}
        probe.close()


def test_a_role_without_rights_gets_the_grants_that_help(
    server: Server, target: PostgresTarget
) -> None:
    ask(target, 'CREATE ROLE "a clerk" LOGIN')
    clerk = server.session_of("a%20clerk")
    try:
        (note,) = [one for one in inspector(clerk).end().notes if one.startswith("statements")]
        assert note.endswith('GRANT USAGE ON SCHEMA "Our tools" TO "a clerk";')
        ask(target, note[note.index("GRANT") :])
        before = inspector(clerk)
        ask(target, "SELECT 'x', 1 AS hidden")
        ask(clerk, "SELECT 'x' AS shown")
        found = before.end()
        (shown,) = statements(found, "AS shown")
        assert shown.plan is not None
        assert not statements(found, "AS hidden")
        grants = [note[note.index("GRANT") :] for note in found.notes if "GRANT" in note]
        assert len(grants) == 2
        assert grants[0] == 'GRANT pg_read_all_stats TO "a clerk";'
        with closing(clerk.observer()) as session, closing(target.connect()) as busy:
            prepare(session, 5)
            busy.execute("BEGIN")
            assert "temp_used" not in {one.metric for one in Database()(session, 0)}
            assert Sessions()(session, 0)[0].metric == "cpu/running"
        for grant in grants:
            ask(target, grant)
        # A function in a statement of the clerk would have the rights of a superuser.
        others = inspector(target)
        ask(clerk, "SELECT 'x' AS shown")
        seen = others.end()
        assert [one.plan for one in statements(seen, "AS shown")] == [None]
        assert [note for note in seen.notes if "other roles" in note]
        with closing(clerk.observer()) as session:
            prepare(session, 5)
            assert "temp_used" in {one.metric for one in Database()(session, 0)}
        ask(target, "SELECT 'x', 1 AS hidden")
        found = before.end()
        assert statements(found, "AS hidden")
        assert not [note for note in found.notes if "GRANT" in note]
    finally:
        ask(target, 'DROP OWNED BY "a clerk"')
        ask(target, 'DROP ROLE "a clerk"')


def test_without_the_extension_the_note_says_what_to_do(public_out: Path) -> None:
    with debian_server(public_out) as url:
        server = Server(public_out, url)

        def note() -> str:
            found = inspector(server.target).end()
            return next((one for one in found.notes if one.startswith("statements")), "")

        assert EXTENSION + " in postgresql.conf" in note()
        assert "restart the server, then run in the database postgres: CREATE" in note()
        with (server.data / "postgresql.conf").open("a") as conf:
            conf.write("shared_preload_libraries = 'auto_explain'\n")
        server.restart("fast")
        assert "shared_preload_libraries = 'auto_explain,pg_stat_statements'" in note()
        with (server.data / "postgresql.conf").open("a") as conf:
            conf.write("shared_preload_libraries = 'auto_explain,pg_stat_statements'\n")
            conf.write("pg_stat_statements.max = 100\n")
        server.restart("fast")
        remedy = note()
        assert remedy.endswith("in the database postgres: CREATE EXTENSION pg_stat_statements;")
        ask(server.target, remedy[remedy.index("CREATE") :])
        assert note() == ""
        before = inspector(server.target)
        with closing(server.target.connect()) as session:
            for number in range(200):
                session.execute(f"SELECT {', '.join(['1'] * (number + 1))}")
        found = before.end()
        assert "pg_stat_statements.max" in next(one for one in found.notes if "100" in one)
        old = "DROP EXTENSION pg_stat_statements; CREATE EXTENSION pg_stat_statements VERSION '1.7'"
        ask(server.target, old)
        assert note().endswith("ALTER EXTENSION pg_stat_statements UPDATE;")


def test_the_private_server_says_that_it_has_no_extension(postgres: PostgresTarget) -> None:
    (note,) = inspector(postgres).end().notes
    assert note.startswith("statements are not recorded: this installation of PostgreSQL")


def test_version_18_makes_the_same_plans(postgres: PostgresTarget) -> None:
    """Without the extension's texts, which it cannot have."""
    ask(postgres, "CREATE TABLE planned AS SELECT i FROM generate_series(1, 9000) i")
    try:
        ask(postgres, "CREATE UNIQUE INDEX by_i ON planned (i)")
        ask(postgres, "ANALYZE planned")
        lookup = StatementUse("1", "SELECT i FROM planned WHERE i = $1 LIMIT $2", 1, 2.0)
        gone = StatementUse("2", "SELECT i FROM gone WHERE i = $1", 1, 1.0)
        found = with_plans(postgres.observer, [gone, lookup], {"1", "2"}, ["nowhere"])
        without, used = found.statements
        assert "by_i on planned" in (used.plan or "")
        assert without.plan is None
        assert len(found.notes) == 1
    finally:
        ask(postgres, "DROP TABLE planned")
