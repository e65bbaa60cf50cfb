"""Probe: TCP of this host (in its network namespace), including loopback.

Subject ``tcp``: ``segments_out`` and ``segments_retransmitted`` (1/s); ``retransmitted`` =
100·retransmitted/sent in %, absent if nothing was sent. ``OutSegs`` excludes retransmitted segments
(RFC 4022), and so does "segments sent" in the limit of 0.5 %.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dyno.contracts.probe import Sample, UnavailableError
from dyno.host.files import ROOT
from dyno.stages.observe.base import read_source


@dataclass(frozen=True)
class TcpCounters:
    """Segments since boot."""

    sent: int
    retransmitted: int


class NetworkProbe:
    """Reads ``/proc/net/snmp``."""

    name = "network"

    def __init__(self, root: Path = ROOT) -> None:
        self._path = root / "proc/net/snmp"
        self._last: TcpCounters | None = None
        self._last_ns = 0

    def read(self, now_ns: int) -> list[Sample]:
        """Returns the rates since the last reading."""
        counters = parse_snmp(read_source(self._path))
        if counters is None:
            raise UnavailableError(f"{self._path} has no counters for TCP")
        last, last_ns = self._last, self._last_ns
        self._last, self._last_ns = counters, now_ns
        return [] if last is None else samples(last, counters, (now_ns - last_ns) / 1e9)


def parse_snmp(text: str) -> TcpCounters | None:
    """Parses the TCP counters: a line of names, then a line of values, each prefixed ``Tcp:``."""
    lines = [line.split()[1:] for line in text.splitlines() if line.startswith("Tcp:")]
    if len(lines) != 2:
        return None
    values = dict(zip(lines[0], lines[1], strict=False))
    if "OutSegs" not in values or "RetransSegs" not in values:
        return None
    return TcpCounters(int(values["OutSegs"]), int(values["RetransSegs"]))


def samples(before: TcpCounters, after: TcpCounters, seconds: float) -> list[Sample]:
    """Returns metrics between two readings; none if a counter decreased (32-bit kernels wrap)."""
    sent, again = after.sent - before.sent, after.retransmitted - before.retransmitted
    if seconds <= 0 or sent < 0 or again < 0:
        return []
    rows = [
        Sample("network", "tcp", "segments_out", sent / seconds, "1/s"),
        Sample("network", "tcp", "segments_retransmitted", again / seconds, "1/s"),
    ]
    if sent:
        rows.append(Sample("network", "tcp", "retransmitted", 100 * again / sent, "%"))
    return rows


def open_probe(root: Path) -> NetworkProbe:
    """Opens the probe."""
    return NetworkProbe(root)
