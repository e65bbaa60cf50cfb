"""What an agent costs the machine of a database: CPU, memory, and bytes on the network.

Targets: ≤ 1.5 % of a core, ≤ 60 MB, at one sample a second. The agent is a process of its own, and
reads this machine's `/proc` with its devices replaced by as many as asked, all of which work. A
client fetches the ticks as a run does.
`python benches/bench_agent.py [SECONDS]`, 2 × 60 s by default
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil

from dyno.agent.address import agent_address
from dyno.agent.client import Client
from dyno.agent.token import VARIABLE

TOKEN = "a-token-of-the-bench-1234567890"
DISKS = (20, 200)
SERVE = """
import sys, threading
from pathlib import Path
from dyno.agent.listen import Where
from dyno.runner.agent import serve
def ready(url):
    print(url, flush=True)
serve(sys.argv[1], Where(port=0), threading.Event(), ready=ready, root=Path(sys.argv[2]))
"""


def tree(root: Path, disks: int) -> None:
    """A root with this machine's files, and whole disks of which none is built on another."""
    for name in ("stat", "meminfo", "vmstat", "net", "pressure"):
        place = root / "proc" / name
        place.parent.mkdir(exist_ok=True)
        if Path(f"/proc/{name}").exists():
            place.symlink_to(f"/proc/{name}")
    for pid in (one for one in os.listdir("/proc") if one.isdecimal()):  # noqa: PTH208
        (root / "proc" / pid).symlink_to(f"/proc/{pid}")
    for number in range(disks):
        (root / f"sys/block/nvme{number}n1/queue").mkdir(parents=True)


def work(root: Path, disks: int, ended: threading.Event) -> None:
    """Advances the counters of every disk four times a second."""
    done = 0
    while not ended.is_set():
        done += 1
        lines = [
            f"259 {number} nvme{number}n1 {done * 9} 0 {done * 99} {done * 4} {done * 7} 0 "
            f"{done * 88} {done * 5} 0 {done * 6} {done * 9} 0 0 0 0 0 0"
            for number in range(disks)
        ]
        (root / "new").write_text("\n".join(lines) + "\n")
        (root / "new").replace(root / "proc" / "diskstats")
        ended.wait(0.25)


def measure(disks: int, seconds: float) -> str:
    """One line of the table."""
    root, ended = Path(tempfile.mkdtemp()), threading.Event()
    tree(root, disks)
    worker = threading.Thread(target=work, args=(root, disks, ended))
    worker.start()
    words = [sys.executable, "-c", SERVE, TOKEN, str(root)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as agent:
        try:
            assert agent.stdout is not None
            client = Client.at(agent_address(agent.stdout.readline().strip()))
            process = psutil.Process(agent.pid)
            last, size, samples, ticks = client.hello().last, 0, 0, 0
            before, start = process.cpu_times(), time.monotonic()
            while time.monotonic() - start < seconds:
                time.sleep(1)
                for entry in client.entries(last):
                    last, ticks = entry.number, ticks + 1
                    size += len(entry.model_dump_json())
                    samples += len(entry.samples)
            after, took = process.cpu_times(), time.monotonic() - start
            used = after.user + after.system - before.user - before.system
            rss = process.memory_info().rss / 1e6
            client.close()
        finally:
            agent.terminate()
            ended.set()
            worker.join()
            shutil.rmtree(root)
    per_tick = f"{size / took:10.0f} {samples / max(ticks, 1):10.0f}"
    return f"{disks:6d} {100 * used / took:10.2f} {rss:8.1f} {per_tick} {ticks:6d}"


if __name__ == "__main__":
    given_s = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    os.environ[VARIABLE] = TOKEN
    print(f"{len(psutil.pids())} processes on the machine")
    print(" disks CPU % core   RSS MB    bytes/s    samples  ticks")
    for count in DISKS:
        print(measure(count, given_s), flush=True)
