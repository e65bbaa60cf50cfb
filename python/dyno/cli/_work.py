"""Runs a job of a command and reports on the console."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

from dyno.safety.redaction import redact

if TYPE_CHECKING:
    from dyno.cli._options import Options
    from dyno.runner.session import Job


def conduct(job: Job, options: Options) -> int:
    """Runs a job; returns the exit code."""
    from dyno.cli._console import Console
    from dyno.runner.session import run_session

    console = Console(quiet=options.quiet, as_json=options.as_json, live=options.live)
    return run_session(job, console, typed()).code


def typed() -> str:
    """The command line of this process, with passwords removed from URLs."""
    return shlex.join(["dyno", *(redact(word) for word in sys.argv[1:])])
