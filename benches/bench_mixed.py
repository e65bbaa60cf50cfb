"""What running workloads at once costs the client, beside each by itself.

Target: at most 2 % more client CPU than the parts. The parts are the CPU of a transaction and of a
query when each workload runs alone, times what ran in the mix. Transactions have a fixed rate, so
both windows do the same work. CPU is that of Dyno's process (RUSAGE_SELF), which holds the driver,
the streams and the recording; the servers are other processes. The windows take turns; medians of
paired ratios. Two workloads of transactions on the null target show the driver, tpcc and tpch on a
private PostgreSQL the streams beside it.
`python benches/bench_mixed.py [SECONDS [ROUNDS]]`, three minutes by default
"""

from __future__ import annotations

import resource
import statistics
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from common import dyno, scratch

from dyno import host, targets
from dyno.bundle.model import those
from dyno.bundle.phases.oltp import OltpDetail
from dyno.bundle.reader import Bundle
from dyno.bundle.writer import Recorder
from dyno.contracts.target import Loaded, Target
from dyno.runtime.progress import Silent
from dyno.stages.drive import HeldPlan, MixMember, MixPlan, OltpPlan, mixed

RATE = 400
WARMUP_S = 0.0


def transactions(target: Target, workload: str, seconds: float, scale: float) -> MixMember:
    plan = OltpPlan(
        workload, Loaded(scale, 1, complete=True, days=10), 8, WARMUP_S, seconds, 1,
        rate_per_s=RATE, label=workload,
    )  # fmt: skip
    return MixMember(workload, target, plan)


def queries(target: Target, seconds: float) -> MixMember:
    plan = HeldPlan(
        "tpch", 0.01, parameters="seeded", streams=2, warmup_s=WARMUP_S, duration_s=seconds
    )
    return MixMember("tpch", target, plan)


def used(out: Path, members: Sequence[MixMember]) -> tuple[float, dict[str, int]]:
    """CPU seconds of this process, and the work of each member, warm-up included."""
    recorder = Recorder(out, "run", {}, tuple(one.name for one in members))
    before = resource.getrusage(resource.RUSAGE_SELF)
    mixed(recorder, MixPlan("together", "bench", tuple(members), duration_s=1.0), Silent())
    after = resource.getrusage(resource.RUSAGE_SELF)
    recorder.finish("done")
    recorder.close()
    bundle = Bundle.open(recorder.path)
    work: dict[str, int] = {}
    for phase in those(bundle.run.phases, OltpDetail):
        rows = bundle.table(f"ops/{phase.detail.level}").to_pylist()
        work[str(phase.detail.workload)] = sum(row["done"] + row["rolled_back"] for row in rows)
    done = bundle.table("queries").num_rows
    if done:
        work["tpch"] = done
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, work


def compare(title: str, out: Path, members: Sequence[MixMember], rounds: int) -> None:
    used(out, members)  # imports and first connections
    ratios: list[float] = []
    for number in range(rounds):
        each: dict[str, float] = {}
        order = [(one,) for one in members]
        whole = [tuple(members)]
        cost, work = 0.0, dict[str, int]()
        for window in [*order, *whole] if number % 2 else [*whole, *order]:
            named = [
                replace(one, plan=replace(one.plan, label=f"{one.name}-{number}")) for one in window
            ]
            cpu_s, done = used(out, named)
            if len(window) == 1:
                each[window[0].name] = cpu_s / done[window[0].name]
            else:
                cost, work = cpu_s, done
        parts = sum(each[name] * count for name, count in work.items())
        ratios.append(cost / parts)
    middle = statistics.median(ratios)
    spread = f"{min(ratios):.3f} to {max(ratios):.3f}"
    word = "met" if middle <= 1.02 else "missed"
    print(f"{title:44} mix / parts {middle:.3f} ({spread})   target 1.02 {word}", flush=True)


def main() -> None:
    seconds, rounds = (int(word) for word in (sys.argv[1:] + ["5", "5"][len(sys.argv) - 1 :]))
    with scratch() as folder, ExitStack() as stack:
        out = Path(folder)
        limits = host.limits(host.collect(out))
        null = stack.enter_context(
            targets.open_target(targets.parse("null:?mean_us=500"), out, limits)
        )
        both = [transactions(null, name, seconds, 10.0) for name in ("tpcc", "brokerage")]
        compare(f"null: tpcc and brokerage, {RATE}/s each", out, both, rounds)
        url = "embedded:postgresql"
        dyno("load", "tpcc", "--target", url, "--scale", "2", "--out", out)
        dyno("load", "tpch", "--target", url, "--scale", "0.01", "--out", out)
        server = stack.enter_context(targets.open_target(targets.parse(url), out, limits))
        mix = [transactions(server, "tpcc", seconds, 2.0), queries(server, seconds)]
        compare(f"postgresql: tpcc at {RATE}/s and 2 streams of tpch", out, mix, rounds)


if __name__ == "__main__":
    main()
