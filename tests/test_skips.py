"""A machine that lacks something: the suite ends by saying what to install."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.skips import OTHER, remedies

TESTS = Path(__file__).parent


@pytest.mark.long
def test_the_last_line_says_what_a_bare_machine_lacks(tmp_path: Path) -> None:
    """Without a PATH there is neither MariaDB nor Chromium, in workers either."""
    words = [sys.executable, "-m", "pytest", "-q", "-n", "1", "-p", "no:cacheprovider"]
    words += [str(TESTS / "browser"), str(TESTS / "targets" / "test_mysql_meter.py")]
    bare = {"PATH": str(tmp_path), "HOME": str(tmp_path)}
    kept = {name: value for name, value in os.environ.items() if name.startswith("PYTEST_DEBUG")}
    done = subprocess.run(
        words, check=False, capture_output=True, text=True, timeout=600, env={**bare, **kept},
        cwd=TESTS.parent,
    )  # fmt: skip
    last = done.stdout.splitlines()[-1]
    assert "skipped. To run them: " in last, done.stdout
    assert "Chromium (apt install chromium chromium-driver) " in last
    if not any(Path(folder, "mariadbd").exists() for folder in ("/usr/sbin", "/usr/libexec")):
        assert "MariaDB (apt install mariadb-server) " in last


def test_skips_are_counted_by_what_they_need() -> None:
    reasons = ["mariadb-server is missing"] * 3 + ["root, to make a block device is missing"]
    line = remedies([*reasons, "Skipped: ClickHouse needs chdb", "no idea"])
    assert line.startswith("6 tests skipped. To run them: MariaDB (apt install mariadb-server) 3,")
    assert "run as root" in line
    assert "ClickHouse" in line
    assert f"{OTHER} 1" in line
    assert remedies([]) == ""


def test_every_component_that_tests_ask_for_has_a_remedy() -> None:
    asked: set[str] = set()
    for file in TESTS.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            if named and node.func.id == "missing" and isinstance(node.args[0], ast.Constant):
                asked.add(str(node.args[0].value))
    assert len(asked) >= 8
    local = {"a local disk under the temporary folder"}  # nothing to install
    assert {component for component in asked - local if OTHER in remedies([component])} == set()
