"""``--live`` of a study and of a generator: each page, from the start to the end of the work."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from dyno.bundle import progress
from dyno.live.shown import Shown, newest_run
from tests.live.served import Page
from tests.process import dyno, end, start, wait_until

TOML = """
pairs = 2
headline = ["tps"]
replace = 0

[base]
workload = "tpcc"
target = "null:?mean_us=500"

[base.run]
users = 2
warmup = "100ms"
duration = "1500ms"
no_criteria = true

[[variants]]
name = "slow"
target = "null:?mean_us=5000"
"""


@pytest.mark.long
def test_the_page_of_a_study_goes_from_run_to_run(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(TOML)
    study = start("study", tmp_path / "mine.toml", "--live", "--out", tmp_path)
    folder = tmp_path / "studies" / "mine"
    wait_until(lambda: newest_run(folder), "the first run", timeout=60)
    shown = Shown(folder)
    seen: dict[str, list[str]] = {}
    left: list[dict[str, Any]] = []

    def over() -> bool:
        shown.poll()
        found = shown.schedule()
        assert found is not None
        states = [run["state"] for run in found["runs"]]
        seen[shown.watched.run.run] = states
        if (step := shown.left()) is not None:
            left.append(step)
        return study.poll() is not None and not {"running", "planned"} & set(states)

    wait_until(over, "the end of the study", timeout=120)
    code, _, said = end(study)
    assert code in (0, 1), said
    assert len(re.findall(r"Live page: http://127\.0\.0\.1:\d+", said)) == 1
    assert len(seen) == 4, "each run was shown"
    assert any("running" in states for states in seen.values())
    steps = [step["step"] for step in left]
    assert "Run 2 of 4: slow" in steps
    assert left[0]["left_s"] > left[-1]["left_s"] >= 0
    assert progress.read(folder) is None
    assert shown.left() is None
    shown.close()


def test_the_page_of_a_generator_leaves_no_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    process = start("generate", "tpch", "--scale", "0.3", "--format", "tbl", "--to", "/dev/null",
                    "--live")  # fmt: skip
    assert process.stderr is not None
    url = ""
    while not url:
        line = process.stderr.readline()
        assert line, "the page came before the end"
        url = line.partition("Live page: ")[2].strip()
    head = Page(url, process).head()
    assert head["verb"] == "generate"
    assert head["study"] is None
    assert end(process)[0] == 0
    assert list(tmp_path.iterdir()) == []


def test_only_a_live_page_records_a_generator(tmp_path: Path) -> None:
    done = dyno("generate", "tpch", "--scale", "0.01", "--to", tmp_path / "data", "--json")
    assert json.loads(done.stdout)["bundle"] is None
