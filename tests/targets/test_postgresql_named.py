"""Tables that statements name are read, however many larger ones there are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from dyno.contracts.advice import Advised
from dyno.contracts.captured import Named
from dyno.runner import capturing
from dyno.targets.postgresql.captured import CAPTURED
from dyno.targets.postgresql.target import PostgresTarget
from dyno.workloads.own.draft.draft import Ran, Together, draft

LARGE = 101
STATEMENTS = (
    "SET track_counts = off",  # rows are those of ANALYZE, not counted a second time
    "CREATE SCHEMA many",
    "CREATE TABLE many.small (id int PRIMARY KEY, word text)",
    "INSERT INTO many.small VALUES (1, 'a'), (2, 'b')",
    'CREATE TABLE many."Mixed" (id int)',
    "CREATE MATERIALIZED VIEW many.sums AS SELECT count(*) AS rows, 7 AS seven FROM many.small",
    "CREATE TABLE many.sale (id int, day int, PRIMARY KEY (id, day)) PARTITION BY RANGE (day)",
    "CREATE TABLE many.sale_1 PARTITION OF many.sale FOR VALUES FROM (0) TO (10)",
    "CREATE TABLE many.sale_2 PARTITION OF many.sale FOR VALUES FROM (10) TO (20)",
    "INSERT INTO many.sale SELECT n, n % 20 FROM generate_series(1, 1000) n",
    *(f"CREATE TABLE many.large_{n} AS SELECT generate_series(1, 400) n" for n in range(LARGE)),
    "ANALYZE",
)


@pytest.fixture(scope="module")
def many(postgres: PostgresTarget) -> Iterator[PostgresTarget]:
    """A server with more large tables than the catalog details."""
    with closing(postgres.connect()) as session:
        for statement in STATEMENTS:
            session.execute(statement)
        yield postgres
        session.execute("DROP SCHEMA many CASCADE")


def test_named_tables_are_read_with_the_rows_of_their_parts(many: PostgresTarget) -> None:
    assert isinstance(many, Named)
    assert isinstance(many, Advised)
    catalog = {table.name: table for table in many.catalog().tables}
    assert not catalog["many.small"].columns, "more than 100 tables are larger"
    found = {table.name: table for table in many.named_tables(["small", "sale", "sums", "none"])}
    assert {name: table.rows for name, table in found.items()} == {
        "many.sale": 1000, "many.small": 2, "many.sums": 1,
    }  # fmt: skip
    assert [column.type for column in found["many.small"].columns] == ["integer", "text"]
    assert list(found["many.sale"].keys.values()) == [("id", "day")]
    assert found["many.small"].primary_key == "small_pkey"
    assert found["many.sums"].columns[1].name == "seven"
    assert [table.name for table in many.named_tables(["Mixed"])] == ['many."Mixed"']
    assert many.named_tables([]) == []


def test_a_draft_draws_from_small_and_from_partitioned_tables(many: PostgresTarget) -> None:
    texts = (
        "SELECT word FROM small WHERE id = $1", 'SELECT 1 FROM many."Mixed" m WHERE m.id = $1',
        "SELECT count(*) FROM Sale WHERE day = $1", "SELECT rows FROM sums WHERE seven = $1",
    )  # fmt: skip
    ran = [Together(9, (Ran(text),)) for text in texts]
    tables = capturing.tables_for(many, ran, CAPTURED, "")
    made = draft(ran, tables, CAPTURED, 9)
    queries = [one.draw.get("query", "") for one in made.draws.values()]
    with closing(many.connect()) as session:
        rows = [len(session.execute(query).rows) for query in queries if query]
    assert sorted(rows) == [1, 2, 1000]
    # The table without rows, and the literal that became a parameter.
    assert len(made.open) == 2
