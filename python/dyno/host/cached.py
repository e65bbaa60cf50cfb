"""Block devices that answer from this machine's memory, whatever O_DIRECT asks of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from dyno.host.block import member_disks, whole_disk
from dyno.host.files import ROOT, read_text
from dyno.host.mounts import Mount, mount_of
from dyno.host.storage import devices_under, fs_kind

_MEMORY = re.compile(r"(zram|ram)\d+")


def memory_behind(disk: Path, mounts: Sequence[Mount], root: Path = ROOT) -> str | None:
    """Why a disk's results are those of memory; None if nothing indicates it.

    A loop device uses the page cache for its file, unless set up with ``losetup --direct-io=on``.
    Its file may also be in memory, or on such a device.

    Args:
        disk: Folder of a disk in ``/sys``, below all stacked block devices.
        mounts: Of this machine.
        root: Where ``/sys`` lies.
    """
    name = whole_disk(disk).name
    if _MEMORY.fullmatch(name):
        return f"{name} is memory"
    file = read_text(whole_disk(disk) / "loop/backing_file")
    if file is None:
        return None
    if read_text(whole_disk(disk) / "loop/dio") != "1":
        return f"{name} uses the page cache (losetup --direct-io=on bypasses it)"
    mount = mount_of(Path(file), mounts)
    if mount is None:
        return None
    if fs_kind(mount.fs_type) == "memory":
        return f"{name} is a file on {mount.fs_type}, which is memory"
    below = (
        memory_behind(member, mounts, root)
        for device in devices_under(mount, mounts, root)
        for member in member_disks(device)
        if member.name != name
    )
    return next((words for words in below if words), None)
