"""``dyno agent``: samples this machine and serves the samples."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

from dyno.agent.listen import Listener, Where
from dyno.agent.protocol import Placed
from dyno.agent.ring import MINUTES, Ring
from dyno.agent.service import Abilities, Service
from dyno.contracts.whereabouts import Told
from dyno.host import collect
from dyno.host.files import ROOT
from dyno.servers.here import is_server, locate, successor
from dyno.stages.observe.registry import open_probes
from dyno.stages.observe.sampler import Sampler
from dyno.stages.observe.work import WorkProbe
from dyno.targets.devices import of_places, volumes


def serve(
    token: str,
    where: Where,
    ended: threading.Event,
    *,
    minutes: float = MINUTES,
    interval_s: float = 1.0,
    idle_s: float | None = None,
    ready: Callable[[str], None] = lambda _: None,
    root: Path = ROOT,
) -> None:
    """Serves until ``ended`` is set.

    Args:
        token: The secret; empty with client certificates.
        where: The address.
        ended: Ends it.
        minutes: How long samples are kept.
        interval_s: Length of a tick.
        idle_s: Ends it after this time without a request; None for never.
        ready: Called with the URL when it listens.
        root: Folder with ``proc`` and ``sys``.

    Raises:
        UsageError, TargetError: If it cannot listen.
    """
    ring = Ring(max(1, round(minutes * 60 / interval_s)))
    work = WorkProbe(root, tell=True)
    probes = [work if probe.name == work.name else probe for probe in open_probes(root)]
    sampler = Sampler(ring, probes, interval_s)

    def facts(path: Path) -> dict[str, Any]:
        return collect(path if path.exists() else Path("/"), root=root)

    able = Abilities(facts, _placed, _again, sampler.watch)
    service = Service(ring, token, able, interval_s)
    with Listener(service, where) as listener, sampler:
        thread = threading.Thread(target=listener.serve_forever, name="dyno-agent", daemon=True)
        thread.start()
        ready(listener.url)
        try:
            while not ended.wait(interval_s):
                service.follow()
                if idle_s is not None and time.monotonic() - service.asked_s > idle_s:
                    return
        finally:
            listener.shutdown()


def _again(told: Told, pid: int) -> int | None:
    with contextlib.suppress(psutil.Error, OSError):
        if is_server(psutil.Process(pid), told):
            return pid
    return successor(told)


def _placed(told: Told) -> Placed:
    try:
        here = locate(told)
    except (psutil.Error, OSError) as error:
        return Placed(notes=(f"the location of the server's files is unknown: {error}",))
    places = {str(role): paths for role, paths in here.storage.items()}
    return Placed(
        pid=here.pid,
        path=str(places["data"][0]) if places.get("data") else "",
        notes=here.notes,
        volumes=volumes(places),
        **of_places(places),
    )
