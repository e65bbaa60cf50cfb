"""The folder of a cache on flash: what it is in front of, the cache itself, and its state.

```
dyno-accelerate.json   the attachment: origin, size, rules
cache                  the blocks
files.jsonl            the numbers of files in the keys of blocks
trace                  what was asked of files, while there is a file `record`
status.json            what the daemon did, each second
log                    what supervisor and daemon report
```
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dyno.errors import UsageError
from dyno.safety import plainjson, safefiles

MARK = "dyno-accelerate.json"
CACHE = "cache"
LOG = "log"
RECORD, TRACE = "record", "trace"
"""Asks the daemon to record, and what it recorded."""
MEMBERS = (
    CACHE,
    RECORD,
    TRACE,
    "files.jsonl",
    "files.jsonl.new",
    "status.json",
    "status.json.new",
    LOG,
)
"""All that a folder can hold, other than the mark."""

LEAST = 32 << 20
"""Bytes of the smallest cache."""

_LIMIT = 1 << 20


class Rule(BaseModel):
    """What happens to the files of a kind; see ``dyno_cache::mount::Rule``."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    glob: str
    kind: str
    action: Literal["cache", "pass"]
    quota: float | None = None


class Attachment(BaseModel):
    """A cache in front of a folder.

    Attributes:
        origin: The folder, an absolute path without links.
        size: Bytes of the cache.
        scan_bytes: A sequential read of more bytes does not fill the cache.
        rules: Kinds of files; the first rule that matches counts.
        everyone: Whether other users may use the mount, as the origin's permissions allow.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = 1
    origin: str
    size: int = Field(gt=0)
    scan_bytes: int = Field(ge=0)
    rules: tuple[Rule, ...]
    everyone: bool


@dataclass(frozen=True)
class Status:
    """What a daemon reported last.

    Attributes:
        age_s: Seconds since it was written.
        told: Its content; see ``dyno_cache::mount``.
    """

    age_s: float
    told: dict[str, Any]


def require_size(size: int) -> None:
    """Refuses the size of a cache that is too small.

    Raises:
        UsageError: With the smallest one.
    """
    if size < LEAST:
        raise UsageError("A cache has at least 32 MiB.")


def read(folder: Path) -> Attachment:
    """The attachment of a folder.

    Raises:
        UsageError: If the folder has none, or a damaged one.
    """
    try:
        text = safefiles.read_text(folder / MARK, _LIMIT)
    except FileNotFoundError as error:
        raise UsageError(f"{folder} has no cache of Dyno.") from error
    try:
        return Attachment.model_validate_json(text)
    except ValidationError as error:
        raise UsageError(f"{folder / MARK} is damaged or of another version of Dyno.") from error


def make(folder: Path, attachment: Attachment) -> None:
    """Makes a folder with an empty cache.

    Raises:
        UsageError: If it has something else.
        OSError: If it cannot be made, or the space is missing.
    """
    safefiles.make_folder(folder, 0o700)
    if any(folder.iterdir()):
        raise UsageError(f"{folder} is not empty. Use another folder.")
    fd = safefiles.open_own(folder / CACHE, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.posix_fallocate(fd, 0, attachment.size)
    except OSError:
        (folder / CACHE).unlink()
        raise
    finally:
        os.close(fd)
    with safefiles.replacing(folder / MARK, mode=0o600) as file:
        file.write(attachment.model_dump_json(indent=2).encode())


def remove(folder: Path) -> None:
    """Removes a cache; nothing else in the folder, which must be its own.

    Raises:
        UsageError: If the folder has no cache.
        OSError: If something cannot be removed, or something else is in the folder.
    """
    read(folder)
    for name in (*MEMBERS, MARK):
        (folder / name).unlink(missing_ok=True)
    folder.rmdir()


def status(folder: Path) -> Status | None:
    """What its daemon reported last; None if none ever did."""
    import time

    try:
        told = plainjson.loads(safefiles.read_text(folder / "status.json", _LIMIT))
    except (FileNotFoundError, ValueError):
        return None
    return Status(max(0.0, time.time() - told["time"]), told) if "time" in told else None
