"""Storage: a device is saturated."""

from __future__ import annotations

from dyno.decide.throttle import LEAST, throttle
from dyno.decide.view import Limit, LimitRule, View

LEAST_PERCENT = 85.0
LEAST_QUEUE = 1.5


def _weigh(view: View) -> Limit | None:
    for device in view.devices():
        if device.utilisation >= LEAST_PERCENT and device.queue_length >= LEAST_QUEUE:
            await_ms = max(device.read_await, device.write_await)
            return Limit(
                f"storage ({device.name})",
                device.utilisation / 100,
                f"{device.name} was {device.utilisation:.0f} % utilised with queue length "
                f"{device.queue_length:.1f} and await {await_ms:.1f} ms",
                (
                    view.resources.device(device.name, "utilisation").mean.name,
                    view.resources.device(device.name, "queue_length").mean.name,
                ),
                device.name,
            )
    for device in view.devices():
        if (limited := throttle(view, device)) is not None:
            words = f"{device.name} had {limited.words}"
            name = f"storage ({device.name})"
            return Limit(name, limited.share, words, (limited.evidence,), device.name)
    return None


RULE = LimitRule(
    code="storage",
    definition=(
        f"A device with utilisation of at least {LEAST_PERCENT:g} % and a mean queue length of at "
        f"least {LEAST_QUEUE:g}; or one that used at least {LEAST:.0%} of the run's limit on its "
        "I/O (--limit)."
    ),
    explanation="Faster storage, or more memory for caching, would help.",
    weigh=_weigh,
)
