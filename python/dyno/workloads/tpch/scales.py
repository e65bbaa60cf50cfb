"""Scale factors at which TPC-H's formula gives each part four different suppliers.

Part ``p`` (from 1) of a scale with ``S`` suppliers has the suppliers ``(p + i·t) mod S + 1`` for
``i`` in 0…3, with the stride ``t = S//4 + (p - 1)//S`` (TPC-H specification, 4.2.3). Two of them
meet where ``i·t`` is a multiple of ``S`` for an ``i`` in 1…3: then partsupp has no key.
"""

from __future__ import annotations

SMALLEST, LARGEST = 0.0031, 10_000

_SUPPLIERS, _PARTS = 10_000, 200_000
# A stride of S/3 or S/2 lies further from S//4 than any of the 21 strides of a scale goes.
_ALWAYS_GOOD = 1000


def is_good(scale: float) -> bool:
    """Whether no part has a supplier twice at a scale factor."""
    # Products are cut as the generator cuts them.
    suppliers, parts = int(_SUPPLIERS * scale), int(_PARTS * scale)
    if suppliers >= _ALWAYS_GOOD:
        return True
    if suppliers < 1:
        return False
    first = suppliers // 4
    strides = range(first, first + (parts - 1) // suppliers + 1)
    return all(i * stride % suppliers for stride in strides for i in (1, 2, 3))


def nearest_good(scale: float) -> list[float]:
    """The good scale factors next below and above one, in steps of a supplier."""
    below = above = round(scale * _SUPPLIERS)
    while below > 0 and not is_good(below / _SUPPLIERS):
        below -= 1
    while not is_good(above / _SUPPLIERS):
        above += 1
    return [count / _SUPPLIERS for count in (below, above) if count > 0]
