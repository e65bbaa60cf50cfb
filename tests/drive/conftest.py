"""Real engines with data at scale 0.01, loaded once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dyno import _core, targets
from dyno.bundle.writer import Recorder
from dyno.contracts.target import Limits, Loaded, LoadPlan, Target
from tests.process import no_server_left

SCALE = 0.01
LIMITS = Limits(memory_bytes=1 << 30, threads=2)


@pytest.fixture(scope="session", params=["duckdb", "postgresql"])
def loaded(request: pytest.FixtureRequest, tmp_path_factory: Any) -> Iterator[tuple[str, Path]]:
    """The URL of an engine and the folder that it lies in."""
    url = f"embedded:{request.param}"
    out = tmp_path_factory.mktemp(f"drive-{request.param}")
    with targets.open_target(targets.parse(url), out, LIMITS) as found:
        plan = LoadPlan("tpch", SCALE, seed=1, streams=2)
        found.create_tables("tpch", replace=False)
        found.load(plan, _core.Control())
        found.index("tpch", threading.Event(), lambda *_: None)
        found.mark("tpch", Loaded(SCALE, 1, complete=True))
    yield url, out
    no_server_left(out)


@pytest.fixture
def target(loaded: tuple[str, Path]) -> Iterator[Target]:
    """The engine, started in this process."""
    url, out = loaded
    with targets.open_target(targets.parse(url), out, LIMITS) as found:
        yield found


@pytest.fixture
def recorder(tmp_path: Path) -> Iterator[Recorder]:
    """A bundle that is open."""
    found = Recorder(tmp_path, "run", {}, ("tpch",))
    yield found
    found.close()
