"""What lies under a volume, and who else uses it."""

from __future__ import annotations

from pathlib import Path

import pytest

from dyno.host.cgroup import io_limits
from dyno.host.fields import VOLUME
from dyno.host.volume import in_use, read_only, volume_facts
from tests.host.machine import CPUINFO_GUEST, CPUINFO_X86, MEMINFO, MOUNTS, server, write

CGROUP_2 = {
    "proc/self/cgroup": "0::/slice/run\n",
    "sys/fs/cgroup/slice/io.max": "9:0 rbps=1000000 wbps=max riops=500 wiops=max\n8:0 wbps=5\n",
    "sys/fs/cgroup/slice/run/io.max": "9:0 rbps=2000000 wbps=max riops=max wiops=70\n",
}
V2 = "29 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The server, with memory and the numbers of its devices."""
    made = server(tmp_path)
    for link in (made / "sys/dev/block").iterdir():
        write(link.resolve(), {"dev": f"{link.name}\n"})
    return write(
        made,
        {
            "proc/meminfo": MEMINFO,
            "proc/cpuinfo": CPUINFO_X86,
            "sys/block/md0/md/level": "raid1\n",
            "sys/block/dm-0/dm/uuid": "LVM-abc\n",
        },
    )


def test_every_fact_is_documented(root: Path) -> None:
    assert volume_facts(root, root).keys() == VOLUME.keys()


def test_a_mounted_array(root: Path) -> None:
    write(root, {**CGROUP_2, "proc/self/mountinfo": MOUNTS + V2, "sys/block/md0/size": "2048\n"})
    facts = volume_facts(Path("/dev/md0"), root)
    assert facts == {
        "device": "md0",
        "model": "Fast Flash 960",
        "rotational": True,
        "write_cache": "write back",
        "virtual": False,
        "remote": False,
        "filesystem": "xfs",
        "mount_options": ["rw", "noatime", "attr2"],
        "raid": "raid1",
        "in_memory": None,
        "members": ["sdb", "sdc"],
        "largest_request_bytes": 1280 * 1024,
        "link": None,
        "link_mbps": None,
        "memory_bytes": 16384000 * 1024,
        "cgroup_limit": {"rbps": 1_000_000, "riops": 500, "wiops": 70},
        "size_bytes": 1 << 20,
    }


def test_a_folder_on_a_volume_group(root: Path) -> None:
    facts = volume_facts(Path("/"), root)
    assert (facts["device"], facts["raid"], facts["members"]) == ("dm-0", "LVM", ["sda"])
    assert facts["filesystem"] == "xfs"
    assert facts["cgroup_limit"] is None
    assert facts["size_bytes"] > 0
    file = write(root, {"some/file": "12345"}) / "some/file"
    assert volume_facts(file, root)["size_bytes"] == 5


@pytest.mark.parametrize(
    ("files", "virtual", "remote"),
    [
        ({}, False, False),
        ({"sys/block/sda/device/model": "QEMU HARDDISK\n"}, True, False),
        ({"sys/block/sda/device/vendor": "Msft\n"}, True, False),
        ({"proc/cpuinfo": CPUINFO_GUEST}, True, False),
        ({"sys/block/sda/device/transport": "tcp\n"}, False, True),
    ],
)
def test_what_is_virtual_or_far(
    root: Path, files: dict[str, str], virtual: bool, remote: bool
) -> None:
    facts = volume_facts(Path("/dev/sda"), write(root, files))
    assert (facts["virtual"], facts["remote"]) == (virtual, remote)


def test_limits_of_version_1(root: Path) -> None:
    mount = "32 31 0:29 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio\n"
    folder = "sys/fs/cgroup/blkio/job/blkio.throttle"
    write(
        root,
        {
            "proc/self/cgroup": "5:blkio:/job\n",
            "proc/self/mountinfo": mount,
            f"{folder}.write_bps_device": "8:0 4096\n8:16 1\n",
            f"{folder}.read_iops_device": "8:0 10\nnonsense\n",
        },
    )
    assert io_limits({"8:0"}, root) == {"wbps": 4096, "riops": 10}
    assert io_limits({"8:32"}, root) == {}


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"backing_file": "/home/image", "dio": "0"}, "loop1 uses the page cache"),
        ({"backing_file": "/data/image", "dio": "1"}, None),
        ({"backing_file": "/run/image", "dio": "1"}, "loop1 is a file on tmpfs, which is memory"),
        ({}, None),
    ],
)
def test_what_is_memory(root: Path, files: dict[str, str], words: str | None) -> None:
    write(root, {f"sys/block/loop1/loop/{name}": f"{text}\n" for name, text in files.items()})
    tmpfs = "40 1 0:99 / /run rw - tmpfs tmpfs rw\n"
    write(root, {"proc/self/mountinfo": MOUNTS + tmpfs})
    assert str(volume_facts(Path("/dev/loop1"), root)["in_memory"]).partition(" (")[0] == str(words)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/dev/sda", "sda1 is mounted on /boot"),
        ("/dev/sda2", "sda2 is part of dm-0, dm-1"),
        ("/dev/md0", "md0 is mounted on /data"),
        ("/dev/sdb", "sdb is part of md0"),
        ("/dev/sdd", "sdd1 is mounted on /home of all"),
        ("/dev/sde", "sde is part of a mounted btrfs file system"),
        ("/dev/dm-1", "dm-1 is used for swap"),
        ("/dev/loop1", None),
    ],
)
def test_who_uses_a_device(root: Path, path: str, words: str | None) -> None:
    write(root, {"proc/swaps": "Filename Type Size Used Priority\n/dev/dm-1 partition 9 0 -2\n"})
    assert in_use(Path(path), root) == words


def test_a_device_that_takes_no_writes(root: Path) -> None:
    assert not read_only(Path("/dev/loop1"), root)
    write(root, {"sys/block/loop1/ro": "1\n"})
    assert read_only(Path("/dev/loop1"), root)
    assert not read_only(root, root)


def test_who_uses_a_file(root: Path) -> None:
    file = write(root, {"swap file": "", "image": ""}) / "swap file"
    text = str(file).replace(" ", "\\040")
    write(
        root,
        {
            "proc/swaps": f"Filename Type Size Used Priority\n{text} file 9 0 -2\n",
            "sys/block/loop0/loop/backing_file": f"{root / 'image'}\n",
        },
    )
    assert in_use(file, root) == f"{file} is used for swap"
    assert in_use(root / "image", root) == f"{root / 'image'} backs loop0"
    assert in_use(root, root) is None
