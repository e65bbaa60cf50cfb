"""A study from the command line: two variants."""

from __future__ import annotations

import itertools
import shlex
from pathlib import Path

from dyno import workloads
from dyno.errors import UsageError
from dyno.plans.levels import usual_warmup_s
from dyno.studies import checks, lengths, overrides
from dyno.studies.build import build, usual_reset
from dyno.studies.form import Base, StudySpec
from dyno.studies.model import DEFAULT_MARGIN, IO, Study, Value
from dyno.studies.store import StudyStore
from dyno.studies.variants import WORKLOADS, changed
from dyno.targets.defaults import ROW_STORE
from dyno.workloads import own

_HEADLINE = {"oltp": ("tps",), "dss": ("total_s",), IO: ("iops", "mbps")}
_EXPLORATORY = {"oltp": ("p95_ms", "client_cpu_ms"), "dss": ("query_s", "geomean_s"), IO: ()}
LEAST_S = 5.0
_LEAST_RUN_S = 15.0
"""Minimum duration of a window with its warm-up and overhead."""
_RUN: dict[str, dict[str, Value]] = {
    "oltp": {"users": 8},
    "dss": {},
    IO: {},
}
_SAME = "A/A test: how much do identical runs differ on this machine?"


def usual_target(workload: str, out: Path) -> str:
    """The default target: a private engine, or the storage of ``out``."""
    if workload != IO:
        return ROW_STORE
    there = next(folder for folder in (out, *out.parents) if folder.is_dir())
    return shlex.quote(str(there))


def numbered(study: Study, out: Path, *, resume: bool) -> Study:
    """Returns the study under a free name, or under that of its last match if it is to be resumed.

    Raises:
        UsageError: If there is no study to resume.
    """
    names = (study.name if one == 1 else f"{study.name}-{one}" for one in itertools.count(1))
    like: Study | None = None
    for name in names:
        named = study.model_copy(update={"name": name})
        folder = out / "studies" / name
        if not (folder / "study.json").exists():
            if not resume:
                return named
            break
        if not checks.differences(StudyStore.open(folder).study, named):
            like = named
    if like is None:
        raise UsageError(f"There is no such study in {out / 'studies'}.")
    return like


def study(
    workload: str,
    target: str | None,
    scale: float | None,
    first: tuple[str, ...],
    second: tuple[str, ...],
    both: tuple[str, ...],
    minutes: float,
    metric: tuple[str, ...],
    margin: float | None,
    pairs: int,
    early_stop: bool = True,
) -> Study:
    """Builds the study of ``first`` against ``second``, each a ``path=value``.

    Raises:
        UsageError: If the study is contradictory.
    """
    if workload not in WORKLOADS and not own.is_meant(workload):
        *others, last = WORKLOADS
        known = f"{', '.join(others)} or {last}"
        raise UsageError(f"Unknown study workload '{workload}'. Known: {known}.")
    found = None if workload == IO else workloads.get(workload)
    kind = IO if found is None else found.kind
    run = dict(_RUN[kind])
    shared = overrides.read(both)
    if found is not None and kind == "oltp":
        think = shared.get("run.think") is True
        warmup_s = usual_warmup_s(think=think, pause_s=found.transactions.pause_s)
        run["warmup"] = f"{warmup_s:g}s"
        most = minutes * 60 / (2 * pairs)
        if most < _LEAST_RUN_S:
            raise UsageError(
                f"{minutes:g} min is too short for {2 * pairs} runs of {_LEAST_RUN_S:g} s each. "
                "Increase --minutes or reduce --pairs."
            )
        beside = warmup_s + lengths.around_s(str(target).partition(":")[0])[0]
        run["duration"] = f"{max(most - beside, LEAST_S):.0f}s"
    loads = not str(target).startswith("null:")
    usual = found.usual_scale if found is not None and found.loads and loads else None
    _require_difference(first, second, both)
    base = Base(workload=workload, target=target, scale=scale or usual, run=run)
    common = changed(base, "both", shared)
    base = base.model_copy(update={
        "scale": common.scale, "load": common.load, "run": common.run,
        "settings": common.settings, "limits": common.limits,
    })  # fmt: skip
    spec = StudySpec(
        base=base,
        margin=DEFAULT_MARGIN if margin is None else margin,
        pairs=pairs,
        early_stop=early_stop,
        headline=list(metric or _HEADLINE[kind]),
        exploratory=list(_EXPLORATORY[kind]),
        time_limit=None if kind == "oltp" else f"{minutes:g}m",
        factors={},
        variants=[{"name": "B", "scale": base.scale or 1.0}],
    )
    if first == second:
        spec = spec.model_copy(update={"question": _SAME})
    made = build("compare", "command line", "The comparison", spec)
    a = changed(base, "A", overrides.read(first))
    b = changed(base, "B", overrides.read(second))
    return made.model_copy(update={"variants": (a, b), "reset": usual_reset((a, b))})


def _require_difference(
    first: tuple[str, ...], second: tuple[str, ...], both: tuple[str, ...]
) -> None:
    """Rejects shared paths that have an option of their own, and identical variants.

    Raises:
        UsageError: With the option to use instead.
    """
    for path in overrides.read(both):
        if path in ("workload", "target", "scale"):
            raise UsageError(f"Use --{path} instead of --with to set {path} for both.")
    if (first or second) and overrides.read(first) == overrides.read(second):
        raise UsageError("A and B are identical. `dyno study aa` measures the machine's noise.")
