"""The user of a private server: it must not be root, and must own the data folder.

See docs/decisions/0003-embedded-servers-and-root.md.
"""

from __future__ import annotations

import os
import pwd
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from dyno.errors import TargetError
from dyno.servers.become import FAILED

_SCRIPT = Path(__file__).with_name("become.py")
_FALLBACK_NOBODY = 65534


@dataclass(frozen=True)
class Identity:
    """An identity of a process.

    Attributes:
        kind: ``self`` changes nothing. ``user`` drops root privileges and becomes ``uid``.
            ``namespace`` stays the same user, but appears as ``uid`` to itself.
    """

    kind: Literal["self", "user", "namespace"]
    uid: int = 0
    gid: int = 0

    @property
    def owner(self) -> tuple[int, int]:
        """User and group of the files that it creates."""
        return (self.uid, self.gid) if self.kind == "user" else (os.geteuid(), os.getegid())

    def __str__(self) -> str:
        if self.kind == "user":
            return f"as user id {self.uid}"
        return "in a user namespace" if self.kind == "namespace" else "as this user"

    def spawn(
        self,
        command: Sequence[str],
        folder: Path,
        death_signal: signal.Signals,
        *,
        output: IO[bytes] | int,
        keep: Sequence[int] = (),
        launch: Sequence[str] = (),
    ) -> subprocess.Popen[bytes]:
        """Starts ``command`` in ``folder``, in its own session so that Ctrl-C does not reach it.

        The kernel sends ``death_signal`` when the calling *thread* ends, for any reason. So a
        process
        that must outlive its caller is started from a thread that waits for it. The process
        inherits the
        file descriptors ``keep``. ``launch`` is the command prefix.

        Raises:
            OSError: If the process cannot be started.
        """
        name = self.kind if self.kind == "self" else f"{self.kind}:{self.uid}:{self.gid}"
        head = [sys.executable, "-I", "-S", str(_SCRIPT), str(os.getpid()), str(int(death_signal))]
        return subprocess.Popen(
            [*launch, *head, name, str(folder), *command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            # Not the shared folder: a MariaDB that starts deletes other servers' temporary tables.
            env={**_environment(), "TMPDIR": str(folder)},
            pass_fds=tuple(keep),
            start_new_session=True,
        )

    def run(
        self, command: Sequence[str], folder: Path, *, keep: Sequence[int] = ()
    ) -> tuple[int, str]:
        """Runs a short command to completion; returns its exit code and output."""
        try:
            process = self.spawn(command, folder, signal.SIGKILL, output=subprocess.PIPE, keep=keep)
        except OSError as error:
            return FAILED, f"{error.strerror}: {error.filename or command[0]}"
        try:
            printed, _ = process.communicate()
        except BaseException:
            process.kill()
            process.wait()
            raise
        return process.returncode, printed.decode(errors="replace")


def candidates(uid: int, owner: int | None) -> list[Identity]:
    """The possible identities of the server, best first, for effective user ``uid``.

    Args:
        uid: Dyno's effective user id.
        owner: User id of an existing data folder's owner.
    """
    nobody = _nobody()
    inside = Identity("namespace", nobody.uid, nobody.gid)
    if uid != 0:
        # initdb needs a user name, which an arbitrary id in a container lacks.
        return [Identity("self")] if _has_name(uid) else [inside, Identity("self")]
    if owner and owner != nobody.uid:
        return [Identity("user", owner, nobody.gid), nobody, inside]
    return [nobody, inside]


def choose(uid: int, owner: int | None, home: Path, program: str, product: str) -> Identity:
    """The first candidate that can access ``home`` and execute ``program``.

    Raises:
        TargetError: If there is none, with the reason and advice.
    """
    reasons: list[str] = []
    for candidate in candidates(uid, owner):
        code, printed = candidate.run([program, "--version"], home)
        if code == 0:
            return candidate
        lines = printed.strip().splitlines() or [f"exit code {code}"]
        reasons.append(f"{candidate}: {lines[-1]}")
    raise TargetError(
        f"{product} can run neither {'; nor '.join(reasons)}. Give --out a folder that every user "
        "can reach, or run dyno as an ordinary user."
    )


def _nobody() -> Identity:
    try:
        entry = pwd.getpwnam("nobody")
    except KeyError:
        return Identity("user", _FALLBACK_NOBODY, _FALLBACK_NOBODY)
    return Identity("user", entry.pw_uid, entry.pw_gid)


def _has_name(uid: int) -> bool:
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True


def _environment() -> dict[str, str]:
    """Dyno's environment without PostgreSQL's variables, with English messages."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    return {**kept, "LC_ALL": "C", "TZ": "UTC"}
