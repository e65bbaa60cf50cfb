"""Planted limits: engines with a CPU quota, little memory, or a throttled log or data device."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dyno.bundle.model import Finding, those
from dyno.bundle.phases.confirm import ConfirmDetail
from dyno.bundle.reader import Bundle
from dyno.confinement.devices import under
from dyno.confinement.run import Confinement, confine
from dyno.host.storage import storage_facts
from tests.busy import others_work
from tests.confinement.conftest import require
from tests.process import dyno, end, start
from tests.targets.loops import mounted

pytestmark = pytest.mark.long

TARGET = ("--target", "embedded:postgresql")

LOOKUPS = """
[tables.item]
rows = 950_000
key = ["id"]
columns = { id = "int row", filler = "varchar(300) letters 250..300" }
[[queries]]
name = "lookups"
sql = '''
with recursive pick(n, at) as (
  select 1, 1 union all
  select n + 1, (at * 48271) % 2147483647 from pick where n < 400000
)
select sum(length(filler)) from pick join item on item.id = 1 + pick.at % 950000'''
rows = 1
"""
"""Rows at random, of a table a little larger than the memory left to it: what the kernel evicts is
soon read again, so that it counts as a lack of memory.
"""


@pytest.fixture(scope="module")
def loaded() -> Iterator[Path]:
    """A folder with TPC-C in ``data/out`` and its log on ``log``, each a device of its own."""
    require("io", "memory")
    with mounted("data", "log") as home:
        layout = home / "apart.toml"
        layout.write_text(f'[volumes]\nlog = "{home / "log"}"\n', encoding="utf-8")
        out = home / "data" / "out"
        done = dyno("load", "tpcc", *TARGET, "--out", out, "--scale", "1", "--layout", layout)
        assert done.returncode in {0, 1}, done.stderr
        yield home


def limited(home: Path, *words: str) -> tuple[dict[str, Any], Bundle, Finding]:
    """A run of four users within limits, and its bottleneck."""
    level = ("--users", "4", "--warmup", "1s", "--duration", "4s", "--no-criteria")
    return ran("tpcc", *TARGET, "--out", home / "data" / "out", *level, *words)


def ran(*words: str | Path, again: int = 2) -> tuple[dict[str, Any], Bundle, Finding]:
    """A run, and the bottleneck of its first phase; once more where other work was in its way."""
    busy = others_work()
    # A process of its own: one that is forked shares memory that counts for another.
    made = json.loads(end(start("run", *words, "--json"))[1])
    bundle = Bundle.open(Path(made["bundle"]))
    found = next(one for one in bundle.findings() if one.code.startswith("limit-"))
    if found.code == "limit-background-load":
        assert busy or others_work(), f"nothing else runs: {found.message}"
        if again:
            return ran(*words, again=again - 1)
    return made, bundle, found


def is_named(found: Finding, code: str, resource: str) -> bool:
    """Whether it is the bottleneck; else it must come right after the machine's other work."""
    assert resource in found.message, found.message
    if found.code == code:
        return True
    assert found.code == "limit-background-load", found.message
    assert f"Next: {resource}" in found.message
    return False


def test_a_log_device_that_holds_back_commits_is_named_and_confirmed(loaded: Path) -> None:
    device = storage_facts(loaded / "log")["subject"]
    made, bundle, found = limited(loaded, "--limit", "write_iops=200", "--confirm-limit")
    named = is_named(found, "limit-log", f"the log ({device})")
    assert "of 200 writes/s (--limit write_iops=200)" in found.message
    assert "ms a flush" in found.message
    assert "WalSync" in found.message
    assert device in made["limits"]["devices"]
    if not named:
        return
    (phase,) = those(bundle.run.phases, ConfirmDetail)
    assert phase.detail.changed == {"write_iops": 200}
    assert phase.detail.devices == (device,)
    if f"the log ({device}) (confirmed: elasticity" in found.message:
        assert phase.detail.low is not None and phase.detail.low > 0.5, phase.detail
    else:  # windows of seconds differ by more than the limit where others take the CPU
        assert others_work(), found.message


def test_a_data_device_that_holds_back_reads_is_named(loaded: Path) -> None:
    device = storage_facts(loaded / "data")["subject"]
    # A limit on memory empties the page cache first, so that all pages are read from the device.
    limits = ("--limit", "read_iops=150", "--limit", "memory=160MB", "--set", "memory=16MB")
    _, _, found = limited(loaded, *limits)
    is_named(found, "limit-data", f"data files ({device})")
    assert "of 150 reads/s (--limit read_iops=150)" in found.message
    assert "DataFileRead" in found.message
    assert "of the page lookups hit the cache" in found.message


def test_a_quota_on_cpu_is_named(loaded: Path) -> None:
    require("cpu")
    made, _, found = limited(loaded, "--limit", "cpu=0.15")
    is_named(found, "limit-quota", "CPU quota")
    assert "the quota of 0.15 CPUs throttled" in found.message
    assert made["limits"]["throttled_periods"] > 20


def test_too_little_memory_for_a_table_is_named(tmp_path: Path) -> None:
    """SQLite reads again what the kernel had to evict."""
    require("memory")
    file = tmp_path / "lookups.toml"
    file.write_text(LOOKUPS, encoding="utf-8")
    words = (file, "--target", "embedded:sqlite", "--out", tmp_path)
    done = dyno("load", *words, "--scale", "1")
    assert done.returncode in {0, 1}, done.stderr
    # Warmed, so that the page cache is full from the first second that counts.
    made, _, found = ran(*words, "--limit", "memory=256MB", "--set", "memory=8MB")
    is_named(found, "limit-memory", "memory")
    assert "with a limit of 256MB" in found.message
    assert made["limits"]["reread_pages"] > 10_000


def test_a_limit_changes_on_one_device_only() -> None:
    require("io")
    with mounted("one", "other") as home:
        places = [home / "one", home / "other"]
        confined = confine(["read_iops=100"], "server", places)
        assert confined is not None
        numbers = under(places)
        one, other = confined.devices

        def rates() -> dict[str, float]:
            """Reads per second allowed on each device, as the kernel tells."""
            found = dict(re.findall(r"(\d+:\d+) (?:.*riops=)?(\d+)", the_limits(confined)))
            return {name: float(found[numbers[name]]) for name in (one, other)}

        with confined:
            with confined.changing([one]) as change:
                change("read_iops", 50)
                assert rates() == {one: 50, other: 100}
            assert rates() == {one: 100, other: 100}


def the_limits(confined: Confinement) -> str:
    """What the kernel holds of its limits on I/O."""
    members = (Path(word) for word in confined.launch if "dyno-limit-" in word)
    files = ("blkio.throttle.read_iops_device", "io.max")
    (found,) = (
        file for member in members for name in files if (file := member.parent / name).exists()
    )
    return found.read_text(encoding="utf-8")


def test_slow_temporary_files_are_named() -> None:
    """Small work memory, and temporary files that are written through to a slow device."""
    require("io")
    with mounted("data", "temp") as home:
        remount = ["mount", "-o", "remount,sync", home / "temp"]
        subprocess.run(remount, check=True, capture_output=True)
        device = storage_facts(home / "temp")["subject"]
        layout = home / "apart.toml"
        layout.write_text(f'[volumes]\ntemp = "{home / "temp"}"\n', encoding="utf-8")
        out = home / "data" / "out"
        words = ("tpch", *TARGET, "--out", out)
        done = dyno("load", *words, "--scale", "0.05", "--layout", layout)
        assert done.returncode in {0, 1}, done.stderr
        slow = ("--limit", "write_iops=800", "--set", "work_memory=64kB")
        _, _, found = ran(*words, *slow, "--no-warming")
    is_named(found, "limit-temp", f"temporary files ({device})")
    assert "BuffileWrite" in found.message
    assert "MB/s spilled" in found.message
