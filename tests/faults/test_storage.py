"""What goes wrong under `dyno io`: one clear line, the right exit code, a readable bundle."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dyno.bundle.reader import Bundle, list_bundles
from tests.conftest import missing
from tests.faults import limits
from tests.process import dyno, end, start, wait_until

MIB = 1 << 20

PROFILE = """# As many steps as a test needs.
size = "16M"
step = "{step}"

[[curves]]
name = "pages"
pattern = "random"
blocks = ["8K"]
reads = [{reads}]
depths = {depths}
"""

Asked = Callable[..., Path]


@pytest.fixture
def asked(tmp_path: Path) -> Asked:
    """Makes a profile, of one step unless more are wanted."""

    def make(step: str = "200ms", reads: int = 100, steps: int = 1) -> Path:
        path = tmp_path / "asked.toml"
        depths = [4 + number for number in range(steps)]
        path.write_text(PROFILE.format(step=step, reads=reads, depths=depths))
        return path

    return make


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Callable[..., Path]]:
    """Mounts something on a new folder; all of it goes again at the end."""
    if os.geteuid() != 0:
        missing("root, to mount file systems")
    folders: list[Path] = []

    def mount(*words: str | Path) -> Path:
        folder = tmp_path / f"mounted-{len(folders)}"
        folder.mkdir()
        done = subprocess.run(["mount", *words, folder], capture_output=True, check=False)
        if done.returncode != 0:
            missing(f"the right to mount ({done.stderr.decode()})")
        folders.append(folder)
        return folder

    yield mount
    for folder in folders:
        subprocess.run(["umount", "-l", folder], check=True)


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """What is on the device below."""
    path = tmp_path / "image"
    path.write_bytes(os.urandom(MIB) * 32)
    return path


@pytest.fixture
def device(image: Path) -> Iterator[Path]:
    """A block device of 32 MiB, whose storage is a file."""
    if os.geteuid() != 0:
        missing("root, to make a block device")
    words = ["losetup", "--find", "--show", "--direct-io=on", image]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        missing(f"a loop device ({done.stderr})")
    path = Path(done.stdout.strip())
    yield path
    subprocess.run(["losetup", "--detach", path], check=True)


def refused(done: subprocess.CompletedProcess[str], code: int, *words: str) -> None:
    """One line names the error."""
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("dyno: ")]
    for word in words:
        assert word.lower() in line.lower(), line


def only(out: Path) -> Bundle:
    """The only bundle under a folder, which has its report."""
    (bundle,) = list_bundles(out)
    assert (bundle.path / "sheet.html").stat().st_size > 1000
    return bundle


def notes(bundle: Bundle) -> str:
    (phase,) = (phase for phase in bundle.run.phases if phase.kind == "io")
    return " ".join(remark.text for remark in phase.detail.remarks)


def failed(bundle: Bundle) -> dict[str, int]:
    """I/Os of the only step that failed, by class."""
    (row,) = bundle.table("io").to_pylist()
    return json.loads(row["errors"])


def meddled(out: Path, meddle: Callable[[], None], *words: str | Path) -> tuple[int, str]:
    """Runs `dyno io`, and does something once it measures; its exit code and errors."""
    process = start("io", *words, "--out", out)
    wait_until(lambda: measured(out) or process.poll() is not None, "the first interval")
    assert process.poll() is None, process.communicate()
    meddle()
    code, _, errors = end(process)
    assert "Traceback" not in errors
    return code, errors


def measured(out: Path) -> bool:
    """Whether I/O is under way: an interval has ended."""
    return any(path.stat().st_size for path in out.glob("*/io_intervals.jsonl"))


def made(folder: Path) -> list[Path]:
    """Test files of Dyno's."""
    return list(folder.glob(".dyno-io-*"))


def test_a_folder_that_may_not_be_written(tmp_path: Path, out: Path, asked: Asked) -> None:
    shut = tmp_path / "shut"
    shut.mkdir()
    if os.geteuid() == 0:
        os.chown(shut, 65534, 65534)
    shut.chmod(0o555)
    before = limits.without("dac_override")
    done = limits.limited(["io", shut, "--profile", asked(), "--out", out], before)
    refused(done, 3, "no permission", str(shut))
    assert only(out).run.status == "failed"


def test_a_read_only_mount(mounted: Callable[..., Path], out: Path, asked: Asked) -> None:
    folder = mounted("-t", "tmpfs", "-o", "ro,size=128m", "dyno-test")
    done = dyno("io", folder, "--profile", asked(), "--out", out)
    refused(done, 3, "is mounted read-only", str(folder))
    assert not list_bundles(out)  # it was reported before anything began


def test_a_volume_that_fills_up(mounted: Callable[..., Path], out: Path, asked: Asked) -> None:
    path = mounted("-t", "tmpfs", "-o", "size=2m", "dyno-test") / "sparse"
    with path.open("wb") as file:
        file.truncate(64 * MIB)  # without content: space is taken as it is written
    words = ("io", path, "--destroy", "--profile", asked(reads=0), "--out", out)
    refused(dyno(*words, given=f"{path}\n"), 3, "No space left", str(path))
    assert only(out).run.status == "failed"


@pytest.mark.long
def test_space_taken_between_fill_levels(
    mounted: Callable[..., Path], out: Path, asked: Asked
) -> None:
    folder = mounted("-t", "tmpfs", "-o", "size=200m", "dyno-test")

    def take() -> None:
        with (folder / "of-another").open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, shutil.disk_usage(folder).free - MIB)

    words = (folder, "--fill", "25,100", "--fill-of", "64M", "--profile", asked("2s"))
    code, errors = meddled(out, take, *words)
    assert code == 3, errors
    assert "No space left" in errors or "are free" in errors
    bundle = only(out)
    assert bundle.run.status == "failed"
    assert [row["stage"] for row in bundle.table("io").to_pylist()] == [0]
    assert not made(folder)


def test_devices_in_use_or_too_small(
    mounted: Callable[..., Path], device: Path, out: Path, asked: Asked
) -> None:
    words = ("io", device, "--profile", asked(), "--out", out)
    refused(dyno(*words, "--size", "33M"), 2, str(device), "--size")
    assert not list_bundles(out)
    subprocess.run(["mkfs.ext4", "-q", device], check=True)
    folder = mounted(device)
    (folder / "precious").write_text("data")
    for given in ((), ("--destroy",)):
        done = dyno(*words, *given, given=f"{device}\n")
        refused(done, 3, device.name, f"is mounted on {folder}")
    assert (folder / "precious").read_text() == "data"


def test_a_device_that_another_process_holds(device: Path, out: Path, asked: Asked) -> None:
    holder = os.open(device, os.O_RDONLY | os.O_EXCL)
    try:
        refused(dyno("io", device, "--profile", asked(), "--out", out), 3, "in use", str(device))
    finally:
        os.close(holder)
    assert only(out).run.status == "failed"


def test_a_device_that_fails(image: Path, device: Path, out: Path, asked: Asked) -> None:
    os.truncate(image, 8 * MIB)  # reads beyond the end fail
    # Long enough for a hundred errors also where something limits the device.
    words = ("io", device, "--profile", asked("1s"))
    refused(dyno(*words, "--out", out), 3, "Input/output error", str(device))
    assert only(out).run.status == "failed"
    assert failed(only(out))["io"] >= 10  # stops after ten without a success, or after a hundred

    more = out / "more"
    done = dyno(*words, "--on-error", "continue", "--out", more)
    assert done.returncode == 1, done.stderr
    bundle = only(more)
    (row,) = bundle.table("io").to_pylist()
    assert failed(bundle)["io"] > 100
    assert row["reads"] > 0
    assert bundle.run.status == "done"
    assert not bundle.run.validity.valid


@pytest.mark.long
def test_a_file_cut_underneath(tmp_path: Path, out: Path, asked: Asked) -> None:
    path = tmp_path / "data"
    path.write_bytes(os.urandom(16 * MIB))
    words = (path, "--profile", asked("2s"), "--on-error", "continue")
    code, errors = meddled(out, lambda: os.truncate(path, 64 << 10), *words)
    assert code == 1, errors
    bundle = only(out)
    assert failed(bundle)["short_read"] > 0
    assert "another process truncated" in notes(bundle)
    assert "another process truncated" in (bundle.path / "sheet.html").read_text(encoding="utf-8")


@pytest.mark.long
def test_a_file_that_vanishes(tmp_path: Path, out: Path, asked: Asked) -> None:
    folder = tmp_path / "volume"
    folder.mkdir()

    def vanish() -> None:
        made(folder)[0].unlink()

    code, errors = meddled(out, vanish, folder, "--profile", asked("2s"))
    assert code in {0, 1}, errors
    assert "another process removed" in notes(only(out))
    assert not failed(only(out))


def test_a_killed_run(tmp_path: Path, out: Path, asked: Asked) -> None:
    folder = tmp_path / "volume"
    folder.mkdir()
    process = start("io", folder, "--profile", asked("1s", steps=1000), "--out", out)
    wait_until(lambda: measured(out) or process.poll() is not None, "the first interval")
    os.kill(process.pid, signal.SIGKILL)
    assert end(process)[0] == -signal.SIGKILL
    (left,) = made(folder)
    (bundle,) = list_bundles(out)
    assert bundle.run.status == "running"
    assert bundle.table("io_intervals").num_rows > 0
    report = dyno("report", bundle.path, "--json")
    assert (report.returncode, json.loads(report.stdout)["valid"]) == (1, False)

    done = dyno("io", folder, "--profile", asked(), "--out", out / "next")
    assert done.returncode in {0, 1}, done.stderr
    assert f"removed {left} of a killed run" in notes(only(out / "next"))
    assert not made(folder)


def test_without_io_uring(tmp_path: Path, out: Path, asked: Asked) -> None:
    words = ["io", tmp_path, "--profile", asked(), "--pages", "huge", "--out", out]
    done = limits.limited(words, prepare=limits.forbidding_io_uring())
    assert done.returncode == 1, done.stderr
    assert "buffer-pages" in {reason.code for reason in only(out).run.validity.reasons}
    (phase,) = (phase for phase in only(out).run.phases if phase.kind == "io")
    assert phase.detail.engine == "psync"
    assert "psync is used" in notes(only(out))


@pytest.mark.long
def test_with_too_little_locked_memory(tmp_path: Path, out: Path, asked: Asked) -> None:
    before = [*limits.without("ipc_lock"), "prlimit", "--memlock=0:0"]
    words = ["io", tmp_path, "--profile", asked(), "--out", out]
    done = limits.limited(words, before)
    assert done.returncode in {0, 1}, done.stderr
    assert "ulimit -l" in notes(only(out)) or "psync is used" in notes(only(out))
