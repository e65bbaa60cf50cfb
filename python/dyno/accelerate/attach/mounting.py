"""Mounting a folder over itself with FUSE, and unmounting it."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path

from dyno.errors import TargetError, UsageError
from dyno.host.mounts import ACCELERATED, Mount, parse_mountinfo

DEVICE = "/dev/fuse"
_MAX_REQUEST = 1 << 20
_MAX_WRITE = 256 << 10
"""As in ``content.rs``: the memory that the daemon keeps for each thread."""
_INIT = 26
_MAJOR, _MINOR = 7, 40
_AHEAD_KB = 4096
_BACKGROUND = 64
"""Reads ahead and asynchronous requests that the kernel sends at once."""

# include/uapi/linux/fuse.h
_ASYNC_READ, _BIG_WRITES, _ASYNC_DIO = 1 << 0, 1 << 5, 1 << 15
_IOCTL_DIR, _PARALLEL_DIROPS, _POSIX_ACL = 1 << 11, 1 << 18, 1 << 20
_MAX_PAGES, _CACHE_SYMLINKS = 1 << 22, 1 << 23
_HANDLE_KILLPRIV_V2, _INIT_EXT = 1 << 28, 1 << 30
_DIRECT_IO_ALLOW_MMAP, _PASSTHROUGH, _HAS_RESEND = 1 << 36, 1 << 37, 1 << 39
_WANTED = (
    _ASYNC_READ | _BIG_WRITES | _IOCTL_DIR | _ASYNC_DIO | _PARALLEL_DIROPS | _MAX_PAGES
    | _CACHE_SYMLINKS | _POSIX_ACL | _HANDLE_KILLPRIV_V2 | _INIT_EXT | _DIRECT_IO_ALLOW_MMAP
    | _PASSTHROUGH | _HAS_RESEND
)  # fmt: skip


def mounts() -> list[Mount]:
    """The mounts of Dyno that this process sees; the source of each is the folder of its cache."""
    text = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape")
    return [mount for mount in parse_mountinfo(text) if mount.fs_type == ACCELERATED]


def find(origin: Path) -> Mount | None:
    """The mount over a folder."""
    return next((mount for mount in mounts() if mount.point == str(origin)), None)


def check_device() -> None:
    """Checks that FUSE can be used.

    Raises:
        TargetError: If not.
    """
    if not Path(DEVICE).exists():
        raise TargetError(
            f"{DEVICE} does not exist. Load the module fuse: modprobe fuse.", kind="io"
        )
    if not os.access(DEVICE, os.R_OK | os.W_OK):
        raise TargetError(f"This user cannot open {DEVICE}. It should have mode 0666.", kind="io")


def mount(origin: Path, cache: Path, *, everyone: bool) -> int:
    """Mounts over ``origin``; returns the descriptor of the FUSE device, before its handshake.

    Raises:
        TargetError: If it cannot be mounted.
    """
    options = f"default_permissions,nosuid,nodev,noatime,max_read={_MAX_REQUEST}"
    if everyone:
        options += ",allow_other"
    if os.geteuid() != 0:
        return _mount_as_user(origin, cache, options)
    fd = os.open(DEVICE, os.O_RDWR | os.O_CLOEXEC)
    mode = oct(origin.stat().st_mode & 0o170000)[2:]
    own = f"fd={fd},rootmode={mode},user_id=0,group_id=0"
    command = [
        "mount",
        "-i",
        "-n",
        "-t",
        ACCELERATED,
        "-o",
        f"{options},{own}",
        str(cache),
        str(origin),
    ]
    try:
        _call(command, [fd])
    except TargetError:
        os.close(fd)
        raise
    return fd


def read_ahead(origin: Path) -> None:
    """Lets the kernel read several requests ahead of a scan; needs root."""
    if (found := find(origin)) is not None:
        with contextlib.suppress(OSError):
            Path(f"/sys/class/bdi/{found.device}/read_ahead_kb").write_text(str(_AHEAD_KB))


def unmount(origin: Path, *, lazy: bool = False) -> None:
    """Unmounts; ``lazy`` also if it is in use, which leaves the users with a mount that fails.

    Raises:
        TargetError: If it is in use, or not mounted.
    """
    if os.geteuid() == 0:
        _call(["umount", "-i", *(["-l"] if lazy else []), str(origin)], [])
    else:
        _call(["fusermount3", "-u", *(["-z"] if lazy else []), "--", str(origin)], [])


def handshake(fd: int) -> bool:
    """Answers the kernel's first request; returns whether the kernel can read files itself.

    Raises:
        TargetError: If the kernel is too old.
    """
    request = os.read(fd, _MAX_REQUEST + (1 << 16))
    _, opcode, unique = struct.unpack_from("<IIQ", request)
    major, minor, ahead, flags = struct.unpack_from("<IIII", request, 40)
    if opcode != _INIT or major != _MAJOR or minor < 31:
        raise TargetError("The kernel's FUSE is too old; Linux 5.4 is needed.", kind="io")
    if flags & _INIT_EXT:
        flags |= struct.unpack_from("<I", request, 56)[0] << 32
    given = flags & _WANTED
    passthrough = bool(given & _PASSTHROUGH)
    answer = struct.pack(
        "<IIIIHHIIHHII24x",
        _MAJOR, min(minor, _MINOR), ahead, given & 0xFFFFFFFF, _BACKGROUND, _BACKGROUND * 3 // 4,
        _MAX_WRITE, 1, _MAX_REQUEST // 4096, 0, given >> 32, int(passthrough),
    )  # fmt: skip
    os.write(fd, struct.pack("<IiQ", 16 + len(answer), 0, unique) + answer)
    return passthrough


def _mount_as_user(origin: Path, cache: Path, options: str) -> int:
    ours, theirs = socket.socketpair()
    name = str(cache).replace("\\", "\\\\").replace(",", "\\,")
    options += f",subtype=dyno,fsname={name}"
    with ours, theirs:
        command = ["fusermount3", "-o", options, "--", str(origin)]
        _call(command, [theirs.fileno()], _FUSE_COMMFD=str(theirs.fileno()))
        _, fds, _, _ = socket.recv_fds(ours, 16, 1)
    if not fds:
        raise TargetError(f"Cannot mount over {origin}: fusermount3 gave no device.", kind="io")
    os.set_inheritable(fds[0], False)
    return fds[0]


def _call(command: Sequence[str], fds: Sequence[int], **environment: str) -> None:
    try:
        done = subprocess.run(
            command, pass_fds=fds, capture_output=True, text=True, check=False,
            env={**os.environ, "LC_ALL": "C", **environment},
        )  # fmt: skip
    except FileNotFoundError as error:
        package = "fuse3" if command[0] == "fusermount3" else "util-linux"
        raise UsageError(f"{command[0]} is missing. Install the package {package}.") from error
    if done.returncode:
        words = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise TargetError(
            f"{command[0]} failed: {words.removeprefix(f'{command[0]}: ')}", kind="io"
        )
