"""Advice on partitions of live servers: their statistics, and commands that do what they say."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from dyno import targets
from dyno.contracts.advice import Catalog, dialect
from dyno.contracts.target import Target
from dyno.decide.advise.kinds.partitioning import KIND
from dyno.decide.advise.practices import rules
from dyno.decide.advise.section import Asked, Section
from dyno.decide.advise.system import Database, Facts, System
from dyno.decide.advise.uses import of_rows
from dyno.runner import advise
from dyno.targets.mysql import server
from dyno.targets.mysql.target import MysqlTarget
from tests.targets.conftest import LIMITS, ask, embedded_mariadb, public_folder
from tests.targets.debian import debian_server
from tests.targets.test_postgresql_inside_url import EXTENSION, opened

ROWS = 120_000
FIRST, DAYS = "2020-01-01", 1826  # five years


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Debian's PostgreSQL with sales of five years, mostly asked for by day."""
    with public_folder() as folder, debian_server(folder, EXTENSION) as found:
        target = opened(found)
        ask(target, "CREATE EXTENSION pg_stat_statements")
        ask(target, 'CREATE SCHEMA "The shop"')
        ask(
            target,
            'CREATE TABLE "The shop"."Sale" AS SELECT i AS id, i % 2000 AS customer, '
            f"date '{FIRST}' + i * {DAYS} / {ROWS} AS \"Day\", 'x' || i AS note "
            f"FROM generate_series(0, {ROWS - 1}) i",
        )
        for change in (
            "ADD PRIMARY KEY (id)", 'ALTER "Day" SET NOT NULL', "ADD UNIQUE (note, id)",
        ):  # fmt: skip
            ask(target, f'ALTER TABLE "The shop"."Sale" {change}')
        ask(target, 'CREATE INDEX by_customer ON "The shop"."Sale" (customer) WHERE id > 7')
        ask(target, 'ANALYZE "The shop"."Sale"')
        ask(target, "SELECT pg_stat_statements_reset()")
        for year in range(2020, 2025):
            ask(
                target,
                'SELECT count(*) FROM "The shop"."Sale" '
                f"WHERE \"Day\" >= date '{year}-01-01' AND \"Day\" < date '{year}-04-01'",
            )
        ask(target, 'SELECT max(note) FROM "The shop"."Sale" WHERE customer = 7')
        yield found


def system_of(url: str) -> System:
    (found,) = advise.of_target(url, Path("/nowhere"), None)
    return found


def advised(system: System) -> Section:
    found = KIND.advise(system, Asked())
    assert found is not None
    return found


def test_the_advice_of_a_server_and_its_commands(url: str) -> None:
    section, target = advised(system_of(url)), opened(url)
    (found,) = section.document["tables"]
    assert (found["table"], found["column"], found["method"]) == ("The shop.Sale", "Day", "range")
    assert found["bounds"]["4"]["unit"] in ("quarter", "month")
    assert set(found["keys_without_column"]) == {"Sale_pkey", "Sale_note_id_key"}
    assert section.variants == []  # layouts are for Dyno's own tables
    ((_, lines),) = section.commands.items()
    with closing(target.connect()) as session:
        for line in lines:
            if not line.startswith("--"):
                session.execute(line)
    counts = [
        int(row[0])
        for row in ask(target, 'SELECT count(*) FROM "The shop"."Sale" GROUP BY tableoid')
    ]
    assert sum(counts) == ROWS
    assert len(counts) == 4
    shares = sorted(count / ROWS for count in counts)
    assert shares == pytest.approx(sorted(found["bounds"]["4"]["shares"]), abs=0.02)
    assert ask(
        target,
        "SELECT count(*) FROM pg_indexes WHERE schemaname = 'The shop' AND tablename = 'Sale'",
    ) == [(3,)]
    # A statement that prunes reads one partition.
    plan = ask(
        target,
        'EXPLAIN SELECT count(*) FROM "The shop"."Sale" '
        "WHERE \"Day\" >= date '2022-01-01' AND \"Day\" < date '2022-02-01'",
    )
    assert str(plan).count("Sale_p") < 4
    after = advised(system_of(url)).document["tables"]
    assert all("partitioned already" in one["reason"] for one in after if "Sale" in one["table"])


def test_columns_of_postgresql(url: str) -> None:
    ask(opened(url), "CREATE TABLE IF NOT EXISTS kinds (a int2 NOT NULL, b numeric, c text, "
        "d timestamptz, e bool, x int, PRIMARY KEY (a))")  # fmt: skip
    ask(opened(url), "INSERT INTO kinds SELECT i, i / 4, 'secret' || i % 3 FROM "
        "generate_series(1, 1000) i ON CONFLICT DO NOTHING")  # fmt: skip
    ask(opened(url), "ANALYZE kinds")
    target: Any = opened(url)
    (table,) = [one for one in target.catalog().tables if one.name == "public.kinds"]
    by_name = {one.name: one for one in table.columns}
    kinds = {name: one.kind for name, one in by_name.items()}
    assert kinds == {
        "a": "integer", "b": "decimal", "c": "text", "d": "timestamp", "e": "other", "x": "integer"
    }  # fmt: skip
    assert by_name["a"].distinct == pytest.approx(1000)
    assert by_name["c"].distinct == 3
    assert by_name["d"].null_share == 1.0
    assert (by_name["a"].nullable, by_name["b"].nullable) == (False, True)
    assert table.keys == {"kinds_pkey": ("a",)}
    assert table.primary_key == "kinds_pkey"
    # Texts may be secrets.
    assert "secret" not in str(asdict(table))


@pytest.fixture(scope="module")
def mariadb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MysqlTarget]:
    usual = server.settings

    def observed(*given: Any) -> dict[str, str]:
        return {**usual(*given), "performance_schema": "ON"}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server, "settings", observed)
        with embedded_mariadb(tmp_path_factory.mktemp("partitions")) as target:
            ask(target, "CREATE DATABASE shop")
            ask(
                target,
                "CREATE TABLE shop.sale (id INT PRIMARY KEY, customer INT NOT NULL, "
                "day DATE NOT NULL, note CHAR(60) NOT NULL, UNIQUE KEY twice (customer, id))",
            )
            ask(
                target,
                f"INSERT INTO shop.sale SELECT seq, seq % 2000, '{FIRST}' + INTERVAL "
                f"(seq * {DAYS} DIV {ROWS}) DAY, 'x' FROM shop.seq_0_to_{ROWS - 1}",
            )
            ask(target, "ANALYZE TABLE shop.sale")
            for year in range(2020, 2025):
                ask(
                    target,
                    f"SELECT count(*) FROM shop.sale WHERE day >= '{year}-01-01' "
                    f"AND day < DATE '{year}-01-01' + INTERVAL 3 MONTH AND note IN ('x', 'y')",
                )
            yield target


def mariadb_system(target: Target, catalog: Catalog) -> System:
    facts, common = target.facts(), {"t_ns": 0, "end_ns": 0, "target": "mysql"}
    statements = [{**common, **asdict(one)} for one in catalog.uses.statements]
    relations = [{**common, **asdict(one)} for one in catalog.uses.relations]
    uses = of_rows(statements, relations, {}, "", catalog.uses.notes)
    words = dialect("mysql")
    own = Database("mysql", facts.url, facts.version, catalog.settings, words, True, catalog)
    return System("MariaDB", Facts({}, "?"), (), own, uses=uses)


def test_mariadb_by_a_sample_and_its_commands(mariadb: MysqlTarget) -> None:
    section = advised(mariadb_system(mariadb, mariadb.catalog()))
    (found,) = [one for one in section.document["tables"] if one["table"] == "shop.sale"]
    assert found["reason"] is None
    assert (found["column"], found["method"]) == ("day", "range")
    assert "1,000 rows" in found["bounds_from"]
    assert found["keys_without_column"] == ["PRIMARY", "twice"]
    assert section.document["unparsed"] == 0
    ((_, lines),) = section.commands.items()
    for line in lines:
        if not line.startswith("--"):
            ask(mariadb, line)
    parts = ask(
        mariadb,
        "SELECT partition_name FROM information_schema.partitions WHERE table_name = 'sale'",
    )
    assert len(parts) == 4
    counts = [
        int(ask(mariadb, f"SELECT count(*) FROM shop.sale PARTITION ({name})")[0][0])
        for (name,) in parts
    ]
    assert sum(counts) == ROWS
    shares = [count / ROWS for count in counts]
    assert shares == pytest.approx(found["bounds"]["4"]["shares"], abs=0.05)
    (after,) = [one for one in mariadb.catalog().tables if one.name == "`shop`.`sale`"]
    assert after.partition_of == after.name


@pytest.mark.parametrize("name", ["sqlite", "duckdb"])
def test_columns_and_keys_of_a_file(name: str, tmp_path: Path) -> None:
    target: Any = targets.open_target(targets.parse(f"embedded:{name}"), tmp_path, LIMITS)
    with target:
        assert not target.catalog().tables
        ask(
            target,
            "CREATE TABLE sale (id INTEGER PRIMARY KEY, day DATE NOT NULL, price DECIMAL(9,2), "
            "note VARCHAR(9), UNIQUE (note, day))",
        )
        ask(target, "CREATE INDEX by_day ON sale (day, id)")
        ask(target, "CREATE INDEX twice ON sale (day, id)")
        catalog = target.catalog()
        (table,) = catalog.tables
        kinds = {one.name: (one.kind, one.nullable) for one in table.columns}
        system = System(
            name,
            Facts({}, "?"),
            (),
            Database(name, "x", name, {}, dialect(name), live=True, catalog=catalog),
        )
        (rule,) = [one for one in rules() if one.name == "duplicate-indexes"]
        (verdict,) = rule.judge(system)
        assert verdict.outcome == "violated"
        ask(target, verdict.commands[0])
        left = [one for one in target.catalog().indexes if one.columns == ("day", "id")]
    assert kinds == {
        "id": ("integer", False),
        "day": ("date", False),
        "price": ("decimal", True),
        "note": ("text", True),
    }
    assert table.keys["PRIMARY"] == ("id",)
    assert ("note", "day") in table.keys.values()
    assert len(left) == 1
    # Sizes are unknown: rules on them say so.
    judged = {one.name: one.judge(system)[0].outcome for one in rules()}
    assert judged["table-statistics"] == "not readable"
    section = advised(system)
    assert "no table partitions" in section.document["reason"]
