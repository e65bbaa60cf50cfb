"""Studies as they run: processes, the book, kills, variants that fail."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dyno.studies.book import Book
from tests.process import document, dyno

TOML = """
pairs = 2
headline = ["tps"]
exploratory = ["p95_ms"]
replace = 1

[base]
workload = "tpcc"
target = "null:?mean_us=500"

[base.run]
users = 2
warmup = "100ms"
duration = "300ms"
no_criteria = true

[[variants]]
name = "slow"
target = "null:?mean_us=5000"
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(TOML)
    return path


def test_a_study_is_cut_off_and_goes_on(study: Path, out: Path) -> None:
    folder = out / "studies" / "mine"
    process = subprocess.Popen(
        [sys.executable, "-m", "dyno", "study", str(study), "--out", str(out)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not (folder / "runs.jsonl").exists():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = Book.open(folder).entries()
    assert len(before) >= 1
    again = dyno("study", study, "--out", out)
    assert again.returncode == 2
    assert "give --resume" in again.stderr
    done = dyno("study", study, "--resume", "--json", "--out", out)
    assert done.returncode == 0, done.stderr
    made = document(done)
    assert [run["place"] for run in made["runs"]] == [0, 1, 2, 3]
    assert made["runs"][: len(before)] == [json.loads(one.model_dump_json()) for one in before]
    assert all((folder / run["bundle"] / "run.json").exists() for run in made["runs"])
    (found,) = [one for one in made["outcome"]["comparisons"] if one["metric"] == "tps"]
    assert (found["variant"], found["pairs"]) == ("slow", 2)
    assert found["percent"] < -50
    page = Path(made["page"])
    assert page == folder / "study.html"
    text = page.read_text("utf-8")
    assert all(f'href="./{run["bundle"]}/sheet.html"' in text for run in made["runs"])
    assert 'id="machine"' in text
    page.unlink()
    shown = dyno("study", "show", folder)
    assert "slow: tps -" in shown.stdout
    assert page.exists()
    lines = shown.stdout.splitlines()
    assert lines[-1] == f"Page: {page}"
    assert all(len(line) <= 80 for line in lines[:-1])


def test_a_variant_that_fails_is_left_out(study: Path, out: Path) -> None:
    study.write_text(TOML.replace("null:?mean_us=5000", "sqlite:////no/such/folder/x.db"))
    done = dyno("study", study, "--json", "--out", out)
    assert done.returncode == 1
    made = document(done)
    assert made["outcome"]["disqualified"]["slow"].startswith("no valid run: ")
    assert sum(run["valid"] for run in made["runs"]) == 2
    assert "is left out of the rest" in done.stderr


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("users = 2", "user = 2", "run.user, which is no option of it. Did you mean 'users'"),
        ('"null:?mean_us=5000"', '"postgresql://h/d"', "only an embedded server is started again"),
        ('name = "slow"', 'name = "slow"\n"settings.memori" = "1GB"', "Did you mean 'memory'"),
    ],
)
def test_wrong_use(study: Path, out: Path, old: str, new: str, words: str) -> None:
    study.write_text(TOML.replace(old, new))
    done = dyno("study", study, "--out", out)
    assert done.returncode == 2, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not (out / "studies").exists()


def test_what_would_be_run_is_told(study: Path) -> None:
    told = dyno("study", "plan", study).stdout
    assert "4 runs, 2 of each of 2 variants" in told
    assert "Order: " in told
    listed = dyno("study", "list").stdout
    assert "columnstore" in listed
