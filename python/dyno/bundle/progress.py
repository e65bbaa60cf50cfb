"""The progress of a run or study, in its folder while it runs: ``progress.json``."""

from __future__ import annotations

import contextlib
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from dyno.errors import UsageError
from dyno.safety import safefiles

NAME = "progress.json"
_LONGEST = 1 << 16


class Progress(BaseModel):
    """The progress of the current phase.

    Attributes:
        t_ns: When it was written, ns since the Unix epoch.
        phase: Title of the phase.
        done, total: Units of work; a total of 0 is unknown.
        text: The current work.
        phase_left_s: Expected time to the end of the phase; None if unknown.
        run_left_s: Expected time to the end of the run; None if unknown.
    """

    model_config = ConfigDict(frozen=True, allow_inf_nan=False)

    t_ns: int
    phase: str
    done: float = 0.0
    total: float = 0.0
    text: str = ""
    phase_left_s: float | None = None
    run_left_s: float | None = None


def read(bundle: Path) -> Progress | None:
    """The progress of a running run; None without one."""
    try:
        text = safefiles.read_text(bundle / NAME, _LONGEST)
        return Progress.model_validate_json(text)
    except (OSError, UsageError, ValidationError, ValueError):
        return None


def write(folder: Path, found: Progress) -> None:
    """Replaces the progress in a folder. One that cannot be written is left out."""
    with (
        contextlib.suppress(OSError, UsageError),
        safefiles.replacing(folder / NAME, durable=False) as file,
    ):
        file.write(found.model_dump_json().encode())


def remove(folder: Path) -> None:
    """Removes the progress from a folder: the work is over."""
    with contextlib.suppress(OSError):
        (folder / NAME).unlink(missing_ok=True)
