"""``dyno watch TARGET``: records a system that Dyno does not load."""

from __future__ import annotations

from dyno.cli._options import Options
from dyno.cli._work import conduct
from dyno.plans.fields import made
from dyno.plans.watch import WatchPlan


def record(
    target: str,
    duration: str | None,
    interval: str | None,
    options: Options,
    **elsewhere: tuple[str, ...],
) -> int:
    """Records ``target`` and prints the summary; returns the exit code.

    Args:
        target: URL of a running server; ``host:`` is this machine alone.
        duration: How long to record; None: until Ctrl-C.
        interval: Time between two samples of the machine.
        options: The shared options.
        elsewhere: Agents and exporters, as of ``plans.elsewhere``.

    Raises:
        UsageError: If a value is invalid.
    """
    from dyno.runner.watch import job

    given = {"duration": duration, "interval": interval, **elsewhere}
    values = {name: value for name, value in given.items() if value}
    return conduct(job(made(WatchPlan, {"target": target, "out": options.out, **values})), options)
