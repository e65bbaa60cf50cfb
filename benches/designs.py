"""Two physical designs side by side: their loads step by step, and each query on both in turn.

Each design has an engine of its own. The queries run on both in turn (ABBA), so that whatever else
the machine does meets both.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common import dyno, scratch

from dyno import host, targets, workloads
from dyno.contracts.target import Connection, Limits, Target

ROUNDS = 6


@dataclass(frozen=True)
class Arm:
    """One of the two designs: an engine with a layout, in a folder of its own."""

    engine: str
    layout: str
    label: str

    @property
    def target(self) -> str:
        return f"embedded:{self.engine}"


def load(arm: Arm, scale: float, out: Path) -> dict[str, Any]:
    document = dyno(
        "load", "tpch", "--target", arm.target, "--scale", str(scale),
        "--layout", arm.layout, "--out", out,
    )  # fmt: skip
    return document["tpch"]["engines"][arm.engine]


def kinds(steps: list[dict[str, Any]]) -> dict[str, tuple[float, float]]:
    """Seconds, summed over sessions, and the greatest extra space in MB, by kind of step."""
    found: dict[str, tuple[float, float]] = {}
    for step in steps:
        seconds, peak = found.get(step["kind"], (0.0, 0.0))
        extra = (step["extra_peak_bytes"] or 0) / 1e6
        found[step["kind"]] = (seconds + step["seconds"], max(peak, extra))
    return found


def loads(arms: Sequence[Arm], scale: float, outs: Sequence[Path]) -> None:
    engines = [load(arm, scale, out) for arm, out in zip(arms, outs, strict=True)]
    a, b = (kinds(engine["load_steps"]) for engine in engines)
    heads = [f"{arm.label}, {unit}" for arm in arms for unit in ("s", "peak MB")]
    print(f"{'step':14}" + "".join(f"{head:>24}" for head in heads))
    for kind in dict.fromkeys([*a, *b]):
        values = [*a.get(kind, (0.0, 0.0)), *b.get(kind, (0.0, 0.0))]
        print(f"{kind:14}" + "".join(f"{value:24.1f}" for value in values))


def timed(session: Connection, text: str) -> float:
    start = time.monotonic()
    session.execute(text)
    return time.monotonic() - start


def queries(arms: Sequence[Arm], scale: float, opened: Sequence[Target]) -> None:
    with closing(opened[0].connect("tpch")) as first, closing(opened[1].connect("tpch")) as second:
        _queries(arms, scale, opened, [first, second])


def _queries(
    arms: Sequence[Arm], scale: float, opened: Sequence[Target], sessions: Sequence[Connection]
) -> None:
    print(f"\n{'query':8}{arms[0].label:>16}{arms[1].label:>16}{'change':>10}", end="")
    print(f"   (s, minimum of {ROUNDS}; median change of {ROUNDS} pairs)")
    changes: dict[bool, list[float]] = {True: [], False: []}
    totals = [0.0, 0.0]
    for query in workloads.get("tpch").queries:
        neutral = query.text(query.validation(scale))
        texts = [target.sql("tpch", query.name, neutral) for target in opened]
        seen: list[list[float]] = [[], []]
        for session, text in zip(sessions, texts, strict=True):
            timed(session, text)
        for number in range(ROUNDS):
            for arm in (0, 1) if number % 2 == 0 else (1, 0):
                seen[arm].append(timed(sessions[arm], texts[arm]))
        best = [min(arm) for arm in seen]
        change = statistics.median(b / a - 1 for a, b in zip(*seen, strict=True))
        touched = "lineitem" in neutral
        changes[touched].append(change)
        totals = [total + seconds for total, seconds in zip(totals, best, strict=True)]
        note = "" if touched else "   no lineitem in it"
        print(f"{query.name:8}{best[0]:16.3f}{best[1]:16.3f}{change:+10.0%}{note}")
    print(f"{'total':8}{totals[0]:16.3f}{totals[1]:16.3f}{totals[1] / totals[0] - 1:+10.0%}")
    for touched, words in ((True, "with lineitem"), (False, "without lineitem")):
        low, high = min(changes[touched]), max(changes[touched])
        print(f"{words}: median {statistics.median(changes[touched]):+.0%}, {low:+.0%}…{high:+.0%}")


def compare(arms: Sequence[Arm], scale: float) -> None:
    """Loads both and prints what each step and each query takes in them."""
    print(f"TPC-H-derived, SF {scale:g}; not comparable with published TPC results\n")
    with scratch() as folder:
        outs = [Path(folder) / str(number) for number, _ in enumerate(arms)]
        loads(arms, scale, outs)
        whole = host.limits(host.collect(Path(folder)))
        limits = Limits(whole.memory_bytes // 2, whole.threads)
        with (
            targets.open_target(targets.parse(arms[0].target), outs[0], limits) as first,
            targets.open_target(targets.parse(arms[1].target), outs[1], limits) as second,
        ):
            queries(arms, scale, [first, second])
