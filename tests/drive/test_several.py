"""A level in several databases: a common start."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dyno import targets
from dyno.bundle.model import those
from dyno.bundle.phases.oltp import OltpDetail
from dyno.bundle.writer import Recorder
from dyno.contracts.target import Limits, Loaded
from dyno.runtime.progress import Silent
from dyno.stages.drive import several
from dyno.stages.drive.oltp import OltpPlan


class StoppedError(Exception):
    """Ends the level where its engines would begin."""


def test_no_database_begins_before_all_are_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, Any] = {}

    def engines(*args: Any, **options: Any) -> None:
        asked.update(options, beside=args[3])
        raise StoppedError

    monkeypatch.setattr(several, "run_engines", engines)
    target = targets.open_target(targets.parse("null:"), tmp_path, Limits(1 << 28, 1))
    held = Loaded(1.0, 1, complete=True)
    plan = OltpPlan("tpcc", held, 1, 0.0, 1.0, 1, several=(held, held))
    recorder = Recorder(tmp_path, "run", {}, ("tpcc",))
    with target, pytest.raises(StoppedError):
        several.drive(recorder, target, plan, Silent())
    recorder.close()
    assert asked["held"] is True
    assert asked["beside"] is not None, "it releases them"


def test_all_databases_are_driven(tmp_path: Path) -> None:
    target = targets.open_target(targets.parse("null:?mean_us=500"), tmp_path, Limits(1 << 28, 1))
    held = Loaded(1.0, 1, complete=True)
    plan = OltpPlan("tpcc", held, 1, 0.0, 0.2, 1, several=(held, held))
    recorder = Recorder(tmp_path, "run", {}, ("tpcc",))
    watched: list[bool] = []
    with target:
        several.drive(
            recorder, target, plan, Silent(), lambda handle, _: watched.append(handle.ready)
        )
    recorder.close()
    levels = [phase.detail for phase in those(recorder.run.phases, OltpDetail)]
    assert [one.level for one in levels] == ["users-1", "users-1-db-1", "users-1-db-2"]
    assert all(one.outcome is not None and one.outcome.tps for one in levels)
    assert watched == [True], "it begins with them"
