"""Mixed load: several workloads or targets were not measured together, or their queries failed."""

from __future__ import annotations

from collections.abc import Iterable

from dyno import workloads
from dyno.bundle import metrics, mixes
from dyno.bundle.model import Phase
from dyno.bundle.phases.dss import DssDetail
from dyno.bundle.phases.mix import Member, MixDetail
from dyno.bundle.phases.oltp import OltpDetail
from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight
from dyno.statistics.paired import FEWEST_PAIRS

MOST_APART_PERCENT = 2.0


def _check(case: Case) -> Iterable[Ruling]:
    windows = mixes.windows(case.bundle.run)
    for phase in windows:
        if all(member.error is None for member in phase.detail.members):
            yield from _apart(case, phase)
            yield from _queries(case, phase)
            yield from _sizes(case, phase)
    yield from _shared(windows)


def _apart(case: Case, phase: Phase[MixDetail]) -> Iterable[Ruling]:
    at = metrics.MixWindow(phase.detail.name)
    apart_s, window_s = case.value(at.apart_s), phase.detail.duration_s
    if case.value(at.common_s) == 0:
        yield Ruling(
            "invalid",
            f"{phase.title}: the measurement windows of the members do not overlap. Increase "
            "--duration.",
            phase.name,
            (at.common_s.name,),
        )
    elif apart_s is not None and window_s and apart_s * 100 > window_s * MOST_APART_PERCENT:
        yield Ruling(
            "invalid",
            f"{phase.title}: the windows started {apart_s:.2f} s apart, "
            f"{100 * apart_s / window_s:.1f} % of the window. Increase --duration.",
            phase.name,
            (at.apart_s.name,),
        )


def _queries(case: Case, phase: Phase[MixDetail]) -> Iterable[Ruling]:
    if phase.detail.duration_s is None:
        return  # query tests to completion have rules of their own
    for member in phase.detail.members:
        at = metrics.MixWindow(phase.detail.name).member(member.name)
        failed, completed = case.value(at.queries_failed), case.value(at.queries)
        if failed:
            yield Ruling(
                "invalid",
                f"{phase.title}: {failed:,.0f} queries of {member.name} failed in the window.",
                member.phase,
                (at.queries_failed.name,),
            )
        elif completed is not None and completed < (fewest := _passes(member)):
            yield Ruling(
                "warning" if completed else "invalid",
                f"{phase.title}: {completed:,.0f} queries of {member.name} completed in the "
                f"window; one pass of its streams has {fewest:,}, so the result depends on "
                "which queries these were. Use a longer --duration or a smaller --scale.",
                member.phase,
                (at.queries.name,),
            )


def _sizes(case: Case, phase: Phase[MixDetail]) -> Iterable[Ruling]:
    """Warns of a sum over targets whose data differs in size."""
    sizes = {one.name: _size(one) for one in case.bundle.run.phases}
    members = phase.detail.members
    for workload in dict.fromkeys(str(member.workload) for member in members):
        own = [one for one in members if str(one.workload) == workload]
        found = {str(one.target): sizes.get(str(one.phase)) for one in own}
        if len(set(found.values())) > 1:
            held = ", ".join(f"{name} has {size or 'unknown'}" for name, size in found.items())
            total = metrics.MixTotal(phase.detail.name, workload)
            yield Ruling(
                "warning",
                f"{phase.title}: the data of {workload} differs in size: {held}. The sum is not "
                "that of equal targets.",
                phase.name,
                (total.targets.name,),
            )


def _size(phase: Phase) -> str | None:
    """The size of the data under a load; None if it is not recorded."""
    detail, days = phase.detail, None
    if isinstance(detail, OltpDetail):
        size, days = detail.size, detail.days
    elif isinstance(detail, DssDetail):
        size = detail.scale
    else:
        return None
    words = [] if size is None else [f"scale {size:g}"]
    return " and ".join([*words, *([] if days is None else [f"{days} days"])]) or None


def _passes(member: Member) -> int:
    """Queries of one pass of all its streams."""
    found = workloads.known(str(member.workload))
    return 1 if found is None else max(1, found.pass_queries * round(member.users or 1))


def _shared(windows: list[Phase[MixDetail]]) -> Iterable[Ruling]:
    for phase in windows:
        members = phase.detail.members
        if len(members) > 1:
            names = " and ".join(str(member.name) for member in members)
            yield Ruling(
                "note",
                f"{names} ran at the same time: the CPU, memory and device metrics of each phase "
                "cover all of them. Do not add them up.",
                phase.name,
                tuple(str(member.phase) for member in members),
            )
            break
    alone = [phase for phase in windows if phase.detail.alone is not None]
    rounds = max((phase.detail.round or 1 for phase in alone), default=FEWEST_PAIRS)
    if rounds < FEWEST_PAIRS:
        name, many = str(alone[0].detail.alone), "s"[: rounds != 1]
        yield Ruling(
            "note",
            f"The slowdown is from {rounds} pair{many} of windows, too few for an interval. Use "
            f"--repeat {FEWEST_PAIRS} or more.",
            alone[0].name,
            (metrics.Slowdown(name).pairs.name,),
        )


RULE = Rule(
    code="mixed-load",
    weight=Weight.DOUBTFUL,
    definition=(
        "With several workloads or targets at once, transaction windows started more than "
        f"{MOST_APART_PERCENT:g} % of the window apart, measurement windows do not "
        "overlap, or queries failed or none completed in the window. Warnings: fewer queries "
        "completed than the streams have in one pass; the data of a workload differs in size "
        "between targets. Notes: the members shared the machine; "
        f"{FEWEST_PAIRS} pairs of windows give an interval, fewer do not."
    ),
    explanation=(
        "Throughputs of different periods do not add up, and a rate of part of a pass depends on "
        "which queries ended in it."
    ),
    check=_check,
)
