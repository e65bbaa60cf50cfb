"""Runs with neighbouring seeds send other transactions to a real database."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from dyno import _core, targets
from dyno.bundle.writer import Recorder
from dyno.contracts.target import Limits, Loaded, LoadPlan, Target
from dyno.runtime.progress import Silent
from dyno.runtime.seeds import derived
from dyno.stages import drive
from dyno.stages.drive import OltpPlan
from dyno.stages.drive.several import parts

LOADED = Loaded(1, 1, complete=True)
USERS = 4
PAID = "SELECT h_d_id, h_amount FROM history"


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    url = targets.parse("embedded:sqlite")
    limits = Limits(memory_bytes=256 << 20, threads=2)
    with targets.open_target(url, tmp_path_factory.mktemp("seeds"), limits) as found:
        found.create_tables("tpcc", replace=False)
        found.load(LoadPlan("tpcc", LOADED.scale, LOADED.seed, streams=1), _core.Control())
        found.index("tpcc", threading.Event(), lambda *_: None)
        found.mark("tpcc", LOADED)
        yield found


def payments(target: Target, out: Path, seed: int) -> set[tuple[Any, ...]]:
    """Where users paid, and how much: what each of a run's Payments was given.

    Not for whom: customers also depend on constants, which a run draws for all its users.
    """
    with closing(target.connect("tpcc")) as session:
        before = Counter(session.execute(PAID).rows)
    recorder = Recorder(out, f"run-{seed}", {}, ("tpcc",))
    plan = OltpPlan("tpcc", loaded=LOADED, users=USERS, warmup_s=0.0, duration_s=2.0, seed=seed)
    drive.drive(recorder, target, plan, Silent())
    recorder.finish("done")
    recorder.close()
    with closing(target.connect("tpcc")) as session:
        return set(Counter(session.execute(PAID).rows) - before)


def test_neighbouring_seeds_share_no_transaction(target: Target, out: Path) -> None:
    runs = [payments(target, out, seed) for seed in (7, 8, 9)]
    assert min(map(len, runs)) > USERS
    for one, other in combinations(runs, 2):
        # A district and an amount, of 5 million, come twice by chance now and then.
        assert len(one & other) < 3 + 0.02 * min(len(one), len(other))


def test_the_databases_of_neighbouring_seeds_share_no_stream() -> None:
    def seeds(seed: int) -> list[int]:
        several = (LOADED,) * 8
        plan = OltpPlan("tpcc", LOADED, 1, 0.0, 1.0, seed, several=several)
        return [part.seed for part in parts(plan)]

    found = [one for seed in range(64) for one in seeds(seed)]
    assert len(set(found)) == len(found) == 64 * 8


def test_a_derived_seed_is_a_number_for_every_reader_of_json() -> None:
    found = {
        derived(seed, "study", number, purpose)
        for seed in range(64)
        for number in range(64)
        for purpose in ("pair", "window")
    }
    assert len(found) == 64 * 64 * 2
    assert all(0 <= one < 2**53 for one in found)
    assert derived(1, "study", 0, "pair") == _core.derive_seed(1, "study", 0, "pair") >> 11
