"""Records a database that Dyno does not load, for ``dyno watch TARGET``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dyno.errors import UsageError

if TYPE_CHECKING:
    from dyno.cli._options import Options


def record(target: str, length: str | None, options: Options) -> int:
    """Records TARGET for ``length``, or until Ctrl-C; returns the exit code.

    Raises:
        UsageError: If the target cannot be recorded.
    """
    words = "" if length is None else f" for {length}"
    raise UsageError(f"{target} cannot be recorded{words} to {options.out} without a load.")
