"""Quickstart measures a disturbed part once more, and ``make quickstart`` reports the result."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dyno.bundle import members, superseded
from dyno.bundle.model import Check
from dyno.bundle.phases.dss import DssDetail
from dyno.bundle.reader import Bundle
from dyno.bundle.writer import Recorder
from tests.judged import judged
from tests.process import end, start
from tests.quick import SHORT, resize

ROOT = Path(__file__).parents[2]

# What others take of the CPU is planted: the first use of a power test, or each.
NOISE = """
from dyno.stages.observe import work
from dyno.bundle.phases.dss import DssDetail
from dyno.bundle.model import Taken

quiet = work.WorkProbe.end
seen = []

def end(self, mark):
    use = quiet(self, mark)
    noisy = {noisy}
    seen.append(noisy)
    total = 10.0
    own, others = (9.0, ()) if not noisy else (4.0, (Taken(name="burner", cpu_s=4.5),))
    return use.model_copy(update={{
        "ticks": 1000, "total_s": total, "busy_s": 9.0, "steal_s": 0.0, "own_s": own,
        "servers": True, "others": others,
    }})

work.WorkProbe.end = end
"""


def quickstart(out: Path) -> tuple[dict[str, Any], str]:
    code, output, errors = end(
        start("quickstart", "--quick", "--scale", "0.01", "--json", "--out", out)
    )
    assert code in {0, 1}, errors
    return json.loads(output), errors


def first_attempts(bundle: Bundle) -> list[str]:
    return [phase.name for phase in bundle.run.phases if phase.kind == "superseded"]


@pytest.mark.long
def test_a_disturbed_part_is_measured_once_more(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # After the machine, the storage and the start of a server: the first load.
    resize(monkeypatch, tmp_path, SHORT, NOISE.format(noisy="len(seen) == 3"))
    document, errors = quickstart(out)
    bundle = Bundle.open(Path(document["bundle"]))
    first = first_attempts(bundle)
    assert first[0] == "load-tpch-postgresql-first"
    assert "burner 45 %" in errors
    assert errors.count("Repeating; the repeat counts") == 1
    names = {phase.name for phase in bundle.run.phases}
    assert {name.removesuffix("-first") for name in first} <= names
    found = judged(bundle)
    assert "repeated" in {item.code for item in found.findings if item.level == "note"}
    assert all(check["passed"] is not False for check in checks(bundle))


@pytest.mark.long
def test_noise_that_lasts_ends_repeats_and_disturbs_the_run(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resize(monkeypatch, tmp_path, SHORT, NOISE.format(noisy="True"))
    document, errors = quickstart(out)
    assert "background-load" in {reason["code"] for reason in document["reasons"]}
    assert document["valid"] is False
    assert errors.count("Repeating; the repeat counts") == 1
    assert "Repeating does not help" in errors
    assert len(first_attempts(Bundle.open(Path(document["bundle"])))) == 1


def checks(bundle: Bundle) -> list[dict[str, Any]]:
    return [check.model_dump() for check in bundle.checks()]


def test_a_first_attempt_keeps_its_rows_and_checks_apart(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path, "quickstart", {}, ())

    def attempt(number: int) -> None:
        with recorder.phase("power-x", "Power test", DssDetail(streams=number), "x"):
            recorder.add("queries", [{"t_ns": number, "stream": 0, "query": "q1", "target": "x"}])
            recorder.add_checks([Check(name="rows", target="x", passed=True, message=f"{number}")])

    recorder.add("queries", [{"t_ns": 0, "stream": 0, "query": "q0", "target": "x"}])
    before = superseded.mark(recorder)
    attempt(1)
    superseded.set_aside(recorder, before, "CPU steal: 12 %")
    attempt(2)
    recorder.finish("done")
    bundle = Bundle.open(recorder.path)
    assert bundle.table("queries")["t_ns"].to_pylist() == [0, 2]
    assert bundle.table("superseded/queries")["t_ns"].to_pylist() == [1]
    assert [check.message for check in bundle.checks()] == ["2"]
    kept = json.loads((bundle.path / "superseded/checks.json").read_text())
    assert [check["message"] for check in kept] == ["1"]
    first, second = bundle.run.phases
    assert (first.name, first.kind, first.detail.first) == (
        "power-x-first",
        "superseded",
        {"streams": 1},
    )
    assert (second.name, second.kind) == ("power-x", "dss")
    recorder.close()
    assert members.content(bundle.path).others == []
    members.remove(bundle.path)
    assert not bundle.path.exists()


def made(out: Path, *args: str) -> subprocess.CompletedProcess[str]:
    """What ``make quickstart`` runs."""
    return subprocess.run(
        [sys.executable, ROOT / "tools/quickstart.py", "--quick", "--scale", "0.01", *args,
         "--out", out],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.long
def test_make_quickstart_succeeds_when_all_was_measured(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resize(monkeypatch, tmp_path, SHORT, NOISE.format(noisy="True"))
    done = made(out)
    assert done.returncode == 0, done.stderr
    assert "Measured completely" in done.stdout
    bundle = next(out.glob("*/run.json")).parent
    assert Bundle.open(bundle).run.validity.valid is False


@pytest.mark.long
def test_make_quickstart_fails_where_dyno_does(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    crash = "\ndef broken(*_, **__):\n    raise RuntimeError('planted')\n"
    resize(monkeypatch, tmp_path, SHORT, f"{crash}quickstart._load = broken\n")
    done = made(out)
    assert done.returncode not in {0, 2, 3}
    assert "planted" in done.stderr
    assert made(out, "--scale", "nonsense").returncode == 2
