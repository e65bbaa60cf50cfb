"""Workloads that add tables to those of another one: when a load keeps the others."""

from __future__ import annotations

from typing import Any

import pytest

from dyno.contracts.layout import Layout
from dyno.contracts.target import Loaded, LoadPlan
from dyno.errors import UsageError
from dyno.runner import guests

LAYOUT = Layout(name="mine", workload="tpcc", data="/mnt/a")
RECORDED = LAYOUT.model_dump_json(exclude_defaults=True)
PLAN = LoadPlan("tpcc", 2, 1, 1)


class Held:
    """A target with marked data, and no server."""

    name = "held"

    def __init__(self, **marks: Loaded) -> None:
        self._marks = marks

    def loaded(self, workload: str) -> Loaded | None:
        return self._marks.get(workload)


def stays(target: Any, **plan: Any) -> bool:
    return guests.stays(target, LoadPlan("tpcc", 2, 1, 1, **plan), "ch", 1)


def test_complete_tables_stay() -> None:
    home = Loaded(2, 1, complete=True)
    assert stays(Held(tpcc=home))
    assert not stays(Held())
    assert not stays(Held(tpcc=Loaded(2, 1, complete=False)))
    assert not stays(Held(tpcc=home), layout=LAYOUT)
    assert not guests.stays(Held(tpcc=home), PLAN, "tpcc", 1)  # type: ignore[arg-type]  # pyright: ignore
    with pytest.raises(UsageError):
        stays(Held(tpcc=Loaded(1, 1, complete=True)))
    with pytest.raises(UsageError):
        stays(Held(tpcc=home, ch=home))


def test_a_resumed_load_keeps_tables_of_its_layout() -> None:
    home = Loaded(2, 1, complete=True, layout=RECORDED)
    assert stays(Held(tpcc=home), resume=True, layout=LAYOUT)
    other = LAYOUT.model_copy(update={"data": "/mnt/b"})
    assert not stays(Held(tpcc=home), resume=True, layout=other)
