"""Criteria: pass/fail limits, their language, and the metrics they apply to.

``METRIC [STAT] OP VALUE [UNIT]``: ``new_order p95 < 500 ms``, ``cpu < 70 %``, ``errors = 0``.
A metric lives in ``criteria/measures``; what it reads, analysis offers it as a ``Window``.
"""

from __future__ import annotations

from dyno.criteria.asked import asked, judging, known
from dyno.criteria.base import Measured, Metric, Missing, Window
from dyno.criteria.language import USER, Criterion, parse, parse_all
from dyno.criteria.registry import defaults, metrics

__all__ = [
    "USER",
    "Criterion",
    "Measured",
    "Metric",
    "Missing",
    "Window",
    "asked",
    "defaults",
    "judging",
    "known",
    "metrics",
    "parse",
    "parse_all",
]
