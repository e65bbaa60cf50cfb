"""Machines made of captured texts: a folder with ``proc`` and ``sys`` as kernels show them."""

from __future__ import annotations

from pathlib import Path

GB = 1_000_000_000

# One core with two threads.
CPUINFO_X86 = """\
processor\t: 0
vendor_id\t: AuthenticAMD
model name\t: AMD EPYC 9354P 32-Core Processor
cpu MHz\t\t: 3250.000
physical id\t: 0
core id\t\t: 0
flags\t\t: fpu vme de pse tsc msr pae

processor\t: 1
vendor_id\t: AuthenticAMD
model name\t: AMD EPYC 9354P 32-Core Processor
cpu MHz\t\t: 3750.500
physical id\t: 0
core id\t\t: 0
flags\t\t: fpu vme de pse tsc msr pae
"""

CPUINFO_GUEST = CPUINFO_X86.replace("msr pae", "msr pae hypervisor").replace("3750.500", "Unknown")

CPUINFO_ARM = """\
processor\t: 0
BogoMIPS\t: 243.75
Features\t: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics
CPU implementer\t: 0x41
CPU architecture: 8
CPU variant\t: 0x1
CPU part\t: 0xd40
CPU revision\t: 1
"""

MEMINFO = """\
MemTotal:       16384000 kB
MemFree:         1024000 kB
MemAvailable:    8192000 kB
Buffers:          102400 kB
Cached:          4096000 kB
SwapCached:            0 kB
Dirty:              2048 kB
SwapTotal:       2097148 kB
SwapFree:        1048572 kB
HugePages_Total:     512
HugePages_Free:      256
Hugepagesize:       2048 kB
"""

MEMINFO_3_10 = """\
MemTotal:       16384000 kB
MemFree:         1024000 kB
Buffers:          100000 kB
Cached:          4000000 kB
"""

MOUNTS = """\
21 26 0:20 / /proc rw,nosuid,nodev,noexec,relatime shared:12 - proc proc rw
26 1 253:0 / / rw,relatime shared:1 - xfs /dev/mapper/vg-root rw,attr2,inode64,noquota
30 26 8:1 / /boot rw,relatime shared:29 - ext4 /dev/sda1 rw
31 26 0:45 / /tmp rw,nosuid,nodev shared:30 - tmpfs tmpfs rw,size=8192000k
32 26 9:0 / /data rw,noatime shared:31 - xfs /dev/md0 rw,attr2
33 26 0:46 /sub /home\\040of\\040all rw,relatime shared:32 - btrfs /dev/sdd1 rw,subvolid=257
34 26 0:47 / /net rw,relatime shared:33 - nfs4 filer:/export rw,vers=4.2
35 26 0:48 / /merged rw - overlay overlay rw,lowerdir=/l,upperdir=/data/upper,workdir=/data/w
36 26 0:49 / /hidden rw - overlay overlay rw,lowerdir=/l,upperdir=/nowhere/upper,workdir=/w
37 26 0:50 / /fuse rw - fuse.sshfs me@there: rw
"""


def write(root: Path, files: dict[str, str]) -> Path:
    """Writes texts at paths below ``root``."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def add_disk(
    root: Path,
    name: str,
    number: str,
    *,
    partitions: dict[str, str] | None = None,
    on: tuple[str, ...] = (),
    files: dict[str, str] | None = None,
) -> None:
    """Adds a whole device to ``sys`` with its partitions (name → number), built on others."""
    home = root / "sys/devices/block" / name
    links = {name: (home, number)}
    home.mkdir(parents=True)
    for folder in ("holders", "slaves", "queue"):
        (home / folder).mkdir()
    for index, (part, part_number) in enumerate((partitions or {}).items(), 1):
        (home / part / "holders").mkdir(parents=True)
        (home / part / "partition").write_text(f"{index}\n", encoding="utf-8")
        links[part] = (home / part, part_number)
    for below in on:
        carrier = (root / "sys/class/block" / below).resolve()
        (home / "slaves" / below).symlink_to(carrier)
        (carrier / "holders" / name).symlink_to(home)
    write(home, files or {})
    for folder in ("sys/block", "sys/class/block", "sys/dev/block"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    (root / "sys/block" / name).symlink_to(home)
    for link, (target, link_number) in links.items():
        (root / "sys/class/block" / link).symlink_to(target)
        (root / "sys/dev/block" / link_number).symlink_to(target)


def server(root: Path) -> Path:
    """A server: a volume group beside /boot on sda, a mirror of sdb and sdc, btrfs on sdd + sde."""
    flash = {
        "queue/rotational": "0\n",
        "queue/scheduler": "[none] mq-deadline kyber\n",
        "queue/write_cache": "write back\n",
        "queue/nr_requests": "1023\n",
        "queue/read_ahead_kb": "4096\n",
        "queue/max_sectors_kb": "1280\n",
        "queue/logical_block_size": "512\n",
        "queue/physical_block_size": "4096\n",
        "device/model": "Fast Flash 960   \n",
        "size": "1875385008\n",
    }
    add_disk(root, "sda", "8:0", partitions={"sda1": "8:1", "sda2": "8:2"}, files=flash)
    write(root, {"sys/devices/block/sda/sda2/start": "2048\n"})
    add_disk(root, "dm-0", "253:0", on=("sda2",))
    add_disk(root, "dm-1", "253:1", on=("sda2",))
    for name, number in (("sdb", "8:16"), ("sdc", "8:32")):
        add_disk(root, name, number, files={**flash, "queue/rotational": "1\n"})
    add_disk(root, "md0", "9:0", on=("sdb", "sdc"))
    add_disk(root, "sdd", "8:48", partitions={"sdd1": "8:49"}, files=flash)
    add_disk(root, "sde", "8:64", files=flash)
    add_disk(root, "loop0", "7:0")
    add_disk(root, "loop1", "7:1")
    add_disk(root, "zram0", "252:0")
    for name in ("sdd/sdd1", "sde"):
        devices = root / "sys/fs/btrfs/3f0c/devices"
        devices.mkdir(parents=True, exist_ok=True)
        target = root / "sys/devices/block" / name
        (devices / target.name).symlink_to(target)
    card = {"type": "1", "mtu": "9000", "speed": "10000", "duplex": "full", "operstate": "up"}
    write(root, {f"sys/class/net/eth0/{name}": text for name, text in card.items()})
    return write(root, {"proc/self/mountinfo": MOUNTS})
