"""Every probe of this machine and of every target, found by enumeration, keeps its contract."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from dyno import targets
from dyno.contracts.probe import Probed, Sample, UnavailableError
from dyno.contracts.target import Limits
from dyno.stages import observe
from tests.conformance.test_targets import url_of
from tests.conftest import missing

LIMITS = Limits(memory_bytes=1 << 30, threads=2)
MOST_READINGS = 50
UNITS = {"%", "B", "s", "1/s", "MB/s", "ms", "count"}


def assert_sound(samples: list[Sample]) -> None:
    for sample in samples:
        assert sample.source
        assert sample.subject
        assert sample.metric
        assert sample.unit in UNITS
        assert sample.value == sample.value  # a number


@pytest.mark.parametrize("name", observe.names())
def test_of_the_machine(name: str) -> None:
    (probe,) = [one for one in observe.open_probes() if one.name == name]
    for _ in range(2):
        assert_sound(list(probe.read(time.monotonic_ns())))


@pytest.mark.parametrize("name", targets.names())
def test_of_a_target(name: str, tmp_path: Path) -> None:
    if lacks := targets.lacks(name):
        missing(lacks)
    opened = targets.open_target(targets.parse(url_of(name)), tmp_path, LIMITS)
    if not isinstance(opened, Probed):
        return
    known = [probe.name for probe in opened.probes()]
    # Samples of two probes must not meet, nor those of a probe and the machine's.
    assert len(known) == len({*known} - {*observe.names(), "sampler", "maintenance"})
    if not known:
        return
    with opened as target:
        assert isinstance(target, Probed)
        for probe in target.probes():
            assert probe.period_s > 0
            assert probe.deadline_s > 0
            for _ in range(2):  # it opens anew what it gave up
                # A rate needs two readings, a mean of several as many as it covers.
                readings = (list(probe.read(time.monotonic_ns())) for _ in range(MOST_READINGS))
                try:
                    found = next(filter(None, readings))
                except UnavailableError as error:  # Babelfish lacks the views of SQL Server
                    assert name == "sqlserver", error
                    assert len(str(error)) > 15
                    probe.close()
                    continue
                # A subject is the target, or a part of it.
                whose = {(one.source, one.subject.partition("/")[0]) for one in found}
                assert whose == {(probe.name, name)}
                assert_sound(found)
                probe.close()
