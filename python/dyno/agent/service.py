"""The answers of an agent to authenticated requests."""

from __future__ import annotations

import hmac
import secrets
import socket
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
        watch: Replaces the server processes to sample.
    """

    facts: Callable[[Path], dict[str, Any]]
    locate: Callable[[Told], protocol.Placed]
    watch: Callable[[Iterable[int]], None]


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
        self._watched: dict[str, tuple[float, int]] = {}
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
            placed = self._able.locate(_TOLD.validate_json(body))
            if placed.pid is not None:
                self._watched[query.get("run", "")] = (self.asked_s, placed.pid)
            self._watch()
            return placed.model_dump_json().encode()
        if path == "/hello":
            return self._hello().model_dump_json().encode()
        if path == "/clock":
            monotonic_ns, unix_ns = self._clock()
            now = protocol.Clocks(monotonic_ns=monotonic_ns, unix_ns=unix_ns)
            return now.model_dump_json().encode()
        if path == "/ticks":
            return self._ring.after(int(query.get("after", "0")), protocol.MOST_TICKS_BYTES)
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
        if run in self._watched:
            self._watched[run] = (self.asked_s, self._watched[run][1])
        ended = [one for one, (at, _) in self._watched.items() if self.asked_s - at > FORGET_S]
        for one in ended:
            self._watched.pop(one, None)
        if ended:
            self._watch()

    def _watch(self) -> None:
        self._able.watch({pid for _, pid in self._watched.values()})
