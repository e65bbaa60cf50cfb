"""Page checksums of the private cluster: switched while it is down, and restored later.

They are a property of the data folder, so a killed Dyno leaves them switched. A journal in the
engine's folder records the original state; the next start restores it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from dyno.bundle.writer import write_atomically
from dyno.errors import TargetError
from dyno.servers.identity import Identity
from dyno.targets.postgresql.binaries import Binaries

_JOURNAL = "settings.journal"


class Checksums:
    """The checksums of the cluster ``home/data``. The caller holds the engine's lock."""

    def __init__(self, home: Path) -> None:
        self._data = home / "data"
        self._journal = home / _JOURNAL

    def before_start(
        self,
        asked: str | None,
        programs: Binaries,
        identity: Identity,
        recover: Callable[[], None],
    ) -> str:
        """Switches them as requested, or restores them after a killed Dyno.

        Args:
            asked: ``on``, ``off`` or None.
            programs: PostgreSQL's programs.
            identity: The owner of the cluster.
            recover: Starts and stops the server, for a cluster that was not shut down.

        Returns:
            The state without the request; empty if nothing was requested.

        Raises:
            TargetError: If they cannot be switched.
        """
        journal = self._usual()
        if asked is None and journal is None:
            return ""
        there, clean = self._state(programs, identity)
        usual = journal or there
        wanted = asked or usual
        if wanted != there:
            if wanted != usual:
                write_atomically(self._journal, json.dumps({"checksums": usual}))
            if not clean:
                recover()
            self._switch(wanted, programs, identity)
        if wanted == usual:
            self._journal.unlink(missing_ok=True)
        return usual

    def after_stop(
        self, programs: Binaries, identity: Identity, recover: Callable[[], None]
    ) -> None:
        """Restores them; does nothing if they were not switched.

        Raises:
            TargetError: If that fails; the next start tries again.
        """
        usual = self._usual()
        if usual is None:
            return
        there, clean = self._state(programs, identity)
        if there != usual:
            if not clean:  # it was killed, or interrupted during startup
                recover()
            self._switch(usual, programs, identity)
        self._journal.unlink(missing_ok=True)

    @property
    def restored(self) -> bool:
        """Whether they have their original state."""
        return not self._journal.exists()

    def _usual(self) -> str | None:
        """The original state according to the journal; None without one."""
        try:
            stored = json.loads(self._journal.read_text(encoding="utf-8"))["checksums"]
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise TargetError(f"Cannot read {self._journal}; remove it.") from error
        return "on" if stored == "on" else "off"

    def _state(self, programs: Binaries, identity: Identity) -> tuple[str, bool]:
        """Whether pages have checksums, and whether the cluster was shut down cleanly."""
        code, printed = identity.run(
            [programs.program("pg_controldata"), "-D", str(self._data)], self._data
        )
        version = re.search(r"Data page checksum version: +(\d+)", printed)
        state = re.search(r"Database cluster state: +(.+)", printed)
        if code != 0 or version is None or state is None:
            raise TargetError(f"pg_controldata cannot read {self._data}: {_last(printed, code)}.")
        return "on" if int(version[1]) else "off", state[1].strip() == "shut down"

    def _switch(self, wanted: str, programs: Binaries, identity: Identity) -> None:
        option = "--enable" if wanted == "on" else "--disable"
        code, printed = identity.run(
            [programs.program("pg_checksums"), option, "-D", str(self._data)], self._data
        )
        if code != 0:
            raise TargetError(f"Cannot switch checksums {wanted}: {_last(printed, code)}.")


def _last(printed: str, code: int) -> str:
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    return lines[-1].rstrip(".") if lines else f"exit code {code}"
