"""The server's log: only of this start, and the line that explains."""

from __future__ import annotations

from pathlib import Path

import pytest

from dyno.servers.serverlog import ServerLog
from dyno.targets.postgresql.product import explain, reports_full_disk

STAMP = "2026-01-02 03:04:05.678 UTC [42] "


def log(tmp_path: Path, *lines: str) -> ServerLog:
    found = ServerLog(tmp_path / "server.log")
    found.path.write_text(f"{STAMP}PANIC:  of an earlier start\n")
    with found.open() as file:
        file.write("".join(f"{STAMP}{line}\n" for line in lines).encode())
    return found


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["LOG:  a", "FATAL:  no", "LOG:  b"], "no"),
        (["PANIC:  disk", "LOG:  x (PID 7) was terminated by signal 6: Aborted"], "disk"),
        (
            ["ERROR:  old", "LOG:  x (PID 7) was terminated by signal 9: Killed"],
            "one of its processes was killed (signal 9)",
        ),
        (["FATAL:  the database system is starting up", "LOG:  end"], "LOG:  end"),
    ],
)
def test_the_explaining_line(tmp_path: Path, lines: list[str], expected: str) -> None:
    assert log(tmp_path, *lines).reason(explain) == expected


def test_an_empty_log_names_itself(tmp_path: Path) -> None:
    assert "server.log" in log(tmp_path).reason(explain)


def test_a_full_disk_is_recognised() -> None:
    assert reports_full_disk("could not write: No space left on device")
    assert reports_full_disk('could not extend file "x": wrote only 4096 of 8192 bytes')
    assert not reports_full_disk("database x does not exist")
