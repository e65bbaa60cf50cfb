"""Resident memory of generator and driver: target ≤ 300 MB whatever the scale and length; and of
the observer: target ≤ 60 MB.

Peak of the whole Dyno process (Python included), from the kernel's account of it. Of larger scales
one part is generated, about as much data as scale 1 whole. The observer is measured beside a run on
a private PostgreSQL, by its own samples: `dyno watch` and the run read the machine once a second
and the database's sessions ten times; the run drives, too. Every ten minutes a child of `dyno
watch` compresses samples, for about a second; the analysis begins when the recording has ended.
"""

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from common import BIN, dyno, process, scratch

from dyno import host, targets

OBSERVED_S = 60


def resident(document: dict[str, Any]) -> float:
    """The most that a run sampled of Dyno's own memory, in MB."""
    samples = pq.read_table(Path(document["bundle"]) / "samples.parquet").to_pylist()
    return (
        max(row["value"] for row in samples if (row["subject"], row["metric"]) == ("dyno", "rss"))
        / 1e6
    )


def observers() -> tuple[float, float]:
    """MB of `dyno watch` and of the run beside it."""
    with scratch() as folder:
        out = Path(folder)
        url = targets.parse("embedded:postgresql")
        with targets.open_target(url, out, host.limits(host.collect(out))) as target:
            wire = target.wire()
            at = f"postgresql:///{wire['database']}?host={wire['host']}&port={wire['port']}" \
                 f"&user={wire['user']}"  # fmt: skip
            words = ("--target", at, "--out", folder)
            dyno("load", "tpcc", *words, "--scale", "1")
            level = ("--users", "4", "--warmup", "1s", "--duration", f"{OBSERVED_S}s")
            run = [BIN / "dyno", "run", "tpcc", *words, *level, "--json", "--quiet"]
            with subprocess.Popen(run, stdout=subprocess.PIPE) as beside:
                watched = dyno("watch", at, "--for", f"{OBSERVED_S}s", "--out", out / "watch")
                assert beside.stdout is not None
                driven: dict[str, Any] = json.loads(beside.stdout.read())
        return resident(watched), resident(driven)


print("peak resident memory of the whole Dyno process (target: 300 MB)")
for scale, parts in (("1", "1"), ("1", "4"), ("10", "10"), ("1000", "1000")):
    with scratch() as folder:
        run = process(
            BIN / "dyno", "generate", "tpch", "--format", "tbl", "--to", folder, "--scale", scale,
            "--parts", parts, "--part", "1", "--quiet",
        )  # fmt: skip
        size = sum(file.stat().st_size for file in Path(folder).glob("*.tbl"))
    what = f"scale {scale}, 1 of {parts} parts ({size / 1e6:.0f} MB)"
    print(f"  generate TPC-H {what:36}{run.peak_bytes / 1e6:5.0f} MB")
with tempfile.TemporaryDirectory() as out:
    for users, seconds in (("16", "10"), ("16", "60"), ("1000", "10")):
        document = dyno(
            "run", "tpcc", "--target", "null:?mean_us=1000&scale=100", "--users", users,
            "--warmup", "1s", "--duration", f"{seconds}s", "--out", out,
        )  # fmt: skip
        what = f"{users} users for {seconds} s"
        peak = resident(document)
        print(f"  drive the null target, {what:29}{peak:5.0f} MB  (while driving)")
print(f"resident memory while PostgreSQL is observed for {OBSERVED_S} s (target: 60 MB to watch)")
for what, peak in zip(("dyno watch", "dyno run tpcc, driver included"), observers(), strict=True):
    print(f"  {what:52}{peak:5.0f} MB")
