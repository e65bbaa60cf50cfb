"""The whole way on a MySQL or MariaDB of the developer's own, named by DYNO_TEST_MYSQL_URL.

No machine of the gate has a MySQL; this is how one is tried. What lies in its database
``dyno_tpch`` is replaced, and removed at the end.
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
