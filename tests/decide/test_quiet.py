"""Whether the machine was quiet: also in phases too short to be sampled, and who was not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dyno.bundle.model import CpuUse, Taken
from dyno.bundle.reader import Bundle
from tests.bundles import Builder
from tests.judged import Judged, judged

BUSY = {"total_s": 3.0, "busy_s": 2.98, "own_s": 0.9, "steal_s": 0.0, "ticks": 300}


def short_queries(path: Path, **cpu: Any) -> Judged:
    """Queries that take a second: too few samples to judge."""
    seconds = (0.05,) * 22
    builder = Builder(path / "run").machine().power("duckdb", seconds)
    # A separate process, whose CPU time is known only if its processes are.
    use = CpuUse.model_validate({**BUSY, "servers": True, **cpu})
    builder.phases[-1] = builder.phases[-1].model_copy(update={"cpu": use})
    return judged(builder.write())


def test_a_short_phase_beside_other_work_is_disturbed_and_names_it(tmp_path: Path) -> None:
    others = (Taken(name="stress", cpu_s=1.5), Taken(name="cc1", cpu_s=0.3))
    found = short_queries(tmp_path, others=others)
    assert found.validity.verdict == "disturbed"
    (reason,) = found.validity.reasons
    assert reason.code == "background-load"
    assert "69 %" in reason.message
    assert "stress 50 %, cc1 10 %, 9 % by" in reason.message


@pytest.mark.parametrize("unseen", [False, True])
def test_another_target_in_unknown_processes_is_no_background_load(
    tmp_path: Path, unseen: bool
) -> None:
    builder = Builder(tmp_path / "run").machine().target("postgresql").target("other")
    here = {"place": "machine", "unseen": unseen}
    builder.targets["other"] = builder.targets["other"].model_copy(update=here)
    builder.power("postgresql", (0.05,) * 22)
    use = CpuUse.model_validate({**BUSY, "servers": True})
    builder.phases[-1] = builder.phases[-1].model_copy(update={"cpu": use})
    codes = {reason.code for reason in judged(builder.write()).validity.reasons}
    assert ("background-load" in codes) is not unseen


def test_a_short_phase_with_cpu_steal_is_disturbed(tmp_path: Path) -> None:
    found = short_queries(tmp_path, busy_s=1.0, steal_s=0.45)
    assert {reason.code: reason.kind for reason in found.validity.reasons} == {
        "cpu-steal": "disturbed"
    }
    assert "CPU steal: 15 %" in found.validity.reasons[0].message


def test_a_short_phase_of_a_quiet_machine_is_valid(tmp_path: Path) -> None:
    found = short_queries(tmp_path, own_s=2.9)
    assert found.validity.verdict == "valid"
    assert "background-load-unknown" not in found.warned()


@pytest.mark.parametrize("cpu", [{"ticks": 40, "total_s": 0.4}, None])
def test_a_phase_too_short_for_the_counters_is_reported(
    tmp_path: Path, cpu: dict[str, Any] | None
) -> None:
    if cpu is None:
        seconds = (0.01,) * 22
        builder = Builder(tmp_path / "run").machine().power("duckdb", seconds)
        builder.phases[-1] = builder.phases[-1].model_copy(update={"cpu": None})
        found = judged(builder.write())
    else:
        found = short_queries(tmp_path, **cpu)
    assert found.validity.verdict == "valid"
    assert "background-load-unknown" in found.warned()


def test_names_of_processes_cannot_steer_a_terminal(tmp_path: Path) -> None:
    found = short_queries(tmp_path, others=(Taken(name="\x1b[2Jx", cpu_s=1.5),))
    assert "\x1b" not in found.validity.reasons[0].message


def test_a_bundle_of_an_earlier_version_opens_and_is_judged_alike(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "run").oltp(4)
    for row in builder.tables["samples"]:
        if row["metric"] == "steal":
            row["value"] = 9.0
    path = builder.write().path
    head = json.loads((path / "run.json").read_text())
    for phase in head["phases"]:
        del phase["cpu"]
    reason = {"code": "throttled", "message": "The hypervisor took 9 %.", "phase": None}
    head["validity"] = {"valid": False, "reasons": [reason]}
    (path / "run.json").write_text(json.dumps(head))
    bundle = Bundle.open(path)
    assert bundle.run.validity.verdict == "invalid"  # as that version stored it
    found = judged(bundle)
    assert (found.validity.valid, found.codes()) == (False, {"cpu-steal"})
    assert found.validity.verdict == "disturbed"


@pytest.mark.parametrize(("server", "foreign"), [(150.0, None), (20.0, "stress")])
def test_other_processes_of_the_machine_of_the_server_are_found_and_named(
    tmp_path: Path, server: float, foreign: str | None
) -> None:
    builder = Builder(tmp_path / "run").machine().oltp(4, duration_s=50)
    known = {"place": "elsewhere", "machine": "db1"}
    facts = builder.target("postgresql").targets["postgresql"]
    builder.targets["postgresql"] = facts.model_copy(update=known)
    rows = builder.tables["samples"]
    for t_ns in sorted({row["t_ns"] for row in rows}):
        for source, subject, metric, value in (
            ("cpu", "host", "busy", 95.0),
            ("cpu", "host", "steal", 0.0),
            ("process", "dyno", "cpu", 1.0),
            ("process", "server", "cpu", server),
            ("others", "stress", "cpu", max(1.0, 160 - server)),
        ):
            sample = {"subject": subject, "metric": metric, "value": value, "unit": "%"}
            rows.append({"t_ns": t_ns, "source": f"{source}@db1", **sample})
    bundle = builder.write()
    head = json.loads((bundle.path / "run.json").read_text())
    head["machines"] = {"db1": {"cpu": {"logical": 2, "usable": 2}}}
    (bundle.path / "run.json").write_text(json.dumps(head))
    reasons = [one for one in judged(Bundle.open(bundle.path)).validity.reasons
               if one.code == "background-load"]  # fmt: skip
    assert len(reasons) == (foreign is not None)
    assert all("84 % CPU on db1" in one.message for one in reasons)
    assert all("stress 70 %" in one.message for one in reasons)
