"""What a run records of a file, and of the errors of its statements."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dyno import workloads
from dyno.bundle.phases.oltp import Outcome
from dyno.contracts.target import QueryResult
from dyno.errors import DatabaseError
from dyno.stages.drive.oltp import outcome_of
from dyno.workloads.own import spec
from dyno.workloads.own.source import text_of

FILE = """
[draws]
password = { constant = "hunter2" }  # as written
api_key.constant = 'hunter2'
pin_token = { constant = 27_182 }
plain = { constant = "x" }
id = { constant = 7 }
[draws.secret]
constant = '''
hunter2'''
[[queries]]
name = "login"
values = { password = "hunter2x" }
sql = "select :password, :api_key, :pin_token, :plain, :id, :secret"
"""
DUPLICATE = "Duplicate entry 'alice@x.com' for key 't.email' [error 1062]"


def made(folder: Path, content: str = FILE) -> Any:
    path = folder / "login.toml"
    path.write_text(content)
    return workloads.named(str(path))


def test_constants_that_may_be_secrets_are_not_recorded(tmp_path: Path) -> None:
    recorded = json.dumps(made(tmp_path).record)
    assert "hunter2" not in recorded
    assert "27_182" not in recorded
    text = text_of(spec.read(FILE, "x", "x"), FILE)
    assert 'plain = { constant = "x" }\nid = { constant = 7 }' in text
    assert "  # as written" in text


def test_a_key_with_escapes_hides_no_constant(tmp_path: Path) -> None:
    content = FILE.replace('{ constant = "hunter2" }', '{ "const\\u0061nt" = "hunter2" }')
    assert "hunter2" not in json.dumps(made(tmp_path, content).record)


def test_parameters_that_may_be_secrets_are_not_recorded(tmp_path: Path) -> None:
    (query,) = made(tmp_path).queries
    values = query.validation(1.0)
    assert values["password"] == "hunter2x"
    assert set(query.recorded(values)) == {"plain", "id"}


class Failing:
    """Rejects every statement."""

    def execute(self, sql: str) -> QueryResult:
        raise DatabaseError(DUPLICATE)

    def cancel(self) -> None: ...

    def close(self) -> None: ...


def test_the_error_of_a_query_has_no_values(tmp_path: Path) -> None:
    (query,) = made(tmp_path).queries
    with pytest.raises(DatabaseError) as caught:
        query.execute(Failing(), "select 1")
    assert "alice" not in str(caught.value)
    assert "1062" in str(caught.value)
    with pytest.raises(DatabaseError, match="alice"):
        workloads.get("tpch").queries[0].execute(Failing(), "select 1")


@pytest.mark.parametrize("name", ["own_shop", "own_shop@2", "own_replay"])
def test_the_first_errors_of_ones_own_statements_have_no_values(name: str) -> None:
    found = outcome_of(name, {"errors_first": {"database": DUPLICATE}})
    assert found.errors_first == {"database": "Duplicate entry '…' for key 't.email' [error 1062]"}
    whole = {"errors_first": {"database": DUPLICATE}}
    assert outcome_of("tpcc", whole) == Outcome.model_validate(whole)
