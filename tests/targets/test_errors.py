"""Errors: classed as the Rust driver classes them, one line each, with what to do."""

from __future__ import annotations

from pathlib import Path

import duckdb
import psycopg
import pytest

from dyno.targets.duckdb import errors as duck
from dyno.targets.postgresql.errors import connect_error, kind_of, statement_error

SERVER = "PostgreSQL at db1:5432"


@pytest.mark.parametrize(
    ("state", "kind"),
    [
        ("40P01", "deadlock"),
        ("40001", "serialization"),
        ("53100", "disk_full"),
        ("53400", "disk_full"),
        ("53200", "out_of_memory"),
        ("53300", "too_many_connections"),
        ("57014", "timeout"),
        ("55P03", "lock_timeout"),
        ("28P01", "denied"),
        ("28000", "denied"),
        ("42501", "denied"),
        ("08006", "connection_lost"),
        ("08P01", "protocol"),
        ("57P01", "connection_lost"),
        ("57P02", "connection_lost"),
        ("57P03", "unreachable"),
        ("25P03", "connection_lost"),
        ("25P04", "connection_lost"),
        ("3D000", "unreachable"),
        ("58030", "io"),
        ("23505", "database"),
        ("25P02", "database"),
        ("57000", "database"),
        ("", "database"),
    ],
)
def test_states_have_the_driver_s_classes(state: str, kind: str) -> None:
    assert kind_of(state) == kind


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ('FATAL:  password authentication failed for user "u"', "denied", "~/.pgpass"),
        ("fe_sendauth: no password supplied", "denied", "PGPASSWORD"),
        ('FATAL:  database "x" does not exist', "unreachable", 'database "x" does not exist;'),
        ('FATAL:  role "x" does not exist', "unreachable", 'role "x"'),
        ("Connection refused\n\tIs the server running?", "unreachable", "does not respond"),
        ('FATAL: no pg_hba.conf entry for host "h"', "denied", "add an entry on the server"),
        ('FATAL: no pg_hba.conf entry for "h", no encryption', "denied", "sslmode=require"),
        (
            'FATAL: permission denied for database "d" DETAIL: User does not have CONNECT '
            "privilege.",
            "denied",
            "GRANT CONNECT ON DATABASE",
        ),
        ("failed to resolve host 'db1': [Errno -2]", "unreachable", "host"),
        ("connection timeout expired", "unreachable", "does not respond"),
        ("FATAL:  sorry, too many clients already", "too_many_connections", "no free connection"),
        ("server does not support SSL, but SSL was required", "unreachable", "sslmode=disable"),
        ("SSL error: certificate verify failed", "unreachable", "URL's sslrootcert"),
        ('root certificate file "/x" does not exist', "unreachable", 'file "/x" does not exist'),
        ("FATAL: connection requires a valid client certificate", "denied", "sslcert and sslkey"),
        ("something new", "unreachable", "something new"),
    ],
)
def test_a_failed_connection_says_what_to_do(text: str, kind: str, expected: str) -> None:
    error = connect_error(psycopg.OperationalError(f"connection failed: {text}"), SERVER)
    assert error.kind == kind
    assert expected in str(error)
    assert SERVER in str(error)
    assert "\n" not in str(error)
    assert error.exit_code == 3


def test_a_broken_session_and_a_full_disk_are_distinguished() -> None:
    lost = statement_error(psycopg.OperationalError("the connection is lost"), lost=True)
    assert lost.kind == "connection_lost"
    full = statement_error(
        psycopg.OperationalError("could not extend file: No space left on device"), lost=False
    )
    assert full.kind == "disk_full"


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (duckdb.InterruptException("INTERRUPT Error: Interrupted!"), "timeout"),
        (duckdb.OutOfMemoryException("Out of Memory Error: no\n\nPossible"), "out_of_memory"),
        (duckdb.OutOfMemoryException("… 'max_temp_directory_size' …"), "disk_full"),
        (duckdb.IOException("IO Error: No space left on device"), "disk_full"),
        (duckdb.IOException("IO Error: read"), "io"),
        (duckdb.CatalogException("Catalog Error: no table"), "database"),
        (duckdb.FatalException("FATAL Error: invalidated"), "connection_lost"),
    ],
)
def test_duckdb_errors_are_classed(error: duckdb.Error, kind: str) -> None:
    found = duck.statement_error(error)
    assert found.kind == kind
    assert "\n" not in str(found)
    assert "Error:" not in str(found)


def test_a_duckdb_file_in_use_names_the_holder() -> None:
    text = (
        'IO Error: Could not set lock on file "/x": Conflicting lock is held in /usr/bin/python3 '
        "(PID 4711). See also https://example.org"
    )
    found = duck.open_error(duckdb.IOException(text), Path("/x"))
    assert "python3, 4711" in str(found)
    assert "https" not in str(found)
