"""The whole way on a MySQL or MariaDB of the developer's own, named by DYNO_TEST_MYSQL_URL.

No machine of the gate has a MySQL; this is how one is tried. What lies in its databases
``dyno_tpch`` and ``dyno_tpcc`` is replaced, and removed at the end.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.process import assert_valid, document, dyno

URL = os.environ.get("DYNO_TEST_MYSQL_URL", "")

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
    for mode in ("client", "procedure"):
        run = ("run", "tpcc", "--users", "8", "--warmup", "1s", "--duration", "3s", "--mode", mode)
        (level,) = assert_valid(dyno(*run, *where), "unsteady")["tpcc"]["levels"]
        assert (level["mode"], level["errors"]) == (mode, 0)
        assert level["tps"] > 0
        assert_valid(dyno("check", "tpcc", *where))
    removed = document(dyno("clean", "--yes", *where))["removed"]
    assert len([item for item in removed if item.startswith("procedure dyno_tpcc.")]) == 5
