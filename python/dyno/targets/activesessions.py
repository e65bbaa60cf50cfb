"""Means of the active sessions by wait, from frequent readings of a server's list of sessions.

Reading the list disturbs sessions that run without a pause more than its CPU time suggests
(``benches/observe.txt``), so a product may rest after a reading. The periods between two readings
count half for either: a wait may begin in any of them.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

from dyno.bundle.inside import SESSIONS, WaitClass
from dyno.contracts.probe import Sample
from dyno.targets.sessionprobe import Ask, Budget, Session

PERIOD_S = 0.1
_READINGS = 10
"""Periods in a sample: one a second."""

Wait = tuple[WaitClass, str]
_IDLE: Wait = ("cpu", "running")
Found = tuple[Counter[Wait], int]
"""The sessions in each wait, and how many of the next readings may be left out."""


def reader(target: str, find: Callable[[Session], Found]) -> Ask[Session]:
    """A reader that returns the means of every ten periods.

    Args:
        target: The subject of its samples.
        find: Reads the active sessions other than its own.
    """
    last: Counter[Wait] = Counter()
    total: dict[Wait, float] = defaultdict(float)
    due = since = 0
    counted = 0.0
    budget = Budget(PERIOD_S)

    def count(seen: Counter[Wait], periods: float) -> None:
        nonlocal counted
        counted += periods
        for wait, sessions in seen.items():
            total[wait] += sessions * periods

    def ask(session: Session, now_ns: int) -> Sequence[Sample]:  # noqa: ARG001
        nonlocal due, since, counted, last
        due += 1
        if budget.allows():
            began_s = time.thread_time()
            found, rest = find(session)
            if since:
                count(last, since / 2)
            count(found, 1 + since / 2)
            last, since = found, 0
            budget.spend(time.thread_time() - began_s, rest)
        else:
            since += 1
        if due < _READINGS or not counted:
            return ()
        means = {wait: sessions / counted for wait, sessions in total.items()} or {_IDLE: 0.0}
        total.clear()
        due, counted = 0, 0.0
        return [
            Sample(SESSIONS, target, f"{known}/{event}", mean, "count")
            for (known, event), mean in means.items()
        ]

    return ask
