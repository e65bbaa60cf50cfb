"""A control group of Dyno: created with limits, read, and removed."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from dyno.confinement.limits_asked import Bound
from dyno.confinement.places import ParentGroup
from dyno.errors import UsageError
from dyno.host.files import read_int, read_text

PERIOD_US = 100_000
"""Period of a CPU quota: the kernel's default, which containers use as well."""

_REMOVAL_S = 5.0
_POLL_S = 0.02

_IO = {
    "read_iops": ("riops", "blkio.throttle.read_iops_device"),
    "write_iops": ("wiops", "blkio.throttle.write_iops_device"),
    "read_bytes": ("rbps", "blkio.throttle.read_bps_device"),
    "write_bytes": ("wbps", "blkio.throttle.write_bps_device"),
}
"""Names of the limits in ``io.max`` of version 2, and their files in version 1."""


class Group:
    """A control group that is removed when closed.

    Attributes:
        path: The folder.
        place: The place it was created in.
    """

    def __init__(self, place: ParentGroup) -> None:
        """Creates it.

        Raises:
            UsageError: If this is not permitted.
        """
        self.place = place
        self.path, self._lock = _made(place.parent)

    @property
    def members(self) -> Path:
        """The file that adds a process to the group."""
        return self.path / "cgroup.procs"

    @property
    def home(self) -> Path:
        """The same file of Dyno's original group."""
        return self.place.home / "cgroup.procs"

    def limit(self, asked: Sequence[Bound], devices: Sequence[str]) -> None:
        """Sets the limits that its controllers support.

        Args:
            asked: The limits of the run.
            devices: The devices of the I/O limits, as ``major:minor``.

        Raises:
            UsageError: If the kernel rejects one.
        """
        own = {b.word.name: b for b in asked if b.word.controller in self.place.controllers}
        writes = _first(own, devices) if self.place.version == 1 else _second(own, devices)
        for name, text, optional in writes:
            path = self.path / name
            if optional and not path.exists():
                continue
            try:
                _write(path, text)
            except OSError as error:
                message = f"--limit: the kernel refuses {text} in {path}: {error.strerror}."
                raise UsageError(message) from error

    def killed(self) -> int:
        """The number of its processes that the OOM killer killed."""
        if "memory" not in self.place.controllers:
            return 0
        name = "memory.oom_control" if self.place.version == 1 else "memory.events"
        return self._table(name).get("oom_kill", 0)

    def effects(self) -> dict[str, float]:
        """Effects of the limits so far, for :class:`dyno.bundle.model.Confined`."""
        found: dict[str, float] = {}
        first = self.place.version == 1
        if "cpu" in self.place.controllers:
            cpu = self._table("cpu.stat")
            name, unit = ("throttled_time", 1e9) if first else ("throttled_usec", 1e6)
            found |= {
                "periods": cpu.get("nr_periods", 0),
                "throttled_periods": cpu.get("nr_throttled", 0),
                "throttled_s": cpu.get(name, 0) / unit,
            }
        if "memory" in self.place.controllers:
            peak = read_int(self.path / ("memory.max_usage_in_bytes" if first else "memory.peak"))
            stat, name = self._table("memory.stat"), "workingset_refault_file"
            found["reread_pages"] = stat.get(f"total_{name}" if first else name, 0)
            found["killed"] = self.killed()
            found |= {} if peak is None else {"memory_peak_bytes": peak}
        return found

    def close(self) -> None:
        """Removes it after its last process has exited; otherwise the next run does."""
        if self._lock < 0:
            return
        deadline = time.monotonic() + _REMOVAL_S
        while True:
            try:
                self.path.rmdir()
            except FileNotFoundError:
                break
            except OSError:
                if time.monotonic() > deadline:
                    break
                time.sleep(_POLL_S)  # version 1 has no notification for an empty group
            else:
                break
        os.close(self._lock)
        self._lock = -1

    def _table(self, name: str) -> dict[str, int]:
        lines = (line.split() for line in (read_text(self.path / name) or "").splitlines())
        return {
            words[0]: int(words[1]) for words in lines if len(words) == 2 and words[1].isdigit()
        }


def _made(parent: Path) -> tuple[Path, int]:
    while True:
        path = parent / f"dyno-limit-{os.getpid()}-{secrets.token_hex(4)}"
        try:
            path.mkdir()
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError:
            if not parent.is_dir():
                raise UsageError(f"--limit: the control group {parent} has gone.") from None
            continue  # another run removed it, before it was locked
        except OSError as error:
            message = f"--limit: cannot make a control group in {parent}: {error.strerror}."
            raise UsageError(message) from error
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if path.exists():
                return path, descriptor
        os.close(descriptor)


Writes = list[tuple[str, str, bool]]
"""Files, the text to write to each, and whether they may be missing."""


def _first(own: Mapping[str, Bound], devices: Sequence[str]) -> Writes:
    writes: Writes = []
    if (cpu := own.get("cpu")) is not None:
        writes.append(("cpu.cfs_period_us", str(PERIOD_US), False))
        writes.append(("cpu.cfs_quota_us", str(round(cpu.value * PERIOD_US)), False))
    if (memory := own.get("memory")) is not None:
        text = str(int(memory.value))
        writes.append(("memory.limit_in_bytes", text, False))
        writes.append(("memory.memsw.limit_in_bytes", text, True))  # prevents swapping
    for word, (_, file) in _IO.items():
        if word in own:
            writes += [(file, f"{device} {int(own[word].value)}", False) for device in devices]
    return writes


def _second(own: Mapping[str, Bound], devices: Sequence[str]) -> Writes:
    writes: Writes = []
    if (cpu := own.get("cpu")) is not None:
        writes.append(("cpu.max", f"{round(cpu.value * PERIOD_US)} {PERIOD_US}", False))
    if (memory := own.get("memory")) is not None:
        writes.append(("memory.max", str(int(memory.value)), False))
        writes.append(("memory.swap.max", "0", True))
    limits = [f"{name}={int(own[word].value)}" for word, (name, _) in _IO.items() if word in own]
    if limits:
        writes += [("io.max", " ".join([device, *limits]), False) for device in devices]
    return writes


def _write(path: Path, text: str) -> None:
    """Writes a kernel file in one call, as the kernel requires."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)
