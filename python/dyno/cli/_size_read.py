"""Reads the runs of ``dyno size`` as evidence: analyses and judges each, and pairs profiles."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dyno.bundle.model import Estimate, Finding
    from dyno.bundle.reader import Bundle
    from dyno.decide.size.evidence import Evidence, Share

MOST_RUNS = 200


@dataclass(frozen=True)
class Judged:
    """A run with fresh estimates, findings and verdict."""

    bundle: Bundle
    estimates: list[Estimate]
    findings: list[Finding]


@contextlib.contextmanager
def judged(out: Path, names: Sequence[str]) -> Generator[list[Judged]]:
    """The runs by name; a study is all its valid and disturbed runs.

    Raises:
        UsageError: If one does not exist, is damaged, is named twice, or there are too many.
    """
    from dyno.analyse import estimate
    from dyno.cli._bundles import named
    from dyno.decide.judge import judge
    from dyno.errors import UsageError

    with contextlib.ExitStack() as stack:
        places = [place for name in names for place in _runs(out, name)]
        if len(places) > MOST_RUNS:
            raise UsageError(f"{len(places)} runs are too many; name at most {MOST_RUNS}.")
        bundles = [stack.enter_context(named(out, place)) for place in places]
        if len({one.place.resolve() for one in bundles}) < len(bundles):
            raise UsageError("A run is named twice. Name each once.")
        found: list[Judged] = []
        for bundle in bundles:
            estimates = estimate(bundle)
            validity, findings = judge(bundle, estimates)
            found.append(Judged(bundle.judged(validity), estimates, findings))
        yield found


def _runs(out: Path, name: str) -> list[str]:
    """The places of the runs that a name means: one, or those of a study."""
    from dyno.studies.store import StudyStore

    for folder in (Path(name), out / "studies" / name):
        if (folder / "study.json").is_file():
            entries = StudyStore.open(folder).entries()
            return [
                str(folder / one.bundle)
                for one in entries
                if one.bundle and one.verdict != "invalid"
            ]
    return [name]


def evidence(runs: Sequence[Judged], levels: dict[str, str], *, mixed: bool) -> Evidence:
    """What the runs measured.

    Args:
        runs: The runs.
        levels: RAID levels of profiled runs in the user's words, by the name of the run.
        mixed: Whether hosts, databases and scales may differ.

    Raises:
        UsageError: If a run is invalid, or runs differ that must not.
    """
    import numpy as np

    from dyno.bundle.metrics import Estimates
    from dyno.decide.size import checks
    from dyno.decide.size.evidence import Evidence
    from dyno.decide.size.loads import loads, machine, searches
    from dyno.decide.size.queries import queries
    from dyno.decide.size.storage import storage

    for one in runs:
        checks.require_valid(one.bundle.run)
    known = [(one, Estimates(one.estimates)) for one in runs]
    every = [load for one, of in known for load in loads(one.bundle.run, of)]
    shares = [load.reads for load in every if load.reads is not None]
    reads = float(np.mean(shares)) if shares else None
    found = Evidence(
        loads=tuple(every),
        found=tuple(one for run, of in known for one in searches(run.bundle.run, of)),
        queries=tuple(one for run, of in known for one in queries(run.bundle.run, of)),
        storage=tuple(
            device
            for one in runs
            if any(phase.kind == "io" for phase in one.bundle.run.phases)
            for device in storage(one.bundle, one.estimates, reads, levels.get(one.bundle.run.run))
        ),
        shares=tuple(_shares(runs)),
        machines=tuple(machine(one.bundle.run) for one in runs),
    )
    if not mixed:
        checks.require_alike(found)
    return found


def _shares(runs: Sequence[Judged]) -> Iterator[Share]:
    """The database's share of the profile, for each pair of them on the same devices."""
    from dyno.analyse.gap import devices_of, gap, profiled_devices
    from dyno.decide.size.evidence import Share
    from dyno.report.comparison.gap import gaps

    profiles = [one for one in runs if any(phase.kind == "io" for phase in one.bundle.run.phases)]
    for profile in profiles:
        own = {name for names in profiled_devices(profile.bundle).values() for name in names}
        for one in runs:
            of_pair = gap(profile.bundle, profile.estimates, one.bundle, one.estimates)
            for found in gaps(one.bundle, of_pair, one.findings):
                oltp = found.phase.kind == "oltp"
                key = found.at.share("mix" if oltp else "sequential").share_percent
                value = found.value(key)
                same = own >= set(devices_of(one.bundle, found.phase))
                if value is not None and value > 0 and same:
                    source = f"{one.bundle.run.run} {key.name}"
                    kind = "oltp" if oltp else "dss"
                    yield Share(kind, value / 100, found.by_storage is True, source)
