"""CPU: all CPUs are busy."""

from __future__ import annotations

from dyno.bundle.model import has_detail
from dyno.bundle.phases.oltp import OltpDetail
from dyno.decide.quiet import MOST_FOREIGN_PERCENT
from dyno.decide.view import Limit, LimitRule, View, machine_of, processors_of
from dyno.decide.waits import LEAST_SHARE

LEAST_PERCENT = 85.0


def _weigh(view: View) -> Limit | None:
    busy, used = view.busy, view.used
    foreign = view.foreign or 0.0
    if busy is None or used is None or used < LEAST_PERCENT or foreign > MOST_FOREIGN_PERCENT:
        return None
    if not view.needs_cpu:
        return None
    facts = f"the {view.processors} CPUs were {busy_words(view)}"
    if view.confined:
        count = "CPU" if view.processors == 1 else f"{view.processors} CPUs"
        facts = f"the target used {used:.0f} % of the {count} that it may use"
    evidence = [view.resources.cpu_busy.mean.name, view.resources.cpu_steal.mean.name]
    driver = view.case.value(view.level.client_cpu_s)
    if machine_of(view.case, view.phase.target):
        driver = None  # it ran on another machine
    if driver is not None and has_detail(view.phase, OltpDetail) and view.phase.detail.duration_s:
        # The driver's CPU time is that of all its measured time.
        at = view.level
        seconds = sum(view.case.value(key) or 0 for key in (at.seconds, at.left_out_s))
        if seconds > 0:
            share = 100 * driver / (seconds * processors_of(view.case, view.phase))
            facts += f" (driver: {share:.0f} %)"
    if view.waits is not None:
        facts += f"; {view.waits.words('cpu')}"
        evidence += view.waits.names.get("cpu", ())
    return Limit("CPU", used / 100, facts, tuple(evidence))


def busy_words(view: View) -> str:
    """``80 % busy, 9 % steal``; steal only if at least 1 %."""
    stolen = f", {view.steal:.0f} % steal" if view.steal >= 1 else ""
    return f"{view.busy or 0.0:.0f} % busy{stolen}"


RULE = LimitRule(
    code="cpu",
    definition=(
        f"Mean CPU utilisation plus steal of at least {LEAST_PERCENT:g} %, with at most "
        f"{MOST_FOREIGN_PERCENT:g} % background load, unless sessions spend less than "
        f"{LEAST_SHARE:.0%} of their time running or outside the database."
    ),
    explanation="More or faster CPUs, or less work per transaction, would help.",
    weigh=_weigh,
)
