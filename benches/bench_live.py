"""The live page on 10 h of samples of 20 volumes, with TPC-C's operations: load, frames, CPU.

The bundle is made up, one row a second and series; page and browser are real. Times are of this
machine, browser included.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

sys.path.insert(0, str(Path(__file__).parents[1]))

from dyno.bundle.tables import Table
from tests import bundle_data as data
from tests.browser.chrome import FLAGS
from tests.bundle_rows import histogram
from tests.bundles import Builder
from tests.live.served import served

HOURS, VOLUMES, DIFFERENT = 10, 20, 5000
VOLUME = ("read_iops", "write_iops", "read_mbps", "write_mbps", "read_share", "io_size",
          "read_await", "write_await", "queue_length", "utilisation")  # fmt: skip
MACHINE = (*(("cpu", "host", name) for name in ("user", "system", "iowait", "steal", "busy")),
           *(("memory", "host", name) for name in ("available", "cached", "dirty")))  # fmt: skip

FRAMES = """
const told = arguments[arguments.length - 1];
const start = performance.now();
let frames = 0;
function step(now) {
  frames += 1;
  window.scrollTo(0, (frames * 40) % document.documentElement.scrollHeight);
  if (now - start < 3000) requestAnimationFrame(step);
  else told(1000 * frames / (now - start));
}
requestAnimationFrame(step);
"""


def bundle(folder: Path, *, operations: bool) -> Path:
    builder = Builder(folder / "20261120T140000Z-ab12")
    builder.machine()
    path = builder.write().path
    seconds = HOURS * 3600
    keys = [*MACHINE, *(("disk", f"nvme{at}n1", name) for at in range(VOLUMES) for name in VOLUME)]
    columns = [np.array([key[part] for key in keys], dtype=object) for part in range(3)]
    chance = np.random.default_rng(1)
    with pq.ParquetWriter(path / "samples.parquet", Table.SAMPLES.schema()) as writer:
        step = 3600
        for start in range(0, seconds, step):
            moments = data.START_NS + (start + np.arange(step)) * data.SECOND
            texts = [pa.array(np.tile(column, step)) for column in columns]
            value = chance.gamma(2, 20, step * len(keys))
            unit = pa.array(np.full(step * len(keys), "1", dtype=object))
            arrays = [pa.array(np.repeat(moments, len(keys))), *texts, pa.array(value), unit]
            writer.write_table(pa.table(arrays, schema=Table.SAMPLES.schema()))
    if operations:
        # More than a batch of rows has: no two of it are the same, as in a real run.
        some = [histogram(400, 4 + at / 2000) for at in range(DIFFERENT)]
        rows: dict[str, Any] = {
            "t_ns": np.repeat(data.START_NS + np.arange(seconds) * data.SECOND, 5),
            "seconds": np.ones(5 * seconds),
            "phase": ["measure"] * (5 * seconds),
            "op": ["new_order", "payment", "order_status", "delivery", "stock_level"] * seconds,
            "done": np.full(5 * seconds, 400),
            "rolled_back": np.zeros(5 * seconds, int),
            "response": [some[at % DIFFERENT] for at in range(5 * seconds)],
        }
        schema = Table.OPS.schema()
        empty = {name: [None] * (5 * seconds) for name in schema.names if name not in rows}
        pq.write_table(pa.table({**empty, **rows}, schema=schema), path / "ops" / "users-8.parquet")
    return path


def browser(profile: str) -> webdriver.Chrome:
    options = Options()
    options.binary_location = str(shutil.which("chromium"))
    for flag in [*FLAGS, f"--user-data-dir={profile}"]:
        options.add_argument(flag)
    return webdriver.Chrome(options=options, service=Service(str(shutil.which("chromedriver"))))


def measure(path: Path) -> str:
    with served(path) as page, tempfile.TemporaryDirectory() as profile:
        server = psutil.Process(page.process.pid)
        chrome = browser(profile)
        start = time.perf_counter()
        chrome.get(page.url)
        paint = chrome.execute_script(
            "return performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
        )
        reading = "return document.getElementById('state').textContent"
        shown = "return Number(document.body.dataset.shown || 0)"
        while not chrome.execute_script(shown) or "reading" in chrome.execute_script(reading):
            time.sleep(0.02)
        loaded = time.perf_counter() - start
        frames = chrome.execute_async_script(FRAMES)
        before = sum(server.cpu_times()[:2])
        time.sleep(10)
        cpu = (sum(server.cpu_times()[:2]) - before) / 10
        memory = server.memory_info().rss / 1e6
        chrome.quit()
    return (f"first paint {paint or 0:5.0f} ms, whole {loaded:5.2f} s, {frames:3.0f} frames/s, "
            f"server {cpu:.1%} of a core, {memory:.0f} MB")  # fmt: skip


def main() -> None:
    print(f"{HOURS} h at 1 Hz, {VOLUMES} volumes; {time.strftime('%Y-%m-%d')}")
    for operations, what in ((False, "samples alone"), (True, "with 5 operations")):
        with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
            print(f"{what:18} {measure(bundle(Path(folder), operations=operations))}", flush=True)


if __name__ == "__main__":
    main()
