"""What the driver itself can do, shown on modelled servers whose answers cost next to nothing.

Targets: 2 million transactions a second and core through pacing and histograms; 50,000 a second in
an open loop with p99 of the schedule lag ≤ 200 µs; 1,000 users in ≤ 400 MB; ≤ 50 MB of bundle an
hour. `point_select` is one statement, so that pacing and histograms are what is timed; `tpcc` also
draws inputs and goes through every statement.
"""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from common import dyno, scratch

from dyno import _core
from dyno.model import Clock

POINT = {"point_select": {"sql": "select c from points where id = $1", "keys": 100_000}}
ROUNDS = 5
SECONDS = 5.0
MINUTE = 60


def drive(folder: Path, **changes: Any) -> dict[str, Any]:
    plan = {
        "wire": {"kind": "null"}, "workload": POINT, "warehouses": 10, "seed": 1, "c_load": 7,
        "users": 1, "loop": {"kind": "closed"}, "warmup_s": 1.0, "duration_s": SECONDS,
        "threads": 1, "clock": Clock.now().model_dump(), "spool": str(folder / "ops.jsonl"),
    }  # fmt: skip
    return json.loads(_core.drive(json.dumps({**plan, **changes}), _core.Control()))


def rates(folder: Path) -> None:
    print("closed loop, one thread, every answer at once (target 2 M transactions/s and core)")
    for name, workload in (("point_select", POINT), ("tpcc", "tpcc")):
        for users in (1, 64):
            seen = [drive(folder, workload=workload, users=users) for _ in range(ROUNDS)]
            # The gathering thread's time counts: it is on a core as well.
            core = statistics.median(it["tps"] * it["seconds"] / it["client_cpu_s"] for it in seen)
            tps = statistics.median(it["tps"] for it in seen)
            print(
                f"  {name:<13}{users:>3} users {tps / 1e6:6.2f} M/s, {core / 1e6:6.2f} M a second "
                f"of CPU, {1e9 / core:5.0f} ns each",
                flush=True,
            )


def lags(folder: Path) -> None:
    print("\nopen loop, one thread, 64 sessions, 50,000/s (target: p99 of the lag 200 µs)")
    for poisson in (False, True):
        for mean_ms in (0.0, 0.2):
            loop = {"kind": "open", "rate_per_s": 50_000, "poisson": poisson}
            wire = {"kind": "null", "mean_ms": mean_ms}
            seen = [drive(folder, loop=loop, wire=wire, users=64) for _ in range(ROUNDS)]
            lag = statistics.median(it["lag_p99_ms"] for it in seen) * 1000
            busy = statistics.median(it["thread_utilisation_max"] for it in seen) * 100
            kept = min(it["tps"] for it in seen)
            print(
                f"  {'random' if poisson else 'even':<7} gaps, service {mean_ms * 1000:>3.0f} µs: "
                f"p99 {lag:5.0f} µs, {kept:6.0f}/s at least, thread {busy:3.0f} % busy, "
                f"late {sum(it['late'] for it in seen)}, unsent {sum(it['unsent'] for it in seen)}",
                flush=True,
            )


def run(out: Path, mean_us: int, users: int, seconds: int) -> Path:
    document = dyno(
        "run", "tpcc", "--target", f"null:?mean_us={mean_us}&distribution=exponential&scale=100",
        "--users", str(users), "--warmup", "1s", "--duration", f"{seconds}s", "--out", out,
    )  # fmt: skip
    return Path(document["bundle"])


def memory(out: Path) -> None:
    samples = pq.read_table(run(out, 10_000, 1000, 15) / "samples.parquet").to_pylist()
    peak = max(
        row["value"] for row in samples if (row["subject"], row["metric"]) == ("dyno", "rss")
    )
    print(f"\n1,000 users: {peak / 1e6:.0f} MB resident, the whole process (target 400)")


def sizes(out: Path) -> None:
    print("\nbundle of an hour, from one of a minute (target 50 MB)")
    for mean_us, users in ((5_000, 16), (1_000, 16), (200, 16)):
        bundle = run(out, mean_us, users, MINUTE)
        growing = [*(bundle / "ops").iterdir(), bundle / "samples.parquet"]
        grows = sum(file.stat().st_size for file in growing)
        rest = sum(file.stat().st_size for file in bundle.rglob("*") if file.is_file()) - grows
        (ops,) = (bundle / "ops").glob("*.parquet")
        hour = grows * 3600 / (MINUTE + 1) + rest
        print(
            f"  {users} users, {mean_us / 1000:g} ms on average: {hour / 1e6:5.1f} MB "
            f"({ops.stat().st_size / (MINUTE + 1) / 1e3:.1f} kB a second of histograms)",
            flush=True,
        )


def main() -> None:
    with scratch() as folder:
        rates(Path(folder))
        lags(Path(folder))
        memory(Path(folder))
        sizes(Path(folder))


main()
