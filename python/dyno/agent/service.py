"""The answers of an agent to authenticated requests."""

from __future__ import annotations

import hmac
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from dyno import __version__
from dyno.agent import protocol
from dyno.agent.ring import Ring
from dyno.contracts.whereabouts import Told
from dyno.errors import DynoError
from dyno.safety import plainjson

FORGET_S = 60.0
"""Seconds without a request after which a run counts as ended and its server is not sampled."""

_TOLD = TypeAdapter(Told)


@dataclass(frozen=True)
class Abilities:
    """What an agent can do on its machine.

    Attributes:
        facts: Facts about the machine and the storage under a path.
        locate: Finds a server.
        again: The main process of a server, given the one it had: the same while that runs, another
            after a restart, None while there is none.
        watch: Replaces the server processes to sample.
    """

    facts: Callable[[Path], dict[str, Any]]
    locate: Callable[[Told], protocol.Placed]
    again: Callable[[Told, int], int | None]
    watch: Callable[[Iterable[int]], None]


@dataclass
class _Watched:
    """A server that a run observes.

    Attributes:
        asked_s: When the run last asked for something.
        pid: Its main process, or the last one it had.
        down: Whether that ended, and no other one is known.
    """

    asked_s: float
    told: Told
    pid: int
    down: bool = False


class RefusedError(Exception):
    """A request that is answered with a status other than 200."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Service:
    """Thread-safe."""

    def __init__(
        self,
        ring: Ring,
        token: str,
        able: Abilities,
        interval_s: float = 1.0,
        clock: Callable[[], tuple[int, int]] = lambda: (time.monotonic_ns(), time.time_ns()),
        version: str = __version__,
    ) -> None:
        """Opens nothing.

        Args:
            ring: The samples.
            token: The secret; empty if certificates authenticate clients.
            able: What it can do.
            interval_s: Length of a tick.
            clock: Monotonic and wall clock in ns.
            version: Its version of Dyno.
        """
        self._ring, self._token, self._able = ring, token, able
        self._interval_s, self._clock, self._version = interval_s, clock, version
        self._instance = secrets.token_hex(8)
        self._watched: dict[str, _Watched] = {}
        self._lock = threading.Lock()
        self.asked_s = time.monotonic()
        """When the last authenticated request came."""

    def answer(
        self, path: str, query: Mapping[str, str], authorization: str, body: bytes | None
    ) -> bytes:
        """The JSON answer to a request; ``body`` is None for GET.

        Raises:
            RefusedError: With a status and a line.
        """
        expected = f"Bearer {self._token}".encode()
        given = authorization.encode(errors="replace")
        if self._token and not hmac.compare_digest(given, expected):
            raise RefusedError(401, "wrong token")
        self.asked_s = time.monotonic()
        self._forget(query.get("run", ""))
        try:
            return self._answer(path, query, body)
        except (ValidationError, ValueError, RecursionError) as error:
            raise RefusedError(400, "not a valid request") from error
        except (DynoError, OSError) as error:
            raise RefusedError(500, str(error)) from error

    def _answer(self, path: str, query: Mapping[str, str], body: bytes | None) -> bytes:
        if body is not None:
            if path != "/locate":
                raise RefusedError(404, "no such request")
            told = _TOLD.validate_json(body)
            placed = self._able.locate(told)
            if placed.pid is not None:
                with self._lock:
                    self._watched[query.get("run", "")] = _Watched(self.asked_s, told, placed.pid)
                    self._watch()
            return placed.model_dump_json().encode()
        if path == "/hello":
            return self._hello().model_dump_json().encode()
        if path == "/clock":
            monotonic_ns, unix_ns = self._clock()
            now = protocol.Clocks(monotonic_ns=monotonic_ns, unix_ns=unix_ns)
            return now.model_dump_json().encode()
        if path == "/ticks":
            after = int(query.get("after", "0"))
            if query.get("instance") != self._instance:
                raise RefusedError(protocol.RESTARTED, "the agent was restarted")
            return self._ring.after(after, protocol.MOST_TICKS_BYTES)
        if path == "/facts":
            return plainjson.dumps(self._able.facts(Path(query.get("path") or "/"))).encode()
        raise RefusedError(404, "no such request")

    def _hello(self) -> protocol.Hello:
        return protocol.Hello(
            protocol=protocol.VERSION,
            dyno=self._version,
            instance=self._instance,
            machine=socket.gethostname(),
            interval_s=self._interval_s,
            last=self._ring.last,
            lacks=self._ring.lacks,
        )

    def _forget(self, run: str) -> None:
        """Marks the run as present, and forgets runs that ended."""
        with self._lock:
            if run in self._watched:
                self._watched[run].asked_s = self.asked_s
            ended = [
                name for name, one in self._watched.items() if self.asked_s - one.asked_s > FORGET_S
            ]
            for name in ended:
                del self._watched[name]
            if ended:
                self._watch()

    def follow(self) -> None:
        """Looks whether the servers still run, and follows those that were restarted.

        Their runs get the events ``server-ended`` and ``server-restarted``.
        """
        with self._lock:
            changes: set[tuple[str, int]] = set()
            for one in self._watched.values():
                now = self._able.again(one.told, one.pid)
                if now is None and not one.down:
                    one.down = True
                    changes.add(("server-ended", one.pid))
                elif now is not None and (one.down or now != one.pid):
                    one.pid, one.down = now, False
                    changes.add(("server-restarted", now))
            for event, pid in sorted(changes):
                self._ring.event(event, pid=pid)
            if changes:
                self._watch()

    def _watch(self) -> None:
        self._able.watch({one.pid for one in self._watched.values()})
