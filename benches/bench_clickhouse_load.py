"""SF 1 from nothing into ClickHouse, against Parquet files and the engine's own importer.

The peer writes Parquet files with `tpchgen-cli` first, as its users do, and inserts them with
chdb's `file()`: into the same tables, in a process of its own, with as many threads. Neither side's
time contains the merge of parts that follows.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

from alone import alone, remark
from common import BIN, dyno, pairs, scratch

from dyno import host, targets
from dyno.contracts import schema
from dyno.targets.clickhouse import settings

ROUNDS = 3
IMPORT = """
import sys, chdb
folder, files, setup, *tables = sys.argv[1:]
session = chdb.connect(folder)
session.query(setup)
for table in tables:
    session.query(
        f"INSERT INTO dyno_tpch.{table} SELECT * FROM file('{files}/{table}.parquet', Parquet)"
    )
session.close()
"""


def ours(out: Path) -> float:
    document = dyno(
        "load", "tpch", "--target", "embedded:clickhouse", "--scale", "1", "--streams", "2",
        "--replace", "--out", out,
    )  # fmt: skip
    return document["tpch"]["engines"]["clickhouse"]["load_s"]


def imported(out: Path) -> float:
    """Parquet files, then `INSERT … SELECT FROM file(…)` for each."""
    folder = out / "peer"
    shutil.rmtree(folder, ignore_errors=True)
    limits = host.limits(host.collect(out))
    with targets.open_target(targets.parse(f"clickhouse://{folder}"), out, limits) as target:
        target.create_tables("tpch", replace=True)
    setup = settings.statement(settings.session_settings(limits))
    files = out / "files"
    files.mkdir(exist_ok=True)
    start = time.monotonic()
    subprocess.run(
        [BIN / "tpchgen-cli", "parquet", "-s", "1", "--output-dir", files, "-q"],
        check=True, capture_output=True,
    )  # fmt: skip
    tables = schema.table_names("tpch")
    subprocess.run([sys.executable, "-c", IMPORT, folder, files, setup, *tables], check=True)
    return time.monotonic() - start


def main() -> None:
    print(f"median of {ROUNDS}; ratio = peer / Dyno, pair by pair\n")
    with scratch() as folder:
        out = Path(folder)
        mine, peer, ratio = pairs(ROUNDS, lambda: ours(out), lambda: imported(out))
        print(f"{'SF 1 to ClickHouse':34}{mine:6.1f} s   peer {peer:5.1f} s   {ratio:.2f} x")
        print(remark(alone("clickhouse", out, ROUNDS), peer))


main()
