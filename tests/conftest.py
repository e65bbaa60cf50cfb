"""What all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

REQUIRE_ALL = os.environ.get("DYNO_REQUIRE_ALL") == "1"


def missing(component: str) -> None:
    """Skips for a component that this machine lacks; under the gate that is a failure."""
    if REQUIRE_ALL:
        pytest.fail(f"{component} is missing, and DYNO_REQUIRE_ALL is set")
    pytest.skip(f"{component} is missing")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """An output folder."""
    folder = tmp_path / "out"
    folder.mkdir()
    return folder
