"""PostgreSQL with and without eight partitions of lineitem: loads, steps, and each query.

The published finding to look for: partitions need not speed queries up. Each design has a server of
its own. Query after query runs on both in turn (ABBA), so that whatever else the machine does
meets both; the queries without lineitem show how much of it is left in the figures.

    python benches/bench_layouts.py [SCALE]
"""

from __future__ import annotations

import statistics
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from common import dyno, scratch

from dyno import host, targets, workloads
from dyno.targets.base import Connection, Limits

LAYOUTS = ("default", "partitioned-8")
ROUNDS = 6


def load(layout: str, scale: float, out: Path) -> dict[str, Any]:
    document = dyno(
        "load", "tpch", "--target", "embedded:postgresql", "--scale", str(scale),
        "--layout", layout, "--out", out,
    )  # fmt: skip
    return document["tpch"]["engines"]["postgresql"]


def kinds(steps: list[dict[str, Any]]) -> dict[str, tuple[float, float]]:
    """Seconds, summed over sessions, and the greatest extra space in MB, by kind of step."""
    found: dict[str, tuple[float, float]] = {}
    for step in steps:
        seconds, peak = found.get(step["kind"], (0.0, 0.0))
        extra = (step["extra_peak_bytes"] or 0) / 1e6
        found[step["kind"]] = (seconds + step["seconds"], max(peak, extra))
    return found


def loads(scale: float, outs: list[Path]) -> None:
    engines = [load(layout, scale, out) for layout, out in zip(LAYOUTS, outs, strict=True)]
    a, b = (kinds(engine["load_steps"]) for engine in engines)
    heads = [f"{layout}, {unit}" for layout in LAYOUTS for unit in ("s", "peak MB")]
    print(f"{'step':14}" + "".join(f"{head:>24}" for head in heads))
    for kind in dict.fromkeys([*a, *b]):
        figures = [*a.get(kind, (0.0, 0.0)), *b.get(kind, (0.0, 0.0))]
        print(f"{kind:14}" + "".join(f"{figure:24.1f}" for figure in figures))


def timed(session: Connection, text: str) -> float:
    start = time.monotonic()
    session.execute(text)
    return time.monotonic() - start


def queries(scale: float, sessions: list[Connection]) -> None:
    print(f"\n{'query':8}{LAYOUTS[0]:>12}{LAYOUTS[1]:>16}{'change':>10}", end="")
    print(f"   (s, minimum of {ROUNDS}; median change of {ROUNDS} pairs)")
    changes: dict[bool, list[float]] = {True: [], False: []}
    totals = [0.0, 0.0]
    for query in workloads.get("tpch").queries:
        text = query.text(query.validation(scale))
        seen: list[list[float]] = [[], []]
        for session in sessions:
            timed(session, text)
        for number in range(ROUNDS):
            for arm in (0, 1) if number % 2 == 0 else (1, 0):
                seen[arm].append(timed(sessions[arm], text))
        best = [min(arm) for arm in seen]
        change = statistics.median(b / a - 1 for a, b in zip(*seen, strict=True))
        touched = "lineitem" in text
        changes[touched].append(change)
        totals = [total + seconds for total, seconds in zip(totals, best, strict=True)]
        note = "" if touched else "   no lineitem in it"
        print(f"{query.name:8}{best[0]:12.3f}{best[1]:16.3f}{change:+10.0%}{note}")
    print(f"{'total':8}{totals[0]:12.3f}{totals[1]:16.3f}{totals[1] / totals[0] - 1:+10.0%}")
    for touched, words in ((True, "with lineitem"), (False, "without lineitem: noise")):
        low, high = min(changes[touched]), max(changes[touched])
        print(f"{words}: median {statistics.median(changes[touched]):+.0%}, {low:+.0%}…{high:+.0%}")


def main() -> None:
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    print(f"TPC-H-derived, SF {scale:g}; not comparable with published TPC results\n")
    with scratch() as folder:
        outs = [Path(folder) / layout for layout in LAYOUTS]
        loads(scale, outs)
        whole = host.limits(host.collect(Path(folder)))
        limits = Limits(whole.memory_bytes // 2, whole.threads)
        url = targets.parse("embedded:postgresql")
        with (
            targets.open_target(url, outs[0], limits) as first,
            targets.open_target(url, outs[1], limits) as second,
            closing(first.connect("tpch")) as a,
            closing(second.connect("tpch")) as b,
        ):
            queries(scale, [a, b])


main()
