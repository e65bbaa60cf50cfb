"""Settings of one run on a recorder: entered, left, killed."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from dyno.config.settings import Setting, parse
from dyno.targets.sqlserver.connection import Session
from dyno.targets.sqlserver.tuned import Tuning
from tests.targets.sqlserver_recorder import Recorder

SERVER = "SQL Server at db:1433"


def asked(*texts: str) -> list[Setting]:
    """Settings by their texts."""
    return parse(texts, None, None)


def entered(server: Recorder, home: Path, *texts: str) -> Tuning:
    """The settings of a run of ``tpch``, applied and read back."""
    tuning = Tuning(asked(*texts), home)
    tuning.places = frozenset({"dyno_tpch"})
    tuning.plan_sessions(cast("Session", server), SERVER)
    tuning.verify_sessions(cast("Session", server))
    return tuning


def values(server: Recorder) -> tuple[object, ...]:
    """All that a run may change."""
    return (
        dict(server.configured),
        dict(server.governor),
        {name: list(found) for name, found in server.options.items()},
        list(server.temp),
    )


def left_behind(home: Path) -> list[Path]:
    """Journals; the file of the lock stays."""
    return [path for path in home.iterdir() if path.suffix != ".lock"]


def leave(tuning: Tuning, server: Recorder) -> None:
    """The end of the run."""
    tuning.restore(lambda: cast("Session", server))
    tuning.left(restored=True)


def killed(tuning: Tuning) -> None:
    """The kernel releases the lock of a killed run."""
    journal = tuning._journal  # pyright: ignore[reportPrivateUsage]
    assert journal is not None
    journal.release()
