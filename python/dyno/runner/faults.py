"""Unexpected exceptions: faults in Dyno itself."""

from __future__ import annotations

from pathlib import Path

from dyno.errors import FaultError
from dyno.safety.redaction import masked


def fault_of(error: BaseException, bundle: Path | None = None) -> FaultError:
    """Wraps an unexpected exception in a fault; the exception is its cause.

    Args:
        error: The exception. Passwords are removed from URLs in its text.
        bundle: The bundle recorded so far, if any.
    """
    place = "" if bundle is None else f" The recorded data is in {bundle}."
    fault = FaultError(
        f"Internal error: {masked(repr(error))}.{place} Please report it with the traceback above."
    )
    fault.__cause__ = error
    return fault
