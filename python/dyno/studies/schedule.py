"""The run order of a study: randomized blocks, each followed by its reverse.

A block contains every variant twice, in random order and then reversed: ABBA or BAAB for two
variants. A linear drift within a block affects all variants equally, and comparing adjacent pairs
removes differences between blocks. With an odd number of pairs, the last block has no reverse.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from dyno.bundle.model import Model


class Slot(Model):
    """A planned run.

    Attributes:
        place: Its position in the study, from 0.
        pair: Slots of the same pair are compared with each other; from 0.
    """

    place: int
    pair: int
    variant: str


def schedule(variants: Sequence[str], pairs: int, seed: int) -> list[Slot]:
    """The order of ``pairs`` runs per variant; deterministic for a seed."""
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
