"""Analysis stage: metrics from a bundle. Pure: the same bundle gives the same estimates."""

from __future__ import annotations

import math

from dyno.analyse.certify import certify
from dyno.analyse.criteria import criteria
from dyno.analyse.criteria import of_level as criteria_level
from dyno.analyse.dss import dss
from dyno.analyse.during import during
from dyno.analyse.freshness import freshness
from dyno.analyse.io import io
from dyno.analyse.io_course import io_course
from dyno.analyse.load import load
from dyno.analyse.mix import mix
from dyno.analyse.oltp import of_level as oltp_level
from dyno.analyse.oltp import oltp
from dyno.analyse.resources import resources
from dyno.analyse.search import search
from dyno.analyse.streams import streams
from dyno.analyse.watch import watch
from dyno.bundle.model import Estimate
from dyno.bundle.reader import Bundle

TOPICS = (
    io,
    io_course,
    load,
    dss,
    streams,
    freshness,
    certify,
    oltp,
    mix,
    during,
    resources,
    watch,
    criteria,
    search,
)


def of_level(bundle: Bundle, level: str) -> list[Estimate]:
    """Returns the estimates of one load level and its criteria, also during a run."""
    return [*oltp_level(bundle, level), *criteria_level(bundle, level)]


def estimate(bundle: Bundle) -> list[Estimate]:
    """Returns all estimates of the bundle; parts that the bundle lacks are absent.

    Estimates that are not finite are left out; they only come from a bundle with absurd values.

    Raises:
        UsageError: If a table of the bundle is damaged.
    """
    every = (one for topic in TOPICS for one in topic(bundle))
    return [_bounded(one) for one in every if math.isfinite(one.value)]


def _bounded(found: Estimate) -> Estimate:
    """Returns the estimate, without its interval if a bound is not finite."""
    if all(end is None or math.isfinite(end) for end in (found.low, found.high)):
        return found
    return found.model_copy(update={"low": None, "high": None})
