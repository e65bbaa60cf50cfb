"""A private PostgreSQL on a slow disk, without and with flash: the studies of the accelerator.

The disk is a loop device that takes at most so many requests and bytes a second, as a few hard
disks do; flash is a folder on this disk. Effects sought (published ones of a cache on flash for SQL
Server): the longest queries in less than a third of the time, nine times as many new orders. Needs
root and version 1 of the control group blkio.
`python benches/bench_accelerate_database.py [FOLDER [STUDY [PAIRS]]]`
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from bench_accelerate import MB, loop, throttled
from common import BIN

DISK = {"read_iops": 1000, "write_iops": 1000, "read_bps": 150 * MB, "write_bps": 150 * MB}
STUDIES = ("accelerate-dss", "accelerate-oltp")


def run(study: str, slow: Path, flash: Path, pairs: str) -> None:
    words = [str(BIN / "dyno"), "study", study, "--out", str(slow), "--no-early-stop", "--quiet",
             "--with", f"run.flash={flash}"]  # fmt: skip
    words += ["--with", f"load.flash={flash}"] if study.endswith("oltp") else []
    words += ["--pairs", pairs] if pairs else []
    subprocess.run(words, check=False)
    subprocess.run([str(BIN / "dyno"), "study", "show", str(slow / "studies" / study)], check=True)


def main() -> None:
    above, wanted, pairs = [*sys.argv[1:], *("/var/tmp", "", "")[len(sys.argv) - 1 :]]
    for study in STUDIES:
        if wanted not in ("", study):
            continue
        with tempfile.TemporaryDirectory(dir=above) as name, loop(Path(name)) as (slow, device):
            flash = Path(name) / "flash"
            flash.mkdir()
            Path(name).chmod(0o711)
            with throttled(device, **DISK):
                print(f"\n{study}", flush=True)
                run(study, slow, flash, pairs)


if __name__ == "__main__":
    main()
