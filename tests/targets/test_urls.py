"""URLs: taken apart, refused with advice, and never shown with a password."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dyno import targets
from dyno.contracts.target import Limits, TargetUrl
from dyno.errors import UsageError
from dyno.targets.duckdb.file import locate
from dyno.targets.null.model import NullModel
from dyno.targets.postgresql.address import Address
from dyno.targets.sqlite import file as sqlite

LIMITS = Limits(1 << 28, 2)


def test_every_target_is_found_by_its_schemes() -> None:
    assert {"postgresql", "duckdb", "null"} <= set(targets.names())
    for text, name in [
        ("postgresql://u@h/d", "postgresql"),
        ("postgres://u@h/d", "postgresql"),
        ("duckdb:///f", "duckdb"),
        ("sqlite:///f", "sqlite"),
        ("mysql://u@h/d", "mysql"),
        ("mariadb://u@h/d", "mysql"),
        ("null:", "null"),
        ("embedded:duckdb", "duckdb"),
        ("embedded:postgresql", "postgresql"),
    ]:
        assert targets.parse(text).name == name


@pytest.mark.parametrize("text", ["postgressql://h/d", "embedded:postgres", "embedded:null", "db"])
def test_a_wrong_word_is_refused_with_a_hint(text: str) -> None:
    with pytest.raises(UsageError, match=r"Did you mean|Known:"):
        targets.parse(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("mariadb", "'mariadb' is not a complete target. Write embedded:mysql or mysql://"),
        ("embeded:postgresql", "Did you mean 'embedded:postgresql'?"),
        ("postgre://me:se/cret@h/d", "Unknown target 'postgre'. Did you mean 'postgres'?"),
        ("postgre:me:secret@h", "Unknown target 'postgre'. Did you mean 'postgres'?"),
    ],
)
def test_a_wrong_target_is_named_with_the_right_one_and_without_secrets(
    text: str, words: str
) -> None:
    with pytest.raises(UsageError, match=re.escape(words)) as caught:
        targets.parse(text)
    assert "cret" not in str(caught.value)


def address(text: str) -> Address:
    return Address.parse(targets.parse(text))


def test_postgresql_urls_follow_libpq() -> None:
    found = address("postgresql://me:se%40cret@db1:6000/bench?sslmode=require")
    assert found.conninfo["password"] == "se@cret"
    assert found.conninfo["sslmode"] == "require"
    assert found.server == "PostgreSQL at db1:6000"
    assert address("postgresql:///b?host=/run/pg").conninfo["host"] == "/run/pg"


def test_a_wrong_sslmode_is_refused_with_a_hint() -> None:
    with pytest.raises(UsageError, match="verify-full"):
        address("postgresql://me@h/d?sslmode=verify-ful")


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://me:hunter2@h/d?nonsense=1",
        "postgresql://me:hunter2@h:5432/d?sslmode",
        "postgresql://me@h/d?password=hunter2&x=1",
        "postgresql://me:hunter2@[::1/d",
        "postgresql://me:hunter2@h:99999/d",
    ],
)
def test_unreadable_urls_never_show_the_password(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        Address.parse(targets.parse(text))
    assert "hunter2" not in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    ["postgresql://me:hunter2@h/d", "postgresql://me@h/d?password=hunter2&sslmode=disable"],
)
def test_what_is_recorded_holds_no_password(text: str, out: Path) -> None:
    target = targets.open_target(targets.parse(text), out, LIMITS)
    assert "hunter2" not in target.url.redacted
    assert "hunter2" in target.url.text


def test_duckdb_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    def at(text: str) -> Path:
        return locate(targets.parse(text), tmp_path)

    assert at("duckdb:///data/a%20b.duckdb") == Path("/data/a b.duckdb")
    assert at("duckdb:////data/x.duckdb") == Path("/data/x.duckdb")
    assert at("duckdb:x.duckdb") == tmp_path / "x.duckdb"
    assert at("embedded:duckdb") == tmp_path / "engines" / "duckdb" / "dyno.duckdb"


@pytest.mark.parametrize(
    "text", ["duckdb:", "duckdb:///", "duckdb:///:memory:", "duckdb://data/x", "duckdb:///x?a=1"]
)
def test_duckdb_urls_without_a_file_are_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="duckdb:///"):
        locate(targets.parse(text), tmp_path)


def test_sqlite_files(tmp_path: Path) -> None:
    found = sqlite.locate(targets.parse("sqlite:///data/a%20b.db"), tmp_path, "tpch")
    assert found == Path("/data/a b.db")
    private = sqlite.locate(targets.parse("embedded:sqlite"), tmp_path, "tpch")
    assert private == tmp_path / "engines" / "sqlite" / "tpch.sqlite"
    for text in ("sqlite:", "sqlite:///:memory:", "sqlite://data/x", "sqlite:///x?mode=ro"):
        with pytest.raises(UsageError, match="sqlite:///"):
            sqlite.locate(targets.parse(text), tmp_path, "tpch")


def null(query: str) -> NullModel:
    return NullModel.parse(TargetUrl("null", "null", f"null:{query}", f"null:{query}"))


def test_the_null_model_as_the_driver_takes_it() -> None:
    assert null("").wire() == {
        "kind": "null",
        "mean_ms": 0.0,
        "distribution": "fixed",
        "seed": 0,
    }
    text = "?mean_us=500&distribution=exponential&servers=4&stall_every_ms=1000&stall_ms=100&seed=3"
    assert null(text).wire() == {
        "kind": "null",
        "mean_ms": 0.5,
        "distribution": "exponential",
        "servers": 4,
        "stall": {"every_ms": 1000.0, "for_ms": 100.0},
        "seed": 3,
    }


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("?mean=1", "mean_us"),
        ("?mean_us=-1", "mean_us"),
        ("?mean_us=nan", "mean_us"),
        ("?mean_us=", "mean_us"),
        ("?servers=0", "servers"),
        ("?servers=1.5", "servers"),
        ("?distribution=expontial", "exponential"),
        ("?stall_ms=10", "stall_every_ms"),
        ("?stall_ms=10&stall_every_ms=10", "stall_every_ms"),
        ("?scale=0", "scale"),
        ("//host/x", "null:"),
    ],
)
def test_impossible_null_models_are_refused(query: str, expected: str) -> None:
    with pytest.raises(UsageError, match=expected):
        null(query)
