"""``--what-if``: a given number of CPUs, servers or devices against what is wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dyno.decide.size.checks import FARTHEST
from dyno.decide.size.count import Need, count
from dyno.decide.size.demand import Decisions, Transactions
from dyno.decide.size.lot import spread
from dyno.decide.size.model import WhatIf
from dyno.decide.size.servers import RESPONSES, Responses
from dyno.decide.size.wants import Wants
from dyno.errors import UsageError, unknown

WORDS = ("cpus", "servers", "devices")
MOST = 1_000_000
_BY_LOAD = ("CPU", "limits of the search", "IOPS", "device time", "MB/s")
"""Resources that more load takes more of."""
_EXACT = 1e-9


def read(texts: Mapping[str, str]) -> dict[str, float]:
    """Reads ``cpus=8``, ``servers=2``, ``devices=4``.

    Raises:
        UsageError: For an unknown word, or a number that is not whole and above zero.
    """
    for name, text in texts.items():
        if name not in WORDS:
            raise unknown("what-if", name, WORDS)
        if not text.isascii() or not text.isdigit() or not 0 < int(text[:9]) <= MOST:
            raise UsageError(f"--what-if {name}={text}: give a whole number above zero.")
    return {name: float(text) for name, text in texts.items()}


def require(
    given: Mapping[str, float], work: Transactions | None, queries: Decisions | None
) -> None:
    """Refuses CPUs beyond twice those that were measured.

    Raises:
        UsageError: With both numbers.
    """
    cpus = given.get("cpus")
    top = work.top if work is not None else queries.top if queries is not None else None
    if cpus is not None and top is not None and not 1 / FARTHEST <= cpus / top.cpus <= FARTHEST:
        raise UsageError(
            f"cpus={cpus:g} is more than {FARTHEST:g} times away from the {top.cpus:g} that were "
            f"measured ({top.source}), and how the server scales is unknown. Measure with "
            f"--limit cpus, or on such a machine."
        )


def what_if(
    asked: dict[str, float],
    work: Transactions | None,
    queries: Decisions | None,
    wants: Wants,
    of_servers: Sequence[Need],
    responses: Responses | None,
    of_devices: Sequence[Need],
    devices: float | None,
) -> WhatIf:
    """What the given numbers carry; numbers that are not given are those recommended."""
    by_load = [one for one in of_servers if one.resource not in RESPONSES]
    recommended = count([one for one in of_servers if np.isfinite(spread(one.drawn).high)])
    servers = round(asked.get("servers", recommended.recommended if recommended else 0))
    shares = [
        *((one.resource, one.drawn / max(1, servers)) for one in by_load),
        *((one.resource, one.drawn / (devices or 1)) for one in of_devices),
    ]
    used = {name: spread(drawn) for name, drawn in shares}
    holds = all(one.high <= 1 + _EXACT for one in used.values())
    mean = p95 = None
    if responses is not None:
        mean, p95 = responses.at(max(1, servers))
        holds &= wants.p95_ms is None or p95.high <= wants.p95_ms * (1 + _EXACT)
        holds &= wants.mean_ms is None or mean.high <= wants.mean_ms * (1 + _EXACT)
    tps, limited = None, ""
    carrying = [(name, drawn) for name, drawn in shares if name in _BY_LOAD]
    if work is not None and queries is None and carrying:
        most = [work.tps / drawn for _, drawn in carrying]
        most.append(np.full_like(work.tps, FARTHEST * work.top.tps * max(1, servers)))
        names = [*(name for name, _ in carrying), f"{FARTHEST:g} times what was measured"]
        tps = spread(np.min(most, axis=0))
        limited = names[int(np.argmin([spread(one).mid for one in most]))]
    return WhatIf(
        asked,
        servers or None,
        None if devices is None else round(devices),
        used,
        holds,
        mean,
        p95,
        tps,
        limited,
    )
