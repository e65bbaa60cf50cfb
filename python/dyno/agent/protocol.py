"""What an agent and a run say to each other, over HTTP with JSON bodies.

Every request needs the token, or a client's certificate. Times are of the agent's monotonic clock.

    GET  /hello                  versions, instance, machine, interval, next entry, missing probes
    GET  /clock                  both clocks of the agent, now
    GET  /ticks?after=N&instance=I  entries after number N of instance I, oldest first, as far as
                                 the ring has them; status 410 after a restart
    GET  /facts?path=P           facts about the machine and the storage under P
    POST /locate?run=ID          finds a server by what it told; its process is then sampled
"""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from dyno.bundle.carriers import ROLE
from dyno.bundle.model import Model

VERSION = 3
DEFAULT_PORT = 7411
RESTARTED = 410
"""Status of an answer to a request for entries of an earlier instance."""
MOST_REQUEST_BYTES = 1 << 20
MOST_ANSWER_BYTES = 32 << 20
MOST_TICKS_BYTES = 4 << 20
"""Of entries in one answer; the client asks again for more."""
MOST_FACTS_BYTES = 1 << 16
"""Of facts on one volume; 2 kB are usual."""


class Hello(Model):
    """The agent's introduction.

    Attributes:
        instance: Differs after a restart, when entries are numbered anew.
        machine: The host's name.
        last: Number of the newest entry.
        lacks: Reasons by probe that the machine does not have.
    """

    protocol: int
    dyno: str
    instance: str
    machine: str
    interval_s: float
    last: int
    lacks: dict[str, str]


class Clocks(Model):
    """Both clocks of the agent, read at the same time."""

    monotonic_ns: int
    unix_ns: int


class Entry(Model):
    """A tick of the agent's sampler, or an event of it.

    Attributes:
        number: Grows by one an entry.
        tick: Ticks up to this entry.
        t_ns: Of the agent's monotonic clock.
        samples: Source, subject, metric, value and unit each.
        event: The event's name and fields; empty for a tick.
    """

    number: int
    tick: int
    t_ns: int
    samples: list[tuple[str, str, str, float, str]] = []
    event: dict[str, str] = {}


def _short(facts: dict[str, Any]) -> dict[str, Any]:
    if len(json.dumps(facts)) > MOST_FACTS_BYTES:
        raise ValueError("the facts on a volume are too long")
    return facts


_Role = Annotated[str, Field(pattern=f"^({ROLE})$")]
_Facts = Annotated[dict[str, Any], AfterValidator(_short)]


class Placed(Model):
    """Where a server is on the agent's machine.

    Attributes:
        pid: Its main process; None if it was not found.
        devices, disks, volumes: As of :class:`dyno.bundle.model.TargetFacts`.
        path: Its data folder; empty if unknown.
        notes: Why something is unknown.
    """

    pid: int | None = None
    devices: dict[_Role, tuple[str, ...]] = {}
    disks: dict[str, tuple[dict[str, object], ...]] = {}
    volumes: Annotated[dict[_Role, _Facts], Field(max_length=100)] = {}
    path: str = ""
    notes: tuple[str, ...] = ()
