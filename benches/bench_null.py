"""What the driver itself can do, shown on modelled servers whose answers cost next to nothing.

Targets: 2 million transactions a second and core through pacing and histograms; 50,000 a second in
an open loop with p99 of the schedule lag ≤ 200 µs; 1,000 users on 2 cores in ≤ 400 MB, which stays
flat; ≤ 50 MB of bundle an hour. `point_select` is one statement, so that pacing and histograms are
what is timed; `tpcc` also draws inputs and goes through every statement.

About 95 s as it is. For longer looks: `--rounds`, `--seconds` (of each round of the driver alone)
and `--run-seconds` (of each whole run, whose bundle is weighed).
"""

from __future__ import annotations

import argparse
import json
import statistics
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from common import dyno, scratch

from dyno import _core
from dyno.bundle.model import Clock

POINT = {
    "kind": "point_select",
    "params": {"sql": "select c from points where id = $1", "keys": 100_000},
}
TPCC = {"kind": "tpcc", "params": {"warehouses": 10, "c_load": 7}}
WARMUP_S = 0.5


class Bench:
    """How long to look, and where files go meanwhile."""

    def __init__(self, given: argparse.Namespace, folder: Path) -> None:
        self.rounds: int = given.rounds
        self.seconds: float = given.seconds
        self.run_seconds: int = given.run_seconds
        self.folder = folder

    def drive(self, **changes: Any) -> list[dict[str, Any]]:
        """The driver alone, some times."""
        plan = {
            "wire": {"kind": "null"}, "workload": POINT, "seed": 1, "users": 1,
            "loop": {"kind": "closed"}, "warmup_s": WARMUP_S,
            "duration_s": self.seconds, "threads": 1, "clock": Clock.now().model_dump(),
            "spool": str(self.folder / "ops.jsonl"), **changes,
        }  # fmt: skip
        text = json.dumps(plan)
        return [json.loads(_core.drive(text, _core.Control())) for _ in range(self.rounds)]

    def run(self, mean_us: int, users: int) -> Path:
        """A whole run, with everything that is observed; returns its bundle."""
        target = f"null:?mean_us={mean_us}&distribution=exponential&scale=100"
        document = dyno(
            "run", "tpcc", "--target", target, "--users", str(users), "--warmup", "1s",
            "--duration", f"{self.run_seconds}s", "--out", self.folder / "runs",
        )  # fmt: skip
        return Path(document["bundle"])


def rates(bench: Bench) -> None:
    print("closed loop, one thread, every answer at once (target 2 M transactions/s and core)")
    for name, workload in (("point_select", POINT), ("tpcc", TPCC)):
        for users in (1, 64):
            seen = bench.drive(workload=workload, users=users)
            # The gathering thread's time counts: it is on a core as well.
            core = statistics.median(it["tps"] * it["seconds"] / it["client_cpu_s"] for it in seen)
            tps = statistics.median(it["tps"] for it in seen)
            print(
                f"  {name:<13}{users:>3} users {tps / 1e6:6.2f} M/s, {core / 1e6:6.2f} M a second "
                f"of CPU, {1e9 / core:5.0f} ns each",
                flush=True,
            )


def lags(bench: Bench) -> None:
    print("\nopen loop, 50,000/s (target: p99 of the lag 200 µs)")
    few = [(1, 64, poisson, mean_ms) for poisson in (False, True) for mean_ms in (0.0, 0.2)]
    for threads, users, poisson, mean_ms in [*few, (2, 1000, False, 0.2), (2, 1000, True, 0.2)]:
        loop = {"kind": "open", "rate_per_s": 50_000, "poisson": poisson}
        wire = {"kind": "null", "mean_ms": mean_ms}
        seen = bench.drive(loop=loop, wire=wire, users=users, threads=threads)
        found = sorted(it["lag_p99_ms"] * 1000 for it in seen)
        busy = statistics.median(it["thread_utilisation_max"] for it in seen) * 100
        kept = min(it["tps"] for it in seen)
        print(
            f"  {threads} thread{'s' if threads > 1 else ''}, {users:>4} sessions, "
            f"{'random' if poisson else 'even':<6} gaps, service {mean_ms * 1000:>3.0f} µs: p99 "
            f"{statistics.median(found):4.0f} µs (worst {found[-1]:.0f}), {kept:6.0f}/s at least, "
            f"thread {busy:2.0f} % busy, late {sum(it['late'] for it in seen)}, "
            f"unsent {sum(it['unsent'] for it in seen)} of {sum(it['scheduled'] for it in seen)}",
            flush=True,
        )


def memory(bench: Bench) -> None:
    samples = pq.read_table(bench.run(10_000, 1000) / "samples.parquet").to_pylist()
    seen = sorted((it["t_ns"], it["value"]) for it in samples if is_resident(it))
    sizes = [value for _, value in seen]
    # The first third is warm-up and whatever is touched for the first time.
    early, late = (statistics.median(part) for part in thirds(sizes)[1:])
    print(
        f"\n1,000 users on this machine's cores: {max(sizes) / 1e6:.0f} MB resident at most, the "
        f"whole process (target 400); second third of the run {early / 1e6:.1f} MB, last third "
        f"{late / 1e6:.1f} MB",
        flush=True,
    )


def is_resident(row: dict[str, Any]) -> bool:
    return (row["subject"], row["metric"]) == ("dyno", "rss")


def thirds(values: list[float]) -> list[list[float]]:
    third = max(1, len(values) // 3)
    return [values[:third], values[third:-third], values[-third:]]


def sizes(bench: Bench) -> None:
    seconds = bench.run_seconds + 1
    print(
        f"\nbundle of an hour, extrapolated from one of {seconds} s: what grows × 3600/{seconds}, "
        "what every bundle has once (target 50 MB)"
    )
    for mean_us, users in ((1_000, 16), (200, 16)):
        bundle = bench.run(mean_us, users)
        growing = [*(bundle / "ops").iterdir(), bundle / "samples.parquet"]
        grows = sum(file.stat().st_size for file in growing)
        rest = sum(file.stat().st_size for file in bundle.rglob("*") if file.is_file()) - grows
        (ops,) = (bundle / "ops").glob("*.parquet")
        hour = grows * 3600 / seconds + rest
        print(
            f"  {users} users, {mean_us / 1000:g} ms on average: {hour / 1e6:5.1f} MB "
            f"({ops.stat().st_size / seconds / 1e3:.1f} kB a second of histograms, "
            f"{rest / 1e6:.1f} MB once)",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.2)
    parser.add_argument("--run-seconds", type=int, default=10)
    given = parser.parse_args()
    with scratch() as folder:
        bench = Bench(given, Path(folder))
        rates(bench)
        lags(bench)
        memory(bench)
        sizes(bench)


main()
