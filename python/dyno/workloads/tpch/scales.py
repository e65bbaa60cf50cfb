"""Scale factors at which each part has four different suppliers by TPC-H's formula.

Part ``p`` (from 1) of a scale with ``S`` suppliers has the suppliers ``(p + i·t) mod S + 1`` for
``i`` in 0…3, with the stride ``t = S//4 + (p - 1)//S`` (TPC-H specification, 4.2.3). Two of them
are equal if ``i·t`` is a multiple of ``S`` for an ``i`` in 1…3: then partsupp has no key.
"""

from __future__ import annotations

SMALLEST, LARGEST = 0.0031, 10_000

_SUPPLIERS, _PARTS = 10_000, 200_000
# S/3 and S/2 are further from S//4 than any of the 21 strides of a scale.
_ALWAYS_GOOD = 1000


def is_good(scale: float) -> bool:
    """Whether the suppliers of every part are distinct at a scale factor."""
    # Truncate products like the generator.
    suppliers, parts = int(_SUPPLIERS * scale), int(_PARTS * scale)
    if suppliers >= _ALWAYS_GOOD:
        return True
    if suppliers < 1:
        return False
    first = suppliers // 4
    strides = range(first, first + (parts - 1) // suppliers + 1)
    return all(i * stride % suppliers for stride in strides for i in (1, 2, 3))


def nearest_good(scale: float) -> list[float]:
    """The nearest valid scale factors below and above, in steps of one supplier."""
    below = above = round(scale * _SUPPLIERS)
    while below > 0 and not is_good(below / _SUPPLIERS):
        below -= 1
    while not is_good(above / _SUPPLIERS):
        above += 1
    return [count / _SUPPLIERS for count in (below, above) if count > 0]
