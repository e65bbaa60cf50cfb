"""Makes the expected answers that Dyno ships: python tools/make_answers.py WORKLOAD [SCALE …]

Loads the data at each scale into private PostgreSQL and DuckDB, proves the load, runs the 22
queries with validation parameters on both, and writes a file only if they agree on every query:
sums to the cent, averages and ratios, which are kept with all digits, to 1 in 10,000. Where answers
are published (tpch at scale 1), both must equal them too. Needs about 4 GB of disk for tpch at 1.
"""

from __future__ import annotations

import importlib
import platform
import sys
import tempfile
import threading
from itertools import combinations
from pathlib import Path
from typing import Any

from dyno import __version__, _core, host, targets, workloads
from dyno.contracts.databases import home_of
from dyno.contracts.target import Loaded, LoadPlan, QueryResult, Target
from dyno.contracts.workload import Workload
from dyno.workloads.answers import compare_engines, precise
from dyno.workloads.shipped import Shipped

ENGINES = ("postgresql", "duckdb")
SEED = 1


def main() -> None:
    """Makes the answers of a workload at the scales of the command line, or at all of its own."""
    name, *words = sys.argv[1:]
    workload = workloads.named(name)
    shipped: Shipped = importlib.import_module(f"dyno.workloads.{name}.expected").SHIPPED
    for scale in [float(word) for word in words] or shipped.scales:
        with tempfile.TemporaryDirectory(prefix="dyno-answers-") as folder:
            make(workload, shipped, scale, Path(folder))


def make(workload: Workload, shipped: Shipped, scale: float, out: Path) -> None:
    """Writes the answers at a scale, or ends with what differs."""
    limits = host.limits(host.collect(out))
    versions: dict[str, str] = {}
    answers: dict[str, dict[str, QueryResult]] = {}
    for name in ENGINES:
        with targets.open_target(targets.parse(f"embedded:{name}"), out, limits) as target:
            versions[name] = target.facts().version
            print(f"{scale:g}: {versions[name]}", flush=True)  # noqa: T201
            for one in dict.fromkeys((home_of(workload.name), workload.name)):
                load(target, workloads.get(one), scale, limits.threads)
            answers[name] = ask(target, workload, scale)
    first = answers[ENGINES[0]]
    for query in workload.queries:
        for one, other in combinations(ENGINES, 2):
            rows = answers[one][query.name].rows, answers[other][query.name].rows
            refuse(f"{query.name}, {one} and {other}", compare_engines(*rows, query.rules))
        for name in ENGINES:
            rows = answers[name][query.name].rows
            refuse(f"{query.name}, {name}", workload.reference(query, scale, rows) or [])
    published = workload.reference(workload.queries[0], scale, []) is not None
    about = {
        "workload": workload.notice,
        "scale": scale,
        "seed": "any: this workload's data does not depend on it"
        if workload.expected_seed is None
        else workload.expected_seed,
        "engines": versions,
        "rule": "the engines agree on every query: exact columns equal, sums to the cent, averages "
        "and ratios, unrounded, to 1 in 10,000",
        "published": "both equal the published answers within the specification's rules"
        if published
        else "none at this scale",
        "made_by": f"tools/make_answers.py, Dyno {__version__}, {platform.machine()}",
    }
    content = {
        query.name: {
            "parameters": query.validation(scale),
            "rows": precise(first[query.name].rows, query.rules),
        }
        for query in workload.queries
    }
    path = shipped.write(scale, {"about": about, "answers": content})
    print(f"{path}: {path.stat().st_size:,} bytes", flush=True)  # noqa: T201


def load(target: Target, workload: Workload, scale: float, threads: int) -> None:
    """Loads, indexes and proves the data."""
    target.create_tables(workload.name, replace=True)
    target.load(LoadPlan(workload.name, scale, SEED, max(2, threads)), _core.Control())
    target.index(workload.name, threading.Event(), lambda *_: None)
    loaded = Loaded(scale, SEED, complete=True)
    for check in workload.check(target.name, lambda: target.connect(workload.name), loaded, "load"):
        refuse(f"{target.name}, {check.name}", [] if check.passed else [check.message])


def ask(target: Target, workload: Workload, scale: float) -> dict[str, QueryResult]:
    """The answers to all queries."""
    connection = target.connect(workload.name)
    try:
        return {
            query.name: connection.execute(
                target.sql(workload.name, query.name, query.text(query.validation(scale)))
            )
            for query in workload.queries
        }
    finally:
        connection.close()


def refuse(what: str, faults: list[Any]) -> None:
    """Ends here if there are faults."""
    if faults:
        raise SystemExit(f"{what}: {faults[0]}; nothing was written")


if __name__ == "__main__":
    main()
