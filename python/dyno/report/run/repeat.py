"""The command that reproduces a run."""

from __future__ import annotations

from dyno.bundle.model import Run


def command(run: Run) -> str:
    """The command line without passwords; the verb if the bundle lacks it."""
    recorded = run.plan.get("command")
    return recorded if isinstance(recorded, str) else f"dyno {run.verb}"
