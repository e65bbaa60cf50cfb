"""The whole way on a MySQL or MariaDB of the developer's own, named by DYNO_TEST_MYSQL_URL.

No machine of the gate has a MySQL; this is how one is tried. What lies in its databases
``dyno_tpch`` and ``dyno_tpcc`` is replaced, and removed at the end.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from dyno.targets.mysql.settings import LOCK_WAIT_S
from tests.process import assert_valid, document, dyno

URL = os.environ.get("DYNO_TEST_MYSQL_URL", "")

SHORT = ("unsteady", "client-bound")
"""Reasons against a run of a few seconds on a small machine."""

pytestmark = pytest.mark.skipif(not URL, reason="DYNO_TEST_MYSQL_URL is not set")


def test_load_check_run_and_clean(out: Path) -> None:
    where = ("--target", URL, "--json", "--out", out)
    assert dyno("doctor", URL, "--out", out).returncode == 0
    loaded = dyno("load", "tpch", "--scale", "0.01", "--streams", "2", "--replace", *where)
    assert_valid(loaded)
    assert_valid(dyno("check", "tpch", "--answers", *where))
    run = assert_valid(dyno("run", "tpch", "--test", "full", "--plans", *where), "unsteady")
    assert len(run["tpch"]["engines"]["mysql"]["queries"]) == 22
    removed = document(dyno("clean", "--yes", *where))["removed"]
    assert len(removed) == 8


def test_transactions_of_the_client_and_in_procedures(out: Path) -> None:
    where = ("--target", URL, "--json", "--out", out)
    assert_valid(dyno("load", "tpcc", "--scale", "2", "--streams", "2", "--replace", *where))
    driven = ("--users", "8", "--warmup", "1s", "--duration", "5s")
    for mode in ("client", "procedure"):
        run = assert_valid(dyno("run", "tpcc", *driven, "--mode", mode, *where), *SHORT)
        (level,) = run["tpcc"]["levels"]
        assert (level["mode"], level["errors"]) == (mode, 0)
        assert level["new_orders_per_min"] > 0
        head = json.loads((Path(run["bundle"]) / "run.json").read_text(encoding="utf-8"))
        settings = head["targets"]["mysql"]["settings"]
        assert int(settings["driver_innodb_lock_wait_timeout"]) <= LOCK_WAIT_S
    assert_valid(dyno("check", "tpcc", "--isolation", *where))
    removed = document(dyno("clean", "--yes", *where))["removed"]
    assert len([item for item in removed if item.startswith("procedure dyno_tpcc.")]) == 5
    assert len(removed) == 9 + 5
