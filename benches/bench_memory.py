"""Resident memory of generator and driver: target ≤ 300 MB whatever the scale and length.

Peak of the whole Dyno process (Python included), from the kernel's account of it. Of larger scales
one part is generated, about as much data as scale 1 whole.
"""

import tempfile
from pathlib import Path

import pyarrow.parquet as pq
from common import BIN, dyno, process, scratch

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
        samples = pq.read_table(Path(document["bundle"]) / "samples.parquet").to_pylist()
        peak = max(
            row["value"] for row in samples if (row["subject"], row["metric"]) == ("dyno", "rss")
        )
        what = f"{users} users for {seconds} s"
        print(f"  drive the null target, {what:29}{peak / 1e6:5.0f} MB  (while driving)")
