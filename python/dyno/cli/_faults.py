"""What a user sees of a fault in Dyno itself."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path

from dyno.errors import FaultError
from dyno.safety.redaction import masked


def shown_fault(error: BaseException, bundle: Path | None = None) -> FaultError:
    """Prints the traceback of an unexpected exception; returns what to say of it.

    Args:
        error: The exception. URLs in it lose their passwords.
        bundle: What was recorded so far, if anything.
    """
    sys.stderr.write(masked("".join(traceback.format_exception(error))))
    place = "" if bundle is None else f" What was recorded is in {bundle}."
    return FaultError(
        f"Fault in Dyno: {masked(repr(error))}.{place} Please report it with the traceback above."
    )
