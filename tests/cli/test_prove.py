"""``dyno advise --prove``: its plan, proofs that exist, and one that the user stops."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from dyno.bundle.model import TargetFacts
from dyno.bundle.reader import Bundle
from dyno.cli import cli
from dyno.runner.basis import basis
from dyno.studies import proofs
from dyno.studies.proofs import AS_IT_IS
from dyno.studies.schedule import schedule
from dyno.studies.store import Note, StudyStore
from tests.bundles import Builder
from tests.process import end, start, wait_until
from tests.studies.books import run as entry

RUN = "20261120T140000Z-ab12"
SLOW = {"shared_buffers": "6GB", "max_parallel_workers_per_gather": "0", "checkpoint_timeout": "1h"}


def recorded(out: Path, scale: float = 0.01, **plan: object) -> Bundle:
    """A run of queries with two violated settings, without secondary indexes."""
    builder = Builder(out / RUN, verb="run")
    builder.plan = {
        "command": "dyno run tpch --target embedded:postgresql",
        "target": "embedded:postgresql",
        "layout": {"name": "keys", "workload": "tpch", "indexes": "keys"},
        **plan,
    }
    builder.target("postgresql").power("postgresql", (1.0,) * 22, scale)
    builder.targets["postgresql"] = TargetFacts(
        url="embedded:postgresql", version="PostgreSQL 18.1", place="machine", settings=SLOW
    )
    return builder.write()


def called(out: Path, *words: str) -> Result:
    return CliRunner().invoke(
        cli, ["advise", *words, "--out", str(out)], standalone_mode=False, catch_exceptions=True
    )


def shown(out: Path, *words: str) -> dict[str, Any]:
    done = called(out, *words, "--json")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def by_name(found: dict[str, Any]) -> dict[str, Any]:
    return {one["name"]: one for one in found["systems"][0]["variants"]}


def test_the_plan_is_shown_and_nothing_runs(tmp_path: Path) -> None:
    recorded(tmp_path)
    found = shown(tmp_path, "last", "--prove", "--pairs", "3")
    variants = by_name(found)
    assert variants["checkpoint-interval"]["changes"] == {"settings.checkpoint_interval": "900s"}
    indexes = [one for one in variants.values() if one["kind"] == "indexes"]
    assert indexes
    assert all(one["changes"]["load.index"].count(":") == 1 for one in indexes)
    study = found["plan"]["study"]
    assert [one["name"] for one in study["variants"]] == [AS_IT_IS, *variants]
    assert found["plan"]["seconds_range"][0] > 0
    assert len(found["plan"]["slots"]) == 3 * len(study["variants"])
    assert found["left_out"] == {}
    assert not (tmp_path / "studies").exists()


def test_the_plan_as_text_has_the_command(tmp_path: Path) -> None:
    recorded(tmp_path)
    done = called(tmp_path, "--prove", "--pairs", "3", "last")
    assert "Duration:" in done.output
    assert f"dyno advise --prove --yes last --pairs 3 --out {tmp_path}" in done.output
    assert done.return_value == 1
    assert not (tmp_path / "studies").exists()


def planted(out: Path, ratios: dict[str, float], how: str = "done") -> None:
    """A study of the advice on the run; ``ratios`` are times relative to what ran."""
    own = basis(Bundle.open(out / RUN).run)
    asked = {name: one["changes"] for name, one in by_name(shown(out, "last")).items()}
    asked = {name: asked[name] for name in ratios}
    study = proofs.study_of(own, asked, name="advice", pairs=5, time_limit=None)
    slots = schedule([one.name for one in study.variants], 5, 1)
    book = StudyStore.begin(out / "studies" / "advice", study, slots)
    for slot in slots if how == "done" else slots[:3]:
        noise = 1 + 0.001 * (slot.place % 3)
        values = {"total_s": 10 * ratios.get(slot.variant, 1.0) * noise}
        book.add(entry(slot.place, slot.pair, slot.variant, values))
    book.note(Note(kind="begun", at=0.0))
    book.note(Note.model_validate({"kind": "ended", "at": 9.0, "how": how, "text": how}))


def test_proofs_that_exist_are_shown_without_a_run(tmp_path: Path) -> None:
    recorded(tmp_path)
    assert "checkpoint-interval" in shown(tmp_path, "last")["reasons"]
    planted(tmp_path, {"parallel-workers": 0.7, "checkpoint-interval": 1.4})
    found = shown(tmp_path, "last")
    variants = by_name(found)
    assert variants["parallel-workers"]["proof"]["verdict"] == "proven better"
    assert variants["parallel-workers"]["withdrawn"] is False
    assert variants["checkpoint-interval"]["proof"]["verdict"] == "worse"
    assert variants["checkpoint-interval"]["withdrawn"] is True
    assert variants["checkpoint-interval"]["proof"]["folder"] == str(tmp_path / "studies/advice")
    # Withdrawn advice is no longer a violation, and what has an answer is not tested again.
    assert "checkpoint-interval" not in found["reasons"]
    assert "parallel-workers" in found["reasons"]
    text = called(tmp_path, "last").output
    assert "proven better" in text
    assert "withdrawn" in text
    plan = shown(tmp_path, "last", "--prove")["plan"]
    assert not {one["name"] for one in plan["study"]["variants"]} & {
        "parallel-workers", "checkpoint-interval",
    }  # fmt: skip


def test_a_stopped_proof_is_resumed(tmp_path: Path) -> None:
    recorded(tmp_path)
    names = list(by_name(shown(tmp_path, "last")))
    planted(tmp_path, dict.fromkeys(names, 0.5), how="interrupted")
    variants = by_name(shown(tmp_path, "last"))
    assert {one["proof"]["verdict"] for one in variants.values()} == {"not proven"}
    plan = shown(tmp_path, "last", "--prove")["plan"]
    assert plan["study"]["name"] == "advice"  # the same folder
    other = shown(tmp_path, "last", "--prove", "--pairs", "7")["plan"]
    assert other["study"]["name"] == "advice-2"


@pytest.mark.long
def test_ctrl_c_leaves_what_can_be_read(tmp_path: Path) -> None:
    recorded(tmp_path)
    words = ("advise", "last", "--prove", "--yes", "--pairs", "2", "--json", "--out", tmp_path)
    process = start(*words)
    journal = tmp_path / "studies" / "advice" / "begun.json"
    wait_until(journal.exists, "the first run of the study")
    os.kill(process.pid, signal.SIGINT)
    code, printed, errors = end(process)
    assert code == 130, errors
    assert "dyno study --resume" in errors
    for found in (json.loads(printed), shown(tmp_path, "last")):
        assert {one["proof"]["verdict"] for one in by_name(found).values()} == {"not proven"}


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("last", "last", "--prove"), "name one"),
        (("--prove", "--rule", "log-device", "last"), "--rule"),
        (("--prove", "--pairs", "1", "last"), "range"),
        (("--prove",), "accelerate"),
    ],
)
def test_wrong_words(tmp_path: Path, words: tuple[str, ...], reason: str) -> None:
    recorded(tmp_path, command="dyno run tpch --target embedded:postgresql --accelerate kept")
    done = called(tmp_path, *words)
    assert getattr(done.exception, "exit_code", None) == 2
    assert reason in done.output + str(done.exception)
    assert called(tmp_path, "last").exception is None  # advice without proofs


def test_a_machine_alone_has_nothing_to_test(tmp_path: Path) -> None:
    done = called(tmp_path / "nothing", "--prove")
    assert getattr(done.exception, "exit_code", None) == 2
