"""Variation between the runs of one variant."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from dyno.bundle.model import Model
from dyno.statistics.paired import percent
from dyno.studies.model import Study
from dyno.studies.pairs import counted, metric_names, sound
from dyno.studies.store import Entry


class Spread(Model):
    """Standard deviation of a variant's metric between runs, in percent."""

    variant: str
    metric: str
    runs: int
    percent: float


def spreads(study: Study, entries: Sequence[Entry]) -> list[Spread]:
    """The spread of each variant and headline metric with at least two valid runs."""
    valid = counted(entries).values()
    found: list[Spread] = []
    for metric, headline in metric_names(study, valid):
        for variant in study.variants if headline else ():
            every = [sound(entry, metric) for entry in valid if entry.variant == variant.name]
            own = [value for value in every if value is not None]
            if len(own) > 1:
                sd = statistics.stdev(math.log(value) for value in own)
                found.append(Spread(variant=variant.name, metric=metric, runs=len(own),
                                    percent=percent(sd)))  # fmt: skip
    return found
