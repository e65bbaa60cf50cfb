"""What a MariaDB with ``performance_schema`` counts by statement and table, and its waits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dyno.contracts.inspection import Inspection, RelationUse, StatementUse
from dyno.targets.mysql import server
from dyno.targets.mysql.connection import MysqlConnection
from dyno.targets.mysql.inside import relations, samples, statements
from dyno.targets.mysql.target import MysqlTarget
from tests.process import wait_until
from tests.targets.conftest import ask, embedded_mariadb
from tests.targets.test_mysql_inside import at_url, inspection, probe_of, sessions, users

LOOKUP = "SELECT v FROM planted.whole WHERE i = {}"


@pytest.fixture(scope="module")
def mariadb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MysqlTarget]:
    usual = server.settings

    def observed(*given: Any) -> dict[str, str]:
        return {
            **usual(*given),
            "innodb_buffer_pool_size": str(8 << 20),
            "performance_schema": "ON",
            "performance_schema_consumer_events_waits_current": "ON",
        }

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server, "settings", observed)
        with embedded_mariadb(tmp_path_factory.mktemp("schema")) as target:
            ask(target, "CREATE DATABASE planted")
            for name, parts in (("whole", ""), ("part", "PARTITION BY HASH (i) PARTITIONS 4")):
                columns = "(i INT PRIMARY KEY, v INT, INDEX by_v (v))"
                ask(target, f"CREATE TABLE planted.{name} {columns} {parts}")
                rows = "SELECT seq, seq FROM planted.seq_1_to_1000"
                ask(target, f"INSERT INTO planted.{name} {rows}")
            yield target


def statement(found: Inspection, words: str) -> StatementUse:
    (one,) = [use for use in found.statements if words in use.text]
    return one


def relation(found: Inspection, name: str) -> RelationUse:
    (one,) = [use for use in found.relations if use.relation == name]
    return one


def test_statements_are_those_of_the_period(mariadb: MysqlTarget) -> None:
    ask(mariadb, LOOKUP.format(1))  # before it
    with closing(mariadb.inspector()) as inspector, closing(mariadb.connect()) as user:
        inspector.begin()
        for number in range(7):
            user.execute(LOOKUP.format(number + 1))
        user.execute("SELECT v, SLEEP(0.05) FROM planted.whole WHERE i <= 2")
        for probe in mariadb.probes():
            with closing(probe):
                probe.read(0)
        found = inspector.end()
        lookup = statement(found, "WHERE `i` = ?")
        assert (lookup.calls, lookup.rows) == (7, 7)
        assert "planted" in lookup.text
        assert "`i` = 1" not in lookup.text
        slow = statement(found, "SLEEP")
        assert slow.calls == 1
        assert slow.min_ms is not None
        assert slow.max_ms is not None
        assert 100 <= slow.min_ms <= slow.max_ms
        assert slow.total_ms == pytest.approx(slow.max_ms)
        assert found.statements[0] == slow  # most time first
        assert not any("performance_schema" in use.text for use in found.statements)
        assert not found.notes
        # The next period begins here.
        user.execute(LOOKUP.format(3))
        again = inspector.end()
        assert statement(again, "WHERE `i` = ?").calls == 1


def test_plans_of_samples(mariadb: MysqlTarget, monkeypatch: pytest.MonkeyPatch) -> None:
    """What MySQL gets, in a MariaDB that is given the samples."""
    texts = {"a": LOOKUP.format(7), "b": "SELECT v FROM whole WHERE v > ...", "c": "SELECT ?"}
    listed = " UNION ALL ".join(f"SELECT '{key}', '{text}'" for key, text in texts.items())
    given = f"WITH given (digest, sample) AS ({listed}) SELECT sample FROM given "
    monkeypatch.setattr(samples, "_SAMPLE", given + "WHERE digest = {digest} AND {schema} <> ''")
    monkeypatch.setattr(samples, "_LIMITS", "SET SESSION max_statement_time = 2")
    uses = [StatementUse(f"planted:{key}", text, 1, 1.0) for key, text in texts.items()]
    prepared = [
        StatementUse(":d", "EXECUTE SELECT `v` FROM `whole` WHERE `i` = ?", 1, 9.0),
        StatementUse(":e", "EXECUTE UPDATE `whole` SET `v` = ?", 1, 9.0),
        StatementUse(":f", "EXECUTE `mine`", 1, 9.0),
    ]
    rest = [*prepared, StatementUse(":g", "COMMIT", 1, 9.0)]
    found = samples.with_plans(mariadb.connect, [*uses, *rest])
    lookup, *others = found.statements
    assert "whole: const by PRIMARY" in (lookup.plan or ""), found.notes
    assert {one.plan for one in others} == {None}
    plain = ["SELECT `v` FROM `whole` WHERE `i` = ?", "UPDATE `whole` SET `v` = ?"]
    assert [one.text for one in others[-4:]] == [*plain, "EXECUTE `mine`", "COMMIT"]
    assert len(found.notes) == 3
    assert "prepared" in found.notes[-1]
    ask(mariadb, "CREATE USER clerk@localhost")
    ask(mariadb, "GRANT CREATE ROUTINE ON planted.* TO clerk@localhost")
    try:
        trap = "FUNCTION planted.trap() RETURNS INT DETERMINISTIC SQL SECURITY INVOKER RETURN 1"
        ask(mariadb, f"CREATE DEFINER = clerk@localhost {trap}")
        found = samples.with_plans(mariadb.connect, uses)
        assert [one.plan for one in found.statements] == [None, None, None]
        (note,) = found.notes
        assert "SQL SECURITY INVOKER" in note
    finally:
        ask(mariadb, "DROP FUNCTION IF EXISTS planted.trap")
        ask(mariadb, "DROP USER clerk@localhost")


def test_rows_by_table_and_index(mariadb: MysqlTarget) -> None:
    with closing(mariadb.inspector()) as inspector, closing(mariadb.connect()) as user:
        inspector.begin()
        for number in range(5):
            user.execute(LOOKUP.format(number + 1))
        user.execute("SELECT i FROM planted.whole FORCE INDEX (by_v) WHERE v <= 20")
        user.execute("UPDATE planted.whole SET v = v + 0 WHERE i = 1")
        user.execute("DELETE FROM planted.whole WHERE i = 1000")
        found = inspector.end()
    table = relation(found, "planted.whole")
    index = relation(found, "planted.whole.by_v")
    assert (table.kind, table.of_table) == ("table", "planted.whole")
    assert (index.kind, index.of_table) == ("index", "planted.whole")
    assert table.logical_reads is not None
    assert 7 <= table.logical_reads <= 10
    assert index.logical_reads is not None
    assert 20 <= index.logical_reads <= 25
    assert table.writes is not None
    assert 1 <= table.writes <= 2  # a change to the same value may be none
    assert table.read_ms is not None
    assert table.bytes is not None
    assert table.bytes >= 16_384


def test_reads_of_a_partitioned_table_are_unknown(mariadb: MysqlTarget) -> None:
    with closing(mariadb.inspector()) as inspector, closing(mariadb.connect()) as user:
        inspector.begin()
        user.execute("SELECT i FROM planted.part FORCE INDEX (by_v) WHERE v <= 20")
        user.execute("DELETE FROM planted.part WHERE i = 999")
        found = inspector.end()
    table = relation(found, "planted.part")
    assert (table.logical_reads, table.read_ms, table.writes) == (None, None, 1)
    assert table.bytes is not None
    assert table.bytes >= 4 * 16_384
    (note,) = found.notes
    assert "planted.part" in note


def test_a_reset_by_someone_else_begins_anew(mariadb: MysqlTarget) -> None:
    with closing(mariadb.inspector()) as inspector, closing(mariadb.connect()) as user:
        for number in range(9):
            user.execute(LOOKUP.format(number + 1))
        inspector.begin()
        user.execute("TRUNCATE performance_schema.events_statements_summary_by_digest")
        user.execute(LOOKUP.format(1))
        user.execute(LOOKUP.format(2))
        assert statement(inspector.end(), "WHERE `i` = ?").calls == 2


def test_a_restart_begins_anew(mariadb: MysqlTarget) -> None:
    with closing(mariadb.inspector()) as inspector:
        ask(mariadb, LOOKUP.format(1))
        inspector.begin()
        ask(mariadb, LOOKUP.format(1))
        mariadb.cool()
        for _ in range(4):
            ask(mariadb, LOOKUP.format(2))
        found = inspector.end()
        assert statement(found, "WHERE `i` = ?").calls == 4
        assert relation(found, "planted.whole").logical_reads == 4


def test_counters_are_only_read(mariadb: MysqlTarget) -> None:
    count = (
        "SELECT count_star FROM performance_schema.events_statements_summary_by_digest "
        "WHERE digest_text LIKE '%WHERE `i` = ?%'"
    )
    ask(mariadb, LOOKUP.format(1))
    before = ask(mariadb, count)
    inspection(mariadb)
    assert ask(mariadb, count) == before


def test_rights_and_settings_that_lack_are_named(mariadb: MysqlTarget, out: Path) -> None:
    ask(mariadb, "CREATE USER clerk@localhost")
    consumers = "UPDATE performance_schema.setup_consumers SET enabled = '{}' WHERE name = '{}'"
    try:
        with at_url(mariadb, "clerk", out) as target:
            grant = "GRANT SELECT ON performance_schema.* TO 'clerk'@'localhost'"
            found = inspection(target)
            assert not found.statements
            assert any(note.endswith(grant) for note in found.notes)
            with probe_of(target, "sessions") as probe:
                assert sessions(probe)  # by states
            ask(mariadb, grant)
            ask(mariadb, "GRANT PROCESS ON *.* TO clerk@localhost")
            assert not inspection(target).notes
            ask(mariadb, consumers.format("NO", "events_waits_current"))
            (note,) = inspection(target).notes
            remedy = note.partition("must run: ")[2]
            assert remedy == (
                "UPDATE performance_schema.setup_consumers SET enabled = 'YES' "
                "WHERE name IN ('events_waits_current')"
            )
            ask(mariadb, remedy)
            assert not inspection(target).notes
    finally:
        ask(mariadb, consumers.format("YES", "events_waits_current"))
        ask(mariadb, "DROP USER clerk@localhost")


def test_reads_from_files_are_data(mariadb: MysqlTarget) -> None:
    ask(
        mariadb,
        "CREATE TABLE planted.large (i INT PRIMARY KEY, s CHAR(250)) AS "
        "SELECT seq AS i, repeat('x', 250) AS s FROM planted.seq_1_to_80000",
    )

    def scan(session: MysqlConnection) -> None:
        session.execute("SELECT sum(length(s)) FROM planted.large")

    with probe_of(mariadb, "sessions") as probe, users(mariadb, 2, scan):
        wait_until(
            lambda: "data/io/file/innodb/innodb_data_file" in sessions(probe), "reads of files"
        )


def test_a_table_that_is_altered_is_a_lock(mariadb: MysqlTarget) -> None:
    with probe_of(mariadb, "sessions") as probe, closing(mariadb.connect()) as holder:
        holder.execute("BEGIN")
        holder.execute(LOOKUP.format(1))

        def alter(session: MysqlConnection) -> None:
            session.execute("ALTER TABLE planted.whole COMMENT = 'changed'")

        def waits() -> bool:
            found = sessions(probe)
            return len(found) == 1 and found.popitem() == (next(iter(names)), 1)

        names = {"lock/Waiting for table metadata lock"}
        with users(mariadb, 1, alter):
            try:
                wait_until(waits, "a lock of the table")
            finally:
                holder.execute("COMMIT")


def test_the_rest_of_the_statements_has_a_name() -> None:
    one = statements.Counted("", 1, 10, 0, 1, 2)
    assert statements.between({}, {("", ""): one})[0].text == ""
    now = {("a", "x"): one._replace(text="SELECT ?", calls=5, total=5_000_000_000)}
    (use,) = statements.between({("a", "x"): one}, now)
    assert (use.calls, use.statement) == (4, "a:x")
    # Shorter than before: it began anew.
    (use,) = statements.between(now, {("a", "x"): one._replace(calls=2)})
    assert use.calls == 2


def test_a_relation_whose_counts_fell_began_anew() -> None:
    key = ("p", "t", "")
    before = {key: relations.Counted(100, 10, 5_000_000_000)}
    after = {key: relations.Counted(30, 2, 2_000_000_000)}
    tables = {("p", "t"): relations.About(77, partitioned=True)}
    (use,) = relations.between(before, after, tables, whole=True)
    assert (use.logical_reads, use.writes, use.read_ms, use.bytes) == (30, 2, 2.0, 77)
    assert not relations.between(after, after, tables, whole=True)
    (use,) = relations.between(before, after, tables, whole=False)
    assert (use.logical_reads, use.writes, use.read_ms) == (None, 2, None)
