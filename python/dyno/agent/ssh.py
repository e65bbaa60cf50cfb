"""Starts an agent on another machine through the user's ``ssh``, for one run."""

from __future__ import annotations

import contextlib
import secrets
import shlex
import socket
import subprocess
import threading
import time
from collections import deque
from collections.abc import Iterable
from types import TracebackType
from typing import IO, Self

from dyno.agent.address import Address
from dyno.agent.client import AgentError, Client
from dyno.errors import TargetError
from dyno.safety.text import plain

_PORTS = (20_000, 60_000)
_ATTEMPTS = 3
_START_S = 30.0
_END_S = 5.0
_MOST_LINES = 5


class SshAgent:
    """A context in which the agent runs. It ends when its standard input does: with this process.

    Its token goes over standard input; ``ssh`` forwards a port of the loopback address.
    """

    def __init__(self, address: Address) -> None:
        """Starts nothing."""
        self._address = address
        self._process: subprocess.Popen[str] | None = None
        self._stdin: IO[str] | None = None
        self._said: deque[str] = deque(maxlen=_MOST_LINES)

    def __enter__(self) -> Self:
        """Starts ``ssh`` and the agent, and waits for its answer.

        Raises:
            TargetError: If either fails.
        """
        for left in reversed(range(_ATTEMPTS)):
            try:
                self.client = self._start()
                return self
            except AgentError:
                self._end()
                raise
            except TargetError:
                self._end()
                if not left:
                    raise
        raise AssertionError("unreachable")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Ends both."""
        self.client.close()
        self._end()

    def command(self, own: int, theirs: int) -> list[str]:
        """The command line: forwards port ``own`` here to ``theirs`` there."""
        address = self._address
        agent = [address.program, "agent", "--port", str(theirs), "--with-stdin"]
        return [
            *("ssh", "-T", "-o", "BatchMode=yes", "-o", "ExitOnForwardFailure=yes"),
            *("-o", "ControlMaster=no", "-o", "ControlPath=none"),
            *("-L", f"127.0.0.1:{own}:127.0.0.1:{theirs}"),
            *(("-p", str(address.port)) if address.port else ()),
            *(("-l", address.user) if address.user else ()),
            *("--", address.host, shlex.join(agent)),
        ]

    def _start(self) -> Client:
        token, own = secrets.token_hex(32), _free_port()
        theirs = _PORTS[0] + secrets.randbelow(_PORTS[1] - _PORTS[0])
        try:
            process = self._process = subprocess.Popen(
                self.command(own, theirs),
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                start_new_session=True,  # Ctrl-C ends the run, and the run ends the agent
            )
        except OSError as error:
            raise TargetError(f"ssh cannot be started: {error.strerror}.") from error
        said = threading.Thread(target=self._listen, args=(process.stderr,), daemon=True)
        said.start()
        self._stdin = process.stdin
        with contextlib.suppress(OSError):
            if self._stdin is not None:
                self._stdin.write(token + "\n")
                self._stdin.flush()
        client = Client("127.0.0.1", own, token, None, self._address.text)
        deadline = time.monotonic() + _START_S
        while process.poll() is None and time.monotonic() < deadline:
            try:
                client.hello()
                return client
            except AgentError:
                raise
            except TargetError:
                time.sleep(0.1)
        said.join(_END_S)
        raise TargetError(
            f"--agent {self._address.text}: the agent did not start"
            f"{': ' if self._said else ''}{plain('; '.join(self._said))[:500]}. Check `ssh "
            f"{self._address.host} {self._address.program} --version`."
        )

    def _listen(self, lines: Iterable[str]) -> None:
        for line in lines:
            self._said.append(line.strip()[:300])

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(OSError):
            if self._stdin is not None:
                self._stdin.close()
        try:
            process.wait(_END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _free_port() -> int:
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as found:
        return int(found.getsockname()[1])
