"""The job of ``dyno quickstart``: runs every workload once on embedded engines."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from dyno import profiles, targets, workloads
from dyno.contracts.target import Loaded, LoadPlan, Target
from dyno.errors import UsageError
from dyno.plans.quickstart import QuickstartPlan
from dyno.profiles import spec, volume
from dyno.runner import stages
from dyno.runner.again import Again
from dyno.runner.ahead import Part, of_load, of_queries
from dyno.runner.session import Job, Session
from dyno.servers.volume import rounded
from dyno.stages.drive import OltpPlan, PowerPlan, interval_for
from dyno.stages.profile import IoPlan
from dyno.targets.defaults import COLUMN_STORE, ROW_STORE
from dyno.targets.space import require_space, required_bytes
from dyno.workloads import USUAL
from dyno.workspace import engine_folders

TPCH, TPCC = USUAL["dss"], USUAL["oltp"]
USERS = (1, 4, 16)
SCALES = (1.0, 0.5, 0.2, 0.1, 0.05, 0.01)
GIB = 1 << 30


@dataclass(frozen=True)
class Sizes:
    """Sizes of the quickstart workloads."""

    io_file_bytes: int
    io_step_s: float
    scale: float
    warehouses: int
    warmup_s: float
    duration_s: float

    def space(self) -> int:
        """Peak disk space, in bytes."""
        tpch = workloads.get(TPCH).bytes_per_scale * self.scale
        tpcc = workloads.get(TPCC).bytes_per_scale * self.warehouses
        row, column = (targets.parse(url).name for url in (ROW_STORE, COLUMN_STORE))
        return required_bytes({row: tpch + tpcc, column: tpch}, self.io_file_bytes)


def job(asked: QuickstartPlan, sizes: Sizes) -> Job:
    """Turns the plan into a job of these sizes. Starts and changes nothing."""

    def check_space() -> None:
        needed = sizes.space()
        advice = "Free space, or use a smaller --scale or another --out."
        require_space(existing_parent(asked.out), needed, advice)

    record: dict[str, Any] = {"quick": asked.quick, "users": list(USERS), **vars(sizes)}

    def body(session: Session) -> None:
        _body(session, sizes, replace=asked.replace)

    return Job(
        asked, record, (TPCH, TPCC), asked.out, body, before=check_space, parts=_parts(sizes)
    )


def _parts(sizes: Sizes) -> list[Part]:
    """The parts of the run, in the order of :func:`_body`."""
    look = spec.read(profiles.DEFAULT).fitted(sizes.io_file_bytes, sizes.io_step_s)
    parts = [Part(look.longest_s)]
    for url in map(targets.parse, (ROW_STORE, COLUMN_STORE)):
        parts += of_load(workloads.get(TPCH), sizes.scale, url)
        parts += of_queries(sizes.scale, url, 2.0)
    parts += of_load(workloads.get(TPCC), sizes.warehouses, targets.parse(ROW_STORE))
    return [*parts, *[Part(sizes.warmup_s + sizes.duration_s)] * len(USERS)]


def sizes_of(asked: QuickstartPlan) -> Sizes:
    """Returns sizes that fit the disk and the memory.

    Raises:
        UsageError: If the scale is out of range.
    """
    return choose(asked.scale, asked.quick, existing_parent(asked.out))


def choose(scale: float | None, quick: bool, place: Path) -> Sizes:
    """Returns sizes that fit the disk and the memory. An explicit scale is used as given.

    Raises:
        UsageError: If the scale is out of range.
    """
    free = shutil.disk_usage(place).free
    # Powers of two, so that other disk usage does not change the size.
    io_file = min(int((0.5 if quick else 4) * GIB), rounded(free // 4))

    def sizes(factor: float) -> Sizes:
        if quick:
            return Sizes(io_file, 0.4, factor, 1, 1.0, 4.0)
        return Sizes(io_file, 1.5, factor, 5, 5.0, 15.0)

    if scale is not None:
        return sizes(workloads.get(TPCH).parse_scale(scale))
    most = 0.1 if quick else 1.0
    # 1 GB of memory per scale factor. With less, memory caps limit the load and the sorts.
    memory = psutil.virtual_memory().total / 2e9
    fitting = [
        factor
        for factor in SCALES
        if factor <= most and factor <= memory and sizes(factor).space() <= free
    ]
    return sizes(fitting[0] if fitting else SCALES[-1])


def _body(session: Session, sizes: Sizes, *, replace: bool) -> None:
    again = Again(session)
    out, threads = session.out, session.limits.threads
    power = PowerPlan(TPCH, sizes.scale)
    streams = max(2, threads)
    dss = LoadPlan(TPCH, sizes.scale, seed=1, streams=streams)
    oltp = LoadPlan(TPCC, sizes.warehouses, seed=1, streams=streams)
    if not replace:
        for url, plans in ((ROW_STORE, (dss, oltp)), (COLUMN_STORE, (dss,))):
            _require_own(session, url, plans)
    look = spec.read(profiles.DEFAULT).fitted(sizes.io_file_bytes, sizes.io_step_s)
    profile = IoPlan(volume.parse([str(out)]), look)
    again(lambda: stages.storage(session, profile))
    with session.target(ROW_STORE) as row:
        again(lambda: _load(session, row, dss))
        results = {row.name: again(lambda: stages.power(session, row, power))}
        with session.target(COLUMN_STORE) as column:
            again(lambda: _load(session, column, dss))
            results[column.name] = again(lambda: stages.power(session, column, power))
        stages.answers(session, power, results)
        again(lambda: _load(session, row, oltp))
        loaded = Loaded(oltp.scale, oltp.seed, complete=True)
        plans = [
            OltpPlan(
                TPCC,
                loaded,
                users,
                sizes.warmup_s,
                sizes.duration_s,
                seed=users,
                interval_s=interval_for(sizes.duration_s),
            )
            for users in USERS
        ]
        for plan in plans:
            again(lambda plan=plan: stages.level(session, row, plan))
        stages.consistency(session, row, plans[0])


def _load(session: Session, target: Target, plan: LoadPlan) -> None:
    """Marks the data as quickstart data, then loads and verifies it."""
    engine_folders.remember(session.out, target.name, plan.workload, (plan.scale, plan.seed))
    stages.load_and_prove(session, target, plan, replace=True)


def _require_own(session: Session, url: str, plans: Sequence[LoadPlan]) -> None:
    """Checks that an engine holds only quickstart data, or data identical to it.

    Raises:
        UsageError: If there is other data. The message names it.
    """
    parsed, out = targets.parse(url), session.out
    name = parsed.name
    if not any(home.name == name for home in engine_folders.homes(out)[0]):
        return  # never started here
    own = engine_folders.remembered(out, name)
    with (
        session.events.phase(f"Inspect {name}"),
        targets.open_target(parsed, out, session.limits) as target,
    ):
        for plan in plans:
            found = target.loaded(plan.workload)
            # Tables with scale 0 are empty: the load was interrupted before its first row.
            if found is None or not found.scale:
                continue
            content = [found.scale, found.seed]
            if found.layout or content not in (own.get(plan.workload), [plan.scale, plan.seed]):
                raise UsageError(
                    f"{url} in {out} holds {plan.workload} data of scale {found.scale:.15g} that "
                    "quickstart did not load. Use --replace, or another --out DIR."
                )


def existing_parent(path: Path) -> Path:
    """Returns the folder or its nearest existing parent."""
    while not path.exists():
        path = path.parent
    return path
