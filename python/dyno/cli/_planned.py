"""Runs a plan from a JSON document on stdin; studies start it as a child process."""

from __future__ import annotations

import sys

from dyno.cli import ended_by


def main() -> None:
    """Reads the plan, runs it, prints the run's JSON document, and exits with its code."""
    ended_by(_done, [])


def _done() -> int:
    from dyno.cli._console import Console
    from dyno.plans import documents
    from dyno.runner.jobs import job_of
    from dyno.runner.session import run_session

    job = job_of(documents.read(sys.stdin.read()))
    return run_session(job, Console(quiet=True, as_json=True)).code


if __name__ == "__main__":
    main()
