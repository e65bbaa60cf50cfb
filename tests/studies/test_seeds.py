"""Pairs of a study draw from streams of their own; the runs of one pair from the same."""

from __future__ import annotations

import itertools
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest

from dyno import workloads
from dyno.plans.run import RunPlan
from dyno.studies import child, runs
from dyno.studies.schedule import schedule
from tests.studies import books


class _AskedError(Exception):
    """What was about to run."""


@pytest.fixture
def seeds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    def ask(plan: RunPlan) -> NoReturn:
        raise _AskedError(plan)

    monkeypatch.setattr(child, "dyno", ask)

    def found(seed: int) -> dict[int, set[int]]:
        """The seeds of the runs of each pair, from the plans of a whole study."""
        study = books.study(pairs=20, seed=seed)
        book: Any = SimpleNamespace(study=study, begin_run=lambda _: None)
        variants = {one.name: one for one in study.variants}
        pairs: dict[int, set[int]] = {}
        for slot in schedule(list(variants), study.pairs, seed):
            with pytest.raises(_AskedError) as caught:
                runs.make(book, slot, 1, variants[slot.variant], tmp_path / "data-1")
            (plan,) = caught.value.args
            pairs.setdefault(slot.pair, set()).add(plan.seed)
        return pairs

    return found


def test_pairs_share_no_stream_and_the_runs_of_a_pair_share_all(seeds: Any) -> None:
    found = [seeds(seed) for seed in (1, 2)]
    assert all(len(own) == 1 for pairs in found for own in pairs.values())
    every = [own for pairs in found for each in pairs.values() for own in each]
    assert len(set(every)) == len(every) == 40
    # TPC-H's stream s draws its parameters from the run's seed plus s.
    streams = {seed + stream for seed in every for stream in range(41)}
    assert len(streams) == len(every) * 41


def test_parameters_of_neighbouring_pairs_differ(seeds: Any) -> None:
    (one,), (other,), *_ = seeds(1).values()
    queries = workloads.get("tpch").queries

    def drawn(seed: int, stream: int) -> str:
        return str([query.draw(seed + stream, 1) for query in queries])

    for here, there in itertools.product(range(8), repeat=2):
        assert drawn(one, here) != drawn(other, there)
