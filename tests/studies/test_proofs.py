"""Proofs of advice: a planted book with a known truth, and runs that no study repeats."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dyno.bundle.model import Run
from dyno.errors import UsageError
from dyno.runner.basis import basis
from dyno.runner.proving import filed
from dyno.studies import proofs
from dyno.studies.form import Base
from dyno.studies.proofs import AS_IT_IS, Basis, Changes, Proof
from dyno.studies.schedule import schedule
from dyno.studies.store import Note, StudyStore
from dyno.studies.variants import changed
from tests.bundles import Builder
from tests.studies.books import runs

BASIS = Basis(
    Base(workload="tpch", target="embedded:postgresql", scale=0.1, load={"layout": "keys"})
)
ASKED: dict[str, Changes] = {
    "good": {"settings.work_memory": "64MB"},
    "bad": {"settings.memory": "16MB"},
    "idle": {"load.index": "orders:o_comment"},
}
TRUTH = {AS_IT_IS: 10.0, "good": 8.0, "bad": 13.0, "idle": 10.0}


def planted(out: Path, basis: Basis = BASIS, *, how: str = "done", part: int | None = None) -> Path:
    """A study of all of them, with 1 % of noise; ``part`` is the number of its runs."""
    study = proofs.study_of(basis, ASKED, name="planted", pairs=6, time_limit=None)
    slots = schedule([one.name for one in study.variants], study.pairs, study.seed)
    book = StudyStore.begin(out / "studies" / "planted", study, slots)
    rng = np.random.default_rng(1)
    entries = runs(
        study, rng, lambda one: TRUTH[one.name], lambda one: one.normal(0, 0.01), "total_s"
    )
    for entry in entries[:part]:
        book.add(entry)
    book.note(Note(kind="begun", at=0.0))
    book.note(Note.model_validate({"kind": "ended", "at": 9.0, "how": how, "text": how}))
    return book.folder


def found(out: Path, basis: Basis = BASIS) -> dict[str, Proof]:
    return proofs.proofs(out, basis, ASKED)


def test_the_verdicts_of_a_planted_truth(tmp_path: Path) -> None:
    folder = planted(tmp_path)
    said = found(tmp_path)
    assert {name: one.verdict for name, one in said.items()} == {
        "good": "proven better",
        "bad": "worse",
        "idle": "no difference found",
    }
    good = said["good"]
    assert good.percent == pytest.approx(-20, abs=2)
    assert good.low is not None
    assert good.high is not None
    assert good.low <= -20 <= good.high
    assert (good.metric, good.pairs, good.folder) == ("total_s", 6, folder)


@pytest.mark.parametrize(
    "changes", [{"scale": 1.0}, {"settings.work_memory": "1MB"}, {"load.layout": "bare"}]
)
def test_a_study_of_something_else_proves_nothing(tmp_path: Path, changes: Changes) -> None:
    planted(tmp_path)
    other = changed(BASIS.base, "other", dict(changes))
    base = BASIS.base.model_copy(
        update={"scale": other.scale, "settings": other.settings, "load": other.load}
    )
    assert found(tmp_path, Basis(base)) == {}
    assert found(tmp_path, Basis(BASIS.base, reset="cold")) == {}


@pytest.mark.parametrize("part", [0, 1, 13])
def test_an_interrupted_study_proves_nothing(tmp_path: Path, part: int) -> None:
    """Whatever the runs so far say: who looks at each result could stop at the one that pleases."""
    planted(tmp_path, how="interrupted", part=part)
    said = found(tmp_path)
    assert {one.verdict for one in said.values()} == {"not proven"}
    assert all(one.note for one in said.values())


def test_an_index_comes_beside_those_that_there_are() -> None:
    base = BASIS.base.model_copy(update={"load": {"index": "orders:o_orderdate"}})
    study = proofs.study_of(Basis(base), ASKED, name="x", pairs=2, time_limit=None)
    assert study.variant("idle").load == {"index": "orders:o_orderdate orders:o_comment"}
    assert study.variant("good").load == base.load


def of(tmp_path: Path, **plan: object) -> Run:
    """A recorded run of queries."""
    builder = Builder(tmp_path / "20261120T140000Z-ab12", verb="run")
    builder.plan = {
        "command": "dyno run tpch --target embedded:postgresql --no-warming",
        "target": "embedded:postgresql",
        "cache": "first",
        "test": "power",
        "parameters": "validation",
        "refresh": False,
        "settings": {"work_memory": "64kB"},
        "layout": {"name": "keys", "workload": "tpch", "indexes": "keys"},
        **plan,
    }
    seconds = (1.0,) * 22
    return builder.target("postgresql").power("postgresql", seconds, 0.1).write().run


def test_the_base_is_what_ran(tmp_path: Path) -> None:
    assert basis(of(tmp_path)) == Basis(
        Base(
            workload="tpch",
            target="embedded:postgresql",
            scale=0.1,
            load={"layout": "keys"},
            run={"no_warming": True},
            settings={"work_memory": "64kB"},
        )
    )


def test_indexes_of_the_load_are_repeated(tmp_path: Path) -> None:
    index = {"name": "orders_by_o_orderdate", "columns": ["o_orderdate"]}
    layout = {"name": "default", "workload": "tpch", "tables": {"orders": {"indexes": [index]}}}
    assert basis(of(tmp_path, layout=layout)).base.load == {"index": "orders:o_orderdate"}


@pytest.mark.parametrize(
    ("plan", "reason"),
    [
        ({"command": "dyno run tpch --target x --accelerate kept"}, "--accelerate"),
        ({"command": "dyno run 'tpch"}, "unknown options"),
        ({"users": [1, 2]}, "several --users"),
        ({"layout": {"name": "keys", "workload": "tpch", "indexes": "none"}}, "layout keys"),
        ({"layout": {"name": "x", "source": "/etc/passwd", "workload": "tpch"}}, "/etc/passwd"),
        ({"layout": {"name": ["x"]}}, "damaged"),
        ({"settings": 7, "timeout_s": "soon"}, "damaged"),
    ],
)
def test_what_no_study_repeats(tmp_path: Path, plan: dict[str, object], reason: str) -> None:
    with pytest.raises(UsageError, match=reason) as caught:
        basis(of(tmp_path, **plan))
    assert "\n" not in str(caught.value)


def test_a_load_is_not_repeated(tmp_path: Path) -> None:
    run = of(tmp_path).model_copy(update={"verb": "load"})
    with pytest.raises(UsageError, match="dyno load"):
        basis(run)


def test_a_layout_that_is_a_text_becomes_a_file(tmp_path: Path) -> None:
    changes = {"load.layout": '[tables.orders.partition]\ncolumn = "o_orderdate"\n'}
    assert filed(changes, tmp_path, write=False) is None
    assert not list(tmp_path.iterdir())
    made = filed(changes, tmp_path, write=True)
    assert made is not None
    assert Path(made["load.layout"]).read_text(encoding="utf-8") == changes["load.layout"]
    assert filed(changes, tmp_path, write=False) == made
    plain = {"load.layout": "keys"}
    assert filed(plain, tmp_path, write=False) == plain
