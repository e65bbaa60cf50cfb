"""CPU quota: the engine exhausted its CPU quota."""

from __future__ import annotations

from dyno.decide.view import Limit, LimitRule, View

LEAST_PERCENT = 50.0


def _weigh(view: View) -> Limit | None:
    confined = view.case.bundle.run.confined
    share = None if confined is None else confined.throttled_share
    if confined is None or share is None or 100 * share < LEAST_PERCENT:
        return None
    quota = confined.limits.get("cpu")
    if _used_less(view.cpus_worked, quota):
        return None  # another phase was throttled: the counters are of the whole run
    return Limit(
        "CPU quota",
        share,
        f"the quota of {quota} CPUs throttled {100 * share:.0f} % of the periods",
        (f"throttled_periods = {confined.throttled_periods} of {confined.periods}",),
    )


def _used_less(worked: float | None, quota: str | None) -> bool:
    """Whether a phase used less than it would, throttled in as many periods."""
    try:
        return worked is not None and worked < float(quota or "nan") * LEAST_PERCENT / 100
    except ValueError:
        return False


RULE = LimitRule(
    code="quota",
    definition=(
        f"The engine's CPU quota (--limit cpu) throttled it in at least {LEAST_PERCENT:g} % of the "
        "periods of the run in which it was active, and the phase used at least as large a part of "
        "the quota."
    ),
    explanation="A larger --limit cpu, or less work per transaction, would help.",
    weigh=_weigh,
)
