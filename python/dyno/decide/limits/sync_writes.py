"""Synchronous writes: sessions wait for commits while CPU and device have headroom."""

from __future__ import annotations

from dyno import workloads
from dyno.decide.limits.cpu import LEAST_PERCENT, busy_words
from dyno.decide.limits.storage import LEAST_QUEUE
from dyno.decide.view import Limit, LimitRule, View

LEAST_SHARE = 0.3


def _weigh(view: View) -> Limit | None:
    used = view.used
    if view.waits is not None:
        return None  # the waits of the sessions tell: see the rule on the log
    if view.phase.kind != "oltp" or used is None or used >= LEAST_PERCENT:
        return None
    # A commit waits only for the files of its own database.
    writing = [one for one in view.devices() if one.write_iops >= 1 and view.roles(one)]
    service = _service_ms(view)
    if not writing or not service:
        return None
    device = max(writing, key=lambda device: device.write_iops)
    if device.utilisation >= LEAST_PERCENT and device.queue_length >= LEAST_QUEUE:
        return None
    pressure = view.mean(view.resources.io_pressure) or 0.0
    share = max(min(device.write_await / service, 1.0), pressure / 100)
    if share < LEAST_SHARE:
        return None
    return Limit(
        "synchronous writes",
        share,
        f"a write took {device.write_await:.1f} ms of a transaction's {service:.1f} ms, I/O "
        f"pressure was {pressure:.0f} %, CPU was {busy_words(view)} and "
        f"{device.name} {device.utilisation:.0f} % utilised",
        (
            view.resources.device(device.name, "write_await").mean.name,
            view.resources.io_pressure.mean.name,
            view.resources.cpu_busy.mean.name,
        ),
        device.name,
    )


def _service_ms(view: View) -> float | None:
    """Mean service time of the main operation (TPC-C: New-Order)."""
    main = workloads.driven_in(view.phase.detail.workload, view.case.bundle.run.workloads).main
    return view.case.value(view.level.operation(main).service("mean"))


RULE = LimitRule(
    code="synchronous-writes",
    definition=(
        "Sessions that were not sampled. "
        f"Transactions with CPU below {LEAST_PERCENT:g} % and no saturated device, where a write "
        "to a device with the target's files "
        f"takes at least {LEAST_SHARE:.0%} of the main operation's service time, or I/O pressure "
        "(PSI some) is as high."
    ),
    explanation="A device with faster flushes, or more users for group commit, would help.",
    weigh=_weigh,
)
