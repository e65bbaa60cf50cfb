"""ClickHouse errors, mapped to the classes of a bundle."""

from __future__ import annotations

import fcntl
import os
import re
from pathlib import Path

from dyno.errors import DynoError, TargetError, error_of_kind

_LONGEST = 300

# By error code (``system.errors``).
_KINDS = {
    159: "timeout",  # TIMEOUT_EXCEEDED
    173: "out_of_memory",  # CANNOT_ALLOCATE_MEMORY
    241: "out_of_memory",  # MEMORY_LIMIT_EXCEEDED
    243: "disk_full",  # NOT_ENOUGH_SPACE
    394: "timeout",  # QUERY_WAS_CANCELLED
    33: "io",  # CANNOT_READ_ALL_DATA
    40: "io",  # CHECKSUM_DOESNT_MATCH
    74: "io",  # CANNOT_READ_FROM_FILE_DESCRIPTOR
    75: "io",  # CANNOT_WRITE_TO_FILE_DESCRIPTOR
    76: "io",  # CANNOT_OPEN_FILE
    107: "io",  # FILE_DOESNT_EXIST
    246: "io",  # CORRUPTED_DATA
}
_ADVICE = {
    "disk_full": "; free space on the volume of the directory",
    "out_of_memory": "; the query needs more than max_memory_usage",
}
_SPILLED = "Limit for temporary files size exceeded"


def statement_error(text: str) -> DynoError:
    """The error for a statement that failed."""
    code = re.search(r"Code: (\d+)\.", text)
    kind = _KINDS.get(int(code[1]), "database") if code else "database"
    advice = _ADVICE.get(kind, "")
    if "No space left on device" in text:
        kind, advice = "disk_full", _ADVICE["disk_full"]
    elif _SPILLED in text:
        kind, advice = "disk_full", "; raise temp_limit, or raise work_memory to spill less"
    return error_of_kind(kind, f"ClickHouse: {_short(text)}{advice}.")


def start_error(text: str, folder: Path) -> TargetError:
    """The error for a directory that cannot be opened, with advice."""
    if holder := holder_of(folder):
        return TargetError(
            f"{folder} is open in another process ({holder}); ClickHouse allows one. Wait "
            "for it, or use another directory.",
            kind="busy",
        )
    return TargetError(f"ClickHouse cannot open {folder}: {_short(text)}.", kind="io")


def holder_of(folder: Path) -> str:
    """The process that locks the directory's ``status`` file; empty if none."""
    try:
        handle = os.open(folder / "status", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        number = re.search(rb"PID: (\d+)", os.read(handle, 200))
        return f"process {number[1].decode()}" if number else "unknown"
    finally:
        os.close(handle)
    return ""


def _short(text: str) -> str:
    """The engine's message in one line, without number, stack and long lists."""
    line = next((part.strip() for part in text.splitlines() if part.strip()), "unknown error")
    line = re.sub(r"^.*?Code: \d+\. (?:DB::)?Exception: ", "", line)
    line = re.sub(r"\. Expected one of: .*|, Stack trace .*| \(version [^)]*\)", "", line)
    line = re.sub(r" \([A-Z_]+\)$", "", line).rstrip(". ")
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]} …"
