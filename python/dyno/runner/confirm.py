"""``--confirm-limit``: tests the bottleneck of the best level by changing its resource."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from dyno.analyse import estimate
from dyno.bundle import metrics, superseded
from dyno.bundle.model import has_detail, those
from dyno.bundle.phases.confirm import ConfirmDetail, Window
from dyno.bundle.phases.oltp import OltpDetail
from dyno.bundle.reader import Bundle
from dyno.confinement.devices import disk_of
from dyno.confinement.run import Confinement
from dyno.contracts.target import Target
from dyno.decide.bottleneck import Bottleneck, bottlenecks
from dyno.decide.case import Case
from dyno.decide.view import View, view
from dyno.runner import stages
from dyno.runner.session import Session
from dyno.runtime.seeds import in_series
from dyno.stages.drive import OltpPlan
from dyno.statistics.elasticity import Elasticity, elasticity, strength, undecided

PAIRS = 12
"""Many short pairs: adjacent windows share the slow disturbances of a machine."""
LOOKS = 2
"""As many pairs again if these are undecided; signed ranks of all bear a stall or two."""
SHORTEST_S, LONGEST_S = 1.0, 5.0
WARMUP_S = 1.0
STEP = 0.2

_OF_CPU = frozenset({"cpu", "quota"})
_OF_IO = frozenset({"storage", "log", "data", "temp", "synchronous-writes"})
_IO = ("read_iops", "write_iops", "read_bytes", "write_bytes")
_WRITES = ("write_iops", "write_bytes")
_OF_WRITES = frozenset({"log", "synchronous-writes"})


@dataclass(frozen=True)
class Change:
    """What is changed to test a bottleneck.

    Attributes:
        limits: The limits by name, with their size in the run.
        larger, smaller: The factors of the two kinds of windows.
        devices: The block devices on which limits on I/O are changed.
    """

    limits: Mapping[str, float]
    larger: float = 1 + STEP
    smaller: float = 1 - STEP
    devices: tuple[str, ...] = ()


def confirm(session: Session, target: Target, plans: list[OltpPlan]) -> None:
    """Repeats the level with the highest throughput in short windows, with its resource changed.

    The windows are set aside: only their throughput counts, and only for this.
    """
    recorder, limits = session.recorder, session.confinement
    if limits is not None:
        recorder.update(confined=limits.effects())
    found = _best(Bundle.open(recorder.path))
    if found is None or limits is None:
        return
    case, best = found
    detail = ConfirmDetail(of=best.phase.name, resource=best.limit and best.limit.resource)
    change = _change(view(case, best.phase), best, limits)
    title = f"Confirm the bottleneck of {target.name}"
    plan = next(one for one in plans if one.level == _level(best))
    before = superseded.mark(recorder)
    windows = [] if isinstance(change, str) else _windows(session, target, plan, change, limits)
    if windows:
        superseded.set_aside(recorder, before, "windows of --confirm-limit", "test of a limit")
    with recorder.phase("confirm", title, detail, target.name) as recording:
        if isinstance(change, str):
            recording.detail = detail.model_copy(update={"reason": change})
        else:
            recording.detail = _measured(detail, change, windows)
    session.events.say(f"  {_words(recording.detail)}")


def _best(bundle: Bundle) -> tuple[Case, Bottleneck] | None:
    """The bottleneck of the level with the highest throughput."""
    case = Case.of(bundle, estimate(bundle))
    levels = [one for one in bottlenecks(case) if one.phase.kind == "oltp"]
    rates = {
        phase.name: case.value(metrics.Level(phase.detail.level).tps) or 0.0
        for phase in those(bundle.run.phases, OltpDetail)
    }
    best = max(levels, key=lambda one: rates.get(one.phase.name, 0.0), default=None)
    return None if best is None else (case, best)


def _level(best: Bottleneck) -> str | None:
    return best.phase.detail.level if has_detail(best.phase, OltpDetail) else None


def _change(seen: View, found: Bottleneck, limits: Confinement) -> Change | str:
    """What to change, or why it cannot be changed."""
    if found.limit is None:
        return "no bottleneck was identified"
    own = {bound.word.name: bound.value for bound in limits.asked}
    if found.code in _OF_CPU:
        cpu = own["cpu"]
        if cpu < seen.processors:
            return Change({"cpu": cpu}, min(1 + STEP, seen.processors / cpu))
        idle = seen.processors * (1 - (seen.used or 0.0) / 100)
        # What other processes use is not the engine's to lose.
        return Change({"cpu": min(cpu, (seen.cpus_worked or cpu) + idle)}, 1.0)
    if found.code in _OF_IO:
        words = _WRITES if found.code in _OF_WRITES else _IO
        named = {word: own[word] for word in words if word in own}
        if not named:
            return f"Dyno changes I/O only through a limit of the run (--limit {words[0]}=N …)"
        return _of_device(named, found.limit.device, limits)
    return f"Dyno cannot change {found.limit.resource}"


def _of_device(named: Mapping[str, float], device: str, limits: Confinement) -> Change | str:
    """The change of limits on I/O on this device; on all of them without one."""
    if not device:
        return Change(named, devices=limits.devices)
    if (disk := disk_of(device)) not in limits.devices:
        return f"this run limits no I/O on {disk}"
    return Change(named, devices=(disk,))


def _windows(
    session: Session, target: Target, plan: OltpPlan, change: Change, limits: Confinement
) -> list[Window]:
    """Runs the windows in alternating order (ABBA)."""
    duration_s = min(max(plan.duration_s / 2, SHORTEST_S), LONGEST_S)
    windows: list[Window] = []
    with limits.changing(change.devices) as set_limit:
        for _ in range(LOOKS):
            for _ in range(2 * PAIRS):
                number = len(windows)
                factor = change.larger if number % 4 in (0, 3) else change.smaller
                for name, value in change.limits.items():
                    set_limit(name, factor * value)
                seed = in_series(plan.seed, plan.workload, number + 1, "confirm")
                short = replace(
                    plan, warmup_s=WARMUP_S, duration_s=duration_s, window=number + 2, seed=seed
                )
                stages.level(session, target, short)
                done = those(session.recorder.run.phases, OltpDetail)[-1].detail.outcome
                windows.append(Window(factor=factor, tps=None if done is None else done.tps))
            found = _elasticity(change, windows)
            if found is None or not undecided(found):
                break
    return windows


def _elasticity(change: Change, windows: list[Window]) -> Elasticity | None:
    pairs = [
        (larger, smaller)
        for one, other in zip(windows[::2], windows[1::2], strict=True)
        for larger, smaller in [_ordered(one, other)]
    ]
    return elasticity(pairs, change.larger, change.smaller)


def _measured(detail: ConfirmDetail, change: Change, windows: list[Window]) -> ConfirmDetail:
    found = _elasticity(change, windows)
    measured = {
        "changed": dict(change.limits), "devices": change.devices, "windows": tuple(windows),
    }  # fmt: skip
    if found is None:
        return detail.model_copy(update={**measured, "reason": "a window had no transactions"})
    result = {"elasticity": found.centre, "low": found.low, "high": found.high}
    return detail.model_copy(update={**measured, **result})


def _ordered(one: Window, other: Window) -> tuple[float, float]:
    """The throughput with the larger and with the smaller resource."""
    larger, smaller = sorted((one, other), key=lambda window: -(window.factor or 0.0))
    return float(larger.tps or 0.0), float(smaller.tps or 0.0)


def _words(detail: ConfirmDetail) -> str:
    if detail.elasticity is None:
        return f"bottleneck not tested: {detail.reason}"
    found = strength(detail.elasticity, detail.low or 0.0)
    interval = f"{detail.low or 0.0:.2f} to {detail.high or 0.0:.2f}"
    return f"{detail.resource}: {found}, elasticity {detail.elasticity:.2f} ({interval})"
