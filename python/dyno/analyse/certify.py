"""Certificates: queries, scan rates and CPU of each interval, over its window."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dyno.analyse.rows import rows
from dyno.analyse.series import sampled
from dyno.analyse.streams import failed
from dyno.analyse.volumes import between, combined
from dyno.bundle import metrics
from dyno.bundle.carriers import machine_of, of_target
from dyno.bundle.inside import SOURCE, Inside
from dyno.bundle.machines import split
from dyno.bundle.model import Estimate, Phase, Run, those
from dyno.bundle.observed import Series, mean
from dyno.bundle.phases.certify import CertifyDetail
from dyno.bundle.reader import Bundle
from dyno.bundle.series import Key

_TABLE = "queries table"
_HOUR_NS = 3600 * 1_000_000_000


def certify(bundle: Bundle) -> list[Estimate]:
    """``certify.<target>.<test>.<metric>`` of each interval; a metric without samples is absent."""
    phases = [one for one in those(bundle.run.phases, CertifyDetail) if one.detail.window]
    if not phases:
        return []
    series, every = sampled(bundle), rows(bundle, "queries")
    found: list[Estimate] = []
    for phase in phases:
        start, end = phase.detail.window or (0, 0)
        own = [
            row
            for row in every
            if row["target"] == phase.target
            and row["end_ns"] is not None
            and start <= row["end_ns"] < end
        ]
        scope = metrics.Interval.of(phase)
        count = len(own) - failed(own)
        yielded = f"{_TABLE}: queries that ended in the window"
        found.append(scope.completed.estimate(count, yielded))
        found.append(scope.failed.estimate(failed(own), yielded))
        if end > start:
            rate = count * _HOUR_NS / (end - start)
            found.append(scope.queries_per_h.estimate(rate, "completed queries by the window"))
            found += _sampled(bundle.run, phase, scope, series, (start, end))
    return found


def _sampled(
    run: Run,
    phase: Phase[CertifyDetail],
    scope: metrics.Interval,
    series: Mapping[Key, Series],
    window: tuple[int, int],
) -> Iterable[Estimate]:
    machine = machine_of(run, phase.target)
    own: dict[Key, Series] = {
        (split(source).probe, subject, metric): one
        for (source, subject, metric), one in series.items()
        if split(source).machine == machine
    }
    source = "samples in the window"
    devices = of_target(run, phase.target).get("data", ())
    reads = combined([between(own, one, *window) for one in devices]).get("read_mbps")
    if reads is not None:
        words = f"{source}, {len(devices)} device{'s' * (len(devices) != 1)} under the data"
        yield scope.physical_mbps.estimate(reads.mean, words)
        yield scope.physical_peak_mbps.estimate(max(value for _, value in reads.intervals), words)
    facts = run.targets.get(phase.target or "")
    apart = facts is not None and (facts.place == "machine" or bool(machine))
    seen = bool(machine) or (facts is not None and facts.place != "elsewhere")
    sessions = (SOURCE, str(phase.target), Inside.logical_mbps.value)
    # Pages of rows that an engine counts are not what it reads of a column store.
    counted = phase.detail.own in {None, phase.detail.form}
    for key, known, found, factor in (
        (scope.logical_mbps, counted, series.get(sessions), 1.0),
        (scope.cpu_percent, seen, own.get(("cpu", "host", "busy")), 1.0),
        (scope.cores, seen, own.get(("process", "server" if apart else "dyno", "cpu")), 0.01),
    ):
        value = None if found is None else mean(found.between(*window))
        if known and value is not None:
            yield key.estimate(value * factor, source)
