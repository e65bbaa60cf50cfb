"""Attaching, detaching and what a cache has afterwards."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dyno.accelerate.attach import attached, mounting
from dyno.host.storage import cache_of, storage_facts
from tests.accelerate.attach.conftest import SIZE, Volume, forget
from tests.process import document, dyno, wait_until

CONTENT = os.urandom(3 << 20)


@pytest.fixture
def filled(volume: Volume) -> Volume:
    """Attached; a file of 3 MiB was read, so the cache has it."""
    (volume.origin / "a.db").write_bytes(CONTENT)
    volume.attach()
    assert reread(volume) == CONTENT
    return volume


def reread(volume: Volume, name: str = "a.db") -> bytes:
    forget(volume.origin / name)
    return (volume.origin / name).read_bytes()


def test_what_was_read_is_there_after_a_kill_and_after_an_attachment(filled: Volume) -> None:
    assert reread(filled) == CONTENT
    assert filled.hits() > 0
    filled.detach()
    assert (filled.origin / "a.db").read_bytes() == CONTENT
    filled.attach(new=False)
    assert reread(filled) == CONTENT
    before = filled.hits()
    assert before > 0
    filled.kill_daemon()
    assert reread(filled) == CONTENT
    assert filled.hits() > 0


def test_a_file_that_changes_while_it_is_detached_is_read_from_the_origin(filled: Volume) -> None:
    filled.detach()
    path = filled.origin / "a.db"
    other = bytes(reversed(CONTENT))
    path.write_bytes(other)
    os.utime(path, ns=(0, 0))
    filled.attach(new=False)
    assert reread(filled) == other
    assert filled.hits() == 0


@pytest.mark.parametrize("lazy", [False, True], ids=["unmounted", "unmounted while in use"])
def test_a_file_that_changes_while_the_daemon_still_ends(filled: Volume, lazy: bool) -> None:
    """What the daemon notes about files must not be what somebody else made of them."""
    path = filled.origin / "a.db"
    with path.open("r+b") as file:
        file.write(CONTENT[:8192])
    supervisor, daemon = *filled.processes("supervisor"), *filled.processes("daemon")
    other = bytes(reversed(CONTENT))
    folder = os.open(filled.origin, os.O_RDONLY) if lazy else -1
    mounting.unmount(filled.origin, lazy=lazy)
    path.write_bytes(other)
    if lazy:
        fcntl.ioctl(folder, attached.CHECKPOINT)
        os.close(folder)
    daemon.wait(60)
    supervisor.wait(60)
    filled.attach(new=False)
    assert reread(filled) == other
    assert filled.hits() == 0


def test_a_replaced_file_is_another_file(filled: Volume) -> None:
    other = bytes(reversed(CONTENT))
    (filled.origin / "b.db").write_bytes(other)
    (filled.origin / "b.db").replace(filled.origin / "a.db")
    assert reread(filled) == other
    filled.kill_daemon()
    assert reread(filled) == other


def test_damage_on_flash_is_found(filled: Volume) -> None:
    filled.detach()
    cache = filled.cache / "cache"
    size = cache.stat().st_size
    with cache.open("r+b") as file:
        for at in range(1 << 20, size, 4096):
            file.seek(at + 77)
            file.write(b"damage")
    filled.attach(new=False)
    assert reread(filled) == CONTENT
    told = filled.told()
    assert told["damaged"] > 0 or told["blocks"] == 0


def test_a_flash_device_that_loses_everything_costs_speed_and_no_more(filled: Volume) -> None:
    filled.detach()
    filled.attach(new=False)  # now nothing is in memory only
    os.truncate(filled.cache / "cache", 0)
    assert reread(filled) == CONTENT
    told = filled.told()
    assert told["errors"] + told["damaged"] > 0
    filled.kill_daemon()
    other = bytes(reversed(CONTENT))
    (filled.origin / "a.db").write_bytes(other)
    assert reread(filled) == other
    assert not filled.told()["usable"]
    assert "NOT in use" in dyno("accelerate", "status", filled.origin).stdout
    filled.detach()
    done = dyno("accelerate", "apply", filled.origin, "--flash", filled.cache, "--yes")
    assert done.returncode == 3
    assert "dyno accelerate remove" in done.stderr


def test_status_says_what_was_done_by_kind(filled: Volume) -> None:
    (filled.origin / "pg_wal").mkdir()
    (filled.origin / "pg_wal" / "1").write_bytes(CONTENT)
    reread(filled)
    kinds = {kind["kind"]: kind for kind in filled.told()["kinds"]}
    assert kinds["table"]["hits"] > 0
    assert not kinds["log"]["cached"]
    text = dyno("accelerate", "status", filled.origin).stdout
    assert "table" in text
    assert str(filled.cache) in text


def test_a_run_has_the_devices_of_the_folder_and_of_the_cache(filled: Volume) -> None:
    facts, plain = storage_facts(filled.origin), storage_facts(filled.origin.parent)
    assert (facts["fs_type"], facts["fs_kind"]) == ("fuse.dyno", "disk")
    assert facts["subject"] == plain["subject"]
    assert cache_of(filled.origin / "a.db") == filled.cache
    assert cache_of(filled.origin.parent) is None


def test_a_hole_behind_the_old_end_of_a_file_is_empty(filled: Volume) -> None:
    path = filled.origin / "b.db"
    path.write_bytes(CONTENT[:10_000])
    for _ in range(20):
        reread(filled)  # so that the buffers of all threads have other data
    assert reread(filled, "b.db") == CONTENT[:10_000]
    with path.open("r+b") as file:
        file.seek(100_000)
        file.write(b"end")
    assert reread(filled, "b.db") == CONTENT[:10_000] + bytes(90_000) + b"end"


def test_a_long_sequential_read_does_not_fill_the_cache(volume: Volume) -> None:
    (volume.origin / "a.db").write_bytes(6 * CONTENT)
    volume.attach("--scan-bypass", "4M")
    reread(volume)
    reread(volume)
    table = next(kind for kind in volume.told()["kinds"] if kind["kind"] == "table")
    assert table["scanned"] > 0
    assert 0 < volume.told()["filled"] < len(6 * CONTENT) // 8192


def test_locks_are_seen_by_other_processes(filled: Volume) -> None:
    path = filled.origin / "a.db"
    script = (
        "import fcntl,sys\n"
        "f=open(sys.argv[1],'r+b')\n"
        "try: fcntl.{0}(f,fcntl.LOCK_EX|fcntl.LOCK_NB)\n"
        "except OSError: print('locked')\n"
    )

    def other(call: str) -> str:
        command = [sys.executable, "-c", script.format(call), path]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    with path.open("r+b") as file:
        for call in ("flock", "lockf"):
            assert other(call) == ""
            getattr(fcntl, call)(file, fcntl.LOCK_EX)
            filled.kill_daemon()
            assert other(call) == "locked"


def test_a_file_stays_readable_after_it_was_removed_and_the_daemon_killed(filled: Volume) -> None:
    path = filled.origin / "a.db"
    with path.open("rb") as file:
        path.unlink()
        filled.kill_daemon()
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        assert file.read() == CONTENT
        assert os.fstat(file.fileno()).st_nlink == 0


def test_a_file_with_the_inode_of_a_log_that_is_gone_is_another_file(filled: Volume) -> None:
    """The kernel reads and writes logs itself, in a file that it was given by its number."""
    folder = filled.origin / "pg_wal"
    folder.mkdir()
    old = folder / "1"
    with old.open("w+b", buffering=0) as file:
        file.write(b"old" * 1000)
        inode = os.fstat(file.fileno()).st_ino
        filled.kill_daemon()
        file.write(b"older" * 1000)
    assert old.read_bytes() == b"old" * 1000 + b"older" * 1000
    old.unlink()
    for number in range(2, 200):
        path = folder / str(number)
        path.write_bytes(b"new" * number)
        if path.stat().st_ino == inode:
            break
    for path in folder.iterdir():
        forget(path)
        assert path.read_bytes() == b"new" * int(path.name)
    filled.detach()
    for path in folder.iterdir():
        assert path.read_bytes() == b"new" * int(path.name)


def test_without_a_supervisor_the_daemon_goes_on(filled: Volume) -> None:
    (daemon,) = filled.processes("daemon")
    for process in filled.processes("supervisor"):
        process.kill()
        process.wait(30)
    assert reread(filled) == CONTENT
    (filled.origin / "b").write_bytes(b"more")
    filled.detach()
    daemon.wait(30)
    assert (filled.origin / "b").read_bytes() == b"more"
    filled.attach(new=False)
    assert reread(filled) == CONTENT
    assert filled.hits() > 0


def test_after_supervisor_and_daemon_died_the_origin_is_whole(filled: Volume) -> None:
    (daemon,) = filled.processes("daemon")
    for process in (*filled.processes("supervisor"), daemon):
        process.kill()
    wait_until(lambda: not daemon.is_running(), "the daemon's end", 30)
    with pytest.raises(OSError, match=r"not connected|connection abort"):
        (filled.origin / "a.db").stat()
    done = dyno("accelerate", "apply", filled.origin, "--flash", filled.cache, "--yes")
    assert done.returncode == 2
    assert "dyno accelerate detach" in done.stderr
    assert dyno("accelerate", "detach", filled.origin).returncode == 0
    assert (filled.origin / "a.db").read_bytes() == CONTENT
    filled.attach(new=False)
    assert reread(filled) == CONTENT


def test_detaching_says_who_uses_the_folder(filled: Volume) -> None:
    with (filled.origin / "a.db").open("rb"):
        done = dyno("accelerate", "detach", filled.origin)
        assert done.returncode == 3
        assert f"({os.getpid()})" in done.stderr
    assert mounting.find(filled.origin) is not None


def test_a_folder_in_use_gets_no_cache(volume: Volume) -> None:
    (volume.origin / "a.db").write_bytes(CONTENT)
    with (volume.origin / "a.db").open("rb"):
        done = dyno("accelerate", "apply", volume.origin, "--flash", volume.cache, "--size", SIZE,
                    "--yes")  # fmt: skip
    assert done.returncode == 3
    assert f"({os.getpid()})" in done.stderr
    assert not volume.cache.exists()


def test_without_yes_nothing_is_done(volume: Volume) -> None:
    done = dyno("accelerate", "apply", volume.origin, "--flash", volume.cache, "--size", SIZE)
    assert done.returncode == 0
    assert not volume.cache.exists()
    assert mounting.find(volume.origin) is None


def test_folders_that_cannot_be_a_cache(filled: Volume, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    full = tmp_path / "full"
    full.mkdir()
    (full / "precious").write_text("data")

    def refused(origin: Path, cache: Path, *options: str) -> str:
        done = dyno("accelerate", "apply", origin, "--flash", cache, *options, "--yes")
        assert done.returncode in (2, 3), done.stderr
        assert mounting.find(other) is None
        return done.stderr

    assert str(filled.origin) in refused(other, filled.cache)  # another folder's cache
    assert "not empty" in refused(other, full, "--size", SIZE)
    assert (full / "precious").read_text() == "data"
    assert "apart" in refused(other, other / "below", "--size", SIZE)
    assert "--size" in refused(other, tmp_path / "new")
    assert "free" in refused(other, tmp_path / "new", "--size", "900T")
    assert "No such folder" in refused(tmp_path / "none", tmp_path / "new", "--size", SIZE)
    done = dyno("accelerate", "remove", filled.cache, "--yes")
    assert done.returncode == 2
    assert str(filled.origin) in done.stderr


def test_a_copy_of_a_folder_does_not_get_its_cache(filled: Volume, tmp_path: Path) -> None:
    """The same path with another folder: made anew, as after a restore."""
    filled.detach()
    filled.origin.rename(tmp_path / "old")
    filled.origin.mkdir()
    (filled.origin / "a.db").write_bytes(bytes(reversed(CONTENT)))
    done = dyno("accelerate", "apply", filled.origin, "--flash", filled.cache, "--yes")
    assert done.returncode == 3
    assert "another origin" in done.stderr
    assert mounting.find(filled.origin) is None


def test_a_removed_cache_leaves_nothing(filled: Volume) -> None:
    filled.detach()
    assert dyno("accelerate", "remove", filled.cache).returncode == 0
    assert filled.cache.exists()
    (filled.cache / "mine").write_text("data")
    assert dyno("accelerate", "remove", filled.cache, "--yes").returncode == 3
    assert (filled.cache / "mine").read_text() == "data"


def test_status_without_a_cache(tmp_path: Path) -> None:
    assert document(dyno("accelerate", "status", "--json"))["caches"] is not None
    assert dyno("accelerate", "status", tmp_path).returncode == 2
    assert dyno("accelerate", "detach", tmp_path).returncode == 2
