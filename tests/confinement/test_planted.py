"""Planted limits of storage: a private PostgreSQL whose log or data device is throttled."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dyno.bundle.model import Finding, those
from dyno.bundle.phases.confirm import ConfirmDetail
from dyno.bundle.phases.oltp import OltpDetail
from dyno.bundle.reader import Bundle
from dyno.confinement.devices import under
from dyno.confinement.run import Confinement, confine
from dyno.host.storage import storage_facts
from tests.confinement.conftest import require
from tests.process import document, dyno
from tests.targets.loops import mounted

pytestmark = pytest.mark.long

TARGET = ("--target", "embedded:postgresql")


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
    out = home / "data" / "out"
    made = document(dyno("run", "tpcc", *TARGET, "--out", out, *level, "--json", *words))
    bundle = Bundle.open(Path(made["bundle"]))
    phase = those(bundle.run.phases, OltpDetail)[0].name
    (found,) = (
        one for one in bundle.findings() if one.phase == phase and one.code.startswith("limit-")
    )
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
    assert f"the log ({device}) (confirmed: elasticity" in found.message
    (phase,) = those(bundle.run.phases, ConfirmDetail)
    assert phase.detail.changed == {"write_iops": 200}
    assert phase.detail.devices == (device,)
    assert phase.detail.low is not None and phase.detail.low > 0.5, phase.detail


def test_a_data_device_that_holds_back_reads_is_named(loaded: Path) -> None:
    device = storage_facts(loaded / "data")["subject"]
    # A limit on memory empties the page cache first, so that all pages are read from the device.
    limits = ("--limit", "read_iops=150", "--limit", "memory=160MB", "--set", "memory=16MB")
    _, _, found = limited(loaded, *limits)
    is_named(found, "limit-data", f"data files ({device})")
    assert "of 150 reads/s (--limit read_iops=150)" in found.message
    assert "DataFileRead" in found.message
    assert "of the page lookups hit the cache" in found.message


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
    """Small work memory, and a volume of temporary files that writes through to its device."""
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
        small = ("--set", "work_memory=64kB", "--no-warming", "--json")
        made = document(dyno("run", *words, *small))
        bundle = Bundle.open(Path(made["bundle"]))
        (found,) = (one for one in bundle.findings() if one.code.startswith("limit-"))
    is_named(found, "limit-temp", f"temporary files ({device})")
    assert "BuffileWrite" in found.message
    assert "MB/s spilled" in found.message
