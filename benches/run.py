"""Runs every benchmark here and keeps what it printed beside it.

python benches/run.py [NAME …]
"""

from __future__ import annotations

import platform
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent


def main() -> None:
    wanted = sys.argv[1:]
    for script in sorted(HERE.glob("bench_*.py")):
        name = script.stem.removeprefix("bench_")
        if wanted and name not in wanted:
            continue
        print(f"== {name}", flush=True)
        start = time.monotonic()
        done = subprocess.run(
            [sys.executable, script], stdout=subprocess.PIPE, text=True, check=False
        )
        head = f"# {time.strftime('%Y-%m-%d', time.gmtime())}, {machine()}\n# {script.name}\n\n"
        tail = "" if done.returncode == 0 else f"\nENDED WITH {done.returncode}\n"
        text = head + done.stdout + tail
        script.with_name(f"{name}.txt").write_text(text, encoding="utf-8")
        print(text, f"({time.monotonic() - start:.0f} s)", flush=True)


def machine() -> str:
    cpu = next(
        line.split(":")[1].strip()
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        if line.startswith("model name")
    )
    import os

    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    return (
        f"{len(os.sched_getaffinity(0))} CPUs ({cpu}), {memory:.0f} GB, Linux {platform.release()}"
    )


if __name__ == "__main__":
    main()
