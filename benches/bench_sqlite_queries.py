"""Queries with a fixed join order, or with what an OR implies, against the plain ones.

Target: none slower, and those that grew with the square of the scale no more so. Both texts go
through the same session, one after the other, and give the same answers.
"""

from __future__ import annotations

import os
import threading
import time
from contextlib import closing
from pathlib import Path

from common import pairs, scratch

from dyno import _core, host, targets, workloads
from dyno.contracts.target import Connection, LoadPlan
from dyno.contracts.workload import Query
from dyno.targets.sqlite.translate import to_sqlite
from dyno.workloads.answers import compare_engines

ROUNDS = 3
SCALE = float(os.environ.get("SCALE", "0.1"))
QUERIES = ("q05", "q07", "q08", "q10", "q19")


def main() -> None:
    print(f"SF {SCALE:g}, median of {ROUNDS}; ratio = plain / Dyno's, pair by pair\n")
    with scratch() as folder:
        out = Path(folder)
        url = targets.parse("embedded:sqlite")
        with targets.open_target(url, out, host.limits(host.collect(out))) as target:
            target.create_tables("tpch", replace=False)
            target.load(LoadPlan("tpch", SCALE, 1, 2), _core.Control())
            target.index("tpch", threading.Event(), lambda *_: None)
            with closing(target.connect("tpch")) as session:
                for query in workloads.get("tpch").queries:
                    if query.name not in QUERIES:
                        continue
                    neutral = query.text(query.validation(SCALE))
                    texts = (target.sql("tpch", query.name, neutral), to_sqlite(neutral))
                    print(f"{query.name}   {compared(session, query, *texts)}", flush=True)


def compared(session: Connection, query: Query, mine: str, plain: str) -> str:
    answers = [session.execute(text).rows for text in (mine, plain)]  # and so they are warm
    same = not compare_engines(answers[0], answers[1], query.rules)
    ours, peer, ratio = pairs(ROUNDS, lambda: timed(session, mine), lambda: timed(session, plain))
    times = f"{ours:7.3f} s   plain {peer:7.3f} s   {ratio:7.1f} x"
    return f"{times}   the same answer: {same}"


def timed(session: Connection, text: str) -> float:
    start = time.monotonic()
    session.execute(text)
    return time.monotonic() - start


main()
