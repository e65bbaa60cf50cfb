"""A probe that reads an exporter over HTTP."""

from __future__ import annotations

import http.client
import ssl
import time
from typing import Any

from dyno.agent.address import Address, machine_name
from dyno.agent.client import tls_of
from dyno.bundle.machines import at
from dyno.contracts.probe import Sample
from dyno.errors import TargetError, UsageError
from dyno.safety.text import plain
from dyno.stages.observe.exporters import database, node
from dyno.stages.observe.exporters.text import Scrape

_MOST_BYTES = 16 << 20
_PORTS = {"http": 80, "https": 443}
_KNOWN = ("node_cpu_seconds_total", "pg_stat_database_xact_commit", "mysql_global_status_uptime")


class ExporterProbe:
    """Implements ``dyno.contracts.probe.TargetProbe``.

    Rates cover the time since its last successful reading.
    """

    deadline_s = 5.0

    def __init__(self, address: Address, machine: str, context: ssl.SSLContext | None) -> None:
        """Opens nothing.

        Args:
            address: The exporter's.
            machine: The machine's name; empty for the one that the exporter reports.
            context: TLS; None for plain HTTP.
        """
        self._path = address.path or "/metrics"
        port = address.port or _PORTS[address.scheme]
        self._called = f"The exporter at {address.text}"
        self.period_s = 1.0
        self.machine, self.name = machine, f"exporter-{address.host}-{port}{self._path}"
        self._connection = (
            http.client.HTTPConnection(address.host, port, timeout=self.deadline_s)
            if context is None
            else http.client.HTTPSConnection(
                address.host, port, timeout=self.deadline_s, context=context
            )
        )
        self._last: tuple[float, Scrape] | None = None

    @classmethod
    def at(cls, address: Address, machine: str) -> ExporterProbe:
        """The probe of an address; ``machine`` is the name if the address has none.

        Raises:
            UsageError: If a certificate cannot be used.
        """
        return cls(address, address.name or machine, tls_of(address, "--exporter"))

    def check(self) -> None:
        """Reads the exporter once.

        Raises:
            TargetError: If it does not respond.
            UsageError: If Dyno does not know the exporter.
        """
        _, scrape = self._last = self._scrape()
        if not any(scrape.each(name) for name in _KNOWN):
            raise UsageError(
                f"{self._called} has no metrics of node_exporter, postgres_exporter or "
                "mysqld_exporter."
            )
        if not self.machine:
            names = [labels.get("nodename", "") for labels, _ in scrape.each("node_uname_info")]
            self.machine = machine_name("".join(names[:1]) or self._connection.host)

    def facts(self) -> dict[str, Any]:
        """Facts about the machine in the last reading; empty if it has none."""
        return {} if self._last is None else node.facts(self._last[1])

    def read(self, now_ns: int) -> list[Sample]:  # noqa: ARG002  (the answer's own time counts)
        """The samples since the last reading.

        Raises:
            TargetError: If the exporter does not respond.
        """
        last, now = self._last, self._scrape()
        self._last = now
        if last is None or now[0] <= last[0]:
            return []
        seconds = now[0] - last[0]
        found = [
            *node.samples(last[1], now[1], seconds),
            *database.samples(last[1], now[1], seconds),
        ]
        return [one._replace(source=at(one.source, self.machine)) for one in found]

    def close(self) -> None:
        """Closes the connection."""
        self._connection.close()

    def _scrape(self) -> tuple[float, Scrape]:
        """Time in s of the monotonic clock, and what was read then."""
        try:
            sent = time.monotonic()
            self._connection.request("GET", self._path, headers={"Accept": "text/plain"})
            response = self._connection.getresponse()
            content = response.read(_MOST_BYTES + 1)
            if response.status != 200 or len(content) > _MOST_BYTES:
                raise ValueError(f"status {response.status}, {len(content)} bytes")
            return (sent + time.monotonic()) / 2, Scrape(content.decode(errors="replace"))
        except (OSError, http.client.HTTPException, ValueError) as error:
            self._connection.close()
            reason = plain(str(error) or type(error).__name__)
            raise TargetError(f"{self._called} does not respond: {reason}.") from error
