"""Storage: a device is busy all the time, and requests queue for it."""

from __future__ import annotations

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
                f"{device.name} was in use {device.utilisation:.0f} % of the time with "
                f"{device.queue_length:.1f} requests in flight, {await_ms:.1f} ms each",
                (
                    view.resources.device(device.name, "utilisation").mean.name,
                    view.resources.device(device.name, "queue_length").mean.name,
                ),
            )
    return None


RULE = LimitRule(
    code="storage",
    definition=(
        f"A device in use at least {LEAST_PERCENT:g} % of the time, with a mean queue of at least "
        f"{LEAST_QUEUE:g}."
    ),
    explanation="Faster storage, or memory enough to need less of it, would raise the figure.",
    weigh=_weigh,
)
