"""The bundle: complete, atomic, and readable at every moment."""

from __future__ import annotations

import errno
import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pydantic import model_serializer

from dyno.bundle import tables
from dyno.bundle.detail import interruptible
from dyno.bundle.model import Check, Validity
from dyno.bundle.phases import DETAILS, PhaseKind
from dyno.bundle.phases.dss import DssDetail
from dyno.bundle.phases.io import IoDetail
from dyno.bundle.phases.machine import MachineDetail
from dyno.bundle.phases.oltp import OltpDetail
from dyno.bundle.reader import Bundle, find_bundle, list_bundles
from dyno.bundle.tables import Table, read_table, spool_to_parquet
from dyno.bundle.writer import Recorder, file_error, write_atomically
from dyno.errors import DiskFullError, UsageError
from dyno.safety import safefiles

SAMPLE = {
    "t_ns": 1,
    "source": "host",
    "subject": "cpu",
    "metric": "busy",
    "value": 12.5,
    "unit": "%",
}


def test_a_bundle_holds_what_was_recorded(out: Path) -> None:
    recorder = Recorder(out, "run", {"scale": 1}, ("tpch",), ("Derived from TPC-H",))
    with recorder.phase("power-tpch-x", "Power", DssDetail(), "x") as phase:
        phase.detail = DssDetail(scale=1)
    recorder.add("samples", [SAMPLE, {**SAMPLE, "t_ns": 2}])
    recorder.spool("ops/users-4").write_text('{"t_ns": 5, "op": "payment", "errors": {"io": 1}}\n')
    recorder.add_checks([Check(name="c", target="x", passed=True, message="fine")])
    recorder.finish("done")
    recorder.judge(Validity(valid=True), [], [])
    recorder.close()

    bundle = Bundle.open(recorder.path)
    assert bundle.run.status == "done"
    assert bundle.run.validity.valid is True
    assert "TPC-H" in bundle.run.notices[0]
    assert bundle.run.phases[0].detail == DssDetail(scale=1)
    assert bundle.table("samples").column("t_ns").to_pylist() == [1, 2]
    assert bundle.table("ops/users-4").column("errors").to_pylist() == ['{"io": 1}']
    assert bundle.levels() == ["users-4"]
    assert bundle.checks()[0].message == "fine"
    assert not list(recorder.path.glob("samples.jsonl"))
    events = [json.loads(line) for line in (recorder.path / "events.jsonl").open()]
    assert [event["event"] for event in events] == [
        "run-started",
        "phase-started",
        "phase-ended",
        "run-ended",
    ]


def test_a_name_stands_for_one_phase(out: Path) -> None:
    recorder = Recorder(out, "run", {}, ("tpcc",))
    with recorder.phase("oltp-tpcc-x-users-4", "First", OltpDetail(users=1), "x"):
        pass
    with (
        pytest.raises(ValueError, match="users-4"),
        recorder.phase("oltp-tpcc-x-users-4", "Second", OltpDetail(), "x"),
    ):
        pytest.fail("it began")
    recorder.finish("done")
    recorder.close()
    (phase,) = Bundle.open(recorder.path).run.phases
    assert (phase.title, phase.status, phase.detail) == ("First", "done", OltpDetail(users=1))


def test_a_phase_records_how_it_ended(out: Path) -> None:
    recorder = Recorder(out, "run", {}, ())
    with pytest.raises(ValueError, match="x"), recorder.phase("a", "A", IoDetail()):
        raise ValueError("x")
    with pytest.raises(KeyboardInterrupt), recorder.phase("b", "B", IoDetail()):
        raise KeyboardInterrupt
    assert [phase.status for phase in recorder.run.phases] == ["failed", "interrupted"]
    recorder.close()


def test_a_killed_run_is_readable(out: Path) -> None:
    script = f"""
import os, signal
from pathlib import Path
from dyno.bundle.phases.io import IoDetail
from dyno.bundle.writer import Recorder
recorder = Recorder(Path({str(out)!r}), "run", {{}}, ())
recorder.add("samples", [{SAMPLE!r}])
with recorder.phase("io", "Storage", IoDetail()):
    with recorder.spool("io").open("a") as file:
        file.write('{{"t_ns": 7, "phase": "mixed"}}\\n{{"t_ns": 8, "ph')
        file.flush()
        os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", script], check=False)
    assert done.returncode == -signal.SIGKILL
    (bundle,) = list_bundles(out)
    assert bundle.run.status == "running"
    assert bundle.run.phases[0].end_ns is None
    assert bundle.table("samples").num_rows == 1
    assert bundle.table("io").column("t_ns").to_pylist() == [7]  # the torn line is left out


def test_bundles_are_found_by_the_beginning_of_their_name(out: Path) -> None:
    first, second = (Recorder(out, "run", {}, ()) for _ in range(2))
    for recorder in (first, second):
        with recorder.phase("oltp-tpcc-x-users-4", "Four users", OltpDetail(), "x"):
            pass
    assert find_bundle(out, first.run.run).path == first.path
    assert find_bundle(out, str(second.path)).path == second.path
    assert find_bundle(out, "last").path in {first.path, second.path}
    with pytest.raises(UsageError, match="matches 2"):
        find_bundle(out, "20")
    with pytest.raises(UsageError, match="No run"):
        find_bundle(out, "nothing")
    first.close()
    second.close()


@pytest.mark.parametrize(
    ("kind", "spool", "row", "measured"),
    [
        ("provision", "samples", '{"t_ns": 5}\n', False),
        ("io", "io", "", False),
        ("io", "io", '{"t_ns": 5}\n', True),
        ("oltp", "ops/users-4", '{"t_ns": 5}\n', True),
    ],
)
def test_a_run_that_failed_counts_if_it_measured_something(
    out: Path, kind: PhaseKind, spool: str, row: str, measured: bool
) -> None:
    recorder = Recorder(out, "run", {}, ())
    with recorder.phase("machine", "Machine", MachineDetail()):
        pass
    with pytest.raises(ValueError, match="x"), recorder.phase("a", "A", DETAILS[kind]()):
        recorder.spool(spool).write_text(row)
        raise ValueError("x")
    assert Bundle.open(recorder.path).measured is measured  # as a kill would leave it
    recorder.finish("failed", "x")
    recorder.close()
    assert Bundle.open(recorder.path).measured is measured


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"schema_version": 99}', '{"schema_version": 1, "run": 5}', "\x00"]
)
def test_damaged_bundles_are_refused_in_one_line(out: Path, text: str) -> None:
    (out / "run.json").write_text(text)
    with pytest.raises(UsageError) as caught:
        Bundle.open(out)
    assert "\n" not in str(caught.value)


def test_a_full_disk_has_a_message_of_its_own() -> None:
    error = file_error(OSError(errno.ENOSPC, "No space left on device"), Path("/x/y"))
    assert isinstance(error, DiskFullError)
    assert "/x/y" in str(error)


def test_rows_of_which_the_disk_takes_parts_are_whole(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Slow(io.FileIO):
        def write(self, data: Any, /) -> int:
            return super().write(data[:7])

    def append(path: Path) -> Slow:
        return Slow(path, "ab")

    recorder = Recorder(out, "run", {}, ())
    monkeypatch.setattr(safefiles, "append", append)
    recorder.add("samples", [SAMPLE, {**SAMPLE, "subject": "ä"}])
    recorder.close()

    lines = recorder.spool("samples").read_text(encoding="utf-8").splitlines()
    assert list(map(json.loads, lines)) == [SAMPLE, {**SAMPLE, "subject": "ä"}]


def test_an_unwritable_folder_is_wrong_use(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="--out"):
        Recorder(tmp_path / "file", "run", {}, ())


def test_atomic_writes_leave_no_rest(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_atomically(path, "1")
    write_atomically(path, "2")
    assert path.read_text() == "2"
    assert os.listdir(tmp_path) == ["a.json"]


def test_a_long_spool_is_turned_into_a_table_bit_by_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [SAMPLE | {"t_ns": at, "value": at / 2} for at in range(100)]
    spool = tmp_path / "samples.jsonl"
    spool.write_text("".join(json.dumps(row) + "\n" for row in rows) + '{"t_ns": 1')
    monkeypatch.setattr(tables, "_BATCH_BYTES", 1000)
    final = spool_to_parquet(spool, Table.SAMPLES)
    assert pq.ParquetFile(final).num_row_groups > 5
    assert read_table(tmp_path, "samples").to_pylist() == rows
    assert not spool.exists()


def test_columns_that_an_older_bundle_lacks_are_null(tmp_path: Path) -> None:
    old = pa.table({"t_ns": [1, 2], "volume": ["a", "b"], "gone": [True, False], "reads": [3, 4]})
    pq.write_table(old, tmp_path / "io.parquet")
    found = read_table(tmp_path, "io")
    assert found.schema == Table.IO.schema()
    assert found.column("reads").to_pylist() == [3, 4]
    assert found.column("stage").null_count == 2


def test_a_row_may_hold_what_utf_8_cannot(out: Path) -> None:
    recorder = Recorder(out, "run", {}, ())
    recorder.add("queries", [{"error": "\ud800"}, {"error": "é", "seconds": 0.1 + 0.2}])
    lines = recorder.spool("queries").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == [
        {"error": "\ud800"},
        {"error": "é", "seconds": 0.1 + 0.2},
    ]


def test_ctrl_c_while_a_detail_is_written_is_ctrl_c() -> None:
    class Struck(DssDetail):
        @model_serializer
        def _struck(self) -> dict[str, object]:
            raise KeyboardInterrupt

    for dump in (Struck().model_dump, Struck().model_dump_json):
        with pytest.raises(KeyboardInterrupt):
            interruptible(dump)
