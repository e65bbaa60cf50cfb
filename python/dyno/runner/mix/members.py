"""The members of a run: each workload on each target, with its own part of the plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from dyno import targets, workloads
from dyno.contracts.target import TargetUrl, told_apart
from dyno.contracts.workload import Workload
from dyno.errors import UsageError, nearest
from dyno.plans.beside import Beside
from dyno.plans.fields import made
from dyno.plans.flash import Accelerated
from dyno.plans.levels import Levels
from dyno.plans.limits import Criteria
from dyno.plans.pace import Pace
from dyno.plans.queries import Queries
from dyno.plans.run import RunPlan
from dyno.plans.searching import Searching
from dyno.plans.several import Several

_OF_ALL = {"workload", "target", *Several.model_fields} - {"out"}
_QUERIES = set(Queries.model_fields) - {"out"}
_TRANSACTIONS = {
    name
    for part in (Levels, Pace, Criteria)
    for name in part.model_fields
    if name not in {"out", "users", "databases"}
}

_TIMES = {"duration", "warmup"}
"""Fields of transactions that streams have too, if several workloads with queries share windows."""

_WINDOWS = "all windows must be comparable"
_CACHES = "concurrent work shares the caches"
_ALTERNATE = "its windows have a set length"
REFUSED: dict[str, str] = {
    **dict.fromkeys(Searching.model_fields, "a search has one load to vary"),
    **dict.fromkeys(Beside.model_fields, "run maintenance beside one workload on one target"),
    **dict.fromkeys(Accelerated.model_fields, "the cache is in front of one engine alone"),
    **dict.fromkeys(("cold", "cold_each_query", "no_warming"), _CACHES),
    **dict.fromkeys(("plans", "analyse_plans", "query_figures"), "they need one query at a time"),
    "until_steady": _ALTERNATE,
    "rate_file": "use --rate WORKLOAD=RATE",
    "confirm_limit": _WINDOWS,
    "databases": "use one database for each workload",
}
"""Options that need one workload on one target, and the reason."""
del REFUSED["out"]


@dataclass(frozen=True)
class Place:
    """A target of the run.

    Attributes:
        name: Its name in the run.
    """

    name: str
    url: TargetUrl


@dataclass(frozen=True)
class Wanted:
    """A workload on a target.

    Attributes:
        name: Its name in the run.
        asked: Its part of the plan, as for a run of its own.
        label: Tells its levels apart from others with the same load.
    """

    name: str
    workload: Workload
    place: Place
    asked: RunPlan
    label: str = ""

    @property
    def drives(self) -> bool:
        """Whether it has transactions."""
        return self.workload.kind == "oltp"


def is_mix(asked: RunPlan) -> bool:
    """Whether the run has several workloads or targets."""
    return len(workloads.words(asked.workload)) > 1 or len(asked.target) > 1 or asked.alone


def has_windows(named: Sequence[Workload]) -> bool:
    """Whether the work is measured in windows of a set length; else query tests run to completion.

    Queries of several workloads need them: a test that ends first would leave the other alone.
    """
    return len({one.name for one in named}) > 1 or any(one.kind == "oltp" for one in named)


def own(asked: RunPlan, workload: Workload, named: Sequence[Workload]) -> RunPlan:
    """The part of the plan for one workload, as for a run of its own.

    Options of the other kind of workload are for the other members; if there are none, the plan
    keeps them, and is refused like that of a run of its own.

    Args:
        asked: The plan of the run.
        workload: The workload.
        named: All workloads of the run.

    Raises:
        UsageError: If an option is invalid, or its value is for an unknown workload.
    """
    other = _QUERIES if workload.kind == "oltp" else _TRANSACTIONS
    if {one.kind for one in named} != {"oltp", "dss"}:
        other = _TIMES if has_windows(named) and workload.kind == "dss" else set[str]()
    kept = asked.model_fields_set - _OF_ALL - other
    values: dict[str, Any] = {name: getattr(asked, name) for name in kept}
    values |= {"workload": workload.called, "target": asked.target[:1]}
    mine: dict[str, list[str]] = {}
    for field, text in asked.by_workload:
        word, _, value = text.partition("=")
        if _meant(word, named, asked.option(field)) is workload:
            mine.setdefault(field, []).append(value)
    for field, listed in mine.items():
        if (len(listed) > 1 and len(named) > 1) or (field == "scale" and len(listed) > 1):
            option = asked.option(field)
            raise UsageError(f"{option} was given {len(listed)} times for {workload.called}.")
        values[field] = listed[0] if field == "scale" else listed
    if "rate" not in values and any(field == "rate" for field, _ in asked.by_workload):
        values.pop("arrivals", None)  # it is for those with a rate
    return made(RunPlan, values)


def _meant(word: str, named: Sequence[Workload], option: str) -> Workload:
    """The workload before the equals sign.

    Raises:
        UsageError: If the run has no such workload.
    """
    known = {alias: one for one in named for alias in (one.name, Path(one.called).stem, one.called)}
    if word not in known:
        called = [one.called for one in named]
        raise UsageError(f"{option} {word}=: the run has no workload {word}. "
                         f"{nearest(word, called)}")  # fmt: skip
    return known[word]


def members(asked: RunPlan) -> list[Wanted]:
    """Every workload on every target, in order.

    Raises:
        UsageError: If the combination is not supported, with the reason.
    """
    named = [workloads.named(word) for word in workloads.words(asked.workload)]
    asked.require_alone()
    _require_combination(asked, named)
    urls = [targets.parse(url) for url in asked.target]
    _require_apart(urls)
    places = [Place(name, url) for name, url in zip(told_apart(urls), urls, strict=True)]
    driven = [one for one in named if one.kind == "oltp"]
    pausing = [one for one in driven if one.transactions.pause_s]
    found: list[Wanted] = []
    for place, workload in product(places, named):
        parts = [workload.name] if len(named) > 1 else []
        parts += [place.name] if len(places) > 1 else []
        unlike = [workload.name] if len(driven) > 1 else []
        unlike += [place.name] if len(places) > 1 else []
        part = _one_load(own(asked, workload, named), workload)
        if workload not in pausing and pausing:  # --think is for the others
            part = part.model_copy(update={"think": False})
        found.append(Wanted("-".join(parts), workload, place, part, "-".join(unlike)))
    return found


def _require_apart(urls: Sequence[TargetUrl]) -> None:
    """Refuses two URLs of the same data: they would count one database as two targets.

    Raises:
        UsageError: With both.
    """
    seen: dict[tuple[str, ...], TargetUrl] = {}
    for url in urls:
        first = seen.setdefault(targets.leads_to(url), url)
        if first is not url:
            raise UsageError(
                f"--target {first.redacted} and --target {url.redacted} lead to the same data. "
                "Name each target once."
            )


def _one_load(asked: RunPlan, workload: Workload) -> RunPlan:
    """The plan of a member, which has one load.

    Raises:
        UsageError: If it has several.
    """
    for option, values in (("--users", asked.users), ("--rate", asked.rate)):
        if len(values) > 1:
            raise UsageError(
                f"Several workloads or targets at once have one load each. Give {option} once for "
                f"{workload.called}."
            )
    return asked


def _require_combination(asked: RunPlan, named: Sequence[Workload]) -> None:
    """Refuses combinations that are not supported, before anything starts.

    Raises:
        UsageError: With the reason.
    """
    what = "several workloads" if len(named) > 1 else "several targets"
    for name, reason in REFUSED.items():
        if asked.given(name) and (name, getattr(asked, name)) != ("databases", 1):
            raise UsageError(f"{asked.option(name)} and {what} cannot be combined: {reason}.")
    names = [one.name for one in named]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        files = dict.fromkeys(one.called for one in named if one.name == repeated)
        if len(files) > 1:
            raise UsageError(
                f"{' and '.join(files)} have the same name, so they share their tables, and cannot "
                "run at once."
            )
        raise UsageError(f"{repeated} is named twice. Use more --users instead.")
    queried = [one.called for one in named if one.kind == "dss"]
    if asked.alone and len(named) < 2:
        raise UsageError("--alone requires several workloads, such as tpcc+tpch.")
    if len(asked.target) > 1:
        for name, reason in (
            ("alone", "it compares workloads that share one target"),
            ("limits", "a limit applies to one engine"),
            ("agent", "it belongs to one target"),
            ("exporter", "it belongs to one target"),
        ):
            if asked.given(name):
                raise UsageError(
                    f"{asked.option(name)} and several --target cannot be combined: {reason}."
                )
    if queried and asked.test in ("power", "full"):
        raise UsageError(
            f"{what.capitalize()} run queries as streams. Use --test throughput, or omit --test."
        )
    if queried and has_windows(named) and asked.refresh:
        drives = any(one.kind == "oltp" for one in named)
        others = "transactions" if drives else "several workloads"
        raise UsageError(f"--refresh and {others} cannot be combined: streams run queries only.")
