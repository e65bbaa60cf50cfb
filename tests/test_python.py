"""Dyno from Python: runs, their metrics and tables, and what is refused."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import threading
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import dyno
from dyno.bundle.reader import list_bundles
from dyno.bundle.tables import Table
from dyno.errors import TargetError, UsageError
from dyno.runner.events import SilentEvents

if TYPE_CHECKING:
    from collections.abc import Generator

    from dyno.runner.conclude import Ended
    from dyno.runtime.progress import Progress

DOCS = Path(__file__).parent.parent / "docs"
NULL: dict[str, Any] = {"target": "null:?mean_us=2000", "warmup": "100ms", "duration": "1s"}


class Heard(SilentEvents):
    def __init__(self) -> None:
        self.phases: list[str] = []
        self.far: list[tuple[float, float]] = []
        self.end: list[Ended] = []

    def phase(self, title: str) -> AbstractContextManager[Progress]:
        return self._phase(title)

    @contextmanager
    def _phase(self, title: str) -> Generator[Progress]:
        self.phases.append(f"begin {title}")
        yield self
        self.phases.append(f"end {title}")

    def update(self, done: float, total: float, text: str = "") -> None:
        self.far.append((done, total))

    def ended(self, ended: Ended) -> None:
        self.end.append(ended)


def test_a_run_is_recorded_judged_and_read(out: Path, capfd: pytest.CaptureFixture[str]) -> None:
    heard = Heard()
    run = dyno.run("tpcc", users=[1, 2], out=out, events=heard, **NULL)
    assert capfd.readouterr() == ("", ""), "the API prints nothing"
    assert run.verdict in {"valid", "disturbed", "invalid"}
    assert (run.verdict == "valid") is not bool(run.reasons)
    assert (run.path / "sheet.html").is_file()
    rows = run.operations()
    assert rows.schema.names == ["level", *Table.OPS.value]
    assert set(rows["level"].to_pylist()) == {"users-1", "users-2"}
    for level in ("users-1", "users-2"):
        own = [
            row for row in rows.to_pylist() if row["level"] == level and row["phase"] == "measure"
        ]
        spans = {row["t_ns"]: row["seconds"] for row in own}
        ended = sum(row["done"] + row["rolled_back"] for row in own)
        rate = run.estimates[f"oltp.{level}.tps"]
        assert rate.unit == "1/s"
        assert rate.value == pytest.approx(ended / sum(spans.values()), rel=0.01)
    assert len(run.samples()) > 0
    assert (len(run.queries()), len(run.io())) == (0, 0)
    assert shlex.split(run.bundle.run.plan["command"]) == [
        *("dyno", "run", "tpcc", "--target", "null:?mean_us=2000", "--users", "1", "--users", "2"),
        *("--duration", "1s", "--warmup", "100ms", "--out", str(out)),
    ]
    begun = [text.removeprefix("begin ") for text in heard.phases if text.startswith("begin ")]
    closed = [text.removeprefix("end ") for text in heard.phases if text.startswith("end ")]
    assert sorted(begun) == sorted(closed)
    assert any("1 user" in text for text in begun)
    assert any(total > 0 for _, total in heard.far)
    (end,) = heard.end
    assert (end.path, end.message) == (run.path, "")
    again = dyno.open(run.path)
    assert (again.id, again.verdict, again.estimates) == (run.id, run.verdict, run.estimates)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"usres": [1]}, "run has no option 'usres'. Did you mean 'users'?"),
        ({"users": [0]}, "Invalid value for '--users': 0 is not in the range 1<=x<=100000."),
        ({"users": True}, "Invalid value for '--users': True is not a number."),
        ({"duration": "20x"}, "Invalid value for '--duration': '20x' is not a valid time"),
        ({"home": "away"}, "Invalid value for '--home': 'away' is not one of 'fixed'"),
        ({"max_rate": float("nan"), "find_max": "rate"}, "'nan' is not a finite number."),
        ({"think": True, "rate": "5"}, "--rate and --think cannot be combined"),
        ({"cold": False, "usres": 1}, "Did you mean 'users'?"),
        ({"cold": True}, "--cold applies to queries; tpcc has none"),
        ({"refresh": False}, "--no-refresh applies to queries"),
        ({"settings": {"memory": "1GB"}}, "memory"),
        ({"target": "nul:"}, "nul"),
    ],
)
def test_what_cannot_be_is_refused(out: Path, options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError) as caught:
        dyno.run("tpcc", **{"target": "null:", "out": out, **options})
    assert words in str(caught.value)
    assert not out.exists() or not list_bundles(out)


def test_what_fails_raises_and_names_its_bundle(out: Path) -> None:
    with pytest.raises(TargetError) as caught:
        dyno.run("tpcc", target="postgresql://nobody@127.0.0.1:1/none", out=out)
    (bundle,) = list_bundles(out)
    assert bundle.run.status == "failed"
    assert caught.value.__notes__ == [f"The bundle of the run is {bundle.path}."]
    with pytest.raises(UsageError, match="not a run bundle"):
        dyno.open(out)


def test_a_thread_may_run_it(out: Path) -> None:
    """Only the first thread of a process may take signals over."""
    found: list[dyno.Run] = []
    thread = threading.Thread(target=lambda: found.append(dyno.run("tpcc", out=out, **NULL)))
    thread.start()
    thread.join()
    assert found[0].bundle.run.status == "done"


def test_the_command_line_starts_without_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import dyno, sys; print('dyno.runner' in sys.modules)"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "False\n"
    with pytest.raises(AttributeError, match="no attribute 'rum'"):
        _ = dyno.rum  # type: ignore[attr-defined]


@pytest.mark.long
def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = json.loads((DOCS / "python.ipynb").read_text("utf-8"))["cells"]
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), "python.ipynb", "exec"), names)
    assert set(names["rates"]) == {"oltp.users-1.tps", "oltp.users-4.tps"}
    assert len(names["timed"]) == 22
    assert names["again"].id == names["queries"].id
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dyno-runs"]


def test_the_page_names_what_there_is() -> None:
    page = (DOCS / "python.md").read_text("utf-8")
    for name in dyno.__all__:
        if name not in {"__version__", "Run"}:
            assert f"dyno.{name}(" in page
    for name in vars(dyno.Run):
        if not name.startswith("_") and name != "bundle":
            assert f"run.{name}" in page, name
