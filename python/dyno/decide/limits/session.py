"""Single-thread CPU: each session saturates one CPU while others are idle."""

from __future__ import annotations

from dyno.decide.limits.cpu import LEAST_PERCENT
from dyno.decide.view import Limit, LimitRule, View

MOST_CPUS = 1.25
"""Per session; more implies other threads, such as parallel workers."""


def _weigh(view: View) -> Limit | None:
    used, worked = view.used, view.cpus_worked
    if used is None or worked is None:
        return None
    if used >= LEAST_PERCENT or view.sessions >= view.processors or view.phase.kind == "watch":
        return None
    share = worked / view.sessions
    if not LEAST_PERCENT / 100 <= share <= MOST_CPUS:
        return None
    word = "one session" if view.sessions == 1 else f"{view.sessions} sessions"
    return Limit(
        f"the CPU of {word}",
        min(share, 1.0),
        f"the target kept {worked:.1f} of {view.processors} CPUs busy",
        (view.resources.cpu_busy.mean.name,),
    )


RULE = LimitRule(
    code="cpu-of-sessions",
    definition=(
        f"Fewer sessions than CPUs, and the target used {LEAST_PERCENT:g} to {100 * MOST_CPUS:g} % "
        "of a CPU per session while other CPUs were idle."
    ),
    explanation="Faster CPUs or more parallelism would help; more of the same CPUs would not.",
    weigh=_weigh,
)
