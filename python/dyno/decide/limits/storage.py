"""Storage: a device is saturated."""

from __future__ import annotations

from dyno.bundle.carriers import of_target
from dyno.decide.throttle import LEAST, throttle
from dyno.decide.view import Device, Limit, LimitRule, View

LEAST_PERCENT = 85.0
LEAST_QUEUE = 1.5


def _weigh(view: View) -> Limit | None:
    devices = _own(view)
    for device in devices:
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
    for device in devices:
        if (limited := throttle(view, device)) is not None:
            words = f"{device.name} had {limited.words}"
            name = f"storage ({device.name})"
            return Limit(name, limited.share, words, (limited.evidence,), device.name)
    return None


def _own(view: View) -> list[Device]:
    """The devices with files of the target; all if none is known, or if a load may read others."""
    devices, named = view.devices(), of_target(view.case.bundle.run, view.phase.target)
    if view.phase.kind in {"load", "index", "io"} or not named:
        return devices
    return [one for one in devices if view.roles(one)]


RULE = LimitRule(
    code="storage",
    definition=(
        f"A device with files of the target, with at least {LEAST_PERCENT:g} % utilisation and a "
        f"mean queue length of at least {LEAST_QUEUE:g}; or one that used at least {LEAST:.0%} of "
        "the run's limit on its I/O (--limit)."
    ),
    explanation="Faster storage, or more memory for caching, would help.",
    weigh=_weigh,
)
