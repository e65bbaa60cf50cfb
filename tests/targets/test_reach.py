"""A server that does not answer: what to do depends on whose machine it is on."""

from __future__ import annotations

import socket

import psycopg
import pymysql
import pytest

from dyno.targets.mysql import errors as mysql
from dyno.targets.postgresql import errors as postgresql
from dyno.targets.reach import is_here

REFUSED = psycopg.OperationalError("connection failed: Connection refused")
TIMED_OUT = psycopg.OperationalError("connection timeout expired")
HERE = ["", "/run/postgresql", "@abstract", "localhost", "127.0.0.1", "::1", socket.gethostname()]


@pytest.mark.parametrize("host", HERE)
def test_a_server_here_can_be_started(host: str) -> None:
    assert is_here(host)
    for error in (REFUSED, TIMED_OUT):
        assert "start it" in str(postgresql.connect_error(error, "PostgreSQL at x", host))
    refused = pymysql.OperationalError(2003, "Can't connect (Connection refused)")
    assert "start it" in str(mysql.connect_error(refused, "MariaDB/MySQL at x", host))


@pytest.mark.parametrize("host", ["db1", "192.0.2.7", "2001:db8::7", "db1.example.org"])
def test_a_server_elsewhere_is_checked_and_not_started(host: str) -> None:
    assert not is_here(host)
    for error in (REFUSED, TIMED_OUT):
        shown = str(postgresql.connect_error(error, f"PostgreSQL at {host}:5432", host))
        assert "start it" not in shown
        for word in ("host and port", "firewall", "listen_addresses", "pg_hba.conf"):
            assert word in shown
    for text in ("Connection refused", "timed out"):
        refused = pymysql.OperationalError(2003, f"Can't connect ({text})")
        shown = str(mysql.connect_error(refused, f"MariaDB/MySQL at {host}:3306", host))
        assert "start it" not in shown
        assert "firewall" in shown
        assert "bind-address" in shown
