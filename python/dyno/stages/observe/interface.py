"""Probe: traffic, errors and drops of network interfaces, in this network namespace.

Subject: the interface, other than loopback, once it has carried anything. ``receive_mbps`` and
``send_mbps`` (MB/s); ``errors`` and ``drops`` (1/s, both directions), as the driver counts them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dyno.contracts.probe import Sample
from dyno.host.files import ROOT
from dyno.stages.observe.base import read_source

_MOST = 32
"""Interfaces; a host of containers may have hundreds."""
_MB = 1e6


@dataclass(frozen=True)
class Counters:
    """Counters of an interface since it came up: bytes, errors and drops."""

    received: int
    sent: int
    errors: int
    drops: int


class InterfacesProbe:
    """Reads ``/proc/net/dev``."""

    name = "interface"

    def __init__(self, root: Path = ROOT) -> None:
        self._path = root / "proc/net/dev"
        self._last: dict[str, Counters] = {}
        self._last_ns = 0

    def read(self, now_ns: int) -> list[Sample]:
        """Returns the rates since the last reading."""
        found = parse(read_source(self._path))
        seconds = (now_ns - self._last_ns) / 1e9
        last, self._last, self._last_ns = self._last, found, now_ns
        shown = [name for name, one in found.items() if name in last and one.received + one.sent]
        return [
            sample
            for name in shown[:_MOST]
            for sample in samples(name, last[name], found[name], seconds)
        ]


def parse(text: str) -> dict[str, Counters]:
    """Parses ``/proc/net/dev``: two lines of titles, then ``name: 16 counters`` (proc(5))."""
    found: dict[str, Counters] = {}
    for line in text.splitlines()[2:]:
        name, _, rest = line.partition(":")
        values = rest.split()
        if name.strip() == "lo" or len(values) < 16:
            continue
        one = [int(value) for value in values[:16]]
        found[name.strip()] = Counters(one[0], one[8], one[2] + one[10], one[3] + one[11])
    return found


def samples(name: str, before: Counters, after: Counters, seconds: float) -> list[Sample]:
    """Returns the rates between two readings; none if a counter decreased (a driver reset it)."""
    pairs = list(zip(vars(before).values(), vars(after).values(), strict=True))
    if seconds <= 0 or any(new < old for old, new in pairs):
        return []
    received, sent, errors, drops = ((new - old) / seconds for old, new in pairs)
    return [
        Sample("interface", name, "receive_mbps", received / _MB, "MB/s"),
        Sample("interface", name, "send_mbps", sent / _MB, "MB/s"),
        Sample("interface", name, "errors", errors, "1/s"),
        Sample("interface", name, "drops", drops, "1/s"),
    ]


def open_probe(root: Path) -> InterfacesProbe:
    """Opens the probe."""
    return InterfacesProbe(root)
