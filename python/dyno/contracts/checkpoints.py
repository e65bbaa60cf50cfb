"""Checkpoints: periodic work of a server, so a steady measurement must span several.

A target that counts them has a probe called :data:`SOURCE`. Engines that write pages
continuously have no checkpoints, and no such probe.
"""

from __future__ import annotations

from dyno.contracts.probe import Sample

SOURCE, BEGUN = "checkpoints", "begun"


def samples(target: str, begun: int, setting: str, interval_s: float) -> list[Sample]:
    """Checkpoint counters of a server.

    Args:
        target: The target's name.
        begun: Checkpoints that have started since the last reset of the counters.
        setting: The server's name of the next setting.
        interval_s: Maximum time between the starts of two checkpoints under load.
    """
    return [
        Sample(SOURCE, target, BEGUN, float(begun), "count"),
        Sample(SOURCE, target, setting, interval_s, "s"),
    ]
