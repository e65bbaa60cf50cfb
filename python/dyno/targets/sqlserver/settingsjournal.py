"""What a run changed on a server, in a file, so that the next run can restore it after a kill.

The run holds a lock next to the file. The kernel releases it when the run ends or is killed, so
whoever gets it knows that nobody needs the changes any more.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dyno.bundle.writer import write_atomically
from dyno.errors import DynoError, TargetError
from dyno.safety import safefiles
from dyno.targets.sqlserver.state import ADVANCED, GOVERNOR
from dyno.targets.sqlserver.tuning import CONFIGURED, GRANT, OF_DATABASES, TEMP_FILES, WORDS
from dyno.workspace.lock import open_lock

_MOST_BYTES = 1 << 20
_INSTANCE = {*CONFIGURED, ADVANCED, GOVERNOR, GRANT, TEMP_FILES}
_NUMBER = re.compile(r"\d{1,10}", re.ASCII)
_SHARE = re.compile(r"\d{1,3}(?:\.\d{1,10})?", re.ASCII)
_DATABASE = re.compile(r"dyno_[a-z0-9_]{1,100}", re.ASCII)


@dataclass(frozen=True)
class Changed:
    """A changed value.

    Attributes:
        database: The database of an option; empty for the instance.
        before, value: In the server's syntax.
    """

    name: str
    database: str
    before: str
    value: str


class Journal:
    """The changes of Dyno on one server, as far as they are not restored."""

    def __init__(self, home: Path, server: str, identity: str = "") -> None:
        """Touches nothing.

        Args:
            home: The folder of the target under ``--out``.
            server: Its name in messages.
            identity: Its own name, whatever the host in the URL is; that in messages if unknown.
        """
        digest = hashlib.sha256((identity or server).encode()).hexdigest()[:16]
        self._server = server
        self.path = home / f"settings-{digest}.json"
        self._lock = home / f"settings-{digest}.lock"
        self._held = -1

    def acquire(self) -> bool:
        """Takes the lock; false if another run has it.

        Raises:
            TargetError: If the file of the lock cannot be opened.
            UsageError: If Dyno did not create it.
        """
        if self._held >= 0:
            return True
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = open_lock(self._lock, 0o600)
        except OSError as error:
            message = f"Cannot open {self._lock}: {error.strerror}. Give another --out DIR."
            raise TargetError(message, kind="io") from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return False
        self._held = descriptor
        return True

    @property
    def held(self) -> bool:
        """Whether this run has the lock."""
        return self._held >= 0

    def release(self) -> None:
        """Releases the lock."""
        if self._held >= 0:
            os.close(self._held)
            self._held = -1

    def read(self) -> list[Changed]:
        """The changes, the oldest first.

        Raises:
            TargetError: If the file is damaged, or has something that Dyno does not write.
        """
        if not self.path.exists():
            return []
        try:
            found = json.loads(safefiles.read_text(self.path, _MOST_BYTES))
            return [_checked(item) for item in found["changed"]]
        except (DynoError, OSError, ValueError, KeyError, TypeError) as error:
            raise TargetError(
                f"Cannot read {self.path}, which lists what a run changed on {self._server}; "
                "restore these settings yourself, and remove the file."
            ) from error

    def write(self, changed: Sequence[Changed]) -> None:
        """Replaces the file; removes it without changes."""
        if not changed:
            self.path.unlink(missing_ok=True)
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        listed = [asdict(item) for item in changed]
        text = json.dumps({"server": self._server, "changed": listed}, indent=1)
        write_atomically(self.path, text)


def _checked(item: Any) -> Changed:
    """An entry whose parts may become part of a statement.

    Raises:
        ValueError: If one may not.
    """
    found = Changed(*(str(item[key]) for key in ("name", "database", "before", "value")))
    values = (found.before, found.value)
    if found.name in _INSTANCE:
        pattern = _SHARE if found.name == GRANT else _NUMBER
        right = not found.database and all(map(pattern.fullmatch, values))
    else:
        right = found.name in OF_DATABASES and bool(_DATABASE.fullmatch(found.database))
        right = right and {*values} <= {*WORDS[found.name]}
    if not right:
        raise ValueError("not an entry of this journal")
    return found
