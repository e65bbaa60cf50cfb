"""Hold-out of `dyno size`: fitted to small loads, it predicts larger ones, up to twice as much.

Targets: within 10 % on throughput and 25 % on p95. PostgreSQL with TPC-C-derived transactions; each
level once. Users without think time: 1 to 4 predict 6 and 8. Open loop: 1 to 4 tenths of what 8
users reach predict 6 and 8 tenths. With keying and think times 8 users do a transaction in three
seconds, so 10 s would show nothing. The driver shares the CPUs, so its time is part of the demand.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from common import dyno, scratch

from dyno.analyse import estimate
from dyno.bundle.metrics import Estimates
from dyno.bundle.reader import Bundle
from dyno.decide.size.demand import transactions
from dyno.decide.size.evidence import Evidence, Load
from dyno.decide.size.inputs import Inputs
from dyno.decide.size.loads import loads
from dyno.decide.size.lot import Lot, Spread, spread
from dyno.decide.size.response import times
from dyno.decide.size.servers import Responses
from dyno.decide.size.wants import Wants

WAREHOUSES, SECONDS, WARMUP = "8", "10s", "4s"
SESSIONS = "16"
"""Of the open loop."""
FIT, HELD = (1, 2, 3, 4), (6, 8)


def measured(out: Path, *words: str) -> list[Load]:
    document = dyno(
        "run", "tpcc", "--target", "embedded:postgresql", *words, "--warmup", WARMUP,
        "--duration", SECONDS, "--out", out,
    )  # fmt: skip
    codes = ", ".join(dict.fromkeys(reason["code"] for reason in document["reasons"]))
    print(f"verdict: {document['verdict']}{f' ({codes})' if codes else ''}")
    bundle = Bundle.open(Path(document["bundle"]))
    found = loads(bundle.run, Estimates(estimate(bundle)))
    return [replace(one, cpu_s=one.whole_cpu_s) for one in found]


def predicted(fit: Sequence[Load], wants: Wants) -> tuple[Spread, Spread]:
    """Throughput and p95 of one server."""
    lot = Lot()
    work = transactions(Evidence(loads=tuple(fit)), wants, lot, Inputs())
    assert work is not None
    if work.growth is not None:
        return spread(work.tps), Responses(work, None, lot.fixed(0)).at(1)[1]
    assert work.cpu_s is not None
    cpus = work.top.cpus
    model = times(work.loads, cpus, work.cpu_s, lot.fixed(0))
    most = np.minimum(work.tps, cpus / work.cpu_s)
    return spread(most), Responses(work, model, lot.fixed(0)).at(1)[1]


def shown(name: str, found: Spread, real: float, target: float) -> str:
    error = 100 * (found.mid / real - 1)
    inside = "inside" if found.low <= real <= found.high else "outside"
    return (
        f"{name} {found.mid:8,.1f} ({found.low:,.1f} to {found.high:,.1f}) measured {real:8,.1f} "
        f"{error:+6.1f} % (target {target:g} %), {inside} the interval"
    )


def table(title: str, fit: Sequence[Load], held: Sequence[tuple[Load, Wants]]) -> None:
    print(f"\n{title}")
    for one in fit:
        busy = 100 * (one.whole_cpu_s or 0) * one.tps / one.cpus
        print(f"  fitted     {one.name:12}{one.tps:9,.1f} tps  mean {one.mean_ms:6.2f} ms  "
              f"p95 {one.p95_ms:6.2f} ms  CPU {busy:3.0f} %")  # fmt: skip
    for one, wants in held:
        start = time.perf_counter()
        tps, p95 = predicted(fit, wants)
        took = time.perf_counter() - start
        print(f"  predicted  {one.name}  (10,000 draws in {took:.2f} s)")
        print(f"    {shown('tps   ', tps, one.tps, 10)}")
        print(f"    {shown('p95 ms', p95, one.p95_ms, 25)}")


def main() -> None:
    with scratch() as folder:
        out = Path(folder)
        dyno("load", "tpcc", "--target", "embedded:postgresql", "--scale", WAREHOUSES, "--out", out)
        each = [word for users in (*FIT, *HELD) for word in ("--users", str(users))]
        closed = measured(out, *each)
        by_users = {round(one.users): one for one in closed}
        table(
            "Users without think time",
            [by_users[n] for n in FIT],
            [(by_users[n], Wants(users=n)) for n in HELD],
        )
        tenth = by_users[HELD[-1]].tps / 10
        rates = [str(round(part * tenth)) for part in (*FIT, *HELD)]
        words = [word for rate in rates for word in ("--rate", rate)]
        print()
        opened = sorted(measured(out, "--users", SESSIONS, *words), key=lambda one: one.tps)
        count = len(FIT)
        table(
            "Open loop, arrivals at random",
            opened[:count],
            [
                (one, Wants(tps=float(rate)))
                for one, rate in zip(opened[count:], rates[count:], strict=True)
            ],
        )


main()
