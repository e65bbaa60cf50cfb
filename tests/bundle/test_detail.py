"""Details of phases: stored as given, and read from anybody's bundle."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from dyno.bundle.detail import read
from dyno.bundle.model import Phase, has_detail, those
from dyno.bundle.phases import DETAILS, kind_of
from dyno.bundle.phases.index import IndexDetail
from dyno.bundle.phases.io import IoDetail, Remark
from dyno.bundle.phases.load import LoadDetail
from dyno.bundle.phases.oltp import Loop, OltpDetail, Outcome
from dyno.bundle.phases.search import SearchDetail
from dyno.bundle.reader import Bundle
from dyno.errors import UsageError
from tests.bundles import quickstart

_ANYTHING = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("stored", "found"),
    [
        ({"users": 4, "level": "users-4"}, OltpDetail(users=4, level="users-4")),
        ({"users": "4", "level": 7, "mode": "client"}, OltpDetail(mode="client")),
        ({"users": True, "seed": 1.5, "warmup_s": float("nan")}, OltpDetail()),
        ({"users": 10**400}, OltpDetail()),
        ({"of a newer version": 1, "users": 4}, OltpDetail(users=4)),
        (
            {"outcome": {"seconds": 3, "tps": "x", "new": [], "worst": 5}},
            OltpDetail(outcome=Outcome(seconds=3)),
        ),
        (
            {"loop": {"kind": "open", "rate_per_s": [[0, 5], [1, "x"]]}},
            OltpDetail(loop=Loop(kind="open")),
        ),
        ({"outcome": 5, "loop": [], "checkpoints": "many"}, OltpDetail()),
        ([], OltpDetail()),
        (None, OltpDetail()),
    ],
)
def test_what_is_of_the_wrong_type_is_left_out(stored: Any, found: OltpDetail) -> None:
    assert read(OltpDetail, stored) == found


def test_items_of_the_wrong_type_are_left_out_one_by_one() -> None:
    windows = [5, {"load": 2, "level": "a"}, None, {"load": "x", "level": "b"}, [], {"load": 3}]
    found = read(SearchDetail, {"windows": windows, "counted": ["a", 1, "b"]})
    assert [(window.load, window.level) for window in found.windows] == [
        (2, "a"),
        (None, "b"),
        (3, None),
    ]
    assert found.counted == ("a", "b")


def test_remarks_of_earlier_versions_are_words() -> None:
    found = read(IoDetail, {"notes": ["plain words", {"code": "fallback", "text": "why"}, 7]})
    assert found.remarks == (
        Remark(code="", text="plain words"),
        Remark(code="fallback", text="why"),
    )


def test_reading_leaves_what_is_stored_as_it_is() -> None:
    stored = {"users": "x", "outcome": {"tps": "x"}}
    read(OltpDetail, stored)
    assert stored == {"users": "x", "outcome": {"tps": "x"}}


@given(st.sampled_from(sorted(DETAILS)), st.data())
def test_a_bundle_of_somebody_elses_may_hold_anything(kind: Any, data: st.DataObject) -> None:
    model = DETAILS[kind]
    names = st.sampled_from(sorted(model.model_fields))
    stored = data.draw(st.dictionaries(names, _ANYTHING, max_size=4))
    found = read(model, stored)
    assert isinstance(found, model)
    assert set(found.model_dump()) <= set(stored)
    json.dumps(found.model_dump(mode="json"), allow_nan=False)


def test_who_writes_gets_an_error_for_a_wrong_name_or_type() -> None:
    with pytest.raises(ValidationError, match="user"):
        OltpDetail(user=4)  # pyright: ignore[reportCallIssue]
    with pytest.raises(ValidationError, match="users"):
        OltpDetail(users="4")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValidationError, match="frozen"):
        OltpDetail().users = 4


def test_only_given_fields_are_stored() -> None:
    detail = OltpDetail(users=4, database=None, outcome=Outcome(tps=2.0, scheduled=None))
    assert detail.model_dump() == {"users": 4, "outcome": {"tps": 2.0, "scheduled": None}}
    assert read(OltpDetail, detail.model_dump()) == OltpDetail(
        users=4, outcome=Outcome(tps=2.0, scheduled=None)
    )


def test_each_field_is_documented() -> None:
    for kind, model in DETAILS.items():
        for name in set(model.model_fields) - {"workload", "database"}:
            assert f"        {name}: " in (model.__doc__ or ""), f"{kind}: {name}"


def test_a_phase_has_the_detail_of_its_kind() -> None:
    common = {"name": "x", "title": "x", "start_ns": 0}
    for kind, model in DETAILS.items():
        phase = Phase.model_validate({**common, "kind": kind, "detail": {"workload": "tpch"}})
        assert phase.detail == model(workload="tpch")
        assert Phase.model_validate({**common, "kind": kind}).detail == model()
        assert kind_of(model) == kind
        assert has_detail(phase, model)
        assert those([phase], IndexDetail) == ([phase] if kind == "index" else [])
        assert Phase.model_validate_json(phase.model_dump_json()) == phase


def test_an_unknown_kind_is_refused_in_a_line(tmp_path: Path) -> None:
    bundle = quickstart(tmp_path).write()
    head = bundle.path / "run.json"
    content = json.loads(head.read_text())
    content["phases"][0]["kind"] = "of a newer version"
    head.write_text(json.dumps(content))
    with pytest.raises(UsageError, match=r"phases\.0\.kind") as caught:
        Bundle.open(bundle.path)
    assert "\n" not in str(caught.value)


def test_a_detail_survives_the_bundle(tmp_path: Path) -> None:
    bundle = quickstart(tmp_path).write()
    (first, *_) = those(bundle.run.phases, LoadDetail)
    stored = json.loads((bundle.path / "run.json").read_text())["phases"]
    (expected, *_) = [phase["detail"] for phase in stored if phase["kind"] == "load"]
    assert first.detail.model_dump(mode="json") == expected
