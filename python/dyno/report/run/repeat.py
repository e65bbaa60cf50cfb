"""The command that repeats a run."""

from __future__ import annotations

from dyno.bundle.model import Run


def command(run: Run) -> str:
    """The command line as it was given, without passwords; else at least the verb."""
    recorded = run.plan.get("command")
    return recorded if isinstance(recorded, str) else f"dyno {run.verb}"
