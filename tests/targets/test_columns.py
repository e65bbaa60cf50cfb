"""What advice on column stores reads of live servers: columns, changes, samples."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest

from dyno.bundle.model import Clock
from dyno.bundle.tables import Table, to_arrow
from dyno.bundle.writer import Recorder
from dyno.contracts.stored_columns import Columned
from dyno.decide.advise.columnstore.recorded import view_of
from dyno.decide.advise.kinds.columnstore import KIND
from dyno.decide.advise.section import Asked, Section
from dyno.errors import DynoError
from dyno.runner import advise, columns
from dyno.targets.defaults import BOTH_FORMS
from tests.targets.conftest import ask, embedded_mariadb, public_folder
from tests.targets.debian import debian_server
from tests.targets.test_postgresql_inside_url import opened

ROWS = 1_100_000
LINES = ("shared_preload_libraries = 'pg_stat_statements'", "autovacuum = off")
SALES = '"The shop"."sale ""s"""'


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Debian's PostgreSQL with a fact table in partitions, a table that changes, one of images."""
    with public_folder() as folder, debian_server(folder, *LINES) as found:
        target = opened(found)
        for text in (
            "CREATE EXTENSION pg_stat_statements",
            'CREATE SCHEMA "The shop"',
            f"CREATE TABLE {SALES} (id int, shop int, state text, note bytea) "
            "PARTITION BY RANGE (id)",
            f'CREATE TABLE "The shop".low PARTITION OF {SALES} FOR VALUES FROM (0) TO (100000)',
            f'CREATE TABLE "The shop".high PARTITION OF {SALES} FOR VALUES FROM (100000) TO '
            f"({ROWS})",
            f"INSERT INTO {SALES} SELECT i, i % 500, 'state ' || i % 4 "
            f"FROM generate_series(0, {ROWS - 1}) i",
            f"ALTER TABLE {SALES} ADD PRIMARY KEY (id)",
            "CREATE TABLE cart AS SELECT i, i % 9 AS n FROM generate_series(1, 1000) i",
            "UPDATE cart SET n = 1 WHERE i <= 300",
            "CREATE TABLE image AS SELECT 1 AS id, decode(repeat('00', 9000), 'hex') AS pixels",
            "ANALYZE",
            f"SELECT count(shop) FROM {SALES}",
            f"SELECT shop FROM {SALES} WHERE id = 7",
        ):
            ask(target, text)
        yield found


def section_of(url: str, out: Path) -> Section:
    (system,) = advise.of_target(url, out, "dss")
    found = KIND.advise(system, Asked())
    assert found is not None
    return found


def test_planted_tables_of_postgresql(url: str, tmp_path: Path) -> None:
    document = section_of(url, tmp_path).document
    tables = {one["name"]: one for one in document["tables"]}
    sale = tables['The shop.sale "s"']
    assert sale["candidate"], sale["exclusions"]
    assert sale["rows"] == pytest.approx(ROWS, rel=0.05)
    assert sale["changed_a_day"] == 0
    assert sale["without"] == ["note"]
    columns = {one["name"]: one for one in sale["columns"]}
    assert columns["id"]["key"]
    assert columns["shop"]["distinct"] == pytest.approx(500, rel=0.05)
    assert columns["state"]["distinct"] == 4
    assert columns["state"]["common"] == pytest.approx(1, abs=0.01)
    width = {name: columns[name]["width"] for name in ("id", "shop", "state")}
    assert sale["repeated"] == pytest.approx(1 - width["id"] / sum(width.values()), abs=0.01)
    assert not sale["repeated_of_sample"]
    assert sale["compression"]["ratio"] > 5
    assert 10_000 < sale["compression"]["rows"] <= 20_000
    cart = tables["public.cart"]
    assert {one["code"] for one in cart["exclusions"]} >= {"small", "updated"}
    assert cart["changed_a_day"] == pytest.approx(0.3, abs=0.01)
    image = tables["public.image"]
    assert "large-values" in {one["code"] for one in image["exclusions"]}
    assert image["without"] == ["pixels"]
    assert [one["by"] for one in document["slower"]] == [["id"]]
    assert "Citus" in document["needs"]


class Kept:
    """What a recorder is given."""

    clock = Clock(unix_ns=1, monotonic_ns=1)

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.events: list[str] = []

    def add(self, table: str, rows: list[dict[str, Any]]) -> None:
        assert table == "columns"
        self.rows += to_arrow(rows, Table.COLUMNS).to_pylist()

    def event(self, name: str, **fields: object) -> None:
        self.events.append(name)


def test_a_run_records_what_a_live_database_shows(url: str, tmp_path: Path) -> None:
    kept = Kept()
    columns.record(cast("Recorder", kept), opened(url))
    found = view_of(kept.rows, "postgres", BOTH_FORMS, "`dyno advise x`")
    (system,) = advise.of_target(url, tmp_path, "dss")
    assert found is not None
    assert system.columns is not None
    assert found.needs == system.columns.needs
    assert {one.name: one.columns for one in found.tables} == {
        one.name: one.columns for one in system.columns.tables
    }
    assert not kept.events


def test_it_changes_nothing_and_its_session_is_not_counted(url: str, tmp_path: Path) -> None:
    question = "SELECT count(*), sum(n_tup_ins + n_tup_upd + n_tup_del) FROM pg_stat_user_tables"
    before = ask(opened(url), question)
    section_of(url, tmp_path)
    assert ask(opened(url), question) == before
    (system,) = advise.of_target(url, tmp_path, "dss")
    assert not any("TABLESAMPLE" in one.text for one in system.uses.statements)


def test_the_limits_of_its_session_are_no_settings_of_the_server(url: str) -> None:
    (system,) = advise.of_target(url, Path("/nowhere"), "dss")
    assert system.amount("parallel") == 2  # PostgreSQL's default; the observer has 0


def test_an_extension_that_has_columns(url: str, tmp_path: Path) -> None:
    target = opened(url)
    ask(target, "CREATE ACCESS METHOD columnar TYPE TABLE HANDLER heap_tableam_handler")
    try:
        section = section_of(url, tmp_path)
    finally:
        ask(target, "DROP ACCESS METHOD columnar")
    assert section.document["needs"] is None
    assert [dict(one.changes) for one in section.variants] == [{"load.layout": "columnar-1"}]


def test_a_role_without_rights_gets_no_guess(url: str, tmp_path: Path) -> None:
    ask(opened(url), "CREATE ROLE blind LOGIN")
    document = section_of(url.replace("user=dyno", "user=blind"), tmp_path).document
    (sale,) = (one for one in document["tables"] if one["name"].startswith("The shop"))
    assert {one["code"] for one in sale["exclusions"]} == {"no-statistics"}
    assert "denied" in str(sale["exclusions"])


def test_columns_of_mariadb(tmp_path: Path) -> None:
    with embedded_mariadb(tmp_path) as target:
        assert isinstance(target, Columned)
        for text in (
            "CREATE DATABASE `a``b`",
            "CREATE TABLE `a``b`.`t` (id INT PRIMARY KEY, n INT, x LONGTEXT, KEY (n)) ",
            "INSERT INTO `a``b`.`t` SELECT seq, seq % 7, 'x' FROM `a``b`.seq_1_to_3000",
            "ANALYZE TABLE `a``b`.`t`",
        ):
            ask(target, text)
        with closing(target.column_reader()) as reader:
            columns = {one.name: one for one in reader.columns("`a``b`.`t`")}
            assert list(columns) == ["id", "n", "x"]
            assert columns["id"].key
            assert columns["x"].large
            assert 0 < (columns["n"].distinct or 0) < 100  # InnoDB estimates 7 from a few pages
            sample = reader.sample("`a``b`.`t`", ["id", "n"], 100)
            assert (sample.num_rows, sample.column_names) == (100, ["id", "n"])
            assert "ColumnStore" in reader.column_store()
            with pytest.raises(DynoError):
                reader.columns("t; DROP TABLE t")
