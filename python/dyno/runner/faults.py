"""Exceptions that nobody expected: faults in Dyno itself."""

from __future__ import annotations

from pathlib import Path

from dyno.errors import FaultError
from dyno.safety.redaction import masked


def fault_of(error: BaseException, bundle: Path | None = None) -> FaultError:
    """An unexpected exception as a fault, whose cause it is.

    Args:
        error: The exception. URLs in its text lose their passwords.
        bundle: What was recorded so far, if anything.
    """
    place = "" if bundle is None else f" What was recorded is in {bundle}."
    fault = FaultError(
        f"Fault in Dyno: {masked(repr(error))}.{place} Please report it with the traceback above."
    )
    fault.__cause__ = error
    return fault
