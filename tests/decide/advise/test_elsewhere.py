"""A database on a machine that an agent or an exporter observed: which rules can judge it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from dyno.agent.protocol import MOST_FACTS_BYTES, Placed
from dyno.decide.advise.practices import rules
from dyno.decide.advise.recorded import UNSENT, systems
from dyno.decide.advise.system import System
from tests.bundles import quickstart

VOLUME: dict[str, Any] = {
    "mount_point": "/srv", "fs_type": "ext4", "fs_kind": "disk", "options": ["rw", "relatime"],
    "size_bytes": 10**12, "free_bytes": 10**10, "block_bytes": 1024, "subject": "sda",
    "path": "/srv/pg", "disks": [{"name": "sda", "physical_block_bytes": 4096}],
}  # fmt: skip
OF_VOLUMES = {"access-times", "fill-level", "free-space", "file-system-block"}


def system(out: Path, volumes: dict[str, Any]) -> System:
    builder = quickstart(out)
    (name, facts), *_ = builder.targets.items()
    known = {"place": "elsewhere", "machine": "db1", "devices": {}, "disks": {}}
    builder.targets = {name: facts.model_copy(update={**known, "volumes": volumes})}
    return systems(builder.write(), [])[0]


def outcomes(found: System) -> dict[str, set[tuple[str, str]]]:
    return {
        rule.name: {(one.outcome, one.reason) for one in rule.judge(found)}
        for rule in rules()
        if rule.name in OF_VOLUMES
    }


def test_volumes_that_an_agent_sent_are_judged(tmp_path: Path) -> None:
    sent = Placed.model_validate({"volumes": {"data": VOLUME}}).model_dump()["volumes"]
    assert outcomes(system(tmp_path, sent)) == {name: {("violated", "")} for name in OF_VOLUMES}


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    for verdicts in outcomes(system(tmp_path, {})).values():
        assert {outcome for outcome, _ in verdicts} == {"not readable"}
        assert all(reason.endswith(UNSENT) for _, reason in verdicts)


@pytest.mark.parametrize(
    "volumes",
    [
        {"../data": VOLUME},
        {"data": ["options"]},
        {"data": {"path": "x" * MOST_FACTS_BYTES}},
        {f"partition-{number}": VOLUME for number in range(1, 200)},
    ],
    ids=["role", "type", "long", "many"],
)
def test_an_agent_cannot_send_more_than_facts(volumes: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Placed.model_validate({"volumes": volumes})


def test_facts_of_wrong_types_are_missing_facts(tmp_path: Path) -> None:
    odd = {name: [{"x": None}] for name in VOLUME}
    found = outcomes(system(tmp_path, {"data": odd}))
    assert all(one[0] != "violated" for verdicts in found.values() for one in verdicts)
