"""Stage: figures from a bundle. Pure: the same bundle gives the same estimates anywhere."""

from __future__ import annotations

import math

from dyno.analyse.criteria import criteria
from dyno.analyse.criteria import of_level as criteria_level
from dyno.analyse.dss import dss
from dyno.analyse.during import during
from dyno.analyse.io import io
from dyno.analyse.io_course import io_course
from dyno.analyse.load import load
from dyno.analyse.oltp import of_level as oltp_level
from dyno.analyse.oltp import oltp
from dyno.analyse.resources import resources
from dyno.analyse.search import search
from dyno.analyse.streams import streams
from dyno.bundle.model import Estimate
from dyno.bundle.reader import Bundle

TOPICS = (io, io_course, load, dss, streams, oltp, during, resources, criteria, search)


def of_level(bundle: Bundle, level: str) -> list[Estimate]:
    """The figures of one level of load and of its criteria, also while the run goes on."""
    return [*oltp_level(bundle, level), *criteria_level(bundle, level)]


def estimate(bundle: Bundle) -> list[Estimate]:
    """All figures that the bundle holds; parts that it lacks are absent.

    So are figures that are not finite: a bundle of absurd numbers gives them, and they say nothing.

    Raises:
        UsageError: If a table of the bundle is damaged.
    """
    every = (figure for topic in TOPICS for figure in topic(bundle))
    return [_bounded(figure) for figure in every if math.isfinite(figure.value)]


def _bounded(figure: Estimate) -> Estimate:
    """The figure, without an interval of which an end is not finite."""
    if all(end is None or math.isfinite(end) for end in (figure.low, figure.high)):
        return figure
    return figure.model_copy(update={"low": None, "high": None})
