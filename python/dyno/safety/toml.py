"""Files that a person names: text of a sensible size, mostly TOML. Quick to import."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from dyno.errors import UsageError

LONGEST = 4 << 20
"""Bytes of such a file."""


def text_of(path: Path, what: str) -> str:
    """The text of a file that a person names; it may be a link to one.

    Args:
        path: The file.
        what: It in messages: ``the layout mine.toml``.

    Raises:
        UsageError: If it is not a regular file of UTF-8 text, or too long.
    """
    from dyno.safety import safefiles

    try:
        return safefiles.read_text(path.resolve(), LONGEST)
    except (OSError, UnicodeError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise UsageError(f"Cannot read {what}: {reason}.") from error


def table(content: str, what: str) -> dict[str, Any]:
    """TOML as a table; ``what`` names the file in messages.

    Raises:
        UsageError: If it is not TOML.
    """
    try:
        return tomllib.loads(content)
    except RecursionError as error:
        raise UsageError(f"Cannot read {what}: its nesting is too deep.") from error
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{what} is not valid TOML: {error}.") from error
