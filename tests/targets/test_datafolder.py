"""The data folder of a private server, beside other servers of the machine."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from tests.mariadb import require_mariadb
from tests.targets.conftest import embedded_mariadb


def test_a_server_that_empties_the_shared_temporary_folder_harms_nothing(
    public_out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_mariadb()
    shared = public_out / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    monkeypatch.setenv("TMPDIR", str(shared))
    done = threading.Event()

    def empty() -> None:  # as every MariaDB does when it starts
        while not done.wait(0.0005):
            for path in shared.glob("#sql*"):
                path.unlink(missing_ok=True)

    other = threading.Thread(target=empty)
    other.start()
    try:
        with embedded_mariadb(public_out / "out") as target:
            assert target.process_ids()
    finally:
        done.set()
        other.join()
