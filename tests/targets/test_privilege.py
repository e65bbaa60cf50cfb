"""The message for a role that may not create tables has the statement that grants it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing

import pytest

from dyno.errors import TargetError
from dyno.targets.postgresql.target import PostgresTarget
from tests.targets.test_connection import at


@pytest.fixture
def guest(postgres: PostgresTarget, items: str) -> Iterator[str]:
    with closing(postgres.connect()) as session:
        session.execute("CREATE ROLE guest LOGIN")
        yield items
        session.execute("DROP SCHEMA IF EXISTS dyno_items CASCADE")
        session.execute("DROP OWNED BY guest")
        session.execute("DROP ROLE guest")


def test_each_grant_that_is_named_is_the_one_that_helps(
    postgres: PostgresTarget, guest: str
) -> None:
    with at(postgres, user="guest") as target, closing(postgres.connect()) as admin:
        with pytest.raises(TargetError, match="GRANT CREATE ON DATABASE") as refused:
            target.create_tables(guest, replace=False)
        assert refused.value.kind == "denied"
        admin.execute("CREATE SCHEMA dyno_items")
        with pytest.raises(TargetError, match="GRANT USAGE, CREATE ON SCHEMA") as refused:
            target.create_tables(guest, replace=False)
        grant = re.search(r"GRANT .*;", str(refused.value))
        assert grant is not None
        admin.execute(grant[0])
        target.create_tables(guest, replace=False)
        assert target.loaded(guest) is not None
        admin.execute("DROP SCHEMA dyno_items CASCADE")
        with pytest.raises(TargetError, match="GRANT CREATE ON DATABASE") as refused:
            target.create_tables(guest, replace=False)
        grant = re.search(r"GRANT .*;", str(refused.value))
        assert grant is not None
        admin.execute(grant[0])
        target.create_tables(guest, replace=False)


def test_tables_of_another_role_name_the_grants_that_open_them(
    postgres: PostgresTarget, guest: str
) -> None:
    postgres.create_tables(guest, replace=False)
    with at(postgres, user="guest") as target, closing(postgres.connect()) as admin:
        with pytest.raises(TargetError, match="tables of another role") as refused:
            target.loaded(guest)
        assert refused.value.kind == "denied"
        usage, rights = re.findall(r"GRANT [^;]*;", str(refused.value))
        admin.execute(usage)
        with pytest.raises(TargetError, match="another role"):
            target.loaded(guest)
        admin.execute(rights)
        assert target.loaded(guest) == postgres.loaded(guest) is not None
        with closing(target.connect(guest)) as session:
            assert session.execute("SELECT count(*) FROM item").rows == [(0,)]
