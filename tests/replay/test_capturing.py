"""What a draft is made of: one database, statements of clients, and notes on what is missing."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dyno.contracts.advice import Catalog, ColumnFacts, TableFacts
from dyno.contracts.inspection import Inspection, StatementUse
from dyno.errors import TargetError, UsageError
from dyno.runner import capturing
from dyno.targets import parse
from dyno.targets.mysql.captured import CAPTURED as MYSQL
from dyno.targets.postgresql.captured import CAPTURED as POSTGRESQL
from dyno.workloads.own.draft.draft import Ran, Together, draft
from tests.replay.logs import LAST, as_csv, as_json, shop, written


class Server:
    """Counts statements, and is in a database."""

    def __init__(self, *uses: StatementUse, database: str | None = "shop") -> None:
        self.uses, self.database, self.closed = uses, database, 0

    def catalog(self) -> Catalog:
        return Catalog({}, (), (), Inspection(self.uses, (), ()))

    def connect(self, workload: str = "") -> Any:
        row = SimpleNamespace(rows=[(self.database,)])
        return SimpleNamespace(execute=dict.fromkeys([MYSQL.database], row).get, close=self._close)

    def _close(self) -> None:
        self.closed += 1


def use(text: str, calls: int = 5, **more: Any) -> StatementUse:
    return StatementUse(text, text, calls, 1.0, **more)


def counted(server: Server, database: str = "") -> dict[str, int]:
    found, _ = capturing.of_counters(server, "counters", None, database)  # pyright: ignore[reportArgumentType]
    return {one.statements[0].text: one.count for one in found}


def test_the_current_database_is_asked_for() -> None:
    for database, expected in (("shop", "shop"), (None, "")):
        server = Server(database=database)
        assert capturing.database_of(server, MYSQL) == expected  # pyright: ignore[reportArgumentType]
        assert server.closed == 1
    assert "dyno_observer" in MYSQL.database
    assert "dyno observer" in POSTGRESQL.database


def test_only_statements_of_the_urls_database_are_drafted() -> None:
    server = Server(
        use("select 1", database="shop"), use("select 2", database="other"), use("select 3")
    )
    assert counted(server, "shop") == {"select 1": 5, "select 3": 5}
    assert len(counted(server)) == 3
    with pytest.raises(TargetError, match="database absent"):
        counted(Server(use("select 1", database="shop")), "absent")


def test_statements_inside_of_functions_are_left_to_their_callers() -> None:
    server = Server(use("select f()"), use("select 1", nested=5), use("select 2", nested=2))
    assert counted(server) == {"select f()": 5, "select 2": 3}


def test_dynos_own_statements_are_not_drafted() -> None:
    own = (use("/* dyno observer */ select 1"), use("SELECT DATABASE ( ) AS `dyno_observer`"))
    assert counted(Server(*own, use("select 2"))) == {"select 2": 5}


def test_a_log_of_several_databases_is_drafted_for_one(tmp_path: Path) -> None:
    for name, written_as in (("a.csv", as_csv), ("a.json", as_json)):
        text = written_as(shop(16)) + written_as(shop(16), database="other")
        log = written(tmp_path, text, name)
        found, notes = capturing.of_log(log, "shop")
        every, none = capturing.of_log(log, "")
        assert sum(one.count for one in found) < sum(one.count for one in every)
        (note,) = (one for one in notes if "--database" in one)
        assert "16 statements" in note
        assert "line 17" in note
        assert not any("--database" in one for one in none)


def test_what_a_log_lost_is_said_with_the_first_line(tmp_path: Path) -> None:
    texts = ("BEGIN", "SELECT 1", "ROLLBACK", "DROP TABLE item")
    late = [(1.0 + at, "a.1", f"statement: {text}") for at, text in enumerate(texts)]
    said = [*shop(16), *late]
    log = written(tmp_path, as_csv(said), "shop.csv")
    _, notes = capturing.of_log(log, "shop")
    assert any("1 statement " in note and "line 20" in note for note in notes)
    assert any("1 transaction " in note for note in notes)
    assert any("line 17" in note for note in notes if "1 transaction " in note)
    found = {"left_out": {}, "rolled_back": [0, 0], "unshaped": [3, 9], "unknown": [0, 0]}
    (note,) = capturing.lost(found, "shop")
    assert "3 transactions" in note
    assert not capturing.lost(found | {"unshaped": [0, 0]}, "shop")


def test_sessions_that_were_connected_before_the_log_began_belong_to_the_database(
    tmp_path: Path,
) -> None:
    ran_at = "2026-11-26T14:00:0{0}.000000Z\t    7 Query\tselect {0} from item\n"
    log = written(tmp_path, "".join(ran_at.format(second) for second in (1, 2)) + LAST)
    known, (left,) = capturing.of_log(log, "shop")
    ran, (included,) = capturing.of_log(log, "shop", unknown=True)
    assert (known, [one.count for one in ran]) == ([], [2])
    assert "2 statements" in left
    assert "--database shop" in included


def test_a_log_is_looked_at_before_anything_is_opened(tmp_path: Path) -> None:
    log = written(tmp_path, as_csv(shop(8)))
    capturing.require_log(log, parse("postgresql://h/d"), POSTGRESQL)
    with pytest.raises(UsageError, match="another product"):
        capturing.require_log(log, parse("mysql://h/d"), MYSQL)


def table(name: str, column: str = "integer") -> TableFacts:
    return TableFacts(name, rows=9, columns=(ColumnFacts("id", "integer", column),))


def test_a_table_that_several_schemas_have_is_that_of_the_database() -> None:
    both = (table("`shop`.`item`"), table("`other`.`item`"), table("`other`.`only`"))
    found = capturing.tables_of(both, MYSQL, "shop")
    assert {name: one.name for name, one in found.items()} == {
        "only": "`other`.`only`", "item": "`shop`.`item`", "shop.item": "`shop`.`item`",
        "other.item": "`other`.`item`",
    }  # fmt: skip
    assert "item" not in capturing.tables_of(both, MYSQL, "")
    texts = (
        "select id from item where id = ?", "select id from other.item where id = ?",
        "insert into other.item values (?)", "select id from only where id = ?",
    )  # fmt: skip
    made = draft([Together(1, (Ran(text),)) for text in texts], found, MYSQL, 9)
    drawn = json.dumps([one.draw for one in made.draws.values()])
    assert not made.open
    for name in ("`shop`.`item`", "`other`.`item`", "`other`.`only`"):
        assert f"from {name}" in drawn
