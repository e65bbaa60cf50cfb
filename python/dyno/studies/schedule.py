"""The order of the runs of a study: blocks in random order, there and back.

A block has every variant twice, in an order drawn by lot and then in its reverse: ABBA or BAAB of
two. What drifts evenly over a block meets all variants alike, and what is found in pairs of
neighbours is free of what changes from block to block. An odd last half is only there.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from dyno.bundle.model import Model


class Slot(Model):
    """A run to be made.

    Attributes:
        place: From 0, in the order of the study.
        pair: Slots of one pair are compared with each other; from 0.
    """

    place: int
    pair: int
    variant: str


def schedule(variants: Sequence[str], pairs: int, seed: int) -> list[Slot]:
    """As many runs of each variant as there are pairs, the same for the same seed."""
    lot = random.Random(seed)  # noqa: S311 - an order, no secret
    slots: list[Slot] = []
    order: list[str] = []
    for pair in range(pairs):
        order = order[::-1] if pair % 2 else lot.sample(list(variants), len(variants))
        slots += [
            Slot(place=len(slots) + index, pair=pair, variant=name)
            for index, name in enumerate(order)
        ]
    return slots
