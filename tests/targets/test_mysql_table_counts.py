"""A private MariaDB with ``table_counts=on`` counts rows by table, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from dyno.contracts import tuning
from dyno.targets.mysql.target import MysqlTarget
from tests.targets.conftest import ask, embedded_mariadb
from tests.targets.test_tuning import asked


@pytest.fixture(scope="module")
def mariadb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MysqlTarget]:
    target = embedded_mariadb(tmp_path_factory.mktemp("counts"))
    tuning.tune(target, asked("table_counts=on"))
    with target:
        ask(target, "CREATE DATABASE planted")
        ask(target, "CREATE TABLE planted.ruled (i INT PRIMARY KEY, v INT, INDEX by_v (v))")
        ask(target, "INSERT INTO planted.ruled SELECT seq, seq % 10 FROM planted.seq_1_to_1000")
        yield target


def test_rows_are_counted_by_table_and_index_without_statements(mariadb: MysqlTarget) -> None:
    with closing(mariadb.inspector()) as inspector:
        inspector.begin()
        ask(mariadb, "SELECT max(i * 2) FROM planted.ruled USE INDEX ()")
        ask(mariadb, "SELECT count(*) FROM planted.ruled WHERE v = 3")
        ask(mariadb, "UPDATE planted.ruled SET v = 11 WHERE i <= 5")
        found = inspector.end()
        used = {one.relation: one for one in found.relations}
        table, index = used["planted.ruled"], used["planted.ruled.by_v"]
        assert (index.kind, index.logical_reads) == ("index", 100)
        assert table.logical_reads is not None and 1000 <= table.logical_reads <= 1010
        assert table.writes == 5
        assert (table.read_ms, index.read_ms) == (None, None), "the timer is off"
        assert not found.statements
        (note,) = found.notes
        assert "table_counts=on" in note and "UPDATE performance_schema" not in note
        assert not inspector.end().relations


def test_all_other_instruments_and_consumers_are_off(mariadb: MysqlTarget) -> None:
    with closing(mariadb.connect()) as session:
        for what in ("instruments", "consumers"):
            # The memory of performance_schema itself is always counted.
            on = session.execute(
                f"SELECT name FROM performance_schema.setup_{what} "
                "WHERE enabled = 'YES' AND name NOT LIKE 'memory/performance_schema/%'"
            ).rows
            assert len(on) == 1, (what, on)


def test_the_setting_is_recorded(mariadb: MysqlTarget) -> None:
    (applied,) = mariadb.tuned()
    assert (applied.word, applied.name, applied.value) == (
        "table_counts",
        "performance_schema",
        "ON",
    )


def test_a_server_without_it_counts_nothing(tmp_path: Path) -> None:
    with embedded_mariadb(tmp_path) as target, closing(target.connect()) as session:
        assert session.execute("SELECT @@performance_schema").rows[0][0] in (0, "0")
