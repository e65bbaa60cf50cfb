"""The job of ``dyno run`` with several workloads or targets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dyno import targets
from dyno.config.rates import Rate
from dyno.contracts.target import TargetUrl
from dyno.contracts.workload import Workload
from dyno.criteria import Criterion, defaults, metrics, parse_all
from dyno.plans.run import RunPlan
from dyno.runner.ahead import Part, of_queries
from dyno.runner.during import require_able
from dyno.runner.engine import confinement_of, settings_of
from dyno.runner.mix.members import Wanted, has_windows, members
from dyno.runner.mix.windows import Window, windows
from dyno.runner.mix.work import Settled, work
from dyno.runner.session import Job, Session


def job(asked: RunPlan) -> Job:
    """Turns a plan with several workloads or targets into a job. Starts and changes nothing.

    Raises:
        UsageError: If the combination is not supported, or a part of the plan is invalid.
        TargetError: If a target cannot be used.
    """
    wanted = members(asked)
    timed = has_windows([one.workload for one in wanted])
    mixed = any(one.drives for one in wanted) and any(not one.drives for one in wanted)
    settled = [_settle(one, asked, mixed=mixed) for one in wanted]
    places = {one.place.name: one.place for one in wanted}
    urls = [place.url for place in places.values()]
    confinement = confinement_of(asked, urls[0])
    tuned = {name: settings_of(asked, place.url, confinement) for name, place in places.items()}
    duration_s, warmup_s = _times(asked, settled) if timed else (None, None)
    if warmup_s is not None:
        settled = [replace(one, settings={**one.settings, "warmup_s": warmup_s}) for one in settled]
    order = windows([one.name for one in settled], asked.rounds, alone=asked.alone)
    criteria = _criteria(asked, [one.workload for one in wanted])
    named = tuple(dict.fromkeys(one.workload.name for one in wanted))

    def body(session: Session) -> None:
        work(session, settled, order, tuned, (warmup_s, duration_s))

    record = {
        "target": " ".join(url.redacted for url in urls),
        "members": [_member(one, timed=duration_s is not None) for one in settled],
        "alone": asked.alone,
        "rounds": asked.rounds,
        "seed": asked.seed,
        "warmup_s": warmup_s,
        "duration_s": duration_s,
        "criteria": [criterion.record() for criterion in criteria],
    }
    outline = _outline(settled, order, warmup_s, duration_s)
    question = _question([one.workload for one in wanted], urls)
    return Job(
        asked, record, named, asked.out, body, [one for each in tuned.values() for one in each],
        confinement, outline=outline, parts=_parts(settled, order, warmup_s, duration_s),
        question=question,
    )  # fmt: skip


def _settle(wanted: Wanted, asked: RunPlan, *, mixed: bool) -> Settled:
    """Checks a member as a run of its own would be checked.

    Raises:
        UsageError: If options cannot be combined, or the target does not support them.
    """
    chosen, part, url = wanted.workload, wanted.asked, wanted.place.url
    part.require_own(chosen)
    if wanted.drives:
        part.require_able(chosen)
    else:
        part = part.for_queries().model_copy(update={"test": "throughput"})
    rates, duration_s = part.paced()
    settings = part.record(rates, duration_s)
    part.require_levels(duration_s)
    needed = {
        chosen.kind: True,
        "procedure": part.mode == "procedure",
        "refresh": bool(part.refresh),
        "mixed": mixed,
    }
    for capability, is_needed in needed.items():
        if is_needed:
            targets.require(url, asked.out, capability)
    scale = None if part.scale is None else chosen.parse_scale(part.scale)
    require_able(url, asked.out, chosen, settings)
    rate = rates[0] if rates else None
    return Settled(
        wanted.name, chosen, wanted.place, wanted.label, part, settings, scale, rate, asked.alone
    )


def _times(asked: RunPlan, settled: Sequence[Settled]) -> tuple[float, float]:
    """The measured time and the warm-up, which all members share."""
    driven = [one for one in settled if one.drives]
    if not driven:
        return asked.duration_s(searched=False), asked.warmup_s()
    return driven[0].duration_s, max(one.warmup_s for one in driven)


def _criteria(asked: RunPlan, named: Sequence[Workload]) -> list[Criterion]:
    """The user's criteria, each on a metric of at least one workload, and default limits.

    Raises:
        UsageError: If a criterion is invalid, or no workload has transactions.
    """
    driven = [one for one in named if one.kind == "oltp"]
    if not driven:
        return asked.criteria(named[0])
    every = [name for one in driven for name in one.operations]
    own = parse_all(asked.criterion, metrics(every))
    if asked.no_criteria:
        return own
    known = {criterion.metric for criterion in own}
    usual = {str(one): one for work in driven for one in defaults(work.transactions)}
    return [*own, *(one for one in usual.values() if one.metric not in known)]


def _member(one: Settled, *, timed: bool) -> dict[str, Any]:
    """A member in the plan of the bundle; refresh functions run in tests to completion only."""
    tests = {} if one.drives else one.asked.tests_record()
    if timed and tests:
        tests["refresh"] = False
    rate: Rate | None = one.rate
    return {
        "member": one.name,
        "workload": one.workload.name,
        "target": one.place.name,
        "url": one.place.url.redacted,
        "scale": one.scale,
        "users": one.users,
        "rate": None if rate is None else rate.plan(),
        "mode": one.settings["mode"] if one.drives else None,
        "timeout_s": None if one.drives else one.settings["timeout_s"],
        **tests,
        **one.workload.record,
    }


def _question(named: Sequence[Workload], urls: Sequence[TargetUrl]) -> str:
    """Asks before transactions change or lock rows of tables that Dyno did not create."""
    changed = [word for one in named for word in one.changes]
    places = [url.redacted for url in urls if url.scheme != "null"]
    if not changed or not places:
        return ""
    return (
        f"{', '.join(dict.fromkeys(changed))} change or lock rows of existing tables in "
        f"{', '.join(places)}. Run them?"
    )


def _outline(
    settled: Sequence[Settled],
    order: Sequence[Window],
    warmup_s: float | None,
    duration_s: float | None,
) -> tuple[str, ...]:
    """The members and the order of the windows, for ``--dry-run``."""
    lines = [f"{one.name}: {one.words}" for one in settled]
    if warmup_s is None or duration_s is None:
        return (*lines, "Each query test runs to its end; all begin together.")
    each = f"{warmup_s:g} s of warm-up, {duration_s:g} s measured"
    total_s = len(order) * (warmup_s + duration_s)
    count = f"{len(order)} windows" if len(order) > 1 else "1 window"
    return (
        *lines,
        f"{count} ({each}, {total_s:g} s in all):",
        *(f"  {number}. {window.title}" for number, window in enumerate(order, 1)),
    )


def _parts(
    settled: Sequence[Settled],
    order: Sequence[Window],
    warmup_s: float | None,
    duration_s: float | None,
) -> list[Part]:
    """The parts of the run that report progress."""
    if warmup_s is not None and duration_s is not None:
        return [Part(warmup_s + duration_s)] * len(order)
    slowest = [
        of_queries(one.asked.scale or 1.0, one.place.url, float(max(1, one.streams_at(1.0))))
        for one in settled
    ]
    return max(slowest, key=lambda parts: parts[0].seconds)
