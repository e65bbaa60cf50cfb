"""The driver on the brokerage: what 8 users get out of 2,000 customers, and its client CPU.

Target: client mode ≤ 150 ms of client CPU per 1,000 transactions, on a private PostgreSQL and a
private MariaDB. Procedure mode is shown beside it. CPU is that of the driver in the window, as for
`bench_transactions.py`; the modes take turns, and the medians of the rounds count.
`python benches/bench_brokerage.py [SECONDS [ROUNDS]]`, five minutes by default
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

import psutil
from bench_transactions import MODES, USERS, Rate, loaded, ours, shown
from common import estimate, scratch

from dyno import targets

SCALE, WARMUP = "2", 5
MOST_MS = 150


def main() -> None:
    seconds, rounds = (int(word) for word in (sys.argv[1:] + ["20", "3"][len(sys.argv) - 1 :]))
    print(f"{psutil.cpu_count()} CPUs; medians of {rounds} rounds of {seconds} s, {USERS} users")
    for name in ("postgresql", "mysql"):
        if lacks := targets.lacks(name):
            print(f"\n{name}: not measured: {lacks} is missing")
            continue
        with scratch() as folder:
            out = Path(folder)
            document = loaded("brokerage", name, SCALE, out)
            rows, index = (
                estimate(document, f"{what}.brokerage.{name}.seconds") for what in ("load", "index")
            )
            print(f"\n{name}: rows {rows:.1f} s, keys, indexes and statistics {index:.1f} s")
            seen: dict[str, list[Rate]] = {mode: [] for mode in MODES}
            for _ in range(rounds):
                for mode in MODES:
                    rate = ours(name, mode, out, "brokerage", "trade_results", seconds, WARMUP)
                    seen[mode].append(rate)
            for mode, rates in seen.items():
                middle = statistics.median(rate.cpu_ms for rate in rates)
                word = "met" if middle <= MOST_MS else "missed"
                target = f" (target {MOST_MS}, {word})" if mode == "client" else ""
                print(f"  {mode:10}{shown(rates, 'trade results')}{target}", flush=True)


if __name__ == "__main__":
    main()
