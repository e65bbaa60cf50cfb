"""Rules of a user on what is cached, and a cache that leaves reads to a faster disk."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.accelerate.attach.conftest import Volume, forget, need_fuse
from tests.process import dyno, wait_until

MIB = 1 << 20
CONTENT = os.urandom(12 * MIB)
BLOCKS = len(CONTENT) // 8192


def read(path: Path) -> None:
    forget(path)
    assert path.read_bytes() == CONTENT


def kinds(volume: Volume) -> dict[str, dict[str, Any]]:
    return {kind["kind"]: kind for kind in volume.told()["kinds"]}


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    return tmp_path / "rules.toml"


def test_the_quota_of_a_kind(volume: Volume, rules: Path) -> None:
    rules.write_text(
        '[[rule]]\nfiles = "base/1/*"\nkind = "archive"\naction = "cache"\nquota = 10\n'
    )
    for name in ("base/1/10", "base/2/10"):
        (volume.origin / name).parent.mkdir(parents=True, exist_ok=True)
        (volume.origin / name).write_bytes(CONTENT)
    volume.attach("--rules", str(rules), "--work", "dss")
    most = volume.told()["capacity_blocks"] // 10
    for _ in range(2):
        for name in ("base/1/10", "base/2/10"):
            read(volume.origin / name)
    found = kinds(volume)
    assert found["archive"]["over_quota"] >= 2 * (BLOCKS - most)
    assert 0 < found["archive"]["hits"] <= most
    assert found["table"]["over_quota"] == 0
    assert found["table"]["hits"] == BLOCKS
    # A daemon that follows counts the blocks anew.
    volume.kill_daemon()
    read(volume.origin / "base/1/10")
    assert kinds(volume)["archive"]["hits"] <= most


def test_files_that_a_rule_passes_are_not_cached(volume: Volume, rules: Path) -> None:
    rules.write_text('[[rule]]\nfiles = "base/1/*"\nkind = "bulk"\naction = "pass"\n')
    path = volume.origin / "base/1/10"
    path.parent.mkdir(parents=True)
    path.write_bytes(CONTENT)
    volume.attach("--rules", str(rules))
    for _ in range(2):
        read(path)
    found = kinds(volume)
    assert found["bulk"]["cached"] is False
    assert found["table"]["misses"] == 0
    assert volume.told()["blocks"] == 0


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (None, "No such file"),
        (b"\xff\xfe", "not text"),
        (b"[[rule]", "rules.toml"),
        (b"", "rule"),
        (b'[[rule]]\nfiles="a"\nkind="b"\naction="keep"', "action"),
        (b'[[rule]]\nfiles="a"\nkind="b"\naction="cache"\nshare=3', "share"),
        (b'[[rule]]\nfiles="a"\nkind="b"\naction="cache"\nquota=0', "quota"),
        (b'[[rule]]\nfiles="a"\nkind="b"\naction="pass"\nquota=5', "quota"),
        (b'[[rule]]\nfiles="a["\nkind="b"\naction="cache"', "a["),
        (b'[[rule]]\nfiles="a"\nkind="b\\u001b"\naction="cache"', "kind"),
        (
            b'[[rule]]\nfiles="a"\nkind="b"\naction="cache"\nquota=5\n'
            b'[[rule]]\nfiles="c"\nkind="b"\naction="cache"',
            "quotas",
        ),
    ],
)
def test_rules_that_cannot_be_used_are_refused(
    volume: Volume, rules: Path, text: bytes | None, named: str
) -> None:
    if text is not None:
        rules.write_bytes(text)
    done = dyno("accelerate", "apply", volume.origin, "--flash", volume.cache, "--size", "48M",
                "--rules", rules, "--yes")  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert named in done.stderr
    assert not volume.cache.exists()


def test_rules_of_a_cache_that_exists_stay(volume: Volume, rules: Path) -> None:
    volume.attach()
    volume.detach()
    done = dyno("accelerate", "apply", volume.origin, "--flash", volume.cache, "--rules", rules)
    assert done.returncode == 2
    assert "--rules" in done.stderr


@pytest.fixture
def in_memory(tmp_path: Path) -> Iterator[Volume]:
    """A folder in memory, which is faster than any flash."""
    need_fuse()
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        found = Volume(Path(folder) / "origin", tmp_path / "flash")
        found.origin.mkdir()
        try:
            yield found
        finally:
            found.end()


@pytest.mark.long
def test_a_cache_steps_aside_for_a_faster_disk(in_memory: Volume) -> None:
    path = in_memory.origin / "base/1/10"
    path.parent.mkdir(parents=True)
    path.write_bytes(CONTENT)
    in_memory.attach("--work", "dss")
    read(path)

    def random_reads() -> bool:
        """Reads single blocks, bypassing the page cache."""
        with path.open("rb", buffering=0) as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
            forget(path)
            for number in range(0, BLOCKS, 2):
                file.seek(8192 * number)
                assert file.read(8192) == CONTENT[8192 * number :][:8192]
        return bool(in_memory.told()["aside"])

    wait_until(random_reads, "the cache to step aside", 60)
    random_reads()
    assert kinds(in_memory)["table"]["aside"] > 0
    read(path)
