"""TCP retransmits: segments sent again, as this machine's network counts them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dyno.criteria.base import LIMITS_OF_2013, PERCENT, Default, Measured, Metric, Missing, Window
from dyno.criteria.sampled import FEW, FEWEST


def _measure(window: Window, stat: str, kind: str) -> Measured | Missing:  # noqa: ARG001
    if window.place == "process":
        return Missing("no network: the target runs inside Dyno")
    sent = dict(window.samples("network", "tcp", "segments_out"))
    again = dict(window.samples("network", "tcp", "segments_retransmitted"))
    shares = [
        (t_ns, 100 * again.get(t_ns, 0.0) / count) for t_ns, count in sent.items() if count > 0
    ]
    if len(sent) < FEWEST:
        return FEW
    total = window.mean("network", "tcp", "segments_out") or 0.0
    if total <= 0:
        return Missing("no TCP segments were sent", idle=True)
    if stat == "max":
        return Measured(max(share for _, share in shares), shares)
    note = "seen from the driver's machine" if window.place == "elsewhere" else ""
    resent = window.mean("network", "tcp", "segments_retransmitted") or 0.0
    return Measured(100 * resent / total, shares, note)


def metrics(operations: Sequence[str]) -> Iterable[Metric]:  # noqa: ARG001
    """``retransmits``."""
    yield Metric(
        "retransmits",
        "retransmitted TCP segments, of those sent",
        (PERCENT,),
        ("mean", "max"),
        _measure,
        Default("retransmits mean < 0.5 %", LIMITS_OF_2013),
    )
