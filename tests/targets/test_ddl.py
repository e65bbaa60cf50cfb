"""Tables in PostgreSQL: typed, marked, and never taken from a user."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dyno.contracts.target import Loaded
from dyno.errors import DynoError, UsageError
from dyno.targets.postgresql.ddl import column_type
from dyno.targets.postgresql.target import PostgresTarget


@pytest.fixture
def clean(postgres: PostgresTarget, items: str) -> Iterator[str]:
    yield items
    session = postgres.connect()
    session.execute("DROP SCHEMA IF EXISTS dyno_items CASCADE")
    session.close()


def test_columns_have_their_types(postgres: PostgresTarget, clean: str) -> None:
    postgres.create_tables(clean, replace=False)
    session = postgres.connect(clean)
    session.execute(
        "INSERT INTO item VALUES (1, 2, 3.456, 'ab', 'name', '2020-01-01', '2020-01-01 10:00')"
    )
    found = session.execute(
        "SELECT attname, format_type(atttypid, atttypmod), attnotnull FROM pg_attribute "
        "WHERE attrelid = 'item'::regclass AND attnum > 0 ORDER BY attnum"
    ).rows
    assert found == [
        ("i_id", "integer", True),
        ("i_big", "bigint", True),
        ("i_price", "numeric(15,2)", False),
        ("i_code", "character(5)", True),
        ("i_name", "character varying(20)", True),
        ("i_day", "date", True),
        ('i "at"', "timestamp without time zone", False),
    ]
    assert session.execute("SELECT i_price::text, i_code FROM item").rows == [("3.46", "ab")]
    session.close()


def test_tables_are_replaced_only_with_leave(postgres: PostgresTarget, clean: str) -> None:
    assert postgres.loaded(clean) is None
    postgres.create_tables(clean, replace=False)
    assert postgres.loaded(clean) == Loaded(0.0, 0, complete=False)
    postgres.mark(clean, Loaded(2.0, 9, complete=True))
    assert postgres.loaded(clean) == Loaded(2.0, 9, complete=True)
    with pytest.raises(UsageError, match="--replace"):
        postgres.create_tables(clean, replace=False)
    assert postgres.loaded(clean) == Loaded(2.0, 9, complete=True)
    postgres.create_tables(clean, replace=True)
    assert postgres.loaded(clean) == Loaded(0.0, 0, complete=False)


@pytest.mark.parametrize("create", ["CREATE TABLE item (x int)", "CREATE VIEW item AS SELECT 1"])
def test_a_users_own_table_stays(postgres: PostgresTarget, clean: str, create: str) -> None:
    session = postgres.connect()
    session.execute("CREATE SCHEMA dyno_items")
    session.execute("SET search_path = dyno_items")
    session.execute(create)
    session.close()
    for replace in (False, True):
        with pytest.raises(UsageError, match=r"did not create \(item\)"):
            postgres.create_tables(clean, replace=replace)
    assert postgres.loaded(clean) is None


def test_an_unknown_type_is_a_fault_of_dyno() -> None:
    with pytest.raises(DynoError, match="blob"):
        column_type({"type": "blob"})
