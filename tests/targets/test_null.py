"""The null target declares its gaps, and refuses what falls into them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from dyno import targets
from dyno.contracts.target import Limits, LoadPlan, Target
from dyno.errors import UsageError


def open_null(text: str = "null:?mean_us=200&scale=5") -> Target:
    return targets.open_target(targets.parse(text), Path("/nowhere"), Limits(1, 1))


def test_it_is_driven_and_nothing_else() -> None:
    with open_null() as target:
        assert target.capabilities.oltp is True
        assert "data" in str(target.capabilities.dss)
        assert "data" in str(target.capabilities.load)
        assert target.facts().settings["mean_us"] == "200.0"
        assert target.wire()["mean_ms"] == 0.2
        assert (target.data_paths(), target.process_ids()) == ([], [])
        loaded = target.loaded("tpcc")
        assert loaded is not None
        assert (loaded.scale, loaded.complete) == (5.0, True)
        assert target.index("tpcc", threading.Event(), lambda *_: None) == {}


@pytest.mark.parametrize(
    "call",
    [
        lambda target: target.connect(),
        lambda target: target.create_tables("tpcc", replace=True),
        lambda target: target.load(LoadPlan("tpcc", 1, 1, 1), None),
    ],
)
def test_what_it_cannot_do_is_wrong_use(call: Callable[[Target], object]) -> None:
    with pytest.raises(UsageError, match="stores no data"):
        call(open_null())
