"""Checkpoints: a server's own work that comes in waves, so that steady work has to span several.

A target that counts them has a probe called :data:`SOURCE`. Engines that write their pages all the
time have no waves, and no such probe.
"""

from __future__ import annotations

from dyno.contracts.probe import Sample

SOURCE, BEGUN = "checkpoints", "begun"


def samples(target: str, begun: int, setting: str, interval_s: float) -> list[Sample]:
    """What a server's counters say.

    Args:
        target: Its name.
        begun: Checkpoints that have begun since it last reset its counters.
        setting: The server's name for the time that follows.
        interval_s: Longest time from the start of one to that of the next, while it has work.
    """
    return [
        Sample(SOURCE, target, BEGUN, float(begun), "count"),
        Sample(SOURCE, target, setting, interval_s, "s"),
    ]
