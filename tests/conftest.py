"""What all tests share."""

from __future__ import annotations

import multiprocessing.util
import os
import signal
import tempfile
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from dyno.host.mounts import mount_of, parse_mountinfo
from dyno.host.storage import fs_kind
from tests.skips import remedies

REQUIRE_ALL = os.environ.get("DYNO_REQUIRE_ALL") == "1"
PROOFS = os.environ.get("DYNO_PROOFS", "0/1")
"""Which of the long proofs run: ``1/3`` is the second of three shares."""

# The same examples every time, however long a busy machine takes for one of them.
settings.register_profile(
    "dyno", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("dyno")


# A job that a shell starts in the background ignores Ctrl-C, and so would all that it starts. With
# a handler the suite goes on ignoring it, and what it starts begins with the default.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, lambda _number, _frame: None)

# The folder of the fork server's socket (tests.forked) is chosen now: the first test to fork may
# have a TMPDIR of its own, whose path is too long for a socket.
multiprocessing.util.get_temp_dir()


def _in_memory(folder: str) -> bool:
    mounts = parse_mountinfo(Path("/proc/self/mountinfo").read_text(encoding="utf-8"))
    mount = mount_of(Path(folder).resolve(), mounts)
    return mount is not None and fs_kind(mount.fs_type) == "memory"


# Where /tmp is memory, nothing can start cold, and the engines' data would take it up.
if _in_memory(tempfile.gettempdir()) and not _in_memory("/var/tmp"):
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", "/var/tmp")


def missing(component: str) -> None:
    """Skips for a component that this machine lacks; under the gate that is a failure."""
    if REQUIRE_ALL:
        pytest.fail(f"{component} is missing, and DYNO_REQUIRE_ALL is set")
    pytest.skip(f"{component} is missing")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keeps one share of the long proofs."""
    share, of = map(int, PROOFS.split("/"))

    def kept(item: pytest.Item) -> bool:
        long = item.get_closest_marker("long") is not None
        return not long or zlib.crc32(item.nodeid.encode()) % of == share

    if others := [item for item in items if not kept(item)]:
        config.hook.pytest_deselected(items=others)
        items[:] = filter(kept, items)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Says last what to install for the tests that were skipped."""
    reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or hasattr(config, "workerinput"):
        return
    skipped = (str(report.longrepr[2]) for report in reporter.stats.get("skipped", ()))
    if line := remedies(skipped):
        reporter.write_line(line)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """An output folder."""
    folder = tmp_path / "out"
    folder.mkdir()
    return folder
