"""Random operations on a folder with a cache, beside the same on a plain folder."""

from __future__ import annotations

import contextlib
import mmap
import os
import random
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.accelerate.attach.conftest import Volume, forget
from tests.process import wait_until

BLOCK = 8192
MOST = 40 * BLOCK
NAMES = [f"{folder}{name}" for folder in ("", "base/1/", "pg_wal/") for name in "abcde"]


def write(root: Path, chance: random.Random) -> object:
    path = root / chance.choice(NAMES)
    offset, size = chance.randrange(MOST), chance.choice([1, 100, 4096, BLOCK, 5 * BLOCK])
    fd = os.open(path, os.O_RDWR | os.O_CREAT | chance.choice([0, os.O_DSYNC, os.O_APPEND]))
    try:
        return os.pwrite(fd, chance.randbytes(size), offset)
    finally:
        os.close(fd)


def read(root: Path, chance: random.Random) -> object:
    path = root / chance.choice(NAMES)
    offset, size = chance.randrange(MOST), chance.choice([1, 4096, BLOCK, MOST])
    forget(path)
    with path.open("rb") as file:
        file.seek(offset)
        return file.read(size)


def resize(root: Path, chance: random.Random) -> object:
    path, size = root / chance.choice(NAMES), chance.randrange(MOST)
    os.truncate(path, size)
    return path.stat().st_size


def punch(root: Path, chance: random.Random) -> object:
    path = root / chance.choice(NAMES)
    with path.open("r+b") as file:
        os.posix_fallocate(file.fileno(), chance.randrange(MOST), chance.randrange(1, MOST))
        return os.fstat(file.fileno()).st_size


def rename(root: Path, chance: random.Random) -> object:
    (root / chance.choice(NAMES)).rename(root / chance.choice(NAMES))
    return None


def link(root: Path, chance: random.Random) -> object:
    return os.link(root / chance.choice(NAMES), root / chance.choice(NAMES))


def symlink(root: Path, chance: random.Random) -> object:
    path = root / f"link{chance.randrange(3)}"
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
    path.symlink_to(chance.choice(NAMES))
    return path.readlink()


def remove(root: Path, chance: random.Random) -> object:
    return (root / chance.choice(NAMES)).unlink()


def copy(root: Path, chance: random.Random) -> object:
    source, target = (root / chance.choice(NAMES) for _ in range(2))
    begin, to, size = chance.randrange(MOST), chance.randrange(MOST), chance.randrange(MOST // 4)
    with source.open("rb") as below, target.open("r+b") as above:
        if source.samefile(target):
            return None
        return os.copy_file_range(below.fileno(), above.fileno(), size, begin, to)


def map_(root: Path, chance: random.Random) -> object:
    path = root / chance.choice(NAMES)
    with path.open("r+b") as file:
        size = os.fstat(file.fileno()).st_size
        if not size:
            return None
        with mmap.mmap(file.fileno(), size) as mapped:
            at = chance.randrange(size)
            mapped[at : at + 1] = chance.randbytes(1)
            mapped.flush()
            return bytes(mapped[:BLOCK])


def direct(root: Path, chance: random.Random) -> object:
    path = root / chance.choice(NAMES)
    fd = os.open(path, os.O_RDWR | os.O_DIRECT)
    try:
        with mmap.mmap(-1, 2 * BLOCK) as pages:
            pages.write(chance.randbytes(2 * BLOCK))
            at = BLOCK * chance.randrange(20)
            written = os.pwritev(fd, [pages], at)
            return written, os.preadv(fd, [pages], at), bytes(pages)
    finally:
        os.close(fd)


def describe(root: Path, chance: random.Random) -> object:
    path = root / chance.choice(NAMES)
    path.chmod(chance.choice([0o600, 0o640, 0o644]))
    os.utime(path, ns=(chance.randrange(10**18), chance.randrange(10**18)))
    os.setxattr(path, "user.dyno", chance.randbytes(8))
    found = path.stat()
    return found.st_mode, found.st_mtime_ns, found.st_nlink, os.getxattr(path, "user.dyno")


OPERATIONS: list[Callable[[Path, random.Random], object]] = [
    *[write] * 5, *[read] * 6, resize, punch, rename, link, symlink, remove, copy, map_, direct,
    describe,
]  # fmt: skip


def outcome(operation: Callable[[Path, random.Random], object], root: Path, seed: str) -> object:
    try:
        return operation(root, random.Random(seed))
    except OSError as error:
        return type(error), error.errno


def tree(root: Path) -> dict[str, object]:
    found: dict[str, object] = {}
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        if path.is_symlink():
            found[name] = path.readlink()
        elif path.is_file():
            forget(path)
            found[name] = (path.read_bytes(), path.stat().st_mode, path.stat().st_nlink)
        else:
            found[name] = "folder"
    return found


@pytest.mark.parametrize("kills", [0, 8], ids=["quiet", "killed"])
def test_a_folder_with_a_cache_is_a_folder(volume: Volume, tmp_path: Path, kills: int) -> None:
    plain = tmp_path / "plain"
    for root in (plain, volume.origin):
        for folder in ("base/1", "pg_wal"):
            (root / folder).mkdir(parents=True)
    volume.attach()
    steps = 1200
    for step in range(steps):
        if kills and step % (steps // kills) == 7:
            volume.kill_daemon()
        operation = random.Random(step).choice(OPERATIONS)
        seed = f"{kills} {step}"
        expected = outcome(operation, plain, seed)
        assert outcome(operation, volume.origin, seed) == expected, (step, operation.__name__)
    assert tree(volume.origin) == tree(plain)
    assert volume.hits() > 0
    volume.detach()
    assert tree(volume.origin) == tree(plain)
    volume.attach(new=False)
    assert tree(volume.origin) == tree(plain)


def test_files_that_grew_without_a_write_end_with_zeros(volume: Volume) -> None:
    """What the daemon's buffers held behind the old end of a file is not cached."""
    volume.attach()
    other, content = volume.origin / "other", random.Random(1).randbytes(2 * BLOCK + 100)
    other.write_bytes(b"x" * MOST)
    files = [volume.origin / f"grown{number}" for number in range(12)]
    for grown in files:
        grown.write_bytes(content)
        for path in (other, grown, other, grown):
            forget(path)
            path.read_bytes()
    for path in files:
        with path.open("r+b") as file:
            os.posix_fallocate(file.fileno(), 0, 4 * BLOCK)
        forget(path)
        assert path.read_bytes() == content.ljust(4 * BLOCK, b"\0")


def test_what_is_done_once_is_answered_once(volume: Volume) -> None:
    """Names come and go while daemons are killed, also between a deed and its answer."""
    volume.attach()
    over = threading.Event()
    rounds: list[int] = []
    failed: list[BaseException] = []

    def work() -> None:
        try:
            while not over.is_set():
                number = len(rounds)
                folder = volume.origin / f"folder{number}"
                folder.mkdir()
                for name in ("a", "b"):
                    os.close(os.open(folder / name, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
                os.link(folder / "a", folder / "c")
                (folder / "d").symlink_to("a")
                (folder / "b").rename(folder / "e")
                assert sorted(path.name for path in folder.iterdir()) == ["a", "c", "d", "e"]
                for name in ("a", "c", "d", "e"):
                    (folder / name).unlink()
                folder.rmdir()
                rounds.append(number)
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(15):
            before = len(rounds)
            wait_until(lambda before=before: failed or len(rounds) > before + 3, "rounds", 30)
            volume.kill_daemon()
    finally:
        over.set()
        thread.join(60)
    assert not failed, failed[0]
    assert not list(volume.origin.iterdir())


def test_what_a_daemon_was_receiving_goes_to_the_next_one(volume: Volume) -> None:
    """Large writes by several threads, so that a kill hits one that is being copied."""
    volume.attach()
    over = threading.Event()
    written, failed = [0] * 4, list[BaseException]()

    def work(number: int) -> None:
        try:
            with (volume.origin / f"file{number}").open("wb", buffering=0) as file:
                while not over.is_set():
                    content = bytes([written[number] % 256]) * (1 << 20)
                    assert file.write(content) == len(content)
                    written[number] += 1
                    if written[number] % 64 == 0:
                        file.seek(0)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(written))]
    for thread in threads:
        thread.start()
    try:
        for _ in range(15):
            before = sum(written)
            wait_until(lambda before=before: failed or sum(written) > before + 8, "writes", 30)
            volume.kill_daemon()
    finally:
        over.set()
        for thread in threads:
            thread.join(60)
    assert not failed, failed[0]


def test_files_that_come_and_go_keep_the_numbers_of_others(volume: Volume) -> None:
    """The file system gives the number of a removed file to the next one at once."""
    (volume.origin / "pg_wal").mkdir()
    volume.attach()
    failed: list[OSError] = []

    def work(name: int) -> None:
        path = volume.origin / "pg_wal" / str(name)
        try:
            for _ in range(250):
                with path.open("xb") as file:
                    file.write(b"x" * 100)
                path.unlink()
        except OSError as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed, failed[0]
